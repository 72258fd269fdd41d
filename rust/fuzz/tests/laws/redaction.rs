//! Properties of redaction, over texts that resemble secrets.

use proptest::collection::vec;
use proptest::prelude::*;
use reverie_core::redact::Redactor;
use reverie_fuzz::redaction as laws;

use crate::config;

/// Texts of pieces of secrets and of the text around them.
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
    fn laws_hold_with_and_without_known_secrets(text in secretive(), known_secrets in vec("[a-z]{1,4}", 0..3)) {
        for redactor in [Redactor::new::<&str>(&[]), Redactor::new(&known_secrets)] {
            laws::check_spans(&redactor, &text);
            laws::check_idempotent(&redactor, &text);
        }
    }
}

proptest! {
    #![proptest_config(config(4096, 1_000_000))]

    #[test]
    fn spans_do_not_overlap(data in vec(any::<u8>(), 0..24)) {
        laws::spans_do_not_overlap(&data);
    }

    #[test]
    fn redaction_is_idempotent(data in vec(any::<u8>(), 0..24)) {
        laws::redaction_is_idempotent(&data);
    }

    #[test]
    fn remembering_is_idempotent(data in vec(any::<u8>(), 0..24)) {
        laws::remembering_is_idempotent(&data);
    }

    #[test]
    fn published_formats_are_removed(data in vec(any::<u8>(), 0..12)) {
        laws::published_formats_are_removed(&data);
    }
}
