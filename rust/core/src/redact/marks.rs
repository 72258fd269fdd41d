//! What markers say: every kind there is, and what in a text gives away a secret of it.

use std::sync::LazyLock;

use crate::redact::rules::{INFIXES, KEYWORDS, tokens};

/// What a marker of our own begins with.
pub(crate) const OPENING: &[u8] = b"[REDACTED:";

/// Kinds in markers are shorter than so many bytes.
pub(crate) const MARKER_MAX: usize = 64;

/// Kinds that no table names.
const OTHER_KINDS: [&str; 10] = [
    "secret",
    "jwt",
    "private-key",
    "connection-password",
    "authorization",
    "byok",
    "foreign",
    "discord-token",
    "mailgun-key",
    "key-material",
];

/// Every kind, in order: what only looks like a marker of our own may hide a secret.
static KINDS: LazyLock<Vec<&'static str>> = LazyLock::new(|| {
    let tables = tokens().map(|token| token.kind).chain(INFIXES.iter().map(|infix| infix.kind));
    let mut kinds: Vec<_> = tables.chain(KEYWORDS.iter().map(|keyword| keyword.kind)).chain(OTHER_KINDS).collect();
    kinds.sort_unstable();
    kinds.dedup();
    kinds
});

/// Every word that can stand in `[REDACTED:<kind>]`, in order.
#[must_use]
pub fn kinds() -> &'static [&'static str] {
    &KINDS
}

/// What in a text gives away a secret of a kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Mark {
    /// The word in `[REDACTED:<kind>]`.
    pub kind: &'static str,
    /// `begins`: the secret begins with it; `holds`: it is inside the secret; `named`: it is in the secret's name.
    pub how: &'static str,
    /// The mark itself.
    pub text: &'static str,
}

/// Every mark in the tables, in order. A kind without one is known by its shape.
#[must_use]
pub fn marks() -> Vec<Mark> {
    let begins = tokens().map(|token| Mark { kind: token.kind, how: "begins", text: token.prefix });
    let holds = INFIXES.iter().map(|infix| Mark { kind: infix.kind, how: "holds", text: infix.middle });
    let named = KEYWORDS.iter().map(|keyword| Mark { kind: keyword.kind, how: "named", text: keyword.word });
    let mut marks: Vec<_> = begins.chain(holds).chain(named).collect();
    marks.sort_unstable();
    marks.dedup();
    marks
}
