//! The shapes round an anchor: from a place that may begin a secret to the span that is one.

use std::sync::LazyLock;

use crate::redact::judge::{
    authorizes, made_by_machine, names_a_secret_key, of_three_classes, plausible, stands_for_another,
};
use crate::redact::keys::{Announcer, Announces};
use crate::redact::rules::{Begins, Body, KEYWORDS, Keyword, TOKENS, Token};
use crate::redact::{Reach, Span};

/// Names before `=` and `:` are looked at no further than this.
const NAME_MAX: usize = 64;
/// A value is judged by no more than its first bytes, so that a long line of keywords stays linear.
const JUDGED_MAX: usize = 256;
/// User and host parts of a connection string.
const CONNECTION_MAX: usize = 256;
/// The longest name between `-----BEGIN ` and `-----`.
const PEM_NAME_MAX: usize = 48;
/// The longest private key block.
const PEM_MAX: usize = 32 * 1024;
/// Letters and digits that make a block more than its name.
const PEM_BODY_LEAST: usize = 24;
/// Kinds in markers.
const MARKER_MAX: usize = 64;

/// Kinds that no table names.
const OTHER_KINDS: [&str; 7] =
    ["secret", "jwt", "private-key", "connection-password", "authorization", "byok", "foreign"];

/// Every kind, in order: what only looks like a marker of our own may hide a secret.
static KINDS: LazyLock<Vec<&'static str>> = LazyLock::new(|| {
    let tables = TOKENS.iter().map(|token| token.kind).chain(KEYWORDS.iter().map(|keyword| keyword.kind));
    let mut kinds: Vec<_> = tables.chain(OTHER_KINDS).collect();
    kinds.sort_unstable();
    kinds.dedup();
    kinds
});

/// What a hit of the automaton announces.
pub(crate) enum Anchor {
    Token(&'static Token),
    Keyword(&'static Keyword),
    Jwt,
    Pem,
    Scheme,
    Bearer,
    OwnMarker,
    ForeignMarker { kind: &'static str, close: u8 },
}

/// Every anchor with the bytes that raise it.
pub(crate) fn anchors() -> Vec<(Anchor, String)> {
    let mut anchors: Vec<(Anchor, String)> =
        TOKENS.iter().map(|token| (Anchor::Token(token), token.prefix.to_owned())).collect();
    for keyword in KEYWORDS {
        let (first, rest) = keyword.word.split_at(1);
        let capitalised = format!("{}{rest}", first.to_uppercase());
        for form in [keyword.word.to_owned(), keyword.word.to_uppercase(), capitalised] {
            anchors.push((Anchor::Keyword(keyword), form));
        }
    }
    for form in ["Bearer ", "bearer ", "BEARER "] {
        anchors.push((Anchor::Bearer, form.to_owned()));
    }
    for between in [": ", "\": \"", "\":\"", "': '", "\\\": \\\"", "\\\":\\\""] {
        for scheme in ["Basic ", "basic ", "token "] {
            anchors.push((Anchor::Bearer, format!("uthorization{between}{scheme}")));
        }
    }
    anchors.push((Anchor::Jwt, "eyJ".to_owned()));
    anchors.push((Anchor::Pem, "PRIVATE KEY-----".to_owned()));
    anchors.push((Anchor::Pem, "PRIVATE KEY BLOCK-----".to_owned()));
    anchors.push((Anchor::Scheme, "://".to_owned()));
    anchors.push((Anchor::OwnMarker, "[REDACTED:".to_owned()));
    anchors.push((Anchor::ForeignMarker { kind: "byok", close: b']' }, "[BYOK:".to_owned()));
    anchors.push((Anchor::ForeignMarker { kind: "foreign", close: b'>' }, "<REDACTED:".to_owned()));
    anchors
}

/// How sure a span's kind is; where spans overlap, the surer one names the union.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Sure {
    Announced,
    Shaped,
    Published,
    Known,
}

struct Candidate {
    span: Span,
    sure: Sure,
}

/// Collects the spans of one text.
pub(crate) struct Found<'t> {
    text: &'t str,
    bytes: &'t [u8],
    candidates: Vec<Candidate>,
    /// Ranges of markers of our own: nothing inside them is a secret.
    markers: Vec<(usize, usize)>,
    /// Start and ends of the last spans: a hit before an end has been covered. Announced values are apart, so that a
    /// published format inside one can still name it.
    shaped_from: usize,
    shaped_until: usize,
    announced_until: usize,
    /// The last run of word bytes that a JWT was looked for in, so that it is measured once.
    word_run: (usize, usize),
}

impl<'t> Found<'t> {
    pub(crate) fn new(text: &'t str) -> Self {
        Self {
            text,
            bytes: text.as_bytes(),
            candidates: Vec::new(),
            markers: Vec::new(),
            shaped_from: usize::MAX,
            shaped_until: 0,
            announced_until: 0,
            word_run: (0, 0),
        }
    }

    pub(crate) fn literal(&mut self, start: usize, end: usize) {
        self.candidates.push(Candidate { span: Span { start, end, kind: "secret" }, sure: Sure::Known });
    }

    /// The whole text, for what the key that it stands under announces.
    pub(crate) fn whole(&mut self, Announcer(announces): Announcer) {
        let trimmed = self.text.trim_ascii_end();
        let start = trimmed.len() - trimmed.trim_ascii_start().len();
        let found = match announces {
            Announces::Secret(keyword) => plausible(&trimmed[start..], keyword, true).then_some((start, keyword.kind)),
            Announces::Authorization => {
                let (scheme, credentials) = trimmed[start..].split_once(' ').unwrap_or(("", &trimmed[start..]));
                authorizes(scheme, credentials).then_some((trimmed.len() - credentials.len(), "authorization"))
            }
        };
        if let Some((start, kind)) = found {
            let span = Span { start, end: trimmed.len(), kind };
            self.candidates.push(Candidate { span, sure: Sure::Announced });
        }
    }

    pub(crate) fn anchor(&mut self, anchor: &Anchor, start: usize, end: usize, reach: Reach) {
        match anchor {
            Anchor::Token(token) if self.is_open(start, end) => {
                if let Some(span) = self.token(token, start, end) {
                    self.shaped(span, Sure::Published);
                }
            }
            Anchor::Jwt if self.is_open(start, end) => {
                if let Some(end) = self.jwt(start) {
                    self.shaped(Span { start, end, kind: "jwt" }, Sure::Shaped);
                }
            }
            Anchor::Pem if end >= self.shaped_until => {
                if let Some(span) = self.pem(start, end) {
                    self.shaped(span, Sure::Published);
                }
            }
            Anchor::OwnMarker => {
                let ours = |until: &usize| KINDS.binary_search(&&self.text[end..until - 1]).is_ok();
                if let Some(until) = self.marker(end, b']').filter(ours) {
                    self.markers.push((start, until));
                }
            }
            _ if reach == Reach::Name => {}
            Anchor::Keyword(keyword) if end >= self.announced_until => {
                if let Some(span) = self.announced(keyword, start, end) {
                    self.announced_until = span.end;
                    self.candidates.push(Candidate { span, sure: Sure::Announced });
                }
            }
            Anchor::Bearer if end >= self.announced_until => {
                if let Some(span) = self.bearer(end) {
                    self.announced_until = span.end;
                    self.candidates.push(Candidate { span, sure: Sure::Announced });
                }
            }
            Anchor::Scheme => {
                if let Some(span) = self.connection(end) {
                    self.candidates.push(Candidate { span, sure: Sure::Announced });
                }
            }
            Anchor::ForeignMarker { kind, close } => {
                if let Some(end) = self.marker(end, *close) {
                    self.shaped(Span { start, end, kind }, Sure::Published);
                }
            }
            Anchor::Token(_) | Anchor::Jwt | Anchor::Pem | Anchor::Keyword(_) | Anchor::Bearer => {}
        }
    }

    /// The spans in order, joined where they overlap, without the markers that stand in them.
    pub(crate) fn finish(mut self) -> Vec<Span> {
        if self.candidates.is_empty() {
            return Vec::new();
        }
        self.candidates.sort_by(|a, b| a.span.start.cmp(&b.span.start).then(b.span.end.cmp(&a.span.end)));
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

    fn shaped(&mut self, span: Span, sure: Sure) {
        // A longer prefix at the same place says better what it is: `sk-ant-` after `sk-`.
        if self.shaped_from == span.start && self.shaped_until == span.end {
            self.candidates.pop_if(|last| last.span.start == span.start && last.span.end == span.end);
        }
        (self.shaped_from, self.shaped_until) = (span.start, self.shaped_until.max(span.end));
        self.candidates.push(Candidate { span, sure });
    }

    /// Whether a hit says something new: it lies behind the last span, goes on beyond it, or begins it with more.
    fn is_open(&self, start: usize, end: usize) -> bool {
        end > self.shaped_until || start == self.shaped_from
    }

    fn token(&self, token: &Token, start: usize, end: usize) -> Option<Span> {
        let until = self.run(token.body, end, token.at_least)?;
        let begins = token.begins == Begins::Anywhere || start <= self.shaped_until || self.word_begins(start);
        let judged = &self.bytes[end..until.min(end + JUDGED_MAX)];
        (begins || of_three_classes(judged)).then_some(Span { start, end: until, kind: token.kind })
    }

    /// The end of the bytes of `body` from `start`, if they are at least `at_least`.
    fn run(&self, body: Body, start: usize, at_least: usize) -> Option<usize> {
        let length = self.bytes[start..].iter().take_while(|byte| body.holds(**byte)).count();
        (length >= at_least).then_some(start + length)
    }

    /// Whether a word begins here: after no word byte, or after a backslash escape such as `\n` written out.
    fn word_begins(&self, start: usize) -> bool {
        match self.bytes[..start] {
            [.., b'\\', b'n' | b'r' | b't'] | [] => true,
            [.., last] => !Body::Word.holds(last),
        }
    }

    /// Three base64url parts with dots between, the first a JSON object: the third may be missing or empty.
    fn jwt(&mut self, start: usize) -> Option<usize> {
        if !(self.word_run.0..self.word_run.1).contains(&start) {
            self.word_run = (start, self.run(Body::Word, start, 0)?);
        }
        let header = self.word_run.1;
        let claims = self.after(header, b'.').and_then(|at| self.run(Body::Word, at, 8))?;
        if header - start < 12 {
            return None;
        }
        Some(self.after(claims, b'.').and_then(|at| self.run(Body::Word, at, 0)).unwrap_or(claims))
    }

    fn after(&self, at: usize, byte: u8) -> Option<usize> {
        (self.bytes.get(at) == Some(&byte)).then_some(at + 1)
    }

    /// From `-----BEGIN … PRIVATE KEY-----` to its end line, or to the last byte that such a block can hold.
    ///
    /// Looks no further than the next five dashes, so that a text full of begin lines stays linear.
    fn pem(&self, start: usize, end: usize) -> Option<Span> {
        let from = start.saturating_sub(PEM_NAME_MAX);
        let begin = self.bytes[from..start].windows(11).rposition(|window| window == b"-----BEGIN ")? + from;
        let window = &self.bytes[end..self.bytes.len().min(end + PEM_MAX)];
        let dashes = window.windows(5).position(|window| window == b"-----").unwrap_or(window.len());
        let end_line = &window[dashes..];
        let closing = end_line.starts_with(b"-----END ").then(|| {
            let name = &end_line[9..end_line.len().min(9 + PEM_NAME_MAX)];
            name.windows(5).position(|window| window == b"-----").map(|length| dashes + 9 + length + 5)
        });
        let held = |byte: &u8| Body::Wide.holds(*byte) || b"\\ \t\r\n:,\"'".contains(byte);
        let length = closing.flatten().unwrap_or_else(|| window.iter().take_while(|byte| held(byte)).count());
        let body = window[..length].iter().filter(|byte| byte.is_ascii_alphanumeric()).count();
        (body >= PEM_BODY_LEAST).then_some(Span { start: begin, end: end + length, kind: "private-key" })
    }

    /// The password of `scheme://user:password@host`.
    fn connection(&self, start: usize) -> Option<Span> {
        let ends = |byte: u8| byte.is_ascii_whitespace() || b"/?#\"'<>`\\|".contains(&byte);
        let window = &self.bytes[start..self.bytes.len().min(start + CONNECTION_MAX)];
        let window = &window[..window.iter().position(|byte| ends(*byte)).unwrap_or(window.len())];
        let at = window.iter().rposition(|byte| *byte == b'@')?;
        let colon = window[..at].iter().position(|byte| *byte == b':')?;
        let (from, to) = (start + colon + 1, start + at);
        let value = self.text.get(from..to)?;
        (!value.is_empty() && !stands_for_another(value)).then_some(Span {
            start: from,
            end: to,
            kind: "connection-password",
        })
    }

    fn bearer(&self, start: usize) -> Option<Span> {
        let end = self.run(Body::Wide, start, 12)?;
        let judged = &self.text[start..end.min(start + JUDGED_MAX)];
        made_by_machine(judged).then_some(Span { start, end, kind: "authorization" })
    }

    /// The value that a name ending in a keyword announces.
    fn announced(&self, keyword: &Keyword, start: usize, end: usize) -> Option<Span> {
        if self.bytes.get(end).is_some_and(|byte| Body::Word.holds(*byte)) {
            return None;
        }
        let value_start = self.separator(end)?;
        if keyword.word == "key" && !names_a_secret_key(&self.bytes[start.saturating_sub(NAME_MAX)..end]) {
            return None;
        }
        let (quote, from) = self.opening_quote(value_start);
        let window = self.text.floor_char_boundary(from + JUDGED_MAX);
        let to = if quote == 0 { self.bare_end(from, window) } else { self.quoted_end(from, quote)? };
        if !plausible(self.text.get(from..to)?, keyword, quote != 0) {
            return None;
        }
        let end = if to == window { self.bare_end(from, self.text.len()) } else { to };
        Some(Span { start: from, end, kind: keyword.kind })
    }

    /// Behind `=`, `:`, `:=` or `=>`, with what may stand round it; none for `==`.
    fn separator(&self, mut at: usize) -> Option<usize> {
        at = self.skip(at, b"\\\"'`]", 3);
        at = self.skip(at, b" \t", 4);
        let next = |offset: usize| self.bytes.get(at + offset).copied();
        let width = match (next(0)?, next(1)) {
            (b'=', Some(b'=')) => return None,
            (b'=', Some(b'>')) | (b':', Some(b'=')) => 2,
            (b'=' | b':', _) => 1,
            _ => return None,
        };
        Some(self.skip(at + width, b" \t", 4))
    }

    fn skip(&self, at: usize, any_of: &[u8], at_most: usize) -> usize {
        at + self.bytes[at..].iter().take(at_most).take_while(|byte| any_of.contains(byte)).count()
    }

    /// The quote that opens a value, or 0, and where the value begins.
    fn opening_quote(&self, at: usize) -> (u8, usize) {
        match self.bytes[at..] {
            [quote @ (b'"' | b'\'' | b'`'), ..] => (quote, at + 1),
            [b'\\', quote @ (b'"' | b'\''), ..] => (quote, at + 2),
            _ => (0, at),
        }
    }

    fn quoted_end(&self, from: usize, quote: u8) -> Option<usize> {
        let window = &self.bytes[from..self.bytes.len().min(from + JUDGED_MAX)];
        let length = window.iter().position(|byte| *byte == quote || *byte == b'\n')?;
        let escaped = length > 0 && window[length - 1] == b'\\';
        (window[length] == quote).then_some(from + length - usize::from(escaped))
    }

    fn bare_end(&self, from: usize, limit: usize) -> usize {
        let ends = |byte: u8| byte.is_ascii_whitespace() || b"\"'`,;)]}<>&|\\".contains(&byte);
        from + self.bytes[from..limit].iter().take_while(|byte| !ends(**byte)).count()
    }

    /// The end of a marker whose kind begins at `start`.
    fn marker(&self, start: usize, close: u8) -> Option<usize> {
        let window = &self.bytes[start..self.bytes.len().min(start + MARKER_MAX)];
        let length = window.iter().position(|byte| !(Body::Dotted.holds(*byte) || b":/ ".contains(byte)))?;
        (length > 0 && window[length] == close).then_some(start + length + 1)
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
