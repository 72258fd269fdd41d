//! The interface of serializable values: objects of another language.

use crate::error::{Error, JsonReason, Position};

/// A value that can be traversed and serialized without converting it first.
pub trait Source<'s>: Copy {
    /// Iterator over the items of a list, in order.
    type Items: Iterator<Item = Self>;
    /// Iterator over the members of an object, in any order; an error for an invalid key.
    type Members: Iterator<Item = Result<(&'s str, Self), Unrepresentable>>;

    /// Return this value as a JSON node.
    ///
    /// # Errors
    /// The value has no JSON form.
    fn node(self) -> Result<Node<'s, Self>, Unrepresentable>;
}

/// A value in terms of JSON.
pub enum Node<'s, S: Source<'s>> {
    /// `null`
    Null,
    /// `true`, `false`
    Bool(bool),
    /// A number of an integer type.
    Integer(i64),
    /// Any other number.
    Double(f64),
    /// A string.
    Text(&'s str),
    /// `[…]`
    List(S::Items),
    /// `{…}`
    Object(S::Members),
}

/// Why a value cannot be represented in canonical JSON.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unrepresentable {
    /// An integer that a double does not represent exactly.
    BeyondInteger,
    /// NaN or an infinity.
    NotFinite,
    /// An unpaired UTF-16 surrogate.
    LoneSurrogate,
    /// A value of a type that JSON does not have.
    NotJson,
    /// A key that is not a string.
    KeyNotText,
    /// The same key twice.
    RepeatedKey,
    /// Nesting beyond [`DEPTH_MAX`](super::DEPTH_MAX).
    TooDeep,
}

impl Unrepresentable {
    /// Build the error for a position.
    pub(crate) fn at(self, at: Position) -> Error {
        Error::Json { reason: self.reason(), what: self.what(), at }
    }

    /// The reason in the HTTP API.
    fn reason(self) -> JsonReason {
        match self {
            Self::BeyondInteger | Self::NotFinite => JsonReason::NumberOutOfRange,
            Self::LoneSurrogate => JsonReason::LoneSurrogate,
            Self::NotJson | Self::KeyNotText => JsonReason::Unsupported,
            Self::RepeatedKey => JsonReason::DuplicateKey,
            Self::TooDeep => JsonReason::TooDeep,
        }
    }

    /// The reason in words, the beginning of the message.
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
