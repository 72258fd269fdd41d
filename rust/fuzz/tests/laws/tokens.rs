//! Properties of token counts, over texts that exercise the pre-tokenizer.

use proptest::collection::vec;
use proptest::prelude::*;
use reverie_fuzz::tokens as laws;

use crate::config;

/// Bytes that are mostly text of the kinds that the pre-tokenizer distinguishes.
fn bytes() -> impl Strategy<Value = Vec<u8>> {
    let piece = prop_oneof!["[a-zA-Z' ]{1,8}", "[ \\t\\r\\n/!.]{1,6}", "[0-9]{1,7}", "\\PC{1,6}", "[a-c]{40,90}"];
    let text = vec(piece, 0..12).prop_map(|pieces| pieces.concat().into_bytes());
    (any::<u8>(), prop_oneof![4 => text, 1 => vec(any::<u8>(), 0..60)])
        .prop_map(|(first, rest)| [vec![first % 40], rest].concat())
}

proptest! {
    #![proptest_config(config(512, 100_000))]

    #[test]
    fn truncated_texts_fit(data in bytes()) {
        laws::truncated_texts_fit(&data);
    }

    #[test]
    fn item_counts_add_up(data in bytes()) {
        laws::item_counts_add_up(&data);
    }

    #[test]
    fn counts_are_reproducible(data in bytes()) {
        laws::counts_are_reproducible(&data);
    }
}
