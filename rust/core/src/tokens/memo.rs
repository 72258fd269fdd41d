//! Remembers how many tokens recent pieces had: flat tables of a fixed size, overwritten in place.

use crate::tokens::key::{Key, halves, place};

/// Short pieces are remembered in pairs, the more recent one first: 2 MiB.
const SHORT: usize = 1 << 16;

/// Longer pieces likewise, of which the longest are not remembered: 1 MiB.
const LONG: usize = 1 << 12;
const LONG_BYTES: usize = 126;

/// A longer piece and its number of tokens.
#[derive(Clone)]
struct Long {
    bytes: [u8; LONG_BYTES],
    length: u8,
    tokens: u8,
}

/// The memo of one encoding in one thread.
pub(crate) struct Memo {
    short: Vec<[Key; 2]>,
    long: Vec<[Long; 2]>,
}

impl Memo {
    pub(crate) fn new() -> Self {
        let none = Long { bytes: [0; LONG_BYTES], length: 0, tokens: 0 };
        Self { short: vec![[Key::default(); 2]; SHORT], long: vec![[none.clone(), none]; LONG] }
    }

    /// The tokens of a short piece, computed only if they are not remembered.
    #[inline]
    pub(crate) fn short(&mut self, key: Key, compute: impl FnOnce() -> usize) -> usize {
        let Some(pair) = self.short.get_mut(place(key.hash(), SHORT)) else { return compute() };
        for known in &*pair {
            if let Some(tokens) = key.tokens_in(*known) {
                return tokens;
            }
        }
        let tokens = compute();
        *pair = [key.counted(tokens), pair[0]];
        tokens
    }

    /// The same for a piece of any length.
    pub(crate) fn long(&mut self, piece: &[u8], compute: impl FnOnce() -> usize) -> usize {
        if piece.len() > LONG_BYTES {
            return compute();
        }
        let Some(pair) = self.long.get_mut(place(hash(piece), LONG)) else { return compute() };
        if let Some(known) = pair.iter().find(|known| known.bytes.get(..usize::from(known.length)) == Some(piece)) {
            return usize::from(known.tokens);
        }
        let tokens = compute();
        if let (Ok(length), Ok(tokens)) = (u8::try_from(piece.len()), u8::try_from(tokens)) {
            pair.swap(0, 1);
            pair[0].bytes[..piece.len()].copy_from_slice(piece);
            (pair[0].length, pair[0].tokens) = (length, tokens);
        }
        tokens
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
