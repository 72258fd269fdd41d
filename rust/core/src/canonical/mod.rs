//! Canonical JSON: one value, one byte string (RFC 8785), and what is refused rather than rounded.

mod keys;
mod lanes;
mod order;
mod output;
mod rewrite;
mod scan;
mod source;
mod strings;
mod value;
mod write;

use sha2::{Digest, Sha256};

use crate::error::Error;

pub use order::utf16_order;
pub use source::{Shape, Source, Unfit};
pub use value::Value;

/// How deep lists and objects may nest: 128 containers, one inside the other.
pub const DEPTH_MAX: usize = 128;

/// The largest integer that every reader of JSON holds exactly: 2^53 - 1.
pub const INTEGER_MAX: i64 = 9_007_199_254_740_991;

/// JSON text as a value; refuses what RFC 8785 could not give back unchanged.
///
/// # Errors
/// Not JSON, duplicate keys, integers beyond [`INTEGER_MAX`], numbers that overflow a double, lone surrogates,
/// nesting beyond [`DEPTH_MAX`]: each with its byte offset.
pub fn parse(text: &[u8]) -> Result<Value<'_>, Error> {
    let text = scan::decode(text)?;
    let mut builder = value::Builder::default();
    scan::scan(text, &mut builder)?;
    Ok(builder.finish())
}

/// The RFC 8785 bytes of a value: no white space, keys in UTF-16 order, numbers as ECMAScript writes them.
///
/// A double from 2^53 to 10^21 is therefore written as an integer that [`parse`] refuses: it cannot know that no
/// digit was lost.
///
/// # Errors
/// Duplicate keys, numbers that are not finite, integers beyond [`INTEGER_MAX`], each with its path.
pub fn canonical<'s, S: Source<'s>>(value: S) -> Result<Vec<u8>, Error> {
    write::write(value)
}

/// The RFC 8785 bytes of JSON text, equal to those of the value that [`parse`] makes of it, in one pass without it.
///
/// # Errors
/// As [`parse`], each with its byte offset.
pub fn rewrite(text: &[u8]) -> Result<Vec<u8>, Error> {
    rewrite::rewrite(text)
}

/// Lower-case hexadecimal SHA-256 of bytes.
#[must_use]
pub fn sha256_hex(bytes: &[u8]) -> String {
    let mut hex = String::with_capacity(64);
    for byte in Sha256::digest(bytes) {
        for nibble in [byte >> 4, byte & 15] {
            hex.push(char::from(b"0123456789abcdef"[usize::from(nibble)]));
        }
    }
    hex
}

/// Refuses text that is not one JSON value by RFC 8259, or that two readers could understand differently.
///
/// Numbers are held to what a 64-bit reader keeps: integers beyond 64 bits and numbers that overflow a double
/// are refused, every other number is accepted.
///
/// # Errors
/// The first thing wrong, with its byte offset.
pub fn check_json(text: &[u8]) -> Result<(), Error> {
    scan::scan(scan::decode(text)?, &mut scan::Nothing)
}
