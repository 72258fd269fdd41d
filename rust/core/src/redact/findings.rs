//! The findings in one text: candidate spans in any order, merged where they overlap, with existing markers cut out.

use crate::redact::decoding::is_pair;
use crate::redact::json_keys::{NameHint, SecretName};
use crate::redact::kinds::{MARKER_MAX, OPENING, kinds};
use crate::redact::rules::ByteSet;
use crate::redact::value::{Quoting, is_secret};
use crate::redact::{Finding, RUN_MAX, Span};

/// The rule that found a span, the more reliable ones greater; where spans overlap, the greatest names the union.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Rule {
    /// By its fingerprint: a rule that finds it as well names it.
    Remembered,
    /// A sentence says what it is.
    Sentence,
    /// A label says what it is.
    Label,
    /// A line of a key in base64.
    KeyLine,
    /// By the rule of this name, in text that was decoded.
    Decoded(&'static str),
    /// By a published format without a prefix of its own.
    Shape,
    /// By a published prefix of so many bytes: the longer, the more reliable.
    Format(usize),
    /// In the owner's list.
    Listed,
}

impl Rule {
    /// Return true if the value itself was searched: inside a marker it is a part of the kind's name and no secret.
    fn is_known(self) -> bool {
        matches!(self, Self::Listed | Self::Remembered)
    }

    /// Return the stable name of the rule.
    fn name(self, kind: &'static str) -> &'static str {
        match self {
            Self::Remembered => "remembered",
            Self::Sentence => "sentence",
            Self::Label => "label",
            Self::KeyLine => "key-line",
            Self::Decoded(rule) => rule,
            Self::Shape | Self::Format(_) => kind,
            Self::Listed => "listed",
        }
    }
}

/// A span that may be a secret.
struct Candidate {
    span: Span,
    rule: Rule,
}

impl Candidate {
    /// Return the finding, with the name of its rule.
    fn finding(&self) -> Finding {
        let Span { start, end, kind } = self.span;
        Finding { start, end, kind, rule: self.rule.name(kind) }
    }
}

/// Collects the spans of one text.
pub(crate) struct Findings<'t> {
    pub(crate) text: &'t str,
    pub(crate) bytes: &'t [u8],
    candidates: Vec<Candidate>,
    /// The ranges of our own markers: nothing inside them is a secret.
    markers: Vec<(usize, usize)>,
    /// Cache of the last extent of each kind.
    pub(crate) extents: [(usize, usize); 2],
    /// Positions of escape sequences.
    pub(crate) escapes: Vec<usize>,
    /// Cache of the last run of each byte set, so that it is measured once.
    runs: [(usize, usize); ByteSet::ALL],
}

impl<'t> Findings<'t> {
    /// No findings yet in this text.
    pub(crate) fn new(text: &'t str) -> Self {
        Self {
            text,
            bytes: text.as_bytes(),
            candidates: Vec::new(),
            markers: Vec::new(),
            extents: [(0, 0); 2],
            escapes: Vec::new(),
            runs: [(0, 0); ByteSet::ALL],
        }
    }

    /// Return a part of the text; empty where it is outside, and whole characters at its end.
    pub(crate) fn slice(&self, from: usize, to: usize) -> &'t str {
        self.text.get(from..self.text.floor_char_boundary(to)).unwrap_or_default()
    }

    /// Return a part of the bytes, as far as there are so many.
    pub(crate) fn part(&self, from: usize, to: usize) -> &'t [u8] {
        self.bytes.get(from..to.min(self.bytes.len())).unwrap_or_default()
    }

    /// Return the bytes before a position.
    pub(crate) fn before(&self, at: usize) -> &'t [u8] {
        self.bytes.get(..at).unwrap_or(self.bytes)
    }

    /// Return how many bytes from a position on are wanted, `at_most` so many.
    pub(crate) fn count(&self, from: usize, at_most: usize, wanted: impl Fn(u8) -> bool) -> usize {
        let rest = self.bytes.get(from..).unwrap_or_default();
        rest.iter().take(at_most).take_while(|byte| wanted(**byte)).count()
    }

    /// Add a span, if there is one.
    ///
    /// One that overlaps the last one and is alike extends it, as merging would: a text of beginnings of tokens has
    /// one candidate and not one per byte. A known secret stays alone, as one that overlaps a marker is dropped.
    pub(crate) fn add(&mut self, span: Option<Span>, rule: Rule) {
        if let (Some(span), Some(last)) = (span, self.candidates.last_mut())
            && rule == last.rule
            && !rule.is_known()
            && (last.span.start..last.span.end).contains(&span.start)
            && last.span.kind == span.kind
        {
            last.span.end = last.span.end.max(span.end);
            return;
        }
        self.candidates.extend(span.map(|span| Candidate { span, rule }));
    }

    /// Record our own marker, if one whose kind begins at `end` is complete.
    pub(crate) fn add_own_marker(&mut self, start: usize, end: usize) {
        self.markers.extend(self.own_marker_end(end).map(|until| (start, until)));
    }

    /// Return true if a position is inside the last marker that was recorded.
    pub(crate) fn is_in_last_marker(&self, at: usize) -> bool {
        self.markers.last().is_some_and(|(from, to)| (*from..*to).contains(&at))
    }

    /// Return the end of our own marker whose kind begins at `start`.
    fn own_marker_end(&self, start: usize) -> Option<usize> {
        self.marker_end(start, b']').filter(|until| kinds().binary_search(&self.slice(start, until - 1)).is_ok())
    }

    /// Count the letters and digits in a range outside of our own markers.
    pub(crate) fn count_alphanumerics(&self, from: usize, to: usize) -> usize {
        let (mut at, mut count) = (from, 0);
        while at < to {
            let marker =
                self.part(at, to).starts_with(OPENING).then(|| self.own_marker_end(at + OPENING.len())).flatten();
            count += self.count(at, 1, |byte| byte.is_ascii_alphanumeric());
            at = marker.unwrap_or(at + 1);
        }
        count
    }

    /// Return true if one of our own markers seems to end here. The secret that it replaced may have been longer.
    pub(crate) fn ends_with_marker(&self, end: usize) -> bool {
        let window = self.part(end.saturating_sub(MARKER_MAX), end);
        window.last() == Some(&b']') && window.windows(OPENING.len()).any(|window| window == OPENING)
    }

    /// Return the end of the run of `body` bytes from `start`, at most `RUN_MAX` long, if it has at least `at_least`
    /// bytes.
    pub(crate) fn body_end(&mut self, body: ByteSet, start: usize, at_least: usize) -> Option<usize> {
        let (mut from, mut to) = self.runs[body as usize];
        if !(from..to).contains(&start) {
            let is_body = |byte: &&u8| body.contains(**byte);
            let length = self.part(start, usize::MAX).iter().take_while(is_body).count();
            let before = if length == 0 { 0 } else { self.before(start).iter().rev().take_while(is_body).count() };
            (from, to) = (start - before, start + length);
            self.runs[body as usize] = (from, to);
        }
        let end = to.max(start).min(start + RUN_MAX);
        (end - start >= at_least).then_some(end)
    }

    /// Return how many `body` bytes are before `start`, at most `at_most`; in the run that was measured last at no cost.
    pub(crate) fn body_before(&self, body: ByteSet, start: usize, at_most: usize) -> usize {
        let (from, to) = self.runs[body as usize];
        if (from..to).contains(&start) {
            return at_most.min(start - from);
        }
        self.before(start).iter().rev().take(at_most).take_while(|byte| body.contains(**byte)).count()
    }

    /// Add the whole text if it is the secret that the name of its key announces.
    pub(crate) fn named_string(&mut self, NameHint(secret_name): NameHint) {
        let trimmed = self.text.trim_ascii_end();
        let inner = trimmed.trim_ascii_start();
        let start = trimmed.len() - inner.len();
        let secret = match secret_name {
            SecretName::Secret(keyword) => {
                is_secret(inner, keyword.worded, Quoting::Quoted).then_some((start, keyword.kind))
            }
            SecretName::Authorization => {
                let credentials = inner.rsplit(' ').next().unwrap_or_default();
                let accepted = is_secret(credentials, false, Quoting::Quoted)
                    || inner.len() > credentials.len() && is_pair(credentials);
                accepted.then_some((trimmed.len() - credentials.len(), "authorization"))
            }
        };
        self.add(secret.map(|(start, kind)| Span { start, end: trimmed.len(), kind }), Rule::Label);
    }

    /// Return the spans in order, merged where they overlap, without the markers inside them.
    pub(crate) fn into_spans(mut self) -> Vec<Finding> {
        if self.candidates.is_empty() {
            return Vec::new();
        }
        // A known secret that overlaps a marker matched text that the marker itself put there.
        let markers = &self.markers;
        self.candidates.retain(|Candidate { span, rule }| {
            let next = markers.partition_point(|(_, to)| *to <= span.start);
            !rule.is_known() || markers.get(next).is_none_or(|(from, _)| *from >= span.end)
        });
        self.candidates.sort_by(|a, b| {
            a.span.start.cmp(&b.span.start).then(b.span.end.cmp(&a.span.end)).then(b.rule.cmp(&a.rule))
        });
        let mut merged: Vec<Candidate> = Vec::with_capacity(self.candidates.len());
        for candidate in self.candidates {
            match merged.last_mut() {
                Some(last) if candidate.span.start < last.span.end => {
                    last.span.end = last.span.end.max(candidate.span.end);
                    if candidate.rule > last.rule {
                        last.rule = candidate.rule;
                        last.span.kind = candidate.span.kind;
                    }
                }
                _ => merged.push(candidate),
            }
        }
        without_markers(merged.iter().map(Candidate::finding), &self.markers)
    }
}

/// Cut every marker out of the spans.
fn without_markers(spans: impl Iterator<Item = Finding>, markers: &[(usize, usize)]) -> Vec<Finding> {
    let mut remaining = Vec::new();
    for span in spans {
        let mut start = span.start;
        let first = markers.partition_point(|(_, to)| *to <= span.start);
        for &(from, to) in markers[first..].iter().take_while(|(from, _)| *from < span.end) {
            if start < from {
                remaining.push(Finding { start, end: from, ..span });
            }
            start = start.max(to);
        }
        if start < span.end {
            remaining.push(Finding { start, ..span });
        }
    }
    remaining
}
