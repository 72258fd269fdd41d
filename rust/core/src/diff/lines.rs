//! Texts split into lines with ids: equal lines have equal ids, whatever their line ending.

use std::borrow::Cow;

use memchr::memchr;

use crate::text_interner::TextInterner;

/// Bytes of a line, as a guess of how many lines a text has.
const LINE_BYTES: usize = 24;

/// Return an interner with room for the lines of a text, and a few of other versions of it.
pub(crate) fn interner_for<'t>(text: &str) -> TextInterner<'t> {
    TextInterner::with_capacity(text.len() / LINE_BYTES + 16)
}

/// A text split into lines, each with its id.
#[derive(Clone, Debug)]
pub(crate) struct Lines<'t> {
    /// The text.
    pub(crate) text: &'t str,
    /// The id of each line.
    pub(crate) ids: Vec<u32>,
    /// The byte offset behind each line and its line ending.
    pub(crate) ends: Vec<usize>,
    /// True if any line ends with CR LF.
    pub(crate) has_crlf: bool,
}

impl<'t> Lines<'t> {
    /// Split a text into lines with ids.
    pub(crate) fn of(text: &'t str, interner: &mut TextInterner<'t>) -> Self {
        let none = Self { text: "", ids: Vec::new(), ends: Vec::new(), has_crlf: false };
        Self::like(&none, text, interner)
    }

    /// Split a text that resembles `other` into lines with ids.
    ///
    /// Lines in the same order as in `other` are compared with it directly, and are hashed only where that fails: most
    /// of a saved file is unchanged.
    pub(crate) fn like(other: &Self, text: &'t str, interner: &mut TextInterner<'t>) -> Self {
        let bytes = text.as_bytes();
        let guess = if other.ids.is_empty() { bytes.len() / LINE_BYTES } else { other.len() + other.len() / 8 } + 8;
        let mut lines = Self { text, ids: Vec::with_capacity(guess), ends: Vec::with_capacity(guess), has_crlf: false };
        let mut positions = UniquePositions::of(other, interner.len());
        let mut at = 0;
        let mut expected = 0;
        while at < bytes.len() {
            if let Some((id, end, crlf)) = same_line(other, expected, &bytes[at..]) {
                lines.ids.push(id);
                at += end;
                lines.ends.push(at);
                lines.has_crlf |= crlf;
                expected += 1;
                continue;
            }
            let end = memchr(b'\n', &bytes[at..]).map_or(bytes.len(), |length| at + length + 1);
            let content = content_length(&bytes[at..end]);
            lines.has_crlf |= end - at - content == 2;
            let id = interner.number(Cow::Borrowed(&bytes[at..at + content]));
            if let Some(line) = positions.line_after(id) {
                expected = line;
            }
            lines.ids.push(id);
            lines.ends.push(end);
            at = end;
        }
        lines
    }

    /// The number of lines.
    pub(crate) fn len(&self) -> usize {
        self.ids.len()
    }

    /// Return the byte offset at which a line begins; the length of the text for the line behind the last.
    pub(crate) fn start(&self, line: usize) -> usize {
        if line == 0 { 0 } else { self.ends[line - 1] }
    }

    /// Return lines `from..to` as they are in the text.
    pub(crate) fn slice(&self, from: usize, to: usize) -> &'t str {
        &self.text[self.start(from)..self.start(to)]
    }

    /// Return one line as it is in the text.
    pub(crate) fn line(&self, line: usize) -> &'t str {
        self.slice(line, line + 1)
    }

    /// Return true if a line has only white space.
    pub(crate) fn is_blank(&self, line: usize) -> bool {
        self.line(line).trim_ascii().is_empty()
    }

    /// Split a line into content and line ending: `\n`, `\r\n`, or nothing at the end of the text.
    pub(crate) fn parts(&self, line: usize) -> (&'t str, &'t str) {
        let whole = self.line(line);
        whole.split_at(content_length(whole.as_bytes()))
    }
}

/// The length in bytes of a line without its ending.
fn content_length(line: &[u8]) -> usize {
    let Some(content) = line.strip_suffix(b"\n") else { return line.len() };
    content.strip_suffix(b"\r").unwrap_or(content).len()
}

/// For each line id, the line behind its only occurrence in another text.
struct UniquePositions(Vec<u32>);

impl UniquePositions {
    const NONE: u32 = 0;
    const SEVERAL: u32 = u32::MAX;

    /// Find the ids that occur once in `other`.
    fn of(other: &Lines<'_>, kinds: usize) -> Self {
        let mut positions = vec![Self::NONE; if other.ids.is_empty() { 0 } else { kinds }];
        for (line_after, &id) in (1_u32..).zip(&other.ids) {
            let position = &mut positions[id as usize];
            *position = if *position == Self::NONE { line_after } else { Self::SEVERAL };
        }
        Self(positions)
    }

    /// Return the number of the line behind the only occurrence of an id, or None if there is none or more.
    fn line_after(&mut self, id: u32) -> Option<usize> {
        let position = *self.0.get(id as usize)?;
        (position != Self::NONE && position != Self::SEVERAL).then_some(position as usize)
    }
}

/// Compare the beginning of a text with the expected line of another text.
///
/// Return the line's id, its length with its ending, and whether that is CR LF; None if it differs.
#[inline]
fn same_line(other: &Lines<'_>, expected: usize, rest: &[u8]) -> Option<(u32, usize, bool)> {
    let end = *other.ends.get(expected)?;
    let line = &other.text.as_bytes()[other.start(expected)..end];
    if rest.starts_with(line) && line.last() == Some(&b'\n') {
        return Some((other.ids[expected], line.len(), line.ends_with(b"\r\n")));
    }
    // The same content with another ending. A line that ends with a lone CR is left to the general path.
    let content = &line[..content_length(line)];
    if content.last() == Some(&b'\r') || !rest.starts_with(content) {
        return None;
    }
    match &rest[content.len()..] {
        [] => Some((other.ids[expected], content.len(), false)),
        [b'\n', ..] => Some((other.ids[expected], content.len() + 1, false)),
        [b'\r', b'\n', ..] => Some((other.ids[expected], content.len() + 2, true)),
        _ => None,
    }
}
