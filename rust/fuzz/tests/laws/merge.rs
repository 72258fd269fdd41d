//! Properties of diffs and three-way merges, over similar texts.

use proptest::collection::vec;
use proptest::prelude::*;
use reverie_fuzz::merge as laws;

use crate::config;

proptest! {
    #![proptest_config(config(4096, 1_000_000))]

    #[test]
    fn hunks_lead_from_old_to_new(data in vec(any::<u8>(), 0..200)) {
        laws::hunks_lead_from_old_to_new(&data);
    }

    #[test]
    fn changes_of_one_side_are_taken_unchanged(data in vec(any::<u8>(), 0..40)) {
        laws::changes_of_one_side_are_taken_unchanged(&data);
    }

    #[test]
    fn merge_is_symmetric(data in vec(any::<u8>(), 0..40)) {
        laws::merge_is_symmetric(&data);
    }

    #[test]
    fn no_added_line_is_lost(data in vec(any::<u8>(), 0..40)) {
        laws::no_added_line_is_lost(&data);
    }

    #[test]
    fn conflict_positions_are_correct(data in vec(any::<u8>(), 0..40)) {
        laws::conflict_positions_are_correct(&data);
    }

    #[test]
    fn arbitrary_texts_are_merged(text in "[a\\-# \n\r\u{0}é]{0,60}") {
        laws::arbitrary_texts_are_merged(text.as_bytes());
    }
}

/// Texts of up to 9,000 lines, which are divided at anchors, obey the same laws as short ones.
#[test]
fn long_texts_obey_the_same_laws() {
    let mut state = 1_u32;
    let mut next = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 24) as u8
    };
    for length in [500, 2_000, 9_000] {
        let data: Vec<u8> = (0..length).map(|_| next()).collect();
        laws::hunks_lead_from_old_to_new(&data);
        laws::merge_is_symmetric(&data);
        laws::no_added_line_is_lost(&data);
    }
}
