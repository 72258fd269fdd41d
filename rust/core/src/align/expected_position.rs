//! Expected positions: where an old block would be in the new text, judged by its matched neighbours.

use std::collections::BTreeSet;

use crate::align::pairing::{OptionalIndices, Pairing};

/// For each block of one side, the nearest matched block before and after it, as indices of that side.
struct Neighbours {
    before: OptionalIndices,
    after: OptionalIndices,
}

impl Neighbours {
    /// Find the neighbours of `length` blocks in two passes.
    fn of(length: usize, is_paired: impl Fn(usize) -> bool) -> Self {
        let near = |indices: &mut dyn Iterator<Item = usize>| {
            let mut near = OptionalIndices::none(length);
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

    /// The number of blocks between the matched neighbours of an unmatched block.
    fn gap_length(&self, index: usize) -> usize {
        let start = self.before.get(index).map_or(0, |before| before + 1);
        self.after.get(index).unwrap_or(self.before.len()) - start
    }
}

/// The matched neighbours of all blocks, as they were when this was made.
pub(super) struct ExpectedPositions {
    old_neighbours: Neighbours,
    new_neighbours: Neighbours,
    new_of: OptionalIndices,
    new_count: usize,
}

impl ExpectedPositions {
    /// Take the neighbours from the matching so far.
    pub(super) fn of(pairing: &Pairing) -> Self {
        Self {
            old_neighbours: Neighbours::of(pairing.old_count(), |old| pairing.new_of(old).is_some()),
            new_neighbours: Neighbours::of(pairing.new_count(), |new| pairing.old_of(new).is_some()),
            new_of: pairing.new_indices().clone(),
            new_count: pairing.new_count(),
        }
    }

    /// Return where the old block would be, counted from the matched pair before it and from the one after it.
    fn positions(&self, old: usize) -> [usize; 2] {
        let before = self.old_neighbours.before.get(old).and_then(|near| Some(self.new_of.get(near)? + (old - near)));
        let after =
            self.old_neighbours.after.get(old).and_then(|near| Some(self.new_of.get(near)?.saturating_sub(near - old)));
        let from_end = || self.new_count.saturating_sub(self.new_of.len() - old);
        [before.unwrap_or(old), after.unwrap_or_else(from_end)]
    }

    /// Return how many blocks the new block is away from the nearer expected position of the old one.
    pub(super) fn distance(&self, old: usize, new: usize) -> usize {
        self.positions(old).into_iter().map(|position| position.abs_diff(new)).min().unwrap_or(usize::MAX)
    }

    /// Return the distance and index of the free new block nearest to an expected position.
    pub(super) fn nearest(&self, old: usize, free: &BTreeSet<usize>) -> Option<(usize, usize)> {
        let around = |position: usize| {
            let below = free.range(..=position).next_back().copied();
            let above = free.range(position..).next().copied();
            below.into_iter().chain(above)
        };
        self.positions(old).into_iter().flat_map(around).map(|new| (self.distance(old, new), new)).min()
    }

    /// Compare the matched neighbours of an old and a new unmatched block.
    pub(super) fn context(&self, old: usize, new: usize) -> PairContext {
        let is_same_pair = |old_neighbour: Option<usize>, new_neighbour: Option<usize>| {
            old_neighbour.map(|near| self.new_of.get(near)) == new_neighbour.map(Some)
        };
        let before = is_same_pair(self.old_neighbours.before.get(old), self.new_neighbours.before.get(new));
        let after = is_same_pair(self.old_neighbours.after.get(old), self.new_neighbours.after.get(new));
        let alone_between = self.old_neighbours.gap_length(old) == 1 && self.new_neighbours.gap_length(new) == 1;
        let matching_sides = usize::from(before) + usize::from(after);
        PairContext {
            matching_sides,
            alone_between: matching_sides == 2 && alone_between,
            at_expected_position: self.distance(old, new) == 0,
        }
    }

    /// Return the old block where an equally long run of unmatched old blocks begins, between the same matched pairs.
    ///
    /// `new` is the first of `length` unmatched new blocks; None if the old run has another length.
    pub(super) fn parallel_run(&self, new: usize, length: usize, pairing: &Pairing) -> Option<usize> {
        let old_of = |near: Option<usize>| near.map(|near| pairing.old_of(near));
        let first = old_of(self.new_neighbours.before.get(new)).map_or(Some(0), |old| Some(old? + 1))?;
        let end = old_of(self.new_neighbours.after.get(new)).unwrap_or(Some(self.new_of.len()))?;
        let is_open = |old: usize| old < self.new_of.len() && self.new_of.get(old).is_none();
        (end == first + length && (first..end).all(is_open)).then_some(first)
    }

    /// Iterate over new blocks at most `radius` away from an expected position of the old block.
    pub(super) fn search_range(&self, old: usize, radius: usize) -> impl Iterator<Item = usize> + '_ {
        let around = move |position: usize| position.saturating_sub(radius)..position.saturating_add(radius + 1);
        let spans = self.positions(old).map(around);
        spans.into_iter().flatten().filter(move |new| *new < self.new_count)
    }
}

/// Evidence of the matched neighbours that an old and a new block are one.
#[derive(Clone, Copy, Debug)]
pub(super) struct PairContext {
    /// On how many sides (0 to 2) their nearest matched neighbours are partners of each other.
    pub(super) matching_sides: usize,
    /// Both neighbours are partners, and nothing else is between them.
    pub(super) alone_between: bool,
    /// They are equally far from one of these neighbours.
    pub(super) at_expected_position: bool,
}
