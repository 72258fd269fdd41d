//! A set of document slots, one bit per slot.

/// A growable bit set; slots beyond its end are not in it.
#[derive(Clone, Default)]
pub(super) struct BitSet(Vec<u64>);

impl BitSet {
    /// Return true if the slot is in the set.
    pub(super) fn contains(&self, slot: u32) -> bool {
        self.0.get(slot as usize / 64).is_some_and(|word| word >> (slot % 64) & 1 == 1)
    }

    /// Add a slot.
    pub(super) fn insert(&mut self, slot: u32) {
        let word = slot as usize / 64;
        if word >= self.0.len() {
            self.0.resize(word + 1, 0);
        }
        self.0[word] |= 1 << (slot % 64);
    }

    /// Remove a slot.
    pub(super) fn remove(&mut self, slot: u32) {
        if let Some(word) = self.0.get_mut(slot as usize / 64) {
            *word &= !(1 << (slot % 64));
        }
    }

    /// Add every slot of `other` (set union).
    pub(super) fn union_with(&mut self, other: &Self) {
        if other.0.len() > self.0.len() {
            self.0.resize(other.0.len(), 0);
        }
        for (word, mask) in self.0.iter_mut().zip(&other.0) {
            *word |= mask;
        }
    }

    /// The number of words: slots behind the last one are not in the set.
    pub(super) fn words(&self) -> u32 {
        u32::try_from(self.0.len()).unwrap_or(u32::MAX)
    }

    /// Return the slots from `64 * at` on as the bits of a word.
    pub(super) fn word(&self, at: u32) -> u64 {
        self.0.get(at as usize).copied().unwrap_or(0)
    }

    /// Iterate over the slots in ascending order.
    pub(super) fn iter(&self) -> impl Iterator<Item = u32> + '_ {
        self.0.iter().zip(0_u32..).flat_map(|(&word, at)| SetBits(word).map(move |bit| at * 64 + bit))
    }
}

/// Iterator over the positions of the set bits of a word, ascending.
pub(super) struct SetBits(pub(super) u64);

impl Iterator for SetBits {
    type Item = u32;

    fn next(&mut self) -> Option<u32> {
        if self.0 == 0 {
            return None;
        }
        let bit = self.0.trailing_zeros();
        self.0 &= self.0 - 1;
        Some(bit)
    }
}
