//! Tests of canonical JSON: the order of keys. What values and texts become is tested from Python.

use proptest::prelude::*;
use reverie_core::canonical::{rewrite, utf16_order};

proptest! {
    #![proptest_config(ProptestConfig { cases: 1024, failure_persistence: None, ..ProptestConfig::default() })]

    /// Keys are ordered by their UTF-16 code units.
    #[test]
    fn keys_are_ordered_by_code_units(left in "[a\u{7ff}\u{d7ff}\u{e000}\u{ffff}\u{10000}\u{10ffff}]{0,4}",
                                      right in "[a\u{7ff}\u{d7ff}\u{e000}\u{ffff}\u{10000}\u{10ffff}]{0,4}") {
        prop_assert_eq!(utf16_order(&left, &right), left.encode_utf16().cmp(right.encode_utf16()));
    }
}

/// Unsorted objects nested 100 deep are sorted at every level.
#[test]
fn members_are_sorted_at_every_depth() {
    let text = (0..100).fold("1".to_owned(), |inner, _| format!("{{\"b\":{inner},\"a\":[{{}},{{\"d\":0,\"c\":0}}]}}"));
    let expected =
        (0..100).fold("1".to_owned(), |inner, _| format!("{{\"a\":[{{}},{{\"c\":0,\"d\":0}}],\"b\":{inner}}}"));
    assert_eq!(rewrite(text.as_bytes()), Ok(expected.into_bytes()));
}
