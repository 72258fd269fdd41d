//! The text of a change in the style of its document: line endings, marks, indentation, final newline.

use crate::blocks::{self, Block, Kind, Sections};
use crate::error::{ChangeReason, Error};

/// The one block that the text of a change is.
///
/// # Errors
/// It is none, blank or several: the change is named by its index.
pub(super) fn one_block(text: &str, sections: Sections, change: usize) -> Result<Block, Error> {
    let refused = || Error::change(ChangeReason::NotOneBlock, vec![change.to_string()]);
    let mut blocks = blocks::parse(text.as_bytes(), sections)?;
    let block = blocks.pop().ok_or_else(refused)?;
    if blocks.is_empty() && !text.trim().is_empty() { Ok(block) } else { Err(refused()) }
}

/// The text without empty lines around it, its lines ended by `ending`, without one at the end.
pub(super) fn flowed(text: &str, ending: &str) -> String {
    let lines = blocks::texts_of_lines(text);
    let is_blank = |line: &&str| line.bytes().all(|byte| byte == b' ' || byte == b'\t');
    let first = lines.iter().position(|line| !is_blank(line)).unwrap_or(lines.len());
    let last = lines.iter().rposition(|line| !is_blank(line)).map_or(first, |last| last + 1);
    lines[first..last].join(ending).trim_end_matches([' ', '\t']).to_owned()
}

/// The end of a block that its text does not say: its last line ending, and empty lines behind it.
pub(super) fn tail(text: &str) -> &str {
    let blank = |character: char| matches!(character, ' ' | '\t' | '\r' | '\n');
    let kept = text.trim_end_matches(blank).len();
    let rest = &text[kept..];
    &rest[rest.find(['\r', '\n']).unwrap_or(rest.len())..]
}

/// The line ending of the first line of a text.
pub(super) fn own_ending(text: &str) -> Option<&'static str> {
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

/// An item with the mark and the indentation of another one; what is no item stays as it is.
pub(super) fn like(text: &str, model: &str, ending: &str) -> String {
    let (Some((indent, mark)), Some((own_indent, own_mark))) = (head(model), head(text)) else {
        return text.to_owned();
    };
    let body = text[own_indent.len()..].strip_prefix(own_mark).unwrap_or_default();
    let mut lines = body.split(ending);
    let mut result = [indent, mark, lines.next().unwrap_or_default()].concat();
    for line in lines {
        result.push_str(ending);
        // An empty line needs no indentation; another one keeps what it had beyond that of its own item.
        if !line.is_empty() {
            result.push_str(indent);
            result.push_str(line.strip_prefix(own_indent).unwrap_or(line));
        }
    }
    result
}

/// The indentation and the mark of an item.
fn head(text: &str) -> Option<(&str, &str)> {
    let indent = text.len() - text.trim_start_matches(' ').len();
    let mark = text.get(indent..=indent).filter(|mark| "-*+".contains(mark))?;
    Some((&text[..indent], mark))
}

/// What stands beside a place, as far as it decides about an empty line between.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    /// An empty line, or an end of the document.
    Open,
    Item,
    Heading,
    Other,
}

impl Side {
    pub(super) fn of(kind: Kind) -> Self {
        match kind {
            Kind::Bullet => Self::Item,
            Kind::Heading => Self::Heading,
            _ => Self::Other,
        }
    }

    /// Whether an empty line parts these two.
    pub(super) fn parted_from(self, next: Self) -> bool {
        !matches!((self, next), (Self::Open, _) | (_, Self::Open) | (Self::Item | Self::Heading, Self::Item))
    }
}

/// What the end of a block is to what comes behind it.
pub(super) fn before(block: &Block, text: &str) -> Side {
    let tail = tail(text);
    let ending = own_ending(tail).unwrap_or_default();
    let is_mark = block.start == 0 && text == "\u{feff}";
    if is_mark || tail.len() > ending.len() || text.trim().is_empty() { Side::Open } else { Side::of(block.kind) }
}

/// What the beginning of a block is to what stands before it.
pub(super) fn behind(block: &Block, text: &str) -> Side {
    let first = text.split(['\r', '\n']).next().unwrap_or_default();
    if first.trim().is_empty() { Side::Open } else { Side::of(block.kind) }
}
