//! Merges the bytes of one piece into tokens: always the pair of lowest rank, the leftmost among equals.

use crate::tokens::heap;
use crate::tokens::vocabulary::Vocabulary;
use crate::tokens::window::Tokens;

/// Bytes that are merged at once in nearly all pieces, and where a piece has tokens that are too long for that.
const NARROW: usize = 64;
const WIDE: usize = 512;

/// How many tokens a piece has.
pub(crate) fn count(piece: &[u8], vocabulary: &Vocabulary) -> usize {
    if piece.len() <= NARROW {
        return Tokens::<NARROW>::merged(piece, vocabulary).live;
    }
    windowed::<NARROW>(piece, vocabulary)
        .or_else(|| windowed::<WIDE>(piece, vocabulary))
        .unwrap_or_else(|| heap::count(piece, vocabulary))
}

/// The lengths in bytes of a piece's tokens, in order.
pub(crate) fn lengths(piece: &[u8], vocabulary: &Vocabulary) -> Vec<usize> {
    heap::lengths(piece, vocabulary)
}

/// The tokens of a long piece by way of windows that overlap, if each two of them have a token in common.
///
/// This is exact. A list of tokens is what merging makes of their bytes if that holds for each two neighbours: the
/// first merge across a border between tokens would happen just so to the two tokens beside it alone, since until then
/// nothing but their own bytes had a part in what was made of them. And each two neighbours of such a list are what
/// merging makes of their bytes, for the same reason. Where two windows have a token in common, the tokens of the first
/// up to it and those of the second from it on are a list in which each two neighbours are neighbours in one of the
/// windows.
fn windowed<const WINDOW: usize>(piece: &[u8], vocabulary: &Vocabulary) -> Option<usize> {
    // What a window that is not the last finds in its last third is found again by the next one.
    let kept = WINDOW - WINDOW / 3;
    let (mut start, mut first, mut total) = (0, 0, 0);
    let mut tokens = Tokens::<WINDOW>::merged(&piece[..piece.len().min(WINDOW)], vocabulary);
    while start + WINDOW < piece.len() {
        let (given_up, before) =
            tokens.walk(first).enumerate().find_map(|(count, (at, _))| (at >= kept).then_some((at, count)))?;
        let past = &piece[start..start + WINDOW];
        start += given_up;
        let bytes = &piece[start..piece.len().min(start + WINDOW)];
        // What repeats itself is merged once.
        let next = (bytes != past).then(|| Tokens::<WINDOW>::merged(bytes, vocabulary));
        let (common, after) = tokens.common(given_up, next.as_ref().unwrap_or(&tokens))?;
        total += before + after;
        first = common;
        tokens = next.unwrap_or(tokens);
    }
    Some(total + tokens.walk(first).count())
}
