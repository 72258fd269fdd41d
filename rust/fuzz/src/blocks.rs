//! Properties of the block parser.

use reverie_core::Error;
use reverie_core::blocks::{Kind, Sections, parse};

/// Pieces of markdown documents, so that a few input bytes make a difficult one.
pub const PIECES: [&str; 32] = [
    "- a", "* b", "+ c", "-", "  ", "    ", "\t", "\n", "\r\n", "\r", "\n\n", "# T", "## S", "### H #", "- Date: 1",
    "- Summary: x", "> Summary: s", "> q", "```", "~~~~", "---", "...", "<!--", "-->", "<div>", "| a |", "#tag", "é",
    "\u{feff}", "1. x", "text", " ",
];

/// Build a document of one piece per byte.
#[must_use]
pub fn document(data: &[u8]) -> String {
    data.iter().map(|byte| PIECES[usize::from(*byte) % PIECES.len()]).collect()
}

/// The spans of the blocks join to the document byte for byte.
///
/// A document that is not UTF-8 is rejected at its first invalid byte.
pub fn spans_join_to_the_document(data: &[u8]) {
    for sections in [Sections::Always, Sections::Never, Sections::ByFields] {
        check_spans(data, sections);
        check_spans(document(data).as_bytes(), sections);
    }
}

/// Check one document.
fn check_spans(document: &[u8], sections: Sections) {
    let result = parse(document, sections);
    let expected_error =
        std::str::from_utf8(document).err().map(|error| Error::NotUtf8 { offset: error.valid_up_to() });
    assert_eq!(result.as_ref().err(), expected_error.as_ref());
    let Ok(blocks) = result else { return };
    let mut at = 0;
    for block in &blocks {
        assert_eq!(block.start, at);
        assert!(block.end > at);
        at = block.end;
    }
    assert_eq!(at, document.len());
}

/// A block parsed on its own is the same block.
///
/// Only items and sections: the first heading and the first summary line have a kind of their own, and front matter
/// depends on its position.
pub fn blocks_parse_alike_alone(data: &[u8]) {
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
