//! Types of the format tables: byte sets, and token formats by prefix or infix.

/// A set of bytes that a token's body consists of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ByteSet {
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
    /// [`Self::Word`] and `=`
    Padded,
    /// [`Self::Word`] and `.`
    Dotted,
    /// [`Self::Word`] and `/`
    Path,
    /// [`Self::Word`] and `+ / = . % ~`
    Wide,
    /// [`Self::Wide`] and `@`
    Web,
    /// [`Self::Word`] and `+ / . ~`: what a value that is judged by its context consists of.
    Value,
}

impl ByteSet {
    /// The number of sets.
    pub(crate) const ALL: usize = 11;

    /// Return true if the set contains a byte.
    #[inline]
    pub(crate) fn contains(self, byte: u8) -> bool {
        SETS[usize::from(byte)] >> self as u16 & 1 == 1
    }

    /// Return true if the set contains a byte, by its definition.
    const fn defines(self, byte: u8) -> bool {
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
            Self::Wide => word || matches!(byte, b'+' | b'/' | b'=' | b'.' | b'%' | b'~'),
            Self::Web => word || matches!(byte, b'+' | b'/' | b'=' | b'.' | b'%' | b'~' | b'@'),
            Self::Value => word || matches!(byte, b'+' | b'/' | b'.' | b'~'),
        }
    }
}

/// The sets that each byte is in, one bit for each.
const SETS: [u16; 256] = {
    use ByteSet::{Alnum, Digit, Dotted, Hex, Padded, Path, Upper, Value, Web, Wide, Word};
    let all = [Digit, Alnum, Hex, Upper, Word, Padded, Dotted, Path, Wide, Web, Value];
    let (mut sets, mut byte) = ([0; 256], 0_u8);
    loop {
        let mut at = 0;
        while at < all.len() {
            if all[at].defines(byte) {
                sets[byte as usize] |= 1 << all[at] as u16;
            }
            at += 1;
        }
        if byte == u8::MAX {
            break;
        }
        byte += 1;
    }
    sets
};

/// Where a token may begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Begins {
    /// Anywhere: the prefix is unmistakable.
    Anywhere,
    /// Only at the beginning of a word, as ordinary words end like the prefix.
    AtWord,
    /// Only at the beginning of a word, and only if the body looks random: the prefix is short or a word itself.
    Random,
    /// Only at the beginning of a word, and only if the body is a UUID: the prefix is a word itself.
    Uuid,
}

/// A published token format: a prefix, then at least `at_least` bytes of `body`; all further ones belong to it.
pub(crate) struct Token {
    pub(crate) kind: &'static str,
    pub(crate) prefix: &'static str,
    pub(crate) body: ByteSet,
    pub(crate) at_least: usize,
    pub(crate) begins: Begins,
}

/// A row of the tables: formats that differ in their prefixes only.
pub(crate) struct Tokens(&'static str, &'static [&'static str], ByteSet, usize, Begins);

/// Build a row.
pub(crate) const fn token(
    kind: &'static str,
    prefixes: &'static [&'static str],
    body: ByteSet,
    at_least: usize,
    begins: Begins,
) -> Tokens {
    Tokens(kind, prefixes, body, at_least, begins)
}

impl Tokens {
    /// Return the formats of the row.
    pub(crate) fn each(&self) -> impl Iterator<Item = Token> {
        let Self(kind, prefixes, body, at_least, begins) = self;
        prefixes.iter().map(|prefix| Token { kind, prefix, body: *body, at_least: *at_least, begins: *begins })
    }
}

/// A token format known by its infix: at least so many bytes of one set, `middle`, at least so many of another.
pub(crate) struct Infix {
    pub(crate) kind: &'static str,
    pub(crate) before: (ByteSet, usize),
    pub(crate) middle: &'static str,
    pub(crate) after: (ByteSet, usize),
}

/// Build an infix format, for short table rows.
pub(crate) const fn infix(
    kind: &'static str,
    before: (ByteSet, usize),
    middle: &'static str,
    after: (ByteSet, usize),
) -> Infix {
    Infix { kind, before, middle, after }
}
