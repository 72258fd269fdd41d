//! The kinds of secrets that markers name, and the indicators by which each kind is recognized.

use std::sync::LazyLock;

use crate::redact::rules::{INFIXES, KEYWORDS, LABELS, tokens};

/// The beginning of our own markers.
pub(crate) const OPENING: &[u8] = b"[REDACTED:";

/// Bytes up to which the end of a marker is searched; kinds are shorter.
pub(crate) const MARKER_MAX: usize = 64;

/// Kinds without an entry in the tables.
const OTHER_KINDS: [&str; 12] = [
    "secret",
    "jwt",
    "private",
    "private-key",
    "connection-password",
    "authorization",
    "cookie",
    "byok",
    "foreign",
    "discord-token",
    "mailgun-key",
    "key-material",
];

/// Every kind, sorted: a text that only resembles our own marker may hide a secret.
static KINDS: LazyLock<Vec<&'static str>> = LazyLock::new(|| {
    let tables = tokens().map(|token| token.kind).chain(INFIXES.iter().map(|infix| infix.kind));
    let mut kinds: Vec<_> = tables.chain(KEYWORDS.iter().map(|keyword| keyword.kind)).chain(OTHER_KINDS).collect();
    kinds.sort_unstable();
    kinds.dedup();
    kinds
});

/// Return every kind that can occur in `[REDACTED:<kind>]`, sorted.
#[must_use]
pub fn kinds() -> &'static [&'static str] {
    &KINDS
}

/// A string by which a kind of secret is recognized.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Indicator {
    /// The kind in `[REDACTED:<kind>]`.
    pub kind: &'static str,
    /// `begins`: the secret begins with it; `holds`: it is inside the secret; `named`: it is in the name of the secret.
    pub how: &'static str,
    /// The string.
    pub text: &'static str,
}

/// Return every indicator in the tables, sorted. A kind without one is recognized by its shape.
#[must_use]
pub fn indicators() -> Vec<Indicator> {
    let begins = tokens().map(|token| Indicator { kind: token.kind, how: "begins", text: token.prefix });
    let holds = INFIXES.iter().map(|infix| Indicator { kind: infix.kind, how: "holds", text: infix.middle });
    let named =
        KEYWORDS.iter().chain(LABELS).map(|keyword| Indicator { kind: keyword.kind, how: "named", text: keyword.word });
    let mut indicators: Vec<_> = begins.chain(holds).chain(named).collect();
    indicators.sort_unstable();
    indicators.dedup();
    indicators
}
