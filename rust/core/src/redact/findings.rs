//! The findings in one text: candidate spans in any order, merged where they overlap, with existing markers cut out.

use crate::redact::decoding::base64;
use crate::redact::json_keys::{NameHint, SecretName};
use crate::redact::kinds::{MARKER_MAX, OPENING, kinds};
use crate::redact::rules::{ByteSet, Token};
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
    /// Cache of the last search for a digit, a lower-case letter and an upper-case letter: where it began and ended.
    classes: [(usize, usize); 3],
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
            classes: [(1, 0); 3],
        }
    }

    /// Return a part of the text; empty where it is outside, and whole characters at its end.
    pub(crate) fn slice(&self, from: usize, to: usize) -> &'t str {
        self.text.get(from..self.text.floor_char_boundary(to)).unwrap_or_default()
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
            && (std::ptr::eq(last.span.kind, span.kind) || last.span.kind == span.kind)
        {
            last.span.end = last.span.end.max(span.end);
            return;
        }
        self.candidates.extend(span.map(|span| Candidate { span, rule }));
    }

    /// Extend the last span as the same token, found again with its prefix up to `end`, would do; return whether it is
    /// one that has this place.
    pub(crate) fn extend_token(&mut self, token: &Token, end: usize) -> bool {
        let start = end - token.prefix.len();
        let (_, until) = self.runs[token.body as usize];
        let rule = Rule::Format(token.prefix.len());
        match self.candidates.last_mut() {
            Some(Candidate { span, rule: last })
                if *last == rule && span.kind == token.kind && span.end > end && until >= end =>
            {
                span.end = span.end.max(until.min(start + RUN_MAX));
                true
            }
            _ => false,
        }
    }

    /// Return true if everything found here is inside one of these spans, which are in order.
    pub(crate) fn are_inside(&self, spans: &[Finding]) -> bool {
        self.candidates.iter().all(|Candidate { span, .. }| {
            let next = spans.partition_point(|other| other.end < span.end);
            spans.get(next).is_some_and(|other| other.start <= span.start)
        })
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
        self.marker_end(start, b']').filter(|until| kinds().binary_search(&&self.text[start..until - 1]).is_ok())
    }

    /// Count the letters and digits in a range outside of our own markers.
    pub(crate) fn count_alphanumerics(&self, from: usize, to: usize) -> usize {
        let (mut at, mut count) = (from, 0);
        while at < to {
            let marker =
                self.bytes[at..to].starts_with(OPENING).then(|| self.own_marker_end(at + OPENING.len())).flatten();
            count += usize::from(self.bytes[at].is_ascii_alphanumeric());
            at = marker.unwrap_or(at + 1);
        }
        count
    }

    /// Return true if one of our own markers seems to end here. The secret that it replaced may have been longer.
    pub(crate) fn ends_with_marker(&self, end: usize) -> bool {
        let window = &self.bytes[end.saturating_sub(MARKER_MAX)..end];
        window.last() == Some(&b']') && window.windows(OPENING.len()).any(|window| window == OPENING)
    }

    /// Return the end of the run of `body` bytes from `start`, at most `RUN_MAX` long, if it has at least `at_least`
    /// bytes.
    pub(crate) fn body_end(&mut self, body: ByteSet, start: usize, at_least: usize) -> Option<usize> {
        let cached = &mut self.runs[body as usize];
        if !(cached.0..cached.1).contains(&start) {
            let before = self.bytes[..start].iter().rev().take_while(|byte| body.contains(**byte)).count();
            let length = self.bytes[start..].iter().take_while(|byte| body.contains(**byte)).count();
            *cached = if length == 0 { (start, start) } else { (start - before, start + length) };
        }
        let end = cached.1.max(start).min(start + RUN_MAX);
        (end - start >= at_least).then_some(end)
    }

    /// Return how many `body` bytes are before `start`, at most `at_most`; in the run that was measured last at no cost.
    pub(crate) fn body_before(&self, body: ByteSet, start: usize, at_most: usize) -> usize {
        let (from, to) = self.runs[body as usize];
        if (from..to).contains(&start) {
            return at_most.min(start - from);
        }
        self.bytes[..start].iter().rev().take(at_most).take_while(|byte| body.contains(**byte)).count()
    }

    /// Return true if a range has upper case, lower case and digits.
    ///
    /// Searches continue where the last one ended, so that many ranges of one text are linear together.
    pub(crate) fn has_three_classes(&mut self, from: usize, to: usize) -> bool {
        let tests = [u8::is_ascii_digit, u8::is_ascii_lowercase, u8::is_ascii_uppercase];
        self.classes.iter_mut().zip(tests).all(|(cached, test)| {
            if !(cached.0..=cached.1).contains(&from) {
                let length = self.bytes[from..].iter().position(test).unwrap_or(self.bytes.len() - from);
                *cached = (from, from + length);
            }
            cached.1 < to
        })
    }

    /// Add the whole text if it is the secret that the name of its key announces.
    pub(crate) fn named_string(&mut self, NameHint(secret_name): NameHint) {
        let trimmed = self.text.trim_ascii_end();
        let start = trimmed.len() - trimmed.trim_ascii_start().len();
        let secret = match secret_name {
            SecretName::Secret(keyword) => {
                is_secret(&trimmed[start..], keyword.worded, Quoting::Quoted).then_some((start, keyword.kind))
            }
            SecretName::Authorization => {
                let credentials = trimmed[start..].rsplit(' ').next().unwrap_or_default();
                let basic = trimmed.len() - start > credentials.len() && credentials.len().is_multiple_of(4);
                let accepted = is_secret(credentials, false, Quoting::Quoted)
                    || basic
                        && base64(credentials.trim_end_matches('=').as_bytes()).is_some_and(|pair| pair.contains(':'));
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
