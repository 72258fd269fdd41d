//! How good a text must be to be among the best so far, and those that were.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// How far a quick sum may be from the full one.
const MARGIN: f32 = 1.0 - 1e-4;
/// Candidates that are kept before the first look at which of them still count.
const ROOM: usize = 256;

/// The candidates for the best `limit` texts.
pub(super) struct Floor {
    /// A text of less than this cannot be among the best.
    least: f32,
    limit: usize,
    /// The best quick sums, the worst on top; sums are positive, so their bits are in their order.
    best: BinaryHeap<Reverse<u32>>,
    candidates: Vec<(f32, u32)>,
    room: usize,
}

impl Floor {
    /// No candidates yet.
    pub(super) fn new(limit: usize) -> Self {
        Self { least: 0.0, limit, best: BinaryHeap::new(), candidates: Vec::new(), room: ROOM }
    }

    /// What a text must reach.
    pub(super) fn least(&self) -> f32 {
        self.least
    }

    /// As many texts as are wanted have these sums at least.
    pub(super) fn raise(&mut self, sum: f32) {
        self.least = self.least.max(sum * MARGIN);
    }

    /// A text with this quick sum.
    pub(super) fn add(&mut self, sum: f32, slot: u32) {
        if sum < self.least {
            return;
        }
        self.best.push(Reverse(sum.to_bits()));
        if self.best.len() > self.limit {
            self.best.pop();
        }
        if let Some(&Reverse(worst)) = self.best.peek().filter(|_| self.best.len() == self.limit) {
            self.raise(f32::from_bits(worst));
        }
        if self.candidates.len() == self.room {
            self.candidates.retain(|(sum, _)| *sum >= self.least);
            self.room = 2 * self.candidates.len() + ROOM;
        }
        self.candidates.push((sum, slot));
    }

    /// The slots of the texts that may be among the best: those that are, and few others.
    pub(super) fn into_candidates(self) -> impl Iterator<Item = u32> {
        self.candidates.into_iter().filter(move |(sum, _)| *sum >= self.least).map(|(_, slot)| slot)
    }
}
