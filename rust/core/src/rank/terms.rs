//! A text as the terms that it can be found by: words, the parts of identifiers, folded endings.

/// Longer words are cut here: nothing is looked for by more.
const TERM_BYTES_MAX: usize = 64;

/// Words that stand in every text and tell nothing. In order, for a binary search.
const COMMON: [&str; 32] = [
    "a", "an", "and", "are", "as", "at", "be", "but", "by", "for", "from", "has", "have", "he", "in", "is", "it",
    "its", "of", "on", "or", "that", "the", "their", "this", "to", "was", "we", "were", "which", "will", "with",
];

/// Function words of English, and what an apostrophe leaves of them (`don't` gives `don` and `t`): nearly every question
/// is made of them, and none says what it is about. In order, for a binary search.
const FUNCTION: [&str; 137] = [
    "a", "about", "all", "also", "am", "an", "and", "any", "are", "aren", "as", "at", "be", "been", "being", "but",
    "by", "can", "could", "couldn", "d", "did", "didn", "do", "does", "doesn", "doing", "don", "either", "ever", "for",
    "from", "had", "hadn", "has", "hasn", "have", "haven", "having", "he", "her", "here", "hers", "him", "his", "how",
    "i", "if", "in", "into", "is", "isn", "it", "its", "itself", "just", "let", "ll", "m", "may", "me", "might",
    "mine", "much", "my", "myself", "neither", "nor", "not", "of", "on", "onto", "or", "other", "our", "ours",
    "perhaps", "please", "re", "really", "s", "shall", "she", "should", "shouldn", "since", "so", "some", "such", "t",
    "tell", "than", "that", "the", "their", "theirs", "them", "then", "there", "these", "they", "this", "those",
    "though", "thus", "to", "too", "us", "ve", "very", "was", "wasn", "we", "were", "weren", "what", "whatever",
    "when", "where", "whether", "which", "while", "who", "whom", "whose", "why", "will", "with", "won", "would",
    "wouldn", "yes", "yet", "you", "your", "yours", "yourself",
];

/// Whether a word, in lower case, only holds a sentence together.
pub(crate) fn is_function_word(word: &str) -> bool {
    FUNCTION.binary_search(&word).is_ok()
}

/// Calls `each` with every term of the text and the word that it was made of, in order, repeated as often as it stands
/// there. The word is in lower case, but for an identifier of several parts, which is given as it is written.
///
/// A word is a run of letters and digits. A word in `camelCase` gives its parts and itself; `snake_case` and paths
/// give their parts, and a run of words joined by `_` or `-` gives itself too, so that `max_tokens` is found by
/// `maxTokens`. Han, kana and Hangul characters, which are written without spaces, are found by pairs.
pub(crate) fn terms(text: &str, mut each: impl FnMut(&str, &str)) {
    let mut parts: Vec<String> = Vec::new();
    for compound in text.split(|character: char| !character.is_alphanumeric() && character != '_' && character != '-') {
        parts.clear();
        for word in compound.split(['_', '-']).filter(|word| !word.is_empty()) {
            split_cases(word, &mut parts);
        }
        if (2..=8).contains(&parts.len()) && compound.is_ascii() {
            each(cut(&parts.concat()), cut(compound));
        }
        for part in &parts {
            if !part.is_ascii() && part.chars().any(is_unspaced) {
                pairs(part, &mut each);
            } else if COMMON.binary_search(&part.as_str()).is_err() {
                each(fold(cut(part)), cut(part));
            }
        }
    }
}

/// The parts of a camelCase word in lower case: a part ends before an upper-case letter that follows a lower-case
/// one, and before the last upper-case letter of a run that a lower-case one follows (`HTTPServer`).
fn split_cases(word: &str, parts: &mut Vec<String>) {
    let mut part = String::new();
    let mut before: Option<char> = None;
    let mut characters = word.chars().peekable();
    while let Some(character) = characters.next() {
        let after = characters.peek().copied();
        let begins = match before {
            Some(before) if character.is_uppercase() => !before.is_uppercase() || after.is_some_and(char::is_lowercase),
            Some(before) => before.is_numeric() != character.is_numeric() && part.len() > 1 && after.is_some(),
            None => false,
        };
        if begins && !part.is_empty() {
            parts.push(std::mem::take(&mut part));
        }
        part.extend(character.to_lowercase());
        before = Some(character);
    }
    if !part.is_empty() {
        parts.push(part);
    }
}

fn cut(term: &str) -> &str {
    &term[..term.floor_char_boundary(TERM_BYTES_MAX)]
}

/// Scripts that are written without spaces between words.
fn is_unspaced(character: char) -> bool {
    matches!(character, '\u{3040}'..='\u{30FF}' | '\u{3400}'..='\u{4DBF}' | '\u{4E00}'..='\u{9FFF}'
        | '\u{AC00}'..='\u{D7AF}' | '\u{F900}'..='\u{FAFF}' | '\u{20000}'..='\u{3FFFF}')
}

fn pairs(word: &str, each: &mut impl FnMut(&str, &str)) {
    let starts: Vec<usize> = word.char_indices().map(|(at, _)| at).chain(std::iter::once(word.len())).collect();
    if starts.len() == 2 {
        each(word, word);
    }
    for window in starts.windows(3) {
        let pair = &word[window[0]..window[2]];
        each(pair, pair);
    }
}

/// Folds the commonest English endings, so that `caches`, `cached` and `caching` meet. Only ASCII words.
fn fold(word: &str) -> &str {
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
