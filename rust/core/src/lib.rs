//! The hot paths of Reverie, free of Python: values in, values out, no I/O, no clock, no randomness.
//!
//! * [`tokens`]: exact token counts of `o200k_base` and `cl100k_base` ordinary text
//! * [`canonical`]: RFC 8785 bytes and their SHA-256; a strict check of JSON text
//! * [`redact`]: secrets replaced by `[REDACTED:<kind>]` in one linear pass
//! * [`error`]: every refusal, with its position

pub mod canonical;
pub mod error;
pub mod redact;
pub mod tokens;

pub use error::Error;
