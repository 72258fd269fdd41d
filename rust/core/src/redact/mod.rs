//! Redaction: secrets are replaced by `[REDACTED:<kind>]` in one pass, linear in the length of the text.
//!
//! Every rule looks a bounded way from its anchor. No part of a text is taken by an index that could be outside of it.

mod allow;
mod anchors;
mod commands;
mod cookies;
mod decoding;
mod findings;
mod fingerprints;
mod format_rules;
mod json_keys;
mod kinds;
mod known_secrets;
mod labels;
mod private;
mod rules;
mod sentence;
mod value;

use std::borrow::Cow;
use std::sync::Arc;

use findings::Findings;
use fingerprints::is_memorable;
use known_secrets::KnownSecrets;

pub use allow::Allow;
pub use fingerprints::{FINGERPRINTS_MAX, Fingerprint, Fingerprints, HASH_BYTES, KEY_BYTES};
pub use json_keys::{NameHint, ObjectKind, scope_of_key, scope_of_value};
pub use kinds::{Indicator, indicators, kinds, rule_names, shape};
pub use private::{PRIVATE, continue_private};

/// Passes over a text, as replacing one secret may reveal another beside it; more change nothing in practice.
const ROUNDS_MAX: usize = 4;

/// Nesting depth up to which a JSON value is redacted; JSON parsers allow less.
pub const DEPTH_MAX: usize = 1024;

/// Bytes of the longest value, key block or encoded run that is followed.
const RUN_MAX: usize = 32 * 1024;

/// A secret in a text: byte offsets and kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    /// The first byte.
    pub start: usize,
    /// The byte after the last.
    pub end: usize,
    /// The kind in `[REDACTED:<kind>]`.
    pub kind: &'static str,
}

/// A secret that a rule found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The first byte.
    pub start: usize,
    /// The byte after the last.
    pub end: usize,
    /// The kind in `[REDACTED:<kind>]`.
    pub kind: &'static str,
    /// The rule, by a name that stays the same: the kind for published formats, else one of [`rule_names`].
    pub rule: &'static str,
}

/// A secret that was replaced, as it is reported: all but its value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Taken {
    /// The rule that found it.
    pub rule: &'static str,
    /// The kind in `[REDACTED:<kind>]`.
    pub kind: &'static str,
    /// Its length and classes of characters, see [`shape`].
    pub shape: String,
    /// The keyed hash of the value, by which it can be allowed.
    pub hash: [u8; HASH_BYTES],
}

/// Which rules apply to a string.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// All rules: known secrets, published formats, named values, foreign markers.
    Content,
    /// All rules, and the whole string is the value of a key with this name.
    Named(NameHint),
    /// Only known secrets and published formats: for identifiers, which must otherwise stay unchanged.
    Identifier,
}

/// The compiled rules, with the secrets that the owner has listed.
pub struct Redactor {
    known_secrets: Arc<Option<KnownSecrets>>,
    allow: Allow,
}

impl Redactor {
    /// Compile the owner's secrets; empty ones are ignored, and a longer one covers a shorter one inside it.
    #[must_use]
    pub fn new<L: AsRef<str>>(known_secrets: &[L]) -> Self {
        Self { known_secrets: Arc::new(KnownSecrets::new(known_secrets)), allow: Allow::default() }
    }

    /// Return a redactor that leaves what a person allows.
    #[must_use]
    pub fn with_allow(&self, allow: Allow) -> Self {
        Self { known_secrets: Arc::clone(&self.known_secrets), allow }
    }

    /// Return the secrets of a text in order, without overlap and never inside an existing `[REDACTED:<kind>]`.
    #[must_use]
    pub fn spans(&self, text: &str, scope: Scope) -> Vec<Finding> {
        self.spans_with(text, scope, None)
    }

    /// Return the secrets of a text, those that are found by their fingerprints too.
    fn spans_with(&self, text: &str, scope: Scope, fingerprints: Option<&Fingerprints>) -> Vec<Finding> {
        let mut findings = Findings::new(text);
        if let Scope::Named(hint) = scope {
            findings.named_string(hint);
        }
        let fingerprints = fingerprints.filter(|_| scope != Scope::Identifier);
        let known = Known { secrets: self.known_secrets.as_ref().as_ref(), fingerprints };
        known.find(&mut findings);
        findings.scan_anchors(scope);
        if scope != Scope::Identifier {
            findings.add_private();
            findings.for_each_run(|findings, start, end| {
                findings.add_key_line(start, end);
                findings.add_divided(start, end);
                findings.scan_encoded(known, start, end);
            });
            findings.scan_escaped(known);
        }
        let mut found = findings.into_spans();
        found.retain(|found| !self.allow.has(found.rule, text.get(found.start..found.end).unwrap_or_default()));
        found
    }

    /// Return the secrets of a text, and remember them: a value that a rule finds once is found everywhere in the text,
    /// and in every later one.
    #[must_use]
    pub fn spans_remembering(
        &self,
        text: &str,
        scope: Scope,
        fingerprints: &mut Cow<'_, Fingerprints>,
    ) -> Vec<Finding> {
        let found = self.spans_with(text, scope, Some(fingerprints));
        // A value may be found by a remembered one beside it, but that is no value that is remembered itself.
        if Self::remember(text, &found, fingerprints) {
            self.spans_with(text, scope, Some(fingerprints))
        } else {
            found
        }
    }

    /// Remember the values that would not be found without their labels; return whether one was new.
    fn remember(text: &str, found: &[Finding], fingerprints: &mut Cow<'_, Fingerprints>) -> bool {
        let before = fingerprints.last();
        for found in found.iter().filter(|found| matches!(found.rule, "label" | "sentence")) {
            let written = text.get(found.start..found.end).unwrap_or_default();
            // `ann:X` is a user and a password where an option or a header takes both.
            let password = written.split_once(':').map_or("", |(_, password)| password);
            let unquoted = written.trim_matches(['"', '\'', '`', '\\', ' ']);
            for value in [unquoted, password] {
                if is_memorable(value) && !fingerprints.has(value) {
                    fingerprints.to_mut().remember(value, found.kind);
                }
            }
        }
        fingerprints.last() > before
    }

    /// Return the text with its secrets replaced (borrowed if it had none), and the number of replacements.
    #[must_use]
    pub fn redact<'t>(&self, text: &'t str, scope: Scope) -> (Cow<'t, str>, usize) {
        let (redacted, taken) = self.redact_forgetting(text, scope, &Fingerprints::default());
        (redacted, taken.len())
    }

    /// Return the text with its secrets replaced as [`Redactor::redact`] does, and what was taken; remember it.
    pub fn redact_remembering<'t>(
        &self,
        text: &'t str,
        scope: Scope,
        fingerprints: &mut Cow<'_, Fingerprints>,
    ) -> (Cow<'t, str>, Vec<Taken>) {
        let mut taken = Vec::new();
        // Each pass finds what the one before remembered.
        let redacted = replaced(text, |text| {
            let found = self.spans_with(text, scope, Some(fingerprints));
            Self::remember(text, &found, fingerprints);
            taken.extend(found.iter().map(|found| Taken::of(found, text, fingerprints)));
            found
        });
        (redacted, taken)
    }

    /// Return the text with its secrets replaced, and what was taken, hashed under the key of the fingerprints.
    #[must_use]
    pub fn redact_forgetting<'t>(
        &self,
        text: &'t str,
        scope: Scope,
        fingerprints: &Fingerprints,
    ) -> (Cow<'t, str>, Vec<Taken>) {
        let mut taken = Vec::new();
        let redacted = replaced(text, |text| {
            let found = self.spans(text, scope);
            taken.extend(found.iter().map(|found| Taken::of(found, text, fingerprints)));
            found
        });
        (redacted, taken)
    }
}

/// Values that are searched as they are: those that the owner has listed, and those that were redacted before.
#[derive(Clone, Copy)]
pub(crate) struct Known<'k> {
    secrets: Option<&'k KnownSecrets>,
    fingerprints: Option<&'k Fingerprints>,
}

impl Known<'_> {
    /// Add a span for every occurrence of a value.
    fn find(self, findings: &mut Findings<'_>) {
        if let Some(secrets) = self.secrets {
            secrets.find(findings);
        }
        if let Some(fingerprints) = self.fingerprints {
            fingerprints.find(findings);
        }
    }
}

impl Taken {
    /// Return what is reported of a finding in a text.
    #[must_use]
    pub fn of(found: &Finding, text: &str, fingerprints: &Fingerprints) -> Self {
        let value = text.get(found.start..found.end).unwrap_or_default();
        Self { rule: found.rule, kind: found.kind, shape: shape(value), hash: fingerprints.hash(value) }
    }
}

/// Return a text with the spans that `find` returns replaced, until it finds none.
fn replaced(text: &str, mut find: impl FnMut(&str) -> Vec<Finding>) -> Cow<'_, str> {
    let mut current = Cow::Borrowed(text);
    for _ in 0..ROUNDS_MAX {
        let spans = find(&current);
        if spans.is_empty() {
            break;
        }
        let mut out = String::with_capacity(current.len());
        let mut copied = 0;
        for Finding { start, end, kind, .. } in spans {
            out.push_str(current.get(copied..start).unwrap_or_default());
            out.push_str("[REDACTED:");
            out.push_str(kind);
            out.push(']');
            copied = end;
        }
        out.push_str(current.get(copied..).unwrap_or_default());
        current = Cow::Owned(out);
    }
    current
}
