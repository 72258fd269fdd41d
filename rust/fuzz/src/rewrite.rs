//! Canonical JSON written from text alone.

use reverie_core::canonical::{canonical, check_json, parse, rewrite};

/// Text is rewritten to the bytes of the value that is read from it, or refused for the same reason at the same place;
/// and what the check refuses, neither accepts.
pub fn text_and_value_agree(data: &[u8]) {
    let made = parse(data).and_then(|value| canonical(&value));
    assert_eq!(rewrite(data), made);
    assert!(made.is_err() || check_json(data).is_ok());
}
