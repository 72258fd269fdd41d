//! Walks over a text piece by piece and adds up their tokens, many pieces of ASCII text at a time.

use crate::tokens::ascii::WIDTH;
use crate::tokens::batch::Batch;
use crate::tokens::key::Key;
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
pub(crate) struct Counter<'t> {
    pub(crate) text: &'t str,
    pub(crate) pattern: Pattern,
    pub(crate) vocabulary: &'static Vocabulary,
    pub(crate) limit: usize,
}

impl Counter<'_> {
    /// The tokens of the text, or where it passes its limit.
    pub(crate) fn pass(&self, memo: &mut Memo) -> Result<usize, Passed> {
        let text = self.text.as_bytes();
        let (mut batch, mut at, mut total) = (Batch::new(), 0, 0);
        while at < text.len() {
            at = self.window(at, &mut batch, memo).unwrap_or_else(|| self.piece(at, &mut batch, memo));
            if batch.is_enough() || at >= text.len() {
                let start = batch.start();
                let tokens = batch.tokens(text, memo, self.vocabulary);
                if total + tokens > self.limit {
                    return Err(self.passed(start, total));
                }
                total += tokens;
            }
        }
        Ok(total)
    }

    /// Looks for the piece in which the limit is passed, from a place not far before it.
    fn passed(&self, at: usize, mut before: usize) -> Passed {
        for (start, end) in Pieces::from(self.text, at, self.pattern) {
            let tokens = merge::count(&self.text.as_bytes()[start..end], self.vocabulary);
            if before + tokens > self.limit {
                return Passed { start, end, before };
            }
            before += tokens;
        }
        Passed { start: self.text.len(), end: self.text.len(), before }
    }

    /// Adds the whole pieces in the ASCII text that begins at a place; their end, if there are any.
    #[inline]
    fn window(&self, at: usize, batch: &mut Batch, memo: &Memo) -> Option<usize> {
        let rest = &self.text.as_bytes()[at..];
        if let Some(reach) = rest.first_chunk::<REACH>() {
            return if reach[..8].is_ascii() { self.pieces(at, reach, WIDTH, batch, memo) } else { None };
        }
        let mut reach = [0; REACH];
        reach[..rest.len()].copy_from_slice(rest);
        self.pieces(at, &reach, rest.len().min(WIDTH), batch, memo)
    }

    #[inline]
    fn pieces(&self, at: usize, reach: &[u8; REACH], known: usize, batch: &mut Batch, memo: &Memo) -> Option<usize> {
        let mut start = 0;
        let mut ends = starts(reach.first_chunk()?, known, self.pattern) & !1;
        while ends != 0 {
            let end = ends.trailing_zeros() as usize & (WIDTH - 1);
            ends &= ends - 1;
            batch.push(Key::of_window(*reach[start..].first_chunk()?, end - start), at + end, memo);
            start = end;
        }
        (start > 0).then_some(at + start)
    }

    /// Adds one piece of any kind; its end.
    fn piece(&self, at: usize, batch: &mut Batch, memo: &Memo) -> usize {
        let end = Pieces::from(self.text, at, self.pattern).next().map_or(self.text.len(), |(_, end)| end);
        batch.push(Key::at(self.text.as_bytes(), at, end), end, memo);
        end
    }
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use crate::tokens::{Encoding, heap};

    use super::*;

    /// What windows, tables and shortcuts might take wrongly, in long runs and side by side.
    fn text() -> impl Strategy<Value = String> {
        let piece = prop_oneof![
            4 => "[a-zA-Z]{1,9}",
            2 => "[ \\t\\r\\n\\x0b\\x0c]{1,6}",
            2 => "[!-/:-@\\[-`{-~]{1,5}",
            1 => "[0-9]{1,9}",
            2 => "'(s|S|t|re|VE|ll|lL|d|m|x|'|\u{17f})",
            1 => "[!;]\n{1,3}/{0,2}",
            1 => "[\u{400}-\u{44f}]{1,9}|[\u{4e00}-\u{5200}]{1,30}|[\u{900}-\u{97f}]{1,9}|[\u{e01}-\u{e4e}]{1,30}",
            1 => "[\u{1f300}-\u{1f64f}\u{200d}\u{fe0f}\u{301}\u{a0}\u{3000}\u{ff10}\u{2167}]{1,4}",
            1 => "(a{1,90}|={1,200}| {1,200}|(ab){1,90}|\u{4e2d}{1,40})",
            1 => "\\PC{1,6}",
        ];
        vec(piece, 0..40).prop_map(|pieces| pieces.concat())
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 2048, failure_persistence: None, ..ProptestConfig::default() })]

        /// The quick way comes to what splitting character by character and merging in a heap come to.
        #[test]
        fn a_text_is_counted_as_its_pieces_are(text in text()) {
            for name in crate::tokens::ENCODINGS {
                let encoding = Encoding::named(name).unwrap();
                let pieces = Pieces::from(&text, 0, encoding.pattern);
                let slowly: usize =
                    pieces.map(|(start, end)| heap::count(&text.as_bytes()[start..end], encoding.vocabulary)).sum();
                prop_assert_eq!(encoding.count(&text), slowly);
                prop_assert_eq!(encoding.count(&text), slowly, "a second time");
            }
        }
    }
}
