//! Values that a machine made, near words that say what for: credentials, or a service that gives out keys.

use crate::redact::Span;
use crate::redact::found::{Found, Sure};
use crate::redact::judge::{Class, class, surely_random};
use crate::redact::rules::{BENIGN, BENIGN_KEYS, Body, COMMON, CREDENTIALS, DIGESTS, IDENTIFIERS, SERVICES, STRONG};

/// Shorter values need a name that announces them.
const AT_LEAST: usize = 16;
/// Longer ones are data.
const AT_MOST: usize = 512;
/// How far back words are looked for, and how many.
const WINDOW: usize = 96;
const WORDS: usize = 7;
/// The longest word.
const WORD_MAX: usize = 48;

/// What a word says about a value behind it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Says {
    /// It names a thing.
    Benign,
    /// It proves a right; strongly: even a UUID is a secret behind it.
    Credential {
        strongly: bool,
    },
    /// A service that gives out keys.
    Service,
    Nothing,
}

/// Whether values are made of this byte: letters, digits and `_ - + / . ~`.
fn held(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'+' | b'/' | b'.' | b'~')
}

impl Found<'_> {
    /// Every run of value bytes that is long enough: each contains a byte at a multiple of that length.
    pub(crate) fn runs(&mut self, mut visit: impl FnMut(&mut Self, usize, usize)) {
        let mut at = AT_LEAST - 1;
        while at < self.bytes.len() {
            if !held(self.bytes[at]) {
                at += AT_LEAST;
                continue;
            }
            let before = self.bytes[..at].iter().rev().take_while(|byte| held(**byte)).count();
            let after = self.bytes[at..].iter().take_while(|byte| held(**byte)).count();
            let (start, end) = (at - before, at + after);
            if end - start >= AT_LEAST {
                visit(self, start, end);
            }
            at = end + AT_LEAST;
        }
    }

    /// A run, or the parts of it between slashes and dots.
    pub(crate) fn near(&mut self, start: usize, end: usize) {
        let bytes = &self.bytes[start..end];
        let dots = bytes.iter().rev().take_while(|byte| **byte == b'.').count();
        let (end, bytes) = (end - dots, &bytes[..bytes.len() - dots]);
        if !(AT_LEAST..=AT_MOST).contains(&bytes.len()) {
            return;
        }
        if !bytes.iter().any(u8::is_ascii_digit) {
            return;
        }
        if (60..=80).contains(&bytes.len()) && surely_random(bytes) && self.is_alone(start, end) {
            return self.add(Some(Span { start, end, kind: "key-material" }), Sure::Near);
        }
        if (50..=80).contains(&bytes.len())
            && let Some(kind) = of_parts(bytes)
        {
            return self.add(Some(Span { start, end, kind }), Sure::Shaped);
        }
        if class(bytes).is_some_and(|class| class == Class::Uuid) || surely_random(bytes) && !bytes.starts_with(b"/") {
            return self.judge(start, start, end);
        }
        let mut from = start;
        for part in bytes.split(|byte| b"/.".contains(byte)) {
            let trimmed = part.trim_ascii_start();
            if trimmed.len() >= AT_LEAST && part.len() <= AT_MOST {
                let dashes = part.iter().take_while(|byte| **byte == b'-').count();
                self.judge(start, from + dashes, from + part.len());
            }
            from += part.len() + 1;
        }
    }

    /// The part from `start` to `end` of the run that begins at `run`.
    fn judge(&mut self, run: usize, start: usize, end: usize) {
        let value = &self.bytes[start..end];
        let Some(class) = class(value).filter(|_| value.len() >= AT_LEAST) else { return };
        let mut words = Words { found: self, at: run, least: run.saturating_sub(WINDOW), parted: false, lines: 0 };
        let benign = words.next().is_some_and(|word| says(word) == Says::Benign) && words.lines == 0;
        if benign
            || is_an_identifier(&self.bytes[run..end])
            || !self.is_wanted(start, class, value)
            || class != Class::Other && self.is_digest(start)
        {
            return;
        }
        let padding = self.bytes[end..].iter().take(2).take_while(|byte| **byte == b'=').count();
        let (start, end) = self.in_quotes(start, end + padding);
        self.add(Some(Span { start, end, kind: "token" }), Sure::Near);
    }

    /// The whole of what stands in quotes without a blank, if that is where the value is.
    fn in_quotes(&self, start: usize, end: usize) -> (usize, usize) {
        let stops = |byte: &u8| byte.is_ascii_whitespace() || b"\"'`<>[]{}(),\\".contains(byte);
        let before = self.bytes[start.saturating_sub(64)..start].iter().rev().take_while(|byte| !stops(byte)).count();
        let after = self.bytes[end..].iter().take(64).take_while(|byte| !stops(byte)).count();
        let open = start.checked_sub(before + 1).map(|at| self.bytes[at]);
        let close = self.bytes.get(end + after).copied();
        let quoted = open == close && open.is_some_and(|byte| b"\"'`".contains(&byte));
        let plain =
            !self.bytes[start - before..start].contains(&b'=') && !self.bytes[start - before..start].contains(&b'/');
        if quoted && plain { (start - before, end + after) } else { (start, end) }
    }

    /// Whether a run is a line by itself, as the lines of an encoded key are.
    fn is_alone(&self, start: usize, end: usize) -> bool {
        let base64 = self.bytes[start..end].iter().all(|byte| byte.is_ascii_alphanumeric() || b"+/".contains(byte));
        let frames = |byte: &&u8| b" \t\"'=,+".contains(byte);
        let mut before = self.bytes[..start].iter().rev().take(WORD_MAX).skip_while(frames);
        let mut after = self.bytes[end..].iter().take(WORD_MAX).skip_while(frames);
        let begins = matches!(before.next(), None | Some(b'\n' | b'\r' | b'n'));
        base64 && begins && matches!(after.next(), None | Some(b'\n' | b'\r' | b'\\'))
    }

    /// Whether the line says before the value that it is a digest or a revision.
    pub(crate) fn is_digest(&self, start: usize) -> bool {
        let mut words = Words { found: self, at: start, least: start.saturating_sub(WINDOW), parted: false, lines: 0 };
        std::iter::from_fn(|| words.next().filter(|_| words.lines == 0)).take(2 * WORDS).any(|word| {
            let lower = word.to_ascii_lowercase();
            parts(word, &lower).iter().any(|part| DIGESTS.binary_search(part).is_ok())
        })
    }

    /// Whether the words before a value say that it is a secret.
    fn is_wanted(&self, start: usize, class: Class, value: &[u8]) -> bool {
        let mut words = Words { found: self, at: start, least: start.saturating_sub(WINDOW), parted: false, lines: 0 };
        let first = self.bytes[..start].last().copied().unwrap_or(b' ');
        let thing = class != Class::Other;
        if thing && b"@#/.".contains(&first) {
            return false;
        }
        let (mut assigned, mut keyed) = (false, false);
        for nth in 0..WORDS {
            let Some(word) = words.next() else { break };
            let near = words.lines == 0 || words.parted && words.lines == 1;
            let is_key = nth == 0 && words.parted && near && word.eq_ignore_ascii_case(b"key");
            match says(word) {
                _ if is_key && thing => keyed = true,
                Says::Nothing if thing && keyed && nth == 1 && !is_common(word) => return true,
                Says::Benign if nth == 0 => return false,
                Says::Benign => {}
                Says::Credential { strongly } if thing => {
                    if strongly && near && (nth == 0 || nth <= 2 && words.parted) {
                        return true;
                    }
                }
                Says::Service if thing => {
                    let digest = matches!(value.len(), 40 | 64);
                    if near && (nth <= 2 && words.parted || nth == 0 && !digest) {
                        return true;
                    }
                }
                Says::Credential { .. } | Says::Service => return true,
                Says::Nothing => assigned |= nth == 0 && words.parted,
            }
        }
        let bare = value.len() >= 32 && !b"/.".contains(&first);
        !thing && (assigned || bare && surely_random(value))
    }
}

/// Whether a value is the name that a service gave to a message, a call or an object, or has such a name behind `_`.
fn is_an_identifier(value: &[u8]) -> bool {
    IDENTIFIERS.iter().any(|prefix| {
        let mut found = value.windows(prefix.len()).enumerate().take(WORD_MAX);
        found.any(|(at, window)| window == prefix.as_bytes() && (at == 0 || b"_-/:".contains(&value[at - 1])))
    })
}

/// Formats without a prefix or a middle, known by the lengths of their parts.
fn of_parts(run: &[u8]) -> Option<&'static str> {
    let hex = |part: &[u8], length: usize| part.len() == length && part.iter().all(u8::is_ascii_hexdigit);
    let dots: Vec<&[u8]> = run.split(|byte| *byte == b'.').take(4).collect();
    if let [id, time, proof] = dots[..]
        && matches!(id.first(), Some(b'M' | b'N' | b'O'))
        && (23..=30).contains(&id.len())
        && (5..=7).contains(&time.len())
        && (27..=40).contains(&proof.len())
    {
        return Some("discord-token");
    }
    let dashes: Vec<&[u8]> = run.split(|byte| *byte == b'-').take(4).collect();
    match dashes[..] {
        [key, first, second] if hex(key, 32) && hex(first, 8) && hex(second, 8) => Some("mailgun-key"),
        _ => None,
    }
}

/// The words before a place, the nearest first.
struct Words<'f, 't> {
    found: &'f Found<'t>,
    at: usize,
    least: usize,
    /// Whether a sign that assigns stood between the place and the word.
    parted: bool,
    lines: usize,
}

impl<'t> Words<'_, 't> {
    fn next(&mut self) -> Option<&'t [u8]> {
        let bytes = self.found.bytes;
        while self.at > self.least && !Body::Word.holds(bytes[self.at - 1]) {
            match bytes[self.at - 1] {
                b'\n' => self.lines += 1,
                b'=' | b':' | b'>' | b'"' | b'\'' | b'`' | b'(' | b'{' | b'|' | b',' => self.parted = true,
                // What stands in or before a marker is no longer known.
                b']' if self.found.behind_a_marker(self.at) => return None,
                _ => {}
            }
            self.at -= 1;
        }
        let end = self.at;
        if end <= self.least || self.lines > 2 {
            return None;
        }
        let length = bytes[self.least..end].iter().rev().take(WORD_MAX).take_while(|byte| Body::Word.holds(**byte));
        self.at -= length.count();
        Some(&bytes[self.at..end])
    }
}

/// What a word says; of its parts the last counts most.
fn says(word: &[u8]) -> Says {
    let lower: Vec<u8> = word.to_ascii_lowercase();
    let parts = parts(word, &lower);
    let Some(last) = parts.last() else { return Says::Nothing };
    let is = |list: &[&str], part: &str| list.binary_search(&part).is_ok();
    let whole: String = parts.concat();
    let service = parts.iter().any(|part| is(SERVICES, part)) || begins_with_a_service(&whole);
    if is(BENIGN, last) {
        return Says::Benign;
    }
    if matches!(*last, "id" | "ids" | "name" | "names") {
        let given = service || parts.iter().any(|part| matches!(*part, "client" | "access" | "key" | "app" | "api"));
        return if given && last.starts_with("id") { Says::Service } else { Says::Benign };
    }
    let ends = ["token", "secret", "password", "passwd", "apikey", "secretkey", "accesskey"];
    let key = matches!(*last, "key" | "keys") && !parts.iter().any(|part| is(BENIGN_KEYS, part));
    let strongly = parts.iter().any(|part| is(STRONG, part))
        || ends.iter().any(|end| whole.ends_with(end))
        || key && parts.len() > 1;
    if strongly || parts.iter().any(|part| is(CREDENTIALS, part)) {
        return Says::Credential { strongly };
    }
    if service {
        return Says::Service;
    }
    if parts.iter().any(|part| is(BENIGN, part)) { Says::Benign } else { Says::Nothing }
}

/// Whether a word before `key` does not tell whose key it is.
fn is_common(word: &[u8]) -> bool {
    let word = word.to_ascii_lowercase();
    let is = |list: &[&str]| list.iter().any(|known| known.as_bytes() == word);
    is(COMMON) || is(BENIGN_KEYS)
}

/// The words that a name is made of: `API_KEY`, `apiKey`, `api-key`.
fn parts<'l>(word: &[u8], lower: &'l [u8]) -> Vec<&'l str> {
    let mut parts = Vec::new();
    let mut from = 0;
    let mut cut = |from: usize, to: usize| {
        if let Ok(part) = std::str::from_utf8(&lower[from..to])
            && !part.is_empty()
        {
            parts.push(part);
        }
    };
    for (at, byte) in word.iter().enumerate() {
        let camel = at > 0 && byte.is_ascii_uppercase() && word[at - 1].is_ascii_lowercase();
        if camel {
            cut(from, at);
            from = at;
        } else if !byte.is_ascii_alphanumeric() {
            cut(from, at);
            from = at + 1;
        }
    }
    cut(from, word.len());
    parts
}

/// Whether a name written together begins with the name of a service, of five letters or more.
fn begins_with_a_service(name: &str) -> bool {
    (5..=name.len().min(20))
        .any(|length| name.get(..length).is_some_and(|begin| SERVICES.binary_search(&begin).is_ok()))
}
