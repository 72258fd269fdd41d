//! Laws (invariants) of the core for property testing: functions of arbitrary bytes that panic if the law is violated.
//!
//! `make fuzz` runs every law under libFuzzer for some minutes; `tests/laws.rs` runs all of them over generated inputs in
//! the test suite.

#![expect(clippy::missing_panics_doc, reason = "to panic is how a law says that it is broken")]
#![allow(clippy::expect_used, clippy::unwrap_used, clippy::panic, reason = "as in tests: what cannot be is a finding")]

pub mod align;
pub mod apply;
pub mod blocks;
pub mod canonical;
pub mod limits;
pub mod merge;
pub mod patch;
pub mod rank;
pub mod redaction;
pub mod tokens;

/// The byte that separates the parts of an input; UTF-8 never has it.
pub const SEPARATOR: u8 = 0xff;

/// A law: panics if it does not hold for these bytes.
pub type Law = fn(&[u8]);

/// Every law with its name: the module under test, and what holds.
pub const LAWS: &[(&str, Law)] = &[
    ("align-uses-every-id-once", align::every_old_block_is_matched_once_or_deleted),
    ("align-keeps-the-same", align::unchanged_lists_are_matched_in_order),
    ("apply-stays-in-its-blocks", apply::changes_affect_only_their_blocks),
    ("blocks-join", blocks::spans_join_to_the_document),
    ("blocks-stand-alone", blocks::blocks_parse_alike_alone),
    ("canonical-idempotent", canonical::canonical_form_is_idempotent),
    ("limits-redaction", limits::redaction_returns),
    ("limits-changes", limits::changes_return),
    ("limits-merges", limits::merges_return),
    ("limits-json", limits::json_returns),
    ("limits-packing", limits::packing_returns),
    ("limits-counting", limits::counting_returns),
    ("limits-searching", limits::searching_returns),
    ("merge-diff-leads-from-old-to-new", merge::hunks_lead_from_old_to_new),
    ("merge-takes-one-side-whole", merge::changes_of_one_side_are_taken_unchanged),
    ("merge-is-symmetric", merge::merge_is_symmetric),
    ("merge-loses-nothing", merge::no_added_line_is_lost),
    ("merge-places-its-conflicts", merge::conflict_positions_are_correct),
    ("merge-takes-any-text", merge::arbitrary_texts_are_merged),
    ("patch-does-what-it-says", patch::patches_agree_with_naive_replacement),
    ("rank-forgets-its-history", rank::insertion_history_does_not_matter),
    ("rank-explains-itself", rank::hits_are_ordered_and_term_scores_add_up),
    ("redact-spans-are-apart", redaction::spans_do_not_overlap),
    ("redact-idempotent", redaction::redaction_is_idempotent),
    ("redact-remembering", redaction::remembering_is_idempotent),
    ("redact-leaves-nothing", redaction::published_formats_are_removed),
    ("tokens-cuts-fit", tokens::truncated_texts_fit),
    ("tokens-items-add-up", tokens::item_counts_add_up),
    ("tokens-count-again-the-same", tokens::counts_are_reproducible),
];

/// Dictionary of pieces that matter to the code under test, for generated inputs and for libFuzzer.
pub const WORDS: &[&str] = &[
    "- ", "* ", "  ", "\t", "\n", "\r\n", "\r", "# ", "## ", "> Summary: ", "```", "---\n", "- Key: value\n", "#tag",
    "\u{feff}", "<!-- ", "-->", "{", "}", "[", "]", ",", ":", "\"", "\"a\":", "\"\u{e000}\":", "\"\u{10000}\":",
    "true", "null", "-0", "1e21", "1E-7", "9007199254740991", "9007199254740992", "0.1", "\\u0000", "\\ud83d",
    "\\ude00", "\\n", "sk-", "ghp_", "AKIA", "eyJ", "password", "=", "://", "@", "[REDACTED:",
    "-----BEGIN PRIVATE KEY-----", "-----END PRIVATE KEY-----", "0123456789abcdef", "%3D", " ", "the", "The", "THE",
    "'s", "123", "_", "/", "...", "camelCase", "src/main.rs", "\u{17f}", "\u{e9}", "\u{301}", "\u{4e2d}", "\u{1f600}",
    "\u{2028}", "\u{a0}", "\u{1c}", "\u{5d0}",
];
