//! Laws of merges, on texts that are much alike.

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
    fn one_side_is_taken_whole(data in vec(any::<u8>(), 0..40)) {
        laws::one_side_is_taken_whole(&data);
    }

    #[test]
    fn sides_are_equal(data in vec(any::<u8>(), 0..40)) {
        laws::sides_are_equal(&data);
    }

    #[test]
    fn nothing_is_lost(data in vec(any::<u8>(), 0..40)) {
        laws::nothing_is_lost(&data);
    }

    #[test]
    fn conflicts_say_where_they_stand(data in vec(any::<u8>(), 0..40)) {
        laws::conflicts_say_where_they_stand(&data);
    }

    #[test]
    fn any_text_is_merged(text in "[a\\-# \n\r\u{0}é]{0,60}") {
        laws::any_text_is_merged(text.as_bytes());
    }
}

/// Many changes are found through anchors, beyond what is searched exactly.
#[test]
fn long_texts_are_compared_as_short_ones() {
    let mut state = 1_u32;
    let mut next = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 24) as u8
    };
    for length in [500, 2_000, 9_000] {
        let data: Vec<u8> = (0..length).map(|_| next()).collect();
        laws::hunks_lead_from_old_to_new(&data);
        laws::sides_are_equal(&data);
        laws::nothing_is_lost(&data);
    }
}
