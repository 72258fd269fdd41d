//! What a block says: its text without marks, its tags, its fields.

use std::borrow::Cow;

use crate::blocks::lines::Line;

/// Longest tag in bytes; a longer word after `#` is text.
const TAG_MAX: usize = 64;

/// Lines joined by `\n`.
pub(crate) fn joined<'t>(lines: impl Iterator<Item = &'t str>) -> String {
    lines.collect::<Vec<_>>().join("\n")
}

/// Text and tags of a list item.
pub(crate) fn item(lines: &[Line<'_>]) -> (String, Vec<String>) {
    let text = item_text(lines);
    let (body, tags) = split_tags(&text);
    (body.to_owned(), tags)
}

/// Key and value of a `- Key: value` item.
pub(crate) fn field(lines: &[Line<'_>]) -> Option<(String, String)> {
    let text = item_text(lines);
    let (key, value) = text.split_once(':')?;
    let is_key = !key.is_empty() && !key.contains(['\n', '`', '/']) && key.len() <= TAG_MAX;
    let apart = value.is_empty() || value.starts_with([' ', '\t', '\n']);
    (is_key && apart).then(|| (key.trim().to_owned(), value.trim().to_owned()))
}

/// The text before the trailing `#tags`, and the tags in lower case. `#123` is a number, not a tag.
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

/// The last word and what stands before it; none for a single word, which is the text itself.
fn last_word(text: &str) -> Option<(&str, &str)> {
    let at = text.rfind([' ', '\t', '\n'])?;
    Some((&text[..at], &text[at + 1..]))
}

fn is_tag(tag: &str) -> bool {
    tag.len() <= TAG_MAX
        && tag.chars().any(char::is_alphabetic)
        && tag.chars().all(|character| character.is_alphanumeric() || "_-/.".contains(character))
}

/// The item's text: without its mark, and without the indentation that its mark asks of the other lines.
fn item_text<'t>(lines: &[Line<'t>]) -> Cow<'t, str> {
    let Some((column, first)) = lines.first().and_then(Line::bullet) else { return Cow::Borrowed("") };
    if lines.len() == 1 {
        return Cow::Borrowed(first.trim_end());
    }
    let rest = lines.iter().skip(1).map(|line| dedent(line.text, column));
    let mut text = joined(std::iter::once(first).chain(rest));
    text.truncate(text.trim_end().len());
    Cow::Owned(text)
}

/// A line without up to `columns` columns of its indentation.
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
