//! Whether a value that something announced reads as a secret.

use crate::redact::rules::{Keyword, PLACEHOLDERS};

/// Whether a value reads as a secret, by the keyword that announced it and whether it stood in quotes.
pub(crate) fn plausible(value: &str, keyword: &Keyword, quoted: bool) -> bool {
    let free_form = quoted && keyword.worded;
    let least = if free_form { 4 } else { 8 };
    if value.len() < least || value.bytes().any(|byte| byte.is_ascii_whitespace()) {
        return false;
    }
    let alike = free_form || made_by_machine(value) && (quoted || !value.contains('('));
    alike && !stands_for_another(value)
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
