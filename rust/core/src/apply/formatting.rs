//! Formatting of new blocks in the style of the document: line endings, list markers, indentation, blank lines.

use crate::blocks::{self, Block, Kind, Sections};
use crate::error::{ChangeReason, Error};

/// Parse the text of a change, which must be exactly one block.
///
/// # Errors
/// It is blank or several blocks: the change is named by its index.
pub(super) fn one_block(text: &str, sections: Sections, change: usize) -> Result<Block, Error> {
    let refused = || Error::change(ChangeReason::NotOneBlock, vec![change.to_string()]);
    let mut blocks = blocks::parse(text.as_bytes(), sections)?;
    let block = blocks.pop().ok_or_else(refused)?;
    if blocks.is_empty() && !text.trim().is_empty() { Ok(block) } else { Err(refused()) }
}

/// Return the text with `ending` as its line ending, without blank lines around it and without a final line ending.
pub(super) fn with_line_endings(text: &str, ending: &str) -> String {
    let lines = blocks::line_texts(text);
    let is_blank = |line: &&str| line.bytes().all(|byte| byte == b' ' || byte == b'\t');
    let first = lines.iter().position(|line| !is_blank(line)).unwrap_or(lines.len());
    let last = lines.iter().rposition(|line| !is_blank(line)).map_or(first, |last| last + 1);
    lines[first..last].join(ending).trim_end_matches([' ', '\t']).to_owned()
}

/// Return the last line ending of a block and the blank lines behind it.
pub(super) fn trailing_blank(text: &str) -> &str {
    let blank = |character: char| matches!(character, ' ' | '\t' | '\r' | '\n');
    let length = text.trim_end_matches(blank).len();
    let rest = &text[length..];
    &rest[rest.find(['\r', '\n']).unwrap_or(rest.len())..]
}

/// Return the line ending of the first line, or None if the text has a single unended line.
pub(super) fn first_ending(text: &str) -> Option<&'static str> {
    let at = text.find(['\r', '\n'])?;
    let rest = &text[at..];
    Some(if rest.starts_with("\r\n") {
        "\r\n"
    } else if rest.starts_with('\r') {
        "\r"
    } else {
        "\n"
    })
}

/// Return a list item with the marker and indentation of `model`; any other text unchanged.
///
/// `* Tabs` after the item `  - Spaces` becomes `  - Tabs`.
pub(super) fn with_marker_of(text: &str, model: &str, ending: &str) -> String {
    let (Some((indent, bullet)), Some((own_indent, own_bullet))) = (marker(model), marker(text)) else {
        return text.to_owned();
    };
    let body = text[own_indent.len()..].strip_prefix(own_bullet).unwrap_or_default();
    let mut lines = body.split(ending);
    let mut result = [indent, bullet, lines.next().unwrap_or_default()].concat();
    for line in lines {
        result.push_str(ending);
        // An empty line needs no indentation; other lines keep what they had beyond the indentation of their item.
        if !line.is_empty() {
            result.push_str(indent);
            result.push_str(line.strip_prefix(own_indent).unwrap_or(line));
        }
    }
    result
}

/// The indentation and the marker of a list item, or None for any other text.
fn marker(text: &str) -> Option<(&str, &str)> {
    let indent = text.len() - text.trim_start_matches(' ').len();
    let bullet = text.get(indent..=indent).filter(|bullet| "-*+".contains(bullet))?;
    Some((&text[..indent], bullet))
}

/// One side of a gap between blocks, as far as it decides whether a blank line is needed there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Boundary {
    /// A blank line, or an end of the document.
    Open,
    Item,
    Heading,
    Other,
}

impl Boundary {
    /// The boundary of a block of this kind.
    pub(super) fn of(kind: Kind) -> Self {
        match kind {
            Kind::Bullet => Self::Item,
            Kind::Heading => Self::Heading,
            _ => Self::Other,
        }
    }

    /// Return true if a blank line is needed before the next block: not between list items, nor from heading to item.
    pub(super) fn needs_blank_line_before(self, next: Self) -> bool {
        !matches!((self, next), (Self::Open, _) | (_, Self::Open) | (Self::Item | Self::Heading, Self::Item))
    }
}

/// Return the boundary that a block has with what follows it.
pub(super) fn end_boundary(block: &Block, text: &str) -> Boundary {
    let trailing_blank = trailing_blank(text);
    let ending = first_ending(trailing_blank).unwrap_or_default();
    let is_byte_order_mark = block.start == 0 && text == "\u{feff}";
    if is_byte_order_mark || trailing_blank.len() > ending.len() || text.trim().is_empty() {
        Boundary::Open
    } else {
        Boundary::of(block.kind)
    }
}

/// Return the boundary that a block has with what precedes it.
pub(super) fn start_boundary(block: &Block, text: &str) -> Boundary {
    let first = text.split(['\r', '\n']).next().unwrap_or_default();
    if first.trim().is_empty() { Boundary::Open } else { Boundary::of(block.kind) }
}
