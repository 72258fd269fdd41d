//! Counts the tokens of a text: splits it into pieces and adds up their tokens, 64 bytes of ASCII text at a time.

use crate::tokens::ascii_masks::WIDTH;
use crate::tokens::ascii_splitter::piece_starts;
use crate::tokens::bpe;
use crate::tokens::count_cache::CountCache;
use crate::tokens::piece_batch::Batch;
use crate::tokens::piece_key::PieceKey;
use crate::tokens::pre_tokenizer::{Pattern, Pieces};
use crate::tokens::vocabulary::Vocabulary;

/// A window of ASCII text plus the bytes after it that the key of its last piece reads.
const BUFFER: usize = WIDTH + 16;

/// Where a text exceeds its token limit: the piece in which it does, and the number of tokens before that piece.
pub(crate) struct LimitExceeded {
    pub(crate) start: usize,
    pub(crate) end: usize,
    pub(crate) before: usize,
}

/// The parameters of one count.
pub(crate) struct Counter<'t> {
    pub(crate) text: &'t str,
    pub(crate) pattern: Pattern,
    pub(crate) vocabulary: &'static Vocabulary,
    pub(crate) limit: usize,
}

impl Counter<'_> {
    /// Count the tokens of the text, or return where it exceeds its limit.
    pub(crate) fn count_tokens(&self, cache: &mut CountCache) -> Result<usize, LimitExceeded> {
        let text = self.text.as_bytes();
        let (mut batch, mut at, mut total) = (Batch::new(), 0, 0);
        while at < text.len() {
            at = self.push_window(at, &mut batch, cache).unwrap_or_else(|| self.push_piece(at, &mut batch, cache));
            if batch.is_full() || at >= text.len() {
                let start = batch.start();
                let tokens = batch.count_tokens(text, cache, self.vocabulary);
                if total + tokens > self.limit {
                    return Err(self.locate_limit(start, total));
                }
                total += tokens;
            }
        }
        Ok(total)
    }

    /// Find the piece in which the limit is exceeded, from a piece start shortly before it.
    fn locate_limit(&self, at: usize, mut before: usize) -> LimitExceeded {
        for (start, end) in Pieces::from(self.text, at, self.pattern) {
            let tokens = bpe::count(&self.text.as_bytes()[start..end], self.vocabulary);
            if before + tokens > self.limit {
                return LimitExceeded { start, end, before };
            }
            before += tokens;
        }
        LimitExceeded { start: self.text.len(), end: self.text.len(), before }
    }

    /// Push the complete pieces in the ASCII text that begins at a position; return their end, if there are any.
    #[inline]
    fn push_window(&self, at: usize, batch: &mut Batch, cache: &CountCache) -> Option<usize> {
        let rest = &self.text.as_bytes()[at..];
        if let Some(buffer) = rest.first_chunk::<BUFFER>() {
            return if buffer[..8].is_ascii() { self.push_ascii_pieces(at, buffer, WIDTH, batch, cache) } else { None };
        }
        let mut buffer = [0; BUFFER];
        buffer[..rest.len()].copy_from_slice(rest);
        self.push_ascii_pieces(at, &buffer, rest.len().min(WIDTH), batch, cache)
    }

    /// Push the complete pieces of a buffer of which `valid` bytes are text; return their end, if there are any.
    #[inline]
    fn push_ascii_pieces(
        &self,
        at: usize,
        buffer: &[u8; BUFFER],
        valid: usize,
        batch: &mut Batch,
        cache: &CountCache,
    ) -> Option<usize> {
        let mut start = 0;
        let mut ends = piece_starts(buffer.first_chunk()?, valid, self.pattern) & !1;
        while ends != 0 {
            let end = ends.trailing_zeros() as usize & (WIDTH - 1);
            ends &= ends - 1;
            batch.push(PieceKey::of_window(*buffer[start..].first_chunk()?, end - start), at + end, cache);
            start = end;
        }
        (start > 0).then_some(at + start)
    }

    /// Push one piece of any kind; return its end.
    fn push_piece(&self, at: usize, batch: &mut Batch, cache: &CountCache) -> usize {
        let end = Pieces::from(self.text, at, self.pattern).next().map_or(self.text.len(), |(_, end)| end);
        batch.push(PieceKey::at(self.text.as_bytes(), at, end), end, cache);
        end
    }
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use crate::tokens::{Encoding, heap_merge};

    use super::*;

    /// Texts that are hard for windows, tables and shortcuts, in long runs and side by side.
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

        /// The fast path counts like splitting character by character and merging in a heap.
        #[test]
        fn a_text_is_counted_as_its_pieces_are(text in text()) {
            for name in crate::tokens::ENCODINGS {
                let encoding = Encoding::named(name).unwrap();
                let pieces = Pieces::from(&text, 0, encoding.pattern);
                let reference: usize =
                    pieces.map(|(start, end)| heap_merge::count(&text.as_bytes()[start..end], encoding.vocabulary)).sum();
                prop_assert_eq!(encoding.count(&text), reference);
                prop_assert_eq!(encoding.count(&text), reference, "a second time");
            }
        }
    }
}
