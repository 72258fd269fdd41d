//! Properties of blocks, alignment, changes and patches, over generated documents.

use proptest::collection::vec;
use proptest::prelude::*;
use reverie_fuzz::{align, apply, blocks, patch};

use crate::config;

/// Documents of lines that matter to the block parser, in any order.
fn document() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        "[ ]{0,5}[-*+] [a-z #]{0,8}",
        "#{1,7} ?[a-zA-Z]{0,5}",
        "> Summary: [a-z]{0,5}",
        "[`~]{3,5}[a-z]{0,2}",
        "---|\\.\\.\\.|\\* \\* \\*|<div>|<!-- x|-->|\\| a \\|",
        "- (Summary|Date): [a-z]{0,5}",
        "[ \t]{0,6}[^\r\n]{0,10}",
    ];
    let ending = prop_oneof!["\n", "\r\n", "\r", "\n\n"];
    (prop::bool::ANY, vec((piece, ending), 0..12)).prop_map(|(mark, lines)| {
        let lines = lines.into_iter().map(|(line, ending)| line + &ending).collect::<String>();
        if mark { format!("\u{feff}{lines}") } else { lines }
    })
}

proptest! {
    #![proptest_config(config(4096, 1_000_000))]

    #[test]
    fn spans_join_to_the_document(data in vec(any::<u8>(), 0..40)) {
        blocks::spans_join_to_the_document(&data);
    }

    #[test]
    fn spans_of_lines_join(text in document()) {
        blocks::spans_join_to_the_document(text.as_bytes());
    }

    #[test]
    fn blocks_parse_alike_alone(data in vec(any::<u8>(), 0..24)) {
        blocks::blocks_parse_alike_alone(&data);
    }

    #[test]
    fn every_old_block_is_matched_once_or_deleted(data in vec(prop::sample::select(&b"aab \n\n\r\xff"[..]), 0..40)) {
        align::every_old_block_is_matched_once_or_deleted(&data);
    }

    #[test]
    fn unchanged_lists_are_matched_in_order(data in vec(prop::sample::select(&b"ab \n"[..]), 0..30)) {
        align::unchanged_lists_are_matched_in_order(&data);
    }

    #[test]
    fn changes_affect_only_their_blocks(data in vec(any::<u8>(), 0..40)) {
        apply::changes_affect_only_their_blocks(&data);
    }

    #[test]
    fn patches_agree_with_naive_replacement(data in vec(any::<u8>(), 1..30)) {
        patch::patches_agree_with_naive_replacement(&data);
    }
}
