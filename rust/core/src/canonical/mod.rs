//! Canonical JSON (RFC 8785): one byte string for one value; what could only be rounded is rejected.

mod object_keys;
mod output;
mod rewrite;
mod scanner;
mod serializer;
mod simd;
mod source;
mod strings;

use sha2::{Digest, Sha256};

use crate::error::Error;

pub use object_keys::utf16_order;
pub use source::{Node, Source, Unrepresentable};

/// Nesting depth of lists and objects: 128 containers, one inside the other.
pub const DEPTH_MAX: usize = 128;

/// The largest integer that every JSON reader represents exactly: 2^53 - 1.
pub const INTEGER_MAX: i64 = 9_007_199_254_740_991;

/// Serialize a value by RFC 8785: no white space, keys in UTF-16 order, numbers as ECMAScript writes them.
///
/// A double from 2^53 to 10^21 is therefore written as an integer that [`rewrite`] rejects: it cannot know that no
/// digit was lost.
///
/// # Errors
/// Duplicate keys, numbers that are not finite, integers beyond [`INTEGER_MAX`], each with its path.
pub fn canonical<'s, S: Source<'s>>(value: S) -> Result<Vec<u8>, Error> {
    serializer::serialize(value)
}

/// Canonicalize JSON text in one pass; reject what RFC 8785 could not reproduce unchanged.
///
/// # Errors
/// Not JSON, duplicate keys, integers beyond [`INTEGER_MAX`], numbers that overflow a double, lone surrogates,
/// nesting beyond [`DEPTH_MAX`]: each with its byte offset.
pub fn rewrite(text: &[u8]) -> Result<Vec<u8>, Error> {
    rewrite::rewrite(text)
}

/// Return the SHA-256 of bytes in lower-case hexadecimal.
#[must_use]
pub fn sha256_hex(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

/// Return bytes in lower-case hexadecimal.
#[must_use]
pub fn hex(bytes: &[u8]) -> String {
    let mut hex = String::with_capacity(2 * bytes.len());
    for byte in bytes {
        for nibble in [byte >> 4, byte & 15] {
            hex.push(char::from(b"0123456789abcdef"[usize::from(nibble)]));
        }
    }
    hex
}

/// Validate JSON text: exactly one value by RFC 8259 that no two readers understand differently.
///
/// Numbers must fit a 64-bit reader: integers beyond 64 bits and numbers that overflow a double are rejected, every
/// other number is accepted.
///
/// # Errors
/// The first violation, with its byte offset.
pub fn check_json(text: &[u8]) -> Result<(), Error> {
    scanner::scan(scanner::decode(text)?, &mut scanner::Validator)
}
