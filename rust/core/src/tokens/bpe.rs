//! Byte-pair encoding of one piece: always the pair of lowest rank is merged, the leftmost among equals.

use crate::tokens::heap_merge;
use crate::tokens::vocabulary::Vocabulary;
use crate::tokens::window_merge::WindowTokens;

/// Window sizes in bytes: narrow for nearly all pieces, wide where a piece has tokens that are too long for it.
const NARROW: usize = 64;
const WIDE: usize = 512;

/// Count the tokens of a piece.
pub(crate) fn count(piece: &[u8], vocabulary: &Vocabulary) -> usize {
    if piece.len() <= NARROW {
        return WindowTokens::<NARROW>::merge_all(piece, vocabulary).live;
    }
    count_windowed::<NARROW>(piece, vocabulary)
        .or_else(|| count_windowed::<WIDE>(piece, vocabulary))
        .unwrap_or_else(|| heap_merge::count(piece, vocabulary))
}

/// Count the tokens of a long piece by windows that overlap, or return None if two of them have no token in common.
///
/// This is exact. A list of tokens is what merging makes of their bytes if that holds for each two neighbours: the
/// first merge across a border between tokens would happen just so to the two tokens beside it alone, since until then
/// nothing but their own bytes took part in forming them. And each two neighbours of such a list are what merging makes
/// of their bytes, for the same reason. Where two windows have a token in common, the tokens of the first up to it and
/// those of the second from it on are a list in which each two neighbours are neighbours in one of the windows.
fn count_windowed<const WINDOW: usize>(piece: &[u8], vocabulary: &Vocabulary) -> Option<usize> {
    // The last third of a window may still change with the bytes behind it; the next window covers it again.
    let reliable = WINDOW - WINDOW / 3;
    let (mut start, mut first, mut total) = (0, 0, 0);
    let mut tokens = WindowTokens::<WINDOW>::merge_all(&piece[..piece.len().min(WINDOW)], vocabulary);
    while start + WINDOW < piece.len() {
        let (boundary, before) =
            tokens.walk(first).enumerate().find_map(|(count, (at, _))| (at >= reliable).then_some((at, count)))?;
        let current = &piece[start..start + WINDOW];
        start += boundary;
        let bytes = &piece[start..piece.len().min(start + WINDOW)];
        // Repetitive text (a long line of `=`) has equal windows, which are merged once.
        let next = (bytes != current).then(|| WindowTokens::<WINDOW>::merge_all(bytes, vocabulary));
        let (common, after) = tokens.common(boundary, next.as_ref().unwrap_or(&tokens))?;
        total += before + after;
        first = common;
        tokens = next.unwrap_or(tokens);
    }
    Some(total + tokens.walk(first).count())
}
