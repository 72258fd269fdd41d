//! Remembers how many tokens recent pieces had: flat tables of a fixed size, overwritten in place.

use crate::tokens::ahead::announce;
use crate::tokens::key::{Key, halves, place};

/// Short pieces are remembered in pairs, the more recent one first: 2 MiB.
const SHORT: usize = 1 << 16;

/// Longer pieces likewise, of which the longest are not remembered: 1 MiB.
const LONG: usize = 1 << 12;
const LONG_LENGTH: u8 = 126;
const LONG_BYTES: usize = LONG_LENGTH as usize;

/// A longer piece and its number of tokens.
#[derive(Clone)]
struct Long {
    bytes: [u8; LONG_BYTES],
    length: u8,
    tokens: u8,
}

const NO_PIECE: Long = Long { bytes: [0; LONG_BYTES], length: 0, tokens: 0 };

/// Two short pieces in half a cache line.
#[derive(Clone, Copy, Default)]
#[repr(align(32))]
struct Pair([Key; 2]);

/// The memo of one encoding in one thread; the longer pieces' table is made when there is one.
pub(crate) struct Memo {
    short: Vec<Pair>,
    long: Vec<[Long; 2]>,
}

impl Memo {
    pub(crate) fn new() -> Self {
        Self { short: vec![Pair::default(); SHORT], long: Vec::new() }
    }

    /// Announces that a short piece will be looked for; where that will be.
    #[inline]
    pub(crate) fn announce(&self, key: Key) -> usize {
        let place = place(key.hash(), SHORT);
        if let Some(pair) = self.short.get(place) {
            announce(pair);
        }
        place
    }

    /// The tokens of a short piece, by its place, or 0 if they are not remembered.
    #[inline]
    pub(crate) fn at(&self, place: usize, key: Key) -> usize {
        let pair = self.short.get(place);
        pair.map_or(0, |Pair([first, second])| key.tokens_in(*first) | key.tokens_in(*second))
    }

    /// The tokens of a short piece, or 0 if they are not remembered.
    pub(crate) fn short(&self, key: Key) -> usize {
        self.at(place(key.hash(), SHORT), key)
    }

    /// Keeps the tokens of a short piece in mind, in one place only.
    pub(crate) fn remember(&mut self, key: Key, tokens: usize) {
        if let Some(pair) = self.short.get_mut(place(key.hash(), SHORT))
            && pair.0.iter().all(|known| key.tokens_in(*known) == 0)
        {
            pair.0 = [key.counted(tokens), pair.0[0]];
        }
    }

    /// The tokens of a longer piece, or 0 if they are not remembered.
    pub(crate) fn long(&self, piece: &[u8]) -> usize {
        let pair = self.long.get(place(hash(piece), LONG));
        let known = |known: &&Long| known.bytes.get(..usize::from(known.length)) == Some(piece);
        pair.and_then(|pair| pair.iter().find(known)).map_or(0, |known| usize::from(known.tokens))
    }

    /// Keeps the tokens of a longer piece in mind, unless it is too long for that.
    pub(crate) fn remember_long(&mut self, piece: &[u8], tokens: usize) {
        if self.long.is_empty() {
            self.long.resize(LONG, const { [NO_PIECE; 2] });
        }
        if let (Ok(length @ ..=LONG_LENGTH), Ok(tokens)) = (u8::try_from(piece.len()), u8::try_from(tokens))
            && let Some(pair) = self.long.get_mut(place(hash(piece), LONG))
        {
            pair.swap(0, 1);
            pair[0].bytes[..piece.len()].copy_from_slice(piece);
            (pair[0].length, pair[0].tokens) = (length, tokens);
        }
    }
}

/// Of any bytes.
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
