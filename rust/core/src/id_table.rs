//! A hash table from hashes to ids; the keys themselves are stored by the caller, who compares them.

/// The id of an empty slot.
const NONE: u32 = u32::MAX;

#[derive(Clone, Copy)]
struct Slot {
    hash: u32,
    id: u32,
}

const EMPTY: Slot = Slot { hash: 0, id: NONE };

/// An open-addressed hash table with linear probing, at most three quarters full.
#[derive(Default)]
pub(crate) struct IdTable {
    slots: Vec<Slot>,
    len: usize,
}

impl IdTable {
    /// An empty table with room for `ids` entries without growing.
    pub(crate) fn with_capacity(ids: usize) -> Self {
        Self { slots: vec![EMPTY; (ids / 3 * 4 + 4).next_power_of_two()], len: 0 }
    }

    /// The number of entries.
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// Return the id stored under `hash` for which `is_equal` (the caller's comparison of keys) returns true.
    pub(crate) fn find(&self, hash: u32, is_equal: impl Fn(u32) -> bool) -> Option<u32> {
        let mask = self.slots.len().checked_sub(1)?;
        let mut at = hash as usize & mask;
        loop {
            let slot = self.slots[at];
            if slot.id == NONE {
                return None;
            }
            if slot.hash == hash && is_equal(slot.id) {
                return Some(slot.id);
            }
            at = (at + 1) & mask;
        }
    }

    /// Insert an id that is not in the table yet; duplicates are not checked for.
    pub(crate) fn insert(&mut self, hash: u32, id: u32) {
        if self.len >= self.slots.len() / 4 * 3 {
            self.grow();
        }
        self.put(Slot { hash, id });
        self.len += 1;
    }

    /// Remove an id, or do nothing if it is not in the table.
    pub(crate) fn remove(&mut self, hash: u32, id: u32) {
        let Some(mask) = self.slots.len().checked_sub(1) else { return };
        let mut gap = hash as usize & mask;
        while self.slots[gap].id != id {
            if self.slots[gap].id == NONE {
                return;
            }
            gap = (gap + 1) & mask;
        }
        self.len -= 1;
        // Backward-shift deletion: entries that were displaced past the gap move into it, so that no probe stops early
        // and no tombstones are needed. An entry may move if the gap lies between its ideal slot and its own.
        let mut at = gap;
        loop {
            at = (at + 1) & mask;
            let slot = self.slots[at];
            if slot.id == NONE {
                break;
            }
            let ideal = slot.hash as usize & mask;
            if (at.wrapping_sub(ideal) & mask) >= (at.wrapping_sub(gap) & mask) {
                self.slots[gap] = slot;
                gap = at;
            }
        }
        self.slots[gap] = EMPTY;
    }

    /// Double the slots and reinsert every entry.
    fn grow(&mut self) {
        let wider = vec![EMPTY; (self.slots.len() * 2).max(16)];
        for slot in std::mem::replace(&mut self.slots, wider) {
            if slot.id != NONE {
                self.put(slot);
            }
        }
    }

    /// Write an entry into the first free slot of its probe sequence.
    fn put(&mut self, slot: Slot) {
        let mask = self.slots.len() - 1;
        let mut at = slot.hash as usize & mask;
        while self.slots[at].id != NONE {
            at = (at + 1) & mask;
        }
        self.slots[at] = slot;
    }
}
