//! Laws of canonical JSON, on texts that are JSON or nearly so.

use proptest::collection::vec;
use proptest::prelude::*;
use reverie_fuzz::{canonical, rewrite};

use crate::config;

/// Pieces that JSON is made of, and what is nearly JSON.
fn jsonish() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        4 => "[\\[\\]{},:]",
        2 => "\"[a-c\u{e000}\u{10000}é]{0,3}\":",
        2 => "\"(\\\\u00[0-7][0-9a-f]|\\\\[nrtbf/\"]|\\\\ud83d\\\\ude00|[ -~&&[^\"\\\\]]){0,12}\"",
        2 => "-?(0|[1-9][0-9]{0,17})(\\.[0-9]{1,3})?([eE][+-]?[0-9]{1,2})?",
        1 => "true|false|null| |\n|\\\\|\"",
    ];
    vec(piece, 0..16).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(config(1024, 1_000_000))]

    #[test]
    fn text_and_value_agree(text in jsonish()) {
        rewrite::text_and_value_agree(text.as_bytes());
    }

    #[test]
    fn idempotent(text in jsonish()) {
        canonical::idempotent(text.as_bytes());
    }

    #[test]
    fn idempotent_of_loose_pieces(text in "[\\[\\]{}\",:0-9eE+.\\-\\\\utrfalsn \u{e000}\u{10000}]{0,24}") {
        canonical::idempotent(text.as_bytes());
    }
}
