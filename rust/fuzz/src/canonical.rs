//! Properties of canonical JSON.

use reverie_core::Error;
use reverie_core::canonical::{canonical, check_json, parse, rewrite};
use reverie_core::error::JsonReason;

/// A text with a canonical form is valid JSON, and its canonical form is its own canonical form.
///
/// The one exception is a double from 2^53 to 10^21: it is written without exponent, and an integer that large is
/// rejected by the parser.
pub fn canonical_form_is_idempotent(data: &[u8]) {
    let validation = check_json(data);
    let Ok(value) = parse(data) else { return };
    assert!(validation.is_ok(), "what can be parsed passes the check");
    let once = canonical(&value).expect("what was parsed can be written");
    match parse(&once) {
        Ok(again) => assert_eq!(canonical(&again).expect("written"), once),
        Err(Error::Json { reason, .. }) => assert_eq!(reason, JsonReason::NumberOutOfRange),
        Err(other) => assert!(other.to_string().is_empty(), "{other}"),
    }
}

/// Rewriting a text gives the canonical form of its value, or the same error.
///
/// A text that is not valid JSON has no canonical form.
pub fn rewriting_text_equals_serializing_its_value(data: &[u8]) {
    let expected = parse(data).and_then(|value| canonical(&value));
    assert_eq!(rewrite(data), expected);
    assert!(expected.is_err() || check_json(data).is_ok());
}
