//! Laws of the block parser.

use reverie_core::Error;
use reverie_core::blocks::{Kind, Sections, parse};

/// What documents are made of, so that a few bytes make an awkward one.
const PIECES: [&str; 32] = [
    "- a",
    "* b",
    "+ c",
    "-",
    "  ",
    "    ",
    "\t",
    "\n",
    "\r\n",
    "\r",
    "\n\n",
    "# T",
    "## S",
    "### H #",
    "- Date: 1",
    "- Summary: x",
    "> Summary: s",
    "> q",
    "```",
    "~~~~",
    "---",
    "...",
    "<!--",
    "-->",
    "<div>",
    "| a |",
    "#tag",
    "é",
    "\u{feff}",
    "1. x",
    "text",
    " ",
];

/// A document made of pieces, one for each byte.
#[must_use]
pub fn document(data: &[u8]) -> String {
    data.iter().map(|byte| PIECES[usize::from(*byte) % PIECES.len()]).collect()
}

/// Spans join to the document byte for byte; what is not UTF-8 is refused where it stops to be.
pub fn spans_join(data: &[u8]) {
    for sections in [Sections::Always, Sections::Never, Sections::ByFields] {
        joins(data, sections);
        joins(document(data).as_bytes(), sections);
    }
}

fn joins(document: &[u8], sections: Sections) {
    let found = parse(document, sections);
    let refusal = std::str::from_utf8(document).err().map(|error| Error::NotUtf8 { offset: error.valid_up_to() });
    assert_eq!(found.as_ref().err(), refusal.as_ref());
    let Ok(blocks) = found else { return };
    let mut at = 0;
    for block in &blocks {
        assert_eq!(block.start, at);
        assert!(block.end > at);
        at = block.end;
    }
    assert_eq!(at, document.len());
}

/// A block cut out of its document is the same block; only the first heading and the first summary line have a name of
/// their own, front matter needs its place, and an item ends where nothing follows.
pub fn blocks_stand_alone(data: &[u8]) {
    let document = document(data);
    for block in parse(document.as_bytes(), Sections::ByFields).unwrap_or_default() {
        if !matches!(block.kind, Kind::Bullet | Kind::Section) {
            continue;
        }
        let alone = parse(&document.as_bytes()[block.start..block.end], Sections::ByFields).unwrap_or_default();
        assert_eq!(alone.len(), 1, "{document:?}");
        assert_eq!((alone[0].kind, &alone[0].text, &alone[0].tags), (block.kind, &block.text, &block.tags));
        assert_eq!(alone[0].fields, block.fields);
    }
}
