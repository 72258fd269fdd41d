//! Values that a name announces: assignments, arguments, elements, options, comparisons.

use crate::redact::found::{Found, Sure};
use crate::redact::judge::{
    Class, JUDGED_MAX, Stands, class, is_number, made_by_machine, names_a_secret_key, of_three_classes, plausible,
    punctuated, stands_for_another,
};
use crate::redact::keys::is_word;
use crate::redact::rules::{Body, KEYWORDS, Keyword, NOT_THE_VALUE};
use crate::redact::{RUN_MAX, Span};

/// Names before `=` and `:` are looked at no further than this.
const NAME_MAX: usize = 64;

/// What stands between a name and its value.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Joint {
    /// `=`, `:` and their like.
    Assigns,
    /// `==`, a comma, a blank: only before a quote.
    Quote,
    /// A blank behind an option.
    Blank,
    /// `>` of an element: the value may be on the next line.
    Element,
}

/// What has no end in it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Stretch {
    /// No blank.
    Word,
    /// Nothing that ends a value without quotes.
    Value,
}

impl Found<'_> {
    /// The value that a name with a keyword in it announces.
    pub(crate) fn announced(&mut self, keyword: &'static Keyword, start: usize, end: usize) -> Option<Span> {
        let name_end =
            end + self.bytes[end..].iter().take(NAME_MAX).take_while(|byte| Body::Word.holds(**byte)).count();
        let exact = match &self.text[end..name_end] {
            "" => true,
            rest if is_about(rest) => return None,
            _ => false,
        };
        // A marker says what stood there; it is no name, or one secret after another would be found behind it.
        if self.is_in_a_marker(name_end) {
            return None;
        }
        // A keyword may be the beginning of another word.
        let same_word = exact || !self.bytes[end].is_ascii_lowercase();
        let name_start = self.name_start(start);
        if keyword.word == "pw" && !(exact && is_word(self.bytes, start)) {
            return None;
        }
        let option = self.bytes[name_start..].starts_with(b"--");
        let (joint, at) = self.joint(name_end, option)?;
        if keyword.word == "key" && !names_a_secret_key(&self.bytes[name_start..end]) {
            return None;
        }
        let (quote, from) = self.opening_quote(at);
        let (to, stands) = match (quote, joint) {
            (0, Joint::Quote) => return None,
            (0, _) => (self.bare_end(from, keyword), Stands::Bare),
            _ => (self.quoted_end(from, quote)?, Stands::Quoted),
        };
        let value = self.text.get(from..to)?;
        let judged = &value[..value.floor_char_boundary(JUDGED_MAX)];
        let enough = match joint {
            _ if !same_word => punctuated(judged) && plausible(judged, keyword, stands),
            Joint::Assigns | Joint::Element if exact => plausible(judged, keyword, stands),
            _ => {
                let sure = exact || keyword.worded || class(judged.as_bytes()).is_some();
                let machine = made_by_machine(judged) && sure || punctuated(judged) || exact && is_number(judged);
                machine && quote != b'`' && plausible(judged, keyword, Stands::Bare)
            }
        };
        let thing = class(judged.as_bytes()).is_some_and(|class| class != Class::Other);
        (enough && !(thing && self.is_digest(name_start))).then_some(Span { start: from, end: to, kind: keyword.kind })
    }

    /// `"value" == name`, the other way round.
    pub(crate) fn compared(&mut self, keyword: &'static Keyword, start: usize, end: usize) {
        let name = self.name_start(start);
        if keyword.word == "key" && !names_a_secret_key(&self.bytes[name..end]) {
            return;
        }
        if self.is_in_a_marker(end) {
            return;
        }
        let before = self.text[..name].trim_ascii_end();
        let operand = before.trim_end_matches(['=', '!']);
        if !(2..=3).contains(&(before.len() - operand.len())) {
            return;
        }
        let before = operand.trim_ascii_end();
        let Some(quote) = before.bytes().last().filter(|byte| b"\"'`".contains(byte)) else { return };
        let inner = &before.as_bytes()[..before.len() - 1];
        let window = inner.len().saturating_sub(JUDGED_MAX);
        let Some(open) = inner[window..].iter().rposition(|byte| *byte == quote || *byte == b'\n') else { return };
        let (from, to) = (window + open + 1, inner.len());
        let right = self.text.get(from..to).is_some_and(|value| plausible(value, keyword, Stands::Quoted));
        self.add(right.then_some(Span { start: from, end: to, kind: keyword.kind }), Sure::Announced);
    }

    /// The password of a statement such as `IDENTIFIED BY 'password'`.
    pub(crate) fn sql(&mut self, at: usize) -> Option<Span> {
        let (quote, from) = self.opening_quote(at);
        let to = if quote == 0 { self.bare_end(from, &KEYWORDS[0]) } else { self.quoted_end(from, quote)? };
        let value = self.text.get(from..to)?;
        let judged = &value[..value.floor_char_boundary(JUDGED_MAX)];
        let good = if quote == 0 {
            judged.len() >= 8 && of_three_classes(judged.as_bytes()) && plausible(judged, &KEYWORDS[0], Stands::Bare)
        } else {
            made_by_machine(judged) && plausible(judged, &KEYWORDS[0], Stands::Quoted)
        };
        good.then_some(Span { start: from, end: to, kind: "password" })
    }

    /// The word of a command line behind `-u`, if it is `user:password`.
    pub(crate) fn user(&mut self, at: usize) -> Option<Span> {
        let at = self.skip(at, b" ", 4);
        let window = &self.bytes[at..self.bytes.len().min(at + JUDGED_MAX)];
        let value = self.text.get(at..at + shell_word(window))?;
        let (user, password) = value.split_once(':')?;
        let bare = password.trim_matches(['"', '\'', '\\']);
        let user = user.trim_matches(['"', '\'', '\\']);
        let numbers = bare.bytes().all(|byte| byte.is_ascii_digit());
        let good =
            user.len() + bare.len() >= 8 && !bare.contains('/') && (bare.is_empty() || !stands_for_another(bare));
        (good && !numbers | bare.is_empty() && !value.contains("REDACTED")).then_some(Span {
            start: at,
            end: at + value.len(),
            kind: "password",
        })
    }

    /// Whether a name that ends at `end` is the word of a `[REDACTED:<kind>]`.
    fn is_in_a_marker(&self, end: usize) -> bool {
        self.bytes.get(end) == Some(&b']') && self.behind_a_marker(end + 1)
    }

    fn name_start(&self, start: usize) -> usize {
        let before = self.bytes[start.saturating_sub(NAME_MAX)..start].iter().rev();
        start - before.take_while(|byte| Body::Dotted.holds(**byte)).count()
    }

    /// What stands behind a name, and where the value begins.
    fn joint(&self, name_end: usize, option: bool) -> Option<(Joint, usize)> {
        let mut at = self.skip(name_end, b"\\\"'`]", 3);
        let quoted = at > name_end;
        if self.bytes.get(at) == Some(&b'[') {
            let index = self.bytes[at + 1..].iter().take(8).take_while(|byte| byte.is_ascii_alphanumeric()).count();
            at = if self.bytes.get(at + 1 + index) == Some(&b']') { at + index + 2 } else { at };
        }
        let blank = self.skip(at, b" \t", 8);
        let typed = self.typed(blank);
        if self.bytes[typed..].starts_with("：".as_bytes()) {
            return Some((Joint::Assigns, self.skip(typed + 3, b" \t", 8)));
        }
        let operator = self.bytes[typed..].iter().take(4).take_while(|byte| b"=:?.!>-+|,".contains(byte)).count();
        let text = &self.bytes[typed..typed + operator];
        let joint = match text {
            b"=" | b":" | b":=" | b"=>" | b"?=" | b"::=" | b":::=" | b".=" | b"+=" | b"||=" | b"|=" => Joint::Assigns,
            b"==" | b"===" | b"!=" | b"!==" | b"," | b"->" => Joint::Quote,
            b">" => Joint::Element,
            b"" if quoted && self.bytes[blank..].starts_with(b"value=") => return Some((Joint::Assigns, blank + 6)),
            b"" if blank > at && option => Joint::Blank,
            b"" if blank > at => Joint::Quote,
            _ if text.starts_with(b"=") || text.starts_with(b":") => {
                return Some((Joint::Assigns, self.skip(typed + 1, b" \t", 8)));
            }
            _ => return None,
        };
        let breaks: &[u8] = if joint == Joint::Element { b" \t\r\n{" } else { b" \t@" };
        Some((joint, self.skip(typed + operator, breaks, 12)))
    }

    /// Behind the type that a declaration names: `token string = `, `token: &str = `.
    fn typed(&self, at: usize) -> usize {
        let rest = &self.text[at..self.text.floor_char_boundary(at + 16)];
        let after = rest.strip_prefix(':').unwrap_or(rest).trim_ascii_start();
        for word in ["string", "String", "&str", "str", "char*", "NSString *"] {
            if let Some(behind) = after.strip_prefix(word).map(str::trim_ascii_start)
                && behind.starts_with('=')
            {
                return at + rest.len() - behind.len();
            }
        }
        at
    }

    fn skip(&self, at: usize, any_of: &[u8], at_most: usize) -> usize {
        at + self.bytes[at..].iter().take(at_most).take_while(|byte| any_of.contains(byte)).count()
    }

    /// The quote that opens a value, or 0, and where the value begins.
    fn opening_quote(&self, at: usize) -> (u8, usize) {
        match self.bytes[at..] {
            [b'"', b'"', b'"', ..] => (b'"', at + 3),
            [quote @ (b'"' | b'\'' | b'`'), ..] => (quote, at + 1),
            [b'b' | b'r' | b'f' | b'u' | b'L' | b'\\', quote @ (b'"' | b'\''), ..] => (quote, at + 2),
            _ => (0, at),
        }
    }

    fn quoted_end(&self, from: usize, quote: u8) -> Option<usize> {
        let window = &self.bytes[from..self.bytes.len().min(from + 4 * JUDGED_MAX)];
        let length = window.iter().position(|byte| *byte == quote || *byte == b'\n')?;
        let escaped = length > 0 && window[length - 1] == b'\\';
        (window[length] == quote).then_some(from + length - usize::from(escaped))
    }

    /// The end of a value without quotes. A password may hold what would end another value.
    fn bare_end(&mut self, from: usize, keyword: &Keyword) -> usize {
        let to = self.stretch(from, Stretch::Word);
        if to - from <= JUDGED_MAX {
            let whole = self.text[from..to].trim_end_matches(['"', '\'', '`', ',', ';']);
            let whole = &whole[..whole.find("[REDACTED:").unwrap_or(whole.len())];
            if punctuated(whole) && (keyword.worded || !whole.contains('(') || !whole.ends_with(')')) {
                return from + whole.len();
            }
        }
        self.stretch(from, Stretch::Value)
    }

    /// The end of a stretch from here, measured once.
    fn stretch(&mut self, from: usize, stretch: Stretch) -> usize {
        let known = &mut self.stretches[stretch as usize];
        if !(known.0..known.1).contains(&from) {
            let ends = |byte: &u8| {
                byte.is_ascii_whitespace() || stretch == Stretch::Value && b"\"'`,;)]}<>&|\\[".contains(byte)
            };
            let length = self.bytes[from..].iter().position(ends).unwrap_or(self.bytes.len() - from);
            *known = (from, from + length);
        }
        self.text.floor_char_boundary(known.1.max(from).min(from + RUN_MAX))
    }
}

/// Whether the rest of a name, behind its keyword, makes the value something about the secret.
fn is_about(rest: &str) -> bool {
    let lower = rest.to_ascii_lowercase();
    let last = lower.rsplit(['_', '-']).next().unwrap_or("");
    let camel = rest.rfind(|letter: char| letter.is_ascii_uppercase()).map_or("", |at| &lower[at..]);
    let goes_on = KEYWORDS.iter().any(|keyword| lower.contains(keyword.word));
    goes_on || lower == "s" || NOT_THE_VALUE.contains(&last) || NOT_THE_VALUE.contains(&camel)
}

/// The length of the first word of a command line, with its quotes. A quote that is not closed ends it.
fn shell_word(line: &[u8]) -> usize {
    let mut at = 0;
    while at < line.len() {
        match line[at] {
            byte if byte.is_ascii_whitespace() || b"`;|&".contains(&byte) => break,
            quote @ (b'"' | b'\'') => {
                let rest = &line[at + 1..];
                let Some(close) = rest.iter().position(|byte| *byte == quote || *byte == b'\n') else { break };
                if rest[close] != quote {
                    break;
                }
                at += close + 2;
            }
            b'\\' if !matches!(line.get(at + 1), Some(b'"' | b'\'')) => break,
            _ => at += 1,
        }
    }
    at
}
