//! Folds the commonest English endings, so that `caches`, `cached` and `caching` meet.

/// The word without its ending. Only words of ASCII lower-case letters have one.
pub(super) fn fold(word: &str) -> &str {
    if word.len() < 4 || !word.bytes().all(|byte| byte.is_ascii_lowercase()) {
        return word;
    }
    let singular = without_plural(word);
    let stem = match singular.strip_suffix("ing").or_else(|| singular.strip_suffix("ed")) {
        Some(stem) if stem.len() >= 3 && stem.bytes().any(|byte| b"aeiouy".contains(&byte)) => undoubled(stem),
        _ => singular,
    };
    match stem.strip_suffix(['e', 'y', 'i']) {
        Some(shorter) if shorter.len() >= 3 => shorter,
        _ => stem,
    }
}

fn without_plural(word: &str) -> &str {
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

fn undoubled(stem: &str) -> &str {
    match stem.as_bytes() {
        [.., a, b] if a == b && b"bdgmnprt".contains(b) => &stem[..stem.len() - 1],
        _ => stem,
    }
}
