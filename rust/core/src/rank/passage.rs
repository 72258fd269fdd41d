//! The passage of a text that answers a query.

use super::analyzer::for_each_term;
use super::stop_words::is_function_word;

/// Terms of a query that are looked for: a bit of a mask each.
const TERMS_MAX: usize = 64;

/// Return the run of whole sentences or lines with most of a query's words, at most `limit` characters long.
///
/// Words count once each, longer ones more. The first of equal runs is returned, without blanks at its ends.
#[must_use]
pub fn passage<'t>(text: &'t str, query: &str, limit: usize) -> &'t str {
    let text = text.trim();
    if text.len() <= limit {
        return text;
    }
    let mut terms: Vec<String> = Vec::new();
    for_each_term(query, |term, word| {
        if terms.len() < TERMS_MAX && !is_function_word(word) && !terms.iter().any(|known| known == term) {
            terms.push(term.to_owned());
        }
    });
    let pieces: Vec<Piece<'_>> = pieces(text, limit).map(|piece| Piece::of(piece, &terms)).collect();
    let worth = |mask: u64| -> usize {
        terms.iter().enumerate().filter(|(bit, _)| mask >> bit & 1 == 1).map(|(_, term)| term.len()).sum()
    };
    let (mut best, mut best_worth, mut start, mut size) = (0..1, None, 0, 0);
    for (end, piece) in (1..).zip(&pieces) {
        size += piece.characters;
        while size > limit && end - start > 1 {
            size -= pieces[start].characters;
            start += 1;
        }
        let found = worth(pieces[start..end].iter().fold(0, |all, piece| all | piece.mask));
        if best_worth.is_none_or(|before| found > before) {
            (best, best_worth) = (start..end, Some(found));
        }
    }
    let from: usize = pieces[..best.start].iter().map(|piece| piece.text.len()).sum();
    let length: usize = pieces[best].iter().map(|piece| piece.text.len()).sum();
    text[from..from + length].trim()
}

/// A sentence or line of a text, and which terms it has.
struct Piece<'t> {
    text: &'t str,
    characters: usize,
    mask: u64,
}

impl<'t> Piece<'t> {
    fn of(text: &'t str, terms: &[String]) -> Self {
        let mut mask = 0;
        for_each_term(text, |term, _| {
            if let Some(bit) = terms.iter().position(|known| known == term) {
                mask |= 1 << bit;
            }
        });
        Self { text, characters: text.chars().count(), mask }
    }
}

/// Split a text behind its sentences and lines, and what is longer than `limit` characters behind a blank.
fn pieces(text: &str, limit: usize) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let mut characters = rest.char_indices().zip(1..).peekable();
        let mut end = rest.len();
        while let Some(((at, character), count)) = characters.next() {
            let next = characters.peek().map(|&((_, next), _)| next);
            let ends_sentence = matches!(character, '.' | '!' | '?') && next.is_none_or(char::is_whitespace);
            if character == '\n'
                || ends_sentence
                || matches!(character, '。' | '！' | '？')
                || (count > limit / 2 && character == ' ')
                || count >= limit
            {
                end = at + character.len_utf8();
                break;
            }
        }
        let (piece, behind) = rest.split_at(end);
        rest = behind;
        Some(piece)
    })
}

#[cfg(test)]
mod tests {
    use super::passage;

    /// A passage is the sentences with most of the words; short texts are whole.
    #[test]
    fn the_best_sentences_are_found() {
        let text = format!(
            "{}The lock was stale.\nA check of its age mends that! {}",
            "Rain fell. ".repeat(30),
            "So on. ".repeat(30)
        );
        assert_eq!(
            passage(&text, "how was the stale lock mended?", 60),
            "The lock was stale.\nA check of its age mends that!"
        );
        assert_eq!(passage(" short ", "lock", 60), "short");
        assert_eq!(passage(&"wörter ohne ende ".repeat(90), "nichts", 60).chars().count(), 33);
        assert_eq!(passage(&"字".repeat(900), "字", 60).chars().count(), 60);
    }
}
