//! Golden vectors, which the Rust and the Python tests share, in `tests/vectors` of the repository.

#![expect(clippy::expect_used, clippy::panic, reason = "a test that cannot read its vectors fails")]

use std::fs;
use std::path::Path;

use reverie_core::blocks::{self, Sections};
use reverie_core::canonical::{self, Value};
use reverie_core::error::Position;
use reverie_core::redact::{Redactor, Scope};
use reverie_core::tokens::{ENCODINGS, Encoding};
use reverie_core::{Error, rank};

/// Read a file of vectors, one JSON object a line.
fn vectors(name: &str) -> Vec<Value<'static>> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/vectors").join(name);
    let text: &'static str = Box::leak(fs::read_to_string(path).expect("the vectors are there").into_boxed_str());
    text.lines().map(|line| canonical::parse(line.as_bytes()).expect("a vector is JSON")).collect()
}

/// The value of a field, if the vector has it.
fn field<'v>(vector: &'v Value<'_>, name: &str) -> Option<&'v Value<'v>> {
    match vector {
        Value::Object(members) => members.iter().find(|(key, _)| key == name).map(|(_, value)| value),
        _ => None,
    }
}

/// The string in a field.
fn text<'v>(vector: &'v Value<'_>, name: &str) -> &'v str {
    match field(vector, name) {
        Some(Value::Text(text)) => text,
        other => panic!("{name} is {other:?}"),
    }
}

/// The number in a field.
fn integer(vector: &Value<'_>, name: &str) -> usize {
    match field(vector, name) {
        Some(Value::Integer(integer)) => usize::try_from(*integer).expect("not negative"),
        other => panic!("{name} is {other:?}"),
    }
}

/// Token counts equal those of tiktoken.
#[test]
fn token_counts_match_the_vectors() {
    for vector in vectors("tokens.jsonl") {
        for name in ENCODINGS {
            let encoding = Encoding::named(name).expect("built in");
            let input = text(&vector, "text");
            assert_eq!(encoding.count(input), integer(&vector, name), "{name}: {input:?}");
        }
    }
}

/// Each text has one canonical form, or is rejected for one reason at one offset.
#[test]
fn canonical_json_matches_the_vectors() {
    for vector in vectors("canonical.jsonl") {
        let input = text(&vector, "text");
        let written = canonical::parse(input.as_bytes()).and_then(|value| canonical::canonical(&value));
        if field(&vector, "canonical").is_some() {
            assert_eq!(String::from_utf8_lossy(&written.expect(input)), text(&vector, "canonical"));
        } else {
            let Err(Error::Json { reason, at, .. }) = written else { panic!("{input:?} was not refused") };
            assert_eq!(reason.code(), text(&vector, "reason"), "{input:?}");
            assert_eq!(at, Position::Offset(integer(&vector, "offset")), "{input:?}");
        }
    }
}

/// Secrets are replaced, everything else stays, and a second redaction changes nothing.
#[test]
fn redaction_matches_the_vectors() {
    let redactor = Redactor::new::<&str>(&[]);
    for vector in vectors("redact.jsonl") {
        let (redacted, _) = redactor.redact(text(&vector, "text"), Scope::Content);
        assert_eq!(redacted, text(&vector, "redacted"));
        assert_eq!(redactor.redact(&redacted, Scope::Content).1, 0, "{redacted:?}");
    }
}

/// Documents are parsed into blocks of the listed kinds.
#[test]
fn block_kinds_match_the_vectors() {
    for vector in vectors("blocks.jsonl") {
        let document = text(&vector, "document");
        let found = blocks::parse(document.as_bytes(), Sections::ByFields).expect("UTF-8");
        let kinds: Vec<Value<'_>> = found.iter().map(|block| Value::Text(block.kind.name().into())).collect();
        assert_eq!(Some(&Value::List(kinds)), field(&vector, "kinds"), "{document:?}");
    }
}

/// Identifiers are found by their parts and other spellings, and words by other forms.
#[test]
fn texts_are_found_by_identifiers_and_word_forms() {
    let mut index = rank::Index::default();
    index.add("code", "set maxTokens in src/context_tail.py", &["config"]);
    index.add("prose", "caching of configured limits", &[] as &[&str]);
    let best = |query: &str| index.search(query, 10).expect("in memory").first().map(|hit| hit.id.clone());
    for query in ["max_tokens", "max-tokens", "tokens", "context tail", "ContextTail", "config"] {
        assert_eq!(best(query).as_deref(), Some("code"), "{query}");
    }
    for query in ["caches", "cached", "limit"] {
        assert_eq!(best(query).as_deref(), Some("prose"), "{query}");
    }
    assert_eq!(best("the of and"), None);
}
