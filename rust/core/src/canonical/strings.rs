//! Strings of JSON: where they end, and what their escapes mean.

use std::borrow::Cow;

use crate::canonical::order::first_bytes;

/// A string as it stands in the text: valid, not yet decoded.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Text<'a> {
    raw: &'a str,
    escaped: bool,
}

impl<'a> Text<'a> {
    /// What stands between the quotes, and whether there is a backslash in it.
    pub(crate) fn new(raw: &'a str, escaped: bool) -> Self {
        Self { raw, escaped }
    }

    /// The string that is meant; borrowed if there was nothing to decode.
    pub(crate) fn decoded(self) -> Cow<'a, str> {
        if self.escaped { Cow::Owned(decode_escapes(self.raw)) } else { Cow::Borrowed(self.raw) }
    }
}

/// Whether a string can hold these bytes as they are, without an escape.
pub(crate) fn plain(bytes: &[u8]) -> bool {
    let mut rest = bytes;
    while let Some((chunk, more)) = rest.split_first_chunk::<32>() {
        if !plain_chunk(chunk) {
            return false;
        }
        rest = more;
    }
    if let Some(last) = bytes.last_chunk::<32>() {
        return rest.is_empty() || plain_chunk(last);
    }
    if let (Some(first), Some(last)) = (rest.first_chunk::<16>(), rest.last_chunk::<16>()) {
        return plain_chunk(first) & plain_chunk(last);
    }
    if let (Some(first), Some(last)) = (rest.first_chunk(), rest.last_chunk()) {
        return special(u64::from_le_bytes(*first)) | special(u64::from_le_bytes(*last)) == 0;
    }
    special(first_bytes(rest) | spaces_after(rest)) == 0
}

fn plain_chunk<const LENGTH: usize>(chunk: &[u8; LENGTH]) -> bool {
    let is_special = |byte: u8| u8::from(byte < 0x20) | u8::from(byte == b'"') | u8::from(byte == b'\\');
    chunk.iter().fold(0, |found, byte| found | is_special(*byte)) == 0
}

/// From `from`, the first byte that a string cannot hold as it is: a quote, a backslash, a control, or the end.
pub(crate) fn plain_until(bytes: &[u8], from: usize) -> usize {
    let mut at = from;
    while bytes.get(at..).and_then(<[u8]>::first_chunk::<32>).is_some_and(plain_chunk) {
        at += 32;
    }
    while let Some(chunk) = bytes.get(at..).and_then(<[u8]>::first_chunk) {
        let found = special(u64::from_le_bytes(*chunk));
        if found != 0 {
            return at + found.trailing_zeros() as usize / 8;
        }
        at += 8;
    }
    let rest = bytes.get(at..).unwrap_or_default();
    let found = special((first_bytes(rest) | spaces_after(rest)).swap_bytes());
    if found == 0 { bytes.len() } else { at + found.trailing_zeros() as usize / 8 }
}

/// Spaces where the first bytes of a string shorter than eight leave room.
fn spaces_after(short: &[u8]) -> u64 {
    0x2020_2020_2020_2020 & (!0 >> (8 * short.len()))
}

/// The high bit of each lane that a string cannot hold as it is; exact for the lowest such lane, the one asked for.
///
/// `(x - n) & !x` has its high bit set where a byte is below `n`.
fn special(lanes: u64) -> u64 {
    const LOW: u64 = 0x0101_0101_0101_0101;
    const HIGH: u64 = 0x8080_8080_8080_8080;
    let quote = lanes ^ (LOW * u64::from(b'"'));
    let slash = lanes ^ (LOW * u64::from(b'\\'));
    HIGH & ((quote.wrapping_sub(LOW) & !quote)
        | (slash.wrapping_sub(LOW) & !slash)
        | (lanes.wrapping_sub(LOW * 0x20) & !lanes))
}

/// The code unit of four hexadecimal digits.
pub(crate) fn hexadecimal(digits: &[u8]) -> Option<u16> {
    digits.iter().try_fold(0_u16, |unit, digit| {
        let digit = char::from(*digit).to_digit(16)?;
        Some(unit << 4 | u16::try_from(digit).ok()?)
    })
}

/// Decodes escapes that the scanner has already found valid.
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

/// The character of the escape at the start, and how many bytes it takes.
fn decode_escape(bytes: &[u8]) -> (char, usize) {
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
