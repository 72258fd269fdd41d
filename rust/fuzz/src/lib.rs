//! Laws of the core, each a function of any bytes that panics where the law is broken.
//!
//! `make fuzz` runs every law under libFuzzer for some minutes; `tests/short.rs` runs all of them over made-up inputs
//! in the suite.

#![expect(clippy::missing_panics_doc, reason = "to panic is how a law says that it is broken")]
#![allow(clippy::expect_used, clippy::unwrap_used, clippy::panic, reason = "as in tests: what cannot be is a finding")]

pub mod align;
pub mod apply;
pub mod blocks;
pub mod canonical;
pub mod merge;
mod parts;
pub mod patch;
pub mod rank;
pub mod redaction;
pub mod rewrite;
pub mod tokens;

/// What separates the parts of an input: a byte that UTF-8 does not have.
pub const SEPARATOR: u8 = parts::SEPARATOR;

/// A law: panics where it does not hold for these bytes.
pub type Law = fn(&[u8]);

/// Every law by its name: the subject, and what holds.
pub const LAWS: &[(&str, Law)] = &[
    ("align-uses-every-id-once", align::every_id_is_used_once),
    ("align-keeps-the-same", align::the_same_stays),
    ("apply-stays-in-its-blocks", apply::changes_stay_in_their_blocks),
    ("blocks-join", blocks::spans_join),
    ("blocks-stand-alone", blocks::blocks_stand_alone),
    ("canonical-idempotent", canonical::idempotent),
    ("merge-diff-leads-from-old-to-new", merge::hunks_lead_from_old_to_new),
    ("merge-takes-one-side-whole", merge::one_side_is_taken_whole),
    ("merge-is-symmetric", merge::sides_are_equal),
    ("merge-loses-nothing", merge::nothing_is_lost),
    ("merge-places-its-conflicts", merge::conflicts_say_where_they_stand),
    ("merge-takes-any-text", merge::any_text_is_merged),
    ("canonical-text-is-value", rewrite::text_and_value_agree),
    ("patch-does-what-it-says", patch::patches_are_what_they_say),
    ("rank-forgets-its-history", rank::forgets),
    ("rank-explains-itself", rank::explains),
    ("redact-spans-are-apart", redaction::spans_are_apart),
    ("redact-idempotent", redaction::idempotent),
    ("redact-leaves-nothing", redaction::nothing_is_left),
    ("redact-streams-a-short-text", redaction::short_streams_read_as_the_whole),
    ("redact-streams-a-long-text", redaction::long_streams_read_as_the_whole),
    ("tokens-cuts-fit", tokens::cuts_fit),
    ("tokens-items-add-up", tokens::items_add_up),
    ("tokens-count-again-the-same", tokens::counts_are_the_same_again),
];

/// Pieces that mean something to the code under test.
pub const WORDS: &[&str] = &[
    "- ",
    "* ",
    "  ",
    "\t",
    "\n",
    "\r\n",
    "\r",
    "# ",
    "## ",
    "> Summary: ",
    "```",
    "---\n",
    "- Key: value\n",
    "#tag",
    "\u{feff}",
    "<!-- ",
    "-->",
    "{",
    "}",
    "[",
    "]",
    ",",
    ":",
    "\"",
    "\"a\":",
    "\"\u{e000}\":",
    "\"\u{10000}\":",
    "true",
    "null",
    "-0",
    "1e21",
    "1E-7",
    "9007199254740991",
    "9007199254740992",
    "0.1",
    "\\u0000",
    "\\ud83d",
    "\\ude00",
    "\\n",
    "sk-",
    "ghp_",
    "AKIA",
    "eyJ",
    "password",
    "=",
    "://",
    "@",
    "[REDACTED:",
    "-----BEGIN PRIVATE KEY-----",
    "-----END PRIVATE KEY-----",
    "0123456789abcdef",
    "%3D",
    " ",
    "the",
    "The",
    "THE",
    "'s",
    "123",
    "_",
    "/",
    "...",
    "camelCase",
    "src/main.rs",
    "\u{17f}",
    "\u{e9}",
    "\u{301}",
    "\u{4e2d}",
    "\u{1f600}",
    "\u{2028}",
    "\u{a0}",
    "\u{1c}",
    "\u{5d0}",
];

/// The law of this name.
#[must_use]
pub fn named(name: &str) -> Option<Law> {
    LAWS.iter().find(|(known, _)| *known == name).map(|(_, law)| *law)
}
