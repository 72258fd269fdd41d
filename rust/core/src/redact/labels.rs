//! Secrets behind a label: assignments, arguments, XML elements, options, comparisons, prompts.

use crate::redact::Span;
use crate::redact::findings::{Findings, Rule};
use crate::redact::json_keys::{is_secret_key_name, starts_word};
use crate::redact::rules::{ByteSet, DESCRIPTION_WORDS, KEYWORDS, Keyword};
use crate::redact::value::{
    EXAMINED_MAX, Quoting, has_algorithm, has_three_classes, is_digest, is_placeholder, is_random, is_secret,
    is_strange,
};

/// Bytes of a name that are examined.
const NAME_MAX: usize = 64;
/// Bytes before a `by` that are searched for `identified`: `IDENTIFIED WITH caching_sha2_password BY 'password'`.
const STATEMENT_MAX: usize = 96;
/// Bytes between a prompt and what is sent to it.
const PROMPT_MAX: usize = 64;

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
        let name_end = end + self.count(end, NAME_MAX, |byte| ByteSet::Word.contains(byte));
        let rest = self.slice(end, name_end);
        let name_start = self.name_start(start);
        // `--password X`, and with one dash only for long names (`-storepass X`)
        let dashes = self.count(name_start, 2, |byte| byte == b'-');
        let option = dashes == 2 || dashes == 1 && name_end - name_start > 5;
        // Most mentions are prose: `the password of`. A type (`token string = `) and a `value=` begin otherwise.
        if !option && matches!(self.part(name_end, name_end + 2), [b' ', b'a'..=b'r' | b't' | b'u' | b'w'..=b'z']) {
            return None;
        }
        // The word in a marker is no name, or one secret after another would be found behind it.
        if describes_secret(rest, keyword.worded)
            || self.is_in_a_marker(name_end)
            || keyword.short && !starts_word(self.before(end), start) && !self.is_joined_capitals(start, end)
            || keyword.word == "pass" && rest.starts_with(|letter: char| letter.is_ascii_lowercase())
            || names_public(self.slice(name_start, end))
        {
            return None;
        }
        // The secret in the path of a URL: `/token/X`.
        if self.bytes.get(name_end) == Some(&b'/') {
            let length = self.count(name_end + 1, EXAMINED_MAX, |byte| ByteSet::Word.contains(byte));
            let end = name_end + 1 + length;
            let placed = !keyword.worded && self.before(name_start).last() == Some(&b'/');
            let accepted = placed && is_key_material(self.slice(name_end + 1, end));
            return accepted.then_some(Span { start: name_end + 1, end, kind: keyword.kind });
        }
        let (operator, at) = self.operator(name_end, option)?;
        if operator == Operator::Element && self.before(name_start).ends_with(b"/") {
            return None; // `</password>`
        }
        // A keyword may be the beginning of another word (`tokens`, `passenger`).
        let ends_name = rest.is_empty();
        let ends_word = ends_name || rest == "s" || !rest.starts_with(|letter: char| letter.is_ascii_lowercase());
        let at = self.skip_colours(at);
        let (quote, from) = self.opening_quote(at);
        let (to, quoting) = match (quote, operator) {
            (0, Operator::QuotedOnly) => return None,
            (0, _) => (self.bare_end(from, keyword), Quoting::Bare),
            _ => (self.quoted_end(from, quote)?, Quoting::Quoted),
        };
        let value = self.slice(from, to);
        if keyword.word == "key" && !is_secret_key_name(self.slice(start.saturating_sub(24), end).as_bytes()) {
            let accepted = operator == Operator::Assignment && is_key_material(value) && ends_name;
            return accepted.then_some(Span { start: from, end: to, kind: keyword.kind });
        }
        let strict = !ends_name || operator == Operator::QuotedOnly;
        let quoting = if strict && !(keyword.worded && ends_name && quote != b'`') { Quoting::Bare } else { quoting };
        let accepted = if ends_word {
            is_secret(value, keyword.worded && !(strict && quote == b'`'), quoting)
        } else {
            is_strange(value) && is_secret(value, keyword.worded, quoting)
        };
        let behind = self.slice(to, to + 4);
        let elided = behind.trim_start_matches(['"', '\'', '`']).starts_with(['.', '…']) && !behind.starts_with(". ");
        (accepted && !elided && !self.is_digest(name_start, value)).then_some(Span {
            start: from,
            end: to,
            kind: keyword.kind,
        })
    }

    /// Return true if a short keyword ends a name in capitals: `MYSQLPASS`, `USERPWD`.
    fn is_joined_capitals(&self, start: usize, end: usize) -> bool {
        let capital = |byte: &u8| byte.is_ascii_uppercase();
        end - start >= 3 && self.before(end).iter().rev().take(end - start + 2).all(capital)
    }

    /// Return true if a value is a digest, and the words before its name say so: `checksum of token: …`.
    pub(crate) fn is_digest(&self, name_start: usize, value: &str) -> bool {
        let before = self.slice(self.text.ceil_char_boundary(name_start.saturating_sub(NAME_MAX)), name_start);
        let words = ["sum", "hash", "digest", "sha", "md", "fingerprint", "integrity", "etag", "commit", "rev", "ref"];
        let names = |part: &str| words.iter().any(|word| part.ends_with(word));
        is_digest(value.as_bytes())
            && before.to_ascii_lowercase().split(|letter: char| !letter.is_ascii_alphabetic()).any(names)
    }

    /// Find the value of a comparison written the other way round: `"value" == name`.
    pub(crate) fn find_compared_value(&mut self, keyword: &'static Keyword, start: usize, end: usize) {
        let name = self.name_start(start);
        if self.is_in_a_marker(end) || keyword.word == "key" && !is_secret_key_name(self.slice(name, end).as_bytes()) {
            return;
        }
        let before = self.before(name).trim_ascii_end();
        let window = before.get(before.len().saturating_sub(2 * EXAMINED_MAX)..).unwrap_or_default();
        let Some(operand) = window.strip_suffix(b"=").map(<[u8]>::trim_ascii_end) else { return };
        let marks = operand.iter().rev().take(2).take_while(|byte| b"=!".contains(byte)).count();
        let inner = operand.get(..operand.len() - marks).unwrap_or_default().trim_ascii_end();
        let Some((quote, inner)) = inner.split_last().filter(|(quote, _)| marks > 0 && b"\"'`".contains(quote)) else {
            return;
        };
        let Some(open) = inner.iter().rposition(|byte| byte == quote || *byte == b'\n') else { return };
        let end = before.len() - (window.len() - inner.len());
        let start = end - (inner.len() - open - 1);
        let accepted = is_secret(self.slice(start, end), keyword.worded, Quoting::Quoted);
        self.add(accepted.then_some(Span { start, end, kind: keyword.kind }), Rule::Label);
    }

    /// Return the password of a statement such as `IDENTIFIED BY 'password'`, or of a line of `.netrc`.
    pub(crate) fn sql_password(&mut self, at: usize) -> Option<Span> {
        if self.count(at, 1, |byte| byte.is_ascii_lowercase()) > 0 && self.before(at).ends_with(b" by ") {
            return None;
        }
        let window =
            self.slice(self.text.ceil_char_boundary(at.saturating_sub(STATEMENT_MAX)), at).to_ascii_lowercase();
        if window.ends_with(" by ") && !window.contains("identified") {
            return None; // `verified by Web3Auth`
        }
        let (quote, from) = self.opening_quote(at);
        let mut words = window.split_ascii_whitespace().rev();
        let netrc = words.next() == Some("password") && words.nth(1) == Some("login");
        let netrc = netrc && words.take(2).any(|word| word == "machine" || word == "default");
        let stated = window.ends_with(" by ") || window.ends_with("login password ") || quote != 0;
        let to = if quote == 0 { self.bare_end(from, &KEYWORDS[0]) } else { self.quoted_end(from, quote)? };
        let value = self.slice(from, to);
        let accepted = (netrc || stated) && is_secret(value, true, Quoting::Bare);
        accepted.then_some(Span { start: from, end: to, kind: "password" })
    }

    /// Return the argument of `-u` on a command line, if it is `user:password`.
    pub(crate) fn user_password(&mut self, at: usize) -> Option<Span> {
        let at = at + self.count(at, 4, |byte| byte == b' ');
        let window = self.bytes.get(at..self.bytes.len().min(at + EXAMINED_MAX)).unwrap_or_default();
        let value = self.slice(at, at + shell_word(window));
        let (user, password) = value.split_once(':')?;
        let quotes: &[char] = &['"', '\'', '\\'];
        let (user, bare) = (user.trim_matches(quotes), password.trim_matches(quotes));
        let numbers = !bare.is_empty() && bare.bytes().all(|byte| byte.is_ascii_digit());
        let accepted = user.len() + bare.len() >= 8
            && !bare.starts_with('/')
            && (bare.is_empty() && is_secret(user, false, Quoting::Bare) || !is_placeholder(bare));
        (accepted && !numbers && !value.contains("REDACTED")).then_some(Span {
            start: at,
            end: at + value.len(),
            kind: "password",
        })
    }

    /// Return the password of `login: ann / X1b2c3` or `credentials: ann:X1b2c3`, whose first word is at `start..end`.
    pub(crate) fn paired_password(&self, start: usize, end: usize) -> Option<Span> {
        let line = self.slice(end, end + EXAMINED_MAX).split('\n').next()?;
        let joint = [": ", ":", " are ", " is "].iter().find(|joint| line.starts_with(**joint))?;
        let behind = line.get(joint.len()..)?.trim_start_matches(' ');
        let user = behind.split(|letter: char| !letter.is_ascii_alphanumeric() && !"._@-".contains(letter)).next()?;
        let separated = behind.get(user.len()..)?;
        let value = separated.strip_prefix(" / ").or(separated.strip_prefix(':'))?;
        let value = value.split(char::is_whitespace).next()?;
        let from = end + line.len() - separated.len() + separated.find(value)?;
        let value = value.trim_end_matches(['.', ',', ';', ')', '"', '\'', '`']);
        let accepted = self.starts_word(start)
            && user.starts_with(|letter: char| letter.is_ascii_alphabetic())
            && value.len() >= 8
            && !has_algorithm(behind.get(..user.len() + 1 + value.len()).unwrap_or_default())
            && is_secret(value, true, Quoting::Bare);
        accepted.then_some(Span { start: from, end: from + value.len(), kind: "password" })
    }

    /// Return true if a name that ends at `end` is the kind inside a `[REDACTED:<kind>]`.
    pub(crate) fn is_in_a_marker(&self, end: usize) -> bool {
        self.bytes.get(end) == Some(&b']') && self.ends_with_marker(end + 1)
    }

    /// The start of the name that the keyword at `start` is part of.
    fn name_start(&self, start: usize) -> usize {
        let name = self.before(start).iter().rev().take(NAME_MAX);
        start - name.take_while(|byte| ByteSet::Dotted.contains(**byte)).count()
    }

    /// Return the operator behind a name, and the position where the value begins.
    fn operator(&self, name_end: usize, option: bool) -> Option<(Operator, usize)> {
        let tab = self.slice(name_end, name_end + 2) == "\\t";
        let mut at = if tab { name_end + 2 } else { self.skip(name_end, b"\\\"'`])*", 3) };
        let quoted = at > name_end;
        if self.bytes.get(at) == Some(&b'[') {
            let index = self.count(at + 1, 8, |byte| byte.is_ascii_alphanumeric());
            at = if self.bytes.get(at + 1 + index) == Some(&b']') { at + index + 2 } else { at };
        }
        if let Some(at) = self.value_below(at) {
            return Some((Operator::Assignment, at));
        }
        let blank = self.skip(at, b" \t\xc2\xa0", 8);
        let after_type = self.skip_type(blank);
        if self.slice(after_type, after_type + 3) == "：" {
            return Some((Operator::Assignment, self.skip(after_type + 3, b" \t", 8)));
        }
        let length = self.count(after_type, 4, |byte| b"=:?.!>-+|,".contains(&byte));
        let text = self.slice(after_type, after_type + length);
        let operator = match text {
            "=" | ":" | ":=" | "=>" | "?=" | "::=" | ":::=" | ".=" | "+=" | "||=" | "|=" => Operator::Assignment,
            "==" | "===" | "!=" | "!==" | "," | "->" => Operator::QuotedOnly,
            ">" => Operator::Element,
            "" if quoted && self.slice(blank, blank + 6) == "value=" => {
                return Some((Operator::Assignment, blank + 6));
            }
            "" if blank > at && option => Operator::OptionSpace,
            "" if blank > at || tab => Operator::QuotedOnly,
            _ if text.starts_with('=') || text.starts_with(':') && !text.starts_with("::") => {
                return Some((Operator::Assignment, self.skip(after_type + 1, b" \t", 8)));
            }
            _ => return None,
        };
        let breaks: &[u8] = if operator == Operator::Element { b" \t\r\n{" } else { b" \t@" };
        let behind = self.skip(after_type + length, breaks, 12);
        let behind =
            if operator == Operator::Assignment { self.next_line(after_type + length, behind) } else { behind };
        Some((operator, behind))
    }

    /// Return where the value begins if it is not on the line of its label.
    ///
    /// These are a YAML block scalar (`password: |` or `>-`), a line that goes on (`password=\`), `password:` alone with
    /// the value below, and a prompt to which a script sends an answer (`expect "assword:"`, `send "X\r"`).
    fn next_line(&self, operator: usize, at: usize) -> usize {
        let rest = self.slice(at, at + PROMPT_MAX);
        let pattern = rest.trim_start_matches('*');
        if let Some((between, send)) = pattern.strip_prefix(['"', '}']).and_then(|behind| behind.split_once("send"))
            && between.chars().all(|letter| letter.is_whitespace() || "{};*\\nr\"".contains(letter))
        {
            let sent = send.trim_start_matches(|letter: char| letter.is_ascii_alphabetic() || "-_ (".contains(letter));
            return at + rest.len() - sent.len();
        }
        let mark = rest.trim_start_matches(['|', '>', '-', '+', '\\', '1', '2', '3', '4']);
        let broken = mark.strip_prefix("\r\n").or(mark.strip_prefix('\n'));
        let Some(below) = broken.filter(|_| mark.len() < rest.len() || self.bytes.get(operator - 1) == Some(&b':'))
        else {
            return at;
        };
        let indented = below.trim_start_matches([' ', '\t']);
        at + rest.len() - indented.len()
    }

    /// Return where the value begins in a list of names and values: `"name": "DB_PASSWORD"`, then `"value": "X"`, on one
    /// line or two.
    fn value_below(&self, at: usize) -> Option<usize> {
        let line = self.skip(at, b",\r\n", 3);
        let word = self.skip(line, b" \t\"'", 24);
        let colon = (line > at && self.slice(word, word + 5) == "value").then(|| self.skip(word + 5, b"\"' \t", 4))?;
        matches!(self.bytes.get(colon), Some(b':' | b'=')).then(|| self.skip(colon + 1, b" \t", 8))
    }

    /// Skip the type of a declaration such as `token string = ` or `token: &str = `.
    fn skip_type(&self, at: usize) -> usize {
        let rest = self.slice(at, at + 16);
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

    /// Skip the colours of a terminal: `ESC[31m`, also as `\x1b[31m`, `\u001b[31m` or `\033[31m`.
    fn skip_colours(&self, at: usize) -> usize {
        let mut at = at;
        for _ in 0..4 {
            let rest = self.slice(at, at + 24);
            let escape =
                ["\u{1b}[", "\\x1b[", "\\u001b[", "\\033[", "\\e["].iter().find(|mark| rest.starts_with(**mark));
            let Some(escape) = escape else { break };
            let numbers = self.count(at + escape.len(), 12, |byte| byte.is_ascii_digit() || byte == b';');
            let end = at + escape.len() + numbers;
            if self.bytes.get(end) != Some(&b'm') {
                break;
            }
            at = self.skip(end + 1, b" ", 4);
        }
        at
    }

    /// Skip at most `at_most` bytes of the given set.
    fn skip(&self, at: usize, any_of: &[u8], at_most: usize) -> usize {
        at + self.count(at, at_most, |byte| any_of.contains(&byte))
    }

    /// Return the quote that opens a value (0 for none), and the position where the value begins.
    fn opening_quote(&self, at: usize) -> (u8, usize) {
        match self.bytes.get(at..).unwrap_or_default() {
            [b'&', b'q', b'u', b'o', b't', b';', ..] => (0, at + 6),
            [b'"', b'"', b'"', ..] => (b'"', at + 3),
            [quote @ (b'"' | b'\'' | b'`'), ..] => (*quote, at + 1),
            [b'b' | b'r' | b'f' | b'u' | b'L' | b'\\', quote @ (b'"' | b'\''), ..] => (*quote, at + 2),
            [0xc2, 0xab, 0xc2, 0xa0, ..] => (0, at + 4),
            [0xc2, 0xab, b'A'..=b'z', ..] => (0, at + 2),
            [0xc2, 0xab, b' ', ..] | [0xe2, 0x80, 0x9c | 0x9e | 0x98, ..] => (0, at + 3),
            _ => (0, at),
        }
    }

    /// The position of the closing quote, or None if the line ends before it.
    fn quoted_end(&self, from: usize, quote: u8) -> Option<usize> {
        let window = self.slice(from, from + 4 * EXAMINED_MAX);
        let length = window.bytes().position(|byte| byte == quote || byte == b'\n')?;
        let inner = window.get(..length)?;
        let inner =
            ["\\r", "\\n", "\\r\\n", "\r"].iter().fold(inner, |inner, end| inner.strip_suffix(end).unwrap_or(inner));
        let closes = window.as_bytes().get(length) == Some(&quote);
        closes.then(|| from + inner.strip_suffix('\\').unwrap_or(inner).len())
    }

    /// Return the end of an unquoted value. A heavily punctuated password may contain what would end any other value.
    fn bare_end(&mut self, from: usize, keyword: &Keyword) -> usize {
        let to = self.extent(from, Extent::Word);
        if to - from <= EXAMINED_MAX {
            let whole = self.slice(from, to).trim_end_matches(['"', '\'', '`', ',', ';']);
            let whole = whole.split("[REDACTED:").next().unwrap_or(whole);
            if is_strange(whole) && !whole.contains("\":") && !whole.contains("\\\"") {
                return from + whole.len();
            }
        }
        let mut end = self.extent(from, Extent::Value);
        while keyword.worded && self.continues_at(end) && end - from < EXAMINED_MAX {
            end = self.extent(end + 1, Extent::Value);
        }
        from + self.slice(from, end).trim_end_matches(['.', ':', '…', '»', '”', '“', '’']).len()
    }

    /// Return true if the `&` here is part of a password: it neither separates arguments of a URL nor commands.
    fn continues_at(&self, at: usize) -> bool {
        let Some([b'&', rest @ ..]) = self.bytes.get(at..self.bytes.len().min(at + NAME_MAX)) else { return false };
        let name = rest.iter().take_while(|byte| ByteSet::Dotted.contains(**byte)).count();
        let next = rest.get(name).copied().unwrap_or(b' ');
        let separates = name > 0 && matches!(next, b'=' | b'[' | b';') || self.before(at).last() == Some(&b' ');
        !separates && !rest.starts_with(b"&") && !rest.starts_with(b"#")
    }

    /// Return the end of an extent from here. The last one is cached, so that overlapping names stay linear.
    fn extent(&mut self, from: usize, extent: Extent) -> usize {
        let bytes = self.bytes;
        let cached = &mut self.extents[extent as usize];
        if !(cached.0..cached.1).contains(&from) {
            let ends = |byte: &u8| {
                byte.is_ascii_whitespace()
                    || *byte == 0x1b
                    || extent == Extent::Value && b"\"'`,;)]}<>&|\\[".contains(byte)
            };
            let rest = bytes.get(from..).unwrap_or_default();
            *cached = (from, from + rest.iter().position(ends).unwrap_or(rest.len()));
        }
        self.text.floor_char_boundary(cached.1.max(from).min(from + crate::redact::RUN_MAX)).max(from)
    }
}

/// Return true if a name only describes the secret, by its part behind the keyword: `password_length`, `tokenType`.
fn describes_secret(rest: &str, worded: bool) -> bool {
    if rest.is_empty() {
        return false;
    }
    let lower = rest.to_ascii_lowercase();
    let last = lower.rsplit(['_', '-']).next().unwrap_or("");
    let camel = rest.rfind(|letter: char| letter.is_ascii_uppercase()).and_then(|at| lower.get(at..)).unwrap_or("");
    lower == "s" && !worded
        || lower.contains("encrypted")
        || DESCRIPTION_WORDS.contains(&last)
        || DESCRIPTION_WORDS.contains(&camel)
        || KEYWORDS.iter().any(|keyword| lower.contains(keyword.word))
}

/// Return true if the value of any key is one of a secret one: capitals, small letters and digits by chance.
fn is_key_material(value: &str) -> bool {
    let bytes = value.as_bytes();
    bytes.len() >= 16 && has_three_classes(bytes) && is_random(bytes) && is_secret(value, false, Quoting::Bare)
}

/// Return true if a name says that what it names is no secret: `publicKey`, `NEXT_PUBLIC_TOKEN`.
fn names_public(name: &str) -> bool {
    let lower = name.to_ascii_lowercase();
    let words = "cache primary storage public pubkey pub_ publish page cursor cancel design encrypted hash";
    words.split(' ').any(|word| lower.contains(word))
}

/// Return the length of the first word of a command line, with its quotes; an unclosed quote ends it.
pub(crate) fn shell_word(line: &[u8]) -> usize {
    let mut at = 0;
    while let Some(byte) = line.get(at) {
        match byte {
            byte if byte.is_ascii_whitespace() || b"`;|&".contains(byte) => break,
            quote @ (b'"' | b'\'') => {
                let rest = line.get(at + 1..).unwrap_or_default();
                match rest.iter().position(|byte| byte == quote || *byte == b'\n') {
                    Some(close) if rest.get(close) == Some(quote) => at += close + 2,
                    _ => break,
                }
            }
            b'\\' if !matches!(line.get(at + 1), Some(b'"' | b'\'')) => break,
            _ => at += 1,
        }
    }
    at
}
