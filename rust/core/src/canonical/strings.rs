//! JSON strings: finding their end, and decoding their escapes.

use std::borrow::Cow;

use crate::canonical::simd::{CHUNK_BYTES, all_plain, plain_prefix_length};

/// A valid string of JSON text, not yet decoded.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RawString<'a> {
    /// The text between the quotes.
    pub(crate) raw: &'a str,
    /// True if it has an escape.
    pub(crate) escaped: bool,
}

impl<'a> RawString<'a> {
    /// A string of which `escaped` says whether it has an escape.
    pub(crate) fn new(raw: &'a str, escaped: bool) -> Self {
        Self { raw, escaped }
    }

    /// Return the decoded string, borrowed if there is no escape.
    pub(crate) fn decode(self) -> Cow<'a, str> {
        if self.escaped { Cow::Owned(decode_escapes(self.raw)) } else { Cow::Borrowed(self.raw) }
    }
}

/// Return the position of the first quote, backslash or control character from `from` on, or the end of the text.
pub(crate) fn plain_until(bytes: &[u8], from: usize) -> usize {
    let mut at = from;
    while bytes.get(at..).and_then(<[u8]>::first_chunk).is_some_and(all_plain) {
        at += 4 * CHUNK_BYTES;
    }
    while let Some(chunk) = bytes.get(at..).and_then(<[u8]>::first_chunk) {
        let plain = plain_prefix_length(chunk);
        at += plain;
        if plain < CHUNK_BYTES {
            return at;
        }
    }
    while bytes.get(at).is_some_and(|&byte| !is_special(byte)) {
        at += 1;
    }
    at
}

/// Return true if a byte needs an escape in a string.
#[inline]
pub(crate) fn is_special(byte: u8) -> bool {
    byte < 0x20 || byte == b'"' || byte == b'\\'
}

/// Return the code unit of four hexadecimal digits.
pub(crate) fn hexadecimal(digits: &[u8]) -> Option<u16> {
    digits.iter().try_fold(0_u16, |unit, digit| {
        let digit = char::from(*digit).to_digit(16)?;
        Some(unit << 4 | u16::try_from(digit).ok()?)
    })
}

/// Decode a string whose escapes the scanner has validated.
fn decode_escapes(raw: &str) -> String {
    let mut decoded = String::with_capacity(raw.len());
    let mut rest = raw;
    while let Some(slash) = rest.find('\\') {
        decoded.push_str(&rest[..slash]);
        let (character, length) = decode_escape(&rest.as_bytes()[slash..]);
        decoded.push(character);
        rest = &rest[slash + length..];
    }
    decoded.push_str(rest);
    decoded
}

/// Return the character of the escape at the beginning, and its length in bytes.
pub(crate) fn decode_escape(bytes: &[u8]) -> (char, usize) {
    let unit = |at: usize| bytes.get(at..at + 4).and_then(hexadecimal).unwrap_or(0xFFFD);
    match bytes.get(1) {
        Some(b'b') => ('\u{8}', 2),
        Some(b'f') => ('\u{c}', 2),
        Some(b'n') => ('\n', 2),
        Some(b'r') => ('\r', 2),
        Some(b't') => ('\t', 2),
        Some(b'u') => {
            let first = unit(2);
            let paired = (0xD800..0xDC00).contains(&first);
            let units = [first, if paired { unit(8) } else { 0 }];
            let character = char::decode_utf16(units).next().and_then(Result::ok).unwrap_or('\u{FFFD}');
            (character, if paired { 12 } else { 6 })
        }
        Some(&other) => (char::from(other), 2),
        None => ('\\', 1),
    }
}
