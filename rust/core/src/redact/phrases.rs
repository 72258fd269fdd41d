//! Values that a sentence states: `the password for the wiki is hunter22`, `Passwort ist ...`, `密码是...`.

use crate::redact::Span;
use crate::redact::assignments::is_secret_label;
use crate::redact::findings::{Confidence, Findings};
use crate::redact::plausibility::{EXAMINED_MAX, is_plain_secret_word, is_stated_secret};
use crate::redact::rules::{ADVERBS, BACKWARD_LINKS, CHANGES, COPULAS, FUNCTION_WORDS, Keyword, LEADS, PARTICLES};

/// Words between a label and its verb (`for the staging database`), and bytes of each.
const WORDS_MAX: usize = 7;
const WORD_MAX: usize = 40;
/// Quotes that open a value, and those that close it.
const QUOTES: [(&str, &str); 12] = [
    ("\\\"", "\\\""),
    ("\"", "\""),
    ("'", "'"),
    ("**", "**"),
    ("`", "`"),
    ("“", "”"),
    ("„", "“"),
    ("‘", "’"),
    ("«", "»"),
    ("「", "」"),
    ("『", "』"),
    ("‹", "›"),
];
/// Bytes before a label that are searched for a value: `use X as the new password`.
const BEFORE_MAX: usize = 160;
/// Words between the word that links a value and its label: `as the new`, `is my`.
const OWNERS_MAX: usize = 3;
/// Words of the longest passphrase in quotes.
const PASSPHRASE_WORDS_MAX: usize = 10;

/// Clarity with which a phrase states a value.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Statement {
    /// By a verb: even a plain word may be the value.
    Verb,
    /// By a colon, a dash or `to`.
    Separator,
}

impl Findings<'_> {
    /// Add the value that a phrase states for the label at `start..end`.
    ///
    /// `named` says that assignments to the label have a rule of their own, so that only what is said in words counts.
    pub(crate) fn find_stated_value(&mut self, label: &'static Keyword, start: usize, end: usize, named: bool) {
        if self.is_in_a_marker(end) || !self.is_whole_label(label, start, end) {
            return;
        }
        if let Some((statement, at)) = self.statement(label, end, named) {
            let span = self.stated_value(label, statement, at);
            self.add(span, Confidence::NamedValue);
        } else if self.bytes.get(end) == Some(&b' ') && self.is_introduced(start) {
            // `log in with password X`, `ann (password X)`: no verb, so that only what is no word counts.
            let span = self.stated_value(label, Statement::Separator, self.skip_blanks(end));
            self.add(span, Confidence::NamedValue);
        }
    }

    /// Return true if a bracket or a preposition before a label says that the next word is its value.
    fn is_introduced(&self, start: usize) -> bool {
        let before = &self.text[self.text.floor_char_boundary(start.saturating_sub(WORD_MAX))..start];
        let words = before.trim_end_matches("the ");
        ["(", " with ", " using ", " mit ", " avec ", " con ", " com "].iter().any(|word| words.ends_with(word))
    }

    /// Add the value that a phrase states before the label: `use X as the password`, `X is my new password`.
    pub(crate) fn find_value_before(&mut self, label: &'static Keyword, start: usize, end: usize) {
        let window = self.text.ceil_char_boundary(start.saturating_sub(BEFORE_MAX));
        let before = &self.text[window..start];
        // Most labels have no such word before them: found before anything else is looked for.
        let mut words = before.split_ascii_whitespace().rev().take(OWNERS_MAX + 1);
        let Some(link) = words.find(|word| BACKWARD_LINKS.contains(word)) else { return };
        let before = &before[before.rfind('\n').map_or(0, |line| line + 1)..];
        if link.as_ptr() < before.as_ptr() {
            return; // on the line before
        }
        if !self.is_whole_label(label, start, end) || !ends_phrase(&self.text[end..]) {
            return;
        }
        let link = link.as_ptr() as usize - self.text.as_ptr() as usize;
        let value = self.text[window..link].trim_end_matches([' ', '\t']);
        let from = value.len() - value.rsplit(char::is_whitespace).next().unwrap_or_default().len();
        let marks = ['"', '\'', '`', '*', '(', '“', '”', '\\'];
        let opened = value[from..].trim_start_matches(marks);
        let closed = opened.trim_end_matches(marks);
        let is_whole = from > 0 || window == 0; // else the window may begin within it
        if is_whole && is_stated_secret(closed, label) && !closed.contains("[REDACTED:") {
            let start = window + value.len() - opened.len();
            let span = Span { start, end: start + closed.len(), kind: label.kind };
            self.add(Some(span), Confidence::NamedValue);
        }
    }

    /// Return true if the label is a word of its own, and names a secret.
    fn is_whole_label(&self, label: &Keyword, start: usize, end: usize) -> bool {
        let before = self.text[..start].chars().next_back();
        let after = self.text[end..].chars().next();
        let joined = |byte: Option<char>| byte.is_some_and(|letter| letter.is_ascii_alphanumeric() || letter == '_');
        if !label.word.is_ascii() && !label.word.as_bytes()[0].is_ascii() {
            return !joined(after);
        }
        let alphabetic =
            |letter: Option<char>| letter.is_some_and(|letter| letter.is_alphabetic() && letter < '\u{2e80}');
        let compound = label.word.len() >= 8 && label.worded;
        !joined(after)
            && !alphabetic(after)
            && (compound || !(joined(before) || alphabetic(before)) || label.word != "pin" && before == Some('_'))
            && is_secret_label(label, self.text, start, end)
    }

    /// Return how a value is stated behind a label that ends at `end`, and where it begins.
    fn statement(&self, label: &Keyword, end: usize, named: bool) -> Option<(Statement, usize)> {
        let mut at = end + self.bytes[end..].iter().take(2).take_while(|byte| b"\"`*".contains(byte)).count();
        if let Some(behind) = self.text.get(at..).and_then(|rest| rest.strip_prefix("'s ").or(rest.strip_prefix("’s ")))
        {
            return Some((Statement::Separator, self.text.len() - behind.len()));
        }
        let mut changed = false;
        for nth in 0..=WORDS_MAX {
            at = self.skip_blanks(at);
            let rest = &self.text[at..];
            if let Some(particle) = PARTICLES.iter().find(|particle| rest.starts_with(**particle)) {
                return Some((Statement::Separator, self.skip_blanks(at + particle.len())));
            }
            let separator = ["=>", "->", "→", ":", "=", "—", "–"].iter().find(|mark| rest.starts_with(**mark));
            if let Some(separator) = separator {
                let own = nth > 0 || !named || !matches!(*separator, ":" | "=" | "=>" | "->");
                let behind = self.skip_blanks(at + separator.len());
                return (own && self.bytes.get(behind) != Some(&b'=')).then_some((Statement::Separator, behind));
            }
            if nth == 0 && rest.starts_with('-') {
                return None; // no word of the lists begins so, and lines of a key block have many
            }
            let length = rest.bytes().take(WORD_MAX).take_while(|byte| is_phrase_byte(*byte)).count();
            let word = rest.get(..length)?;
            let spaced = matches!(rest.as_bytes().get(length), Some(b' ' | b'\t' | b':' | b'\n'));
            if length == 0 || !spaced {
                return None;
            }
            let lower = word.to_lowercase();
            let is = |list: &[&str]| list.contains(&lower.as_str());
            at += length;
            if label.word == "pass" && lower == "on" {
                return None; // `on` is Finnish for `is`, but `all tests pass on fix/parser-2` is no statement
            }
            if is(COPULAS) {
                if let Some(stated) = self.behind_verb(at) {
                    return Some(stated);
                }
            } else if lower == "to" && (changed || nth == 0) && label.word != "pass" {
                return Some((Statement::Separator, self.skip_blanks(at)));
            } else if is(CHANGES) {
                changed = true;
            } else if nth == 0 && (!is(LEADS) || label.word == "pass") {
                return None; // `pass` is a verb: `pass on x`
            }
        }
        None
    }

    /// Return where the value begins behind a verb, past adverbs and a colon; None if a verb of change follows.
    fn behind_verb(&self, at: usize) -> Option<(Statement, usize)> {
        let mut at = self.skip_blanks(at);
        for _ in 0..3 {
            let rest = &self.text[at..];
            let length = rest.bytes().take(WORD_MAX).take_while(|byte| is_phrase_byte(*byte)).count();
            let word = rest.get(..length)?.to_lowercase();
            if CHANGES.contains(&word.as_str()) || word == "be" || word == "been" {
                return None;
            }
            if !ADVERBS.contains(&word.as_str()) {
                break;
            }
            at = self.skip_blanks(at + length);
        }
        if matches!(self.bytes.get(at), Some(b':' | b'=')) {
            at = self.skip_blanks(at + 1);
        }
        Some((Statement::Verb, at))
    }

    /// Skip a few spaces, also those that French puts before a colon, and one line break.
    fn skip_blanks(&self, at: usize) -> usize {
        let mut at = at;
        for _ in 0..4 {
            at += match self.bytes[at..] {
                [b' ' | b'\t', ..] => 1,
                [0xc2, 0xa0, ..] => 2,
                [0xe2, 0x80, 0xaf, ..] => 3,
                _ => break,
            };
        }
        at
    }

    /// Return the value that begins at `at`, in quotes or bare, if it reads as a secret.
    fn stated_value(&self, label: &'static Keyword, statement: Statement, at: usize) -> Option<Span> {
        let window = &self.text[at..self.text.floor_char_boundary(at + EXAMINED_MAX)];
        let secret = |start: usize, value: &str| Span { start, end: start + value.len(), kind: label.kind };
        for (open, close) in QUOTES {
            let Some(inner) = window.strip_prefix(open) else { continue };
            let value = &inner[..inner.find(close)?];
            let words = value.split(' ').count();
            let phrase = words > 1 && label.worded && words <= PASSPHRASE_WORDS_MAX && open != "`";
            let plain = label.worded && words == 1 && value.len() >= 4;
            let is_secret = !value.contains(['\n', '['])
                && value.len() >= 4
                && (is_stated_secret(value, label)
                    || phrase && statement == Statement::Verb && value.split(' ').all(|word| word.len() > 1)
                    || plain && is_plain_secret_word(value));
            return is_secret.then(|| secret(at + open.len(), value));
        }
        let ideographs = window.chars().next().is_some_and(|letter| letter >= '\u{250}');
        let ends =
            |letter: char| letter.is_whitespace() || letter >= '\u{250}' && !ideographs || "“”«»".contains(letter);
        let word = &window[..window.find(ends).unwrap_or(window.len())];
        let word = &word[..word.find("[REDACTED:").unwrap_or(word.len())];
        let value = word.trim_end_matches(['.', ',', ';', ':', ')', ']', '}', '>', '"', '\'', '`', '*', '\\']);
        let value = &value[..value.find("\\n").unwrap_or(value.len())];
        let value = &value[..value.find(['"', '<']).unwrap_or(value.len())];
        let plain = || {
            statement == Statement::Verb
                && label.worded
                && is_plain_secret_word(value)
                && ends_clause(&self.text[at + value.len()..])
        };
        (is_stated_secret(value, label) || plain()).then(|| secret(at, value))
    }
}

/// Return true if the noun phrase of a label ends behind it: no noun that it describes follows (`password hash`).
fn ends_phrase(rest: &str) -> bool {
    let quotes = rest.trim_start_matches(['"', '\'', '`', '*']);
    let Some(behind) = quotes.strip_prefix(' ') else {
        return !quotes.starts_with(|letter: char| letter.is_alphanumeric() || "_-".contains(letter));
    };
    let word = &behind[..behind.find(|letter: char| !letter.is_alphanumeric()).unwrap_or(behind.len())];
    word.is_empty() || LEADS.contains(&word) || FUNCTION_WORDS.binary_search(&word).is_ok()
}

/// Return true if a byte belongs to a word between a label and its value.
fn is_phrase_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte >= 0x80 || b"-_'./@`".contains(&byte)
}

/// Return true if a sentence or line ends here.
fn ends_clause(rest: &str) -> bool {
    let behind = rest.trim_start_matches(['.', '!', '"', '\'', ')', '*', '`']);
    matches!(behind.bytes().next(), None | Some(b'\n' | b'\r')) || behind.len() < rest.len() && behind.starts_with(' ')
}
