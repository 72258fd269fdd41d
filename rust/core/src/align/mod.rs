//! Which block of a new text is which block of the old one, so that identity survives an edit.
//!
//! First the blocks whose bytes are the same, then those that differ only in line endings and trailing white space:
//! a text that occurs once on both sides is paired wherever it stands (a move), copies are told apart by what stands
//! beside them (P. Heckel, "A technique for isolating differences between files", CACM 21(4), 1978), and what is left
//! by where they would stand if nothing had moved. Then edited blocks, by the words they share and by their place.
//! Time grows with the size of the input, whatever the input is.

mod exact;
mod index;
mod nearby;
mod pairing;
mod similar;
mod text_interner;
mod words;

use std::borrow::Cow;

use crate::error::{ChangeReason, Error};
use pairing::Pairing;
use text_interner::TextInterner;

/// A block as it was, under the id that it has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OldBlock<'t> {
    /// Its identity.
    pub id: &'t str,
    /// Its bytes in the document, or any other form that the new blocks have as well.
    pub text: &'t [u8],
}

/// What became of the old blocks; indices into the old list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Alignment {
    /// For each new block, the old block that it carries on; none for a block that is new.
    pub carried: Vec<Option<usize>>,
    /// The old blocks that nothing carries on, in order.
    pub gone: Vec<usize>,
}

/// Says for each new block which old one it carries on. No old block is carried on twice, and the same input always has
/// the same answer. Equal blocks are found first, so that a block whose bytes are unchanged and unique keeps its id
/// wherever it stands; of several copies those keep the ids whose neighbours did.
#[must_use]
pub fn align(old: &[OldBlock<'_>], new: &[&[u8]]) -> Alignment {
    let mut pairing = Pairing::new(old.len(), new.len());
    // Most documents are unchanged, or longer or shorter at their end.
    if old.iter().zip(new).all(|(old, new)| old.text == *new) {
        for index in 0..old.len().min(new.len()) {
            pairing.join(index, index);
        }
        return pairing.finish();
    }
    exact::pair(&mut pairing, |index| Cow::Borrowed(old[index].text), |index| Cow::Borrowed(new[index]));
    if pairing.is_open() {
        exact::pair(&mut pairing, |index| words::folded(old[index].text), |index| words::folded(new[index]));
    }
    if pairing.is_open() {
        similar::pair(&mut pairing, old, new);
    }
    pairing.finish()
}

/// [`align`], for blocks that come from outside.
///
/// # Errors
/// Two old blocks have the same id: all such ids are named.
pub fn align_checked(old: &[OldBlock<'_>], new: &[&[u8]]) -> Result<Alignment, Error> {
    let mut seen = TextInterner::with_capacity(old.len());
    let ids = old.iter().map(|block| block.id);
    let twice: Vec<String> =
        ids.filter(|id| !seen.insert(Cow::Borrowed(id.as_bytes()))).map(ToOwned::to_owned).collect();
    if twice.is_empty() { Ok(align(old, new)) } else { Err(Error::change(ChangeReason::DuplicateId, twice)) }
}
