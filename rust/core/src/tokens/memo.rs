//! Remembers how many tokens recent pieces had: one small table a thread, overwritten in place.

use std::cell::RefCell;

use crate::tokens::vocabulary::{hash_of, key_at, place, spread};

/// Short pieces that are remembered.
const SHORT_SLOTS: usize = 1 << 14;
/// Long pieces that are remembered, and the longest of them.
const LONG_SLOTS: usize = 1 << 11;
const LONG_BYTES_MAX: usize = 128;

/// The memo of one encoding in one thread.
pub(crate) struct Memo {
    short: Vec<(u128, u32)>,
    long: Vec<(Box<[u8]>, u32)>,
}

impl Memo {
    pub(crate) fn new() -> RefCell<Self> {
        RefCell::new(Self { short: Vec::new(), long: Vec::new() })
    }

    /// The count of the piece at `start..end`, computed only if it is not remembered.
    #[inline]
    pub(crate) fn count(&mut self, text: &[u8], start: usize, end: usize, compute: impl Fn(&[u8]) -> usize) -> usize {
        match key_at(text, start, end) {
            Some(key) => self.short(key, || compute(&text[start..end])),
            None if end - start <= LONG_BYTES_MAX => self.long(&text[start..end], compute),
            None => compute(&text[start..end]),
        }
    }

    #[inline]
    fn short(&mut self, key: u128, compute: impl Fn() -> usize) -> usize {
        if self.short.is_empty() {
            self.short.resize(SHORT_SLOTS, (0, 0));
        }
        let slot = &mut self.short[place(hash_of(key), SHORT_SLOTS - 1)];
        if slot.0 != key {
            *slot = (key, u32::try_from(compute()).unwrap_or(u32::MAX));
        }
        slot.1 as usize
    }

    fn long(&mut self, piece: &[u8], compute: impl Fn(&[u8]) -> usize) -> usize {
        if self.long.is_empty() {
            self.long.resize(LONG_SLOTS, (Box::default(), 0));
        }
        let mut hash = piece.len() as u64;
        for chunk in piece.chunks(8) {
            let mut word = [0; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            hash = spread(hash ^ u64::from_le_bytes(word));
        }
        let slot = &mut self.long[place(hash, LONG_SLOTS - 1)];
        if *slot.0 != *piece {
            *slot = (piece.into(), u32::try_from(compute(piece)).unwrap_or(u32::MAX));
        }
        slot.1 as usize
    }
}
