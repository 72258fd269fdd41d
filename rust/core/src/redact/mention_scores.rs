//! Values near a mention, however the sentence, the command or the line of code is built.
//!
//! Each value on the line of a mention, within [`REACH`], is scored: how little it looks like a word, a name or an
//! identifier ([`strength`]), how surely the mention names a secret, and whether what stands between them points at the
//! value. From [`SCORE_MIN`] on it is a secret.

use crate::redact::Span;
use crate::redact::findings::{Confidence, Findings};
use crate::redact::mention_values::{is_passphrase, number_behind_word, strength};
use crate::redact::mentions::{Mention, SURE, WORD_MAX, is_wide};
use crate::redact::plausibility::is_hyphenated_passphrase;
use crate::redact::rules::{BACK_POINTERS, DIGEST_WORDS, FUNCTION_WORDS, IDENTIFIER_WORDS, PARTICLES, POINTERS};

/// Bytes between a mention and a value.
const REACH: usize = 120;
/// Words between a mention and a value, beyond which the sentence has to point at it.
const NEAR_WORDS: usize = 2;
/// Words between a mention and a value that may be a name.
const CLOSE_WORDS: usize = 4;
/// Bytes of the shortest and of the longest value, and of the longest word around it.
const VALUE_MIN: usize = 6;
const VALUE_MAX: usize = 128;
const PIECES_MAX: usize = 256;
/// Hyphens of the shortest passphrase that has no other mark.
const HYPHENS_MIN: usize = 3;
/// The score from which a value is a secret.
const SCORE_MIN: u32 = 5;
/// Marks that open a value; those of `CLOSING` close one.
const OPENING: [char; 10] = ['(', '[', '{', '*', '“', '”', '„', '«', '‘', '「'];
const CLOSING: [char; 11] = ['.', ',', ':', ')', ']', '}', '*', '“', '”', '»', '’'];

/// Flags of a byte: its class in its word.
const BLANK: u8 = 1;
const MARKED: u8 = 2;
const QUOTE: u8 = 4;
const HYPHEN: u8 = 8;
const WIDE: u8 = 16;

/// The meaning of each byte.
const MEANINGS: [u8; 256] = {
    let (mut meanings, mut byte) = ([0; 256], 0_u8);
    loop {
        meanings[byte as usize] = match byte {
            b' ' | b'\t' | b'\n' | b'\r' => BLANK,
            b'0'..=b'9' | b'!' | b'#' | b'$' | b'%' | b'&' | b'*' | b'+' | b'?' | b'@' | b'^' | b'~' => MARKED,
            b'"' | b'\'' | b'`' => QUOTE,
            b'-' => HYPHEN,
            0xc2 | 0xe1..=0xff => WIDE,
            _ => 0,
        };
        if byte == u8::MAX {
            break;
        }
        byte += 1;
    }
    meanings
};

/// A value with what its score depends on.
#[derive(Clone, Copy)]
struct Value {
    start: usize,
    end: usize,
    strength: u32,
    quoted: bool,
    form: Form,
}

/// Composition of a value.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    /// Words with spaces between.
    Phrase,
    /// Four words or more with hyphens between.
    Hyphenated,
    /// A capitalized word with a number of four digits.
    Numbered,
    Other,
}

impl Findings<'_> {
    /// Add the values near the mentions of the text.
    pub(crate) fn find_near_mentions(&mut self) {
        let mentions = std::mem::take(&mut self.mentions);
        let (mut done, mut line_end) = (0, 0);
        for (nth, mention) in mentions.iter().enumerate() {
            let from = self.text.ceil_char_boundary(mention.start.saturating_sub(REACH)).max(done);
            let to = self.text.floor_char_boundary(self.bytes.len().min(mention.end + REACH));
            if may_hold_value(&self.bytes[from.min(to)..to]) {
                done = self.score_words(from, to, &mentions, nth).max(done);
            }
            line_end = self.find_below(mention, line_end);
        }
    }

    /// Score the words of a range, from mention `nth` on; return where the last word ended.
    fn score_words(&mut self, from: usize, to: usize, mentions: &[Mention], nth: usize) -> usize {
        let (mut at, mut next) = (from, nth);
        if from > 0 && !self.text[..from].ends_with(separates_words) {
            at = self.word(from).0;
        }
        loop {
            at = self.word_start(at);
            if at >= to {
                return at.min(self.bytes.len());
            }
            let (end, meanings) = self.word(at);
            // The first word of a passphrase in quotes may be short.
            let shortest = if meanings & QUOTE == 0 { VALUE_MIN } else { 2 };
            if meanings & (MARKED | QUOTE | HYPHEN) != 0 && (shortest..=PIECES_MAX).contains(&(end - at)) {
                while next < mentions.len() && mentions[next].end <= at {
                    next += 1;
                }
                let near = &mentions[next.saturating_sub(2)..mentions.len().min(next + 3)];
                self.score_word(at, end, meanings, near);
            } else if end - at > PIECES_MAX {
                return to.max(at);
            }
            at = end;
        }
    }

    /// Return where the next word begins.
    fn word_start(&self, at: usize) -> usize {
        let mut at = at;
        while let Some(byte) = self.bytes.get(at) {
            let meaning = MEANINGS[usize::from(*byte)];
            at += match meaning {
                BLANK => 1,
                WIDE => match self.text.get(at..).and_then(|rest| rest.chars().next()) {
                    Some(letter) if separates_words(letter) => letter.len_utf8(),
                    _ => break,
                },
                _ => break,
            };
        }
        at
    }

    /// Return where the word at `at` ends, or that it is longer than any value, and what its bytes mean.
    fn word(&self, at: usize) -> (usize, u8) {
        let (mut end, mut meanings) = (at, 0);
        while let Some(byte) = self.bytes.get(end).filter(|_| end - at <= PIECES_MAX) {
            let meaning = MEANINGS[usize::from(*byte)];
            let wide = || self.text.get(end..).and_then(|rest| rest.chars().next()).is_some_and(separates_words);
            if meaning == BLANK || meaning == WIDE && wide() {
                break;
            }
            meanings |= meaning;
            end += 1;
        }
        (end, meanings)
    }

    /// Score the values in one word: what is in quotes, or between other delimiters.
    fn score_word(&mut self, start: usize, end: usize, meanings: u8, mentions: &[Mention]) {
        let quote = |byte: &u8| MEANINGS[usize::from(*byte)] == QUOTE;
        if meanings & QUOTE != 0
            && let Some(open) = self.bytes[start..end].iter().position(quote)
            && let Some(to) = self.passphrase_end(start + open)
        {
            let value = Value { start: start + open + 1, end: to, strength: 2, quoted: true, form: Form::Phrase };
            self.score(value, mentions);
        }
        let mut from = start;
        while from < end {
            let delimits = |byte: &u8| b"\"'`,;|<>\\".contains(byte);
            let to = self.bytes[from..end].iter().position(delimits).map_or(end, |length| from + length);
            let piece = &self.bytes[from..to];
            let marked = || piece.iter().any(|byte| MEANINGS[usize::from(*byte)] == MARKED);
            let hyphens = || piece.split(|byte| *byte == b'-').count() - 1;
            if piece.len() >= VALUE_MIN
                && (marked() || hyphens() >= HYPHENS_MIN && !piece.windows(2).any(|two| two == b"--"))
            {
                let quoted = self.bytes[..from].last().is_some_and(quote) && self.bytes.get(to).is_some_and(quote);
                self.score_piece(from, to, quoted, mentions);
            }
            from = to + 1;
        }
    }

    /// Score what is between two delimiters, or behind a name in it: `user=X`, `ann:X`.
    fn score_piece(&mut self, from: usize, to: usize, quoted: bool, mentions: &[Mention]) {
        let Some(piece) = self.text.get(from..to) else { return };
        let opened = piece.trim_start_matches(OPENING);
        let value = opened.trim_end_matches(CLOSING);
        let named = |at: &usize| {
            let is_name = |byte: u8| byte.is_ascii_alphanumeric() || b"_-.@".contains(&byte);
            value.len() - at > VALUE_MIN && value.bytes().take(*at).all(is_name)
        };
        let name = value.find(['=', ':']).filter(named).map_or(0, |at| at + 1);
        let (start, value) = (to - opened.len() + name, &value[name..]);
        let strength = if value.len() <= VALUE_MAX { strength(value) } else { 0 };
        if strength == 0 {
            return;
        }
        let is_numbered = strength == 1
            && value.as_bytes()[0].is_ascii_uppercase()
            && number_behind_word(value).is_some_and(|number| number.len() == 4);
        let form = match value.bytes().any(|byte| byte.is_ascii_digit()) {
            _ if is_numbered => Form::Numbered,
            false if is_hyphenated_passphrase(value) => Form::Hyphenated,
            _ => Form::Other,
        };
        self.score(Value { start, end: start + value.len(), strength, quoted, form }, mentions);
    }

    /// Return where the passphrase ends whose quote is at `open`.
    fn passphrase_end(&self, open: usize) -> Option<usize> {
        let window = &self.bytes[open + 1..self.bytes.len().min(open + 1 + VALUE_MAX)];
        let words = |byte: &&u8| byte.is_ascii_lowercase() || **byte == b' ';
        let length = window.iter().take_while(words).count();
        let closed = window.get(length) == Some(&self.bytes[open]);
        (closed && is_passphrase(&self.text[open + 1..open + 1 + length])).then_some(open + 1 + length)
    }

    /// Add a value if it is a secret by its own look and by a mention before or behind it.
    fn score(&mut self, value: Value, mentions: &[Mention]) {
        let inside = |mention: &Mention| (value.start..value.end).contains(&mention.start);
        if value.form == Form::Phrase && mentions.iter().any(inside) {
            return; // words about a secret
        }
        let scores = mentions.iter().filter_map(|mention| Some((self.score_near(value, mention)?, mention)));
        let Some((score, mention)) = scores.max_by_key(|(score, _)| *score) else { return };
        if score >= SCORE_MIN
            && (self.is_rest_of_name(mention.end, value.start) || !self.is_of_identifier(value.start, value.end))
        {
            let span = Span { start: value.start, end: value.end, kind: mention.label.kind };
            self.add(Some(span), Confidence::Context);
        }
    }

    /// Return the score of a value near a mention; None if it is none.
    fn score_near(&self, value: Value, mention: &Mention) -> Option<u32> {
        let pointing = if mention.end <= value.start {
            self.pointing_behind(mention.end, value)?
        } else if mention.start >= value.end {
            self.pointing_before(value, mention.start)?
        } else {
            return None;
        };
        let weight = self.mention_weight(mention)?;
        let by_person = mention.label.kind == "password";
        let numbered = u32::from(value.form == Form::Numbered && (by_person || pointing > 1));
        // What may be a name counts only where a password is surely meant: keys and tokens are made by machines.
        let is_weak = value.strength + numbered < 2 && (weight < SURE || !by_person && value.form != Form::Hyphenated);
        (!is_weak).then_some(value.strength + numbered + weight + pointing + u32::from(value.quoted))
    }

    /// Return how clearly the text between a mention and a value behind it points at the value; None if too far.
    fn pointing_behind(&self, from: usize, value: Value) -> Option<u32> {
        if value.start - from > REACH {
            return None;
        }
        let gap = self.text.get(from..value.start).filter(|gap| !gap.contains('\n'))?;
        if gap.trim_start_matches([' ', '|']) == "\t" {
            return Some(2); // the next column
        }
        let gap = gap.trim_end_matches(['"', '\'', '`', ' ', '\\', '『']).trim_end_matches(OPENING).trim_end();
        let words = gap.split_whitespace().count();
        let last = gap.split_whitespace().next_back().unwrap_or("");
        let separated = gap.ends_with([':', '=', '>', '<', '→', '：', '—', '–', '-', '/', '|']);
        let particle = PARTICLES.iter().any(|particle| gap.ends_with(particle));
        if separated || particle || is_one_of(POINTERS, last) {
            return Some(if value.strength > 1 || words <= CLOSE_WORDS { 2 } else { 1 });
        }
        let adjacent = words == 0 && value.strength > 1;
        let listed = value.quoted && gap.ends_with(',');
        Some(u32::from(words <= NEAR_WORDS || listed) + u32::from(adjacent))
    }

    /// Return how clearly the text between a value and a mention behind it points back; None if too far.
    fn pointing_before(&self, value: Value, to: usize) -> Option<u32> {
        if to - value.end > REACH {
            return None;
        }
        let gap = self.text.get(value.end..to).filter(|gap| !gap.contains('\n'))?;
        let quotes = ['"', '\'', '`', '*', '”', '“', '»', '’', '」', '』', ')', ' ', '!', '?'];
        let gap = gap.trim_start_matches(quotes);
        let words = gap.split_whitespace().count();
        let first = gap.split_whitespace().next().unwrap_or("").trim_end_matches(',');
        let wide = gap.chars().next().or(self.text[to..].chars().next()).is_some_and(is_wide);
        let marked = ["<-", "←", "(", "->"].iter().any(|mark| gap.starts_with(mark));
        if marked || wide || is_one_of(BACK_POINTERS, first) {
            return Some(2);
        }
        let window = self.text.floor_char_boundary(value.start.saturating_sub(WORD_MAX));
        let before = self.text[window..value.start].trim_end_matches(['"', '\'', '`', ' ']).trim_end_matches(OPENING);
        let introduced = is_one_of(POINTERS, before.rsplit(char::is_whitespace).next().unwrap_or(""));
        Some(u32::from(words <= NEAR_WORDS) + u32::from(introduced))
    }

    /// Return true if between a mention and a value there is only the rest of a name in capitals, and a sign behind it.
    fn is_rest_of_name(&self, from: usize, to: usize) -> bool {
        let gap = self.bytes.get(from..to).unwrap_or_default();
        gap.first() == Some(&b'_') && gap.iter().all(|byte| byte.is_ascii_uppercase() || b"_:= \"'".contains(byte))
    }

    /// Return true if the word before a value, but for verbs and articles, says that it is an identifier or a digest.
    fn is_of_identifier(&self, start: usize, end: usize) -> bool {
        if self.is_named_identifier(start) {
            return true;
        }
        let window = self.text.floor_char_boundary(start.saturating_sub(2 * WORD_MAX));
        let before = &self.text[window..start];
        let before = &before[before.rfind('\n').map_or(0, |line| line + 1)..];
        let words = before.rsplit(|letter: char| !letter.is_alphanumeric()).filter(|word| !word.is_empty());
        let mut words = words.map(str::to_lowercase);
        let is = |list: &[&str], word: &String| list.binary_search(&word.as_str()).is_ok();
        let named = words.find(|word| !is(FUNCTION_WORDS, word));
        let is_hexadecimal = || self.text[start..end].bytes().all(|byte| byte.is_ascii_hexdigit());
        named.is_some_and(|word| is(DIGEST_WORDS, &word) || is(IDENTIFIER_WORDS, &word))
            // `checksum of auth: 6f0c…`, but not `don't commit it: 6f0c…`
            || is_hexadecimal() && words.any(|word| word != "commit" && is(DIGEST_WORDS, &word))
    }
}

/// Return true if a text has a digit, a mark of passwords, quotes, or hyphens enough for a value: most texts have not.
fn may_hold_value(text: &[u8]) -> bool {
    let (mut marked, mut quotes, mut hyphens) = (false, 0_u8, 0_u8);
    for byte in text {
        marked |= byte.is_ascii_digit() | matches!(byte, b'!'..=b'&' | b'*' | b'+' | b'?' | b'@' | b'^' | b'~');
        quotes = quotes.saturating_add(u8::from(*byte == b'\''));
        hyphens = hyphens.saturating_add(u8::from(*byte == b'-'));
    }
    marked || quotes > 1 || usize::from(hyphens) >= HYPHENS_MIN
}

/// Return true if a word is in a list, in any case.
fn is_one_of(list: &[&str], word: &str) -> bool {
    word.len() <= WORD_MAX && list.contains(&word.to_lowercase().as_str())
}

/// Return true if a character ends a word.
fn separates_words(letter: char) -> bool {
    letter.is_whitespace() || is_wide(letter)
}
