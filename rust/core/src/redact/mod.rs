//! Secrets replaced by `[REDACTED:<kind>]`: one pass over the text, linear in its length.
//!
//! Every rule looks no further than [`REACH`] bytes from what raised it, so that a stream can be redacted piece by
//! piece and reads the same as the whole.

mod anchors;
mod assigned;
mod found;
mod judge;
mod keys;
mod layers;
mod literals;
mod marks;
mod near;
mod rules;
mod shapes;
mod stream;

use std::borrow::Cow;

use aho_corasick::{AhoCorasick, AhoCorasickKind, MatchKind};

use found::Found;
use literals::Literals;

pub use keys::{Announcer, Object, holds, named};
pub use marks::{Mark, kinds, marks};
pub use stream::Stream;

/// A redacted text may show a secret that its neighbour hid; more rounds than this are not needed in practice.
const ROUNDS_MAX: usize = 4;

/// How deep a value may nest for its walk; what readers of JSON allow is less.
pub const DEPTH_MAX: usize = 1024;

/// The longest value, key block or encoded run that is followed.
const RUN_MAX: usize = 32 * 1024;

/// No rule looks further than this from what raised it, in either direction; a stream holds four times as much.
pub const REACH: usize = 2 * RUN_MAX;

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
    literals: Option<Literals>,
}

/// `None` only for patterns too large to compile, which literal lists of any real size are not.
fn automaton<P: AsRef<[u8]>>(patterns: &[P], matches: MatchKind) -> Option<AhoCorasick> {
    AhoCorasick::builder().match_kind(matches).kind(Some(AhoCorasickKind::DFA)).build(patterns).ok()
}

impl Redactor {
    /// Compiles the literals; empty ones are ignored. A longer one covers a shorter one inside it.
    #[must_use]
    pub fn new<L: AsRef<str>>(literals: &[L]) -> Self {
        Self { literals: Literals::new(literals) }
    }

    /// The secrets of a text: in order, apart from each other, never inside a `[REDACTED:<kind>]` that stands there.
    #[must_use]
    pub fn spans(&self, text: &str, reach: Reach) -> Vec<Span> {
        let mut found = Found::new(text);
        if let Reach::Announced(announcer) = reach {
            found.whole(announcer);
        }
        if let Some(literals) = &self.literals {
            literals.find(&mut found);
        }
        found.anchored(reach);
        if reach != Reach::Name {
            found.runs(|found, start, end| {
                found.near(start, end);
                found.encoded(self.literals.as_ref(), start, end);
            });
            found.escaped(self.literals.as_ref());
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
            let mut out = String::with_capacity(current.len());
            replace(&current, 0, &spans, &mut out);
            current = Cow::Owned(out);
        }
        (current, replaced)
    }

    /// The furthest that anything is looked at from what raised it.
    fn reach(&self) -> usize {
        REACH.max(self.literals.as_ref().map_or(0, Literals::reach))
    }
}

/// Writes `text` from `from` on, with its spans replaced.
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
