//! Strings of JSON: where they end, and what their escapes mean.

use std::borrow::Cow;

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

/// From `at`, the first byte that a string cannot hold as it is: a quote, a backslash, a control, or the end.
///
/// Eight bytes at a time: for each lane, the high bit of `(x - n) & !x` marks a byte below `n`, exact for the
/// lowest marked lane, which is the one asked for.
pub(crate) fn plain_until(bytes: &[u8], mut at: usize) -> usize {
    const LOW: u64 = 0x0101_0101_0101_0101;
    const HIGH: u64 = 0x8080_8080_8080_8080;
    while let Some(chunk) = bytes.get(at..at + 8).and_then(|chunk| <[u8; 8]>::try_from(chunk).ok()) {
        let lanes = u64::from_le_bytes(chunk);
        let quote = lanes ^ (LOW * u64::from(b'"'));
        let slash = lanes ^ (LOW * u64::from(b'\\'));
        let found = (quote.wrapping_sub(LOW) & !quote)
            | (slash.wrapping_sub(LOW) & !slash)
            | (lanes.wrapping_sub(LOW * 0x20) & !lanes);
        if found & HIGH != 0 {
            return at + (found & HIGH).trailing_zeros() as usize / 8;
        }
        at += 8;
    }
    while bytes.get(at).is_some_and(|&byte| byte >= 0x20 && byte != b'"' && byte != b'\\') {
        at += 1;
    }
    at
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
