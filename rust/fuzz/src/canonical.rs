//! Canonical JSON.

use reverie_core::Error;
use reverie_core::canonical::{canonical, check_json, parse};
use reverie_core::error::JsonReason;

/// What can be canonical passes the check, and is its own canonical form. The one exception is a double from 2^53 to
/// 10^21: it is written without exponent, and an integer that large is refused when it is read.
pub fn idempotent(data: &[u8]) {
    let checked = check_json(data);
    let Ok(value) = parse(data) else { return };
    assert!(checked.is_ok(), "what can be parsed passes the check");
    let once = canonical(&value).expect("what was parsed can be written");
    match parse(&once) {
        Ok(again) => assert_eq!(canonical(&again).expect("written"), once),
        Err(Error::Json { reason, .. }) => assert_eq!(reason, JsonReason::NumberOutOfRange),
        Err(other) => assert!(other.to_string().is_empty(), "{other}"),
    }
}
