//! Splits text into the pieces that are encoded each by itself, by the published patterns of the encodings.
//!
//! The patterns are matched by hand: at each place their alternatives are tried in order, and where a pattern would
//! step back, the place it would come to is computed.

use crate::tokens::classes::{CLASSES, Class, Classes};

/// Which published pattern splits the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Pattern {
    /// Words end where lower case is followed by upper case; `'s` and its like belong to the word before.
    O200k,
    /// Words are runs of letters; `'s` and its like stand alone.
    Cl100k,
}

/// The pieces of a text, in order; they join to the text.
pub(crate) struct Pieces<'t> {
    text: &'t str,
    at: usize,
    pattern: Pattern,
    classes: &'static Classes,
}

impl<'t> Pieces<'t> {
    /// Those from the place on where one begins.
    pub(crate) fn from(text: &'t str, at: usize, pattern: Pattern) -> Self {
        Self { text, at, pattern, classes: &CLASSES }
    }
}

impl Iterator for Pieces<'_> {
    /// Where the piece begins and ends.
    type Item = (usize, usize);

    #[inline]
    fn next(&mut self) -> Option<(usize, usize)> {
        let start = self.at;
        let (class, width) = self.class(start)?;
        self.at = match self.pattern {
            Pattern::O200k => self.o200k(start, class, width),
            Pattern::Cl100k => self.cl100k(start, class, width),
        };
        Some((start, self.at))
    }
}

impl Pieces<'_> {
    #[inline]
    fn class(&self, at: usize) -> Option<(Class, usize)> {
        self.classes.at(self.text, at)
    }

    /// The end of the run of characters that `belongs` holds for.
    #[inline]
    fn run(&self, mut at: usize, belongs: impl Fn(Class) -> bool) -> usize {
        while let Some((class, width)) = self.class(at) {
            if !belongs(class) {
                break;
            }
            at += width;
        }
        at
    }

    /// The end of the run of ASCII bytes that `belongs` holds for: the larger part of most words, looked at quickly.
    #[inline]
    fn ascii(&self, at: usize, belongs: impl Fn(&u8) -> bool) -> usize {
        at + self.text.as_bytes()[at..].iter().take_while(|byte| belongs(byte)).count()
    }

    fn letters(&self, start: usize) -> usize {
        self.run(self.ascii(start, u8::is_ascii_alphabetic), Class::is_letter)
    }

    fn o200k(&self, start: usize, class: Class, width: usize) -> usize {
        match class {
            Class::Upper | Class::Lower | Class::Caseless => {
                let end = self.cased(start).unwrap_or_else(|upper| upper);
                end + self.contraction(end)
            }
            Class::Number => self.number(start),
            Class::Newline => self.white_space(start),
            Class::Space | Class::Other | Class::Mark => {
                let body = start + width;
                let end = match self.cased(body) {
                    Ok(end) => end,
                    // Without a prefix, a mark is a word by itself before it is the prefix of upper case.
                    Err(_) if class == Class::Mark => body,
                    Err(end) if end > body => end,
                    Err(_) => return self.other(start, class, width),
                };
                end + self.contraction(end)
            }
        }
    }

    /// A word in the order `[upper, caseless, mark]* [lower, caseless, mark]+`: its end, or the end of the upper case
    /// that it would need something after.
    fn cased(&self, start: usize) -> Result<usize, usize> {
        let mut at = start;
        let mut after_caseless = None;
        while let Some((class, width)) = self.class(at) {
            match class {
                Class::Upper => at += width,
                Class::Caseless | Class::Mark => {
                    at += width;
                    after_caseless = Some(at);
                }
                Class::Lower => {
                    let at = self.ascii(at, u8::is_ascii_lowercase);
                    return Ok(self.run(at, |class| matches!(class, Class::Lower | Class::Caseless | Class::Mark)));
                }
                _ => break,
            }
        }
        after_caseless.ok_or(at)
    }

    /// Length of `'s`, `'t`, `'re`, `'ve`, `'m`, `'ll` or `'d` in any case; the long s is a case of s.
    fn contraction(&self, at: usize) -> usize {
        let bytes = self.text.as_bytes();
        if bytes.get(at) != Some(&b'\'') {
            return 0;
        }
        let lower = |at: usize| bytes.get(at).map(u8::to_ascii_lowercase);
        match (lower(at + 1), lower(at + 2)) {
            (Some(b's' | b't' | b'm' | b'd'), _) => 2,
            (Some(b'r' | b'v'), Some(b'e')) | (Some(b'l'), Some(b'l')) | (Some(0xC5), Some(0xBF)) => 3,
            _ => 0,
        }
    }

    fn cl100k(&self, start: usize, class: Class, width: usize) -> usize {
        let contraction = self.contraction(start);
        if contraction > 0 {
            return start + contraction;
        }
        match class {
            Class::Upper | Class::Lower | Class::Caseless => self.letters(start),
            Class::Number => self.number(start),
            Class::Newline => self.white_space(start),
            Class::Space | Class::Other | Class::Mark => {
                let body = start + width;
                let end = self.letters(body);
                if end > body { end } else { self.other(start, class, width) }
            }
        }
    }

    /// One to three numbers.
    fn number(&self, start: usize) -> usize {
        let mut at = start;
        for _ in 0..3 {
            match self.class(at) {
                Some((Class::Number, width)) => at += width,
                _ => break,
            }
        }
        at
    }

    /// What is neither letter, number nor white space, with one blank before it and newlines (for o200k also
    /// slashes) after it; or else white space.
    fn other(&self, start: usize, class: Class, width: usize) -> usize {
        let is_other = |class| matches!(class, Class::Other | Class::Mark);
        let body = if is_other(class) {
            start
        } else if self.text.as_bytes()[start] == b' '
            && self.class(start + width).is_some_and(|(next, _)| is_other(next))
        {
            start + width
        } else {
            return self.white_space(start);
        };
        let end = self.run(body, is_other);
        let slashes = self.pattern == Pattern::O200k;
        let trails = |byte: &&u8| **byte == b'\r' || **byte == b'\n' || slashes && **byte == b'/';
        end + self.text.as_bytes()[end..].iter().take_while(trails).count()
    }

    /// White space up to its last newline; without one, all of it but the last character, which goes with the
    /// next word; all of it at the end of the text.
    fn white_space(&self, start: usize) -> usize {
        let mut at = start;
        let mut after_newline = None;
        let mut last = start;
        while let Some((class, width)) = self.class(at).filter(|(class, _)| class.is_space()) {
            last = at;
            at += width;
            if class == Class::Newline {
                after_newline = Some(at);
            }
        }
        let at_end = at == self.text.len();
        match after_newline {
            Some(_) if at_end && self.pattern == Pattern::Cl100k => at,
            Some(after) => after,
            None if at_end || last == start => at,
            None => last,
        }
    }
}
