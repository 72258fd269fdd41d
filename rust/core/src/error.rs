//! The error type of the core: every way in which an input is rejected, with its position.

use std::fmt;

use thiserror::Error as ThisError;

/// Why JSON was rejected. The codes are part of the HTTP API: `details.reason` of a `validation_error`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JsonReason {
    /// Not JSON by RFC 8259.
    Malformed,
    /// The same key twice in one object.
    DuplicateKey,
    /// NaN, an infinity, or a number outside the range of its reader.
    NumberOutOfRange,
    /// An unpaired UTF-16 surrogate.
    LoneSurrogate,
    /// Nested deeper than [`crate::canonical::DEPTH_MAX`].
    TooDeep,
    /// Not UTF-8, or with a byte order mark.
    Encoding,
    /// A value that has no JSON form.
    Unsupported,
}

impl JsonReason {
    /// Return the code in the HTTP API.
    #[must_use]
    pub fn code(self) -> &'static str {
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

/// Why changes to blocks, or the blocks themselves, were rejected. The codes are `details.reason` in the HTTP API.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChangeReason {
    /// Two blocks have one id.
    DuplicateId,
    /// A change names an id that no block has.
    UnknownId,
    /// Two changes name the same block.
    ChangedTwice,
    /// A change names a heading that does not exist.
    UnknownHeading,
    /// The kind of change does not exist.
    UnknownChange,
    /// The bytes of an id do not begin and end with blocks of the document.
    NotABlock,
    /// The new text is not exactly one block.
    NotOneBlock,
    /// The new text would change how a block around it is parsed (an unclosed code fence, for example).
    BreaksOut,
    /// The document does not have the text that an edit replaces.
    StaleEdit,
}

impl ChangeReason {
    /// Return the code in the HTTP API.
    #[must_use]
    pub fn code(self) -> &'static str {
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

    /// Return the message for people.
    fn message(self) -> &'static str {
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

/// Why a patch was rejected. The codes are `details.reason` in the HTTP API.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PatchReason {
    /// The old text is empty.
    Empty,
    /// The old text does not occur.
    Absent,
    /// The old text occurs more than once.
    Ambiguous,
    /// The old text overlaps that of another patch.
    Overlap,
}

impl PatchReason {
    /// Return the code in the HTTP API.
    #[must_use]
    pub fn code(self) -> &'static str {
        match self {
            Self::Empty => "empty",
            Self::Absent => "absent",
            Self::Ambiguous => "ambiguous",
            Self::Overlap => "overlap",
        }
    }
}

/// A rejected patch and the reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PatchProblem {
    /// The patch's index, from 0.
    pub patch: usize,
    /// The reason.
    pub reason: PatchReason,
    /// The line numbers, from 1, on which its old text begins.
    pub lines: Vec<usize>,
    /// True if it begins on more lines than those listed.
    pub more: bool,
}

impl fmt::Display for PatchProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let message = match self.reason {
            PatchReason::Empty => "the old text is empty",
            PatchReason::Absent => "the old text is not there",
            PatchReason::Ambiguous => "the old text is there more than once",
            PatchReason::Overlap => "the old text overlaps that of another patch",
        };
        write!(f, "patch {}: {message}", self.patch)?;
        for (at, line) in self.lines.iter().enumerate() {
            let before = if at > 0 { ", " } else { ", at line " };
            write!(f, "{before}{line}")?;
        }
        f.write_str(if self.more { " and more" } else { "" })
    }
}

/// Where an input was rejected: a byte offset in a text, or a path into a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Position {
    /// Byte offset from the start of the text.
    Offset(usize),
    /// A path such as `$.key[3]`, for a value that was never text.
    Path(String),
}

/// One step of a path into a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// Into an object, by key.
    Key(String),
    /// Into a list, by index from 0.
    Index(usize),
}

impl Position {
    /// Build a path from steps, outermost first.
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

/// An input that the core rejects.
#[derive(Clone, Debug, PartialEq, Eq, ThisError)]
pub enum Error {
    /// JSON that is invalid, or that could not be stored without loss.
    #[error("{what} at {at}")]
    Json {
        /// The reason.
        reason: JsonReason,
        /// The reason in words, the beginning of the message.
        what: &'static str,
        /// The position of the first invalid byte or value.
        at: Position,
    },
    /// Text that is not UTF-8.
    #[error("not UTF-8 at byte {offset}")]
    NotUtf8 {
        /// Offset of the first byte that is not part of a character.
        offset: usize,
    },
    /// Invalid changes to blocks; nothing was changed.
    #[error("{}: {}", .reason.message(), .names.join(", "))]
    Change {
        /// The reason.
        reason: ChangeReason,
        /// The ids or headings concerned, in the order of the input; changes and edits by their index from 0.
        names: Vec<String>,
    },
    /// Invalid patches; nothing was changed.
    #[error("{}", .problems.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "))]
    Patch {
        /// The problems, in the order of the patches.
        problems: Vec<PatchProblem>,
    },
    /// A token encoding that is not built in.
    #[error("unknown token encoding {name:?}")]
    UnknownEncoding {
        /// The requested name.
        name: String,
    },
}

impl Error {
    /// Build an [`Error::Change`].
    pub(crate) fn change(reason: ChangeReason, names: Vec<String>) -> Self {
        Self::Change { reason, names }
    }
}
