//! A piece of at most 15 bytes as two words, so that one comparison tells whether two pieces are the same.

use std::hint::select_unpredictable;

/// Where a key holds a piece's length, and where a table may add its number of tokens.
const LENGTH_AT: u32 = 60;
const COUNT_AT: u32 = 56;
const COUNT: u64 = 0xF << COUNT_AT;

/// The bytes of a piece, its length in the topmost four bits, and four bits for its tokens. Never zero.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Key {
    low: u64,
    high: u64,
}

impl Key {
    /// In place of the key of a piece that is too long for one. It is no piece's key: no text has such bytes.
    pub(crate) const LONG: Self = Self { low: u64::MAX, high: u64::MAX };

    /// The key of the first `length` bytes of a window.
    #[inline]
    pub(crate) fn of_window(window: [u8; 16], length: usize) -> Self {
        let (low, high) = halves(window);
        match KEEP.get(length) {
            Some((keep_low, keep_high)) => {
                Self { low: low & keep_low, high: high & keep_high | (length as u64) << LENGTH_AT }
            }
            None => Self::LONG,
        }
    }

    /// The key of a piece of at least one byte.
    pub(crate) fn of(piece: &[u8]) -> Self {
        let mut window = [0; 16];
        for (into, byte) in window.iter_mut().zip(piece) {
            *into = *byte;
        }
        Self::of_window(window, piece.len())
    }

    /// The key of a piece inside a text, without copying byte by byte where 16 bytes are at hand.
    #[inline]
    pub(crate) fn at(text: &[u8], start: usize, end: usize) -> Self {
        match text[start..].first_chunk() {
            Some(window) => Self::of_window(*window, end - start),
            None => Self::of(&text[start..end]),
        }
    }

    /// The key together with a number of tokens, 1 to 15.
    #[inline]
    pub(crate) fn counted(self, tokens: usize) -> Self {
        Self { low: self.low, high: self.high | (tokens as u64) << COUNT_AT & COUNT }
    }

    /// The number of tokens that `counted` holds, if it is this key's, or 0.
    #[inline]
    pub(crate) fn tokens_in(self, counted: Self) -> usize {
        let rest = self.high ^ counted.high;
        let same = (self.low ^ counted.low) | (rest & !COUNT) == 0;
        // A branch that cannot be foretold would end the waiting for several keys at a time.
        select_unpredictable(same, (rest >> COUNT_AT) as usize, 0)
    }

    #[inline]
    pub(crate) fn is_none(self) -> bool {
        self.high == 0
    }

    /// Bits to place the key by; the upper ones are the best.
    #[inline]
    pub(crate) fn hash(self) -> u64 {
        let mixed = self.low.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ self.high.wrapping_mul(0xD6E8_FEB8_6659_FD93);
        (mixed ^ (mixed >> 32)).wrapping_mul(0x9FB2_1C65_1E98_DF25)
    }
}

/// The bits of both halves that belong to a piece of each length.
const KEEP: [(u64, u64); 16] = {
    let mut keep = [(0, 0); 16];
    let mut length = 1;
    while length < 16 {
        keep[length] =
            if length <= 8 { (u64::MAX >> (64 - 8 * length), 0) } else { (u64::MAX, u64::MAX >> (128 - 8 * length)) };
        length += 1;
    }
    keep
};

/// Sixteen bytes as two words, little-endian.
#[inline]
#[expect(clippy::cast_possible_truncation, reason = "the lower half is what is asked for")]
pub(crate) fn halves(bytes: [u8; 16]) -> (u64, u64) {
    let both = u128::from_le_bytes(bytes);
    (both as u64, (both >> 64) as u64)
}

/// The upper bits of a hash as a place in a table of `size`, which is below 2^32.
#[inline]
pub(crate) fn place(hash: u64, size: usize) -> usize {
    (((hash >> 32) * size as u64) >> 32) as usize
}
