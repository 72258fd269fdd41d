//! A few bytes while they merge into tokens, all in fixed arrays: the next pair is found by looking through all.

use crate::tokens::table::{Merges, NONE};
use crate::tokens::vocabulary::Vocabulary;

/// A place without a pair. Pairs are compared as one number, their rank before their place.
const NO_PAIR: i32 = i32::MAX;
const PLACE_BITS: u32 = 10;

/// The tokens of at most `WINDOW` bytes, which is at most 1024. Each is known by its number among those that merging
/// began with: bytes, and characters that are certain to become one token.
pub(crate) struct Tokens<const WINDOW: usize> {
    ranks: [u32; WINDOW],
    /// What a token and the next one merge into, as [`ordered`] says.
    pairs: [i32; WINDOW],
    next: [u16; WINDOW],
    before: [u16; WINDOW],
    /// The byte at which each begins.
    starts: [u16; WINDOW],
    /// How many bytes there are, and how many tokens at first.
    length: usize,
    count: usize,
    /// How many tokens there are.
    pub(crate) live: usize,
}

impl<const WINDOW: usize> Tokens<WINDOW> {
    /// The tokens of a piece of at least one byte; of a longer one than `WINDOW` those of its beginning.
    pub(crate) fn merged(piece: &[u8], vocabulary: &Vocabulary) -> Self {
        let mut tokens = Self::of(piece, vocabulary);
        while let Some((rank, place)) = tokens.lowest() {
            tokens.merge(rank, place, &vocabulary.merges);
        }
        tokens
    }

    /// The same before anything has merged.
    #[inline]
    fn of(piece: &[u8], vocabulary: &Vocabulary) -> Self {
        let piece = piece.get(..WINDOW).unwrap_or(piece);
        let mut tokens = Self {
            ranks: [0; WINDOW],
            pairs: [NO_PAIR; WINDOW],
            next: const { following::<WINDOW>() },
            before: const { preceding::<WINDOW>() },
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
                vocabulary.merges.announce(last, rank);
            }
            last = rank;
            tokens.ranks[tokens.count & (WINDOW - 1)] = rank;
            tokens.starts[tokens.count & (WINDOW - 1)] = short(at);
            tokens.count += 1;
            at += width;
        }
        tokens.live = tokens.count;
        for place in 1..tokens.count.min(WINDOW) {
            let [left, right] = [tokens.ranks[place - 1], tokens.ranks[place]];
            tokens.pairs[place - 1] = ordered(vocabulary.merges.get(left, right), place - 1);
        }
        tokens
    }

    /// The pair that merges next: its rank, and where it begins.
    #[inline]
    fn lowest(&self) -> Option<(u32, usize)> {
        let (eights, _) = self.pairs.as_chunks::<8>();
        let mut lanes = [NO_PAIR; 8];
        for eight in eights.iter().take(self.count.div_ceil(8)) {
            for (least, pair) in lanes.iter_mut().zip(eight) {
                *least = (*least).min(*pair);
            }
        }
        let least = lanes.into_iter().fold(NO_PAIR, i32::min);
        (least != NO_PAIR).then_some((rank_of(least), least.cast_unsigned() as usize & (WINDOW - 1)))
    }

    /// Merges the pair at a place, and those that follow it directly and are of the same two tokens.
    ///
    /// Any pair that comes to be has a higher rank than the one that merges, so that none of those must wait.
    #[inline]
    fn merge(&mut self, rank: u32, place: usize, merges: &Merges) {
        let mut last = place;
        loop {
            self.ranks[last] = rank;
            let taken = self.after(last);
            let next = self.after(taken);
            self.pairs[taken & (WINDOW - 1)] = NO_PAIR;
            self.next[last] = short(next);
            self.live -= 1;
            let Some(before) = self.before.get_mut(next).filter(|_| next < self.count) else { break };
            *before = short(last);
            if rank_of(self.pairs[next]) != rank {
                break;
            }
            last = next;
        }
        let first = usize::from(self.before[place]);
        // All are announced before the first is asked for, so that the waits overlap.
        let mut at = first;
        while at <= last {
            let next = self.after(at);
            if let Some(right) = self.ranks.get(next).filter(|_| next < self.count) {
                merges.announce(self.ranks[at], *right);
            }
            at = next;
        }
        at = first;
        while at <= last {
            let next = self.after(at);
            self.pairs[at] = match self.ranks.get(next).filter(|_| next < self.count) {
                Some(right) => ordered(merges.get(self.ranks[at], *right), at),
                None => NO_PAIR,
            };
            at = next;
        }
    }

    /// The token after one; their number if there is none.
    #[inline]
    fn after(&self, place: usize) -> usize {
        usize::from(self.next[place & (WINDOW - 1)])
    }

    /// The byte at which a token begins; the length for none.
    fn start(&self, place: usize) -> usize {
        if place < self.count { usize::from(self.starts[place & (WINDOW - 1)]) } else { self.length }
    }

    /// Where tokens begin and end, from the token on that begins at a byte.
    pub(crate) fn walk(&self, first: usize) -> impl Iterator<Item = (usize, usize)> {
        let mut place = 0;
        let spans = std::iter::from_fn(move || {
            let here = place;
            (here < self.count).then(|| {
                place = self.after(here);
                (self.start(here), self.start(place))
            })
        });
        spans.skip_while(move |(start, _)| *start < first)
    }

    /// The first token from a byte on that `next`, whose bytes begin at that one, has too: where it begins there, and
    /// how many tokens from the byte on are before it.
    pub(crate) fn common(&self, byte: usize, next: &Self) -> Option<(usize, usize)> {
        let mut others = next.walk(0).peekable();
        self.walk(byte).enumerate().find_map(|(passed, (start, end))| {
            while others.next_if(|(other, _)| other + byte < start).is_some() {}
            let (other, _) = others.next_if(|other| (other.0 + byte, other.1 + byte) == (start, end))?;
            Some((other, passed))
        })
    }
}

#[inline]
fn ordered(rank: u32, place: usize) -> i32 {
    if rank == NONE { NO_PAIR } else { (rank << PLACE_BITS | u32::from(short(place))).cast_signed() }
}

#[inline]
fn rank_of(pair: i32) -> u32 {
    pair.cast_unsigned() >> PLACE_BITS
}

/// A place or a length in a window.
#[inline]
#[expect(clippy::cast_possible_truncation, reason = "at most 1024")]
const fn short(place: usize) -> u16 {
    place as u16
}

const fn following<const WINDOW: usize>() -> [u16; WINDOW] {
    let mut next = [0; WINDOW];
    let mut place = 0;
    while place < WINDOW {
        next[place] = short(place + 1);
        place += 1;
    }
    next
}

const fn preceding<const WINDOW: usize>() -> [u16; WINDOW] {
    let mut before = [0; WINDOW];
    let mut place = 1;
    while place < WINDOW {
        before[place] = short(place - 1);
        place += 1;
    }
    before
}
