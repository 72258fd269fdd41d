//! The spans of one text: collected in any order, joined where they overlap, cut where markers stand.

use crate::redact::judge::{Stands, authorizes, plausible};
use crate::redact::keys::{Announcer, Announces};
use crate::redact::marks::{MARKER_MAX, OPENING, kinds};
use crate::redact::rules::Body;
use crate::redact::{RUN_MAX, Span};

/// How sure a span's kind is; where spans overlap, the surest one names the union.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Sure {
    Near,
    Announced,
    Shaped,
    /// By a prefix of so many bytes.
    Published(usize),
    Known,
}

struct Candidate {
    span: Span,
    sure: Sure,
}

/// Collects the spans of one text.
pub(crate) struct Found<'t> {
    pub(crate) text: &'t str,
    pub(crate) bytes: &'t [u8],
    candidates: Vec<Candidate>,
    /// Ranges of markers of our own: nothing inside them is a secret.
    markers: Vec<(usize, usize)>,
    /// The last stretches that were measured.
    pub(crate) stretches: [(usize, usize); 2],
    /// Where escapes begin.
    pub(crate) escapes: Vec<usize>,
    /// The last run of each body, so that it is measured once.
    runs: [(usize, usize); Body::ALL],
}

impl<'t> Found<'t> {
    pub(crate) fn new(text: &'t str) -> Self {
        Self {
            text,
            bytes: text.as_bytes(),
            candidates: Vec::new(),
            markers: Vec::new(),
            stretches: [(0, 0); 2],
            escapes: Vec::new(),
            runs: [(0, 0); Body::ALL],
        }
    }

    pub(crate) fn add(&mut self, span: Option<Span>, sure: Sure) {
        self.candidates.extend(span.map(|span| Candidate { span, sure }));
    }

    pub(crate) fn own_marker(&mut self, start: usize, end: usize) {
        self.markers.extend(self.ours(end).map(|until| (start, until)));
    }

    /// The end of a marker of our own whose kind begins at `start`.
    fn ours(&self, start: usize) -> Option<usize> {
        self.marker(start, b']').filter(|until| kinds().binary_search(&&self.text[start..until - 1]).is_ok())
    }

    /// How many letters and digits stand in a stretch outside of markers of our own.
    pub(crate) fn alphanumerics(&self, from: usize, to: usize) -> usize {
        let (mut at, mut count) = (from, 0);
        while at < to {
            let marker = self.bytes[at..to].starts_with(OPENING).then(|| self.ours(at + OPENING.len())).flatten();
            count += usize::from(self.bytes[at].is_ascii_alphanumeric());
            at = marker.unwrap_or(at + 1);
        }
        count
    }

    /// Whether a marker of our own seems to end here. What stood in its place may have gone on.
    pub(crate) fn behind_a_marker(&self, end: usize) -> bool {
        let window = &self.bytes[end.saturating_sub(MARKER_MAX)..end];
        window.last() == Some(&b']') && window.windows(OPENING.len()).any(|window| window == OPENING)
    }

    /// The end of the bytes of `body` from `start`, if they are at least `at_least`; no more than a run may have.
    pub(crate) fn run(&mut self, body: Body, start: usize, at_least: usize) -> Option<usize> {
        let known = &mut self.runs[body as usize];
        if !(known.0..known.1).contains(&start) {
            let length = self.bytes[start..].iter().take_while(|byte| body.holds(**byte)).count();
            *known = (start, start + length);
        }
        let end = known.1.max(start).min(start + RUN_MAX);
        (end - start >= at_least).then_some(end)
    }

    /// The whole text, for what the key that it stands under announces.
    pub(crate) fn whole(&mut self, Announcer(announces): Announcer) {
        let trimmed = self.text.trim_ascii_end();
        let start = trimmed.len() - trimmed.trim_ascii_start().len();
        let found = match announces {
            Announces::Secret(keyword) => {
                plausible(&trimmed[start..], keyword, Stands::Quoted).then_some((start, keyword.kind))
            }
            Announces::Authorization => {
                let (scheme, credentials) = trimmed[start..].split_once(' ').unwrap_or(("", &trimmed[start..]));
                authorizes(scheme, credentials).then_some((trimmed.len() - credentials.len(), "authorization"))
            }
        };
        self.add(found.map(|(start, kind)| Span { start, end: trimmed.len(), kind }), Sure::Announced);
    }

    /// The spans in order, joined where they overlap, without the markers that stand in them.
    pub(crate) fn finish(mut self) -> Vec<Span> {
        if self.candidates.is_empty() {
            return Vec::new();
        }
        // A known value that reaches into a marker is there by what was written into the text, not by what was said.
        let markers = &self.markers;
        self.candidates.retain(|Candidate { span, sure }| {
            let next = markers.partition_point(|(_, to)| *to <= span.start);
            *sure != Sure::Known || markers.get(next).is_none_or(|(from, _)| *from >= span.end)
        });
        self.candidates.sort_by(|a, b| {
            a.span.start.cmp(&b.span.start).then(b.span.end.cmp(&a.span.end)).then(b.sure.cmp(&a.sure))
        });
        let mut joined: Vec<Candidate> = Vec::with_capacity(self.candidates.len());
        for candidate in self.candidates {
            match joined.last_mut() {
                Some(last) if candidate.span.start < last.span.end => {
                    last.span.end = last.span.end.max(candidate.span.end);
                    if candidate.sure > last.sure {
                        last.sure = candidate.sure;
                        last.span.kind = candidate.span.kind;
                    }
                }
                _ => joined.push(candidate),
            }
        }
        without_markers(joined.iter().map(|candidate| candidate.span), &self.markers)
    }
}

/// The spans with every marker cut out of them.
fn without_markers(spans: impl Iterator<Item = Span>, markers: &[(usize, usize)]) -> Vec<Span> {
    let mut kept = Vec::new();
    for span in spans {
        let mut start = span.start;
        let first = markers.partition_point(|(_, to)| *to <= span.start);
        for &(from, to) in markers[first..].iter().take_while(|(from, _)| *from < span.end) {
            if start < from {
                kept.push(Span { start, end: from, kind: span.kind });
            }
            start = start.max(to);
        }
        if start < span.end {
            kept.push(Span { start, ..span });
        }
    }
    kept
}
