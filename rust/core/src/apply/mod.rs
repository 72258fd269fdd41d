//! Changes of blocks (add, update, delete) as minimal text edits: what is not changed stays byte for byte.

mod document;
mod edit;
mod formatting;
mod plan;
mod replacements;

use std::collections::{HashMap, HashSet};

use crate::blocks::Sections;
use crate::error::{ChangeReason, Error};
use document::{BlockRange, Document};
use plan::Plan;

pub use edit::{Edit, apply_edits};

/// The id of a block at bytes `start..end`; it may span several blocks of [`crate::blocks::parse`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BlockId<'t> {
    /// The id, which is not in the text.
    pub id: &'t str,
    /// The first byte.
    pub start: usize,
    /// The byte after the last.
    pub end: usize,
}

/// The position of an added block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place<'t> {
    /// After the block of this id, or where it was if it is deleted.
    After(&'t str),
    /// At the end of the first section whose heading has this text, before the next heading.
    Under(&'t str),
    /// At the end of the document, before its trailing blank lines.
    End,
}

/// A change of a document; its text is the markdown of one block.
///
/// Line endings become those of the document, blank lines around the text are dropped, and a list item takes the marker
/// and indentation of the block that it replaces or follows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change<'t> {
    /// Add a block; several at one position keep the order of the changes.
    Add {
        /// Its position.
        place: Place<'t>,
        /// Its markdown.
        text: &'t str,
    },
    /// Replace the text of a block.
    Update {
        /// The block's id.
        id: &'t str,
        /// Its new markdown.
        text: &'t str,
    },
    /// Delete a block.
    Delete {
        /// The block's id.
        id: &'t str,
    },
}

impl<'t> Change<'t> {
    /// Build a change from the name of its kind, the id or heading that it refers to, and its text.
    ///
    /// The kinds are `add_after`, `add_under`, `add_end`, `update` and `delete`.
    ///
    /// # Errors
    /// There is no such kind.
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

    /// Return the id that must exist for this change.
    fn id(&self) -> Option<&'t str> {
        match self {
            Self::Add { place: Place::After(id), .. } | Self::Update { id, .. } | Self::Delete { id } => Some(id),
            Self::Add { .. } => None,
        }
    }
}

/// The result of changes to a document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Applied {
    /// The edits of the document, ascending and without overlap.
    pub edits: Vec<Edit>,
    /// The document after the edits.
    pub document: String,
    /// The edits that restore the old document byte for byte, for [`apply_edits`].
    pub inverse: Vec<Edit>,
}

/// Apply changes to a document whose blocks have the ids in `block_ids`.
///
/// Every byte outside the changed blocks stays as it is; where a deleted block separated two paragraphs, a blank line
/// stays. Time is linear in the sizes of the document and the changes.
///
/// # Errors
/// The document is not UTF-8, `block_ids` does not fit it, or the changes are invalid: see [`ChangeReason`].
/// All ids that are wrong for the same reason are named, and nothing is changed.
pub fn apply_changes(
    document: &[u8],
    sections: Sections,
    block_ids: &[BlockId<'_>],
    changes: &[Change<'_>],
) -> Result<Applied, Error> {
    let document = Document::read(document, sections)?;
    let ranges = document.ranges(block_ids)?;
    validate(&document, &ranges, changes)?;
    let plan = Plan::of(&document, &ranges, changes)?;
    let edits = plan.edits(&document);
    let after = plan.compose(&document);
    plan.verify(&document, &after)?;
    Ok(Applied { inverse: edit::inverse(&edits), edits, document: after })
}

/// Validate that every id and heading exists and that no block is changed twice.
fn validate(document: &Document<'_>, ranges: &HashMap<&str, BlockRange>, changes: &[Change<'_>]) -> Result<(), Error> {
    let mut ids_so_far = HashSet::new();
    let mut unknown = Vec::new();
    let mut changed_twice = Vec::new();
    let mut headings = Vec::new();
    for change in changes {
        if let Some(id) = change.id().filter(|id| !ranges.contains_key(id)) {
            unknown.push(id);
        }
        match change {
            Change::Update { id, .. } | Change::Delete { id } if !ids_so_far.insert(*id) => changed_twice.push(*id),
            Change::Add { place: Place::Under(text), .. } if document.heading(text).is_none() => headings.push(*text),
            _ => {}
        }
    }
    reject_if_any(ChangeReason::UnknownId, &unknown)?;
    reject_if_any(ChangeReason::ChangedTwice, &changed_twice)?;
    reject_if_any(ChangeReason::UnknownHeading, &headings)
}

/// Return an error that names each of these once, if there are any.
fn reject_if_any(reason: ChangeReason, names: &[&str]) -> Result<(), Error> {
    let mut unique = HashSet::new();
    let names: Vec<String> = names.iter().filter(|name| unique.insert(**name)).map(ToString::to_string).collect();
    if names.is_empty() { Ok(()) } else { Err(Error::change(reason, names)) }
}
