//! The hot paths of Reverie, free of Python: values in, values out, no I/O, no clock, no randomness.
//!
//! * [`tokens`]: exact token counts of `o200k_base` and `cl100k_base` ordinary text
//! * [`canonical`]: RFC 8785 bytes and their SHA-256; a strict check of JSON text
//! * [`blocks`]: memory documents as spans that join to the document byte for byte
//! * [`align`]: which block of a new text carries on which block of the old one
//! * [`apply`]: changes of blocks as the smallest edits of their document, and back
//! * [`patch`]: exact-text patches, all or none
//! * [`diff`]: what changed between two texts, by lines
//! * [`merge`]: three texts become one, with conflicts as values
//! * [`redact`]: secrets replaced by `[REDACTED:<kind>]` in one linear pass
//! * [`rank`]: texts ranked by how well they answer a query
//! * [`error`]: every refusal, with its position

pub mod align;
pub mod apply;
pub mod blocks;
pub mod canonical;
pub mod diff;
pub mod error;
mod hash;
mod lines;
pub mod merge;
pub mod patch;
pub mod rank;
pub mod redact;
mod table;
pub mod tokens;

pub use error::Error;
