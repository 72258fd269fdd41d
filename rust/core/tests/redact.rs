//! What holds for any text that is redacted: the laws of the fuzz targets, on inputs of proptest.

#[path = "../../fuzz/src/redaction.rs"]
mod redaction;

use proptest::collection::vec;
use proptest::prelude::*;
use reverie_core::redact::{Reach, Redactor, kinds};

/// The count of a campaign: small by default, full under `REVERIE_SOAK`.
fn config(cases: u32, soak: u32) -> ProptestConfig {
    let cases = if std::env::var_os("REVERIE_SOAK").is_some() { soak } else { cases };
    ProptestConfig { cases, failure_persistence: None, ..ProptestConfig::default() }
}

proptest! {
    #![proptest_config(config(4096, 1_000_000))]

    #[test]
    fn spans_are_apart(data in vec(any::<u8>(), 0..24)) {
        redaction::spans_are_apart(&data);
    }

    #[test]
    fn idempotent(data in vec(any::<u8>(), 0..24)) {
        redaction::idempotent(&data);
    }

    #[test]
    fn nothing_is_left(data in vec(any::<u8>(), 0..12)) {
        redaction::nothing_is_left(&data);
    }
}

proptest! {
    #![proptest_config(config(12, 2_000))]

    #[test]
    fn streams_read_as_the_whole(data in vec(any::<u8>(), 1..24)) {
        redaction::streams_read_as_the_whole(&data);
    }
}

/// Kinds are words: nothing that would end a marker or break a line.
#[test]
fn kinds_are_words() {
    for kind in kinds() {
        assert!(kind.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-'), "{kind}");
        let marker = format!("[REDACTED:{kind}]");
        assert_eq!(Redactor::new(&[*kind]).redact(&marker, Reach::Content).0, marker);
    }
}
