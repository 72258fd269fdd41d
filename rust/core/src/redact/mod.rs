//! Redaction: secrets are replaced by `[REDACTED:<kind>]` in one pass, linear in the length of the text.
//!
//! Every rule looks no further than [`LOOKAROUND_MAX`] bytes from its anchor, so that a stream can be redacted piece by
//! piece with the same result as the whole.

mod anchors;
mod assignments;
mod commands;
mod context_rules;
mod cookies;
mod decoding;
mod findings;
mod format_rules;
mod json_keys;
mod kinds;
mod known_secrets;
mod phrases;
mod plausibility;
mod rules;
mod stream;

use std::borrow::Cow;

use aho_corasick::{AhoCorasick, AhoCorasickKind, MatchKind};

use findings::Findings;
use known_secrets::KnownSecrets;

pub use json_keys::{NameHint, ObjectKind, scope_of_key, scope_of_value};
pub use kinds::{Indicator, indicators, kinds};
pub use stream::Stream;

/// Passes over a text, as replacing one secret may reveal another beside it; more change nothing in practice.
const ROUNDS_MAX: usize = 4;

/// Nesting depth up to which a JSON value is redacted; JSON parsers allow less.
pub const DEPTH_MAX: usize = 1024;

/// Bytes of the longest value, key block or encoded run that is followed.
const RUN_MAX: usize = 32 * 1024;

/// Bytes that any rule looks in either direction from its anchor; a stream buffers four times as much.
pub const LOOKAROUND_MAX: usize = 2 * RUN_MAX;

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
    known_secrets: Option<KnownSecrets>,
}

/// Compile an automaton; None only for patterns too large to compile, which no real list is.
fn automaton<P: AsRef<[u8]>>(patterns: &[P], matches: MatchKind) -> Option<AhoCorasick> {
    AhoCorasick::builder().match_kind(matches).kind(Some(AhoCorasickKind::DFA)).build(patterns).ok()
}

impl Redactor {
    /// Compile the owner's secrets; empty ones are ignored, and a longer one covers a shorter one inside it.
    #[must_use]
    pub fn new<L: AsRef<str>>(known_secrets: &[L]) -> Self {
        Self { known_secrets: KnownSecrets::new(known_secrets) }
    }

    /// Return the secrets of a text in order, without overlap and never inside an existing `[REDACTED:<kind>]`.
    #[must_use]
    pub fn spans(&self, text: &str, scope: Scope) -> Vec<Span> {
        let mut findings = Findings::new(text);
        if let Scope::Named(hint) = scope {
            findings.named_string(hint);
        }
        if let Some(known_secrets) = &self.known_secrets {
            known_secrets.find(&mut findings);
        }
        findings.scan_anchors(scope);
        if scope != Scope::Identifier {
            findings.for_each_run(|findings, start, end| {
                findings.add_by_context(start, end);
                findings.scan_encoded(self.known_secrets.as_ref(), start, end);
            });
            findings.scan_escaped(self.known_secrets.as_ref());
        }
        findings.into_spans()
    }

    /// Return the text with its secrets replaced (borrowed if it had none), and the number of replacements.
    #[must_use]
    pub fn redact<'t>(&self, text: &'t str, scope: Scope) -> (Cow<'t, str>, usize) {
        let mut current = Cow::Borrowed(text);
        let mut replaced = 0;
        for _ in 0..ROUNDS_MAX {
            let spans = self.spans(&current, scope);
            if spans.is_empty() {
                break;
            }
            replaced += spans.len();
            let mut out = String::with_capacity(current.len());
            replace(&current, 0, &spans, &mut out);
            current = Cow::Owned(out);
        }
        (current, replaced)
    }

    /// Return how far, in bytes, any rule looks from its anchor.
    fn lookaround(&self) -> usize {
        LOOKAROUND_MAX.max(self.known_secrets.as_ref().map_or(0, KnownSecrets::lookaround))
    }
}

/// Write `text` from byte `from` on, with its spans replaced.
fn replace(text: &str, from: usize, spans: &[Span], out: &mut String) {
    let mut copied = from;
    for span in spans {
        out.push_str(&text[copied..span.start]);
        out.push_str("[REDACTED:");
        out.push_str(span.kind);
        out.push(']');
        copied = span.end;
    }
    out.push_str(&text[copied..]);
}
