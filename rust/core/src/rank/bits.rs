//! A set of slots, one bit each.

/// Slots that are in the set; what lies beyond its end is not.
#[derive(Clone, Default)]
pub(super) struct Bits(Vec<u64>);

impl Bits {
    /// Whether the slot is in the set.
    pub(super) fn has(&self, slot: u32) -> bool {
        self.0.get(slot as usize / 64).is_some_and(|word| word >> (slot % 64) & 1 == 1)
    }

    /// Puts the slot in.
    pub(super) fn set(&mut self, slot: u32) {
        let word = slot as usize / 64;
        if word >= self.0.len() {
            self.0.resize(word + 1, 0);
        }
        self.0[word] |= 1 << (slot % 64);
    }

    /// Takes the slot out.
    pub(super) fn clear(&mut self, slot: u32) {
        if let Some(word) = self.0.get_mut(slot as usize / 64) {
            *word &= !(1 << (slot % 64));
        }
    }

    /// Puts in every slot of the other.
    pub(super) fn join(&mut self, other: &Self) {
        if other.0.len() > self.0.len() {
            self.0.resize(other.0.len(), 0);
        }
        for (word, more) in self.0.iter_mut().zip(&other.0) {
            *word |= more;
        }
    }

    /// Keeps only the slots that are in the other too.
    pub(super) fn keep(&mut self, other: &Self) {
        self.0.truncate(other.0.len());
        for (word, kept) in self.0.iter_mut().zip(&other.0) {
            *word &= kept;
        }
    }

    /// Takes out every slot of the other.
    pub(super) fn drop_all(&mut self, other: &Self) {
        for (word, gone) in self.0.iter_mut().zip(&other.0) {
            *word &= !gone;
        }
    }

    /// The slots, ascending.
    pub(super) fn iter(&self) -> impl Iterator<Item = u32> + '_ {
        self.0.iter().zip(0_u32..).flat_map(|(&word, at)| Ones(word).map(move |bit| at * 64 + bit))
    }
}

/// The positions of a word's set bits, ascending.
pub(super) struct Ones(pub(super) u64);

impl Iterator for Ones {
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
