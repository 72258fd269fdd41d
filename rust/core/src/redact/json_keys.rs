//! Rules for JSON: which strings are redacted, and which keys announce that their value is a secret.

use crate::redact::Scope;
use crate::redact::rules::{IDENTIFIER_KEYS, KEYWORDS, Keyword, SECRET_KEYS};

/// The kind of a JSON object, as far as it decides what is redacted inside it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ObjectKind {
    /// Any other.
    #[default]
    Plain,
    /// A thinking block: its `signature`, or the `data` that replaces it, must be returned to the API unchanged.
    Thinking,
    /// An image or document block, which has `data` itself or a source that does.
    Media,
    /// A base64 source; its `data` is media only inside such a block.
    Source,
}

impl ObjectKind {
    /// Return the kind of an object by its `type`.
    #[must_use]
    pub fn of(kind: &str) -> Self {
        match kind {
            "thinking" | "redacted_thinking" => Self::Thinking,
            "image" | "document" => Self::Media,
            "base64" => Self::Source,
            _ => Self::Plain,
        }
    }
}

/// Hint that the name of a key gives about the string under it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NameHint(pub(crate) SecretName);

/// Kind of secret that a name announces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SecretName {
    /// The name ends in this keyword.
    Secret(&'static Keyword),
    /// The name of the HTTP header: its value is a scheme and credentials.
    Authorization,
}

/// Return the scope of rules for the string under `key`, given the kinds of its object and of the enclosing one.
///
/// None for strings that are never changed: signatures of thinking and base64 data of media; elsewhere the same keys
/// are treated as identifiers. The `type` that decides this is not changed either, so that a second redaction decides
/// alike.
#[must_use]
pub fn scope_of_key(key: &str, object: ObjectKind, parent: ObjectKind) -> Option<Scope> {
    match (key, object, parent) {
        ("signature" | "data", ObjectKind::Thinking, _)
        | ("data", ObjectKind::Media, _)
        | ("data", ObjectKind::Source, ObjectKind::Media)
        | ("type", ObjectKind::Thinking | ObjectKind::Media | ObjectKind::Source, _) => None,
        ("signature", ..) | ("data", ObjectKind::Source, _) => Some(Scope::Identifier),
        (name, ..) if IDENTIFIER_KEYS.contains(&name) => Some(Scope::Identifier),
        (name, ..) => Some(scope_of_value(name)),
    }
}

/// Return the scope of rules for a string that is the value of something with this name.
#[must_use]
pub fn scope_of_value(name: &str) -> Scope {
    secret_name(name.as_bytes()).map_or(Scope::Content, |secret_name| Scope::Named(NameHint(secret_name)))
}

/// The last bytes of the keywords, and of `authorization`.
const LAST_BYTES: [bool; 256] = {
    let mut last = [false; 256];
    last[b'n' as usize] = true;
    let mut at = 0;
    while at < KEYWORDS.len() {
        if let Some(byte) = KEYWORDS[at].word.as_bytes().last() {
            last[*byte as usize] = true;
        }
        at += 1;
    }
    last
};

/// Return what a name announces, or None for ordinary names.
fn secret_name(name: &[u8]) -> Option<SecretName> {
    // Most names fail this test before any comparison.
    if !LAST_BYTES[usize::from(name.last()?.to_ascii_lowercase())] {
        return None;
    }
    let suffix_start = |word: &str| {
        let from = name.len().checked_sub(word.len());
        from.filter(|from| name.get(*from..).is_some_and(|end| end.eq_ignore_ascii_case(word.as_bytes())))
    };
    if suffix_start("authorization").is_some() {
        return Some(SecretName::Authorization);
    }
    let (keyword, from) = KEYWORDS.iter().find_map(|keyword| Some((keyword, suffix_start(keyword.word)?)))?;
    let secret = match keyword.word {
        "key" => is_secret_key_name(name),
        _ => !keyword.short || starts_word(name, from),
    };
    secret.then_some(SecretName::Secret(keyword))
}

/// Return true if a name that ends in `key` is that of a secret key: `api_key`, `API key`, but not `primary_key`.
pub(crate) fn is_secret_key_name(name: &[u8]) -> bool {
    // From the end, without what separates words: `API-Key` ends as `apikey` does.
    let letters = || {
        let word = name.iter().rev().take_while(|byte| byte.is_ascii_alphanumeric() || b"_- ".contains(byte));
        word.filter(|byte| byte.is_ascii_alphanumeric()).map(u8::to_ascii_lowercase)
    };
    SECRET_KEYS.iter().any(|secret| {
        let mut letters = letters();
        secret.bytes().rev().all(|letter| letters.next() == Some(letter))
    })
}

/// Return true if a word of the name begins at `from`: `pass` in `db_pass` does, in `compass` it does not.
///
/// After a marker no word begins, as the secret that it replaced may have ended in the middle of a word.
pub(crate) fn starts_word(name: &[u8], from: usize) -> bool {
    let Some((before, word)) = name.split_at_checked(from) else { return false };
    let capital = word.first().is_some_and(u8::is_ascii_uppercase);
    match before.last() {
        None => true,
        Some(b']') => false,
        Some(last) => !last.is_ascii_alphanumeric() || !last.is_ascii_uppercase() && capital,
    }
}
