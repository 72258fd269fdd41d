//! Every law over generated inputs: words of the dictionary, any bytes, and texts that are difficult for its module.

use std::fmt::Debug;

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use proptest::test_runner::TestRunner;
use reverie_core::redact::Redactor;
use reverie_fuzz::{LAWS, SEPARATOR, WORDS, merge, redaction};

/// Try `cases` inputs, or 250 times as many with `REVERIE_SOAK`.
fn config(cases: u32) -> ProptestConfig {
    let soak = if std::env::var_os("REVERIE_SOAK").is_some() { 250 } else { 1 };
    ProptestConfig { cases: cases * soak, failure_persistence: None, ..ProptestConfig::default() }
}

/// Check every law whose name begins with `prefix`.
fn check<S: Strategy<Value: AsRef<[u8]> + Debug>>(prefix: &str, cases: u32, inputs: S) {
    let laws: Vec<_> = LAWS.iter().filter(|(name, _)| name.starts_with(prefix)).collect();
    assert!(!laws.is_empty(), "no law is named {prefix}");
    for (name, law) in laws {
        // Redaction of long texts takes a quarter of a second without optimization.
        let cases = if *name == "limits-redaction" { cases / 16 } else { cases };
        let holds = TestRunner::new(config(cases)).run(&inputs, |input| {
            law(input.as_ref());
            Ok(())
        });
        assert!(holds.is_ok(), "{name}: {holds:?}");
    }
}

/// Fewer than `end` bytes.
fn bytes(end: usize) -> impl Strategy<Value = Vec<u8>> {
    vec(any::<u8>(), 0..end)
}

/// Fewer than `end` pieces in one text.
fn pieces(piece: impl Strategy<Value = String>, end: usize) -> impl Strategy<Value = String> {
    vec(piece, 0..end).prop_map(|pieces| pieces.concat())
}

#[test]
fn words_of_the_dictionary() {
    let word = select(WORDS).prop_map(|word| word.as_bytes().to_vec());
    let step = prop_oneof![8 => (word, 1_usize..4).prop_map(|(word, times)| word.repeat(times)),
        1 => Just(vec![SEPARATOR]), 1 => any::<u8>().prop_map(|byte| vec![byte])];
    // Parts that occur again, and an end perhaps in the middle of a character.
    let input = (vec(step, 0..16), any::<bool>(), 0_usize..4).prop_map(|(steps, twice, cut)| {
        let input = steps.concat().repeat(1 + usize::from(twice));
        input[..input.len().saturating_sub(cut)].to_vec()
    });
    check("", 512, input);
}

#[test]
fn decisions_at_limits() {
    check("limits-", 512, vec(any::<u8>(), 160));
}

#[test]
fn blocks_and_changes() {
    check("blocks-", 4096, bytes(40));
    check("apply-", 4096, bytes(40));
    check("patch-", 4096, vec(any::<u8>(), 1..30));
    check("align-", 4096, vec(select(&b"aab \n\n\r\xff"[..]), 0..40));
    let line = prop_oneof![
        "[ ]{0,5}[-*+] [a-z #]{0,8}",
        "#{1,7} ?[a-zA-Z]{0,5}",
        "> Summary: [a-z]{0,5}",
        "[`~]{3,5}[a-z]{0,2}",
        "---|\\.\\.\\.|\\* \\* \\*|<div>|<!-- x|-->|\\| a \\|",
        "- (Summary|Date): [a-z]{0,5}",
        "[ \t]{0,6}[^\r\n]{0,10}",
    ];
    let lines = pieces((line, "\n|\r\n|\r|\n\n").prop_map(|(line, ending)| line + &ending), 12);
    check("blocks-join", 4096, ("\u{feff}?", lines).prop_map(|(mark, lines)| mark + &lines));
}

#[test]
fn canonical_json() {
    let piece = prop_oneof![
        4 => "[\\[\\]{},:]",
        2 => "\"[a-c\u{e000}\u{10000}é]{0,3}\":",
        2 => "\"(\\\\u00[0-7][0-9a-f]|\\\\[nrtbf/\"]|\\\\ud83d\\\\ude00|[ -~&&[^\"\\\\]]){0,12}\"",
        2 => "-?(0|[1-9][0-9]{0,17})(\\.[0-9]{1,3})?([eE][+-]?[0-9]{1,2})?",
        1 => "true|false|null| |\n|\\\\|\"",
    ];
    check("canonical-", 1024, pieces(piece, 16));
    check("canonical-", 1024, "[\\[\\]{}\",:0-9eE+.\\-\\\\utrfalsn \u{e000}\u{10000}]{0,24}");
}

#[test]
fn diffs_and_merges() {
    check("merge-diff-", 4096, bytes(200));
    check("merge-", 4096, bytes(40));
    check("merge-takes-any-text", 4096, "[a\\-# \n\r\u{0}é]{0,60}");
}

/// Texts of up to 9,000 lines, which are divided at anchors, obey the same laws as short ones.
#[test]
fn long_texts_are_merged_as_short_ones() {
    let mut state = 1_u32;
    let mut next = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 24) as u8
    };
    for length in [500, 2_000, 9_000] {
        let data: Vec<u8> = (0..length).map(|_| next()).collect();
        merge::hunks_lead_from_old_to_new(&data);
        merge::merge_is_symmetric(&data);
        merge::no_added_line_is_lost(&data);
    }
}

/// A query, and insertions and removals under six ids; few words, so that many match.
#[test]
fn search_indexes() {
    let step = (0_u8..6, any::<bool>(), "[abc ]{0,8}");
    check(
        "rank-",
        1024,
        ("[abc ]{0,6}", vec(step, 0..20)).prop_map(|(query, steps)| {
            let mut data = query.into_bytes();
            for (id, is_removed, text) in steps {
                data.extend([SEPARATOR, if is_removed { id | 0x80 } else { id }]);
                data.extend(text.into_bytes());
            }
            data
        }),
    );
}

#[test]
fn redaction_of_pieces() {
    check("redact-", 4096, bytes(24));
}

proptest! {
    #![proptest_config(config(1024))]

    /// Texts that resemble secrets are redacted once, with and without known secrets.
    #[test]
    fn redaction_of_texts(text in pieces(prop_oneof![
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
    ], 8), known_secrets in vec("[a-z]{1,4}", 0..3)) {
        for redactor in [Redactor::new::<&str>(&[]), Redactor::new(&known_secrets)] {
            redaction::check_spans(&redactor, &text);
            redaction::check_idempotent(&redactor, &text);
        }
    }
}

#[test]
fn token_counts() {
    let piece = prop_oneof!["[a-zA-Z' ]{1,8}", "[ \\t\\r\\n/!.]{1,6}", "[0-9]{1,7}", "\\PC{1,6}", "[a-c]{40,90}"];
    let text = prop_oneof![4 => pieces(piece, 12).prop_map(String::into_bytes), 1 => bytes(60)];
    check("tokens-", 512, (0_u8..40, text).prop_map(|(limit, text)| [vec![limit], text].concat()));
}
