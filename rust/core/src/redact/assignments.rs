//! Secrets behind a name that announces them: assignments, arguments, XML elements, options, comparisons.

use std::sync::LazyLock;

use aho_corasick::AhoCorasick;

use crate::redact::findings::{Confidence, Findings};
use crate::redact::json_keys::starts_word;
use crate::redact::machine_class::{MachineClass, machine_class};
use crate::redact::ordinary_text::before_structure;
use crate::redact::plausibility::{
    EXAMINED_MAX, Quoting, has_three_char_classes, is_heavily_punctuated, is_number, is_placeholder, is_plausible,
    is_secret_key_name, is_secret_key_word, is_stated_secret, mixes_letters_and_digits,
};
use crate::redact::rules::{ByteSet, DESCRIPTION_WORDS, KEYWORDS, Keyword};
use crate::redact::{RUN_MAX, Span};

/// Bytes of a name that are examined.
const NAME_MAX: usize = 64;
/// Bytes before a `by` that are searched for `identified`: `IDENTIFIED WITH caching_sha2_password BY 'password'`.
const STATEMENT_MAX: usize = 96;

/// Operator between a name and its value.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Operator {
    /// `=`, `:` and similar assignment operators.
    Assignment,
    /// `==`, a comma, a space: the value must be quoted.
    QuotedOnly,
    /// A space behind a command-line option.
    OptionSpace,
    /// `>` of an XML element: the value may be on the next line.
    Element,
}

/// Extent of an unquoted value.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Extent {
    /// Up to white space.
    Word,
    /// Up to white space, a quote, a bracket or another delimiter.
    Value,
}

impl Findings<'_> {
    /// Return the value that is assigned to a name with a keyword in it: `DB_PASSWORD=hunter2` gives `hunter2`.
    pub(crate) fn assigned_value(&mut self, keyword: &'static Keyword, start: usize, end: usize) -> Option<Span> {
        let name_end =
            end + self.bytes[end..].iter().take(NAME_MAX).take_while(|byte| ByteSet::Word.contains(**byte)).count();
        let keyword_ends_name = match &self.text[end..name_end] {
            "" => true,
            rest if describes_secret(rest) => return None,
            _ => false,
        };
        // The word in a marker is no name, or one secret after another would be found behind it.
        if self.is_in_a_marker(name_end) || self.is_passing(keyword, start, end) {
            return None;
        }
        // A keyword may be the beginning of another word (`tokens`, `passenger`): then the value must look like a
        // password.
        let ends_at_word = keyword_ends_name || !self.bytes[end].is_ascii_lowercase();
        let name_start = self.name_start(start);
        if keyword.word == "pw" && !(keyword_ends_name && starts_word(self.bytes, start)) {
            return None;
        }
        // `--password X`, and with one dash only for long names (`-storepass X`)
        let option = self.bytes[name_start..].starts_with(b"--")
            || self.bytes[name_start..].starts_with(b"-") && name_end - name_start > 5;
        let (operator, at) = self.operator(name_end, option)?;
        if keyword.word == "key" && !is_secret_key_name(&self.bytes[name_start..end])
            || self.is_conditional(name_start, name_end)
        {
            return None;
        }
        let (quote, from) = self.opening_quote(at);
        let (to, quoting) = match (quote, operator) {
            (0, Operator::QuotedOnly) => return None,
            (0, _) => (self.bare_end(from, keyword), Quoting::Bare),
            _ => (self.quoted_end(from, quote)?, Quoting::Quoted),
        };
        let value = self.text.get(from..to)?;
        let examined = &value[..value.floor_char_boundary(EXAMINED_MAX)];
        let is_secret = match operator {
            _ if !ends_at_word => is_heavily_punctuated(examined) && is_plausible(examined, keyword, quoting),
            Operator::Assignment | Operator::Element if keyword_ends_name => is_plausible(examined, keyword, quoting),
            _ => {
                let sure = keyword_ends_name || keyword.worded || machine_class(examined.as_bytes()).is_some();
                let machine = mixes_letters_and_digits(examined) && sure
                    || is_heavily_punctuated(examined)
                    || operator == Operator::OptionSpace && keyword.worded && is_stated_secret(examined, keyword)
                    || keyword_ends_name && is_number(examined);
                machine && quote != b'`' && is_plausible(examined, keyword, Quoting::Bare)
            }
        };
        let may_be_identifier = machine_class(examined.as_bytes()).is_some_and(|class| class != MachineClass::Other);
        (is_secret && !(may_be_identifier && self.is_digest(name_start))).then_some(Span {
            start: from,
            end: to,
            kind: keyword.kind,
        })
    }

    /// Find the value of a comparison written the other way round: `"value" == name`.
    pub(crate) fn find_compared_value(&mut self, keyword: &'static Keyword, start: usize, end: usize) {
        let name = self.name_start(start);
        if keyword.word == "key" && !is_secret_key_name(&self.bytes[name..end]) {
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
        let window = inner.len().saturating_sub(EXAMINED_MAX);
        let Some(open) = inner[window..].iter().rposition(|byte| *byte == quote || *byte == b'\n') else { return };
        let (from, to) = (window + open + 1, inner.len());
        let is_secret = self.text.get(from..to).is_some_and(|value| is_plausible(value, keyword, Quoting::Quoted));
        self.add(is_secret.then_some(Span { start: from, end: to, kind: keyword.kind }), Confidence::NamedValue);
    }

    /// Return the password of a statement such as `IDENTIFIED BY 'password'`.
    pub(crate) fn sql_password(&mut self, at: usize) -> Option<Span> {
        if self.is_by_of_prose(at) {
            return None;
        }
        let (quote, from) = self.opening_quote(at);
        let to = if quote == 0 { self.bare_end(from, &KEYWORDS[0]) } else { self.quoted_end(from, quote)? };
        let value = self.text.get(from..to)?;
        let examined = &value[..value.floor_char_boundary(EXAMINED_MAX)];
        let is_secret = if quote == 0 && self.is_netrc(at) {
            examined.len() >= 3 && !is_placeholder(examined)
        } else if quote == 0 {
            examined.len() >= 8
                && has_three_char_classes(examined.as_bytes())
                && is_plausible(examined, &KEYWORDS[0], Quoting::Bare)
        } else {
            mixes_letters_and_digits(examined) && is_plausible(examined, &KEYWORDS[0], Quoting::Quoted)
        };
        is_secret.then_some(Span { start: from, end: to, kind: "password" })
    }

    /// Return true if the word that ends at `at` is a `by` without an `identified` before it: `verified by Web3Auth`.
    fn is_by_of_prose(&self, at: usize) -> bool {
        let window =
            self.text[self.text.floor_char_boundary(at.saturating_sub(STATEMENT_MAX))..at].to_ascii_lowercase();
        window.ends_with(" by ") && !window.contains("identified")
    }

    /// Return true if the `password` that ends at `at` is the one of a `.netrc`: `machine HOST login USER password `.
    fn is_netrc(&self, at: usize) -> bool {
        let window = self.text.floor_char_boundary(at.saturating_sub(EXAMINED_MAX));
        let mut words = self.text[window..at].split_ascii_whitespace().rev();
        words.next() == Some("password")
            && words.next().is_some()
            && words.next() == Some("login")
            && words.take(2).any(|word| word == "machine" || word == "default")
    }

    /// Return the argument of `-u` on a command line, if it is `user:password`.
    pub(crate) fn user_password(&mut self, at: usize) -> Option<Span> {
        let at = self.skip(at, b" ", 4);
        let window = &self.bytes[at..self.bytes.len().min(at + EXAMINED_MAX)];
        let value = self.text.get(at..at + shell_word(window))?;
        let (user, password) = value.split_once(':')?;
        let bare = password.trim_matches(['"', '\'', '\\']);
        let user = user.trim_matches(['"', '\'', '\\']);
        let numbers = bare.bytes().all(|byte| byte.is_ascii_digit());
        let is_secret =
            user.len() + bare.len() >= 8 && !bare.starts_with('/') && (bare.is_empty() || !is_placeholder(bare));
        (is_secret && !numbers | bare.is_empty() && !value.contains("REDACTED")).then_some(Span {
            start: at,
            end: at + value.len(),
            kind: "password",
        })
    }

    /// Return true if a name that ends at `end` is the kind inside a `[REDACTED:<kind>]`.
    pub(crate) fn is_in_a_marker(&self, end: usize) -> bool {
        self.bytes.get(end) == Some(&b']') && self.ends_with_marker(end + 1)
    }

    /// The start of the name that the keyword at `start` is part of.
    fn name_start(&self, start: usize) -> usize {
        let before = self.bytes[start.saturating_sub(NAME_MAX)..start].iter().rev();
        start - before.take_while(|byte| ByteSet::Dotted.contains(**byte)).count()
    }

    /// Return the operator behind a name, and the position where the value begins.
    fn operator(&self, name_end: usize, option: bool) -> Option<(Operator, usize)> {
        let mut at = self.skip(name_end, b"\\\"'`]", 3);
        let quoted = at > name_end;
        if self.bytes.get(at) == Some(&b'[') {
            let index = self.bytes[at + 1..].iter().take(8).take_while(|byte| byte.is_ascii_alphanumeric()).count();
            at = if self.bytes.get(at + 1 + index) == Some(&b']') { at + index + 2 } else { at };
        }
        if let Some(at) = self.value_below(at) {
            return Some((Operator::Assignment, at));
        }
        let blank = self.skip(at, b" \t", 8);
        let after_type = self.skip_type(blank);
        if self.bytes[after_type..].starts_with("：".as_bytes()) {
            return Some((Operator::Assignment, self.skip(after_type + 3, b" \t", 8)));
        }
        let length = self.bytes[after_type..].iter().take(4).take_while(|byte| b"=:?.!>-+|,".contains(byte)).count();
        let text = &self.bytes[after_type..after_type + length];
        let operator = match text {
            b"=" | b":" | b":=" | b"=>" | b"?=" | b"::=" | b":::=" | b".=" | b"+=" | b"||=" | b"|=" => {
                Operator::Assignment
            }
            b"==" | b"===" | b"!=" | b"!==" | b"," | b"->" => Operator::QuotedOnly,
            b">" => Operator::Element,
            b"" if quoted && self.bytes[blank..].starts_with(b"value=") => {
                return Some((Operator::Assignment, blank + 6));
            }
            b"" if blank > at && option => Operator::OptionSpace,
            b"" if blank > at => Operator::QuotedOnly,
            _ if text.starts_with(b"=") || text.starts_with(b":") => {
                return Some((Operator::Assignment, self.skip(after_type + 1, b" \t", 8)));
            }
            _ => return None,
        };
        let breaks: &[u8] = if operator == Operator::Element { b" \t\r\n{" } else { b" \t@" };
        Some((operator, self.skip(after_type + length, breaks, 12)))
    }

    /// Return where the value begins in a list of names and values: `- name: DB_PASSWORD`, and `value: X` below it.
    fn value_below(&self, at: usize) -> Option<usize> {
        let at = self.skip(at, b",\r", 2);
        let line = self.skip(at, b"\n", 1);
        let word = self.skip(line, b" \t\"'", 24);
        let behind = self.bytes[word..].strip_prefix(b"value").filter(|_| line > at)?;
        let colon = self.skip(self.bytes.len() - behind.len(), b"\"' \t", 4);
        matches!(self.bytes.get(colon), Some(b':' | b'=')).then(|| self.skip(colon + 1, b" \t", 8))
    }

    /// Skip the type of a declaration such as `token string = ` or `token: &str = `.
    fn skip_type(&self, at: usize) -> usize {
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

    /// Skip at most `at_most` bytes of the given set.
    fn skip(&self, at: usize, any_of: &[u8], at_most: usize) -> usize {
        at + self.bytes[at..].iter().take(at_most).take_while(|byte| any_of.contains(byte)).count()
    }

    /// Return the quote that opens a value (0 for none), and the position where the value begins.
    fn opening_quote(&self, at: usize) -> (u8, usize) {
        match self.bytes[at..] {
            [b'"', b'"', b'"', ..] => (b'"', at + 3),
            [quote @ (b'"' | b'\'' | b'`'), ..] => (quote, at + 1),
            [b'b' | b'r' | b'f' | b'u' | b'L' | b'\\', quote @ (b'"' | b'\''), ..] => (quote, at + 2),
            _ => (0, at),
        }
    }

    /// The position of the closing quote, or None if the line ends before it.
    fn quoted_end(&self, from: usize, quote: u8) -> Option<usize> {
        let window = &self.bytes[from..self.bytes.len().min(from + 4 * EXAMINED_MAX)];
        let length = window.iter().position(|byte| *byte == quote || *byte == b'\n')?;
        let escaped = length > 0 && window[length - 1] == b'\\';
        (window[length] == quote).then_some(from + length - usize::from(escaped))
    }

    /// Return the end of an unquoted value. A heavily punctuated password may contain what would end any other value.
    fn bare_end(&mut self, from: usize, keyword: &Keyword) -> usize {
        let to = self.extent(from, Extent::Word);
        if to - from <= EXAMINED_MAX {
            let whole = self.text[from..to].trim_end_matches(['"', '\'', '`', ',', ';']);
            let whole = before_structure(&whole[..whole.find("[REDACTED:").unwrap_or(whole.len())]);
            if is_heavily_punctuated(whole) && (keyword.worded || !whole.contains('(') || !whole.ends_with(')')) {
                return from + whole.len();
            }
        }
        let mut end = self.extent(from, Extent::Value);
        while keyword.worded && self.continues_at(end) && end - from < EXAMINED_MAX {
            end = self.extent(end + 1, Extent::Value);
        }
        end
    }

    /// Return true if the `&` here is part of a password: it neither separates arguments of a URL nor commands.
    fn continues_at(&self, at: usize) -> bool {
        let rest = &self.bytes[at..self.bytes.len().min(at + NAME_MAX)];
        let [b'&', rest @ ..] = rest else { return false };
        let name = rest.iter().take_while(|byte| ByteSet::Dotted.contains(**byte)).count();
        let next = rest.get(name).copied().unwrap_or(b' ');
        let separates = name > 0 && matches!(next, b'=' | b'[' | b';') || self.bytes[..at].last() == Some(&b' ');
        !separates && !rest.starts_with(b"&") && !rest.starts_with(b"#")
    }

    /// Return the end of an extent from here. The last one is cached, so that overlapping names stay linear.
    fn extent(&mut self, from: usize, extent: Extent) -> usize {
        let cached = &mut self.extents[extent as usize];
        if !(cached.0..cached.1).contains(&from) {
            let ends =
                |byte: &u8| byte.is_ascii_whitespace() || extent == Extent::Value && b"\"'`,;)]}<>&|\\[".contains(byte);
            let length = self.bytes[from..].iter().position(ends).unwrap_or(self.bytes.len() - from);
            *cached = (from, from + length);
        }
        self.text.floor_char_boundary(cached.1.max(from).min(from + RUN_MAX))
    }
}

/// Return true if a label, with the word before it, names a secret: `key` does in `api key`, but not in `primary key`.
pub(crate) fn is_secret_label(label: &Keyword, text: &str, start: usize, end: usize) -> bool {
    if label.word != "key" {
        return true;
    }
    let window = text.floor_char_boundary(start.saturating_sub(NAME_MAX));
    let mut words = text[window..start].trim_end().rsplit(|byte: char| !byte.is_ascii_alphanumeric() && byte != '_');
    let before = words.next().unwrap_or("");
    is_secret_key_name(&text.as_bytes()[window..end]) || is_secret_key_word(before)
}

/// The words of the keywords, all searched in one pass.
static KEYWORD_WORDS: LazyLock<Option<AhoCorasick>> =
    LazyLock::new(|| AhoCorasick::new(KEYWORDS.iter().map(|keyword| keyword.word)).ok());

/// Return true if a name only describes the secret, by its part behind the keyword: `password_length`, `tokenType`.
fn describes_secret(rest: &str) -> bool {
    let lower = rest.to_ascii_lowercase();
    let last = lower.rsplit(['_', '-']).next().unwrap_or("");
    let camel = rest.rfind(|letter: char| letter.is_ascii_uppercase()).map_or("", |at| &lower[at..]);
    let has_another_keyword = KEYWORD_WORDS.as_ref().is_some_and(|words| words.is_match(&lower));
    has_another_keyword || lower == "s" || DESCRIPTION_WORDS.contains(&last) || DESCRIPTION_WORDS.contains(&camel)
}

/// Return the length of the first word of a command line, with its quotes; an unclosed quote ends it.
pub(crate) fn shell_word(line: &[u8]) -> usize {
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
