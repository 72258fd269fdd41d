//! Which redacted values are remembered: those that no ordinary text has, so that each later mention is the secret.

use crate::redact::Span;
use crate::redact::decoding::{base64, unescaped};
use crate::redact::fingerprints::{VALUE_MAX, VALUE_MIN};
use crate::redact::plausibility::{
    has_password_symbols, has_three_char_classes, is_heavily_punctuated, is_hyphenated_passphrase, is_location,
    is_mixed_case_by_chance, is_placeholder, mixes_letters_and_digits,
};
use crate::redact::rules::{FUNCTION_WORDS, IDENTIFIER_PREFIXES, STATE_WORDS};

/// Words of the shortest passphrase with spaces that is remembered.
const PHRASE_WORDS: usize = 3;
/// Prefixes of the identifiers that Reverie itself gives: they are names in the store, whatever a text calls them.
const OWN_PREFIXES: [&str; 12] =
    ["mem_", "thr_", "not_", "note_", "imp_", "dst_", "drm_", "dream_", "run_", "sch_", "job_", "cnf_"];
/// Bytes of such an id behind its prefix: a time of ten and sixteen of chance, or twenty-six of a digest.
const OWN_ID_BYTES: usize = 26;

/// Words of names with a number behind them, which are written everywhere: `sha256`, `python3`, `password1`.
const NUMBERED_NAMES: [&str; 36] = [
    "admin", "aes", "arm", "base", "ecdsa", "es", "float", "foo", "http", "int", "ipv", "java", "key", "level", "line",
    "md", "node", "oauth", "page", "passwd", "password", "php", "python", "rsa", "secret", "sha", "step", "test",
    "token", "ubuntu", "uint", "user", "utf", "version", "web", "win",
];
/// Bytes from which digits alone are remembered: shorter ones are counts, years and ports.
const DIGITS_MIN: usize = 8;
/// Of four letters and digits of a name so many are in words.
const WORDS_OF_FOUR: usize = 3;
/// Letters of the shortest part of a name that counts as a word: chance makes one of three everywhere.
const WORD_MIN: usize = 4;
/// Letters of the longest acronym in a name: `JSON`, `HTTPS`.
const ACRONYM_MAX: usize = 5;
/// Where a value may end before its span does: `X1b2&quot;`, `X1b2</password>`.
const DELIMITERS: [char; 9] = ['<', '"', '\'', '`', ';', ',', '&', '|', ')'];

/// Return true if a value is an id of a memory, thread, note or other record: lists have those behind any words.
pub(crate) fn is_own_id(value: &str) -> bool {
    OWN_PREFIXES.iter().filter_map(|prefix| value.strip_prefix(prefix)).any(|rest| {
        rest.len() == OWN_ID_BYTES && rest.bytes().all(|byte| byte.is_ascii_digit() || byte.is_ascii_lowercase())
    })
}

/// Return the values of a span that are remembered: as written, without its last punctuation, behind a user, decoded.
pub(crate) fn memorable_values(text: &str, span: Span) -> Vec<String> {
    let written = &text[span.start..span.end];
    // A line of encoded data was found by its place alone: there are as many as the data has lines.
    if matches!(span.kind, "private-key" | "key-material" | "byok" | "foreign") || written.len() > 4 * VALUE_MAX {
        return Vec::new();
    }
    let mut values = vec![written.to_owned()];
    if span.kind == "authorization" {
        values.extend(base64(written.trim_end_matches('=').as_bytes()));
    }
    if written.contains(['%', '\\', '&']) {
        values.extend(unescaped(written));
    }
    // `ann:X` is a user and a password where an option or a header takes both.
    values.extend(derived(&values, |value| value.split_once(':').map_or("", |(_, password)| password)));
    values.extend(derived(&values, |value| value.trim_matches(['"', '\'', '`', '\\', ' '])));
    values.extend(derived(&values, |value| &value[..value.find(DELIMITERS).unwrap_or(0)]));
    values.extend(derived(&values, |value| value.trim_end_matches(['.', ',', ';', ':', '!', '?', ')', '='])));
    values.retain(|value| is_memorable(value));
    values.sort_unstable();
    values.dedup();
    values
}

/// Return what `part` takes of each value.
fn derived(values: &[String], part: impl Fn(&str) -> &str) -> Vec<String> {
    values.iter().map(|value| part(value).to_owned()).filter(|part| !part.is_empty()).collect()
}

/// Return true if a value is so unlike words, names and numbers that it means the secret wherever it is written.
fn is_memorable(value: &str) -> bool {
    if !(VALUE_MIN..=VALUE_MAX).contains(&value.len())
        || value.chars().any(char::is_control)
        || value.contains("REDACTED")
        || value.contains("://")
        || value.starts_with("//")
        || is_placeholder(value)
        || is_location(value) && !(value.starts_with('/') && has_three_char_classes(value.as_bytes()))
        || is_address(value)
        || IDENTIFIER_PREFIXES.iter().chain(&OWN_PREFIXES).any(|prefix| value.starts_with(prefix))
    {
        return false;
    }
    if value.contains(' ') {
        return is_phrase(value);
    }
    if !value.bytes().any(|byte| byte.is_ascii_alphabetic()) {
        return is_random_number(value) || value.bytes().any(|byte| byte >= 0x80);
    }
    if is_made_of_words(value) && !is_hyphenated_passphrase(value) || is_dated_id(value) {
        return false;
    }
    if value.contains("()") || value.contains("::") || value.contains("=>") {
        return false;
    }
    mixes_letters_and_digits(value) && !is_numbered_name(value)
        || has_password_symbols(value)
        || is_heavily_punctuated(value)
        || has_symbol_in_mixed_case(value)
        || is_mixed_case_by_chance(value)
        || is_hyphenated_passphrase(value)
}

/// Return true if a value is a name of code: nearly all letters are in words, as in `Uint8Array`, `TestReadsJSONFile`.
///
/// A name that was taken for a value once (`--- PASS: TestReadsJSONFile`) would be replaced in all code from then on.
/// A value that ends with a digit is none: `Harbour77Lantern9` is how people make a password of words.
pub(crate) fn is_made_of_words(value: &str) -> bool {
    if !value.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-./".contains(&byte))
        || value.ends_with(|last: char| last.is_ascii_digit())
    {
        return false;
    }
    let bytes = value.as_bytes();
    let has_separator = value.contains(['_', '-', '.', '/']);
    let is_mixed_case = value.contains(char::is_uppercase) && value.contains(char::is_lowercase);
    if !has_separator && !is_mixed_case {
        return false; // letters and digits of one case are in the place of several words in no language's style
    }
    let (mut in_words, mut words, mut acronyms, mut from) = (0, 0, 0, 0);
    for at in 1..=bytes.len() {
        let ends = at == bytes.len() || {
            let (before, byte) = (bytes[at - 1], bytes[at]);
            let next_is_lower = bytes.get(at + 1).is_some_and(u8::is_ascii_lowercase);
            !byte.is_ascii_alphabetic()
                || !before.is_ascii_alphabetic()
                || byte.is_ascii_uppercase() && (before.is_ascii_lowercase() || next_is_lower)
        };
        if ends {
            let run = &bytes[from..at];
            if is_like_a_word(run) {
                (in_words, words) = (in_words + run.len(), words + 1);
            } else if run.len() <= ACRONYM_MAX && run.iter().all(u8::is_ascii_uppercase) {
                acronyms += run.len();
            }
            from = at;
        }
    }
    in_words += if words >= 2 { acronyms } else { 0 };
    let all = bytes.iter().filter(|byte| byte.is_ascii_alphanumeric()).count();
    words >= 2 && WORDS_OF_FOUR * all <= 4 * in_words
}

/// Return true if letters can be spoken: four or more, of one case behind the first, with a vowel among any five.
fn is_like_a_word(letters: &[u8]) -> bool {
    let is_vowel = |letter: &u8| b"aeiouAEIOU".contains(letter);
    let is_one_case = letters.iter().skip(1).all(u8::is_ascii_lowercase) || letters.iter().all(u8::is_ascii_uppercase);
    let has_vowels = letters.windows(letters.len().min(5)).all(|window| window.iter().any(is_vowel));
    letters.len() >= WORD_MIN && letters.iter().all(u8::is_ascii_alphabetic) && is_one_case && has_vowels
}

/// Return true if a value is a day and an identifier, as names of sessions and log files are: `2026-01-31-8f76b1c0-…`.
fn is_dated_id(value: &str) -> bool {
    let day = value.as_bytes().get(..11);
    day.is_some_and(|day| {
        day.iter().enumerate().all(|(at, byte)| match at {
            4 | 7 | 10 => *byte == b'-',
            _ => byte.is_ascii_digit(),
        })
    })
}

/// Return true if a value is a common word with a number behind it: `python3`.
pub(crate) fn is_numbered_name(value: &str) -> bool {
    let word = value.trim_end_matches(|letter: char| letter.is_ascii_digit() || "._-".contains(letter));
    word.len() < value.len() && NUMBERED_NAMES.contains(&word.to_ascii_lowercase().as_str())
}

/// Return true if digits alone are no count and no date (`20260131`).
fn is_random_number(value: &str) -> bool {
    let date = value.len() == DIGITS_MIN && (value.starts_with("19") || value.starts_with("20"));
    let digits = value.bytes().all(|byte| byte.is_ascii_digit());
    digits && value.len() >= DIGITS_MIN && !date && !value.ends_with("0000")
}

/// Return true if a value has letters of both cases, and a mark that names do not have: `i=TCiMp@`.
fn has_symbol_in_mixed_case(value: &str) -> bool {
    let any = |wanted: fn(&u8) -> bool| value.as_bytes().iter().any(wanted);
    let code = any(|byte| b"()[]{}\"'`<>".contains(byte));
    let symbol = any(|byte| b"!@#$%^&*?~+=".contains(byte));
    !code && symbol && any(u8::is_ascii_lowercase) && any(u8::is_ascii_uppercase)
}

/// Return true if a value is the address of a mail box: `ann@tide.example`.
pub(crate) fn is_address(value: &str) -> bool {
    let Some((user, host)) = value.split_once('@') else { return false };
    let is_name = |part: &str| {
        !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"._+-".contains(&byte))
    };
    let top = host.rsplit('.').next().unwrap_or("");
    is_name(user) && is_name(host) && host.contains('.') && top.bytes().all(|byte| byte.is_ascii_lowercase())
}

/// Return true if words are a passphrase and no sentence: none of them is one that most sentences have.
fn is_phrase(value: &str) -> bool {
    let words = value.split(' ');
    let ordinary = |word: &str| {
        let word = word.trim_matches(|letter: char| !letter.is_alphanumeric()).to_ascii_lowercase();
        word.len() < 3 || FUNCTION_WORDS.contains(&word.as_str()) || STATE_WORDS.contains(&word.as_str())
    };
    words.clone().count() >= PHRASE_WORDS && !words.clone().any(ordinary)
}
