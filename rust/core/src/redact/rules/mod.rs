//! Rule tables: published token formats, words that announce a value, clients that take a password.
//!
//! Formats are facts that the issuers publish; minimum lengths are below the published ones, so that a truncated secret
//! is still covered.

mod clients;
mod cloud_formats;
mod service_formats;
mod token_format;
mod words;

pub(crate) use clients::{Argument, CLIENTS, COOKIE_ATTRIBUTES, COOKIE_NAMES, Client, READERS};
pub(crate) use cloud_formats::CLOUD_FORMATS;
pub(crate) use service_formats::{INFIXES, SERVICE_FORMATS};
pub(crate) use token_format::{Begins, ByteSet, Infix, Token};
pub(crate) use words::{DESCRIPTION_WORDS, IDENTIFIER_KEYS, KEYWORDS, Keyword, PLACEHOLDERS, SECRET_KEYS};

/// Iterate over every published format that begins with a prefix.
pub(crate) fn tokens() -> impl Iterator<Item = &'static Token> {
    SERVICE_FORMATS.iter().chain(CLOUD_FORMATS)
}
