//! What the keys of a JSON object say about their values.

use crate::redact::Reach;
use crate::redact::judge::names_a_secret_key;
use crate::redact::rules::{KEYWORDS, Keyword, NAMES};

/// What a JSON object is, as far as it decides what stands in it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Object {
    /// Any other.
    #[default]
    Plain,
    /// A block of thinking: its `signature`, or the `data` that replaces it, must come back as it was.
    Thinking,
    /// A block of an image or a document, which holds `data` itself or has a source that does.
    Picture,
    /// A base64 source; its `data` is a picture's only inside such a block.
    Source,
}

impl Object {
    /// What an object with this `type` is.
    #[must_use]
    pub fn of(kind: &str) -> Self {
        match kind {
            "thinking" | "redacted_thinking" => Self::Thinking,
            "image" | "document" => Self::Picture,
            "base64" => Self::Source,
            _ => Self::Plain,
        }
    }
}

/// What announces a whole string: the name of the key that it stands under.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Announcer(pub(crate) Announces);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Announces {
    /// A name that ends in this word.
    Secret(&'static Keyword),
    /// The value of an HTTP header: a scheme and what proves the right.
    Authorization,
}

/// How a string under `key` is looked at, in an object and the one around it; none for what is never looked into.
///
/// Those are the signature of thinking and the base64 data of pictures; elsewhere the same keys hold names. So is the
/// `type` that decides this, so that it outlasts a first redaction.
#[must_use]
pub fn holds(key: &str, object: Object, around: Object) -> Option<Reach> {
    match (key, object, around) {
        ("signature" | "data", Object::Thinking, _)
        | ("data", Object::Picture, _)
        | ("data", Object::Source, Object::Picture)
        | ("type", Object::Thinking | Object::Picture | Object::Source, _) => None,
        ("signature", ..) | ("data", Object::Source, _) => Some(Reach::Name),
        (name, ..) if NAMES.contains(&name) => Some(Reach::Name),
        (name, ..) => Some(named(name)),
    }
}

/// How a string is looked at that is the value of something with this name.
#[must_use]
pub fn named(name: &str) -> Reach {
    announces(name.as_bytes()).map_or(Reach::Content, |announces| Reach::Announced(Announcer(announces)))
}

fn announces(name: &[u8]) -> Option<Announces> {
    // Every word below ends in one of these letters, and most names end before the words are compared.
    let last = *name.last()?;
    if last.is_ascii() && !matches!(last | 0x20, b'a' | b'd' | b'e' | b'n' | b's' | b't' | b'w' | b'y') {
        return None;
    }
    let ends = |word: &str| {
        let from = name.len().checked_sub(word.len());
        from.filter(|from| name[*from..].eq_ignore_ascii_case(word.as_bytes()))
    };
    if ends("authorization").is_some() {
        return Some(Announces::Authorization);
    }
    let (keyword, from) = KEYWORDS.iter().find_map(|keyword| Some((keyword, ends(keyword.word)?)))?;
    let secret = match keyword.word {
        "key" => names_a_secret_key(name),
        "pass" | "pw" => is_word(name, from),
        _ => true,
    };
    secret.then_some(Announces::Secret(keyword))
}

/// Whether a word of the name begins at `from`, so that a compass is no password. A marker's end begins none: what
/// it replaced may have been the rest of the word.
pub(crate) fn is_word(name: &[u8], from: usize) -> bool {
    match name[..from].last() {
        None => true,
        Some(b']') => false,
        Some(before) => {
            !before.is_ascii_alphanumeric() || !before.is_ascii_uppercase() && name[from].is_ascii_uppercase()
        }
    }
}
