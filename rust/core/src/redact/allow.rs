//! What a person allows: rules that are switched off, and values that are no secrets.

use std::collections::HashSet;

use crate::redact::fingerprints::{Fingerprints, HASH_BYTES, KEY_BYTES};

/// Rules switched off, and values that stay.
#[derive(Clone, Default)]
pub struct Allow {
    rules: HashSet<String>,
    patterns: Vec<String>,
    hashes: HashSet<[u8; HASH_BYTES]>,
    keyed: Option<Fingerprints>,
}

impl Allow {
    /// Take the ids of rules, values or patterns (`*` stands for any characters), and keyed hashes under `key`.
    #[must_use]
    pub fn new(
        rules: impl IntoIterator<Item = String>,
        patterns: impl IntoIterator<Item = String>,
        hashes: impl IntoIterator<Item = [u8; HASH_BYTES]>,
        key: [u8; KEY_BYTES],
    ) -> Self {
        let hashes: HashSet<_> = hashes.into_iter().collect();
        Self {
            keyed: (!hashes.is_empty()).then(|| Fingerprints::new(key)),
            rules: rules.into_iter().collect(),
            patterns: patterns.into_iter().collect(),
            hashes,
        }
    }

    /// Return true if a value that a rule found is to stay.
    pub(crate) fn has(&self, rule: &str, value: &str) -> bool {
        self.rules.contains(rule)
            || self.patterns.iter().any(|pattern| matches(pattern, value))
            || self.keyed.as_ref().is_some_and(|keyed| self.hashes.contains(&keyed.hash(value)))
    }
}

/// Return true if a pattern matches a whole value; `*` stands for any characters.
fn matches(pattern: &str, value: &str) -> bool {
    let Some((first, rest)) = pattern.split_once('*') else { return pattern == value };
    let Some(mut value) = value.strip_prefix(first) else { return false };
    let mut parts = rest.split('*').peekable();
    while let Some(part) = parts.next() {
        if parts.peek().is_none() {
            return value.ends_with(part);
        }
        match value.find(part) {
            Some(at) => value = value.get(at + part.len()..).unwrap_or(""),
            None => return false,
        }
    }
    true
}
