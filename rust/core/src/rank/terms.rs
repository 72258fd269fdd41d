//! A text as the terms that it can be found by: words, and identifiers both whole and in parts.

use super::letters::{fold_into, is_ignored, is_unspaced};
use super::stem::fold;
use super::words::is_common;

/// Longer words are cut here: nothing is looked for by more.
const TERM_BYTES_MAX: usize = 64;
/// An identifier of more parts is not joined, and a word of more is a name without parts.
const PARTS_MAX: usize = 8;
/// A word that changes this often between letters and digits is a name without parts.
const CHANGES_MIN: usize = 3;
/// A word of hexadecimal digits, ciphers and letters, is a name without parts from this length on.
const HEX_MIN: usize = 7;

/// Calls `each` with every term of the text and the word that it was made of, in order, repeated as often as it stands
/// there. The word is in lower case, but for an identifier of several parts, which is given as it is written.
///
/// A word is a run of letters and digits of any script, without case and accents. A word in `camelCase` gives its parts
/// and itself; `snake_case` and paths give their parts, and a run of words joined by `_` or `-` gives itself too, so that
/// `max_tokens` is found by `maxTokens`. Digests and other random names give only themselves. Scripts that are written
/// without spaces are found by pairs of characters.
pub(super) fn terms(text: &str, mut each: impl FnMut(&str, &str)) {
    let bytes = text.as_bytes();
    let mut parts = Parts::default();
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        if byte.is_ascii() && !byte.is_ascii_alphanumeric() && !is_joiner(byte) {
            at += 1;
            continue;
        }
        let start = at;
        while bytes.get(at).is_some_and(u8::is_ascii_lowercase) {
            at += 1;
        }
        if at > start && bytes.get(at).is_none_or(|&next| ends_word(next)) {
            part(&text[start..at], &mut each);
            continue;
        }
        at = start + compound_end(&text[start..]);
        if at == start {
            at += text[start..].chars().next().map_or(1, char::len_utf8);
        } else {
            compound(&text[start..at], &mut parts, &mut each);
        }
    }
}

/// The parts of a compound, one after the other in one string.
#[derive(Default)]
struct Parts {
    folded: String,
    ends: Vec<usize>,
    unspaced: bool,
}

impl Parts {
    fn iter(&self) -> impl Iterator<Item = &str> {
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        starts.zip(&self.ends).map(|(start, &end)| &self.folded[start..end])
    }

    /// The length of the part that is being written.
    fn open(&self) -> usize {
        self.folded.len() - self.ends.last().unwrap_or(&0)
    }

    fn close(&mut self) {
        if self.open() > 0 {
            self.ends.push(self.folded.len());
        }
    }
}

fn is_joiner(byte: u8) -> bool {
    matches!(byte, b'_' | b'-')
}

/// Whether an ASCII word in lower case ends before this byte.
fn ends_word(next: u8) -> bool {
    next.is_ascii() && !next.is_ascii_alphanumeric() && !is_joiner(next)
}

/// Where the run of letters, digits and joiners ends that the text begins with.
fn compound_end(text: &str) -> usize {
    text.char_indices()
        .find(|&(_, each)| !each.is_alphanumeric() && each != '_' && each != '-' && !is_ignored(each))
        .map_or(text.len(), |(at, _)| at)
}

fn compound(whole: &str, parts: &mut Parts, each: &mut impl FnMut(&str, &str)) {
    parts.folded.clear();
    parts.ends.clear();
    parts.unspaced = false;
    for word in whole.split(['_', '-']).filter(|word| !word.is_empty()) {
        let (length, count) = (parts.folded.len(), parts.ends.len());
        if is_name(word) {
            word.chars().for_each(|each| fold_into(each, &mut parts.folded));
        } else {
            split(word, parts);
        }
        parts.close();
        if parts.ends.len() - count > PARTS_MAX && !parts.unspaced {
            parts.ends.truncate(count);
            parts.ends.extend((parts.folded.len() > length).then_some(parts.folded.len()));
        }
    }
    if (2..=PARTS_MAX).contains(&parts.ends.len()) && !parts.unspaced {
        each(cut(&parts.folded), cut(whole.trim_matches(['_', '-'])));
    }
    for folded in parts.iter() {
        if parts.unspaced && folded.chars().any(is_unspaced) {
            pairs(folded, each);
        } else {
            part(folded, each);
        }
    }
}

fn part(folded: &str, each: &mut impl FnMut(&str, &str)) {
    if !is_common(folded) {
        each(fold(cut(folded)), cut(folded));
    }
}

/// Whether a word is random: a digest, a key, a name that a machine gave.
fn is_name(word: &str) -> bool {
    let bytes = word.as_bytes();
    let digits = bytes.iter().filter(|byte| byte.is_ascii_digit()).count();
    if digits == 0 || digits == bytes.len() {
        return false;
    }
    let changes = bytes.windows(2).filter(|pair| pair[0].is_ascii_digit() != pair[1].is_ascii_digit()).count();
    word.is_ascii() && (changes >= CHANGES_MIN || (bytes.len() >= HEX_MIN && bytes.iter().all(u8::is_ascii_hexdigit)))
}

/// Adds the parts of a word: one ends before an upper-case letter that follows another letter or digit, before the last
/// upper-case letter of a run that a lower-case one follows (`HTTPServer`, but not `URLs`), between letters and digits
/// where more than one stands before, and where a script begins or ends that is written without spaces.
fn split(word: &str, parts: &mut Parts) {
    let mut before: Option<char> = None;
    let mut characters = word.chars().filter(|each| !is_ignored(*each)).peekable();
    while let Some(character) = characters.next() {
        let unspaced = is_unspaced(character);
        parts.unspaced |= unspaced;
        let begins = match before {
            None => false,
            Some(before) if unspaced || is_unspaced(before) => unspaced != is_unspaced(before),
            Some(before) if character.is_uppercase() => {
                !before.is_uppercase() || characters.peek().is_some_and(|after| after.is_lowercase() && *after != 's')
            }
            Some(before) => {
                before.is_numeric() != character.is_numeric() && parts.open() > 1 && characters.peek().is_some()
            }
        };
        if begins {
            parts.close();
        }
        fold_into(character, &mut parts.folded);
        before = Some(character);
    }
    parts.close();
}

fn cut(term: &str) -> &str {
    &term[..term.floor_char_boundary(TERM_BYTES_MAX)]
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

#[cfg(test)]
mod tests {
    use super::terms;

    fn check(text: &str, expected: &[&str]) {
        let mut found = Vec::new();
        terms(text, |term, _| found.push(term.to_owned()));
        assert_eq!(found, expected, "{text}");
    }

    /// Words in prose are taken one by one, without the commonest, without case and endings.
    #[test]
    fn prose_gives_stems() {
        check("The Caches of it, cached!", &["cach", "cach"]);
        check("", &[]);
        check("--- ___ \u{301}", &[]);
        check("don't", &["don", "t"]);
    }

    /// Identifiers give themselves and their parts.
    #[test]
    fn identifiers_give_their_parts() {
        check("maxTokens", &["maxtokens", "max", "token"]);
        check("HTTPServerError", &["httpservererror", "http", "server", "error"]);
        check("src/rank/mod.rs", &["src", "rank", "mod", "rs"]);
        check("--max-tokens", &["maxtokens", "max", "token"]);
        check("the URLs", &["url"]);
        check("utf8 base64url v2", &["utf8", "base64url", "bas", "64", "url", "v2"]);
    }

    /// What a machine named is found whole only.
    #[test]
    fn digests_have_no_parts() {
        check("9cc68c8 DEADBEEF12", &["9cc68c8", "deadbeef12"]);
        check("x9k2ab31c", &["x9k2ab31c"]);
        check("1234567", &["1234567"]);
    }

    /// Accents and the width of letters do not matter; unspaced scripts are paired, apart from what they are mixed with.
    #[test]
    fn other_scripts_are_folded() {
        check("Größe café cafe\u{301} ＡＢＣ", &["gross", "caf", "caf", "abc"]);
        check("API接続点", &["api", "接続", "続点"]);
        check("好", &["好"]);
        check("İstanbul ΟΔΟΣ οδός", &["istanbul", "οδοσ", "οδόσ"]);
    }
}
