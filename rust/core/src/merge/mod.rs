//! Three texts become one: what each side changed since their common ancestor, and what cannot be decided as values.
//!
//! Lines are compared first; where both sides changed neighbouring lines, the blocks there decide: edits beside each
//! other and insertions at one place are both kept, insertions in the order of what they go on (the same item, the same
//! list, the same section, a new section), ours before theirs. Two edits of one line are merged by its words where at
//! least one untouched word lies between them. What is left is a [`Conflict`]; the text then has our side of it.

mod clusters;
mod fences;
mod inserts;
mod pieces;
mod refine;
mod words;
mod write;

use std::ops::Range;

use crate::diff::{Interner, Lines, diff};

/// What three texts became.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Merged {
    /// The text, with our side of every conflict.
    pub text: String,
    /// What both sides changed in ways that do not go together, in order.
    pub conflicts: Vec<Conflict>,
}

/// A place that both sides changed. Lines are counted from 0, and a range ends before its second number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Conflict {
    /// What stood there.
    pub base: Part,
    /// What we made of it; the merged text has this.
    pub ours: Part,
    /// What they made of it.
    pub theirs: Part,
    /// The lines of the merged text that hold our side.
    pub lines: Range<usize>,
    /// The same in bytes.
    pub bytes: Range<usize>,
}

/// A part of one of the three texts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    /// As it stands there.
    pub text: String,
    /// Its lines.
    pub lines: Range<usize>,
}

impl Merged {
    fn clean(text: &str) -> Self {
        Self { text: text.to_owned(), conflicts: Vec::new() }
    }

    /// Where each conflict stands in the merged text, in characters.
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

/// The three texts as lines.
pub(crate) struct Texts<'t> {
    base: Lines<'t>,
    ours: Lines<'t>,
    theirs: Lines<'t>,
}

/// Merges what `ours` and `theirs` each changed since `base`.
///
/// Line endings are no part of a line: each is kept as the side says that changed it, and so are the last newline and
/// a byte order mark. Every line that a side added is in the merged text or in a conflict, or was merged by its words.
#[must_use]
pub fn merge3(base: &str, ours: &str, theirs: &str) -> Merged {
    if ours == theirs || base == theirs {
        return Merged::clean(ours);
    }
    if base == ours {
        return Merged::clean(theirs);
    }
    let marks = [base, ours, theirs].map(|text| text.starts_with(MARK));
    let [base, ours, theirs] = [base, ours, theirs].map(|text| text.strip_prefix(MARK).unwrap_or(text));
    let mut interner = Interner::default();
    let base = interner.first(base);
    let ours = interner.like(&base, ours);
    let theirs = interner.like(&base, theirs);
    let kinds = interner.len();
    let (left, right) = (diff(&base.ids, &ours.ids, kinds), diff(&base.ids, &theirs.ids, kinds));
    let texts = Texts { base, ours, theirs };
    let pieces = clusters::pieces(&texts, &left, &right);
    write::write(&texts, &pieces, write::decided(marks[0], marks[1], marks[2]))
}

/// A byte order mark.
const MARK: char = '\u{feff}';
