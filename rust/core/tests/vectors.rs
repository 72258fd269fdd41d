//! The golden vectors that both languages read, in `tests/vectors` of the repository.

#![expect(clippy::expect_used, clippy::panic, reason = "a test that cannot read its vectors fails")]

use std::fs;
use std::path::Path;

use reverie_core::blocks::{self, Sections};
use reverie_core::canonical::{self, Value};
use reverie_core::error::Position;
use reverie_core::redact::{Redactor, Scope};
use reverie_core::tokens::{ENCODINGS, Encoding};
use reverie_core::{Error, rank};

fn vectors(name: &str) -> Vec<Value<'static>> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/vectors").join(name);
    let text: &'static str = Box::leak(fs::read_to_string(path).expect("the vectors are there").into_boxed_str());
    text.lines().map(|line| canonical::parse(line.as_bytes()).expect("a vector is JSON")).collect()
}

fn field<'v>(vector: &'v Value<'_>, name: &str) -> Option<&'v Value<'v>> {
    match vector {
        Value::Object(members) => members.iter().find(|(key, _)| key == name).map(|(_, value)| value),
        _ => None,
    }
}

fn text<'v>(vector: &'v Value<'_>, name: &str) -> &'v str {
    match field(vector, name) {
        Some(Value::Text(text)) => text,
        other => panic!("{name} is {other:?}"),
    }
}

fn integer(vector: &Value<'_>, name: &str) -> usize {
    match field(vector, name) {
        Some(Value::Integer(integer)) => usize::try_from(*integer).expect("not negative"),
        other => panic!("{name} is {other:?}"),
    }
}

/// Counts are those of tiktoken.
#[test]
fn tokens_are_counted_as_the_vectors_say() {
    for vector in vectors("tokens.jsonl") {
        for name in ENCODINGS {
            let encoding = Encoding::named(name).expect("built in");
            let whole = text(&vector, "text");
            assert_eq!(encoding.count(whole), integer(&vector, name), "{name}: {whole:?}");
        }
    }
}

/// Each text has one canonical form, or is refused for one reason at one place.
#[test]
fn json_is_canonical_or_refused_as_the_vectors_say() {
    for vector in vectors("canonical.jsonl") {
        let whole = text(&vector, "text");
        let written = canonical::parse(whole.as_bytes()).and_then(|value| canonical::canonical(&value));
        if field(&vector, "canonical").is_some() {
            assert_eq!(String::from_utf8_lossy(&written.expect(whole)), text(&vector, "canonical"));
        } else {
            let Err(Error::Json { reason, at, .. }) = written else { panic!("{whole:?} was not refused") };
            assert_eq!(reason.code(), text(&vector, "reason"), "{whole:?}");
            assert_eq!(at, Position::Offset(integer(&vector, "offset")), "{whole:?}");
        }
    }
}

/// Secrets go, everything else stays, and a second time changes nothing.
#[test]
fn text_is_redacted_as_the_vectors_say() {
    let redactor = Redactor::new::<&str>(&[]);
    for vector in vectors("redact.jsonl") {
        let (redacted, _) = redactor.redact(text(&vector, "text"), Scope::Content);
        assert_eq!(redacted, text(&vector, "redacted"));
        assert_eq!(redactor.redact(&redacted, Scope::Content).1, 0, "{redacted:?}");
    }
}

/// A document falls into blocks of these kinds.
#[test]
fn documents_are_parsed_as_the_vectors_say() {
    for vector in vectors("blocks.jsonl") {
        let document = text(&vector, "document");
        let found = blocks::parse(document.as_bytes(), Sections::ByFields).expect("UTF-8");
        let kinds: Vec<Value<'_>> = found.iter().map(|block| Value::Text(block.kind.name().into())).collect();
        assert_eq!(Some(&Value::List(kinds)), field(&vector, "kinds"), "{document:?}");
    }
}

/// Identifiers are found by their parts and by their other spelling, and common endings do not matter.
#[test]
fn texts_are_found_by_identifiers_and_word_forms() {
    let mut index = rank::Index::default();
    index.add("code", "set maxTokens in src/context_tail.py", &["config"]);
    index.add("prose", "caching of configured limits", &[] as &[&str]);
    let best = |query: &str| index.search(query, 10).first().map(|hit| hit.id.clone());
    for query in ["max_tokens", "max-tokens", "tokens", "context tail", "ContextTail", "config"] {
        assert_eq!(best(query).as_deref(), Some("code"), "{query}");
    }
    for query in ["caches", "cached", "limit"] {
        assert_eq!(best(query).as_deref(), Some("prose"), "{query}");
    }
    assert_eq!(best("the of and"), None);
}
