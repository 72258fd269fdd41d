//! Tests of known secrets, of markers, and of digests.

use proptest::collection::vec;
use proptest::prelude::*;
use reverie_core::redact::{Redactor, Scope, continue_private, indicators, kinds};

proptest! {
    #![proptest_config(ProptestConfig { cases: 1024, failure_persistence: None, ..ProptestConfig::default() })]

    /// A known secret is removed from the text, except inside a marker.
    #[test]
    fn known_secrets_are_removed(text in "[a-f ]{0,30}", secrets in vec("[a-f]{2,5}", 1..4)) {
        let (redacted, _) = Redactor::new(&secrets).redact(&text, Scope::Content);
        let rest = redacted.replace("[REDACTED:secret]", "\u{0}");
        for secret in &secrets {
            prop_assert!(!rest.contains(secret.as_str()), "{} in {}", secret, redacted);
        }
    }
}

/// A listed value of any length is found, also one that repeats itself and whose text has line breaks.
#[test]
fn long_known_secrets_are_removed() {
    for length in [100, 1_000, 10_000, 100_000] {
        let secret = "x".repeat(length) + "0123456789abcdefghijklmnopqrstuvwyz";
        let text = format!("a {}\n{} b", &secret[..length], &secret[length..]);
        let redactor = Redactor::new(&[secret]);
        assert_eq!(redactor.redact(&text, Scope::Content).0, "a [REDACTED:secret] b");
    }
}

/// Kinds consist of characters that neither end a marker nor break a line.
#[test]
fn kinds_are_words() {
    for kind in kinds() {
        assert!(kind.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-'), "{kind}");
        let marker = format!("[REDACTED:{kind}]");
        assert_eq!(Redactor::new(&[*kind]).redact(&marker, Scope::Content).0, marker);
    }
}

/// A key block that has only markers is not a key, else each pass would reveal one more, up to any depth.
#[test]
fn a_block_of_markers_is_not_a_key() {
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

/// A digest is not a token of any published format, whatever it begins with: digests are the addresses of archives.
#[test]
fn no_digest_is_a_token() {
    let redactor = Redactor::new::<&str>(&[]);
    let rest = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08";
    let hexadecimal = |text: &str| text.bytes().all(|byte| byte.is_ascii_hexdigit());
    let begins = indicators().into_iter().filter(|indicator| indicator.how == "begins").map(|indicator| indicator.text);
    let prefixes: Vec<_> = begins.filter(|prefix| hexadecimal(prefix)).collect();
    assert!(!prefixes.is_empty());
    for prefix in prefixes {
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

#[test]
fn private_text_is_replaced_with_its_marks() {
    let redactor = Redactor::new::<&str>(&[]);
    let cases = [
        ("a <private>my diary</private> b", "a [REDACTED:private] b"),
        ("<private>\nline\nline\n</private>", "[REDACTED:private]"),
        ("<private>a</private><private>b</private>", "[REDACTED:private][REDACTED:private]"),
        ("<private>a <private>b</private> c</private> d", "[REDACTED:private] d"),
        ("<private>a <private>b</private> c", "[REDACTED:private]"),
        ("<PRIVATE>a</PRIVATE> b", "[REDACTED:private] b"),
        ("<Private>a</private> b", "[REDACTED:private] b"),
        ("<private >a</private> b", "[REDACTED:private] b"),
        ("<private>a</ private> b", "[REDACTED:private] b"),
        ("<private\n>a< / private\n> b", "[REDACTED:private] b"),
        ("<private>key sk-ant-api03-abcdefghijklmnopqrstuvwxyz0123456789 x</private>", "[REDACTED:private]"),
        ("the key <private>a\nb", "the key [REDACTED:private]"),
        ("</private> a <private>", "</private> a [REDACTED:private]"),
        ("put it between `<private>` tags", "put it between `<private>` tags"),
        ("`<private>` marks <private>a</private> b", "`<private>` marks [REDACTED:private] b"),
        ("`<private>`a`</private>` b", "`[REDACTED:private]` b"),
        ("<private>a `<private>` b</private> c", "[REDACTED:private] c"),
        ("<private>a `<private>`b`</private>` c</private> d", "[REDACTED:private] d"),
        ("<private kind=\"a\"> b", "<private kind=\"a\"> b"),
        ("< private> a <privates> b", "< private> a <privates> b"),
        ("< private >a</private> b", "[REDACTED:private] b"),
        ("<private reason=\"my > health\" x='1'>a</private> b", "[REDACTED:private] b"),
        ("<private>a <private why=\"b\">c</private> d</private> e", "[REDACTED:private] e"),
        (
            "<private key> of <private/> and <private a=\"1\"/></private>",
            "<private key> of <private/> and <private a=\"1\"/></private>",
        ),
        ("std::vector<private> a;", "std::vector<private> a;"),
        ("<private></private>", "[REDACTED:private]"),
    ];
    for (text, expected) in cases {
        assert_eq!(redactor.redact(text, Scope::Content).0, expected, "{text}");
    }
}

#[test]
fn private_text_goes_on_in_the_next_text() {
    let cases = [
        ("a <private>b", false, (0, true)),
        ("a <private>b</private> c", false, (0, false)),
        ("see `<private>`", false, (0, false)),
        ("a</private> b", true, (11, false)),
        ("a <private>b</private> c", true, (24, true)),
        ("a <private>b</private> c</private> <private>", true, (34, true)),
        ("a</private> b <private>c", true, (11, true)),
    ];
    for (text, is_open, expected) in cases {
        assert_eq!(continue_private(text, is_open), expected, "{text}");
    }
}
