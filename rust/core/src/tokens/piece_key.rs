//! Keys of short pieces: up to 15 bytes in two words, so that one comparison decides whether two pieces are equal.

use std::hint::select_unpredictable;

/// Bit positions of the piece's length, and of the token count that a cache entry adds.
const LENGTH_SHIFT: u32 = 60;
const COUNT_SHIFT: u32 = 56;
const COUNT_MASK: u64 = 0xF << COUNT_SHIFT;

/// The bytes of a piece, its length in the top four bits, and four bits for its token count. Never zero.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct PieceKey {
    low: u64,
    high: u64,
}

impl PieceKey {
    /// Stands for a piece that is too long for a key. It is no piece's key, as no UTF-8 text has such bytes.
    pub(crate) const TOO_LONG: Self = Self { low: u64::MAX, high: u64::MAX };

    /// Return the key of the first `length` bytes of a window.
    #[inline]
    pub(crate) fn of_window(window: [u8; 16], length: usize) -> Self {
        let (low, high) = halves(window);
        match LENGTH_MASKS.get(length) {
            Some((mask_low, mask_high)) => {
                Self { low: low & mask_low, high: high & mask_high | (length as u64) << LENGTH_SHIFT }
            }
            None => Self::TOO_LONG,
        }
    }

    /// Return the key of a piece of at least one byte.
    pub(crate) fn of(piece: &[u8]) -> Self {
        let mut window = [0; 16];
        for (into, byte) in window.iter_mut().zip(piece) {
            *into = *byte;
        }
        Self::of_window(window, piece.len())
    }

    /// Return the key of a piece inside a text, without copying byte by byte where 16 bytes are available.
    #[inline]
    pub(crate) fn at(text: &[u8], start: usize, end: usize) -> Self {
        match text[start..].first_chunk() {
            Some(window) => Self::of_window(*window, end - start),
            None => Self::of(&text[start..end]),
        }
    }

    /// Return a cache entry: the key with a token count of 1 to 15.
    #[inline]
    pub(crate) fn with_count(self, tokens: usize) -> Self {
        Self { low: self.low, high: self.high | (tokens as u64) << COUNT_SHIFT & COUNT_MASK }
    }

    /// Return the token count of a cache entry if it belongs to this key, else 0.
    #[inline]
    pub(crate) fn count_in(self, entry: Self) -> usize {
        let rest = self.high ^ entry.high;
        let same = (self.low ^ entry.low) | (rest & !COUNT_MASK) == 0;
        // A mispredicted branch would serialize the waits for several keys at a time.
        select_unpredictable(same, (rest >> COUNT_SHIFT) as usize, 0)
    }

    /// Return a hash of the key; its upper bits are the best.
    #[inline]
    pub(crate) fn hash(self) -> u64 {
        let mixed = self.low.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ self.high.wrapping_mul(0xD6E8_FEB8_6659_FD93);
        (mixed ^ (mixed >> 32)).wrapping_mul(0x9FB2_1C65_1E98_DF25)
    }
}

/// For each length, the bits of both words that belong to the piece.
const LENGTH_MASKS: [(u64, u64); 16] = {
    let mut masks = [(0, 0); 16];
    let mut length = 1;
    while length < 16 {
        masks[length] =
            if length <= 8 { (u64::MAX >> (64 - 8 * length), 0) } else { (u64::MAX, u64::MAX >> (128 - 8 * length)) };
        length += 1;
    }
    masks
};

/// Split 16 bytes into two little-endian words.
#[inline]
#[expect(clippy::cast_possible_truncation, reason = "the lower half is what is asked for")]
pub(crate) fn halves(bytes: [u8; 16]) -> (u64, u64) {
    let all = u128::from_le_bytes(bytes);
    (all as u64, (all >> 64) as u64)
}

/// Map the upper bits of a hash to a slot of a table of `size` slots, which is below 2^32.
#[inline]
pub(crate) fn slot(hash: u64, size: usize) -> usize {
    (((hash >> 32) * size as u64) >> 32) as usize
}
