//! Changes of blocks as the smallest edits of their document: whatever is not changed stays byte for byte.

mod adding;
mod document;
mod draft;
mod drafts;
mod edit;
mod render;

use std::collections::{HashMap, HashSet};

use crate::blocks::Sections;
use crate::error::{ChangeReason, Error};
use document::{Document, Spot};
use drafts::Drafts;

pub use edit::{Edit, apply_edits};

/// A block of the document under its id, as bytes `start..end`; it may hold several blocks of [`crate::blocks::parse`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Held<'t> {
    /// Its identity, which is not in the text.
    pub id: &'t str,
    /// Its first byte.
    pub start: usize,
    /// The byte after its last.
    pub end: usize,
}

/// Where a new block goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place<'t> {
    /// Behind the block of this id, or where it was if it is deleted.
    After(&'t str),
    /// Behind everything under the first heading that says this, up to the next heading.
    Under(&'t str),
    /// Behind everything, before the empty lines at the end.
    End,
}

/// One change; its text is the markdown of one block. Line endings become those of the document, empty lines around the
/// text are left out, and an item takes the mark and the indentation of the block that it replaces or follows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change<'t> {
    /// A new block; those of one place stand in the order of the changes.
    Add {
        /// Where it goes.
        place: Place<'t>,
        /// What it says.
        text: &'t str,
    },
    /// Another text for a block.
    Update {
        /// Which block.
        id: &'t str,
        /// What it says now.
        text: &'t str,
    },
    /// A block goes.
    Delete {
        /// Which block.
        id: &'t str,
    },
}

impl<'t> Change<'t> {
    /// A change from its word (`add_after`, `add_under`, `add_end`, `update`, `delete`), the id or heading that it
    /// names and its text.
    ///
    /// # Errors
    /// There is no such word.
    pub fn named(word: &str, target: &'t str, text: &'t str) -> Result<Self, Error> {
        let add = |place| Self::Add { place, text };
        match word {
            "add_after" => Ok(add(Place::After(target))),
            "add_under" => Ok(add(Place::Under(target))),
            "add_end" => Ok(add(Place::End)),
            "update" => Ok(Self::Update { id: target, text }),
            "delete" => Ok(Self::Delete { id: target }),
            _ => Err(Error::change(ChangeReason::UnknownChange, vec![word.to_owned()])),
        }
    }

    /// The id that must be there.
    fn id(&self) -> Option<&'t str> {
        match self {
            Self::Add { place: Place::After(id), .. } | Self::Update { id, .. } | Self::Delete { id } => Some(id),
            Self::Add { .. } => None,
        }
    }
}

/// What changes do to a document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Applied {
    /// The edits of the document, in order and apart.
    pub edits: Vec<Edit>,
    /// The document after them.
    pub document: String,
    /// The edits that [`apply_edits`] turns that document back with, byte for byte.
    pub inverse: Vec<Edit>,
}

/// Applies changes to a document whose `held` blocks have ids. Every byte outside the changed blocks stays as it is;
/// where a deleted block parted two paragraphs, an empty line stays. Time is linear in the sizes of the document and
/// the changes.
///
/// # Errors
/// The document is not UTF-8, `held` does not fit it, or the changes cannot all be meant: see [`ChangeReason`]. All ids
/// that are wrong for the same reason are named, and nothing is changed.
pub fn apply_changes(
    document: &[u8],
    sections: Sections,
    held: &[Held<'_>],
    changes: &[Change<'_>],
) -> Result<Applied, Error> {
    let document = Document::read(document, sections)?;
    let spots = document.spots(held)?;
    check(&document, &spots, changes)?;
    let drafts = Drafts::of(&document, &spots, changes)?;
    let edits = drafts.edits(&document);
    let after = drafts.composed(&document);
    drafts.check(&document, &after)?;
    Ok(Applied { inverse: edit::inverse(&edits), edits, document: after })
}

/// Whether every id and heading is there, and no block is changed twice.
fn check(document: &Document<'_>, spots: &HashMap<&str, Spot>, changes: &[Change<'_>]) -> Result<(), Error> {
    let mut seen = HashSet::new();
    let mut unknown = Vec::new();
    let mut twice = Vec::new();
    let mut headings = Vec::new();
    for change in changes {
        if let Some(id) = change.id().filter(|id| !spots.contains_key(id)) {
            unknown.push(id);
        }
        match change {
            Change::Update { id, .. } | Change::Delete { id } if !seen.insert(*id) => twice.push(*id),
            Change::Add { place: Place::Under(text), .. } if document.heading(text).is_none() => headings.push(*text),
            _ => {}
        }
    }
    refuse_any(ChangeReason::UnknownId, &unknown)?;
    refuse_any(ChangeReason::ChangedTwice, &twice)?;
    refuse_any(ChangeReason::UnknownHeading, &headings)
}

/// A refusal that names each of these once, if there are any.
fn refuse_any(reason: ChangeReason, names: &[&str]) -> Result<(), Error> {
    let mut seen = HashSet::new();
    let names: Vec<String> = names.iter().filter(|name| seen.insert(**name)).map(ToString::to_string).collect();
    if names.is_empty() { Ok(()) } else { Err(Error::change(reason, names)) }
}
