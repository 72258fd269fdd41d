//! Text edits: minimal replacements, their inverse, and their application.

use crate::error::{ChangeReason, Error};

/// An edit that replaces `old` at byte `start` by `new`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edit {
    /// Byte offset in the text that the edit is applied to.
    pub start: usize,
    /// The text that must be there; empty for an insertion.
    pub old: String,
    /// The replacement; empty for a deletion.
    pub new: String,
}

impl Edit {
    /// Return the offset behind the replaced text.
    #[must_use]
    pub fn end(&self) -> usize {
        self.start + self.old.len()
    }

    /// Return the edit that turns `text[start..end]` into `new`, without their common prefix and suffix; None if equal.
    pub(super) fn minimal(text: &str, start: usize, end: usize, new: &str) -> Option<Self> {
        let old = &text[start..end];
        let head: usize = old.chars().zip(new.chars()).take_while(|(a, b)| a == b).map(|(a, _)| a.len_utf8()).sum();
        let (old, new) = (&old[head..], &new[head..]);
        let backwards = old.chars().rev().zip(new.chars().rev());
        let tail: usize = backwards.take_while(|(a, b)| a == b).map(|(a, _)| a.len_utf8()).sum();
        let (old, new) = (&old[..old.len() - tail], &new[..new.len() - tail]);
        (old != new).then(|| Self { start: start + head, old: old.to_owned(), new: new.to_owned() })
    }
}

/// Return the edits that undo `edits`, with offsets in the text that they result in.
pub(super) fn inverse(edits: &[Edit]) -> Vec<Edit> {
    let (mut added, mut removed) = (0, 0);
    let mut inverse_of = |edit: &Edit| {
        let start = edit.start + added - removed;
        added += edit.new.len();
        removed += edit.old.len();
        Edit { start, old: edit.new.clone(), new: edit.old.clone() }
    };
    edits.iter().map(&mut inverse_of).collect()
}

/// Apply edits, which are ascending and do not overlap, to a document; each must find its old text.
///
/// # Errors
/// The document is not UTF-8, or an edit does not find its old text: all such edits are named by their index,
/// and nothing is changed.
pub fn apply_edits(document: &[u8], edits: &[Edit]) -> Result<String, Error> {
    let text = std::str::from_utf8(document).map_err(|error| Error::NotUtf8 { offset: error.valid_up_to() })?;
    let mut at = 0;
    let mut stale = Vec::new();
    let mut result = String::with_capacity(text.len() + edits.iter().map(|edit| edit.new.len()).sum::<usize>());
    for (index, edit) in edits.iter().enumerate() {
        let unchanged = text.get(at..edit.start).filter(|_| edit.start >= at);
        let matches = text.get(edit.start..).is_some_and(|rest| rest.starts_with(&edit.old));
        let Some(unchanged) = unchanged.filter(|_| matches) else {
            stale.push(index.to_string());
            continue;
        };
        result.push_str(unchanged);
        result.push_str(&edit.new);
        at = edit.end();
    }
    result.push_str(&text[at..]);
    if stale.is_empty() { Ok(result) } else { Err(Error::change(ChangeReason::StaleEdit, stale)) }
}
