//! Where an old block would stand in the new text, to judge by its paired neighbours.

use std::collections::BTreeSet;

use crate::align::pairing::{Indices, Pairing};

/// For each side the nearest paired block before and after each place, as indices of that side.
struct Neighbours {
    before: Indices,
    after: Indices,
}

impl Neighbours {
    fn of(length: usize, is_paired: impl Fn(usize) -> bool) -> Self {
        let near = |indices: &mut dyn Iterator<Item = usize>| {
            let mut near = Indices::none(length);
            let mut last = None;
            for index in indices {
                if let Some(last) = last {
                    near.set(index, last);
                }
                last = if is_paired(index) { Some(index) } else { last };
            }
            near
        };
        Self { before: near(&mut (0..length)), after: near(&mut (0..length).rev()) }
    }

    /// How many blocks stand between the pairs around an open one.
    fn gap_of(&self, index: usize) -> usize {
        let start = self.before.get(index).map_or(0, |before| before + 1);
        self.after.get(index).unwrap_or(self.before.len()) - start
    }
}

/// What the pairs found so far say about the place of everything else.
pub(super) struct Expected {
    olds: Neighbours,
    news: Neighbours,
    new_of: Indices,
    new_count: usize,
}

impl Expected {
    pub(super) fn of(pairing: &Pairing) -> Self {
        Self {
            olds: Neighbours::of(pairing.olds(), |old| pairing.new_of(old).is_some()),
            news: Neighbours::of(pairing.news(), |new| pairing.old_of(new).is_some()),
            new_of: pairing.news_of_olds().clone(),
            new_count: pairing.news(),
        }
    }

    /// Where the old block would stand to judge by the pair before it, and by the pair after it.
    fn places(&self, old: usize) -> [usize; 2] {
        let before = self.olds.before.get(old).and_then(|near| Some(self.new_of.get(near)? + (old - near)));
        let after = self.olds.after.get(old).and_then(|near| Some(self.new_of.get(near)?.saturating_sub(near - old)));
        let from_end = || self.new_count.saturating_sub(self.new_of.len() - old);
        [before.unwrap_or(old), after.unwrap_or_else(from_end)]
    }

    /// How far from its place a new block would be if it carried on the old one.
    pub(super) fn distance(&self, old: usize, new: usize) -> usize {
        self.places(old).into_iter().map(|place| place.abs_diff(new)).min().unwrap_or(usize::MAX)
    }

    /// The nearest of the free new blocks, and how far it is.
    pub(super) fn nearest(&self, old: usize, free: &BTreeSet<usize>) -> Option<(usize, usize)> {
        let around = |place: usize| {
            let below = free.range(..=place).next_back().copied();
            let above = free.range(place..).next().copied();
            below.into_iter().chain(above)
        };
        self.places(old).into_iter().flat_map(around).map(|new| (self.distance(old, new), new)).min()
    }

    /// Where two open blocks stand between pairs.
    pub(super) fn setting(&self, old: usize, new: usize) -> Setting {
        let same =
            |there: Option<usize>, here: Option<usize>| there.map(|near| self.new_of.get(near)) == here.map(Some);
        let before = same(self.olds.before.get(old), self.news.before.get(new));
        let after = same(self.olds.after.get(old), self.news.after.get(new));
        let alone = self.olds.gap_of(old) == 1 && self.news.gap_of(new) == 1;
        let sides = usize::from(before) + usize::from(after);
        Setting { sides, alone: sides == 2 && alone, in_step: self.distance(old, new) == 0 }
    }

    /// The first of `length` open old blocks that stand between the same pairs as as many new ones from `new` on.
    pub(super) fn old_in_step(&self, new: usize, length: usize, pairing: &Pairing) -> Option<usize> {
        let old_of = |near: Option<usize>| near.map(|near| pairing.old_of(near));
        let first = old_of(self.news.before.get(new)).map_or(Some(0), |old| Some(old? + 1))?;
        let end = old_of(self.news.after.get(new)).unwrap_or(Some(self.new_of.len()))?;
        let is_open = |old: usize| old < self.new_of.len() && self.new_of.get(old).is_none();
        (end == first + length && (first..end).all(is_open)).then_some(first)
    }

    /// Open new blocks in the gap where the old one stood, counted from both of its ends, at most `reach` steps off.
    pub(super) fn gap(&self, old: usize, reach: usize) -> impl Iterator<Item = usize> + '_ {
        let around = move |place: usize| place.saturating_sub(reach)..place.saturating_add(reach + 1);
        let spans = self.places(old).map(around);
        spans.into_iter().flatten().filter(move |new| *new < self.new_count)
    }
}

/// What the pairs around two open blocks say about them.
#[derive(Clone, Copy, Debug)]
pub(super) struct Setting {
    /// On how many sides the nearest pair is the same.
    pub(super) sides: usize,
    /// It is on both, and nothing else stands between.
    pub(super) alone: bool,
    /// They stand as many steps from one of them.
    pub(super) in_step: bool,
}
