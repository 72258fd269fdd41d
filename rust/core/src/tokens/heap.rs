//! Merges a piece of any length with its pairs in a heap: for what windows cannot settle, and for tokens' lengths.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::tokens::table::NONE as NO_PAIR;
use crate::tokens::vocabulary::Vocabulary;

/// How many tokens a piece has.
pub(crate) fn count(piece: &[u8], vocabulary: &Vocabulary) -> usize {
    Long::merged(piece, vocabulary).live
}

/// The lengths in bytes of a piece's tokens, in order.
pub(crate) fn lengths(piece: &[u8], vocabulary: &Vocabulary) -> Vec<usize> {
    Long::merged(piece, vocabulary).lengths()
}

/// No neighbour.
const NONE: usize = usize::MAX;

/// A long piece as a list of tokens, with a heap of the pairs that may merge; stale entries are skipped.
struct Long {
    /// By the token's first byte; `u32::MAX` for a byte that a token to its left has taken in.
    ranks: Vec<u32>,
    next: Vec<usize>,
    before: Vec<usize>,
    live: usize,
}

impl Long {
    fn merged(piece: &[u8], vocabulary: &Vocabulary) -> Self {
        let length = piece.len();
        let mut list = Self {
            ranks: piece.iter().map(|byte| vocabulary.bytes[usize::from(*byte)]).collect(),
            next: (1..=length).collect(),
            before: (0..length).map(|at| at.wrapping_sub(1)).collect(),
            live: length,
        };
        let mut heap: BinaryHeap<Reverse<(u32, usize)>> =
            (0..length).filter_map(|at| list.pair(at, vocabulary)).collect();
        while let Some(Reverse((rank, at))) = heap.pop() {
            if list.pair(at, vocabulary) != Some(Reverse((rank, at))) {
                continue;
            }
            list.merge(at, rank);
            heap.extend(list.pair(at, vocabulary));
            let before = list.before[at];
            if before != NONE {
                heap.extend(list.pair(before, vocabulary));
            }
        }
        list
    }

    /// The pair of the token at `at` and its right neighbour, if they merge.
    fn pair(&self, at: usize, vocabulary: &Vocabulary) -> Option<Reverse<(u32, usize)>> {
        let right = *self.ranks.get(self.next[at])?;
        let left = self.ranks[at];
        if left == u32::MAX {
            return None;
        }
        let rank = vocabulary.merges.get(left, right);
        (rank != NO_PAIR).then_some(Reverse((rank, at)))
    }

    fn merge(&mut self, at: usize, rank: u32) {
        let taken = self.next[at];
        let after = self.next[taken];
        (self.ranks[at], self.ranks[taken], self.next[at]) = (rank, u32::MAX, after);
        if let Some(before) = self.before.get_mut(after) {
            *before = at;
        }
        self.live -= 1;
    }

    fn lengths(&self) -> Vec<usize> {
        let starts = (0..self.ranks.len()).filter(|at| self.ranks[*at] != u32::MAX);
        starts.map(|at| self.next[at] - at).collect()
    }
}
