//! The two tables that merging asks: which short pieces are tokens, and which neighbours merge into what.

use crate::tokens::key::{Key, place};

/// Entries that are looked at together: they share a cache line.
const LINE_KEYS: usize = 4;
const LINE_PAIRS: usize = 8;

/// The tokens that have a key: lines of four, 0 for none; what finds its line full goes to the next.
pub(crate) struct Whole {
    lines: Vec<[Key; LINE_KEYS]>,
}

impl Whole {
    pub(crate) fn with_room_for(count: usize) -> Self {
        let lines = (count / 3).next_power_of_two();
        Self { lines: vec![[Key::default(); LINE_KEYS]; lines] }
    }

    pub(crate) fn insert(&mut self, key: Key) {
        let mut line = self.home(key);
        loop {
            if let Some(free) = self.lines[line].iter_mut().find(|entry| entry.is_none()) {
                *free = key;
                return;
            }
            line = self.after(line);
        }
    }

    #[inline]
    pub(crate) fn contains(&self, key: Key) -> bool {
        let mut line = self.home(key);
        loop {
            let entries = &self.lines[line];
            if entries.contains(&key) {
                return true;
            }
            if entries[LINE_KEYS - 1].is_none() {
                return false;
            }
            line = self.after(line);
        }
    }

    #[inline]
    fn home(&self, key: Key) -> usize {
        place(key.hash(), self.lines.len())
    }

    #[inline]
    fn after(&self, line: usize) -> usize {
        if line + 1 == self.lines.len() { 0 } else { line + 1 }
    }
}

/// Ranks fit into this many bits.
const RANK_BITS: u32 = 18;
const RANK_MASK: u64 = (1 << RANK_BITS) - 1;

/// No two neighbours merge into this.
pub(crate) const NONE: u32 = u32::MAX;

/// Which two tokens merge into which: one word an entry, lines of eight.
pub(crate) struct Merges {
    lines: Vec<[u64; LINE_PAIRS]>,
    /// The same for two single bytes, without a search.
    bytes: Vec<u32>,
}

impl Merges {
    pub(crate) fn with_room_for(count: usize) -> Self {
        let lines = (count / 4).next_power_of_two();
        Self { lines: vec![[0; LINE_PAIRS]; lines], bytes: vec![NONE; 1 << 16] }
    }

    /// Two tokens that merge; of merges known already, none is of the same two.
    pub(crate) fn insert(&mut self, left: u32, right: u32, merged: u32) {
        let pair = pair(left, right);
        let mut line = self.home(pair);
        loop {
            if let Some(free) = self.lines[line].iter_mut().find(|entry| **entry == 0) {
                *free = pair << RANK_BITS | u64::from(merged);
                return;
            }
            line = self.after(line);
        }
    }

    /// What two single bytes merge into.
    pub(crate) fn insert_bytes(&mut self, left: u8, right: u8, merged: u32) {
        self.bytes[usize::from(left) << 8 | usize::from(right)] = merged;
    }

    /// The rank that two neighbours merge into, or [`NONE`].
    #[inline]
    pub(crate) fn get(&self, left: u32, right: u32) -> u32 {
        let pair = pair(left, right);
        let mut line = self.home(pair);
        loop {
            let entries = &self.lines[line];
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
            line = self.after(line);
        }
    }

    #[inline]
    pub(crate) fn get_bytes(&self, left: u8, right: u8) -> u32 {
        self.bytes[usize::from(left) << 8 | usize::from(right)]
    }

    #[inline]
    fn home(&self, pair: u64) -> usize {
        let mixed = pair.wrapping_mul(0x9E37_79B9_7F4A_7C15);
        place((mixed ^ (mixed >> 32)).wrapping_mul(0xD6E8_FEB8_6659_FD93), self.lines.len())
    }

    #[inline]
    fn after(&self, line: usize) -> usize {
        if line + 1 == self.lines.len() { 0 } else { line + 1 }
    }
}

#[inline]
fn pair(left: u32, right: u32) -> u64 {
    u64::from(left) << RANK_BITS | u64::from(right)
}
