//! What becomes of known values, and of the words in markers.

use proptest::collection::vec;
use proptest::prelude::*;
use reverie_core::redact::{Redactor, Scope, indicators, kinds};

proptest! {
    #![proptest_config(ProptestConfig { cases: 1024, failure_persistence: None, ..ProptestConfig::default() })]

    /// A known value is gone from the text, except where it stands inside a marker.
    #[test]
    fn literals_do_not_survive(text in "[a-f ]{0,30}", literals in vec("[a-f]{2,5}", 1..4)) {
        let (redacted, _) = Redactor::new(&literals).redact(&text, Scope::Content);
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
        assert_eq!(Redactor::new(&[*kind]).redact(&marker, Scope::Content).0, marker);
    }
}

/// A key block that holds only markers is none: else each round would uncover one more, up to any depth.
#[test]
fn a_block_of_markers_is_no_key() {
    let (begin, end) = ("-----BEGIN RSA PRIVATE KEY-----", "-----END RSA PRIVATE KEY-----");
    let redactor = Redactor::new::<&str>(&[]);
    let nested = format!("{}ghp_A1b2C3d4E5f6G7h8I9j0K1l2{}", begin.repeat(20), end.repeat(20));
    for scope in [Scope::Content, Scope::Identifier] {
        let (once, replaced) = redactor.redact(&nested, scope);
        assert!(replaced > 0 && !once.contains("ghp_"), "{once}");
        assert_eq!(redactor.redact(&once, scope), (once.as_ref().into(), 0), "{once}");
    }
    let key = format!("{begin}\n[REDACTED:github-token]\nMIIEowIBAAKCAQEA0Z3VS5JJcds3xfn\n{end}");
    assert_eq!(
        redactor.redact(&key, Scope::Content).0,
        "[REDACTED:private-key][REDACTED:github-token][REDACTED:private-key]"
    );
}

/// A digest is none of the published formats, whatever it begins with: what stores and archives are addressed by stays.
#[test]
fn no_digest_is_a_token() {
    let redactor = Redactor::new::<&str>(&[]);
    let rest = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08";
    let hexadecimal = |text: &str| text.bytes().all(|byte| byte.is_ascii_hexdigit());
    let begins = indicators().into_iter().filter(|indicator| indicator.how == "begins" && hexadecimal(indicator.text));
    for prefix in begins.map(|mark| mark.text) {
        for length in [40, 64] {
            let digest = format!("{prefix}{rest}")[..length].to_owned();
            for digest in [digest.to_lowercase(), digest.to_uppercase()] {
                for scope in [Scope::Content, Scope::Identifier] {
                    assert_eq!(redactor.redact(&digest, scope).0, digest);
                }
            }
        }
    }
    assert!(redactor.redact("4b1dQkF3bJm2Zt8LwP0sVx6RyN9cHd5TgU1aEi4KoM", Scope::Content).1 > 0);
}
