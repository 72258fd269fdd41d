//! Mentions: words such as `password`, `Kennwort` or `トークン`, near which a value is a secret.

use crate::redact::findings::Findings;
use crate::redact::rules::{
    DESCRIPTION_WORDS, DIGEST_WORDS, IDENTIFYING_WORDS, Keyword, LOOKUP_KEYS, SERVICES, UNSURE_LABELS,
};

/// Bytes of the longest word of prose.
pub(crate) const WORD_MAX: usize = 24;
/// Bytes from which a label is recognized at the end of a longer word: `Rootpasswort`.
const COMPOUND_MIN: usize = 5;
/// Score of a mention that names a secret, and of one that may.
pub(crate) const SURE: u32 = 2;
pub(crate) const UNSURE: u32 = 1;
/// Words before `key` with which it names a secret, beside the names of services.
const KEY_OWNERS: [&str; 8] = ["api", "access", "secret", "private", "encryption", "signing", "license", "master"];

/// A word that says that a secret is near.
#[derive(Clone, Copy)]
pub(crate) struct Mention {
    pub(crate) start: usize,
    pub(crate) end: usize,
    pub(crate) label: &'static Keyword,
    /// True if it says only that a user signs in.
    is_cue: bool,
}

impl Findings<'_> {
    /// Record the label at `start..end` as a mention, if it is no part of an ordinary word.
    pub(crate) fn add_mention(&mut self, label: &'static Keyword, start: usize, end: usize, is_cue: bool) {
        if self.bytes.get(end).is_some_and(u8::is_ascii_alphanumeric) && self.bytes[end - 1].is_ascii() {
            return;
        }
        let mention = Mention { start, end, label, is_cue };
        match self.mentions.last_mut() {
            // `clave` and `clave api`: the longer one is found last.
            Some(last) if start < last.end && start <= last.start && !is_cue => *last = mention,
            // `key` in `api-key`
            Some(last) if start < last.end => {}
            _ => self.mentions.push(mention),
        }
    }

    /// Return how surely a mention names a secret: [`SURE`] or [`UNSURE`]; None if it is part of another word or name.
    ///
    /// Asked only where a value is near: most mentions have none.
    pub(crate) fn mention_weight(&self, mention: &Mention) -> Option<u32> {
        let Mention { start, end, label, is_cue } = *mention;
        // Ideographs are written without spaces.
        if label.word.chars().next_back().is_some_and(is_wide) {
            return Some(if is_cue || UNSURE_LABELS.contains(&label.word) { UNSURE } else { SURE });
        }
        let before = self.text[..start].chars().next_back();
        let behind = self.text[end..].chars().next();
        let joins = |letter: Option<char>| letter.is_some_and(|letter| letter.is_alphanumeric() && !is_wide(letter));
        // `token-1.2.3.tar.gz`, `auth.zip`
        let in_file_name = match self.bytes[end..] {
            [b'-', next, ..] => next.is_ascii_digit(),
            [b'.', next, ..] => next.is_ascii_alphanumeric(),
            _ => false,
        };
        if in_file_name || joins(behind) || behind == Some('_') && (is_cue || !self.names_more(start, end)) {
            return None;
        }
        if is_cue {
            return (!joins(before)).then_some(UNSURE);
        }
        // The last part of a name (`DB_PASSWORD`, `dbPassword`, `Rootpasswort`) names what the whole does.
        let capital = self.bytes[start].is_ascii_uppercase() && before.is_some_and(char::is_lowercase);
        let is_part = joins(before) && !capital && label.word.len() < COMPOUND_MIN && !self.is_in_option(start);
        if is_part || self.is_described(end) {
            return None;
        }
        if label.word == "key" {
            return self.key_weight(start, before == Some('_'));
        }
        Some(if UNSURE_LABELS.contains(&label.word) { UNSURE } else { SURE })
    }

    /// Return how surely the `key` at `start` is a secret: `API key`, but not `primary key`.
    fn key_weight(&self, start: usize, is_part: bool) -> Option<u32> {
        let owner = self.word_before(start).to_ascii_lowercase();
        if LOOKUP_KEYS.iter().any(|word| owner.ends_with(word)) {
            return None;
        }
        let named = is_part || SERVICES.binary_search(&owner.as_str()).is_ok();
        let secret = KEY_OWNERS.iter().any(|word| owner.ends_with(word));
        Some(if secret || named { SURE } else { UNSURE })
    }

    /// Return true if the rest of a name in capitals names the secret too: `SECRET_KEY_BASE`, but not `TOKEN_URL`.
    fn names_more(&self, start: usize, end: usize) -> bool {
        let rest = self.bytes[end..].iter().take(WORD_MAX);
        let length = rest.take_while(|byte| byte.is_ascii_uppercase() || **byte == b'_').count();
        let last = self.text[end..end + length].rsplit('_').next().unwrap_or("").to_ascii_lowercase();
        self.bytes[start].is_ascii_uppercase()
            && !self.bytes.get(end + length).is_some_and(u8::is_ascii_alphanumeric)
            && !DESCRIPTION_WORDS.contains(&last.as_str())
    }

    /// Return true if a label is the end of an option's name: `-storepass`.
    fn is_in_option(&self, start: usize) -> bool {
        let before = self.bytes[..start].iter().rev().take(WORD_MAX);
        let name = before.take_while(|byte| byte.is_ascii_lowercase() || **byte == b'-').count();
        name > 1 && self.bytes[start - name] == b'-'
    }

    /// Return true if the word behind a label says that it is about something else: `password hash`, `token count`.
    fn is_described(&self, end: usize) -> bool {
        let rest = &self.bytes[end..];
        if !matches!(rest.first(), Some(b' ' | b'-')) {
            return false;
        }
        let length = rest[1..].iter().take(WORD_MAX).take_while(|byte| byte.is_ascii_lowercase()).count();
        let word = &self.text[end + 1..end + 1 + length];
        IDENTIFYING_WORDS.contains(&word) || DIGEST_WORDS.binary_search(&word).is_ok()
    }

    /// Return the word that ends before `at` and one space, `_` or `-`.
    fn word_before(&self, at: usize) -> &str {
        let end = at - usize::from(matches!(self.bytes[..at].last(), Some(b' ' | b'_' | b'-')));
        let letters = self.bytes[..end].iter().rev().take(WORD_MAX).take_while(|byte| byte.is_ascii_alphabetic());
        &self.text[end - letters.count()..end]
    }
}

/// Return true if a letter belongs to a script that is written without spaces.
pub(crate) fn is_wide(letter: char) -> bool {
    letter >= '\u{2e80}'
}
