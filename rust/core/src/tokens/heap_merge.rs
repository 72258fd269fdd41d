//! Byte-pair merging with a heap, for pieces of any length: the fallback of windowed merging, and token lengths.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::tokens::merge_table::NONE as NO_PAIR;
use crate::tokens::vocabulary::Vocabulary;

/// Count the tokens of a piece.
pub(crate) fn count(piece: &[u8], vocabulary: &Vocabulary) -> usize {
    TokenList::merge_all(piece, vocabulary).live
}

/// Return the lengths in bytes of a piece's tokens, in order.
pub(crate) fn token_lengths(piece: &[u8], vocabulary: &Vocabulary) -> Vec<usize> {
    TokenList::merge_all(piece, vocabulary).token_lengths()
}

/// The index of a missing neighbour.
const NO_NEIGHBOUR: usize = usize::MAX;

/// A piece as a doubly linked list of tokens, with a heap of the pairs that may merge; stale heap entries are skipped.
struct TokenList {
    /// The rank of each token, by its first byte; `u32::MAX` for bytes absorbed by the token to their left.
    ranks: Vec<u32>,
    next: Vec<usize>,
    previous: Vec<usize>,
    live: usize,
}

impl TokenList {
    /// Merge until no pair is left.
    fn merge_all(piece: &[u8], vocabulary: &Vocabulary) -> Self {
        let length = piece.len();
        let mut list = Self {
            ranks: piece.iter().map(|byte| vocabulary.bytes[usize::from(*byte)]).collect(),
            next: (1..=length).collect(),
            previous: (0..length).map(|at| at.wrapping_sub(1)).collect(),
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
            let previous = list.previous[at];
            if previous != NO_NEIGHBOUR {
                heap.extend(list.pair(previous, vocabulary));
            }
        }
        list
    }

    /// Return the heap entry of the token at `at` and its right neighbour, if they merge.
    fn pair(&self, at: usize, vocabulary: &Vocabulary) -> Option<Reverse<(u32, usize)>> {
        let right = *self.ranks.get(self.next[at])?;
        let left = self.ranks[at];
        if left == u32::MAX {
            return None;
        }
        let rank = vocabulary.merges.get(left, right);
        (rank != NO_PAIR).then_some(Reverse((rank, at)))
    }

    /// Merge the token at `at` with its right neighbour into `rank`.
    fn merge(&mut self, at: usize, rank: u32) {
        let absorbed = self.next[at];
        let following = self.next[absorbed];
        (self.ranks[at], self.ranks[absorbed], self.next[at]) = (rank, u32::MAX, following);
        if let Some(previous) = self.previous.get_mut(following) {
            *previous = at;
        }
        self.live -= 1;
    }

    /// The lengths of the remaining tokens.
    fn token_lengths(&self) -> Vec<usize> {
        let starts = (0..self.ranks.len()).filter(|at| self.ranks[*at] != u32::MAX);
        starts.map(|at| self.next[at] - at).collect()
    }
}
