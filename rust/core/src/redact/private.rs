//! Parts that a person has marked as private: `<private>…</private>`, with the text between.

use memchr::memchr_iter;

use crate::redact::Span;
use crate::redact::findings::{Findings, Rule};

/// The word in a mark, in letters of any case.
const WORD: &[u8] = b"private";

/// Bytes of the attributes of a mark; more are none.
const ATTRIBUTES_MAX: usize = 256;

/// The kind of private text.
pub const PRIVATE: &str = "private";

impl Findings<'_> {
    /// Add every pair of marks with what is between, and what follows a mark without its end.
    pub(crate) fn add_private(&mut self) {
        for (start, end) in private_parts(self.text).0 {
            // It names what it covers, whatever else is found inside.
            self.add(Some(Span { start, end, kind: PRIVATE }), Rule::Format(usize::MAX));
        }
    }
}

/// Return how many bytes at the beginning of a text are private, and whether what follows the text is.
///
/// `is_open` is the second one of the text before it in the same message.
#[must_use]
pub fn continue_private(text: &str, is_open: bool) -> (usize, bool) {
    let (_, first_end, open) = private_parts(text);
    match first_end {
        _ if !is_open => (0, open.is_some()),
        // The first end without a mark of its own belongs to the mark that is open.
        Some(end) => (end, open.is_some()),
        None => (text.len(), true),
    }
}

/// The private parts of a text, the byte after the first end without a beginning, and where a part begins that has none.
type Parts = (Vec<(usize, usize)>, Option<usize>, Option<usize>);

/// Return the private parts of a text, ordered by their beginnings.
///
/// An end belongs to the last mark before it. Everything behind a mark without its end is private, since it may have
/// been forgotten. Some such marks are mentions: one in backticks, the parameter of a type (`vector<private>`), and one
/// with a blank or an attribute (`<private reason="health">`), which may be markup of something else.
fn private_parts(text: &str) -> Parts {
    let bytes = text.as_bytes();
    let (mut parts, mut first_end) = (Vec::new(), None);
    let (mut open, mut mentions) = (Vec::new(), Vec::new());
    for begin in memchr_iter(b'<', bytes) {
        match mark_at(bytes, begin) {
            Some(Mark { opens: true, loose, .. }) if loose || is_mention(bytes, begin) => mentions.push(begin),
            Some(Mark { opens: true, .. }) => open.push(begin),
            Some(Mark { after, .. }) => match open.pop().or_else(|| mentions.pop()) {
                Some(start) => parts.push((start, after)),
                None => first_end = first_end.or(Some(after)),
            },
            None => (),
        }
    }
    if let Some(&begin) = open.first() {
        parts.push((begin, bytes.len()));
    }
    parts.sort_unstable();
    (parts, first_end, open.first().copied())
}

/// A mark: the byte after it, whether it is an opening one, and if so whether it has a blank or an attribute.
struct Mark {
    after: usize,
    opens: bool,
    loose: bool,
}

/// Return the mark that begins here; None for other text.
fn mark_at(bytes: &[u8], begin: usize) -> Option<Mark> {
    let first = skip_spaces(bytes, begin + 1);
    let opens = bytes.get(first) != Some(&b'/');
    let at = if opens { first } else { skip_spaces(bytes, first + 1) };
    if !bytes.get(at..at + WORD.len())?.eq_ignore_ascii_case(WORD) {
        return None;
    }
    let close = skip_spaces(bytes, at + WORD.len());
    if bytes.get(close) == Some(&b'>') {
        return Some(Mark { after: close + 1, opens, loose: first > begin + 1 });
    }
    let after = attributes_end(bytes, close).filter(|_| opens && close > at + WORD.len())?;
    Some(Mark { after, opens, loose: true })
}

/// Return the byte after the `>` of a mark whose attributes (`reason="health"`) begin here; None for anything else.
fn attributes_end(bytes: &[u8], begin: usize) -> Option<usize> {
    let text = bytes.get(begin..bytes.len().min(begin + ATTRIBUTES_MAX))?;
    let name =
        text.iter().take_while(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b':')).count();
    let end = text.iter().position(|byte| matches!(byte, b'<' | b'>')).filter(|&end| text[end] == b'>')?;
    let is_attribute = name > 0 && text.get(skip_spaces(text, name)) == Some(&b'=');
    (is_attribute && text[end - 1] != b'/').then_some(begin + end + 1)
}

/// Return the first byte from here on that is not white space.
fn skip_spaces(bytes: &[u8], from: usize) -> usize {
    from + bytes.get(from..).unwrap_or_default().iter().take_while(|byte| byte.is_ascii_whitespace()).count()
}

/// Return true if a mark without its end is a mention of it.
fn is_mention(bytes: &[u8], begin: usize) -> bool {
    let Some(before) = begin.checked_sub(1).map(|at| bytes[at]) else { return false };
    let quoted = || mark_at(bytes, begin).is_some_and(|mark| bytes.get(mark.after) == Some(&b'`'));
    before.is_ascii_alphanumeric() || before == b'_' || (before == b'`' && quoted())
}
