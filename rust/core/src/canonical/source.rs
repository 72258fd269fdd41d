//! What the writer must know of a value, whoever holds it: the core's own [`Value`](super::Value), or another language.

use crate::error::{Error, JsonReason, Position};

/// A value that can be walked and written without being converted first.
pub trait Source<'s>: Copy {
    /// The items of a list, in order.
    type Items: Iterator<Item = Self>;
    /// The members of an object, in any order; or what is wrong with a key.
    type Members: Iterator<Item = Result<(&'s str, Self), Unfit>>;

    /// What this value is.
    ///
    /// # Errors
    /// A value that has no JSON form.
    fn shape(self) -> Result<Shape<'s, Self>, Unfit>;
}

/// One value as JSON sees it.
pub enum Shape<'s, S: Source<'s>> {
    /// `null`
    Null,
    /// `true`, `false`
    Bool(bool),
    /// A number that is whole by its type.
    Integer(i64),
    /// Every other number.
    Double(f64),
    /// A string.
    Text(&'s str),
    /// `[…]`
    List(S::Items),
    /// `{…}`
    Object(S::Members),
}

/// Why a value cannot be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unfit {
    /// An integer that a double does not hold exactly.
    BeyondInteger,
    /// NaN or an infinity.
    NotFinite,
    /// Half of a UTF-16 pair.
    LoneSurrogate,
    /// A value of another kind than the six of JSON.
    NotJson,
    /// A key that is not a string.
    KeyNotText,
    /// The same key twice.
    RepeatedKey,
    /// One container more than [`DEPTH_MAX`](super::DEPTH_MAX).
    TooDeep,
}

impl Unfit {
    pub(crate) fn at(self, at: Position) -> Error {
        Error::Json { reason: self.reason(), what: self.what(), at }
    }

    fn reason(self) -> JsonReason {
        match self {
            Self::BeyondInteger | Self::NotFinite => JsonReason::NumberOutOfRange,
            Self::LoneSurrogate => JsonReason::LoneSurrogate,
            Self::NotJson | Self::KeyNotText => JsonReason::Unsupported,
            Self::RepeatedKey => JsonReason::DuplicateKey,
            Self::TooDeep => JsonReason::TooDeep,
        }
    }

    /// The reason as a sentence's beginning.
    fn what(self) -> &'static str {
        match self {
            Self::BeyondInteger => "an integer beyond 2^53-1",
            Self::NotFinite => "a number that is not finite",
            Self::LoneSurrogate => "half of a surrogate pair",
            Self::NotJson => "a value that JSON does not have",
            Self::KeyNotText => "a key that is not a string",
            Self::RepeatedKey => "the same key twice",
            Self::TooDeep => "nesting deeper than 128",
        }
    }
}
