//! Cookies: the values of `Cookie` and `Set-Cookie` headers that prove a user's identity.

use crate::redact::Span;
use crate::redact::findings::{Findings, Rule};
use crate::redact::rules::{COOKIE_ATTRIBUTES, COOKIE_NAMES};
use crate::redact::value::{Quoting, is_random, is_secret};

/// Bytes of a header that are examined: what browsers store for one cookie.
const HEADER_MAX: usize = 4096;
/// What ends a header in code, in logs and in its own line.
const ENDS: [char; 7] = ['"', '\'', '`', '\\', '<', '\r', '\n'];

impl Findings<'_> {
    /// Add the secret values of the cookies that begin at `at`: `lang=en; sid=31d4d96e407aad42` has one.
    pub(crate) fn find_cookies(&mut self, at: usize) {
        let header = self.slice(at, at + HEADER_MAX).split(ENDS).next().unwrap_or_default();
        let mut from = at;
        for cookie in header.split(';') {
            self.add_cookie(from, cookie);
            from += cookie.len() + 1;
        }
    }

    /// Add the value of the cookie that begins at `at`, if its name or the value says that it is a secret.
    fn add_cookie(&mut self, at: usize, cookie: &str) {
        let Some((name, value)) = cookie.split_once('=') else { return };
        let start = at + name.len() + 1;
        let value = value.split([' ', '\t', ',', '>']).next().unwrap_or_default();
        let name = name.trim().to_ascii_lowercase();
        let is_name = |letter: char| letter.is_ascii_alphanumeric() || "_-.%!#$*+^|~".contains(letter);
        if name.is_empty() || !name.chars().all(is_name) || COOKIE_ATTRIBUTES.contains(&name.as_str()) {
            return;
        }
        let proves = COOKIE_NAMES.iter().any(|part| name.contains(part)) && is_secret(value, false, Quoting::Bare);
        let span = Span { start, end: start + value.len(), kind: "cookie" };
        self.add((proves || is_random(value.as_bytes())).then_some(span), Rule::Label);
    }
}
