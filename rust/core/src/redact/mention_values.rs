//! Score for how little a value looks like a word, a name of code or an identifier: the part of the score near a
//! mention that it has by itself.

use crate::redact::machine_class::{MachineClass, machine_class};
use crate::redact::memorable::{is_address, is_made_of_words, is_numbered_name, is_own_id};
use crate::redact::plausibility::{
    has_password_symbols, has_three_char_classes, is_hyphenated_passphrase, is_location, is_mixed_case_by_chance,
    is_placeholder, is_surely_random,
};
use crate::redact::rules::{FUNCTION_WORDS, IDENTIFIER_PREFIXES, STATE_WORDS};

/// Bytes of the shortest value.
const VALUE_MIN: usize = 7;
/// Bytes of the shortest hexadecimal value: shorter ones are abbreviated commits, addresses and colours.
const HEX_MIN: usize = 13;
/// Bytes from which it is no abbreviation at all.
const LONG_HEX_MIN: usize = 16;
/// Bytes from which a random value is no name of code, whatever words are in it by chance.
const NAME_MAX: usize = 20;
/// Words of the shortest passphrase, and letters of its words.
const PHRASE_WORDS: usize = 4;
const PHRASE_WORD_MIN: usize = 3;

/// Words of sentences, and of names in code, that passphrases have seldom.
const PROSE_WORDS: [&str; 40] = [
    "into", "onto", "then", "than", "they", "them", "some", "more", "most", "can", "could", "would", "should", "will",
    "not", "are", "was", "were", "does", "did", "but", "you", "all", "any", "out", "get", "via", "add", "how", "why",
    "file", "user", "test", "error", "code", "data", "text", "value", "name", "password",
];

/// Return how surely a value is none of the words and names that texts and code have, from 0 to 3.
///
/// 3 is random, 2 is how people make passwords or keys are written, and 1 may be a name with a number in it.
pub(crate) fn strength(value: &str) -> u32 {
    let Some(first) = value.bytes().next().filter(|_| value.is_ascii()) else { return 0 };
    // A mark before a name is one of code (`!found`, `@user`, `#1234`); before what is random it belongs to it.
    let rest = value.trim_start_matches(['!', '#', '%', '&', '+', '*', '=', '_', '@', '$', '^', '?']);
    let strength = if first.is_ascii_alphanumeric() || is_base64(value) {
        shape(value)
    } else if rest.len() < value.len() && shape(rest) == 3 {
        3
    } else {
        0
    };
    if strength > 0 && is_known_name(value) { 0 } else { strength }
}

/// Return the strength of a value that begins with a letter or digit.
fn shape(value: &str) -> u32 {
    let bytes = value.as_bytes();
    let has = |wanted: fn(&u8) -> bool| bytes.iter().any(wanted);
    let digits = has(u8::is_ascii_digit);
    if value.len() < VALUE_MIN
        || !digits && bytes.iter().all(|byte| byte.is_ascii_lowercase() || b"?!.'".contains(byte))
    {
        return 0; // a word, also at the end of a sentence
    }
    if is_of_code(value) || !has(u8::is_ascii_alphabetic) {
        return 0;
    }
    match machine_class(bytes) {
        Some(MachineClass::Uuid) => return 0,
        Some(MachineClass::Hex) => return u32::from(value.len() >= HEX_MIN) + u32::from(value.len() >= LONG_HEX_MIN),
        Some(MachineClass::Other) => return if value.len() < NAME_MAX && is_name_with_numbers(value) { 1 } else { 3 },
        None => {}
    }
    let chance = value.len() >= 8 && is_mixed_case_by_chance(value);
    if has_password_symbols(value) && (digits || chance) && (has(u8::is_ascii_uppercase) || value.len() >= 10) {
        return if digits || symbols(bytes) >= 2 { 3 } else { 1 };
    }
    if is_grouped_key(value) {
        return 2;
    }
    if digits { shape_with_digits(value, chance) } else { shape_of_letters(value, chance) }
}

/// Return the strength of a value without digits: words with hyphens, or letters whose case changes `by_chance`.
fn shape_of_letters(value: &str, by_chance: bool) -> u32 {
    if is_hyphenated_passphrase(value) {
        u32::from(value.split('-').count() >= PHRASE_WORDS)
    } else if by_chance && !value.contains(['=', '.', '_']) {
        1 + u32::from(value.len() >= 12)
    } else {
        0
    }
}

/// Return the strength of a value with digits, whose letters may change their case `by_chance`.
fn shape_with_digits(value: &str, by_chance: bool) -> u32 {
    let marked = value.ends_with(['!', '#', '$', '*']);
    let is_name = is_name_with_numbers(value);
    if let Some(number) = number_behind_word(value)
        && (is_name || !by_chance)
    {
        let year = number.len() == 4 && (number.starts_with("19") || number.starts_with("20"));
        return 1 + u32::from(year && value.as_bytes()[0].is_ascii_uppercase() || marked);
    }
    if is_name || is_made_of_words(value) {
        return 1 + u32::from(marked);
    }
    if has_three_char_classes(value.as_bytes()) {
        return 2 + u32::from(by_chance);
    }
    let bordering = |pair: &&[u8]| pair[0].is_ascii_digit() != pair[1].is_ascii_digit();
    let borders = value.as_bytes().windows(2).filter(bordering).count();
    if value.contains(['.', '_', '-', '/']) { 0 } else { u32::from(borders >= 2) + u32::from(borders >= 3) }
}

/// Count the different marks in a value.
fn symbols(value: &[u8]) -> usize {
    b"!#$%&*+=?@^~".iter().filter(|mark| value.contains(mark)).count()
}

/// Return true if a value is a key in groups of equal length, as licences have: `7KQ2M-9XW4T-3BHRD`.
fn is_grouped_key(value: &str) -> bool {
    let groups: Vec<&str> = value.split('-').collect();
    let is_group = |group: &&str| {
        group.len() == groups[0].len() && group.bytes().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit())
    };
    let mixed = groups.iter().filter(|group| group.bytes().any(|byte| byte.is_ascii_digit())).count();
    groups.len() >= 3 && (4..=8).contains(&groups[0].len()) && mixed >= 2 && groups.iter().all(is_group)
}

/// Return true if words are a passphrase and no sentence: four words or more, none of which most sentences have.
pub(crate) fn is_passphrase(value: &str) -> bool {
    let ordinary = |word: &str| {
        word.len() < PHRASE_WORD_MIN
            || FUNCTION_WORDS.binary_search(&word).is_ok()
            || STATE_WORDS.binary_search(&word).is_ok()
            || PROSE_WORDS.contains(&word)
            || word.ends_with("ing")
            || word.ends_with("ed")
    };
    value.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b' ')
        && value.split(' ').count() >= PHRASE_WORDS
        && !value.split(' ').any(ordinary)
}

/// Return the number of two to four digits behind a word, if a value is no more than these: `2031` of `Sommer2031!`.
pub(crate) fn number_behind_word(value: &str) -> Option<&str> {
    let core = value.trim_end_matches(['!', '?', '#', '$', '*', '.', '@', '%', '&', '+', '-']);
    let word = core.trim_end_matches(|letter: char| letter.is_ascii_digit());
    let number = &core[word.len()..];
    let is_word = word.len() >= 3 && word.bytes().all(|byte| byte.is_ascii_alphabetic());
    let marked = core.len() < value.len();
    (is_word && (if marked { 1 } else { 2 }..=4).contains(&number.len())).then_some(number)
}

/// Return true if a value is a name with numbers in it, as in code and standards: `Web3Auth`, `ChaCha20-Poly1305`.
///
/// A word with one number behind it is not: that is how people make passwords.
fn is_name_with_numbers(value: &str) -> bool {
    let bytes = value.trim_matches(|mark: char| !mark.is_ascii_alphanumeric()).as_bytes();
    if !bytes.iter().all(|byte| byte.is_ascii_alphanumeric() || b"_-./:".contains(byte)) {
        return false;
    }
    let (mut letters, mut in_words, mut in_acronyms, mut words, mut from) = (0, 0, 0, 0, 0);
    for at in 1..=bytes.len() {
        let ends = at == bytes.len() || {
            let (before, byte) = (bytes[at - 1], bytes[at]);
            let next_is_lower = bytes.get(at + 1).is_some_and(u8::is_ascii_lowercase);
            before.is_ascii_alphabetic() != byte.is_ascii_alphabetic()
                || byte.is_ascii_uppercase()
                    && (before.is_ascii_lowercase() || before.is_ascii_uppercase() && next_is_lower)
        };
        if ends {
            let run = &bytes[from..at];
            if run[0].is_ascii_alphabetic() {
                letters += run.len();
                let vowel = run.iter().any(|letter| b"aeiouyAEIOUY".contains(letter));
                let capitals = run.iter().all(u8::is_ascii_uppercase);
                if run.len() >= 3 && vowel && (!capitals || run.len() > 5) {
                    (in_words, words) = (in_words + run.len(), words + 1);
                } else if capitals && run.len() <= 6 || run.len() == 1 || run.len() == 2 && vowel {
                    in_acronyms += run.len();
                }
            }
            from = at;
        }
    }
    let longest = bytes.split(|byte| !byte.is_ascii_digit()).map(<[u8]>::len).max().unwrap_or(0);
    let numbers = bytes.split(|byte| !byte.is_ascii_digit()).filter(|number| !number.is_empty()).count();
    let few = numbers <= 2 || numbers == 3 && longest == 1;
    few && words > 0 && (in_words + in_acronyms) * 5 >= letters * 4 && in_words * 2 >= letters
}

/// Return true if a value is base64 with a slash in it, and no path: the case of its letters changes as no names do.
fn is_base64(value: &str) -> bool {
    let body = value.trim_end_matches('=');
    let alphabet = body.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+/".contains(&byte));
    alphabet
        && value.len() >= LONG_HEX_MIN
        && has_three_char_classes(value.as_bytes())
        && (is_surely_random(value.as_bytes()) || value.len().is_multiple_of(4) && is_mixed_case_by_chance(value))
}

/// Return true if a value is written as code, a path, a number or a version.
fn is_of_code(value: &str) -> bool {
    let bytes = value.as_bytes();
    let any = |wanted: fn(&u8) -> bool| bytes.iter().any(wanted);
    if any(|byte| b"(){}[]\"'".contains(byte) || byte.is_ascii_whitespace()) {
        return true;
    }
    let digits = bytes.iter().filter(|byte| byte.is_ascii_digit()).count();
    let few_letters = value.len() < LONG_HEX_MIN && digits * 4 > bytes.len() * 3;
    let capitals = !any(u8::is_ascii_lowercase) && value.len() < 16 && !is_grouped_key(value);
    // `12-character`, `3scale`, `0x1f8b08`
    let unit = value.trim_start_matches(|letter: char| letter.is_ascii_digit()).trim_start_matches('-');
    let counted = digits > 0 && unit.bytes().all(|byte| byte.is_ascii_lowercase())
        || value.starts_with("0x")
        || is_version(value);
    let dotted = value.contains('.')
        && !any(|byte| b"!#$%^&*?~+".contains(byte))
        && !is_mixed_case_by_chance(value)
        && machine_class(bytes) != Some(MachineClass::Other);
    few_letters
        || capitals
        || counted
        || dotted
        || value.contains('/') && !is_base64(value)
        || ["://", "::", "=>", "&&", "%3A"].iter().any(|code| value.contains(code))
        || digits == 0 && is_made_of_words(value) && !is_hyphenated_passphrase(value)
}

/// Return true if a value begins as versions do: `2.34.1-rc3`, `v0.0.0-20220910002029-abceb7e1c41e`.
fn is_version(value: &str) -> bool {
    let digits = |text: &str| text.bytes().take_while(u8::is_ascii_digit).count();
    let number = value.strip_prefix('v').unwrap_or(value);
    let major = digits(number);
    major > 0 && number[major..].strip_prefix('.').is_some_and(|rest| digits(rest) > 0)
}

/// Return true if a value is a name, an address, a placeholder or an identifier, or has a marker in it.
fn is_known_name(value: &str) -> bool {
    is_numbered_name(value)
        || is_own_id(value)
        || is_address(value)
        || is_placeholder(value)
        || is_location(value) && !is_base64(value)
        || value.contains("REDACTED")
        || IDENTIFIER_PREFIXES.iter().any(|prefix| value.starts_with(prefix))
}
