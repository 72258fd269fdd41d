//! A few bytes while they merge into tokens, all in fixed arrays: the next pair is found by looking through all.

use crate::tokens::table::{Merges, NONE};
use crate::tokens::vocabulary::Vocabulary;

/// A place without a pair. Pairs are compared as one number, their rank before their place.
const NO_PAIR: i32 = i32::MAX;
const PLACE_BITS: u32 = 10;

/// The tokens of at most `WINDOW` bytes, which is at most 1024; each is known by the place where it begins.
pub(crate) struct Tokens<const WINDOW: usize> {
    ranks: [u32; WINDOW],
    /// What a token and the next one merge into, as [`ordered`] says.
    pairs: [i32; WINDOW],
    next: [u16; WINDOW],
    before: [u16; WINDOW],
    length: usize,
    /// How many tokens there are.
    pub(crate) live: usize,
}

impl<const WINDOW: usize> Tokens<WINDOW> {
    /// The tokens of a piece of at least one byte; of a longer one than `WINDOW` those of its beginning.
    #[inline]
    pub(crate) fn merged(piece: &[u8], vocabulary: &Vocabulary) -> Self {
        let piece = piece.get(..WINDOW).unwrap_or(piece);
        let mut tokens = Self::of(piece, vocabulary);
        while let Some((rank, place)) = tokens.lowest() {
            tokens.merge(rank, place, &vocabulary.merges);
        }
        tokens
    }

    #[inline]
    fn of(piece: &[u8], vocabulary: &Vocabulary) -> Self {
        let mut tokens = Self {
            ranks: [0; WINDOW],
            pairs: [NO_PAIR; WINDOW],
            next: const { following::<WINDOW>() },
            before: const { preceding::<WINDOW>() },
            length: piece.len(),
            live: piece.len(),
        };
        for (rank, byte) in tokens.ranks.iter_mut().zip(piece) {
            *rank = vocabulary.bytes[usize::from(*byte)];
        }
        for (place, (pair, two)) in tokens.pairs.iter_mut().zip(piece.windows(2)).enumerate() {
            *pair = ordered(vocabulary.merges.get_bytes(two[0], two[1]), place);
        }
        tokens
    }

    /// The pair that merges next: its rank, and where it begins.
    #[inline]
    fn lowest(&self) -> Option<(u32, usize)> {
        let (eights, _) = self.pairs.as_chunks::<8>();
        let mut lanes = [NO_PAIR; 8];
        for eight in eights.iter().take(self.length.div_ceil(8)) {
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
            let Some(before) = self.before.get_mut(next).filter(|_| next < self.length) else { break };
            *before = short(last);
            if rank_of(self.pairs[next]) != rank {
                break;
            }
            last = next;
        }
        let mut at = usize::from(self.before[place]);
        while at <= last {
            let next = self.after(at);
            self.pairs[at] = match self.ranks.get(next).filter(|_| next < self.length) {
                Some(right) => ordered(merges.get(self.ranks[at], *right), at),
                None => NO_PAIR,
            };
            at = next;
        }
    }

    /// Where the token after the one at a place begins: the length if there is none.
    #[inline]
    fn after(&self, place: usize) -> usize {
        usize::from(self.next[place & (WINDOW - 1)])
    }

    /// The places of tokens from one of them on, with the number of tokens that were passed.
    pub(crate) fn walk(&self, first: usize) -> impl Iterator<Item = (usize, usize)> {
        let mut at = first;
        std::iter::from_fn(move || {
            let here = at;
            (here < self.length).then(|| at = self.after(here)).map(|()| here)
        })
        .enumerate()
    }

    /// The first token from a place on that `next`, whose bytes begin at that place, has too: where it begins there,
    /// and how many tokens from the place on are before it.
    pub(crate) fn common(&self, place: usize, next: &Self) -> Option<(usize, usize)> {
        let mut others = next.walk(0).map(|(_, at)| at).peekable();
        self.walk(place).find_map(|(passed, at)| {
            while others.next_if(|other| other + place < at).is_some() {}
            let here = others.next_if(|other| other + place == at)?;
            (next.after(here) + place == self.after(at)).then_some((here, passed))
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
