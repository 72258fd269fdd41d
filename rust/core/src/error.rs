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
}

impl ChangeReason {
    /// The word on the wire.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::DuplicateId => "duplicate_id",
        }
    }

    fn what(self) -> &'static str {
        match self {
            Self::DuplicateId => "two blocks with one id",
        }
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
        /// Every id or heading that is meant, in the order of the input.
        names: Vec<String>,
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
