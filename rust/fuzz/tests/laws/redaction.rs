//! Laws of redaction, on texts made of what begins like a secret.

use proptest::collection::vec;
use proptest::prelude::*;
use reverie_core::redact::Redactor;
use reverie_fuzz::redaction as laws;

use crate::config;

/// Text made of what secrets and their surroundings are made of.
fn secretive() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        "sk-(ant-)?[a-z0-9-]{0,24}",
        "ghp_[A-Za-z0-9]{18,40}",
        "AKIA[A-Z0-9]{14,18}",
        "eyJ[A-Za-z0-9]{6,12}\\.[A-Za-z0-9]{6,12}(\\.[A-Za-z0-9_-]{0,9})?",
        "(api_key|token|PASSWORD|secret) ?[=:] ?[\"']?[a-zA-Z0-9$]{0,12}[\"']?",
        "[a-z]{1,5}://[a-z]{0,4}:[a-z0-9]{0,6}@[a-z]{0,4}",
        "-----BEGIN (RSA )?PRIVATE KEY-----[A-Za-z0-9\n]{0,40}",
        "-----END PRIVATE KEY-----",
        "\\[REDACTED:[a-z-]{0,6}\\]?|\\[BYOK:[a-z]{0,4}\\]|<REDACTED:[a-z]{0,4}>",
        "[ \n\"'\\\\.,é-]{0,3}",
        "\\PC{0,6}",
    ];
    vec(piece, 0..8).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(config(1024, 200_000))]

    #[test]
    fn any_text_obeys(text in secretive(), literals in vec("[a-z]{1,4}", 0..3)) {
        for redactor in [Redactor::new::<&str>(&[]), Redactor::new(&literals)] {
            laws::apart_in(&redactor, &text);
            laws::idempotent_in(&redactor, &text);
        }
    }
}

proptest! {
    #![proptest_config(config(4096, 1_000_000))]

    #[test]
    fn spans_are_apart(data in vec(any::<u8>(), 0..24)) {
        laws::spans_are_apart(&data);
    }

    #[test]
    fn idempotent(data in vec(any::<u8>(), 0..24)) {
        laws::idempotent(&data);
    }

    #[test]
    fn nothing_is_left(data in vec(any::<u8>(), 0..12)) {
        laws::nothing_is_left(&data);
    }
}

proptest! {
    #![proptest_config(config(200, 20_000))]

    #[test]
    fn short_streams_read_as_the_whole(data in vec(any::<u8>(), 1..10)) {
        laws::short_streams_read_as_the_whole(&data);
    }

    #[test]
    fn long_streams_read_as_the_whole(data in vec(any::<u8>(), 2..24)) {
        laws::long_streams_read_as_the_whole(&data);
    }
}
