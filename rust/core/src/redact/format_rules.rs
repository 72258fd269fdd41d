//! Format rules: secrets recognized by their own form (published token formats, JWT, PEM, connection strings, headers).

use crate::redact::decoding::is_pair;
use crate::redact::findings::{Findings, Rule};
use crate::redact::kinds::MARKER_MAX;
use crate::redact::rules::{Begins, ByteSet, Infix, Token};
use crate::redact::value::{
    CERTAIN_BITS, EXAMINED_MAX, Parts, Quoting, UUID_BYTES, has_three_classes, is_digest, is_hex_pair, is_name,
    is_placeholder, is_random, is_secret, is_uuid, says_itself,
};
use crate::redact::{RUN_MAX, Span};

/// Bytes of the user and host parts of a connection string.
const CONNECTION_MAX: usize = 256;
/// Bytes of the longest name between `-----BEGIN ` and `-----`.
const PEM_NAME_MAX: usize = 48;
/// Bytes of a JSON Web Key on each side of its type.
const JWK_MAX: usize = 2048;
/// Characters of a line of a key in base64.
const KEY_LINE: usize = 64;
/// Letters and digits from which a PEM block has content and is not only its header.
const PEM_BODY_MIN: usize = 24;
/// Characters of base64 before a token that is none but a part of data.
const INSIDE_MAX: usize = 48;
/// Bits of the body of a token that is no placeholder (`ghp_xxxxxxxxxxxxxxxxxxxx`).
const BODY_BITS: u32 = 15;
/// Bits of the content of a key, and not of an example.
const PEM_BODY_BITS: u32 = 80;
/// The prefix of the format whose published length includes the terminating byte.
const TERMINATED_FORMAT: &str = "sntrys_";

impl Findings<'_> {
    /// Return the token of a published format whose prefix was found at `start..end`.
    pub(crate) fn prefixed_token(&mut self, token: &Token, start: usize, end: usize) -> Option<Span> {
        // Letters are anywhere in base64: within a long run of it they begin no token.
        let plain = token.prefix.bytes().all(|byte| byte.is_ascii_alphanumeric());
        if plain && self.body_before(ByteSet::Wide, start, INSIDE_MAX) >= INSIDE_MAX {
            return None;
        }
        let until = self.body_end(token.body, end, token.at_least)?;
        let body = self.slice(end, until.min(end + EXAMINED_MAX)).as_bytes();
        let bits = Parts::of(body).bits();
        let begins = match token.begins {
            Begins::Anywhere => true,
            // `sk-ecdsa-sha2-nistp256` is a name.
            Begins::AtWord => {
                let named = is_name(body) && (bits < CERTAIN_BITS || !body.iter().any(u8::is_ascii_digit));
                !named && (self.starts_word(start) || has_three_classes(body) || self.follows_same_format(token, start))
            }
            Begins::Uuid => until - end == UUID_BYTES && is_uuid(body) && self.starts_word(start),
            Begins::Random => {
                let joined = self.before(start).last().is_some_and(|byte| b"+/.=~".contains(byte));
                self.starts_word(start) && !(joined && token.prefix.len() < 3) && is_random(body)
            }
        };
        // The published pattern of this format includes the byte that ends it.
        let closes =
            token.prefix == TERMINATED_FORMAT && self.count(until, 1, |byte| b"\"'`\n\r\t <&;".contains(&byte)) > 0;
        let whole = self.slice(start, until).as_bytes();
        (begins && bits >= BODY_BITS && !is_digest(whole)).then_some(Span {
            start,
            end: until + usize::from(closes),
            kind: token.kind,
        })
    }

    /// Return true if a token of the same format ends where this one starts.
    fn follows_same_format(&self, token: &Token, start: usize) -> bool {
        let before = self.before(start);
        let body = self.body_before(token.body, start, token.at_least + 64);
        let length = |at: usize| before.len().checked_sub(at).and_then(|to| before.get(..to));
        (token.at_least..=body).any(|at| length(at).is_some_and(|head| head.ends_with(token.prefix.as_bytes())))
    }

    /// Return the token around an infix that was found at `start..end`.
    pub(crate) fn infixed_token(&mut self, infix: &Infix, start: usize, end: usize) -> Option<Span> {
        let (body, length_min) = infix.before;
        let before = self.part(start.saturating_sub(EXAMINED_MAX), start).iter().rev();
        let before = before.take_while(|byte| body.contains(**byte)).count();
        let (after, at_least) = infix.after;
        let until = self.body_end(after, end, at_least)?;
        let examined = self.part(start - before, until.min(end + EXAMINED_MAX));
        (before >= length_min && examined.iter().any(u8::is_ascii_digit)).then_some(Span {
            start: start - before,
            end: until,
            kind: infix.kind,
        })
    }

    /// Return true if a word begins here: not after a word byte, except after a written escape such as `\n`.
    pub(crate) fn starts_word(&self, start: usize) -> bool {
        match self.before(start) {
            [.., b'\\', b'n' | b'r' | b't'] | [] => true,
            // Behind a colour of a terminal: `ESC[93m`.
            [.., b'0'..=b'9', b'm'] => self.slice(start.saturating_sub(12), start).contains("\u{1b}["),
            [.., last] => !ByteSet::Word.contains(*last),
        }
    }

    /// Return a JWT: three base64url parts with dots between, the first a JSON object; the third may be empty.
    pub(crate) fn jwt(&mut self, start: usize) -> Option<Span> {
        let header = self.body_end(ByteSet::Word, start, 12)?;
        let claims = self.after(header, b'.').and_then(|at| self.body_end(ByteSet::Word, at, 8))?;
        let end = self.after(claims, b'.').and_then(|at| self.body_end(ByteSet::Word, at, 0)).unwrap_or(claims);
        Some(Span { start, end, kind: "jwt" })
    }

    /// Add the private members of the JSON Web Key whose `"kty"` is at `start..end`.
    pub(crate) fn find_jwk(&mut self, start: usize, end: usize) {
        let opened = self.slice(self.text.ceil_char_boundary(start.saturating_sub(JWK_MAX)), start);
        let begin = start - opened.len() + opened.rfind('{').unwrap_or(opened.len());
        let body = self.slice(begin, (end + JWK_MAX).min(self.bytes.len()));
        let body = body.split('}').next().unwrap_or_default();
        for name in ["d", "k", "p", "q", "dp", "dq", "qi"] {
            let Some((before, behind)) = body.split_once(&format!("\"{name}\"")) else { continue };
            let value = behind.trim_start_matches([' ', '\t', '\n', '\r', ':']);
            let from = begin + before.len() + name.len() + 2 + behind.len() - value.len() + 1;
            let Some(value) = value.strip_prefix('"').and_then(|value| value.split('"').next()) else { continue };
            let accepted = is_secret(value, false, Quoting::Quoted);
            let span = Span { start: from, end: from + value.len(), kind: "key" };
            self.add(accepted.then_some(span), Rule::Label);
        }
    }

    /// The position behind `byte`, if it is at `at`.
    fn after(&self, at: usize, byte: u8) -> Option<usize> {
        (self.bytes.get(at) == Some(&byte)).then_some(at + 1)
    }

    /// Return a private key block, from `-----BEGIN … PRIVATE KEY-----` to its end line.
    ///
    /// Without an end line it goes to the last byte that it can have. Looks no further than the next five dashes, so
    /// that a text full of begin lines stays linear.
    pub(crate) fn pem(&self, start: usize, end: usize) -> Option<Span> {
        let from = start.saturating_sub(PEM_NAME_MAX);
        let before = self.part(from, start);
        let begin = from + memchr::memmem::rfind(before, b"-----BEGIN ")?;
        let window = self.part(end, self.bytes.len().min(end + RUN_MAX));
        let dashes = memchr::memmem::find(window, b"-----").unwrap_or(window.len());
        let (content, end_line) = window.split_at(dashes);
        let closing = end_line.starts_with(b"-----END ").then(|| {
            let name = end_line.get(9..end_line.len().min(9 + PEM_NAME_MAX)).unwrap_or_default();
            memchr::memmem::find(name, b"-----").map(|length| dashes + 9 + length + 5)
        });
        let is_body = |byte: &u8| ByteSet::Wide.contains(*byte) || b"\\ \t\r\n:,\"'".contains(byte);
        let length = closing.flatten().unwrap_or_else(|| content.iter().take_while(|byte| is_body(byte)).count());
        let body = self.count_alphanumerics(end, end + dashes.min(length)); // a block that was redacted before has none
        let bits = Parts::of(content).bits();
        (body >= PEM_BODY_MIN && bits >= PEM_BODY_BITS).then_some(Span {
            start: begin,
            end: end + length,
            kind: "private-key",
        })
    }

    /// Return the password of `scheme://user:password@host`.
    pub(crate) fn connection_password(&self, start: usize) -> Option<Span> {
        let ends = |byte: u8| byte.is_ascii_whitespace() || b"/?#\"'<>`\\|".contains(&byte);
        let window = self.part(start, self.bytes.len().min(start + CONNECTION_MAX));
        let window = window.split(|byte| ends(*byte)).next().unwrap_or_default();
        let at = window.iter().rposition(|byte| *byte == b'@')?;
        let colon = window.iter().take(at).position(|byte| *byte == b':')?;
        let (from, to) = (start + colon + 1, start + at);
        let (user, value) = (self.slice(start, start + colon), self.slice(from, to));
        // A user and password of equal hexadecimal length are the two halves of one key (a Sentry DSN): both are
        // secret.
        let from = if is_hex_pair(self.slice(start, to)) { start } else { from };
        let is_word = value.bytes().all(|byte| byte.is_ascii_alphabetic()) && is_name(value.as_bytes());
        (!is_placeholder(value) && !is_word && value != user && !says_itself(value)).then_some(Span {
            start: from,
            end: to,
            kind: "connection-password",
        })
    }

    /// Return the credentials of an authorization header.
    pub(crate) fn authorization(&mut self, start: usize) -> Option<Span> {
        let end = self.body_end(ByteSet::Wide, start, 12)?;
        let credentials = self.slice(start, end);
        let accepted = is_secret(credentials, false, Quoting::Bare) || is_pair(credentials);
        accepted.then_some(Span { start, end, kind: "authorization" })
    }

    /// Return the credentials behind the name of the scheme Basic: the base64 of `user:password`.
    ///
    /// Only behind a header's name may they be something else, as what is written there is looked at by its own rule.
    pub(crate) fn basic_credentials(&mut self, start: usize, at: usize) -> Option<Span> {
        let end =
            self.body_end(ByteSet::Wide, at, 6).filter(|end| self.starts_word(start) && end - at <= EXAMINED_MAX)?;
        is_pair(self.slice(at, end)).then_some(Span { start: at, end, kind: "authorization" })
    }

    /// Add a run whose format is known by the lengths of its parts: a token of Discord, a key of Mailgun.
    pub(crate) fn add_divided(&mut self, start: usize, end: usize) {
        let run = self.slice(start, end).as_bytes();
        if !(50..=80).contains(&run.len()) {
            return;
        }
        let hex = |part: &[u8], length: usize| part.len() == length && part.iter().all(u8::is_ascii_hexdigit);
        let parts = |mark: u8| -> Vec<&[u8]> { run.split(|byte| *byte == mark).take(4).collect() };
        let kind = match (&parts(b'.')[..], &parts(b'-')[..]) {
            ([id @ [b'M'..=b'O', ..], time, proof], _)
                if (23..=30).contains(&id.len())
                    && (5..=7).contains(&time.len())
                    && (27..=40).contains(&proof.len()) =>
            {
                "discord-token"
            }
            (_, [key, first, second]) if hex(key, 32) && hex(first, 8) && hex(second, 8) => "mailgun-key",
            _ => return,
        };
        self.add(Some(Span { start, end, kind }), Rule::Shape);
    }

    /// Add a line of a key in base64, of the length that OpenSSL and OpenSSH write, with nothing behind it in its line.
    ///
    /// Lines of a certificate or another public block are none.
    pub(crate) fn add_key_line(&mut self, start: usize, end: usize) {
        let line = self.slice(start, end).as_bytes();
        let base64 = line.iter().all(|byte| byte.is_ascii_alphanumeric() || b"+/".contains(byte));
        let behind = self.slice(end, end + 8).trim_start_matches(['"', '\'', ',', '+', ' ', '\t', '\r']);
        let before = self.before(start).last().copied();
        let alone = matches!(before, None | Some(b'\n' | b'"' | b'\''));
        if !(matches!(line.len(), KEY_LINE | 70) || alone && (60..=76).contains(&line.len()))
            || !base64
            || !has_three_classes(line)
            || !is_random(line)
            || !matches!(before, None | Some(b' ' | b'\t' | b'\n' | b'"' | b'\'' | b'n'))
            || !(behind.is_empty() || behind.starts_with(['\n', '\\']))
        {
            return;
        }
        let block = self.slice(self.text.ceil_char_boundary(start.saturating_sub(RUN_MAX / 4)), start);
        let public = block.rfind("-----BEGIN ").is_some_and(|at| {
            let name = block.get(at..).and_then(|name| name.lines().next()).unwrap_or_default();
            !name.contains("PRIVATE")
        });
        if !public {
            self.add(Some(Span { start, end, kind: "key-material" }), Rule::KeyLine);
        }
    }

    /// Return the end of a marker whose kind begins at `start`.
    pub(crate) fn marker_end(&self, start: usize, close: u8) -> Option<usize> {
        let window = self.part(start, self.bytes.len().min(start + MARKER_MAX));
        let length = window.iter().position(|byte| !(ByteSet::Dotted.contains(*byte) || b":/ ".contains(byte)))?;
        (length > 0 && window.get(length) == Some(&close)).then_some(start + length + 1)
    }
}
