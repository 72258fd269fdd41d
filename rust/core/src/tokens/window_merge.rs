//! Byte-pair merging of a short window in fixed arrays: the next pair to merge is found by a linear minimum search.

use crate::tokens::merge_table::{MergeTable, NONE};
use crate::tokens::vocabulary::Vocabulary;

/// Marks a token that does not merge with the next one. Pairs are compared as one number: rank, then index.
const NO_PAIR: i32 = i32::MAX;
const INDEX_BITS: u32 = 10;

/// The tokens of at most `WINDOW` bytes, which is at most 1024, as a linked list.
///
/// A token is identified by the index of its first unit; units are what merging began with: bytes, and characters that
/// are certain to become one token.
pub(crate) struct WindowTokens<const WINDOW: usize> {
    ranks: [u32; WINDOW],
    /// The pair of a token and the next one, packed by [`pack_pair`].
    pairs: [i32; WINDOW],
    next: [u16; WINDOW],
    previous: [u16; WINDOW],
    /// The byte offset at which each token begins.
    starts: [u16; WINDOW],
    /// The number of bytes, and the number of units at the start.
    length: usize,
    count: usize,
    /// The number of tokens now.
    pub(crate) live: usize,
}

impl<const WINDOW: usize> WindowTokens<WINDOW> {
    /// Merge a piece of at least one byte; of a piece longer than `WINDOW` its beginning.
    pub(crate) fn merge_all(piece: &[u8], vocabulary: &Vocabulary) -> Self {
        let mut tokens = Self::of(piece, vocabulary);
        while let Some((rank, index)) = tokens.lowest_pair() {
            tokens.merge(rank, index, &vocabulary.merges);
        }
        tokens
    }

    /// The units of a piece, before any merge.
    #[inline]
    fn of(piece: &[u8], vocabulary: &Vocabulary) -> Self {
        let piece = piece.get(..WINDOW).unwrap_or(piece);
        let mut tokens = Self {
            ranks: [0; WINDOW],
            pairs: [NO_PAIR; WINDOW],
            next: const { initial_next::<WINDOW>() },
            previous: const { initial_previous::<WINDOW>() },
            starts: [0; WINDOW],
            length: piece.len(),
            count: 0,
            live: 0,
        };
        let (mut at, mut last) = (0, 0);
        while let Some(byte) = piece.get(at) {
            let (width, rank) = match vocabulary.chars.token(piece, at) {
                Some(character) => character,
                None => (1, vocabulary.bytes[usize::from(*byte)]),
            };
            if tokens.count > 0 {
                vocabulary.merges.prefetch(last, rank);
            }
            last = rank;
            tokens.ranks[tokens.count & (WINDOW - 1)] = rank;
            tokens.starts[tokens.count & (WINDOW - 1)] = to_u16(at);
            tokens.count += 1;
            at += width;
        }
        tokens.live = tokens.count;
        for index in 1..tokens.count.min(WINDOW) {
            let [left, right] = [tokens.ranks[index - 1], tokens.ranks[index]];
            tokens.pairs[index - 1] = pack_pair(vocabulary.merges.get(left, right), index - 1);
        }
        tokens
    }

    /// Return the pair that merges next: the rank of the result, and the index of its first token.
    #[inline]
    fn lowest_pair(&self) -> Option<(u32, usize)> {
        let (eights, _) = self.pairs.as_chunks::<8>();
        let mut lanes = [NO_PAIR; 8];
        for eight in eights.iter().take(self.count.div_ceil(8)) {
            for (minimum, pair) in lanes.iter_mut().zip(eight) {
                *minimum = (*minimum).min(*pair);
            }
        }
        let minimum = lanes.into_iter().fold(NO_PAIR, i32::min);
        (minimum != NO_PAIR).then_some((rank_of(minimum), minimum.cast_unsigned() as usize & (WINDOW - 1)))
    }

    /// Merge the pair at an index, and those directly after it of the same two tokens.
    ///
    /// Any pair that a merge creates has a higher rank than the merge itself, so that none of them must come first.
    #[inline]
    fn merge(&mut self, rank: u32, index: usize, merges: &MergeTable) {
        let mut last = index;
        loop {
            self.ranks[last] = rank;
            let absorbed = self.next_of(last);
            let next = self.next_of(absorbed);
            self.pairs[absorbed & (WINDOW - 1)] = NO_PAIR;
            self.next[last] = to_u16(next);
            self.live -= 1;
            let Some(previous) = self.previous.get_mut(next).filter(|_| next < self.count) else { break };
            *previous = to_u16(last);
            if rank_of(self.pairs[next]) != rank {
                break;
            }
            last = next;
        }
        let first = usize::from(self.previous[index]);
        // All are prefetched before the first is read, so that the waits overlap.
        let mut at = first;
        while at <= last {
            let next = self.next_of(at);
            if let Some(right) = self.ranks.get(next).filter(|_| next < self.count) {
                merges.prefetch(self.ranks[at], *right);
            }
            at = next;
        }
        at = first;
        while at <= last {
            let next = self.next_of(at);
            self.pairs[at] = match self.ranks.get(next).filter(|_| next < self.count) {
                Some(right) => pack_pair(merges.get(self.ranks[at], *right), at),
                None => NO_PAIR,
            };
            at = next;
        }
    }

    /// The index of the token after one; the number of units if there is none.
    #[inline]
    fn next_of(&self, index: usize) -> usize {
        usize::from(self.next[index & (WINDOW - 1)])
    }

    /// The byte offset at which a token begins; the length of the window for none.
    fn start_of(&self, index: usize) -> usize {
        if index < self.count { usize::from(self.starts[index & (WINDOW - 1)]) } else { self.length }
    }

    /// Iterate over (start, end) of tokens, from the one that begins at byte `first` on.
    pub(crate) fn walk(&self, first: usize) -> impl Iterator<Item = (usize, usize)> {
        let mut index = 0;
        let spans = std::iter::from_fn(move || {
            let here = index;
            (here < self.count).then(|| {
                index = self.next_of(here);
                (self.start_of(here), self.start_of(index))
            })
        });
        spans.skip_while(move |(start, _)| *start < first)
    }

    /// Find the first token that this window and `next` have in common.
    ///
    /// `next` begins at byte `byte` of this window. Return where the token begins in `next`, and how many tokens from
    /// that byte on are before it.
    pub(crate) fn common(&self, byte: usize, next: &Self) -> Option<(usize, usize)> {
        let mut others = next.walk(0).peekable();
        self.walk(byte).enumerate().find_map(|(skipped, (start, end))| {
            while others.next_if(|(other, _)| other + byte < start).is_some() {}
            let (other, _) = others.next_if(|other| (other.0 + byte, other.1 + byte) == (start, end))?;
            Some((other, skipped))
        })
    }
}

/// The rank of a merge and the index of its first token in one number, ordered by rank, then index.
#[inline]
fn pack_pair(rank: u32, index: usize) -> i32 {
    if rank == NONE { NO_PAIR } else { (rank << INDEX_BITS | u32::from(to_u16(index))).cast_signed() }
}

/// The rank of a packed pair.
#[inline]
fn rank_of(pair: i32) -> u32 {
    pair.cast_unsigned() >> INDEX_BITS
}

/// An index or a length in a window.
#[inline]
#[expect(clippy::cast_possible_truncation, reason = "at most 1024")]
const fn to_u16(index: usize) -> u16 {
    index as u16
}

/// Links to the next unit.
const fn initial_next<const WINDOW: usize>() -> [u16; WINDOW] {
    let mut next = [0; WINDOW];
    let mut index = 0;
    while index < WINDOW {
        next[index] = to_u16(index + 1);
        index += 1;
    }
    next
}

/// Links to the previous unit.
const fn initial_previous<const WINDOW: usize>() -> [u16; WINDOW] {
    let mut previous = [0; WINDOW];
    let mut index = 1;
    while index < WINDOW {
        previous[index] = to_u16(index - 1);
        index += 1;
    }
    previous
}
