//! Look-up tables of the vocabulary: which short pieces are tokens, and which pairs of tokens merge into which.

use crate::tokens::piece_key::{PieceKey, slot};
use crate::tokens::prefetch;

/// A bucket, aligned to a cache line.
#[derive(Clone)]
#[repr(align(64))]
struct Bucket<T>(T);

/// A hash table of entries that fill a cache line by `N`; an empty slot has the default. A full bucket overflows into
/// the next.
struct Table<T, const N: usize> {
    buckets: Vec<Bucket<[T; N]>>,
}

impl<T: Copy + Default + PartialEq, const N: usize> Table<T, N> {
    /// An empty table of so many buckets.
    fn new(buckets: usize) -> Self {
        Self { buckets: vec![Bucket([T::default(); N]); buckets] }
    }

    /// Insert an entry.
    fn insert(&mut self, hash: u64, entry: T) {
        let mut bucket = slot(hash, self.buckets.len());
        loop {
            if let Some(free) = self.buckets[bucket].0.iter_mut().find(|entry| **entry == T::default()) {
                *free = entry;
                return;
            }
            bucket = self.next(bucket);
        }
    }

    /// Prefetch the bucket of a hash.
    #[inline]
    fn prefetch(&self, hash: u64) {
        prefetch(&self.buckets[slot(hash, self.buckets.len())]);
    }

    /// Return what `find` finds in a bucket where an entry of this hash may be.
    #[inline]
    fn find<R>(&self, hash: u64, find: impl Fn(&[T; N]) -> Option<R>) -> Option<R> {
        let mut bucket = slot(hash, self.buckets.len());
        loop {
            let Bucket(entries) = &self.buckets[bucket];
            let found = find(entries);
            if found.is_some() || entries[N - 1] == T::default() {
                return found;
            }
            bucket = self.next(bucket);
        }
    }

    /// The bucket after one, wrapping around.
    #[inline]
    fn next(&self, bucket: usize) -> usize {
        if bucket + 1 == self.buckets.len() { 0 } else { bucket + 1 }
    }
}

/// The set of tokens that have a [`PieceKey`].
pub(crate) struct TokenSet(Table<PieceKey, 4>);

impl TokenSet {
    /// An empty set with room for `count` tokens, half full at most.
    pub(crate) fn with_capacity(count: usize) -> Self {
        Self(Table::new(count.div_ceil(2)))
    }

    /// Insert a key.
    pub(crate) fn insert(&mut self, key: PieceKey) {
        self.0.insert(key.hash(), key);
    }

    /// Prefetch the bucket of a key.
    #[inline]
    pub(crate) fn prefetch(&self, key: PieceKey) {
        self.0.prefetch(key.hash());
    }

    /// Return true if the piece of this key is a token.
    #[inline]
    pub(crate) fn contains(&self, key: PieceKey) -> bool {
        self.0.find(key.hash(), |entries| entries.contains(&key).then_some(())).is_some()
    }
}

/// Bits of a rank; both vocabularies have fewer than 2^18 tokens.
const RANK_BITS: u32 = 18;
const RANK_MASK: u64 = (1 << RANK_BITS) - 1;

/// The rank of a pair that does not merge.
pub(crate) const NONE: u32 = u32::MAX;

/// Merges into ranks below this have a table of their own: they are looked up most, and it stays in the cache.
const COMMON_RANKS: u32 = 24_576;

/// Bits of a Bloom filter (with one hash) before the table of rare merges: most pairs do not merge at all.
const FILTER_BITS: usize = 1 << 20;

/// Which two tokens merge into which.
pub(crate) struct MergeTable {
    /// For two single bytes, whose ranks are below 256: a direct table.
    bytes: Vec<u32>,
    common: PairTable,
    filter: Vec<u64>,
    rare: PairTable,
}

impl MergeTable {
    /// Empty tables with room for `count` merges.
    pub(crate) fn with_capacity(count: usize) -> Self {
        Self {
            bytes: vec![NONE; 1 << 16],
            common: PairTable::with_capacity(COMMON_RANKS as usize),
            filter: vec![0; FILTER_BITS / 64],
            rare: PairTable::with_capacity(count),
        }
    }

    /// Insert a merge; each pair has at most one.
    pub(crate) fn insert(&mut self, left: u32, right: u32, merged: u32) {
        if let Some(slot) = byte_pair_index(left, right) {
            self.bytes[slot] = merged;
            return;
        }
        let pair = pack_pair(left, right);
        if merged < COMMON_RANKS {
            self.common.insert(pair, merged);
        } else {
            let (word, bit) = filter_bit(hash(pair));
            self.filter[word] |= bit;
            self.rare.insert(pair, merged);
        }
    }

    /// Prefetch what [`Self::get`] will read for two tokens.
    #[inline]
    pub(crate) fn prefetch(&self, left: u32, right: u32) {
        if let Some(slot) = byte_pair_index(left, right) {
            prefetch(&self.bytes[slot]);
            return;
        }
        let hash = hash(pack_pair(left, right));
        self.common.0.prefetch(hash);
        prefetch(&self.filter[filter_bit(hash).0]);
        self.rare.0.prefetch(hash);
    }

    /// Return the rank that two adjacent tokens merge into, or [`NONE`].
    #[inline]
    pub(crate) fn get(&self, left: u32, right: u32) -> u32 {
        if let Some(slot) = byte_pair_index(left, right) {
            return self.bytes[slot];
        }
        let pair = pack_pair(left, right);
        let hash = hash(pair);
        let common = self.common.get(pair, hash);
        let (word, bit) = filter_bit(hash);
        if common != NONE || self.filter[word] & bit == 0 {
            return common;
        }
        self.rare.get(pair, hash)
    }
}

/// The index of a pair of single bytes in the direct table.
#[inline]
fn byte_pair_index(left: u32, right: u32) -> Option<usize> {
    ((left | right) < 256).then_some((left << 8 | right) as usize)
}

/// A pair of ranks in one number.
#[inline]
fn pack_pair(left: u32, right: u32) -> u64 {
    u64::from(left) << RANK_BITS | u64::from(right)
}

/// Hash a pair.
#[inline]
fn hash(pair: u64) -> u64 {
    let mixed = pair.wrapping_mul(0x9E37_79B9_7F4A_7C15);
    (mixed ^ (mixed >> 32)).wrapping_mul(0xD6E8_FEB8_6659_FD93)
}

/// The word and the bit of a pair in the filter, by other bits of the hash than those that choose the bucket.
#[inline]
fn filter_bit(hash: u64) -> (usize, u64) {
    (slot(hash << 24, FILTER_BITS / 64), 1 << (hash & 63))
}

/// Which rank pairs of ranks merge into: one word an entry.
struct PairTable(Table<u64, 8>);

impl PairTable {
    /// An empty table for `count` pairs.
    fn with_capacity(count: usize) -> Self {
        Self(Table::new((count / 8).next_power_of_two()))
    }

    /// Insert a pair and the rank that it merges into.
    fn insert(&mut self, pair: u64, merged: u32) {
        self.0.insert(hash(pair), pair << RANK_BITS | u64::from(merged));
    }

    /// Return the rank that a pair merges into, or [`NONE`].
    #[inline]
    fn get(&self, pair: u64, hash: u64) -> u32 {
        let found = self.0.find(hash, |entries| {
            let matching =
                entries.iter().fold(0, |all, entry| all | if entry >> RANK_BITS == pair { *entry } else { 0 });
            (matching != 0).then_some(matching)
        });
        found.and_then(|entry| u32::try_from(entry & RANK_MASK).ok()).unwrap_or(NONE)
    }
}
