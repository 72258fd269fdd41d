//! Rule tables: published token formats, words that announce a value, clients that take a password.
//!
//! Formats are facts that the issuers publish; minimum lengths are below the published ones, so that a truncated secret
//! is still covered.

use std::sync::LazyLock;

mod clients;
mod cloud_formats;
mod service_formats;
mod token_format;
mod words;

pub(crate) use clients::{CLIENTS, COOKIE_ATTRIBUTES, COOKIE_NAMES, Client, Place};
use cloud_formats::CLOUD_FORMATS;
pub(crate) use service_formats::INFIXES;
use service_formats::SERVICE_FORMATS;
pub(crate) use token_format::{Begins, ByteSet, Infix, Token};
pub(crate) use words::{DESCRIPTION_WORDS, IDENTIFIER_KEYS, KEYWORDS, Keyword, PLACEHOLDERS, SECRET_KEYS};

/// Every published format that begins with a prefix.
static TOKENS: LazyLock<Vec<Token>> =
    LazyLock::new(|| SERVICE_FORMATS.iter().chain(CLOUD_FORMATS).flat_map(token_format::Tokens::each).collect());

/// Iterate over every published format that begins with a prefix.
pub(crate) fn tokens() -> impl Iterator<Item = &'static Token> {
    TOKENS.iter()
}
