//! Search for the secret values that the owner has listed, in any case and also across line breaks.

use aho_corasick::{AhoCorasick, AhoCorasickKind, MatchKind};

use crate::redact::Span;
use crate::redact::findings::{Findings, Rule};

/// Length in bytes from which a value is also searched across line breaks; shorter ones would match by chance.
const MULTILINE_MIN: usize = 12;
/// Factor by which line breaks and indentation may lengthen a value.
const SPREAD_MAX: usize = 4;
/// Bytes of the longest value in a DFA. It is searched up to three times as fast as an NFA, but for a value that repeats
/// itself the time to build it grows with the square of the length: one of 16 KB takes half a minute.
const DFA_MAX: usize = 1024;

/// The compiled list of values.
pub(crate) struct KnownSecrets {
    /// Of the long values and of the others, as far as there are any.
    automata: Vec<AhoCorasick>,
    longest: usize,
}

impl KnownSecrets {
    /// Compile a list of values; None if it is empty.
    pub(crate) fn new<L: AsRef<str>>(secrets: &[L]) -> Option<Self> {
        let mut distinct: Vec<&str> = secrets.iter().map(AsRef::as_ref).filter(|secret| !secret.is_empty()).collect();
        distinct.sort_unstable_by(|a, b| b.len().cmp(&a.len()).then(a.cmp(b)));
        distinct.dedup();
        let longest = distinct.first()?.len();
        let (long, others) = distinct.split_at(distinct.partition_point(|secret| secret.len() > DFA_MAX));
        let kinds = [(long, Some(AhoCorasickKind::ContiguousNFA)), (others, None)];
        let build = |(secrets, kind)| {
            let builder = &mut AhoCorasick::builder();
            builder.match_kind(MatchKind::Standard).ascii_case_insensitive(true).kind(kind).build(secrets).ok()
        };
        let kinds = kinds.into_iter().filter(|(secrets, _): &(&[&str], _)| !secrets.is_empty());
        let automata = kinds.map(build).collect::<Option<_>>()?;
        Some(Self { automata, longest })
    }

    /// Add a span for every occurrence of a value, also one with line breaks inside.
    pub(crate) fn find(&self, findings: &mut Findings<'_>) {
        let add = |findings: &mut Findings<'_>, start: usize, end: usize| {
            findings.add(Some(Span { start, end, kind: "secret" }), Rule::Listed);
        };
        let text = findings.text;
        for hit in self.automata.iter().flat_map(|automaton| automaton.find_overlapping_iter(text)) {
            add(findings, hit.start(), hit.end());
        }
        if self.longest < MULTILINE_MIN || !findings.bytes.contains(&b'\n') {
            return;
        }
        let (unbroken, breaks) = without_breaks(findings.bytes);
        for hit in self.automata.iter().flat_map(|automaton| automaton.find_overlapping_iter(&unbroken)) {
            if hit.end() - hit.start() >= MULTILINE_MIN {
                let (start, end) = (origin(&breaks, hit.start()), origin(&breaks, hit.end() - 1) + 1);
                if end - start > hit.end() - hit.start() && end - start <= self.longest.saturating_mul(SPREAD_MAX) {
                    add(findings, start, end);
                }
            }
        }
    }
}

/// Remove line breaks; return the text and for each break its offset in the result and the bytes removed so far.
fn without_breaks(bytes: &[u8]) -> (Vec<u8>, Vec<(usize, usize)>) {
    let mut unbroken = Vec::with_capacity(bytes.len());
    let mut breaks = vec![(0, 0)];
    for (at, byte) in bytes.iter().enumerate() {
        if matches!(byte, b'\n' | b'\r') {
            breaks.push((unbroken.len(), at + 1 - unbroken.len()));
        } else {
            unbroken.push(*byte);
        }
    }
    (unbroken, breaks)
}

/// Return the position in the original text of the byte at `offset` of the text without line breaks.
fn origin(breaks: &[(usize, usize)], offset: usize) -> usize {
    let before = breaks.partition_point(|(at, _)| *at <= offset);
    offset + breaks.get(before.saturating_sub(1)).map_or(0, |(_, removed)| *removed)
}
