//! A light English stemmer: `caches`, `cached` and `caching` become one term.

use super::irregular::base_form;

/// Return the stem of a word; only words of ASCII lower-case letters are changed.
///
/// An irregular form counts as its base form (`went` -> `go`). Plural, then `-ing` or `-ed`, then a final `e`, `y` or `i`: `libraries` -> `librar`, `planned` -> `plan`, `caching`
/// -> `cach`. A stem keeps at least three letters and, before `-ing` or `-ed`, a vowel: `string` and `red` stay.
pub(super) fn stem(word: &str) -> &str {
    let word = base_form(word).unwrap_or(word);
    if word.len() < 4 || !word.bytes().all(|byte| byte.is_ascii_lowercase()) {
        return word;
    }
    let singular = strip_plural(word);
    let root = match singular.strip_suffix("ing").or_else(|| singular.strip_suffix("ed")) {
        Some(stem) if stem.len() >= 3 && stem.bytes().any(|byte| b"aeiouy".contains(&byte)) => undouble(stem),
        _ => singular,
    };
    match root.strip_suffix(['e', 'y', 'i']) {
        Some(shorter) if shorter.len() >= 3 => shorter,
        _ => root,
    }
}

/// The word without a plural ending: `queries` -> `quer`, `boxes` -> `box`, `tokens` -> `token`; `class`, `status`
/// stay.
fn strip_plural(word: &str) -> &str {
    if let Some(stem) = word.strip_suffix("ies").filter(|stem| stem.len() >= 3) {
        return stem;
    }
    if ["sses", "xes", "ches", "shes", "zes"].iter().any(|ending| word.ends_with(ending)) {
        return &word[..word.len() - 2];
    }
    match word.strip_suffix('s') {
        Some(stem) if !stem.ends_with(['s', 'u', 'i']) => stem,
        _ => word,
    }
}

/// The stem without the doubled consonant that `-ing` and `-ed` bring: `plann` -> `plan`; `fall` and `pass` stay.
fn undouble(stem: &str) -> &str {
    match stem.as_bytes() {
        [.., a, b] if a == b && b"bdgmnprt".contains(b) => &stem[..stem.len() - 1],
        _ => stem,
    }
}
