//! Cookies: the values of `Cookie` and `Set-Cookie` headers that prove a user's identity.

use crate::redact::Span;
use crate::redact::findings::{Confidence, Findings};
use crate::redact::machine_class::machine_class;
use crate::redact::plausibility::{EXAMINED_MAX, is_placeholder, mixes_letters_and_digits};
use crate::redact::rules::{ByteSet, COOKIE_ATTRIBUTES, COOKIE_NAMES};

/// Bytes of a header that are examined: what browsers store for one cookie.
const HEADER_MAX: usize = 4096;
/// Bytes of the shortest value of a cookie that is named like a session.
const VALUE_MIN: usize = 6;
/// Bytes from which a random value is one whatever the cookie is called; shorter ones are settings.
const RANDOM_MIN: usize = 20;

impl Findings<'_> {
    /// Add the secret values of the cookies that begin at `at`: `lang=en; sid=31d4d96e407aad42` has one.
    pub(crate) fn find_cookies(&mut self, at: usize) {
        let until = self.bytes.len().min(at + HEADER_MAX);
        let mut at = at;
        while at < until {
            at += self.bytes[at..until].iter().take_while(|byte| matches!(byte, b' ' | b';' | b'\t')).count();
            let is_name = |byte: &&u8| ByteSet::Dotted.contains(**byte) || b"%!#$*+^|~".contains(byte);
            let name = self.bytes[at..until].iter().take_while(is_name).count();
            let behind = at + name;
            // A name that reaches the limit has no value that is examined.
            if name == 0 || behind >= until || !matches!(self.bytes[behind], b'=' | b';') {
                return;
            }
            if self.bytes[behind] == b';' {
                at = behind + 1;
                continue;
            }
            let ends = |byte: &u8| b";\"'`\\<>,\r\n \t".contains(byte);
            let rest = &self.bytes[behind + 1..until];
            let end = behind + 1 + rest.iter().position(ends).unwrap_or(rest.len());
            self.add_cookie(at, behind, self.text.floor_char_boundary(end));
            // The date of an attribute has spaces and a comma.
            let rest = &self.bytes[end..until];
            at = end + rest.iter().position(|byte| b";\"'`\\<>\r\n".contains(byte)).unwrap_or(rest.len());
            if self.bytes.get(at) != Some(&b';') {
                return;
            }
        }
    }

    /// Add the value between `equals` and `end` if the cookie's name or the value says that it is a secret.
    fn add_cookie(&mut self, name: usize, equals: usize, end: usize) {
        let (Some(name), Some(value)) = (self.text.get(name..equals), self.text.get(equals + 1..end)) else { return };
        let name = name.to_ascii_lowercase();
        let examined = &value[..value.floor_char_boundary(EXAMINED_MAX)];
        if value.len() < VALUE_MIN
            || COOKIE_ATTRIBUTES.contains(&name.as_str())
            || is_placeholder(examined)
            || value.contains("[REDACTED:")
        {
            return;
        }
        let proves = COOKIE_NAMES.iter().any(|part| name.contains(part));
        let random = value.len() >= RANDOM_MIN
            && mixes_letters_and_digits(examined)
            && (machine_class(examined.as_bytes()).is_some() || examined.contains('%'));
        let span = Span { start: equals + 1, end, kind: "cookie" };
        self.add((proves || random).then_some(span), Confidence::NamedValue);
    }
}
