//! The findings in one text: candidate spans in any order, merged where they overlap, with existing markers cut out.

use crate::redact::json_keys::{NameHint, SecretName};
use crate::redact::kinds::{MARKER_MAX, OPENING, kinds};
use crate::redact::mentions::Mention;
use crate::redact::plausibility::{Quoting, is_authorization, is_plausible};
use crate::redact::rules::{ByteSet, Token};
use crate::redact::{Finding, RUN_MAX, Span};

/// Reliability of a span's kind, ascending; where spans overlap, the most reliable one names the union.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Confidence {
    /// By its fingerprint: a rule that finds it as well names it.
    Remembered,
    Context,
    NamedValue,
    KnownShape,
    /// By a published prefix of so many bytes: the longer, the more reliable.
    PublishedFormat(usize),
    KnownSecret,
}

impl Confidence {
    /// Return true if the value itself was searched: inside a marker it is a part of the kind's name and no secret.
    fn is_known(self) -> bool {
        matches!(self, Self::KnownSecret | Self::Remembered)
    }
}

/// A span that may be a secret.
struct Candidate {
    span: Span,
    confidence: Confidence,
}

impl Candidate {
    /// Return the finding, with the name of its rule.
    fn finding(&self) -> Finding {
        let Span { start, end, kind } = self.span;
        let rule = match self.confidence {
            Confidence::Remembered => "remembered",
            Confidence::Context => "sentence",
            Confidence::NamedValue => "label",
            Confidence::KnownShape | Confidence::PublishedFormat(_) => kind,
            Confidence::KnownSecret => "listed",
        };
        Finding { start, end, kind, rule }
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
    /// Words that say that a secret is near.
    pub(crate) mentions: Vec<Mention>,
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
            mentions: Vec::new(),
            escapes: Vec::new(),
            runs: [(0, 0); ByteSet::ALL],
            classes: [(1, 0); 3],
        }
    }

    /// Add a span, if there is one.
    ///
    /// One that overlaps the last one and is alike extends it, as merging would: a text of beginnings of tokens has
    /// one candidate and not one per byte. A known secret stays alone, as one that overlaps a marker is dropped.
    pub(crate) fn add(&mut self, span: Option<Span>, confidence: Confidence) {
        if let (Some(span), Some(last)) = (span, self.candidates.last_mut())
            && confidence == last.confidence
            && !confidence.is_known()
            && (last.span.start..last.span.end).contains(&span.start)
            && (std::ptr::eq(last.span.kind, span.kind) || last.span.kind == span.kind)
        {
            last.span.end = last.span.end.max(span.end);
            return;
        }
        self.candidates.extend(span.map(|span| Candidate { span, confidence }));
    }

    /// Extend the last span as the same token, found again with its prefix up to `end`, would do; return whether it is
    /// one that has this place.
    pub(crate) fn extend_token(&mut self, token: &Token, end: usize) -> bool {
        let start = end - token.prefix.len();
        let (_, until) = self.runs[token.body as usize];
        let confidence = Confidence::PublishedFormat(token.prefix.len());
        match self.candidates.last_mut() {
            Some(Candidate { span, confidence: last })
                if *last == confidence && span.kind == token.kind && span.end > end && until >= end =>
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
                is_plausible(&trimmed[start..], keyword, Quoting::Quoted).then_some((start, keyword.kind))
            }
            SecretName::Authorization => {
                let (scheme, credentials) = trimmed[start..].split_once(' ').unwrap_or(("", &trimmed[start..]));
                is_authorization(scheme, credentials).then_some((trimmed.len() - credentials.len(), "authorization"))
            }
        };
        self.add(secret.map(|(start, kind)| Span { start, end: trimmed.len(), kind }), Confidence::NamedValue);
    }

    /// Return the spans in order, merged where they overlap, without the markers inside them.
    pub(crate) fn into_spans(mut self) -> Vec<Finding> {
        if self.candidates.is_empty() {
            return Vec::new();
        }
        // A known secret that overlaps a marker matched text that the marker itself put there.
        let markers = &self.markers;
        self.candidates.retain(|Candidate { span, confidence }| {
            let next = markers.partition_point(|(_, to)| *to <= span.start);
            !confidence.is_known() || markers.get(next).is_none_or(|(from, _)| *from >= span.end)
        });
        self.candidates.sort_by(|a, b| {
            a.span.start.cmp(&b.span.start).then(b.span.end.cmp(&a.span.end)).then(b.confidence.cmp(&a.confidence))
        });
        let mut merged: Vec<Candidate> = Vec::with_capacity(self.candidates.len());
        for candidate in self.candidates {
            match merged.last_mut() {
                Some(last) if candidate.span.start < last.span.end => {
                    last.span.end = last.span.end.max(candidate.span.end);
                    if candidate.confidence > last.confidence {
                        last.confidence = candidate.confidence;
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
