//! Text analysis: the search terms of a text (words, and identifiers both whole and in parts).

use super::char_folding::{fold_into, is_emoji, is_ignored, is_unspaced};
use super::stem::stem;
use super::stop_words::is_stop_word;

/// Bytes of a term; longer words are truncated, as no search needs more.
const TERM_BYTES_MAX: usize = 64;
/// Parts of an identifier; one of more is not also indexed whole, and a single word of more is indexed only whole.
const PARTS_MAX: usize = 8;
/// Transitions between letters and digits from which a word counts as random (`x9k2ab31c` has six).
const TRANSITIONS_MIN: usize = 3;
/// Length from which a word of hexadecimal letters and digits counts as random (a short Git hash has 7).
const HEX_MIN: usize = 7;

/// Call `emit(term, word)` for every term of the text, in order, with repetitions.
///
/// `word` is the lower-case word that the term was made of; for an identifier of several parts, the text as written.
///
/// A word is a run of letters and digits of any script, folded for case and accents, then stemmed. A word in
/// `camelCase` gives its parts and itself; `snake_case` and paths give their parts, and a run of words joined by `_` or
/// `-` gives itself too, so that `max_tokens` is found by `maxTokens`. Digests and other random names give only
/// themselves. Scripts that are written without spaces give bigrams of characters. An emoji is a word.
pub(super) fn for_each_term(text: &str, mut emit: impl FnMut(&str, &str)) {
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
            emit_word(&text[start..at], &mut emit);
            continue;
        }
        at = start + compound_end(&text[start..]);
        if at == start {
            let character = text[start..].chars().next();
            at += character.map_or(1, char::len_utf8);
            if character.is_some_and(is_emoji) {
                emit(&text[start..at], &text[start..at]);
            }
        } else {
            emit_compound(&text[start..at], &mut parts, &mut emit);
        }
    }
}

/// The parts of a compound, concatenated in one string.
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

    /// The length of the part that is being written, in bytes.
    fn open_length(&self) -> usize {
        self.folded.len() - self.ends.last().unwrap_or(&0)
    }

    /// End the part that is being written, if it is not empty.
    fn close(&mut self) {
        if self.open_length() > 0 {
            self.ends.push(self.folded.len());
        }
    }
}

/// Return true if a byte joins the words of an identifier.
fn is_joiner(byte: u8) -> bool {
    matches!(byte, b'_' | b'-')
}

/// Return true if an ASCII word in lower case ends before this byte.
fn ends_word(next: u8) -> bool {
    next.is_ascii() && !next.is_ascii_alphanumeric() && !is_joiner(next)
}

/// Return the length in bytes of the run of letters, digits and joiners at the beginning of the text.
fn compound_end(text: &str) -> usize {
    text.char_indices()
        .find(|&(_, next)| !next.is_alphanumeric() && next != '_' && next != '-' && !is_ignored(next))
        .map_or(text.len(), |(at, _)| at)
}

/// Emit a compound (`max_tokens`, `HTTPServer`) whole and in parts, or in bigrams if its script has no spaces.
fn emit_compound(whole: &str, parts: &mut Parts, emit: &mut impl FnMut(&str, &str)) {
    parts.folded.clear();
    parts.ends.clear();
    parts.unspaced = false;
    for word in whole.split(['_', '-']).filter(|word| !word.is_empty()) {
        let (length, count) = (parts.folded.len(), parts.ends.len());
        if is_random(word) {
            word.chars().for_each(|character| fold_into(character, &mut parts.folded));
        } else {
            split_parts(word, parts);
        }
        parts.close();
        if parts.ends.len() - count > PARTS_MAX && !parts.unspaced {
            parts.ends.truncate(count);
            parts.ends.extend((parts.folded.len() > length).then_some(parts.folded.len()));
        }
    }
    if (2..=PARTS_MAX).contains(&parts.ends.len()) && !parts.unspaced {
        emit(truncate(&parts.folded), truncate(whole.trim_matches(['_', '-'])));
    }
    for folded in parts.iter() {
        if parts.unspaced && folded.chars().any(is_unspaced) {
            emit_bigrams(folded, emit);
        } else {
            emit_word(folded, emit);
        }
    }
}

/// Emit the stem of a folded word, unless it is a stop word.
fn emit_word(folded: &str, emit: &mut impl FnMut(&str, &str)) {
    if !is_stop_word(folded) {
        emit(stem(truncate(folded)), truncate(folded));
    }
}

/// Return true if a word looks machine-made (a digest, a key, a generated name): its parts mean nothing.
fn is_random(word: &str) -> bool {
    let bytes = word.as_bytes();
    let digits = bytes.iter().filter(|byte| byte.is_ascii_digit()).count();
    if digits == 0 || digits == bytes.len() {
        return false;
    }
    let transitions = bytes.windows(2).filter(|pair| pair[0].is_ascii_digit() != pair[1].is_ascii_digit()).count();
    word.is_ascii()
        && (transitions >= TRANSITIONS_MIN || (bytes.len() >= HEX_MIN && bytes.iter().all(u8::is_ascii_hexdigit)))
}

/// Append the parts of a word.
///
/// A part ends before an upper-case letter that follows another letter or digit (`maxTokens`), before the last
/// upper-case letter of a run that a lower-case one follows (`HTTPServer`, but not `URLs`), between letters and digits
/// if the part has more than one character and the word goes on (`base64url`, but not `v2`), and where a script without
/// spaces begins or ends.
fn split_parts(word: &str, parts: &mut Parts) {
    let mut previous: Option<char> = None;
    let mut characters = word.chars().filter(|character| !is_ignored(*character)).peekable();
    while let Some(character) = characters.next() {
        let unspaced = is_unspaced(character);
        parts.unspaced |= unspaced;
        let begins = match previous {
            None => false,
            Some(previous) if unspaced || is_unspaced(previous) => unspaced != is_unspaced(previous),
            Some(previous) if character.is_uppercase() => {
                !previous.is_uppercase() || characters.peek().is_some_and(|next| next.is_lowercase() && *next != 's')
            }
            Some(previous) => {
                previous.is_numeric() != character.is_numeric()
                    && parts.open_length() > 1
                    && characters.peek().is_some()
            }
        };
        if begins {
            parts.close();
        }
        fold_into(character, &mut parts.folded);
        previous = Some(character);
    }
    parts.close();
}

/// The first `TERM_BYTES_MAX` bytes of a term, cut at a character.
fn truncate(term: &str) -> &str {
    &term[..term.floor_char_boundary(TERM_BYTES_MAX)]
}

/// Emit the overlapping pairs of characters of a word, or the word itself if it has one character.
fn emit_bigrams(word: &str, emit: &mut impl FnMut(&str, &str)) {
    let starts: Vec<usize> = word.char_indices().map(|(at, _)| at).chain(std::iter::once(word.len())).collect();
    if starts.len() == 2 {
        emit(word, word);
    }
    for window in starts.windows(3) {
        let pair = &word[window[0]..window[2]];
        emit(pair, pair);
    }
}

#[cfg(test)]
mod tests {
    use super::for_each_term;

    fn check(text: &str, expected: &[&str]) {
        let mut found = Vec::new();
        for_each_term(text, |term, _| found.push(term.to_owned()));
        assert_eq!(found, expected, "{text}");
    }

    /// Prose is split into lower-case stems, without stop words.
    #[test]
    fn prose_gives_stems() {
        check("The Caches of it, cached!", &["cach", "cach"]);
        check("", &[]);
        check("--- ___ \u{301}", &[]);
        check("don't", &["don", "t"]);
    }

    /// Identifiers are indexed whole and in parts.
    #[test]
    fn identifiers_give_their_parts() {
        check("maxTokens", &["maxtokens", "max", "token"]);
        check("HTTPServerError", &["httpservererror", "http", "server", "error"]);
        check("src/rank/mod.rs", &["src", "rank", "mod", "rs"]);
        check("--max-tokens", &["maxtokens", "max", "token"]);
        check("the URLs", &["url"]);
        check("utf8 base64url v2", &["utf8", "base64url", "bas", "64", "url", "v2"]);
    }

    /// Machine-made names are indexed whole only.
    #[test]
    fn digests_have_no_parts() {
        check("9cc68c8 DEADBEEF12", &["9cc68c8", "deadbeef12"]);
        check("x9k2ab31c", &["x9k2ab31c"]);
        check("1234567", &["1234567"]);
    }

    /// Accents and letter width are folded; scripts without spaces give bigrams, apart from Latin text beside them.
    #[test]
    fn other_scripts_are_folded() {
        check("Größe café cafe\u{301} ＡＢＣ", &["gross", "caf", "caf", "abc"]);
        check("API接続点", &["api", "接続", "続点"]);
        check("好", &["好"]);
        check("ship it 🚀, not👍🏽now", &["ship", "🚀", "not", "👍", "now"]);
        check("©2026 ▶️ run ↩️ ™ ㊙️", &["©", "2026", "▶", "run", "↩", "™", "㊙"]);
        check("İstanbul ΟΔΟΣ οδός", &["istanbul", "οδοσ", "οδόσ"]);
    }
}
