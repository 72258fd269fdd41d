//! Pairs of old and new blocks found so far.

use crate::align::Alignment;

/// A one-to-one relation between old and new indices that only grows.
pub(super) struct Pairing {
    to_new: Vec<Option<usize>>,
    to_old: Vec<Option<usize>>,
    pairs: usize,
}

impl Pairing {
    pub(super) fn new(olds: usize, news: usize) -> Self {
        Self { to_new: vec![None; olds], to_old: vec![None; news], pairs: 0 }
    }

    pub(super) fn olds(&self) -> usize {
        self.to_new.len()
    }

    pub(super) fn news(&self) -> usize {
        self.to_old.len()
    }

    /// Whether something on both sides has no partner.
    pub(super) fn is_open(&self) -> bool {
        self.pairs < self.olds().min(self.news())
    }

    pub(super) fn new_of(&self, old: usize) -> Option<usize> {
        self.to_new[old]
    }

    pub(super) fn old_of(&self, new: usize) -> Option<usize> {
        self.to_old[new]
    }

    pub(super) fn open_olds(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.olds()).filter(|old| self.to_new[*old].is_none())
    }

    pub(super) fn open_news(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.news()).filter(|new| self.to_old[*new].is_none())
    }

    /// Pairs two blocks, unless one of them has a partner.
    pub(super) fn join(&mut self, old: usize, new: usize) -> bool {
        let free = self.to_new[old].is_none() && self.to_old[new].is_none();
        if free {
            self.to_new[old] = Some(new);
            self.to_old[new] = Some(old);
            self.pairs += 1;
        }
        free
    }

    pub(super) fn finish(self) -> Alignment {
        let gone = self.open_olds().collect();
        Alignment { carried: self.to_old, gone }
    }
}
