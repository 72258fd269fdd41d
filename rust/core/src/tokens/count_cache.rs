//! A cache of token counts by piece: two-way set-associative tables of a fixed size.

use crate::tokens::piece_key::{PieceKey, halves, slot};
use crate::tokens::prefetch;

/// Sets for short pieces, two entries each with the more recent one first: 2 MiB.
const SHORT_SLOTS: usize = 1 << 16;

/// Sets for longer pieces: 1 MiB; the longest pieces are not cached.
const LONG_SLOTS: usize = 1 << 12;
const LONG_LENGTH: u8 = 126;
const LONG_BYTES: usize = LONG_LENGTH as usize;

/// A longer piece and its token count.
#[derive(Clone)]
struct LongEntry {
    bytes: [u8; LONG_BYTES],
    length: u8,
    tokens: u8,
}

const NO_PIECE: LongEntry = LongEntry { bytes: [0; LONG_BYTES], length: 0, tokens: 0 };

/// A set of two short pieces, half a cache line.
#[derive(Clone, Copy, Default)]
#[repr(align(32))]
struct Pair([PieceKey; 2]);

/// A cache of one encoding, for one call at a time; the table of longer pieces is allocated on first use.
pub(crate) struct CountCache {
    short: Vec<Pair>,
    long: Vec<[LongEntry; 2]>,
}

impl CountCache {
    /// An empty cache.
    pub(crate) fn new() -> Self {
        Self { short: vec![Pair::default(); SHORT_SLOTS], long: Vec::new() }
    }

    /// Prefetch the set of a short piece; return its slot.
    #[inline]
    pub(crate) fn prefetch(&self, key: PieceKey) -> usize {
        let slot = slot(key.hash(), SHORT_SLOTS);
        if let Some(pair) = self.short.get(slot) {
            prefetch(pair);
        }
        slot
    }

    /// Return the token count of a short piece by its slot, or 0 if it is not cached.
    #[inline]
    pub(crate) fn at(&self, slot: usize, key: PieceKey) -> usize {
        let pair = self.short.get(slot);
        pair.map_or(0, |Pair([first, second])| key.count_in(*first) | key.count_in(*second))
    }

    /// Return the token count of a short piece, or 0 if it is not cached.
    pub(crate) fn short(&self, key: PieceKey) -> usize {
        self.at(slot(key.hash(), SHORT_SLOTS), key)
    }

    /// Insert a short piece, unless it is cached already: [`Self::at`] relies on at most one entry.
    pub(crate) fn insert(&mut self, key: PieceKey, tokens: usize) {
        if let Some(pair) = self.short.get_mut(slot(key.hash(), SHORT_SLOTS))
            && pair.0.iter().all(|entry| key.count_in(*entry) == 0)
        {
            pair.0 = [key.with_count(tokens), pair.0[0]];
        }
    }

    /// Return the token count of a longer piece, or 0 if it is not cached.
    pub(crate) fn long(&self, piece: &[u8]) -> usize {
        let pair = self.long.get(slot(hash(piece), LONG_SLOTS));
        let matches = |entry: &&LongEntry| entry.bytes.get(..usize::from(entry.length)) == Some(piece);
        pair.and_then(|pair| pair.iter().find(matches)).map_or(0, |entry| usize::from(entry.tokens))
    }

    /// Insert a longer piece, unless it is too long or has too many tokens for an entry.
    pub(crate) fn insert_long(&mut self, piece: &[u8], tokens: usize) {
        if self.long.is_empty() {
            self.long.resize(LONG_SLOTS, const { [NO_PIECE; 2] });
        }
        if let (Ok(length @ ..=LONG_LENGTH), Ok(tokens)) = (u8::try_from(piece.len()), u8::try_from(tokens))
            && let Some(pair) = self.long.get_mut(slot(hash(piece), LONG_SLOTS))
        {
            pair.swap(0, 1);
            pair[0].bytes[..piece.len()].copy_from_slice(piece);
            (pair[0].length, pair[0].tokens) = (length, tokens);
        }
    }
}

/// Hash a longer piece.
fn hash(piece: &[u8]) -> u64 {
    let mut hash = piece.len() as u64;
    for chunk in piece.chunks(16) {
        let mut window = [0; 16];
        window[..chunk.len()].copy_from_slice(chunk);
        let (low, high) = halves(window);
        hash = (hash ^ low).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        hash = (hash ^ hash >> 29 ^ high).wrapping_mul(0xD6E8_FEB8_6659_FD93);
    }
    hash ^ hash >> 32
}
