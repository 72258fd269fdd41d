//! Pieces looked up in batches: their cache lines are prefetched first, so that the waits for memory overlap.

use crate::tokens::bpe;
use crate::tokens::count_cache::CountCache;
use crate::tokens::piece_key::PieceKey;
use crate::tokens::vocabulary::Vocabulary;

/// Capacity of a batch, and the number of pieces from which it is looked up: a window of text adds up to 64 more.
const CAPACITY: usize = 128;
const BATCH_MIN: usize = 64;

/// Consecutive pieces of a text.
pub(crate) struct Batch {
    keys: [PieceKey; CAPACITY],
    /// The cache slot of each piece.
    cache_slots: [usize; CAPACITY],
    /// The byte offset at which each piece begins, and at which the last one ends.
    bounds: [usize; CAPACITY + 1],
    count: usize,
}

impl Batch {
    /// An empty batch.
    pub(crate) fn new() -> Self {
        Self { keys: [PieceKey::default(); CAPACITY], cache_slots: [0; CAPACITY], bounds: [0; CAPACITY + 1], count: 0 }
    }

    /// Add the piece that ends at `end`.
    #[inline]
    pub(crate) fn push(&mut self, key: PieceKey, end: usize, cache: &CountCache) {
        let index = self.count & (CAPACITY - 1);
        self.keys[index] = key;
        self.cache_slots[index] = cache.prefetch(key);
        self.bounds[index + 1] = end;
        self.count = index + 1;
    }

    /// The byte offset at which the first piece begins.
    pub(crate) fn start(&self) -> usize {
        self.bounds[0]
    }

    /// Return true if the batch should be looked up now.
    #[inline]
    pub(crate) fn is_full(&self) -> bool {
        self.count >= BATCH_MIN
    }

    /// Count the tokens of all pieces and empty the batch.
    #[inline]
    pub(crate) fn count_tokens(&mut self, text: &[u8], cache: &mut CountCache, vocabulary: &Vocabulary) -> usize {
        let count = self.count.min(CAPACITY);
        let (mut total, mut missing, mut misses) = (0, [0_u8; CAPACITY], 0);
        for (index, (key, at)) in (0..).zip(self.keys[..count].iter().zip(&self.cache_slots)) {
            let tokens = cache.at(*at, *key);
            total += tokens;
            missing[misses & (CAPACITY - 1)] = index;
            misses += usize::from(tokens == 0);
        }
        for index in &missing[..misses.min(CAPACITY)] {
            vocabulary.token_set.prefetch(self.keys[usize::from(*index)]);
        }
        for index in &missing[..misses.min(CAPACITY)] {
            let index = usize::from(*index);
            total +=
                count_piece(&text[self.bounds[index]..self.bounds[index + 1]], self.keys[index], cache, vocabulary);
        }
        self.bounds[0] = self.bounds[count];
        self.count = 0;
        total
    }
}

/// Count the tokens of a piece that was not cached at first look-up, or that is too long for a key.
fn count_piece(piece: &[u8], key: PieceKey, cache: &mut CountCache, vocabulary: &Vocabulary) -> usize {
    let cached = if key == PieceKey::TOO_LONG { cache.long(piece) } else { cache.short(key) };
    if cached > 0 {
        return cached;
    }
    if key == PieceKey::TOO_LONG {
        let tokens = bpe::count(piece, vocabulary);
        cache.insert_long(piece, tokens);
        return tokens;
    }
    let tokens = if vocabulary.token_set.contains(key) { 1 } else { bpe::count(piece, vocabulary) };
    cache.insert(key, tokens);
    tokens
}
