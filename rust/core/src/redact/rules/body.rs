//! How a published format is written down.

/// Which bytes a token's body is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Body {
    /// `0-9`
    Digit,
    /// `0-9 a-z A-Z`
    Alnum,
    /// `0-9 a-f A-F`
    Hex,
    /// `0-9 A-Z`
    Upper,
    /// `0-9 a-z A-Z _ -`
    Word,
    /// [`Body::Word`] and `=`
    Padded,
    /// [`Body::Word`] and `.`
    Dotted,
    /// [`Body::Word`] and `/`
    Path,
    /// [`Body::Word`] and `+ / = . % ~`
    Wide,
    /// [`Body::Wide`] and `@`
    Web,
}

impl Body {
    pub(crate) const ALL: usize = 10;

    pub(crate) fn holds(self, byte: u8) -> bool {
        let word = byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-';
        match self {
            Self::Digit => byte.is_ascii_digit(),
            Self::Alnum => byte.is_ascii_alphanumeric(),
            Self::Hex => byte.is_ascii_hexdigit(),
            Self::Upper => byte.is_ascii_uppercase() || byte.is_ascii_digit(),
            Self::Word => word,
            Self::Padded => word || byte == b'=',
            Self::Dotted => word || byte == b'.',
            Self::Path => word || byte == b'/',
            Self::Wide => word || b"+/=.%~".contains(&byte),
            Self::Web => word || b"+/=.%~@".contains(&byte),
        }
    }
}

/// Where a token may begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Begins {
    /// Anywhere: the prefix is distinctive by itself.
    Anywhere,
    /// Only where no word goes on, because the prefix also ends ordinary words.
    AtWord,
    /// Only where no word goes on, and only if the body reads as made by chance: the prefix is short or a word.
    Random,
}

/// A published format: after `prefix` come at least `at_least` bytes of `body`, and all that follow belong to it.
pub(crate) struct Token {
    pub(crate) kind: &'static str,
    pub(crate) prefix: &'static str,
    pub(crate) body: Body,
    pub(crate) at_least: usize,
    pub(crate) begins: Begins,
}

pub(crate) const fn token(
    kind: &'static str,
    prefix: &'static str,
    body: Body,
    at_least: usize,
    begins: Begins,
) -> Token {
    Token { kind, prefix, body, at_least, begins }
}

/// A published format that is known by its middle: so many bytes of one body, `middle`, so many of another.
pub(crate) struct Infix {
    pub(crate) kind: &'static str,
    pub(crate) before: (Body, usize),
    pub(crate) middle: &'static str,
    pub(crate) after: (Body, usize),
}

pub(crate) const fn infix(
    kind: &'static str,
    before: (Body, usize),
    middle: &'static str,
    after: (Body, usize),
) -> Infix {
    Infix { kind, before, middle, after }
}
