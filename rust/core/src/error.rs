//! Every refusal of the core, as one enum with its position.

use std::fmt;

use thiserror::Error as ThisError;

/// Why JSON was refused. The words are part of the wire: `details.reason` of a `validation_error`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JsonReason {
    /// Not JSON by RFC 8259.
    Malformed,
    /// The same key twice in one object.
    DuplicateKey,
    /// NaN, an infinity, or a number that its reader could not hold.
    NumberOutOfRange,
    /// Half of a UTF-16 pair.
    LoneSurrogate,
    /// Nested deeper than [`crate::canonical::DEPTH_MAX`].
    TooDeep,
    /// Not UTF-8, or with a byte order mark.
    Encoding,
    /// A value that has no JSON form.
    Unsupported,
}

impl JsonReason {
    /// The word on the wire.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Malformed => "malformed",
            Self::DuplicateKey => "duplicate_key",
            Self::NumberOutOfRange => "number_out_of_range",
            Self::LoneSurrogate => "lone_surrogate",
            Self::TooDeep => "too_deep",
            Self::Encoding => "encoding",
            Self::Unsupported => "unsupported",
        }
    }
}

/// Why changes to blocks, or the blocks themselves, were refused. The words are `details.reason` on the wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChangeReason {
    /// Two blocks have one id.
    DuplicateId,
    /// A change names an id that no block has.
    UnknownId,
    /// Two changes name the same block.
    ChangedTwice,
    /// No heading says that.
    UnknownHeading,
    /// A kind of change that there is not.
    UnknownChange,
    /// The bytes that a block is said to have are not those of a block of the document.
    NotABlock,
    /// The new text of a block is not one block.
    NotOneBlock,
    /// The new text of a block would make something else of what stands around it.
    BreaksOut,
    /// An edit does not find the text that it replaces.
    StaleEdit,
}

impl ChangeReason {
    /// The word on the wire.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::DuplicateId => "duplicate_id",
            Self::UnknownId => "unknown_id",
            Self::ChangedTwice => "changed_twice",
            Self::UnknownHeading => "unknown_heading",
            Self::UnknownChange => "unknown_change",
            Self::NotABlock => "not_a_block",
            Self::NotOneBlock => "not_one_block",
            Self::BreaksOut => "breaks_out",
            Self::StaleEdit => "stale_edit",
        }
    }

    fn what(self) -> &'static str {
        match self {
            Self::DuplicateId => "two blocks with one id",
            Self::UnknownId => "no block with this id",
            Self::ChangedTwice => "more than one change of one block",
            Self::UnknownHeading => "no such heading",
            Self::UnknownChange => "no such kind of change",
            Self::NotABlock => "not a block of this document",
            Self::NotOneBlock => "the text of this change is not one block",
            Self::BreaksOut => "this change would make something else of the blocks around it",
            Self::StaleEdit => "this edit does not find the text that it replaces",
        }
    }
}

/// Why a patch was refused. The words are `details.reason` on the wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PatchReason {
    /// The old text is empty.
    Empty,
    /// The old text does not occur.
    Absent,
    /// The old text occurs more than once.
    Ambiguous,
    /// The old text and that of another patch have bytes in common.
    Overlap,
}

impl PatchReason {
    /// The word on the wire.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Empty => "empty",
            Self::Absent => "absent",
            Self::Ambiguous => "ambiguous",
            Self::Overlap => "overlap",
        }
    }
}

/// What is wrong with one patch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PatchProblem {
    /// Its index from 0.
    pub patch: usize,
    /// The closed list of reasons.
    pub reason: PatchReason,
    /// The lines, from 1, on which its old text begins.
    pub lines: Vec<usize>,
    /// Whether it begins on further lines too.
    pub more: bool,
}

impl fmt::Display for PatchProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let what = match self.reason {
            PatchReason::Empty => "the old text is empty",
            PatchReason::Absent => "the old text is not there",
            PatchReason::Ambiguous => "the old text is there more than once",
            PatchReason::Overlap => "the old text overlaps that of another patch",
        };
        write!(f, "patch {}: {what}", self.patch)?;
        for (at, line) in self.lines.iter().enumerate() {
            let before = if at > 0 { ", " } else { ", at line " };
            write!(f, "{before}{line}")?;
        }
        f.write_str(if self.more { " and more" } else { "" })
    }
}

/// Where something was refused: a byte offset in text, or a path into a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Position {
    /// Bytes from the start of the text.
    Offset(usize),
    /// `$.key[3]` into a value that was never text.
    Path(String),
}

/// One step into a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// Into an object, by key.
    Key(String),
    /// Into a list, by index from 0.
    Index(usize),
}

impl Position {
    /// The path of these steps, outermost first.
    pub fn path<'s>(steps: impl IntoIterator<Item = &'s Step>) -> Self {
        let step = |step: &Step| match step {
            Step::Key(key) => format!(".{key}"),
            Step::Index(index) => format!("[{index}]"),
        };
        Self::Path(std::iter::once("$".to_owned()).chain(steps.into_iter().map(step)).collect())
    }
}

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Offset(offset) => write!(f, "byte {offset}"),
            Self::Path(path) => f.write_str(path),
        }
    }
}

/// What the core refuses to do, and where.
#[derive(Clone, Debug, PartialEq, Eq, ThisError)]
pub enum Error {
    /// JSON that cannot be meant, or that could not be kept as it was meant.
    #[error("{what} at {at}")]
    Json {
        /// The closed list of reasons.
        reason: JsonReason,
        /// The reason as a sentence's beginning.
        what: &'static str,
        /// The position of the first byte or value that is wrong.
        at: Position,
    },
    /// Text that is not UTF-8.
    #[error("not UTF-8 at byte {offset}")]
    NotUtf8 {
        /// The first byte that is not part of a character.
        offset: usize,
    },
    /// Changes to blocks that cannot be meant; nothing was changed.
    #[error("{}: {}", .reason.what(), .names.join(", "))]
    Change {
        /// The closed list of reasons.
        reason: ChangeReason,
        /// Every id or heading that is meant, in the order of the input; changes and edits by their index from 0.
        names: Vec<String>,
    },
    /// Patches that cannot be applied; nothing was changed.
    #[error("{}", .problems.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "))]
    Patch {
        /// What is wrong, in the order of the patches.
        problems: Vec<PatchProblem>,
    },
    /// A token encoding that is not built in.
    #[error("unknown token encoding {name:?}")]
    UnknownEncoding {
        /// The name that was asked for.
        name: String,
    },
}

impl Error {
    pub(crate) fn change(reason: ChangeReason, names: Vec<String>) -> Self {
        Self::Change { reason, names }
    }
}
