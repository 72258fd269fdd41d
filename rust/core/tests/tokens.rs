//! The laws of token counts, on texts of every kind.

use proptest::collection::vec;
use proptest::prelude::*;

#[path = "../../fuzz/src/tokens.rs"]
mod laws;

/// Bytes that are mostly text, and mostly of what the split rules ask about.
fn bytes() -> impl Strategy<Value = Vec<u8>> {
    let piece = prop_oneof!["[a-zA-Z' ]{1,8}", "[ \\t\\r\\n/!.]{1,6}", "[0-9]{1,7}", "\\PC{1,6}", "[a-c]{40,90}"];
    let text = vec(piece, 0..12).prop_map(|pieces| pieces.concat().into_bytes());
    (any::<u8>(), prop_oneof![4 => text, 1 => vec(any::<u8>(), 0..60)])
        .prop_map(|(first, rest)| [vec![first % 40], rest].concat())
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: if std::env::var_os("REVERIE_SOAK").is_some() { 100_000 } else { 512 },
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    /// See the law.
    #[test]
    fn cuts_fit(data in bytes()) {
        laws::cuts_fit(&data);
    }

    /// See the law.
    #[test]
    fn items_add_up(data in bytes()) {
        laws::items_add_up(&data);
    }

    /// See the law.
    #[test]
    fn counts_are_the_same_again(data in bytes()) {
        laws::counts_are_the_same_again(&data);
    }
}
