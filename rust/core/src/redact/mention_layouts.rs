//! Values below a mention: alone on a line behind a colon, or in its column of a list with separators.

use crate::redact::Span;
use crate::redact::findings::{Confidence, Findings};
use crate::redact::mention_values::{is_passphrase, strength};
use crate::redact::mentions::{Mention, SURE};

/// Bytes of a line that are examined, and of all lines of a list.
const LINE_MAX: usize = 160;
const LIST_MAX: usize = 1024;
/// Lines between a mention and a value alone on its line: blank ones, and the fence of a block of code.
const LINES_MAX: usize = 4;
/// Bytes of the longest heading of a column.
const HEADING_MAX: usize = 32;
/// Least score for being no word, of a value below a mention: with less it is a name or a result.
const STRENGTH_MIN: u32 = 2;
/// Separators of the columns of a list.
const SEPARATORS: [&str; 4] = [",", ";", "\t", "  "];
/// Words at the end of a line that point at the next one.
const POINTS_BELOW: [&str; 6] = ["below", "follows", "following", "here", "unten", "ci-dessous"];

impl<'t> Findings<'t> {
    /// Add the values below a mention, on a line that ends at `known` if that is behind it; return where it ends.
    pub(crate) fn find_below(&mut self, mention: &Mention, known: usize) -> usize {
        let line_end = if known >= mention.end {
            known
        } else {
            let window = &self.bytes[mention.end..self.bytes.len().min(mention.end + LINE_MAX)];
            mention.end + window.iter().position(|byte| *byte == b'\n').unwrap_or(window.len())
        };
        if self.bytes.get(line_end) != Some(&b'\n') {
            return line_end;
        }
        let line = self.text[mention.end..line_end].trim_end();
        let last = line.trim_end_matches([':', '.']).rsplit(' ').next().unwrap_or("");
        if line.ends_with(':') || POINTS_BELOW.contains(&last) {
            self.find_alone_below(mention, line_end + 1);
        } else {
            self.find_in_column(mention, line_end);
        }
        line_end
    }

    /// Add the value that is alone on one of the next lines.
    fn find_alone_below(&mut self, mention: &Mention, from: usize) {
        let mut at = from;
        for _ in 0..LINES_MAX {
            let Some(line) = self.line(at) else { return };
            let marks = [' ', '\t', '\r', '>', '-', '*', '$', '`', '"', '\''];
            let opened = line.trim_start_matches(marks);
            let value = opened.trim_end_matches([' ', '\t', '\r', '`', '*', '"', '\'']);
            if value.is_empty() || line.trim_start().starts_with("```") {
                at += line.len() + 1;
                continue;
            }
            let quoted = line[..line.len() - opened.len()].ends_with(['"', '\'']);
            if strength(value) >= STRENGTH_MIN && !value.contains(' ') || quoted && is_passphrase(value) {
                let start = at + line.len() - opened.len();
                self.add_below(mention, start, start + value.len());
            }
            return;
        }
    }

    /// Add the values in the column whose heading a mention is.
    fn find_in_column(&mut self, mention: &Mention, line_end: usize) {
        let window = &self.bytes[mention.start.saturating_sub(LINE_MAX)..mention.start];
        let line_start = mention.start - window.iter().rev().take_while(|byte| **byte != b'\n').count();
        let is_heading = |byte: &u8| byte.is_ascii_alphanumeric() || b"_-, ;|\t\"\r".contains(byte) || *byte >= 0x80;
        if line_end - line_start > LINE_MAX || !self.bytes[line_start..line_end].iter().all(is_heading) {
            return;
        }
        let Some(head) = self.text.get(line_start..line_end) else { return };
        let Some(separator) = SEPARATORS.iter().find(|separator| head.contains(**separator)) else { return };
        let headings: Vec<(usize, &str)> = columns(head, separator);
        let named = |heading: &str| (1..=HEADING_MAX).contains(&heading.trim().len());
        let place = mention.start - line_start;
        let Some(column) = headings.iter().position(|(at, heading)| (*at..at + heading.len()).contains(&place)) else {
            return;
        };
        if headings.len() < 2 || !headings.iter().all(|(_, heading)| named(heading)) {
            return;
        }
        let mut at = line_end + 1;
        while let Some(line) = self.line(at).filter(|_| at < line_end + LIST_MAX) {
            let cells = columns(line, separator);
            if cells.len() != headings.len() || cells[column].1 == headings[column].1 {
                return;
            }
            let (from, cell) = cells[column];
            let marks = [' ', '\t', '\r', '"', '\'', '`'];
            let opened = cell.trim_start_matches(marks);
            let value = opened.trim_end_matches(marks);
            let start = at + from + cell.len() - opened.len();
            let quoted = cell.len() > opened.len() && cell.trim_start().starts_with(['"', '\'']);
            if strength(value) >= 1 || quoted && is_passphrase(value) {
                self.add_below(mention, start, start + value.len());
            }
            at += line.len() + 1;
        }
    }

    /// Return the line that begins at a position; None at the end of the text, and if it is long.
    fn line(&self, at: usize) -> Option<&'t str> {
        let text: &'t str = self.text;
        let window = text.as_bytes().get(at..self.bytes.len().min(at + LINE_MAX))?;
        let length = window.iter().position(|byte| *byte == b'\n');
        let length = length.or((at + window.len() == self.bytes.len() && !window.is_empty()).then_some(window.len()))?;
        text.get(at..at + length)
    }

    /// Add a value below a mention.
    fn add_below(&mut self, mention: &Mention, start: usize, end: usize) {
        if self.mention_weight(mention) == Some(SURE) {
            self.add(Some(Span { start, end, kind: mention.label.kind }), Confidence::Context);
        }
    }
}

/// Split a line into its columns; two spaces or more are one separator.
fn columns<'l>(line: &'l str, separator: &str) -> Vec<(usize, &'l str)> {
    let mut from = 0;
    let mut columns = Vec::new();
    for cell in line.split(separator) {
        if separator != "  " || !cell.trim().is_empty() {
            columns.push((from, cell));
        }
        from += cell.len() + separator.len();
    }
    columns
}
