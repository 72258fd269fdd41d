//! Whether a value that something announced reads as a secret.

use crate::redact::rules::{Body, Keyword, PLACEHOLDERS, SECRET_KEYS};

/// Whether a value reads as a secret, by the keyword that announced it and whether it stood in quotes.
pub(crate) fn plausible(value: &str, keyword: &Keyword, quoted: bool) -> bool {
    let free_form = quoted && keyword.worded;
    let least = if free_form { 4 } else { 8 };
    if value.len() < least || value.bytes().any(|byte| byte.is_ascii_whitespace()) {
        return false;
    }
    let alike = free_form || made_by_machine(value) && (quoted || !value.contains('('));
    alike && !stands_for_another(value) && !(keyword.word == "pwd" && is_path(value))
}

/// Whether what follows a scheme in an HTTP header proves a right. The base64 of Basic may be without digits.
pub(crate) fn authorizes(scheme: &str, credentials: &str) -> bool {
    let bytes = credentials.as_bytes();
    let any = |wanted: fn(&u8) -> bool| bytes.iter().any(wanted);
    let base64 = || bytes.len().is_multiple_of(4) && any(u8::is_ascii_uppercase) && any(u8::is_ascii_lowercase);
    bytes.len() >= 8
        && !any(u8::is_ascii_whitespace)
        && (made_by_machine(credentials) || scheme.eq_ignore_ascii_case("basic") && base64())
        && !stands_for_another(credentials)
}

/// Whether a name that ends in `key` is one of those that are secret.
pub(crate) fn names_a_secret_key(name: &[u8]) -> bool {
    let word = name.iter().rev().take_while(|byte| Body::Word.holds(**byte)).count();
    let name: String = name[name.len() - word..]
        .iter()
        .filter(|byte| byte.is_ascii_alphanumeric())
        .map(|byte| char::from(byte.to_ascii_lowercase()))
        .collect();
    SECRET_KEYS.iter().any(|secret| name.ends_with(secret))
}

/// The working directory has the same name as a password.
fn is_path(value: &str) -> bool {
    matches!(value.as_bytes(), [b'/' | b'~', ..] | [_, b':', b'/' | b'\\', ..])
}

/// Digits among letters: what an ordinary word does not have.
pub(crate) fn made_by_machine(value: &str) -> bool {
    let any = |wanted: fn(&u8) -> bool| value.as_bytes().iter().any(wanted);
    any(u8::is_ascii_alphabetic) && any(u8::is_ascii_digit)
}

/// Upper case, lower case and digits together.
pub(crate) fn of_three_classes(value: &[u8]) -> bool {
    let any = |wanted: fn(&u8) -> bool| value.iter().any(wanted);
    any(u8::is_ascii_uppercase) && any(u8::is_ascii_lowercase) && any(u8::is_ascii_digit)
}

/// A variable, a template, a mask or a word that says what kind of value belongs here.
pub(crate) fn stands_for_another(value: &str) -> bool {
    let first = value.as_bytes().first().copied().unwrap_or(0);
    let lower = value.to_ascii_lowercase();
    b"$<{%[(@*".contains(&first)
        || value.contains("${")
        || value.contains("{{")
        || value.bytes().all(|byte| byte == value.as_bytes()[0])
        || PLACEHOLDERS.contains(&lower.as_str())
        || ["process.env", "os.environ", "env.", "your_", "your-", "self.", "this.", "config."]
            .iter()
            .any(|code| lower.starts_with(code))
}
