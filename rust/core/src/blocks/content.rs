//! The content of blocks: text without markers, tags, `Key: value` fields.

use std::borrow::Cow;

use crate::blocks::lines::Line;

/// Longest tag and field key in bytes; a longer word after `#` is plain text.
const TAG_MAX: usize = 64;

/// Join lines with `\n`.
pub(crate) fn join_lines<'t>(lines: impl Iterator<Item = &'t str>) -> String {
    lines.collect::<Vec<_>>().join("\n")
}

/// Return the text and the trailing tags of a list item.
pub(crate) fn item(lines: &[Line<'_>]) -> (String, Vec<String>) {
    let text = item_text(lines);
    let (body, tags) = split_tags(&text);
    (body.to_owned(), tags)
}

/// Return key and value of a `- Key: value` item, or None for any other item (`- https://host`, `- a/b: c`).
pub(crate) fn field(lines: &[Line<'_>]) -> Option<(String, String)> {
    let text = item_text(lines);
    let (key, value) = text.split_once(':')?;
    let is_key = !key.is_empty() && !key.contains(['\n', '`', '/']) && key.len() <= TAG_MAX;
    let apart = value.is_empty() || value.starts_with([' ', '\t', '\n']);
    (is_key && apart).then(|| (key.trim().to_owned(), value.trim().to_owned()))
}

/// Split off the trailing `#tags`, in lower case: `Use uv. #python #Tools` -> (`Use uv.`, [`python`, `tools`]).
///
/// `#123` is an issue number, not a tag: a tag has at least one letter.
pub(crate) fn split_tags(text: &str) -> (&str, Vec<String>) {
    let mut body = text.trim_end();
    let mut tags = Vec::new();
    while let Some((before, word)) = last_word(body) {
        let Some(tag) = word.strip_prefix('#').filter(|tag| is_tag(tag)) else { break };
        tags.push(tag.to_lowercase());
        body = before.trim_end();
    }
    tags.reverse();
    (body, tags)
}

/// The text before the last word, and that word; None for a single word, which is the text itself.
fn last_word(text: &str) -> Option<(&str, &str)> {
    let at = text.rfind([' ', '\t', '\n'])?;
    Some((&text[..at], &text[at + 1..]))
}

/// Return true if a word after `#` is a tag.
fn is_tag(tag: &str) -> bool {
    tag.len() <= TAG_MAX
        && tag.chars().any(char::is_alphabetic)
        && tag.chars().all(|character| character.is_alphanumeric() || "_-/.".contains(character))
}

/// The text of an item, without its marker and without the indentation that the marker requires of the other lines.
fn item_text<'t>(lines: &[Line<'t>]) -> Cow<'t, str> {
    let Some((column, first)) = lines.first().and_then(Line::bullet) else { return Cow::Borrowed("") };
    if lines.len() == 1 {
        return Cow::Borrowed(first.trim_end());
    }
    let rest = lines.iter().skip(1).map(|line| dedent(line.text, column));
    let mut text = join_lines(std::iter::once(first).chain(rest));
    text.truncate(text.trim_end().len());
    Cow::Owned(text)
}

/// The line without up to `columns` columns of its indentation.
fn dedent(text: &str, columns: usize) -> &str {
    let mut column = 0;
    let mut bytes = 0;
    for byte in text.bytes() {
        column += match byte {
            b' ' => 1,
            b'\t' => 4 - column % 4,
            _ => break,
        };
        if column > columns {
            break;
        }
        bytes += 1;
    }
    &text[bytes..]
}
