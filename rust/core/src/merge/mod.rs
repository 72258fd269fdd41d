//! Three-way merge of texts: the changes of both sides since their merge base, with unresolved conflicts as values.
//!
//! Lines are compared first (diff3). Where both sides changed adjacent lines, the markdown blocks there decide:
//! adjacent edits and insertions at one position are both kept; insertions are ordered by what they continue (the same
//! list item, the same list, the same section, a new section), ours before theirs. Two edits of one line are merged
//! word by word if at least one unchanged word separates them. What is left is a [`Conflict`]; the merged text has our
//! side of it.

mod chunk;
mod diff3;
mod doubles;
mod hunk_refinement;
mod insertions;
mod output;
mod word_merge;

use std::ops::Range;

use crate::diff::{Lines, diff, interner_for};

/// The result of a merge.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Merged {
    /// The merged text, with our side of every conflict.
    pub text: String,
    /// The changes of both sides that could not be merged, in order.
    pub conflicts: Vec<Conflict>,
}

/// A conflict. Lines are counted from 0, and ranges are half-open.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Conflict {
    /// The lines in the merge base.
    pub base: Part,
    /// Our version, which the merged text has.
    pub ours: Part,
    /// Their version.
    pub theirs: Part,
    /// The lines of the merged text that have our version.
    pub lines: Range<usize>,
    /// The same in bytes of the merged text.
    pub bytes: Range<usize>,
}

/// A range of lines in one of the three texts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    /// The text, including line endings.
    pub text: String,
    /// The line numbers.
    pub lines: Range<usize>,
}

impl Merged {
    /// A result without conflicts.
    fn clean(text: &str) -> Self {
        Self { text: text.to_owned(), conflicts: Vec::new() }
    }

    /// Return the range of each conflict in the merged text, in characters.
    #[must_use]
    pub fn in_characters(&self) -> Vec<Range<usize>> {
        let (mut bytes, mut characters) = (0, 0);
        let mut until = |to: usize| {
            characters += self.text[bytes..to].chars().count();
            bytes = to;
            characters
        };
        self.conflicts.iter().map(|conflict| until(conflict.bytes.start)..until(conflict.bytes.end)).collect()
    }
}

/// One of the two sides of a merge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Side {
    Ours,
    Theirs,
}

/// The three texts, split into lines.
pub(crate) struct Texts<'t> {
    base: Lines<'t>,
    ours: Lines<'t>,
    theirs: Lines<'t>,
}

impl<'t> Texts<'t> {
    /// Return the text of a side.
    fn side(&self, side: Side) -> &Lines<'t> {
        match side {
            Side::Ours => &self.ours,
            Side::Theirs => &self.theirs,
        }
    }
}

/// Merge what `ours` and `theirs` each changed since `base`.
///
/// Line endings are not compared as part of a line: each line keeps the ending of the side that changed it, and so do
/// the final newline and a byte order mark. Every line that a side added is in the merged text or in a conflict, or was
/// merged by its words.
#[must_use]
pub fn merge3(base: &str, ours: &str, theirs: &str) -> Merged {
    if ours == theirs || base == theirs {
        return Merged::clean(ours);
    }
    if base == ours {
        return Merged::clean(theirs);
    }
    let has_mark = [base, ours, theirs].map(|text| text.starts_with(BYTE_ORDER_MARK));
    let [base, ours, theirs] = [base, ours, theirs].map(|text| text.strip_prefix(BYTE_ORDER_MARK).unwrap_or(text));
    let mut interner = interner_for(base);
    let base = Lines::of(base, &mut interner);
    let ours = Lines::like(&base, ours, &mut interner);
    let theirs = Lines::like(&base, theirs, &mut interner);
    let kinds = interner.len();
    let (left, right) = (diff(&base.ids, &ours.ids, kinds), diff(&base.ids, &theirs.ids, kinds));
    let texts = Texts { base, ours, theirs };
    let mut chunks = diff3::chunks(&texts, &left, &right);
    doubles::drop_doubled(&texts, &mut chunks);
    output::write(&texts, &chunks, output::merge_value(has_mark[0], has_mark[1], has_mark[2]))
}

/// The byte order mark.
const BYTE_ORDER_MARK: char = '\u{feff}';
