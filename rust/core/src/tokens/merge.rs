//! Merges the bytes of one piece into tokens: always the pair of lowest rank, the leftmost among equals.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::tokens::vocabulary::Vocabulary;

/// Pieces up to this many bytes are merged by looking through all pairs; longer ones keep them in a heap.
const SHORT_BYTES: usize = 48;

/// How many tokens a piece has.
pub(crate) fn count(piece: &[u8], vocabulary: &Vocabulary) -> usize {
    if piece.len() > SHORT_BYTES {
        return Long::merged(piece, vocabulary).live;
    }
    let (mut ranks, mut pairs) = ([0; SHORT_BYTES], [u32::MAX; SHORT_BYTES]);
    short(piece, vocabulary, &mut ranks, &mut pairs, |_| {})
}

/// The lengths in bytes of a piece's tokens, in order.
pub(crate) fn lengths(piece: &[u8], vocabulary: &Vocabulary) -> Vec<usize> {
    if piece.len() > SHORT_BYTES {
        return Long::merged(piece, vocabulary).lengths();
    }
    let mut lengths = vec![1; piece.len()];
    let (mut ranks, mut pairs) = ([0; SHORT_BYTES], [u32::MAX; SHORT_BYTES]);
    short(piece, vocabulary, &mut ranks, &mut pairs, |at| {
        let merged = lengths.remove(at + 1);
        lengths[at] += merged;
    });
    lengths
}

/// Merges in place; `merged` is told the index of each token that took in its right neighbour.
fn short(
    piece: &[u8],
    vocabulary: &Vocabulary,
    ranks: &mut [u32; SHORT_BYTES],
    pairs: &mut [u32; SHORT_BYTES],
    mut merged: impl FnMut(usize),
) -> usize {
    let mut live = piece.len();
    for (rank, byte) in ranks.iter_mut().zip(piece) {
        *rank = vocabulary.bytes[usize::from(*byte)];
    }
    for at in 1..live {
        pairs[at - 1] = vocabulary.merges.get(ranks[at - 1], ranks[at]);
    }
    while live > 1 {
        let mut at = 0;
        for other in 1..live - 1 {
            if pairs[other] < pairs[at] {
                at = other;
            }
        }
        let rank = pairs[at];
        if rank == u32::MAX {
            break;
        }
        ranks[at] = rank;
        ranks.copy_within(at + 2..live, at + 1);
        pairs.copy_within(at + 1..live - 1, at);
        live -= 1;
        pairs[live - 1] = u32::MAX;
        if at + 1 < live {
            pairs[at] = vocabulary.merges.get(ranks[at], ranks[at + 1]);
        }
        if at > 0 {
            pairs[at - 1] = vocabulary.merges.get(ranks[at - 1], ranks[at]);
        }
        merged(at);
    }
    live
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
        (rank != u32::MAX).then_some(Reverse((rank, at)))
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
