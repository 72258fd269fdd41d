//! Passwords that only their place announces: cells of tables, lines of `.pgpass`, and pairs of a user and a password.

use crate::redact::Span;
use crate::redact::findings::{Confidence, Findings};
use crate::redact::plausibility::{EXAMINED_MAX, is_placeholder, is_stated_secret};
use crate::redact::rules::{ByteSet, KEYWORDS, Keyword};

/// Bytes of the part of a table that is examined, from its head on.
const TABLE_MAX: usize = 2048;
/// Bytes between the word `login` and its colon: `login for the staging host: ann / X1b2c3`.
const LEAD_MAX: usize = 48;
/// Characters of the shortest password behind a user.
const PAIRED_MIN: usize = 6;

impl Findings<'_> {
    /// Add the secrets that a cell with a keyword announces: the cell beside it in a row, or the cells below it.
    pub(crate) fn find_in_table(&mut self, keyword: &'static Keyword, start: usize, end: usize) {
        let framing = |byte: &&u8| matches!(**byte, b' ' | b'\t' | b'*' | b'`' | b'"');
        let closing = end + self.bytes[end..].iter().take(EXAMINED_MAX).take_while(framing).count();
        if self.bytes.get(closing) != Some(&b'|') || self.is_in_a_marker(end) {
            return;
        }
        let window = self.bytes[start.saturating_sub(EXAMINED_MAX)..start].iter().rev();
        let line = start - window.take_while(|byte| **byte != b'\n').count();
        let before = &self.bytes[line..start];
        let column = before.split(|byte| *byte == b'|').count() - 1;
        let limit = self.text.floor_char_boundary(self.bytes.len().min(start + TABLE_MAX));
        let Some(rest) = self.text.get(closing + 1..limit) else { return };
        let row_end = rest.find('\n').unwrap_or(rest.len());
        let mut at = closing + 1 + row_end + 1;
        let mut lines = rest.get(row_end + 1..).unwrap_or("").split('\n');
        let ruler = lines.next().unwrap_or("");
        if ruler.contains("--") && ruler.contains('|') && ruler.bytes().all(|byte| b"|-:+ \t\r".contains(&byte)) {
            at += ruler.len() + 1;
            for row in lines.take_while(|row| row.contains('|')) {
                let from: usize = row.split('|').take(column).map(|cell| cell.len() + 1).sum();
                if let Some(cell) = row.split('|').nth(column) {
                    self.add_cell(keyword, at + from, cell);
                }
                at += row.len() + 1;
            }
        } else if !before.iter().any(|byte| !b"| \t*`\"".contains(byte) && !ByteSet::Word.contains(*byte)) && column < 2
        {
            let cell = &rest[..rest[..row_end].find('|').unwrap_or(row_end)];
            self.add_cell(keyword, closing + 1, cell);
        }
    }

    /// Add the content of a cell that begins at `at`, if it reads as a secret.
    fn add_cell(&mut self, keyword: &'static Keyword, at: usize, cell: &str) {
        let marks = [' ', '\t', '\r', '`', '*', '"'];
        let value = cell.trim_end_matches(marks);
        let start = at + value.len() - value.trim_start_matches(marks).len();
        let value = value.trim_start_matches(marks);
        if value.len() <= EXAMINED_MAX && !value.contains("[REDACTED:") && is_stated_secret(value, keyword) {
            let span = Span { start, end: start + value.len(), kind: keyword.kind };
            self.add(Some(span), Confidence::NamedValue);
        }
    }

    /// Return the password of a line of `.pgpass`, `host:5432:database:user:password`, whose port ends at `at`.
    pub(crate) fn pgpass_password(&self, at: usize) -> Option<Span> {
        let limit = self.text.floor_char_boundary(self.bytes.len().min(at + EXAMINED_MAX));
        let line = self.text.get(at..limit)?;
        let line = &line[..line.find(char::is_whitespace).unwrap_or(line.len())];
        let mut parts = line.splitn(3, ':');
        let (database, user, password) = (parts.next()?, parts.next()?, parts.next()?);
        let is_name =
            |part: &str| part == "*" || !part.is_empty() && part.bytes().all(|byte| ByteSet::Dotted.contains(byte));
        let from = at + line.len() - password.len();
        let is_secret = password.len() >= 4 && !is_placeholder(password) && !password.contains("[REDACTED:");
        (is_name(database) && is_name(user) && is_secret).then_some(Span {
            start: from,
            end: at + line.len(),
            kind: "password",
        })
    }

    /// Return the password of `login: ann / X1b2c3` or `credentials: ann:X1b2c3`, whose first word is at `start..end`.
    pub(crate) fn paired_password(&self, start: usize, end: usize) -> Option<Span> {
        let limit = self.text.floor_char_boundary(self.bytes.len().min(end + LEAD_MAX + EXAMINED_MAX));
        let line = self.text.get(end..limit).filter(|_| self.starts_word(start))?;
        let line = &line[..line.find('\n').unwrap_or(line.len())];
        let colon = line.bytes().take(LEAD_MAX).position(|byte| byte == b':').map(|at| at + 1);
        let verb = || [" are ", " is "].iter().find(|verb| line.starts_with(**verb)).map(|verb| verb.len());
        let behind = line[colon.or_else(verb)?..].trim_start_matches(' ');
        let is_name = |letter: char| letter.is_ascii_alphanumeric() || "._@-".contains(letter);
        let user = &behind[..behind.find(|letter| !is_name(letter)).unwrap_or(behind.len())];
        // A slash between spaces: one within a word is part of a path.
        let separated = &behind[user.len()..];
        let value = separated.strip_prefix(" / ").or(separated.strip_prefix(':'))?.trim_start_matches(' ');
        let value = &value[..value.find(char::is_whitespace).unwrap_or(value.len())];
        let from = end + line.len() - separated.len() + separated.find(value).unwrap_or(0);
        let value = value.trim_end_matches(['.', ',', ';', ')', '"', '\'', '`']);
        let is_secret = user.len() >= 2
            && user.starts_with(|letter: char| letter.is_ascii_alphabetic())
            && value.len() >= PAIRED_MIN
            && !value.starts_with('/')
            && value.bytes().any(|byte| byte.is_ascii_alphabetic())
            && !value.contains("[REDACTED:")
            && is_stated_secret(value, &KEYWORDS[0]);
        is_secret.then_some(Span { start: from, end: from + value.len(), kind: "password" })
    }
}
