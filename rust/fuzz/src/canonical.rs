//! Properties of canonical JSON.

use reverie_core::Error;
use reverie_core::canonical::{check_json, rewrite};
use reverie_core::error::JsonReason;

/// A text with a canonical form is valid JSON, and its canonical form is its own canonical form.
///
/// The one exception is a double from 2^53 to 10^21: it is written without exponent, and an integer that large is
/// rejected by the parser.
pub fn canonical_form_is_idempotent(data: &[u8]) {
    let Ok(once) = rewrite(data) else { return };
    assert_eq!(check_json(data), Ok(()));
    match rewrite(&once) {
        Ok(again) => assert_eq!(again, once),
        Err(Error::Json { reason, .. }) => assert_eq!(reason, JsonReason::NumberOutOfRange),
        Err(other) => assert!(other.to_string().is_empty(), "{other}"),
    }
}
