//! Edits of a text: what stands where, and what shall stand there instead.

use crate::error::{ChangeReason, Error};

/// Replaces `old` at byte `start` by `new`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edit {
    /// The first byte, in the text that the edit is applied to.
    pub start: usize,
    /// What stands there; empty where something is inserted.
    pub old: String,
    /// What replaces it; empty where something is deleted.
    pub new: String,
}

impl Edit {
    /// The byte after what is replaced.
    #[must_use]
    pub fn end(&self) -> usize {
        self.start + self.old.len()
    }

    /// The edit that turns `text[start..end]` into `new` and leaves alone what both have at the beginning and the end;
    /// none if they are equal.
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

/// The edits that undo these, in the text that these make.
pub(super) fn inverse(edits: &[Edit]) -> Vec<Edit> {
    let (mut added, mut removed) = (0, 0);
    let mut undone = |edit: &Edit| {
        let start = edit.start + added - removed;
        added += edit.new.len();
        removed += edit.old.len();
        Edit { start, old: edit.new.clone(), new: edit.old.clone() }
    };
    edits.iter().map(&mut undone).collect()
}

/// The document with edits applied, which are in order and apart; each of them must find what it says.
///
/// # Errors
/// The document is not UTF-8, or an edit does not find its old text: all such edits are named by their index, and
/// nothing is changed.
pub fn apply_edits(document: &[u8], edits: &[Edit]) -> Result<String, Error> {
    let text = std::str::from_utf8(document).map_err(|error| Error::NotUtf8 { offset: error.valid_up_to() })?;
    let mut at = 0;
    let mut wrong = Vec::new();
    let mut result = String::with_capacity(text.len() + edits.iter().map(|edit| edit.new.len()).sum::<usize>());
    for (index, edit) in edits.iter().enumerate() {
        let kept = text.get(at..edit.start).filter(|_| edit.start >= at);
        let found = text.get(edit.start..).is_some_and(|rest| rest.starts_with(&edit.old));
        let Some(kept) = kept.filter(|_| found) else {
            wrong.push(index.to_string());
            continue;
        };
        result.push_str(kept);
        result.push_str(&edit.new);
        at = edit.end();
    }
    result.push_str(&text[at..]);
    if wrong.is_empty() { Ok(result) } else { Err(Error::change(ChangeReason::StaleEdit, wrong)) }
}
