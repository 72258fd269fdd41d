//! Code and test output that is written like a password behind its name: results of tests, conditional expressions,
//! the rest of a JSON object.

use crate::redact::findings::Findings;
use crate::redact::rules::Keyword;

/// Literals of JSON and of programming languages, in lower case.
const LITERALS: [&str; 6] = ["true", "false", "null", "none", "nil", "undefined"];
/// Endings of `pass` as a verb, in lower case.
const VERB_ENDINGS: [&str; 3] = ["ed", "es", "ing"];
/// Blanks between the parts of a conditional expression that are skipped.
const BLANKS_MAX: usize = 32;

impl Findings<'_> {
    /// Return true if the keyword at `start..end` is the verb `pass`, or a test's result with its name behind it.
    ///
    /// `"passed": true`, `passes`, `PASSED: 3`, `--- PASS: TestMerge2`, `PASS: src/merge2.test.ts`.
    pub(crate) fn is_passing(&self, keyword: &Keyword, start: usize, end: usize) -> bool {
        if keyword.word != "pass" {
            return false;
        }
        let written = &self.bytes[start..end];
        let rest = &self.bytes[end..];
        if rest.first().is_some_and(u8::is_ascii_lowercase) {
            return true; // `passport`, `passing`; words of passwords are keywords of their own
        }
        if written != b"PASS" {
            return false;
        }
        let letters = rest.iter().take(8).take_while(|byte| byte.is_ascii_alphabetic()).count();
        if VERB_ENDINGS.iter().any(|ending| rest[..letters].eq_ignore_ascii_case(ending.as_bytes())) {
            return true;
        }
        rest.starts_with(b": ") && (self.bytes[..start].ends_with(b"--- ") || is_test_name(&rest[2..]))
    }

    /// Return true if the name at `start..end` is a string that a conditional expression chooses.
    ///
    /// `show ? 'text' : 'password'` has no colon behind the name, `show ? 'password' : 'text'` has.
    ///
    /// Behind a question that a person asks, JSON is spaced otherwise: `Is it right? "password": "..."`.
    pub(crate) fn is_conditional(&self, start: usize, end: usize) -> bool {
        let quote = |byte: Option<&u8>| byte.is_some_and(|byte| b"\"'`".contains(byte));
        let backslash = |byte: &&u8| **byte == b'\\';
        let blank = |byte: &&u8| byte.is_ascii_whitespace();
        let (before, behind) = (&self.bytes[..start], &self.bytes[end..]);
        let escaped = behind.iter().take(3).take_while(backslash).count();
        if !quote(before.last()) || !quote(behind.get(escaped)) {
            return false;
        }
        let before = &before[..before.len() - 1];
        let before = &before[..before.len() - before.iter().rev().take(3).take_while(backslash).count()];
        let behind = &behind[escaped + 1..];
        let blanks_before = before.iter().rev().take(BLANKS_MAX).take_while(blank).count();
        let blanks_behind = behind.iter().take(BLANKS_MAX).take_while(blank).count();
        (blanks_before > 0) == (blanks_behind > 0)
            && before[..before.len() - blanks_before].ends_with(b"?")
            && behind.get(blanks_behind) == Some(&b':')
    }
}

/// Return true if a line begins with the name of a test: a path with an extension or a `test` in it, `package::name`.
fn is_test_name(line: &[u8]) -> bool {
    let named = |byte: &&u8| byte.is_ascii_alphanumeric() || b"_-./:".contains(byte);
    let name = &line[..line.iter().take(256).take_while(named).count()];
    if !matches!(line.get(name.len()), None | Some(b' ' | b'\t' | b'\r' | b'\n' | b'\\' | b'"')) {
        return false;
    }
    let Ok(name) = std::str::from_utf8(name) else { return false };
    let extension = name.rsplit_once('.').is_some_and(|(stem, end)| {
        !stem.is_empty() && (1..=4).contains(&end.len()) && end.bytes().all(|byte| byte.is_ascii_lowercase())
    });
    let lower = name.to_ascii_lowercase();
    let tests = lower.contains("test") || lower.contains("spec");
    extension && (tests || name.contains('/')) || tests && name.contains(['/', ':']) || lower.starts_with("test_")
}

/// Return an unquoted value without the rest of the JSON or code that it is in: `true},{"text":"x` gives `true`.
pub(crate) fn before_structure(value: &str) -> &str {
    let bytes = value.as_bytes();
    let letters = bytes.iter().take_while(|byte| byte.is_ascii_alphabetic()).count();
    let literal = LITERALS.iter().any(|literal| value[..letters].eq_ignore_ascii_case(literal));
    if literal && bytes.get(letters).is_some_and(|byte| b",;}])\"'\\".contains(byte)) {
        return &value[..letters];
    }
    let next = (1..bytes.len()).find(|at| bytes[*at] == b',' && begins_member(&bytes[*at + 1..], &bytes[..*at]));
    next.map_or(value, |at| value[..at].trim_end_matches(['"', '\'', '}', ']', '\\']))
}

/// Return true if a member of a JSON object begins here, behind a comma and the text before it.
///
/// These are `{"name":`, `\"name\":`, and without quotes only a name from one object to the next (`},{name:`).
fn begins_member(rest: &[u8], before: &[u8]) -> bool {
    let count = |from: usize, wanted: fn(&u8) -> bool| rest[from..].iter().take_while(|byte| wanted(byte)).count();
    let opened = count(0, |byte| b"{[".contains(byte));
    let escaped = opened + count(opened, |byte| *byte == b'\\');
    let quote = rest.get(escaped).copied().filter(|byte| b"\"'".contains(byte));
    let name = escaped + usize::from(quote.is_some());
    let name_end = name + count(name, |byte| byte.is_ascii_alphanumeric() || b"_-.$".contains(byte));
    let Some(quote) = quote else {
        return opened > 0
            && name_end > name
            && matches!(before.last(), Some(b'}' | b']'))
            && rest.get(name_end) == Some(&b':');
    };
    let close = name_end + count(name_end, |byte| *byte == b'\\');
    name_end > name && rest.get(close) == Some(&quote) && rest.get(close + 1) == Some(&b':')
}
