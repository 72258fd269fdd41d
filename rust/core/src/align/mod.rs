//! Alignment of a document's new blocks with its old ones, so that ids survive edits.
//!
//! First the blocks whose bytes are equal, then those that differ only in line endings and trailing white space: a text
//! that is unique on both sides is matched wherever it is (a move), copies are told apart by their neighbours (P.
//! Heckel, "A technique for isolating differences between files", CACM 21(4), 1978), and what is left by where it would
//! be if nothing had moved. Then edited blocks, by the words they share and by their position. Time is close to linear
//! for any input.

mod exact_matches;
mod expected_position;
mod pairing;
mod similar_matches;
mod similarity;

use std::borrow::Cow;

use crate::error::{ChangeReason, Error};
use crate::text_interner::TextInterner;
use pairing::Pairing;

/// An old block with its id.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OldBlock<'t> {
    /// The block's id.
    pub id: &'t str,
    /// Its bytes in the document, or any other form that the new blocks have as well.
    pub text: &'t [u8],
}

/// The result of an alignment; indices into the old list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Alignment {
    /// For each new block, the old block that it continues; None for an added block.
    pub old_of_new: Vec<Option<usize>>,
    /// The old blocks that no new block continues, ascending.
    pub deleted: Vec<usize>,
}

/// Match each new block to the old block that it continues, if any.
///
/// No old block is used twice, and the result is deterministic. Equal blocks are matched first, so that a block whose
/// bytes are unchanged and unique keeps its id wherever it moved; of several copies those keep their ids whose
/// neighbours did.
#[must_use]
pub fn align(old: &[OldBlock<'_>], new: &[&[u8]]) -> Alignment {
    let mut pairing = Pairing::new(old.len(), new.len());
    // Fast path: most documents are unchanged, or only longer or shorter at their end.
    if old.iter().zip(new).all(|(old, new)| old.text == *new) {
        for index in 0..old.len().min(new.len()) {
            pairing.match_pair(index, index);
        }
        return pairing.into_alignment();
    }
    exact_matches::pair(&mut pairing, |index| Cow::Borrowed(old[index].text), |index| Cow::Borrowed(new[index]));
    if pairing.has_unmatched_on_both_sides() {
        exact_matches::pair(
            &mut pairing,
            |index| similarity::normalized(old[index].text),
            |index| similarity::normalized(new[index]),
        );
    }
    if pairing.has_unmatched_on_both_sides() {
        similar_matches::pair(&mut pairing, old, new);
    }
    pairing.into_alignment()
}

/// Align as [`align`] does, after checking that the ids of the old blocks are unique.
///
/// # Errors
/// Two old blocks have the same id: all such ids are named.
pub fn align_checked(old: &[OldBlock<'_>], new: &[&[u8]]) -> Result<Alignment, Error> {
    let mut ids_so_far = TextInterner::with_capacity(old.len());
    let ids = old.iter().map(|block| block.id);
    let duplicates: Vec<String> =
        ids.filter(|id| !ids_so_far.insert(Cow::Borrowed(id.as_bytes()))).map(ToOwned::to_owned).collect();
    if duplicates.is_empty() { Ok(align(old, new)) } else { Err(Error::change(ChangeReason::DuplicateId, duplicates)) }
}
