//! The secret values that the owner knows, found in any case and across line ends.

use aho_corasick::{AhoCorasick, MatchKind};

use crate::redact::Span;
use crate::redact::found::{Found, Sure};

/// Shorter values are not looked for across line ends, where chance would make them.
const ACROSS_LEAST: usize = 12;
/// What a line end and the indentation behind it may add to each byte of a value.
const SPREAD: usize = 4;

pub(crate) struct Literals {
    automaton: AhoCorasick,
    longest: usize,
}

impl Literals {
    /// None if there are no values.
    pub(crate) fn new<L: AsRef<str>>(literals: &[L]) -> Option<Self> {
        let mut known: Vec<&str> = literals.iter().map(AsRef::as_ref).filter(|literal| !literal.is_empty()).collect();
        known.sort_unstable_by(|a, b| b.len().cmp(&a.len()).then(a.cmp(b)));
        known.dedup();
        let longest = known.first()?.len();
        let builder = &mut AhoCorasick::builder();
        let automaton = builder.match_kind(MatchKind::Standard).ascii_case_insensitive(true).build(&known).ok()?;
        Some(Self { automaton, longest })
    }

    /// The furthest that a value can lie from where it was found to begin.
    pub(crate) fn reach(&self) -> usize {
        self.longest.saturating_mul(SPREAD)
    }

    /// Marks every place where a value stands, also one that line ends go through.
    pub(crate) fn find(&self, found: &mut Found<'_>) {
        let mark = |found: &mut Found<'_>, start: usize, end: usize| {
            found.add(Some(Span { start, end, kind: "secret" }), Sure::Known);
        };
        for hit in self.automaton.find_overlapping_iter(found.text) {
            mark(found, hit.start(), hit.end());
        }
        if self.longest < ACROSS_LEAST || !found.bytes.contains(&b'\n') {
            return;
        }
        let (joined, breaks) = without_breaks(found.bytes);
        for hit in self.automaton.find_overlapping_iter(&joined) {
            if hit.end() - hit.start() >= ACROSS_LEAST {
                let (start, end) = (origin(&breaks, hit.start()), origin(&breaks, hit.end() - 1) + 1);
                if end - start > hit.end() - hit.start() && end - start <= self.reach() {
                    mark(found, start, end);
                }
            }
        }
    }
}

/// The text without line ends, and where in it they stood: offset into the result, bytes left out so far.
fn without_breaks(bytes: &[u8]) -> (Vec<u8>, Vec<(usize, usize)>) {
    let mut joined = Vec::with_capacity(bytes.len());
    let mut breaks = vec![(0, 0)];
    for (at, byte) in bytes.iter().enumerate() {
        if matches!(byte, b'\n' | b'\r') {
            breaks.push((joined.len(), at + 1 - joined.len()));
        } else {
            joined.push(*byte);
        }
    }
    (joined, breaks)
}

/// Where in the text the byte stood that is at `offset` without line ends.
fn origin(breaks: &[(usize, usize)], offset: usize) -> usize {
    let before = breaks.partition_point(|(at, _)| *at <= offset);
    offset + breaks[before - 1].1
}
