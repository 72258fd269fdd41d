//! The kinds of secrets that markers name, and the indicators by which each kind is recognized.

use std::sync::LazyLock;

use crate::redact::rules::{INFIXES, KEYWORDS, tokens};

/// The beginning of our own markers.
pub(crate) const OPENING: &[u8] = b"[REDACTED:";

/// Bytes up to which the end of a marker is searched; kinds are shorter.
pub(crate) const MARKER_MAX: usize = 64;

/// Kinds of formats without an entry in the tables, and those of labels.
const FORMAT_KINDS: [&str; 7] = ["jwt", "private", "private-key", "byok", "foreign", "discord-token", "mailgun-key"];
const LABEL_KINDS: [&str; 5] = ["secret", "connection-password", "authorization", "cookie", "key-material"];
/// Rules beside those of formats, which have the names of their kinds.
const OTHER_RULES: [&str; 5] = ["key-line", "label", "listed", "remembered", "sentence"];

/// Return the kinds of all formats, and other names, sorted.
fn names(others: impl IntoIterator<Item = &'static str>) -> Vec<&'static str> {
    let tables = tokens().map(|token| token.kind).chain(INFIXES.iter().map(|infix| infix.kind));
    let mut names: Vec<_> = tables.chain(FORMAT_KINDS).chain(others).collect();
    names.sort_unstable();
    names.dedup();
    names
}

/// Every kind, sorted: a text that only resembles our own marker may hide a secret.
static KINDS: LazyLock<Vec<&'static str>> =
    LazyLock::new(|| names(KEYWORDS.iter().map(|keyword| keyword.kind).chain(LABEL_KINDS)));

/// Return every kind that can occur in `[REDACTED:<kind>]`, sorted.
#[must_use]
pub fn kinds() -> &'static [&'static str] {
    &KINDS
}

/// Return the stable names of all rules, sorted.
#[must_use]
pub fn rule_names() -> Vec<&'static str> {
    names(OTHER_RULES)
}

/// Return the shape of a value without the value: its length in characters, and its classes of characters.
///
/// `24:Aa0-` has 24 characters: capitals, small letters, digits and the mark `-`. `!` stands for the marks that no
/// encoding has, `x` for anything beyond ASCII.
#[must_use]
pub fn shape(value: &str) -> String {
    let mut classes: Vec<char> = value.chars().map(class).collect();
    let length = classes.len();
    classes.sort_unstable_by_key(|class| (!class.is_ascii_alphanumeric(), *class));
    classes.dedup();
    format!("{length}:{}", classes.into_iter().collect::<String>())
}

/// Return the character that stands for the class of another.
fn class(letter: char) -> char {
    match letter {
        'A'..='Z' => 'A',
        'a'..='z' => 'a',
        '0'..='9' => '0',
        _ if letter.is_ascii_whitespace() => ' ',
        '-' | '_' | '.' | '/' | '+' | '=' | ':' => letter,
        _ if letter.is_ascii() => '!',
        _ => 'x',
    }
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
    let named = KEYWORDS.iter().map(|keyword| Indicator { kind: keyword.kind, how: "named", text: keyword.word });
    let mut indicators: Vec<_> = begins.chain(holds).chain(named).collect();
    indicators.sort_unstable();
    indicators.dedup();
    indicators
}
