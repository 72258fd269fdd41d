//! What the keys of a JSON object say about their values.

use crate::redact::rules::NAMES;

/// What stands under a key of a JSON object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Holds {
    /// Text like any other.
    Content,
    /// An identifier or a closed word: only published formats are looked for.
    Name,
    /// A signature, or base64 data beside `"type": "base64"`: never looked into.
    Opaque,
}

/// What stands under `key`, in an object that is a base64 source or is not.
#[must_use]
pub fn holds(key: &str, in_base64_source: bool) -> Holds {
    match key {
        "signature" => Holds::Opaque,
        "data" if in_base64_source => Holds::Opaque,
        name if NAMES.contains(&name) => Holds::Name,
        _ => Holds::Content,
    }
}
