//! Secrets replaced by `[REDACTED:<kind>]`: one pass over the text, linear in its length.

mod forms;
mod judge;
mod keys;
mod rules;

use std::borrow::Cow;
use std::sync::LazyLock;

use aho_corasick::{AhoCorasick, AhoCorasickKind, MatchKind};

use forms::{Anchor, Found};

pub use keys::{Announcer, Object, holds, named};

/// A redacted text may show a secret that its neighbour hid; more rounds than this are not needed in practice.
const ROUNDS_MAX: usize = 4;

/// How deep a value may nest for its walk; what readers of JSON allow is less.
pub const DEPTH_MAX: usize = 1024;

/// One secret: byte offsets into the text, and its kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    /// The first byte.
    pub start: usize,
    /// The byte after the last.
    pub end: usize,
    /// The word in `[REDACTED:<kind>]`.
    pub kind: &'static str,
}

/// How much of the table a string is held against.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reach {
    /// Everything: literals, published formats, announced values, foreign markers.
    Content,
    /// Everything, and the whole string is the value that this announces.
    Announced(Announcer),
    /// Only literals and published formats: for identifiers, which must otherwise stay as they are.
    Name,
}

/// The compiled rules, with the literal secrets that its owner knows.
pub struct Redactor {
    literals: Option<AhoCorasick>,
}

static ANCHORS: LazyLock<(Vec<Anchor>, Option<AhoCorasick>)> = LazyLock::new(|| {
    let (anchors, patterns): (Vec<_>, Vec<_>) = forms::anchors().into_iter().unzip();
    (anchors, automaton(&patterns, MatchKind::Standard))
});

/// `None` only for patterns too large to compile, which literal lists of any real size are not.
fn automaton<P: AsRef<[u8]>>(patterns: &[P], matches: MatchKind) -> Option<AhoCorasick> {
    AhoCorasick::builder().match_kind(matches).kind(Some(AhoCorasickKind::DFA)).build(patterns).ok()
}

impl Redactor {
    /// Compiles the literals, longest first; empty ones are ignored.
    #[must_use]
    pub fn new<L: AsRef<str>>(literals: &[L]) -> Self {
        let mut known: Vec<&str> = literals.iter().map(AsRef::as_ref).filter(|literal| !literal.is_empty()).collect();
        known.sort_unstable_by(|a, b| b.len().cmp(&a.len()).then(a.cmp(b)));
        known.dedup();
        let literals = AhoCorasick::builder().match_kind(MatchKind::LeftmostLongest).build(&known).ok();
        Self { literals: literals.filter(|_| !known.is_empty()) }
    }

    /// The secrets of a text: in order, apart from each other, never inside a `[REDACTED:<kind>]` that stands there.
    #[must_use]
    pub fn spans(&self, text: &str, reach: Reach) -> Vec<Span> {
        let mut found = Found::new(text);
        if let Reach::Announced(announcer) = reach {
            found.whole(announcer);
        }
        if let Some(literals) = &self.literals {
            for hit in literals.find_iter(text) {
                found.literal(hit.start(), hit.end());
            }
        }
        let (anchors, automaton) = &*ANCHORS;
        if let Some(automaton) = automaton {
            for hit in automaton.find_overlapping_iter(text) {
                found.anchor(&anchors[hit.pattern().as_usize()], hit.start(), hit.end(), reach);
            }
        }
        found.finish()
    }

    /// The text without its secrets, borrowed if it had none, and how many spans were replaced.
    #[must_use]
    pub fn redact<'t>(&self, text: &'t str, reach: Reach) -> (Cow<'t, str>, usize) {
        let mut current = Cow::Borrowed(text);
        let mut replaced = 0;
        for _ in 0..ROUNDS_MAX {
            let spans = self.spans(&current, reach);
            if spans.is_empty() {
                break;
            }
            replaced += spans.len();
            current = Cow::Owned(replace(&current, &spans));
        }
        (current, replaced)
    }
}

fn replace(text: &str, spans: &[Span]) -> String {
    let mut out = String::with_capacity(text.len());
    let mut copied = 0;
    for span in spans {
        out.push_str(&text[copied..span.start]);
        out.push_str("[REDACTED:");
        out.push_str(span.kind);
        out.push(']');
        copied = span.end;
    }
    out.push_str(&text[copied..]);
    out
}
