//! The tables that are asked where the memo knows nothing: which short pieces are tokens, and what merges into what.

use crate::tokens::ahead::announce;
use crate::tokens::key::{Key, place};

/// Entries that are looked at together: they share a cache line.
const LINE_KEYS: usize = 4;
const LINE_PAIRS: usize = 8;

/// Entries that are looked at together, where a cache line begins.
#[derive(Clone)]
#[repr(align(64))]
struct Line<T>(T);

/// The tokens that have a key: lines of four, 0 for none; what finds its line full goes to the next.
pub(crate) struct Whole {
    lines: Vec<Line<[Key; LINE_KEYS]>>,
}

impl Whole {
    pub(crate) fn with_room_for(count: usize) -> Self {
        Self { lines: vec![Line([Key::default(); LINE_KEYS]); count.div_ceil(2)] }
    }

    pub(crate) fn insert(&mut self, key: Key) {
        let mut line = place(key.hash(), self.lines.len());
        loop {
            if let Some(free) = self.lines[line].0.iter_mut().find(|entry| entry.is_none()) {
                *free = key;
                return;
            }
            line = after(line, self.lines.len());
        }
    }

    /// Announces that a key will be looked for.
    #[inline]
    pub(crate) fn announce(&self, key: Key) {
        announce(&self.lines[place(key.hash(), self.lines.len())]);
    }

    #[inline]
    pub(crate) fn contains(&self, key: Key) -> bool {
        let mut line = place(key.hash(), self.lines.len());
        loop {
            let Line(entries) = &self.lines[line];
            if entries.contains(&key) {
                return true;
            }
            if entries[LINE_KEYS - 1].is_none() {
                return false;
            }
            line = after(line, self.lines.len());
        }
    }
}

/// Ranks fit into this many bits.
const RANK_BITS: u32 = 18;
const RANK_MASK: u64 = (1 << RANK_BITS) - 1;

/// No two neighbours merge into this.
pub(crate) const NONE: u32 = u32::MAX;

/// Merges into lower ranks are kept apart from the others: they are asked for most, and must stay in the cache.
const COMMON: u32 = 24_576;

/// Bits that tell most pairs that merge into nothing from those that might merge into a higher rank.
const SIEVE: usize = 1 << 20;

/// Which two tokens merge into which.
pub(crate) struct Merges {
    /// For two single bytes, whose ranks are below 256.
    bytes: Vec<u32>,
    common: Pairs,
    sieve: Vec<u64>,
    rare: Pairs,
}

impl Merges {
    pub(crate) fn with_room_for(count: usize) -> Self {
        Self {
            bytes: vec![NONE; 1 << 16],
            common: Pairs::with_room_for(COMMON as usize),
            sieve: vec![0; SIEVE / 64],
            rare: Pairs::with_room_for(count),
        }
    }

    /// Two tokens that merge; no other merge is of the same two.
    pub(crate) fn insert(&mut self, left: u32, right: u32, merged: u32) {
        if let Some(place) = of_bytes(left, right) {
            self.bytes[place] = merged;
            return;
        }
        let pair = pair(left, right);
        if merged < COMMON {
            self.common.insert(pair, merged);
        } else {
            let (word, bit) = sieved(hash(pair));
            self.sieve[word] |= bit;
            self.rare.insert(pair, merged);
        }
    }

    /// Announces that two neighbours will be looked for.
    #[inline]
    pub(crate) fn announce(&self, left: u32, right: u32) {
        if let Some(place) = of_bytes(left, right) {
            announce(&self.bytes[place]);
            return;
        }
        let hash = hash(pair(left, right));
        self.common.announce(hash);
        announce(&self.sieve[sieved(hash).0]);
        self.rare.announce(hash);
    }

    /// The rank that two neighbours merge into, or [`NONE`].
    #[inline]
    pub(crate) fn get(&self, left: u32, right: u32) -> u32 {
        if let Some(place) = of_bytes(left, right) {
            return self.bytes[place];
        }
        let pair = pair(left, right);
        let hash = hash(pair);
        let common = self.common.get(pair, hash);
        let (word, bit) = sieved(hash);
        if common != NONE || self.sieve[word] & bit == 0 {
            return common;
        }
        self.rare.get(pair, hash)
    }
}

/// The place of two single bytes.
#[inline]
fn of_bytes(left: u32, right: u32) -> Option<usize> {
    ((left | right) < 256).then_some((left << 8 | right) as usize)
}

#[inline]
fn pair(left: u32, right: u32) -> u64 {
    u64::from(left) << RANK_BITS | u64::from(right)
}

#[inline]
fn hash(pair: u64) -> u64 {
    let mixed = pair.wrapping_mul(0x9E37_79B9_7F4A_7C15);
    (mixed ^ (mixed >> 32)).wrapping_mul(0xD6E8_FEB8_6659_FD93)
}

/// The word and the bit in the sieve; other bits of the hash say the line.
#[inline]
fn sieved(hash: u64) -> (usize, u64) {
    (place(hash << 24, SIEVE / 64), 1 << (hash & 63))
}

/// Pairs and what they merge into, one word an entry, lines of eight; what finds its line full goes to the next.
struct Pairs {
    lines: Vec<Line<[u64; LINE_PAIRS]>>,
}

impl Pairs {
    fn with_room_for(count: usize) -> Self {
        Self { lines: vec![Line([0; LINE_PAIRS]); (count / LINE_PAIRS).next_power_of_two()] }
    }

    fn insert(&mut self, pair: u64, merged: u32) {
        let mut line = place(hash(pair), self.lines.len());
        loop {
            if let Some(free) = self.lines[line].0.iter_mut().find(|entry| **entry == 0) {
                *free = pair << RANK_BITS | u64::from(merged);
                return;
            }
            line = after(line, self.lines.len());
        }
    }

    #[inline]
    fn announce(&self, hash: u64) {
        announce(&self.lines[place(hash, self.lines.len())]);
    }

    #[inline]
    fn get(&self, pair: u64, hash: u64) -> u32 {
        let mut line = place(hash, self.lines.len());
        loop {
            let Line(entries) = &self.lines[line];
            let mut found = 0;
            for entry in entries {
                found |= if entry >> RANK_BITS == pair { *entry } else { 0 };
            }
            if found != 0 {
                return u32::try_from(found & RANK_MASK).unwrap_or(NONE);
            }
            if entries[LINE_PAIRS - 1] == 0 {
                return NONE;
            }
            line = after(line, self.lines.len());
        }
    }
}

/// The line after one, around the end.
#[inline]
fn after(line: usize, lines: usize) -> usize {
    if line + 1 == lines { 0 } else { line + 1 }
}
