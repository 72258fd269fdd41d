//! Pieces that are looked up together, so that the waits for memory overlap.

use crate::tokens::key::Key;
use crate::tokens::memo::Memo;
use crate::tokens::merge;
use crate::tokens::vocabulary::Vocabulary;

/// Pieces that there is room for, and from how many on they are looked up: a window of text adds up to 64.
const ROOM: usize = 128;
const ENOUGH: usize = 64;

/// Consecutive pieces of a text.
pub(crate) struct Batch {
    keys: [Key; ROOM],
    /// Where the memo might have each piece.
    places: [usize; ROOM],
    /// Where each piece begins, and where the last one ends.
    bounds: [usize; ROOM + 1],
    count: usize,
}

impl Batch {
    pub(crate) fn new() -> Self {
        Self { keys: [Key::default(); ROOM], places: [0; ROOM], bounds: [0; ROOM + 1], count: 0 }
    }

    /// Adds the piece that ends there.
    #[inline]
    pub(crate) fn push(&mut self, key: Key, end: usize, memo: &Memo) {
        let place = self.count & (ROOM - 1);
        self.keys[place] = key;
        self.places[place] = memo.announce(key);
        self.bounds[place + 1] = end;
        self.count = place + 1;
    }

    /// Where the first piece begins.
    pub(crate) fn start(&self) -> usize {
        self.bounds[0]
    }

    #[inline]
    pub(crate) fn is_enough(&self) -> bool {
        self.count >= ENOUGH
    }

    /// The tokens of all pieces, which are then gone.
    #[inline]
    pub(crate) fn tokens(&mut self, text: &[u8], memo: &mut Memo, vocabulary: &Vocabulary) -> usize {
        let count = self.count.min(ROOM);
        let (mut total, mut unknown, mut missed) = (0, [0_u8; ROOM], 0);
        for (place, (key, at)) in (0..).zip(self.keys[..count].iter().zip(&self.places)) {
            let tokens = memo.at(*at, *key);
            total += tokens;
            unknown[missed & (ROOM - 1)] = place;
            missed += usize::from(tokens == 0);
        }
        for place in &unknown[..missed.min(ROOM)] {
            vocabulary.whole.announce(self.keys[usize::from(*place)]);
        }
        for place in &unknown[..missed.min(ROOM)] {
            let place = usize::from(*place);
            total += piece(&text[self.bounds[place]..self.bounds[place + 1]], self.keys[place], memo, vocabulary);
        }
        self.bounds[0] = self.bounds[count];
        self.count = 0;
        total
    }
}

/// The tokens of a piece that was not remembered when it was first looked for, or that is too long for a key.
fn piece(piece: &[u8], key: Key, memo: &mut Memo, vocabulary: &Vocabulary) -> usize {
    let known = if key == Key::LONG { memo.long(piece) } else { memo.short(key) };
    if known > 0 {
        return known;
    }
    if key == Key::LONG {
        let tokens = merge::count(piece, vocabulary);
        memo.remember_long(piece, tokens);
        return tokens;
    }
    let tokens = if vocabulary.whole.contains(key) { 1 } else { merge::count(piece, vocabulary) };
    memo.remember(key, tokens);
    tokens
}
