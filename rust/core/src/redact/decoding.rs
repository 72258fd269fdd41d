//! Secrets inside encoded text: one layer of base64, hexadecimal, URL, JSON or HTML escapes is decoded and searched.

use crate::redact::findings::{Findings, Rule};
use crate::redact::rules::ByteSet;
use crate::redact::{Finding, Known, RUN_MAX, Scope, Span};

/// Shortest encoded runs in characters; less than 10 decoded bytes have no room for a secret.
const RUN_MIN: usize = 16;
const BASE64_MIN: usize = 16;
const HEX_MIN: usize = 20;

impl Findings<'_> {
    /// Call `visit` for every run of at least `RUN_MIN` value bytes.
    ///
    /// Only every `RUN_MIN`-th byte is tested first, as each such run contains one of them.
    pub(crate) fn for_each_run(&mut self, mut visit: impl FnMut(&mut Self, usize, usize)) {
        let is_value = |byte: &&u8| ByteSet::Value.contains(**byte);
        let mut at = RUN_MIN - 1;
        while let Some(byte) = self.bytes.get(at) {
            if !ByteSet::Value.contains(*byte) {
                at += RUN_MIN;
                continue;
            }
            let (before, behind) = self.bytes.split_at(at);
            let start = at - before.iter().rev().take_while(is_value).count();
            let end = at + behind.iter().take_while(is_value).count();
            if end - start >= RUN_MIN {
                visit(self, start, end);
            }
            at = end + RUN_MIN;
        }
    }

    /// Add a run that decodes from base64 or hexadecimal to a text with a secret.
    pub(crate) fn scan_encoded(&mut self, known: Known<'_>, start: usize, end: usize) {
        if self.ends_with_marker(start) {
            return;
        }
        let end = end.min(start + RUN_MAX);
        let mut from = start;
        for part in self.part(start, end).split(|byte| matches!(byte, b'.' | b'~')) {
            let to = from + part.len();
            let digits = part.get(..HEX_MIN).is_some_and(|digits| digits.iter().all(u8::is_ascii_hexdigit));
            let decoded = if digits { hexadecimal(part) } else { None };
            if let Some(text) = decoded.or_else(|| if part.len() >= BASE64_MIN { base64(part) } else { None })
                && let Some(found) = find_secrets(&text, known).first()
            {
                let padding = self.count(to, 2, |byte| byte == b'=');
                self.add(Some(Span { start: from, end: to + padding, kind: found.kind }), Rule::Decoded(found.rule));
            }
            from = to + 1;
        }
    }

    /// Find secrets in sections with escape sequences, read without them.
    pub(crate) fn scan_escaped(&mut self, known: Known<'_>) {
        let mut at = 0;
        for escape in std::mem::take(&mut self.escapes) {
            if escape < at {
                continue;
            }
            let before =
                self.part(at, escape).iter().rev().take(RUN_MAX).take_while(|byte| !is_delimiter(**byte)).count();
            let after = self.part(escape, usize::MAX).iter().take_while(|byte| !is_delimiter(**byte)).count();
            let (start, end) = (escape - before, escape + after);
            // A section longer than that is read from its beginning only.
            if before < RUN_MAX && !self.ends_with_marker(start) {
                self.scan_unescaped(known, start, self.text.floor_char_boundary(end.min(start + RUN_MAX)));
            }
            at = end.max(escape + 1);
        }
    }

    /// Find secrets in one section and map their positions back to the escaped text.
    fn scan_unescaped(&mut self, known: Known<'_>, start: usize, end: usize) {
        let Some(section) = self.text.get(start..end) else { return };
        let Some((text, origins)) = unescape(section) else { return };
        for span in find_secrets(&text, known) {
            let from = start + origins[span.start];
            let to = start + origins[span.end];
            self.add(Some(Span { start: from, end: to, kind: span.kind }), Rule::Decoded(span.rule));
        }
    }
}

/// Return the secrets of a decoded text.
fn find_secrets(text: &str, known: Known<'_>) -> Vec<Finding> {
    let mut found = Findings::new(text);
    known.find(&mut found);
    found.scan_anchors(Scope::Content);
    found.into_spans()
}

/// Return true if decoded bytes look like text: no control characters.
fn is_readable(bytes: &[u8]) -> bool {
    bytes.iter().all(|byte| *byte >= b' ' && *byte != 0x7f || matches!(byte, b'\n' | b'\r' | b'\t'))
}

/// Return true if credentials are the base64 of `user:password`.
pub(crate) fn is_pair(credentials: &str) -> bool {
    base64(credentials.trim_end_matches('=').as_bytes()).is_some_and(|pair| pair.contains(':'))
}

/// Decode base64 or base64url to text, or return None.
fn base64(run: &[u8]) -> Option<String> {
    if run.len() % 4 == 1 {
        return None;
    }
    let mut out = Vec::new(); // most runs are no text, which the first bytes show
    for four in run.chunks(4) {
        let mut bits = 0_u32;
        for byte in four {
            bits = bits << 6 | u32::from(sextet(*byte)?);
        }
        bits <<= 6 * (4 - four.len());
        let [_, decoded @ ..] = bits.to_be_bytes();
        let decoded = &decoded[..four.len() - 1];
        if !is_readable(decoded) {
            return None;
        }
        out.extend_from_slice(decoded);
    }
    String::from_utf8(out).ok()
}

/// The value of a base64 digit.
fn sextet(byte: u8) -> Option<u8> {
    Some(match byte {
        b'A'..=b'Z' => byte - b'A',
        b'a'..=b'z' => byte - b'a' + 26,
        b'0'..=b'9' => byte - b'0' + 52,
        b'+' | b'-' => 62,
        b'/' | b'_' => 63,
        _ => return None,
    })
}

/// Decode hexadecimal digits to text, or return None.
fn hexadecimal(run: &[u8]) -> Option<String> {
    if !run.len().is_multiple_of(2) {
        return None;
    }
    let mut out = Vec::new();
    for pair in run.chunks(2) {
        let byte = nibble(pair[0])? << 4 | nibble(pair[1])?;
        if !is_readable(&[byte]) {
            return None;
        }
        out.push(byte);
    }
    String::from_utf8(out).ok()
}

/// The value of a hexadecimal digit.
fn nibble(byte: u8) -> Option<u8> {
    char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok())
}

/// Return true if a byte ends a section of escaped text.
fn is_delimiter(byte: u8) -> bool {
    byte.is_ascii_whitespace() || b"\"'`<>(),[]{}|".contains(&byte)
}

/// The length of a zero-width character at the beginning, or 0.
fn zero_width(bytes: &[u8]) -> usize {
    match bytes {
        [0xe2, 0x80, 0x8b..=0x8f, ..] | [0xe2, 0x81, 0xa0..=0xa3, ..] | [0xef, 0xbb, 0xbf, ..] => 3,
        [0xc2, 0xad, ..] => 2,
        _ => 0,
    }
}

/// Decode the escapes of a section; None if there are none.
///
/// Return the text and, for each of its bytes and its end, the position in the section.
fn unescape(section: &str) -> Option<(String, Vec<usize>)> {
    let bytes = section.as_bytes();
    let mut out = Vec::with_capacity(bytes.len());
    let mut origins = Vec::with_capacity(bytes.len() + 1);
    let mut at = 0;
    while at < bytes.len() {
        let (byte, length) = decode_one(bytes.get(at..).unwrap_or_default());
        if let Some(byte) = byte {
            out.push(byte);
            origins.push(at);
        }
        at += length;
    }
    origins.push(at);
    (out.len() < bytes.len()).then_some(())?;
    Some((String::from_utf8(out).ok()?, origins))
}

/// Decode the first byte (None for a zero-width character) and return the length of its encoding.
fn decode_one(bytes: &[u8]) -> (Option<u8>, usize) {
    let hex = |from: usize, length: usize| {
        let digits = bytes.get(from..from + length).and_then(|digits| std::str::from_utf8(digits).ok());
        digits.and_then(|digits| u32::from_str_radix(digits, 16).ok()).and_then(ascii)
    };
    let decoded = match bytes {
        [b'%', ..] => hex(1, 2).map(|byte| (byte, 3)),
        [b'\\', b'u', ..] => hex(2, 4).map(|byte| (byte, 6)),
        [b'\\', b'x', ..] => hex(2, 2).map(|byte| (byte, 4)),
        [b'\\', b'/', ..] => Some((b'/', 2)),
        [b'&', b'#', rest @ ..] => entity(rest).map(|(byte, length)| (byte, length + 2)),
        _ => None,
    };
    match decoded {
        Some((byte, length)) => (Some(byte), length),
        None if zero_width(bytes) > 0 => (None, zero_width(bytes)),
        None => (Some(bytes[0]), 1),
    }
}

/// A code point as an ASCII byte.
fn ascii(number: u32) -> Option<u8> {
    u8::try_from(number).ok().filter(u8::is_ascii)
}

/// Decode `103;` or `x67;`, the rest of an HTML character reference behind `&#`.
fn entity(bytes: &[u8]) -> Option<(u8, usize)> {
    let end = bytes.iter().take(6).position(|byte| *byte == b';')?;
    let digits = std::str::from_utf8(bytes.get(..end)?).ok()?;
    let number = match digits.strip_prefix(['x', 'X']) {
        Some(digits) => u32::from_str_radix(digits, 16).ok()?,
        None => digits.parse().ok()?,
    };
    Some((ascii(number)?, end + 1))
}
