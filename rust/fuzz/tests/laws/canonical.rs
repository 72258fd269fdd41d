//! Properties of canonical JSON, over texts that are JSON or nearly so.

use proptest::collection::vec;
use proptest::prelude::*;
use reverie_fuzz::canonical;

use crate::config;

/// Texts of JSON pieces and of nearly valid ones.
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
    fn rewriting_text_equals_serializing_its_value(text in jsonish()) {
        canonical::rewriting_text_equals_serializing_its_value(text.as_bytes());
    }

    #[test]
    fn canonical_form_is_idempotent(text in jsonish()) {
        canonical::canonical_form_is_idempotent(text.as_bytes());
    }

    #[test]
    fn idempotent_of_loose_pieces(text in "[\\[\\]{}\",:0-9eE+.\\-\\\\utrfalsn \u{e000}\u{10000}]{0,24}") {
        canonical::canonical_form_is_idempotent(text.as_bytes());
    }
}
