//! Context rules: a random value is a secret if the words before it name a credential, or a service that issues keys.

use crate::redact::Span;
use crate::redact::findings::{Confidence, Findings};
use crate::redact::machine_class::{MachineClass, machine_class};
use crate::redact::memorable::is_own_id;
use crate::redact::plausibility::is_surely_random;
use crate::redact::rules::{
    ByteSet, CREDENTIAL_WORDS, DIGEST_WORDS, FUNCTION_WORDS, IDENTIFIER_PREFIXES, IDENTIFIER_WORDS, LOOKUP_KEYS,
    SERVICES, STRONG_CREDENTIALS,
};

/// Bytes from which a value is judged by context; a shorter one needs a name that announces it.
const LENGTH_MIN: usize = 16;
/// Bytes of the longest value; anything longer is data.
const LENGTH_MAX: usize = 512;
/// Range of the search for context before a value: bytes, and words.
const LOOKBACK_BYTES: usize = 96;
const LOOKBACK_WORDS: usize = 7;
/// Bytes of the longest word that is examined.
const WORD_MAX: usize = 48;
/// Dashes before the boundary of a multipart message (RFC 2046), as clients write it.
const BOUNDARY: &[u8] = b"----";
/// Digits of the time and hexadecimal digits of the commit in a version of a Go module.
const TIME_DIGITS: usize = 14;
const COMMIT_DIGITS: usize = 12;

/// Meaning of a word for a value behind it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Meaning {
    /// The value is an identifier (`commit`, `request`).
    Identifier,
    /// The value is a credential; if strong, even a UUID is one.
    Credential {
        strong: bool,
    },
    /// The name of a service that issues keys.
    Service,
    Nothing,
}

impl Findings<'_> {
    /// Call `visit` for every run of at least `LENGTH_MIN` value bytes.
    ///
    /// Only every `LENGTH_MIN`-th byte is tested first, as each such run contains one of them.
    pub(crate) fn for_each_run(&mut self, mut visit: impl FnMut(&mut Self, usize, usize)) {
        let mut at = LENGTH_MIN - 1;
        while at < self.bytes.len() {
            if !ByteSet::Value.contains(self.bytes[at]) {
                at += LENGTH_MIN;
                continue;
            }
            let before = self.bytes[..at].iter().rev().take_while(|byte| ByteSet::Value.contains(**byte)).count();
            let after = self.bytes[at..].iter().take_while(|byte| ByteSet::Value.contains(**byte)).count();
            let (start, end) = (at - before, at + after);
            if end - start >= LENGTH_MIN {
                visit(self, start, end);
            }
            at = end + LENGTH_MIN;
        }
    }

    /// Add a run, or its parts between slashes and dots, if the context says that it is a secret.
    pub(crate) fn add_by_context(&mut self, start: usize, end: usize) {
        let bytes = &self.bytes[start..end];
        let dots = bytes.iter().rev().take_while(|byte| **byte == b'.').count();
        let (end, bytes) = (end - dots, &bytes[..bytes.len() - dots]);
        if !(LENGTH_MIN..=LENGTH_MAX).contains(&bytes.len()) {
            return;
        }
        if !bytes.iter().any(u8::is_ascii_digit) {
            return;
        }
        if (60..=80).contains(&bytes.len()) && is_surely_random(bytes) && self.is_alone_on_line(start, end) {
            return self.add(Some(Span { start, end, kind: "key-material" }), Confidence::Context);
        }
        if (50..=80).contains(&bytes.len())
            && let Some(kind) = format_by_name_parts(bytes)
        {
            return self.add(Some(Span { start, end, kind }), Confidence::KnownShape);
        }
        if machine_class(bytes).is_some_and(|class| class == MachineClass::Uuid)
            || is_surely_random(bytes) && !bytes.starts_with(b"/")
        {
            return self.add_if_secret(start, start, end);
        }
        let mut from = start;
        for part in bytes.split(|byte| b"/.".contains(byte)) {
            let trimmed = part.trim_ascii_start();
            if trimmed.len() >= LENGTH_MIN && part.len() <= LENGTH_MAX {
                let dashes = part.iter().take_while(|byte| **byte == b'-').count();
                self.add_if_secret(start, from + dashes, from + part.len());
            }
            from += part.len() + 1;
        }
    }

    /// Add the part `start..end` of the run that begins at `run`, if it is random and its context announces a secret.
    fn add_if_secret(&mut self, run: usize, start: usize, end: usize) {
        let value = &self.bytes[start..end];
        let Some(class) = machine_class(value).filter(|_| value.len() >= LENGTH_MIN) else { return };
        // Before a value in a list of identifiers there are only identifiers: without a letter behind F, no word.
        let before = &self.bytes[run.saturating_sub(LOOKBACK_BYTES)..start];
        let lettered = before.iter().fold(false, |any, byte| any | matches!(byte | 0x20, b'g'..=b'z'));
        if class != MachineClass::Other && !lettered || self.bytes[run..].starts_with(BOUNDARY) {
            return;
        }
        if self.is_named_identifier(run)
            || !self.is_announced(start, class, value)
            || is_identifier(&self.bytes[run..end])
            || self.text.get(start..end).is_some_and(is_own_id)
            || is_module_version(value)
            || class != MachineClass::Other && self.is_digest(start)
        {
            return;
        }
        let padding = self.bytes[end..].iter().take(2).take_while(|byte| **byte == b'=').count();
        let (start, end) = self.extend_to_quotes(start, end + padding);
        self.add(Some(Span { start, end, kind: "token" }), Confidence::Context);
    }

    /// Return true if the word before a value, on its line, says that it is an identifier.
    pub(crate) fn is_named_identifier(&self, start: usize) -> bool {
        let mut words = WordsBefore::new(self, start);
        words.next().is_some_and(|word| meaning(word) == Meaning::Identifier) && words.lines == 0
    }

    /// Extend a value to the quotes around it, if there is no white space between.
    fn extend_to_quotes(&self, start: usize, end: usize) -> (usize, usize) {
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

    /// Return true if a run is a line of its own, as the lines of an encoded key are.
    fn is_alone_on_line(&self, start: usize, end: usize) -> bool {
        let base64 = self.bytes[start..end].iter().all(|byte| byte.is_ascii_alphanumeric() || b"+/".contains(byte));
        let frames = |byte: &&u8| b" \t\"'=,+".contains(byte);
        let mut before = self.bytes[..start].iter().rev().take(WORD_MAX).skip_while(frames);
        let mut after = self.bytes[end..].iter().take(WORD_MAX).skip_while(frames);
        let begins = matches!(before.next(), None | Some(b'\n' | b'\r' | b'n'));
        base64 && begins && matches!(after.next(), None | Some(b'\n' | b'\r' | b'\\'))
    }

    /// Return true if the words before the value on its line say that it is a digest or a revision.
    pub(crate) fn is_digest(&self, start: usize) -> bool {
        let mut words = WordsBefore::new(self, start);
        std::iter::from_fn(|| words.next().filter(|_| words.lines == 0)).take(2 * LOOKBACK_WORDS).any(|word| {
            let lower = word.to_ascii_lowercase();
            !is_machine_word(word)
                && name_parts(word, &lower).iter().any(|part| DIGEST_WORDS.binary_search(part).is_ok())
        })
    }

    /// Return true if the words before a value announce a secret.
    fn is_announced(&self, start: usize, class: MachineClass, value: &[u8]) -> bool {
        let mut words = WordsBefore::new(self, start);
        let first = self.bytes[..start].last().copied().unwrap_or(b' ');
        let may_be_identifier = class != MachineClass::Other;
        if may_be_identifier && b"@#/.".contains(&first) {
            return false;
        }
        let (mut assigned, mut keyed) = (false, false);
        for nth in 0..LOOKBACK_WORDS {
            let Some(word) = words.next() else { break };
            let is_close = words.lines == 0 || words.after_operator && words.lines == 1;
            let is_key = nth == 0 && words.after_operator && is_close && word.eq_ignore_ascii_case(b"key");
            match meaning(word) {
                _ if is_key && may_be_identifier => keyed = true,
                Meaning::Nothing if may_be_identifier && keyed && nth == 1 && !is_function_word(word) => return true,
                Meaning::Identifier if nth == 0 => return false,
                Meaning::Identifier => {}
                Meaning::Credential { strong } if may_be_identifier => {
                    if strong && is_close && (nth == 0 || nth <= 2 && words.after_operator) {
                        return true;
                    }
                }
                Meaning::Service if may_be_identifier => {
                    let digest = matches!(value.len(), 40 | 64);
                    if is_close && (nth <= 2 && words.after_operator || nth == 0 && !digest) {
                        return true;
                    }
                }
                Meaning::Credential { .. } | Meaning::Service => return true,
                Meaning::Nothing => assigned |= nth == 0 && words.after_operator,
            }
        }
        let bare = value.len() >= 32 && !b"/.".contains(&first);
        !may_be_identifier && (assigned || bare && is_surely_random(value))
    }
}

/// Return true if a value is or contains an identifier of a message, call or object of a service (`msg_…`, `toolu_…`).
fn is_identifier(value: &[u8]) -> bool {
    let starts_part = |at: &usize| *at == 0 || b"_-/:".contains(&value[*at - 1]);
    (0..value.len().min(WORD_MAX))
        .filter(starts_part)
        .any(|at| IDENTIFIER_PREFIXES.iter().any(|prefix| value[at..].starts_with(prefix.as_bytes())))
}

/// Return true if a value is the end of a version that a Go module has without a tag: `0-20220910002029-abceb7e1c41e`.
fn is_module_version(value: &[u8]) -> bool {
    let mut parts = value.rsplit(|byte| b"-.".contains(byte));
    let commit = parts.next().unwrap_or_default();
    let time = parts.next().unwrap_or_default();
    commit.len() == COMMIT_DIGITS
        && time.len() == TIME_DIGITS
        && commit.iter().all(u8::is_ascii_hexdigit)
        && time.iter().all(u8::is_ascii_digit)
        && parts.all(|part| part.iter().all(u8::is_ascii_digit))
}

/// Return the kind of a format that is recognized by the lengths of its parts only.
fn format_by_name_parts(run: &[u8]) -> Option<&'static str> {
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

/// Iterator over the words before a position, nearest first.
struct WordsBefore<'f, 't> {
    findings: &'f Findings<'t>,
    at: usize,
    limit: usize,
    /// True if an assignment operator, quote or bracket is between the position and the word.
    after_operator: bool,
    lines: usize,
}

impl<'f, 't> WordsBefore<'f, 't> {
    /// Begin at `start`, and look back over `LOOKBACK_BYTES` at most.
    fn new(findings: &'f Findings<'t>, start: usize) -> Self {
        Self { findings, at: start, limit: start.saturating_sub(LOOKBACK_BYTES), after_operator: false, lines: 0 }
    }

    /// Return the next word backwards; None at the limit, at a marker, or more than two line breaks back.
    fn next(&mut self) -> Option<&'t [u8]> {
        let bytes = self.findings.bytes;
        while self.at > self.limit && !ByteSet::Word.contains(bytes[self.at - 1]) {
            match bytes[self.at - 1] {
                b'\n' => self.lines += 1,
                b'=' | b':' | b'>' | b'"' | b'\'' | b'`' | b'(' | b'{' | b'|' | b',' => self.after_operator = true,
                // The text of a marker, and what was before it, is not context.
                b']' if self.findings.ends_with_marker(self.at) => return None,
                _ => {}
            }
            self.at -= 1;
        }
        let end = self.at;
        if end <= self.limit || self.lines > 2 {
            return None;
        }
        let length =
            bytes[self.limit..end].iter().rev().take(WORD_MAX).take_while(|byte| ByteSet::Word.contains(**byte));
        self.at -= length.count();
        Some(&bytes[self.at..end])
    }
}

/// Return the meaning of a word; of its parts the last one counts most.
fn meaning(word: &[u8]) -> Meaning {
    if is_machine_word(word) {
        return Meaning::Nothing;
    }
    let lower: Vec<u8> = word.to_ascii_lowercase();
    let parts = name_parts(word, &lower);
    let Some(last) = parts.last() else { return Meaning::Nothing };
    let is = |list: &[&str], part: &str| list.binary_search(&part).is_ok();
    let whole: String = parts.concat();
    let service = parts.iter().any(|part| is(SERVICES, part)) || starts_with_service(&whole);
    if is(IDENTIFIER_WORDS, last) {
        return Meaning::Identifier;
    }
    if matches!(*last, "id" | "ids" | "name" | "names") {
        // The key of a service may be called its id (`acme_id`), unless it says what has the id: `claudeSessionId`.
        let owner = parts.len().checked_sub(2).map_or("", |at| parts[at]);
        let is_owned = is(IDENTIFIER_WORDS, owner) || matches!(owner, "session" | "conversation" | "request");
        let is_client_id = service && !is_owned
            || parts.iter().any(|part| matches!(*part, "client" | "access" | "key" | "app" | "api"));
        return if is_client_id && last.starts_with("id") { Meaning::Service } else { Meaning::Identifier };
    }
    let ends = ["token", "secret", "password", "passwd", "apikey", "secretkey", "accesskey"];
    let key = matches!(*last, "key" | "keys") && !parts.iter().any(|part| is(LOOKUP_KEYS, part));
    let strong = parts.iter().any(|part| is(STRONG_CREDENTIALS, part))
        || ends.iter().any(|end| whole.ends_with(end))
        || key && parts.len() > 1;
    if strong || parts.iter().any(|part| is(CREDENTIAL_WORDS, part)) {
        return Meaning::Credential { strong };
    }
    if service {
        return Meaning::Service;
    }
    if parts.iter().any(|part| is(IDENTIFIER_WORDS, part)) { Meaning::Identifier } else { Meaning::Nothing }
}

/// Return true if a word before `key` does not say whose key it is.
fn is_function_word(word: &[u8]) -> bool {
    let word = word.to_ascii_lowercase();
    let is = |list: &[&str]| list.iter().any(|listed| listed.as_bytes() == word);
    is(FUNCTION_WORDS) || is(LOOKUP_KEYS)
}

/// Return true if a word is the value of something and no name: in a list of values each has others before it.
fn is_machine_word(word: &[u8]) -> bool {
    let digits = word.iter().take(WORD_MAX).filter(|byte| byte.is_ascii_digit()).count();
    // Also the rest of one that is cut at the limit.
    let hexadecimal = || word.len() >= 8 && word.iter().all(|byte| byte.is_ascii_hexdigit() || *byte == b'-');
    digits >= 3 && hexadecimal() || word.len() >= 24 && digits >= 4 && is_surely_random(word)
}

/// Split a name into its words: `API_KEY`, `apiKey`, `api-key`.
fn name_parts<'l>(word: &[u8], lower: &'l [u8]) -> Vec<&'l str> {
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

/// Return true if a name without separators begins with the name of a service, of five letters or more.
fn starts_with_service(name: &str) -> bool {
    (5..=name.len().min(20))
        .any(|length| name.get(..length).is_some_and(|begin| SERVICES.binary_search(&begin).is_ok()))
}
