//! Values that a sentence says outright to be a secret: `the password for the wiki is kX9m!Pq2Lw`, `nimm X als Passwort`.

use crate::redact::Span;
use crate::redact::findings::{Findings, Rule};
use crate::redact::json_keys::is_secret_key_name;
use crate::redact::rules::Keyword;
use crate::redact::value::{Parts, has_algorithm, is_random, is_stated};

/// Bytes of a clause that are examined on each side of a label, words in it, and bytes of each.
const CLAUSE_MAX: usize = 160;
const WORDS_MAX: usize = 8;
const WORD_MAX: usize = 64;
/// Words between a value and its label behind it: `as the new`.
const OWNERS_MAX: usize = 4;
/// Bits of a value that follows its label without a verb: `with the password kX9m!Pq2Lw`.
const BESIDE_BITS: u32 = 36;
/// Words that say what a value is, and marks that do.
const LINKS: [&str; 15] =
    ["is", "are", "was", "be", "to", "as", "now", "ist", "lautet", "als", "est", "comme", "es", "como", "é"];
const MARKS: [&str; 7] = [":", "=", "->", "=>", "→", "—", "–"];
/// Quotes around a value.
const QUOTES: [char; 12] = ['"', '\'', '*', '“', '”', '„', '‘', '’', '«', '»', '「', '」'];
/// What ends a value that is not in quotes, beside white space.
const ENDS: [char; 9] = ['.', ',', ';', ':', ')', ']', '}', '`', '\\'];

impl Findings<'_> {
    /// Add the value that a sentence states for the label at `start..end`: behind it, or before it.
    pub(crate) fn find_stated_value(&mut self, label: &'static Keyword, start: usize, end: usize) {
        // `pass` is a verb.
        if label.word == "pass" || self.is_in_a_marker(end) || !self.is_whole_label(label, start, end) {
            return;
        }
        let found = self.value_behind(label, end).or_else(|| self.value_before(label, start));
        let found = found.filter(|(from, to)| !self.is_digest(*from, self.slice(*from, *to)));
        self.add(found.map(|(start, end)| Span { start, end, kind: label.kind }), Rule::Sentence);
    }

    /// Return true if the label is a word of its own or the end of one (`Serverpasswort`), and names a secret.
    fn is_whole_label(&self, label: &Keyword, start: usize, end: usize) -> bool {
        let joined =
            |letter: Option<char>| letter.is_some_and(|letter| letter.is_alphanumeric() && letter < '\u{2e80}');
        let before = self.slice(start.saturating_sub(4), start).chars().next_back();
        let mut behind = self.slice(end, end + 8).chars();
        let (after, next) = (behind.next(), behind.next());
        // `password-hash`, `token.zip`
        let goes_on = matches!(after, Some('_' | '-' | '/' | '@' | '.')) && joined(next);
        let ends = !joined(after) && !goes_on;
        let begins = !joined(before) && before != Some('_') || label.word.len() >= 8 && label.worded;
        ends && begins
            && (label.word != "key" || is_secret_key_name(self.slice(start.saturating_sub(24), end).as_bytes()))
    }

    /// Return the value in the clause behind a label that ends at `end`.
    fn value_behind(&self, label: &Keyword, end: usize) -> Option<(usize, usize)> {
        let clause = self.slice(end, end + CLAUSE_MAX).split('\n').next()?;
        // Languages that write no space: `密码是X`.
        let particle =
            clause.chars().take(2).take_while(|letter| *letter >= '\u{2e80}').map(char::len_utf8).sum::<usize>();
        let (mut linked, mut rest) = (particle > 0, clause.get(particle..)?);
        if !linked && !rest.starts_with([' ', '\t', '\u{a0}', ':', ',', '"', '\'', '`', '*', ')', '=']) {
            return None;
        }
        for nth in 0..=WORDS_MAX {
            let word = rest.trim_start_matches([' ', '\t', '\u{a0}', '\u{202f}']);
            let at = end + clause.len() - word.len();
            let word = word.split([' ', '\t', '\u{a0}', '\u{202f}']).next().filter(|word| !word.is_empty())?;
            // `password for ann:X`
            let named =
                word.split_once(':').filter(|(name, value)| nth > 0 && !name.is_empty() && !value.starts_with('/'));
            if has_algorithm(word.trim_matches(['"', ',', ';'])) {
                return None;
            }
            let (from, said, stated) = match named {
                Some((name, value)) if !value.is_empty() => (at + name.len() + 1, value, true),
                _ => (at, word, linked),
            };
            if said.len() < WORD_MAX * 4
                && (stated || nth == 0 || said.starts_with(QUOTES))
                && let Some(found) = Self::stated(label, from, said, stated)
            {
                return Some(found);
            }
            let bare = word.trim_matches(QUOTES);
            // In data the label is that of an object or an item, and the next value has a key: `"token": { "rev": …`.
            let is_data = word.contains(['{', '[']) || word.ends_with("\",") || nth > 0 && word.ends_with("\":");
            if is_data || bare.ends_with(['.', '!', '?', ';', '|']) || word.len() > WORD_MAX {
                return None; // the clause ends
            }
            let only_quotes = bare.is_empty();
            (linked, rest) = (only_quotes && linked || Self::links(label, word), clause.get(at - end + word.len()..)?);
        }
        None
    }

    /// Return true if a word or mark says that the value follows. Beside labels of other languages any short word does.
    fn links(label: &Keyword, word: &str) -> bool {
        let short = || !label.english && word.chars().count() <= 7 && word.chars().all(char::is_alphabetic);
        LINKS.contains(&word) || MARKS.iter().any(|mark| word.ends_with(mark)) || short()
    }

    /// Return the value in a word that begins at `at`, if it is one.
    fn stated(label: &Keyword, at: usize, word: &str, linked: bool) -> Option<(usize, usize)> {
        let inner = word.trim_start_matches(QUOTES).trim_start_matches(['`', '(', '\\', '"']);
        let opened = word.len() - inner.len();
        if word.contains("...") || word.contains('…') {
            return None;
        }
        let foreign = |letter: char| letter >= '\u{2e80}' || QUOTES.contains(&letter) && letter != '*' && opened > 0;
        let value = inner.split(foreign).next()?;
        let ends = ["[REDACTED:", "\\n", "<", "&lt;", "&quot;"];
        let value = ends.iter().fold(value, |value, end| value.split(end).next().unwrap_or_default());
        let closed = value.trim_end_matches(ENDS);
        let closed = if opened == 0 { closed.trim_end_matches(QUOTES) } else { closed };
        let quoted = opened > 0 && word.starts_with(QUOTES);
        let accepted = if linked {
            is_stated(closed, label.worded, quoted)
        } else {
            let of = Parts::of(closed.as_bytes());
            is_random(closed.as_bytes()) && is_stated(closed, label.worded, quoted)
                || label.worded && of.bits() >= BESIDE_BITS && of.is_mixed() && is_stated(closed, true, quoted)
        };
        accepted.then_some((at + opened, at + opened + closed.len()))
    }

    /// Return the value before a label that begins at `start`: `use X as the new password`, `X is my password`.
    fn value_before(&self, label: &Keyword, start: usize) -> Option<(usize, usize)> {
        let clause = self.slice(self.text.ceil_char_boundary(start.saturating_sub(CLAUSE_MAX)), start);
        let clause = clause.rsplit('\n').next()?;
        let mut rest = clause;
        for _ in 0..=OWNERS_MAX {
            rest = rest.trim_end_matches([' ', '\t']);
            let word = rest.rsplit([' ', '\t']).next().filter(|word| !word.is_empty())?;
            rest = rest.get(..rest.len() - word.len())?.trim_end_matches([' ', '\t']);
            if LINKS.contains(&word) && !matches!(word, "to" | "now" | "be") {
                let value = rest.rsplit([' ', '\t']).next()?;
                return Self::stated(label, start - (clause.len() - rest.len()) - value.len(), value, true);
            }
            if !word.chars().all(char::is_alphabetic) {
                return None;
            }
        }
        None
    }
}
