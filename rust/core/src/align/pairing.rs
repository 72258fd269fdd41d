//! The one-to-one matching of old and new blocks, as it grows.

use crate::align::Alignment;

/// A list of optional indices, in half of the memory of `Vec<Option<usize>>` or less.
#[derive(Clone)]
pub(super) struct OptionalIndices(Vec<u32>);

impl OptionalIndices {
    const NONE: u32 = u32::MAX;

    /// A list of `length` times None.
    pub(super) fn none(length: usize) -> Self {
        Self(vec![Self::NONE; length])
    }

    /// The number of elements.
    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    /// Return the index at a position, or None.
    pub(super) fn get(&self, at: usize) -> Option<usize> {
        let index = self.0[at];
        (index != Self::NONE).then_some(index as usize)
    }

    /// Set the index at a position.
    pub(super) fn set(&mut self, at: usize, index: usize) {
        self.0[at] = u32::try_from(index).unwrap_or(Self::NONE);
    }

    /// Iterate over the positions without an index.
    fn unset(&self) -> impl Iterator<Item = usize> + '_ {
        self.0.iter().enumerate().filter(|(_, index)| **index == Self::NONE).map(|(at, _)| at)
    }
}

/// A partial one-to-one matching between old and new indices; pairs are only ever added.
pub(super) struct Pairing {
    to_new: OptionalIndices,
    to_old: OptionalIndices,
    pairs: usize,
}

impl Pairing {
    /// An empty matching of so many old and new blocks.
    pub(super) fn new(old_count: usize, new_count: usize) -> Self {
        Self { to_new: OptionalIndices::none(old_count), to_old: OptionalIndices::none(new_count), pairs: 0 }
    }

    /// The number of old blocks.
    pub(super) fn old_count(&self) -> usize {
        self.to_new.len()
    }

    /// The number of new blocks.
    pub(super) fn new_count(&self) -> usize {
        self.to_old.len()
    }

    /// Return true if both sides have a block without a partner.
    pub(super) fn has_unmatched_on_both_sides(&self) -> bool {
        self.pairs < self.old_count().min(self.new_count())
    }

    /// Return the new partner of an old block, or None.
    pub(super) fn new_of(&self, old: usize) -> Option<usize> {
        self.to_new.get(old)
    }

    /// Return the old partner of a new block, or None.
    pub(super) fn old_of(&self, new: usize) -> Option<usize> {
        self.to_old.get(new)
    }

    /// The new partner of every old block.
    pub(super) fn new_indices(&self) -> &OptionalIndices {
        &self.to_new
    }

    /// Iterate over the old blocks without a partner.
    pub(super) fn unmatched_old(&self) -> impl Iterator<Item = usize> + '_ {
        self.to_new.unset()
    }

    /// Iterate over the new blocks without a partner.
    pub(super) fn unmatched_new(&self) -> impl Iterator<Item = usize> + '_ {
        self.to_old.unset()
    }

    /// Match two blocks unless one of them has a partner already; return whether they were matched.
    pub(super) fn match_pair(&mut self, old: usize, new: usize) -> bool {
        let is_free = self.new_of(old).is_none() && self.old_of(new).is_none();
        if is_free {
            self.to_new.set(old, new);
            self.to_old.set(new, old);
            self.pairs += 1;
        }
        is_free
    }

    /// Return the result.
    pub(super) fn into_alignment(self) -> Alignment {
        let old_of_new = (0..self.new_count()).map(|new| self.old_of(new)).collect();
        Alignment { old_of_new, deleted: self.unmatched_old().collect() }
    }
}
