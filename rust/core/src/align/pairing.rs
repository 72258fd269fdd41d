//! Pairs of old and new blocks found so far.

use crate::align::Alignment;

/// An index or none for each of many places, in half of the memory.
#[derive(Clone)]
pub(super) struct Indices(Vec<u32>);

impl Indices {
    const NONE: u32 = u32::MAX;

    pub(super) fn none(length: usize) -> Self {
        Self(vec![Self::NONE; length])
    }

    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    pub(super) fn get(&self, at: usize) -> Option<usize> {
        let index = self.0[at];
        (index != Self::NONE).then_some(index as usize)
    }

    pub(super) fn set(&mut self, at: usize, index: usize) {
        self.0[at] = u32::try_from(index).unwrap_or(Self::NONE);
    }

    fn open(&self) -> impl Iterator<Item = usize> + '_ {
        self.0.iter().enumerate().filter(|(_, index)| **index == Self::NONE).map(|(at, _)| at)
    }
}

/// A one-to-one relation between old and new indices that only grows.
pub(super) struct Pairing {
    to_new: Indices,
    to_old: Indices,
    pairs: usize,
}

impl Pairing {
    pub(super) fn new(olds: usize, news: usize) -> Self {
        Self { to_new: Indices::none(olds), to_old: Indices::none(news), pairs: 0 }
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
        self.to_new.get(old)
    }

    pub(super) fn old_of(&self, new: usize) -> Option<usize> {
        self.to_old.get(new)
    }

    pub(super) fn news_of_olds(&self) -> &Indices {
        &self.to_new
    }

    pub(super) fn open_olds(&self) -> impl Iterator<Item = usize> + '_ {
        self.to_new.open()
    }

    pub(super) fn open_news(&self) -> impl Iterator<Item = usize> + '_ {
        self.to_old.open()
    }

    /// Pairs two blocks, unless one of them has a partner.
    pub(super) fn join(&mut self, old: usize, new: usize) -> bool {
        let free = self.new_of(old).is_none() && self.old_of(new).is_none();
        if free {
            self.to_new.set(old, new);
            self.to_old.set(new, old);
            self.pairs += 1;
        }
        free
    }

    pub(super) fn finish(self) -> Alignment {
        let carried = (0..self.news()).map(|new| self.old_of(new)).collect();
        Alignment { carried, gone: self.open_olds().collect() }
    }
}
