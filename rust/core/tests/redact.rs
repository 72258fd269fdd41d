//! What becomes of known values, and of the words in markers.

use proptest::collection::vec;
use proptest::prelude::*;
use reverie_core::redact::{Reach, Redactor, kinds};

proptest! {
    #![proptest_config(ProptestConfig { cases: 1024, failure_persistence: None, ..ProptestConfig::default() })]

    /// A known value is gone from the text, except where it stands inside a marker.
    #[test]
    fn literals_do_not_survive(text in "[a-f ]{0,30}", literals in vec("[a-f]{2,5}", 1..4)) {
        let (redacted, _) = Redactor::new(&literals).redact(&text, Reach::Content);
        let left = redacted.replace("[REDACTED:secret]", "\u{0}");
        for literal in &literals {
            prop_assert!(!left.contains(literal.as_str()), "{} in {}", literal, redacted);
        }
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

/// A key block that holds only markers is none: else each round would uncover one more, up to any depth.
#[test]
fn a_block_of_markers_is_no_key() {
    let (begin, end) = ("-----BEGIN RSA PRIVATE KEY-----", "-----END RSA PRIVATE KEY-----");
    let redactor = Redactor::new::<&str>(&[]);
    let nested = format!("{}ghp_A1b2C3d4E5f6G7h8I9j0K1l2{}", begin.repeat(20), end.repeat(20));
    for reach in [Reach::Content, Reach::Name] {
        let (once, replaced) = redactor.redact(&nested, reach);
        assert!(replaced > 0 && !once.contains("ghp_"), "{once}");
        assert_eq!(redactor.redact(&once, reach), (once.as_ref().into(), 0), "{once}");
    }
    let key = format!("{begin}\n[REDACTED:github-token]\nMIIEowIBAAKCAQEA0Z3VS5JJcds3xfn\n{end}");
    assert_eq!(
        redactor.redact(&key, Reach::Content).0,
        "[REDACTED:private-key][REDACTED:github-token][REDACTED:private-key]"
    );
}
