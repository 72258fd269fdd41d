//! The output buffer of canonical JSON: strings, numbers and literals as RFC 8785 writes them.

use crate::canonical::INTEGER_MAX;
use crate::canonical::simd::{CHUNK_BYTES, all_plain, plain_prefix_length, special_lanes};
use crate::canonical::source::Unrepresentable;
use crate::canonical::strings::{RawString, decode_escape, is_special};

/// Initial capacity in bytes; most records need less.
const CAPACITY: usize = 1024;

/// The two digits of `00` to `99`.
const DIGIT_PAIRS: [[u8; 2]; 100] = pairs();

/// Canonical JSON written so far.
pub(crate) struct Output {
    pub(crate) bytes: Vec<u8>,
    doubles: ryu_js::Buffer,
}

impl Output {
    /// An empty buffer of the usual capacity.
    pub(crate) fn new() -> Self {
        Self::with_capacity(CAPACITY)
    }

    /// An empty buffer.
    pub(crate) fn with_capacity(capacity: usize) -> Self {
        Self { bytes: Vec::with_capacity(capacity), doubles: ryu_js::Buffer::new() }
    }

    /// Append bytes unchanged.
    #[inline]
    pub(crate) fn raw(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
    }

    /// Append a byte.
    #[inline]
    pub(crate) fn byte(&mut self, byte: u8) {
        self.bytes.push(byte);
    }

    /// Append `true` or `false`.
    pub(crate) fn bool(&mut self, value: bool) {
        self.raw(if value { b"true" } else { b"false" });
    }

    /// Append an integer, if a double represents it exactly.
    #[inline]
    pub(crate) fn integer(&mut self, integer: i64) -> Result<(), Unrepresentable> {
        if !(-INTEGER_MAX..=INTEGER_MAX).contains(&integer) {
            return Err(Unrepresentable::BeyondInteger);
        }
        if integer < 0 {
            self.byte(b'-');
        }
        self.digits(integer.unsigned_abs());
        Ok(())
    }

    /// Append a double as ECMAScript writes it; a whole one below 2^53 is written by the faster integer path.
    pub(crate) fn double(&mut self, double: f64) -> Result<(), Unrepresentable> {
        const EXACT: f64 = 9_007_199_254_740_992.0;
        if double.abs() < EXACT && double.trunc().to_bits() == double.to_bits() && double != 0.0 {
            #[expect(clippy::cast_possible_truncation, reason = "whole and within 53 bits")]
            return self.integer(double as i64);
        }
        if !double.is_finite() {
            return Err(Unrepresentable::NotFinite);
        }
        self.bytes.extend_from_slice(self.doubles.format_finite(double).as_bytes());
        Ok(())
    }

    /// Append a string with ECMAScript's escapes: two-letter ones where they exist, else `\u00xx` for controls.
    pub(crate) fn text(&mut self, text: &str) {
        let mut rest = text.as_bytes();
        self.bytes.reserve(rest.len() + 2);
        self.bytes.push(b'"');
        while let Some(block) = rest.first_chunk().filter(|block| all_plain(block)) {
            self.bytes.extend_from_slice(block);
            rest = &rest[block.len()..];
        }
        while let Some(chunk) = rest.first_chunk() {
            let plain = plain_prefix_length(chunk);
            self.bytes.extend_from_slice(chunk);
            if plain == CHUNK_BYTES {
                rest = &rest[CHUNK_BYTES..];
            } else {
                self.drop_last(CHUNK_BYTES - plain);
                self.escape(chunk[plain]);
                rest = &rest[plain + 1..];
            }
        }
        self.text_tail(rest);
        self.bytes.push(b'"');
    }

    /// Append a string from JSON text: only its escapes are rewritten.
    pub(crate) fn json_string(&mut self, text: RawString<'_>) {
        self.bytes.push(b'"');
        let mut rest = text.raw;
        while let Some(slash) = if text.escaped { rest.find('\\') } else { None } {
            self.raw(&rest.as_bytes()[..slash]);
            let (character, length) = decode_escape(&rest.as_bytes()[slash..]);
            match u8::try_from(character) {
                Ok(byte) if is_special(byte) => self.escape(byte),
                _ => self.raw(character.encode_utf8(&mut [0; 4]).as_bytes()),
            }
            rest = &rest[slash + length..];
        }
        self.raw(rest.as_bytes());
        self.bytes.push(b'"');
    }

    /// Append the last bytes of a string, fewer than a chunk, as two overlapping words of a fixed size.
    #[inline]
    fn text_tail(&mut self, rest: &[u8]) {
        if let (Some(first), Some(last)) = (rest.first_chunk::<8>(), rest.last_chunk::<8>()) {
            if special_lanes(u64::from_le_bytes(*first)) | special_lanes(u64::from_le_bytes(*last)) == 0 {
                self.bytes.extend_from_slice(first);
                self.drop_last(16 - rest.len());
                self.bytes.extend_from_slice(last);
                return;
            }
        } else if let (Some(first), Some(last)) = (rest.first_chunk::<4>(), rest.last_chunk::<4>()) {
            let both = u64::from(u32::from_le_bytes(*first)) << 32 | u64::from(u32::from_le_bytes(*last));
            if special_lanes(both) == 0 {
                self.bytes.extend_from_slice(first);
                self.drop_last(8 - rest.len());
                self.bytes.extend_from_slice(last);
                return;
            }
        }
        for &byte in rest {
            if is_special(byte) {
                self.escape(byte);
            } else {
                self.bytes.push(byte);
            }
        }
    }

    /// Remove the last bytes.
    #[inline]
    fn drop_last(&mut self, count: usize) {
        self.bytes.truncate(self.bytes.len() - count);
    }

    /// Append the escape of a special character.
    #[inline(never)]
    pub(crate) fn escape(&mut self, special: u8) {
        let letter = match special {
            b'"' | b'\\' => special,
            0x08 => b'b',
            0x09 => b't',
            0x0A => b'n',
            0x0C => b'f',
            0x0D => b'r',
            control => {
                let low = b"0123456789abcdef"[usize::from(control & 15)];
                return self.raw(&[b'\\', b'u', b'0', b'0', b'0' + (control >> 4), low]);
            }
        };
        self.raw(&[b'\\', letter]);
    }

    /// Append a number in decimal, two digits at a time.
    #[inline]
    fn digits(&mut self, mut number: u64) {
        let mut buffer = [0; 20];
        let mut from = buffer.len();
        loop {
            let pair = DIGIT_PAIRS[(number % 100) as usize];
            number /= 100;
            from -= 2;
            buffer[from..from + 2].copy_from_slice(&pair);
            if number == 0 {
                return self.raw(&buffer[from + usize::from(pair[0] == b'0')..]);
            }
        }
    }
}

/// Build the table of digit pairs.
const fn pairs() -> [[u8; 2]; 100] {
    let mut pairs = [[b'0'; 2]; 100];
    let mut number = 0;
    while number < 100 {
        pairs[number as usize] = [b'0' + number / 10, b'0' + number % 10];
        number += 1;
    }
    pairs
}
