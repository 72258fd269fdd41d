//! Secrets that their own form gives away: published formats, JWT, PEM, connection strings, headers, markers.

use crate::redact::found::Found;
use crate::redact::judge::{
    JUDGED_MAX, halves, is_digest, made_by_machine, of_three_classes, random, stands_for_another,
};
use crate::redact::marks::MARKER_MAX;
use crate::redact::rules::{Begins, Body, Infix, Token};
use crate::redact::{RUN_MAX, Span};

/// User and host parts of a connection string.
const CONNECTION_MAX: usize = 256;
/// The longest name between `-----BEGIN ` and `-----`.
const PEM_NAME_MAX: usize = 48;
/// Letters and digits that make a block more than its name.
const PEM_BODY_LEAST: usize = 24;
/// The format that has the byte behind it as its last.
const CLOSED: &str = "sntrys_";

impl Found<'_> {
    pub(crate) fn token(&mut self, token: &Token, start: usize, end: usize) -> Option<Span> {
        let until = self.run(token.body, end, token.at_least)?;
        let judged = &self.bytes[end..until.min(end + JUDGED_MAX)];
        let begins = match token.begins {
            Begins::Anywhere => true,
            Begins::AtWord => {
                self.word_begins(start) || of_three_classes(judged) || self.follows_its_like(token, start)
            }
            Begins::Random => {
                let joined = self.bytes[..start].last().is_some_and(|byte| b"+/.=~".contains(byte));
                self.word_begins(start) && !(joined && token.prefix.len() < 3) && random(judged)
            }
        };
        // The published format of this one counts the byte that closes it.
        let closes = |byte: &&u8| token.prefix == CLOSED && b"\"'`\n\r\t <&;".contains(byte);
        let until = until + self.bytes[until..].iter().take(1).take_while(closes).count();
        let scheme = if token.prefix.contains('/') { self.scheme_before(start) } else { 0 };
        (begins && !is_digest(&self.bytes[start..until])).then_some(Span {
            start: start - scheme,
            end: until,
            kind: token.kind,
        })
    }

    /// The length of the scheme of an address that is itself the secret.
    fn scheme_before(&self, start: usize) -> usize {
        ["https://", "http://"]
            .iter()
            .find(|scheme| self.text[..start].ends_with(**scheme))
            .map_or(0, |scheme| scheme.len())
    }

    /// Whether a token of the same format ends where this one starts.
    fn follows_its_like(&self, token: &Token, start: usize) -> bool {
        let body = self.bytes[start.saturating_sub(token.at_least + 64)..start].iter().rev();
        let body = body.take_while(|byte| token.body.holds(**byte)).count();
        let prefix = token.prefix.as_bytes();
        (token.at_least..=body).any(|length| self.bytes[..start - length].ends_with(prefix))
    }

    /// The token round a middle part that was found.
    pub(crate) fn infixed(&mut self, infix: &Infix, start: usize, end: usize) -> Option<Span> {
        let (body, least) = infix.before;
        let before = self.bytes[start.saturating_sub(JUDGED_MAX)..start].iter().rev();
        let before = before.take_while(|byte| body.holds(**byte)).count();
        let (after, at_least) = infix.after;
        let until = self.run(after, end, at_least)?;
        let judged = &self.bytes[start - before..until.min(end + JUDGED_MAX)];
        (before >= least && judged.iter().any(u8::is_ascii_digit)).then_some(Span {
            start: start - before,
            end: until,
            kind: infix.kind,
        })
    }

    /// Whether a word begins here: after no word byte, or after a backslash escape such as `\n` written out.
    pub(crate) fn word_begins(&self, start: usize) -> bool {
        match self.bytes[..start] {
            [.., b'\\', b'n' | b'r' | b't'] | [] => true,
            [.., last] => !Body::Word.holds(last),
        }
    }

    /// Three base64url parts with dots between, the first a JSON object: the third may be missing or empty.
    pub(crate) fn jwt(&mut self, start: usize) -> Option<Span> {
        let header = self.run(Body::Word, start, 12)?;
        let claims = self.after(header, b'.').and_then(|at| self.run(Body::Word, at, 8))?;
        let end = self.after(claims, b'.').and_then(|at| self.run(Body::Word, at, 0)).unwrap_or(claims);
        Some(Span { start, end, kind: "jwt" })
    }

    fn after(&self, at: usize, byte: u8) -> Option<usize> {
        (self.bytes.get(at) == Some(&byte)).then_some(at + 1)
    }

    /// From `-----BEGIN … PRIVATE KEY-----` to its end line, or to the last byte that such a block can hold.
    ///
    /// Looks no further than the next five dashes, so that a text full of begin lines stays linear.
    pub(crate) fn pem(&self, start: usize, end: usize) -> Option<Span> {
        let from = start.saturating_sub(PEM_NAME_MAX);
        let begin = self.bytes[from..start].windows(11).rposition(|window| window == b"-----BEGIN ")? + from;
        let window = &self.bytes[end..self.bytes.len().min(end + RUN_MAX)];
        let dashes = window.windows(5).position(|window| window == b"-----").unwrap_or(window.len());
        let end_line = &window[dashes..];
        let closing = end_line.starts_with(b"-----END ").then(|| {
            let name = &end_line[9..end_line.len().min(9 + PEM_NAME_MAX)];
            name.windows(5).position(|window| window == b"-----").map(|length| dashes + 9 + length + 5)
        });
        let held = |byte: &u8| Body::Wide.holds(*byte) || b"\\ \t\r\n:,\"'".contains(byte);
        let length = closing.flatten().unwrap_or_else(|| window[..dashes].iter().take_while(|byte| held(byte)).count());
        let body = self.alphanumerics(end, end + length); // a block that was redacted before has none
        (body >= PEM_BODY_LEAST).then_some(Span { start: begin, end: end + length, kind: "private-key" })
    }

    /// The password of `scheme://user:password@host`.
    pub(crate) fn connection(&self, start: usize) -> Option<Span> {
        let ends = |byte: u8| byte.is_ascii_whitespace() || b"/?#\"'<>`\\|".contains(&byte);
        let window = &self.bytes[start..self.bytes.len().min(start + CONNECTION_MAX)];
        let window = &window[..window.iter().position(|byte| ends(*byte)).unwrap_or(window.len())];
        let at = window.iter().rposition(|byte| *byte == b'@')?;
        let colon = window[..at].iter().position(|byte| *byte == b':')?;
        let (from, to) = (start + colon + 1, start + at);
        let value = self.text.get(from..to)?;
        // Both halves of such a key are secret.
        let from = if halves(&self.text[start..to]) { start } else { from };
        (!value.is_empty() && !stands_for_another(value)).then_some(Span {
            start: from,
            end: to,
            kind: "connection-password",
        })
    }

    pub(crate) fn bearer(&mut self, start: usize) -> Option<Span> {
        let end = self.run(Body::Wide, start, 12)?;
        let judged = &self.text[start..end.min(start + JUDGED_MAX)];
        made_by_machine(judged).then_some(Span { start, end, kind: "authorization" })
    }

    /// The end of a marker whose kind begins at `start`.
    pub(crate) fn marker(&self, start: usize, close: u8) -> Option<usize> {
        let window = &self.bytes[start..self.bytes.len().min(start + MARKER_MAX)];
        let length = window.iter().position(|byte| !(Body::Dotted.holds(*byte) || b":/ ".contains(byte)))?;
        (length > 0 && window[length] == close).then_some(start + length + 1)
    }
}
