//! The pre-tokenizer: splits text into separately encoded pieces, by the published patterns of the encodings.
//!
//! The patterns are matched by hand: at each position their alternatives are tried in order, and where a regular
//! expression would backtrack, the position it would come to is computed.

use crate::tokens::char_classes::{CLASSES, Class, Classes};

/// A published pre-tokenizer pattern.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Pattern {
    /// Words end where lower case is followed by upper case; `'s` and other contractions belong to the word before.
    O200k,
    /// Words are runs of letters; `'s` and other contractions are pieces of their own.
    Cl100k,
}

/// Iterator over the pieces of a text; they join to the text.
pub(crate) struct Pieces<'t> {
    text: &'t str,
    at: usize,
    pattern: Pattern,
    classes: &'static Classes,
}

impl<'t> Pieces<'t> {
    /// Start at a position where a piece begins.
    pub(crate) fn from(text: &'t str, at: usize, pattern: Pattern) -> Self {
        Self { text, at, pattern, classes: &CLASSES }
    }
}

impl Iterator for Pieces<'_> {
    /// The byte offsets at which the piece begins and ends.
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
    /// The class and length of the character at a position.
    #[inline]
    fn class(&self, at: usize) -> Option<(Class, usize)> {
        self.classes.at(self.text, at)
    }

    /// Return the end of the run of characters whose class matches.
    #[inline]
    fn run(&self, mut at: usize, matches: impl Fn(Class) -> bool) -> usize {
        while let Some((class, width)) = self.class(at) {
            if !matches(class) {
                break;
            }
            at += width;
        }
        at
    }

    /// Return the end of the run of ASCII bytes that match: a fast path for most of a word.
    #[inline]
    fn ascii_run(&self, at: usize, matches: impl Fn(&u8) -> bool) -> usize {
        at + self.text.as_bytes()[at..].iter().take_while(|byte| matches(byte)).count()
    }

    /// The end of a run of letters.
    fn letters(&self, start: usize) -> usize {
        self.run(self.ascii_run(start, u8::is_ascii_alphabetic), Class::is_letter)
    }

    /// The end of the piece at `start` by the o200k pattern.
    fn o200k(&self, start: usize, class: Class, width: usize) -> usize {
        match class {
            Class::Upper | Class::Lower | Class::Caseless => {
                let end = self.cased_word(start).unwrap_or_else(|upper| upper);
                end + self.contraction(end)
            }
            Class::Number => self.number(start),
            Class::Newline => self.white_space(start),
            Class::Space | Class::Other | Class::Mark => {
                let body = start + width;
                let end = match self.cased_word(body) {
                    Ok(end) => end,
                    // Without a prefix, a mark is a word of its own before it is the prefix of upper case.
                    Err(_) if class == Class::Mark => body,
                    Err(end) if end > body => end,
                    Err(_) => return self.other_run(start, class, width),
                };
                end + self.contraction(end)
            }
        }
    }

    /// Match a word `[upper, caseless, mark]* [lower, caseless, mark]+` and return its end.
    ///
    /// If the second part is missing, return as error the end of the upper case letters.
    fn cased_word(&self, start: usize) -> Result<usize, usize> {
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
                    let at = self.ascii_run(at, u8::is_ascii_lowercase);
                    return Ok(self.run(at, |class| matches!(class, Class::Lower | Class::Caseless | Class::Mark)));
                }
                _ => break,
            }
        }
        after_caseless.ok_or(at)
    }

    /// Return the length of `'s`, `'t`, `'re`, `'ve`, `'m`, `'ll` or `'d` in any case, or 0.
    ///
    /// The long s (U+017F) folds to s.
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

    /// The end of the piece at `start` by the cl100k pattern.
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
                if end > body { end } else { self.other_run(start, class, width) }
            }
        }
    }

    /// The end of a number of one to three digits.
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

    /// Return the end of a run of other characters (neither letter, number nor white space), or else of white space.
    ///
    /// The run has one space before it and newlines (for o200k also slashes) after it.
    fn other_run(&self, start: usize, class: Class, width: usize) -> usize {
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
        let is_trailing = |byte: &&u8| **byte == b'\r' || **byte == b'\n' || slashes && **byte == b'/';
        end + self.text.as_bytes()[end..].iter().take_while(is_trailing).count()
    }

    /// Return the end of white space.
    ///
    /// It ends after its last newline; without one, before its last character, which belongs to the next word; at the
    /// end of the text it is taken whole.
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
