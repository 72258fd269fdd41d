//! What holds for any document: the laws that the fuzz targets run, on inputs of proptest.

#[path = "../../fuzz/src/align.rs"]
mod align;
#[path = "../../fuzz/src/apply.rs"]
mod apply;
#[path = "../../fuzz/src/blocks.rs"]
mod blocks;
#[path = "../../fuzz/src/patch.rs"]
mod patch;

use proptest::collection::vec;
use proptest::prelude::*;

/// The count of a campaign: small by default, full under `REVERIE_SOAK`.
fn config() -> ProptestConfig {
    let cases = if std::env::var_os("REVERIE_SOAK").is_some() { 1_000_000 } else { 4096 };
    ProptestConfig { cases, failure_persistence: None, ..ProptestConfig::default() }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn spans_join(data in vec(any::<u8>(), 0..40)) {
        blocks::spans_join(&data);
    }

    #[test]
    fn blocks_stand_alone(data in vec(any::<u8>(), 0..24)) {
        blocks::blocks_stand_alone(&data);
    }

    #[test]
    fn every_id_is_used_once(data in vec(prop::sample::select(&b"aab \n\n\r\xff"[..]), 0..40)) {
        align::every_id_is_used_once(&data);
    }

    #[test]
    fn the_same_stays(data in vec(prop::sample::select(&b"ab \n"[..]), 0..30)) {
        align::the_same_stays(&data);
    }

    #[test]
    fn changes_stay_in_their_blocks(data in vec(any::<u8>(), 0..40)) {
        apply::changes_stay_in_their_blocks(&data);
    }

    #[test]
    fn patches_are_what_they_say(data in vec(any::<u8>(), 1..30)) {
        patch::patches_are_what_they_say(&data);
    }
}
