//! One layer of encoding taken off, to look inside: base64, hexadecimal, and escapes of URLs, JSON and HTML.

use crate::redact::found::{Found, Sure};
use crate::redact::literals::Literals;
use crate::redact::{RUN_MAX, Reach, Span};

/// Encoded runs that are shorter hold no secret.
const BASE64_LEAST: usize = 20;
const HEX_LEAST: usize = 32;

impl Found<'_> {
    /// A run that is the base64 or the hexadecimal of a text with a secret in it.
    pub(crate) fn encoded(&mut self, literals: Option<&Literals>, start: usize, end: usize) {
        if self.behind_a_marker(start) {
            return;
        }
        let end = end.min(start + RUN_MAX);
        let mut from = start;
        for part in self.bytes[start..end].split(|byte| matches!(byte, b'.' | b'~')) {
            let to = from + part.len();
            let decoded = if part.len() >= HEX_LEAST { hexadecimal(part) } else { None };
            if let Some(text) = decoded.or_else(|| base64(part))
                && let Some(kind) = inside(&text, literals)
            {
                let padding = self.bytes[to..].iter().take(2).take_while(|byte| **byte == b'=').count();
                self.add(Some(Span { start: from, end: to + padding, kind }), Sure::Shaped);
            }
            from = to + 1;
        }
    }

    /// Stretches with escapes in them, read without.
    pub(crate) fn escaped(&mut self, literals: Option<&Literals>) {
        let mut at = 0;
        for escape in std::mem::take(&mut self.escapes) {
            if escape < at {
                continue;
            }
            let before = self.bytes[at..escape].iter().rev().take(RUN_MAX).take_while(|byte| !parts(**byte)).count();
            let after = self.bytes[escape..].iter().take_while(|byte| !parts(**byte)).count();
            let (start, end) = (escape - before, escape + after);
            // A longer stretch is read from its beginning only.
            if before < RUN_MAX && !self.behind_a_marker(start) {
                self.unescaped(literals, start, self.text.floor_char_boundary(end.min(start + RUN_MAX)));
            }
            at = end.max(escape + 1);
        }
    }

    fn unescaped(&mut self, literals: Option<&Literals>, start: usize, end: usize) {
        let Some(stretch) = self.text.get(start..end) else { return };
        let Some((text, origins)) = unescape(stretch) else { return };
        for span in look(&text, literals) {
            let from = start + origins[span.start];
            let to = start + origins[span.end];
            self.add(Some(Span { start: from, end: to, kind: span.kind }), Sure::Shaped);
        }
    }
}

/// The spans of a text that was taken out of an encoding.
fn look(text: &str, literals: Option<&Literals>) -> Vec<Span> {
    let mut found = Found::new(text);
    if let Some(literals) = literals {
        literals.find(&mut found);
    }
    found.anchored(Reach::Content);
    found.finish()
}

fn inside(text: &str, literals: Option<&Literals>) -> Option<&'static str> {
    look(text, literals).first().map(|span| span.kind)
}

/// What is decoded must read as text: no control characters, and UTF-8.
fn readable(bytes: &[u8]) -> bool {
    bytes.iter().all(|byte| *byte >= b' ' && *byte != 0x7f || matches!(byte, b'\n' | b'\r' | b'\t'))
}

fn base64(run: &[u8]) -> Option<String> {
    if run.len() < BASE64_LEAST || run.len() % 4 == 1 {
        return None;
    }
    let mut out = Vec::with_capacity(run.len() * 3 / 4);
    for four in run.chunks(4) {
        let mut bits = 0_u32;
        for byte in four {
            bits = bits << 6 | u32::from(sextet(*byte)?);
        }
        bits <<= 6 * (4 - four.len());
        let [_, decoded @ ..] = bits.to_be_bytes();
        let decoded = &decoded[..four.len() - 1];
        if !readable(decoded) {
            return None;
        }
        out.extend_from_slice(decoded);
    }
    String::from_utf8(out).ok()
}

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

fn hexadecimal(run: &[u8]) -> Option<String> {
    if !run.len().is_multiple_of(2) {
        return None;
    }
    let mut out = Vec::with_capacity(run.len() / 2);
    for pair in run.chunks(2) {
        let byte = nibble(pair[0])? << 4 | nibble(pair[1])?;
        if !readable(&[byte]) {
            return None;
        }
        out.push(byte);
    }
    String::from_utf8(out).ok()
}

fn nibble(byte: u8) -> Option<u8> {
    char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok())
}

/// What ends a stretch that is read without its escapes.
fn parts(byte: u8) -> bool {
    byte.is_ascii_whitespace() || b"\"'`<>(),[]{}|".contains(&byte)
}

/// The length of a character without width at the beginning, or 0.
fn zero_width(bytes: &[u8]) -> usize {
    match bytes {
        [0xe2, 0x80, 0x8b..=0x8f, ..] | [0xe2, 0x81, 0xa0..=0xa3, ..] | [0xef, 0xbb, 0xbf, ..] => 3,
        [0xc2, 0xad, ..] => 2,
        _ => 0,
    }
}

/// The stretch without its escapes, and for each byte of it, and its end, where it stood; none if there were none.
fn unescape(stretch: &str) -> Option<(String, Vec<usize>)> {
    let bytes = stretch.as_bytes();
    let mut out = Vec::with_capacity(bytes.len());
    let mut origins = Vec::with_capacity(bytes.len() + 1);
    let mut at = 0;
    while at < bytes.len() {
        let (byte, length) = one(&bytes[at..]);
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

/// The byte that is written at the beginning, none for what has no width, and how long it is written.
fn one(bytes: &[u8]) -> (Option<u8>, usize) {
    let hex = |from: usize, length: usize| {
        let digits = bytes.get(from..from + length).and_then(|digits| std::str::from_utf8(digits).ok());
        digits.and_then(|digits| u32::from_str_radix(digits, 16).ok()).and_then(ascii)
    };
    let escaped = match bytes {
        [b'%', ..] => hex(1, 2).map(|byte| (byte, 3)),
        [b'\\', b'u', ..] => hex(2, 4).map(|byte| (byte, 6)),
        [b'\\', b'x', ..] => hex(2, 2).map(|byte| (byte, 4)),
        [b'\\', b'/', ..] => Some((b'/', 2)),
        [b'&', b'#', rest @ ..] => entity(rest).map(|(byte, length)| (byte, length + 2)),
        _ => None,
    };
    match escaped {
        Some((byte, length)) => (Some(byte), length),
        None if zero_width(bytes) > 0 => (None, zero_width(bytes)),
        None => (Some(bytes[0]), 1),
    }
}

fn ascii(number: u32) -> Option<u8> {
    u8::try_from(number).ok().filter(u8::is_ascii)
}

/// `103;` or `x67;`, as they stand behind `&#`.
fn entity(bytes: &[u8]) -> Option<(u8, usize)> {
    let end = bytes.iter().take(6).position(|byte| *byte == b';')?;
    let digits = std::str::from_utf8(&bytes[..end]).ok()?;
    let number = match digits.strip_prefix(['x', 'X']) {
        Some(digits) => u32::from_str_radix(digits, 16).ok()?,
        None => digits.parse().ok()?,
    };
    Some((ascii(number)?, end + 1))
}
