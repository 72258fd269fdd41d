//! What holds for any input at all.

use proptest::collection::vec;
use proptest::prelude::*;
use reverie_core::Error;
use reverie_core::blocks::{self, Sections};
use reverie_core::canonical::{self, utf16_order};
use reverie_core::error::JsonReason;
use reverie_core::rank::Index;
use reverie_core::redact::{Reach, Redactor};
use reverie_core::tokens::Encoding;

/// Lines that mean something to the block parser, in any order.
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
    #![proptest_config(ProptestConfig { cases: 1024, failure_persistence: None, ..ProptestConfig::default() })]

    /// The spans of a document's blocks join to it byte for byte, however headings are read.
    #[test]
    fn blocks_join_to_their_document(text in document()) {
        for sections in [Sections::Always, Sections::Never, Sections::ByFields] {
            let blocks = blocks::parse(text.as_bytes(), sections).unwrap();
            let mut at = 0;
            for block in &blocks {
                prop_assert_eq!(block.start, at);
                prop_assert!(block.end > block.start);
                at = block.end;
            }
            prop_assert_eq!(at, text.len());
        }
    }

    /// A document that is not UTF-8 is refused where it stops to be.
    #[test]
    fn blocks_refuse_what_is_not_text(bytes in vec(any::<u8>(), 0..40)) {
        let found = blocks::parse(&bytes, Sections::ByFields);
        prop_assert_eq!(found.is_ok(), std::str::from_utf8(&bytes).is_ok());
    }

    /// Redacting twice is redacting once, and spans are apart, in order and on characters.
    #[test]
    fn redaction_is_idempotent(text in secretive(), literals in vec("[a-z]{1,4}", 0..3)) {
        for redactor in [Redactor::new::<&str>(&[]), Redactor::new(&literals)] {
            let mut at = 0;
            for span in redactor.spans(&text, Reach::Content) {
                prop_assert!(span.start >= at && span.end > span.start);
                prop_assert!(text.is_char_boundary(span.start) && text.is_char_boundary(span.end));
                at = span.end;
            }
            let (once, _) = redactor.redact(&text, Reach::Content);
            let (twice, again) = redactor.redact(&once, Reach::Content);
            prop_assert_eq!(&once, &twice);
            prop_assert_eq!(again, 0);
        }
    }

    /// A known value is gone from the text, except where it stands inside a marker.
    #[test]
    fn literals_do_not_survive(text in "[a-f ]{0,30}", literals in vec("[a-f]{2,5}", 1..4)) {
        let (redacted, _) = Redactor::new(&literals).redact(&text, Reach::Content);
        let left = redacted.replace("[REDACTED:secret]", "\u{0}");
        for literal in &literals {
            prop_assert!(!left.contains(literal.as_str()), "{} in {}", literal, redacted);
        }
    }

    /// What can be canonical is JSON, and is its own canonical form. The one exception is a double from 2^53 to 10^21:
    /// it is written without exponent, and an integer that large is refused when it is read.
    #[test]
    fn canonical_is_idempotent(text in "[\\[\\]{}\",:0-9eE+.\\-\\\\utrfalsn \u{e000}\u{10000}]{0,24}") {
        let checked = canonical::check_json(text.as_bytes());
        if let Ok(value) = canonical::parse(text.as_bytes()) {
            prop_assert!(checked.is_ok());
            let once = canonical::canonical(&value).unwrap();
            match canonical::parse(&once) {
                Ok(again) => prop_assert_eq!(&canonical::canonical(&again).unwrap(), &once),
                Err(Error::Json { reason, .. }) => prop_assert_eq!(reason, JsonReason::NumberOutOfRange),
                Err(other) => prop_assert!(false, "{other}"),
            }
        }
    }

    /// No bytes make the checker panic.
    #[test]
    fn checking_ends_for_any_bytes(bytes in vec(any::<u8>(), 0..64)) {
        let _ = canonical::check_json(&bytes);
    }

    /// The order of keys is that of their UTF-16 code units.
    #[test]
    fn keys_are_ordered_by_code_units(left in "[a\u{7ff}\u{d7ff}\u{e000}\u{ffff}\u{10000}\u{10ffff}]{0,4}",
                                      right in "[a\u{7ff}\u{d7ff}\u{e000}\u{ffff}\u{10000}\u{10ffff}]{0,4}") {
        prop_assert_eq!(utf16_order(&left, &right), left.encode_utf16().cmp(right.encode_utf16()));
    }

    /// What is truncated is a beginning of the text that fits, and a text that fits is left whole.
    #[test]
    fn truncated_text_fits(text in "\\PC{0,60}", limit in 0_usize..20) {
        let encoding = Encoding::named("o200k_base").unwrap();
        let cut = encoding.truncate(&text, limit);
        prop_assert!(text.starts_with(cut));
        prop_assert!(encoding.count(cut) <= limit);
        prop_assert_eq!(cut.len() == text.len(), encoding.count(&text) <= limit);
        prop_assert_eq!(encoding.fits(&text, limit), encoding.count(&text) <= limit);
    }

    /// Items counted alone add up to their count together.
    #[test]
    fn items_add_up(bodies in vec("[^\\s/\\pC][^\n\r\\pC]{0,30}", 0..6)) {
        let encoding = Encoding::named("o200k_base").unwrap();
        let whole: String = bodies.iter().flat_map(|body| ["- ", body, "\n"]).collect();
        prop_assert_eq!(encoding.count_items(&bodies).iter().sum::<usize>(), encoding.count(&whole));
    }

    /// An index is what is in it: how it came there does not show.
    #[test]
    fn an_index_forgets_its_history(
        steps in vec((0_u8..6, "[abc ]{0,8}", prop::bool::ANY), 0..20),
        query in "[abc ]{0,6}",
    ) {
        let mut lived = Index::default();
        let mut kept = std::collections::BTreeMap::new();
        for (id, text, removed) in steps {
            let id = id.to_string();
            if removed {
                prop_assert_eq!(lived.remove(&id), kept.remove(&id).is_some());
            } else {
                lived.add(&id, &text, &["tag"]);
                kept.insert(id, text);
            }
        }
        let mut fresh = Index::default();
        for (id, text) in kept.iter().rev() {
            fresh.add(id, text, &["tag"]);
        }
        prop_assert_eq!(lived.len(), fresh.len());
        for limit in [0, 1, 3, 100] {
            prop_assert_eq!(lived.search(&query, limit), fresh.search(&query, limit));
        }
    }
}
