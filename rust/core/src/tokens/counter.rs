//! Walks over a text piece by piece and adds up their tokens, many pieces of ASCII text at a time.

use crate::tokens::ascii::WIDTH;
use crate::tokens::key::{KEY_BYTES, Key};
use crate::tokens::memo::Memo;
use crate::tokens::merge;
use crate::tokens::split::{Pattern, Pieces};
use crate::tokens::starts::starts;
use crate::tokens::vocabulary::Vocabulary;

/// A window of ASCII text, and after it what the key of its last piece may reach into.
const REACH: usize = WIDTH + 16;

/// The piece in which a text comes to have more tokens than its limit, and the tokens before it.
pub(crate) struct Passed {
    pub(crate) start: usize,
    pub(crate) end: usize,
    pub(crate) before: usize,
}

/// All that one walk over a text needs.
pub(crate) struct Counter<'t, 'm> {
    pub(crate) text: &'t str,
    pub(crate) pattern: Pattern,
    pub(crate) vocabulary: &'static Vocabulary,
    pub(crate) memo: &'m mut Memo,
    pub(crate) limit: usize,
}

impl Counter<'_, '_> {
    /// The tokens of the text, or where it passes its limit.
    pub(crate) fn pass(mut self) -> Result<usize, Passed> {
        let (mut at, mut total) = (0, 0);
        while at < self.text.len() {
            let (length, tokens) = self.window(at);
            if total + tokens > self.limit {
                break;
            }
            total += tokens;
            at += length;
            if length == 0 {
                let Some((start, end)) = Pieces::from(self.text, at, self.pattern).next() else { break };
                let tokens = self.piece(start, end);
                if total + tokens > self.limit {
                    return Err(Passed { start, end, before: total });
                }
                total += tokens;
                at = end;
            }
        }
        if at < self.text.len() { Err(self.passed(at, total)) } else { Ok(total) }
    }

    /// Looks for the piece in which the limit is passed, from a place not far before it.
    fn passed(&mut self, at: usize, mut before: usize) -> Passed {
        for (start, end) in Pieces::from(self.text, at, self.pattern) {
            let tokens = self.piece(start, end);
            if before + tokens > self.limit {
                return Passed { start, end, before };
            }
            before += tokens;
        }
        Passed { start: self.text.len(), end: self.text.len(), before }
    }

    /// The length and the tokens of the whole pieces in the ASCII text that begins at a place; 0 if there are none.
    #[inline]
    fn window(&mut self, at: usize) -> (usize, usize) {
        let rest = &self.text.as_bytes()[at..];
        if let Some(reach) = rest.first_chunk::<REACH>() {
            return if reach[..8].is_ascii() { self.pieces(reach, WIDTH) } else { (0, 0) };
        }
        let mut reach = [0; REACH];
        reach[..rest.len()].copy_from_slice(rest);
        self.pieces(&reach, rest.len().min(WIDTH))
    }

    #[inline]
    fn pieces(&mut self, reach: &[u8; REACH], known: usize) -> (usize, usize) {
        let Some(window) = reach.first_chunk::<WIDTH>() else { return (0, 0) };
        let starts = starts(window, known, self.pattern);
        let (mut start, mut tokens) = (0, 0);
        let mut ends = starts & !1;
        while ends != 0 {
            let end = ends.trailing_zeros() as usize & (WIDTH - 1);
            ends &= ends - 1;
            let length = end - start;
            let key = reach[start..].first_chunk::<16>().filter(|_| length <= KEY_BYTES);
            tokens += match key {
                Some(bytes) => self.short(Key::of_window(*bytes, length), &reach[start..end]),
                None => self.long(&reach[start..end]),
            };
            start = end;
        }
        (start, tokens)
    }

    /// The tokens of one piece of any kind.
    fn piece(&mut self, start: usize, end: usize) -> usize {
        let text = self.text.as_bytes();
        match Key::at(text, start, end) {
            Some(key) => self.short(key, &text[start..end]),
            None => self.long(&text[start..end]),
        }
    }

    #[inline]
    fn short(&mut self, key: Key, piece: &[u8]) -> usize {
        let vocabulary = self.vocabulary;
        self.memo.short(key, || if vocabulary.whole.contains(key) { 1 } else { merge::count(piece, vocabulary) })
    }

    fn long(&mut self, piece: &[u8]) -> usize {
        let vocabulary = self.vocabulary;
        self.memo.long(piece, || merge::count(piece, vocabulary))
    }
}
