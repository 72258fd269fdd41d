//! The bytes being written: strings, numbers and words as RFC 8785 spells them.

use crate::canonical::INTEGER_MAX;
use crate::canonical::lanes::{LANES, all_plain, plain_in, special};
use crate::canonical::source::Unfit;
use crate::canonical::strings::{Text, decode_escape, is_special};

/// Room that most records need; a larger one makes the buffer grow.
const ROOM: usize = 1024;

/// `00` to `99`, two digits each.
const PAIRS: [[u8; 2]; 100] = pairs();

/// Canonical JSON so far.
pub(crate) struct Output {
    pub(crate) bytes: Vec<u8>,
    doubles: ryu_js::Buffer,
}

impl Output {
    pub(crate) fn new() -> Self {
        Self::with_room(ROOM)
    }

    pub(crate) fn with_room(room: usize) -> Self {
        Self { bytes: Vec::with_capacity(room), doubles: ryu_js::Buffer::new() }
    }

    pub(crate) fn raw(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
    }

    pub(crate) fn byte(&mut self, byte: u8) {
        self.bytes.push(byte);
    }

    pub(crate) fn bool(&mut self, value: bool) {
        self.raw(if value { b"true" } else { b"false" });
    }

    pub(crate) fn integer(&mut self, integer: i64) -> Result<(), Unfit> {
        if !(-INTEGER_MAX..=INTEGER_MAX).contains(&integer) {
            return Err(Unfit::BeyondInteger);
        }
        if integer < 0 {
            self.byte(b'-');
        }
        self.digits(integer.unsigned_abs());
        Ok(())
    }

    /// A double as ECMAScript writes it. A whole one that needs no rounding is written as the integer it is.
    pub(crate) fn double(&mut self, double: f64) -> Result<(), Unfit> {
        const EXACT: f64 = 9_007_199_254_740_992.0;
        if double.abs() < EXACT && double.trunc().to_bits() == double.to_bits() && double != 0.0 {
            #[expect(clippy::cast_possible_truncation, reason = "whole and within 53 bits")]
            return self.integer(double as i64);
        }
        if !double.is_finite() {
            return Err(Unfit::NotFinite);
        }
        self.bytes.extend_from_slice(self.doubles.format_finite(double).as_bytes());
        Ok(())
    }

    /// A string with the escapes of ECMAScript: the two-letter ones where they exist, `\u00xx` for other controls.
    pub(crate) fn text(&mut self, text: &str) {
        let mut rest = text.as_bytes();
        self.bytes.reserve(rest.len() + 2);
        self.bytes.push(b'"');
        while let Some(block) = rest.first_chunk().filter(|block| all_plain(block)) {
            self.bytes.extend_from_slice(block);
            rest = &rest[block.len()..];
        }
        while let Some(chunk) = rest.first_chunk() {
            let plain = plain_in(chunk);
            self.bytes.extend_from_slice(chunk);
            if plain == LANES {
                rest = &rest[LANES..];
            } else {
                self.back(LANES - plain);
                self.escape(chunk[plain]);
                rest = &rest[plain + 1..];
            }
        }
        self.end_of_text(rest);
        self.bytes.push(b'"');
    }

    /// A string of JSON text: what stands between its escapes is as it should be.
    pub(crate) fn rewritten(&mut self, text: Text<'_>) {
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

    /// The last bytes of a string, fewer than are looked at together: as two pieces of a fixed size that overlap.
    #[inline]
    fn end_of_text(&mut self, rest: &[u8]) {
        if let (Some(first), Some(last)) = (rest.first_chunk::<8>(), rest.last_chunk::<8>()) {
            if special(u64::from_le_bytes(*first)) | special(u64::from_le_bytes(*last)) == 0 {
                self.bytes.extend_from_slice(first);
                self.back(16 - rest.len());
                self.bytes.extend_from_slice(last);
                return;
            }
        } else if let (Some(first), Some(last)) = (rest.first_chunk::<4>(), rest.last_chunk::<4>()) {
            let both = u64::from(u32::from_le_bytes(*first)) << 32 | u64::from(u32::from_le_bytes(*last));
            if special(both) == 0 {
                self.bytes.extend_from_slice(first);
                self.back(8 - rest.len());
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

    /// Takes back the last bytes.
    fn back(&mut self, count: usize) {
        self.bytes.truncate(self.bytes.len() - count);
    }

    /// One character of a string that cannot stand as it is.
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

    fn digits(&mut self, mut number: u64) {
        let mut room = [0; 20];
        let mut from = room.len();
        loop {
            let pair = PAIRS[(number % 100) as usize];
            number /= 100;
            from -= 2;
            room[from..from + 2].copy_from_slice(&pair);
            if number == 0 {
                return self.raw(&room[from + usize::from(pair[0] == b'0')..]);
            }
        }
    }
}

const fn pairs() -> [[u8; 2]; 100] {
    let mut pairs = [[b'0'; 2]; 100];
    let mut number = 0;
    while number < 100 {
        pairs[number as usize] = [b'0' + number / 10, b'0' + number % 10];
        number += 1;
    }
    pairs
}
