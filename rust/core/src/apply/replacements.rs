//! Changes as text replacements: each update, deletion and group of insertions, in the style of the document.

use std::collections::{BTreeMap, HashMap};

use crate::apply::document::{BlockRange, Document};
use crate::apply::formatting::{
    Boundary, end_boundary, first_ending, one_block, start_boundary, trailing_blank, with_line_endings, with_marker_of,
};
use crate::apply::{Change, Place};
use crate::blocks::{Block, Kind};
use crate::error::{ChangeReason, Error};

/// A block that a change creates, as bytes of the replacement's new text.
pub(super) struct NewBlock {
    pub(super) change: usize,
    pub(super) kind: Kind,
    pub(super) start: usize,
    pub(super) end: usize,
}

/// The replacement of bytes `start..end` of the document by `new`.
pub(super) struct Replacement {
    /// Sort key: 2 * index of the block for an insertion before it, plus 1 for a change of the block itself.
    pub(super) order: usize,
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) new: String,
    pub(super) new_blocks: Vec<NewBlock>,
    /// The index of the first change that this replacement comes from.
    pub(super) change: usize,
}

/// Replace the text of a block; its line endings, its list marker and the blank lines behind it stay.
pub(super) fn update(
    document: &Document<'_>,
    range: BlockRange,
    text: &str,
    change: usize,
) -> Result<Replacement, Error> {
    let old = document.slice(range);
    let ending = first_ending(old).unwrap_or(document.ending);
    let mut new = with_line_endings(text, ending);
    let mut new_blocks = Vec::new();
    if range.first == range.last {
        let kind = document.blocks[range.first].kind;
        let block = one_block(&new, document.sections, change)?;
        if matches!(kind, Kind::Bullet | Kind::Section) && block.kind != kind {
            return Err(Error::change(ChangeReason::NotOneBlock, vec![change.to_string()]));
        }
        if kind == Kind::Bullet {
            new = with_marker_of(&new, old, ending);
        }
        new.push_str(trailing_blank(old));
        new_blocks.push(NewBlock { change, kind: block.kind, start: 0, end: new.len() });
    } else {
        new.push_str(trailing_blank(old));
    }
    let start = document.blocks[range.first].start;
    Ok(Replacement { order: 2 * range.first + 1, start, end: start + old.len(), new, new_blocks, change })
}

/// Delete a block. Where it separated two paragraphs that would become one, a blank line stays.
pub(super) fn delete(document: &Document<'_>, range: BlockRange, deleted: &[bool], change: usize) -> Replacement {
    let block = |index: usize| (&document.blocks[index], document.slice(BlockRange { first: index, last: index }));
    let next = Some(range.last + 1).filter(|next| deleted.get(*next) == Some(&false)).map(block);
    // In a run of deleted blocks only the last one, whose next block stays, looks for the one before the run.
    let previous = next.and_then(|_| (0..range.first).rev().find(|index| !deleted[*index])).map(block);
    let would_merge = |(previous, previous_text): (&Block, &str), (next, text): (&Block, &str)| {
        let boundary = end_boundary(previous, previous_text);
        next.kind == Kind::Opaque
            && start_boundary(next, text) != Boundary::Open
            && !matches!(boundary, Boundary::Open | Boundary::Heading)
    };
    let keep_blank_line = matches!((previous, next), (Some(previous), Some(next)) if would_merge(previous, next));
    Replacement {
        order: 2 * range.first + 1,
        start: document.blocks[range.first].start,
        end: document.blocks[range.last].end,
        new: if keep_blank_line { document.ending.to_owned() } else { String::new() },
        new_blocks: Vec::new(),
        change,
    }
}

/// Return all added blocks, grouped into one insertion per position, in the order of the changes.
pub(super) fn insertions(
    document: &Document<'_>,
    ranges: &HashMap<&str, BlockRange>,
    changes: &[Change<'_>],
) -> Result<Vec<Replacement>, Error> {
    let mut insertion_points: BTreeMap<usize, Vec<(usize, &str)>> = BTreeMap::new();
    let mut headings: HashMap<&str, usize> = HashMap::new();
    for (index, change) in changes.iter().enumerate() {
        let Change::Add { place, text } = change else { continue };
        let at = match place {
            Place::After(id) => ranges.get(id).map(|range| range.last + 1),
            Place::Under(heading) => {
                let end = || document.heading(heading).map_or_else(|| document.end(), |at| document.end_under(at));
                Some(*headings.entry(heading).or_insert_with(end))
            }
            Place::End => None,
        };
        insertion_points.entry(at.unwrap_or_else(|| document.end())).or_default().push((index, text));
    }
    insertion_points.into_iter().map(|(at, texts)| insert(document, at, &texts)).collect()
}

/// Insert blocks before the block at index `at`, with blank lines around them as the document separates its blocks.
fn insert(document: &Document<'_>, at: usize, texts: &[(usize, &str)]) -> Result<Replacement, Error> {
    let block =
        |index: usize| Some((document.blocks.get(index)?, document.slice(BlockRange { first: index, last: index })));
    let previous = at.checked_sub(1).and_then(block);
    let next = block(at);
    let offset = document.offset(at);
    let lacks_final_newline =
        !matches!(document.text[..offset].trim_start_matches('\u{feff}').chars().next_back(), None | Some('\r' | '\n'));
    let ending = document.ending;
    let mut new = if lacks_final_newline { ending.to_owned() } else { String::new() };
    let mut boundary = previous.map_or(Boundary::Open, |(block, text)| end_boundary(block, text));
    let mut new_blocks = Vec::new();
    for (change, text) in texts {
        let mut text = with_line_endings(text, ending);
        if let Some((_, model)) = previous.filter(|(block, _)| block.kind == Kind::Bullet) {
            text = with_marker_of(&text, model, ending);
        }
        text.push_str(ending);
        let kind = one_block(&text, document.sections, *change)?.kind;
        if boundary.needs_blank_line_before(Boundary::of(kind)) {
            new.push_str(ending);
        }
        new_blocks.push(NewBlock { change: *change, kind, start: new.len(), end: new.len() + text.len() });
        new.push_str(&text);
        boundary = Boundary::of(kind);
    }
    if next.is_some_and(|(block, text)| boundary.needs_blank_line_before(start_boundary(block, text))) {
        new.push_str(ending);
    }
    if lacks_final_newline {
        // A document without a newline at its end stays so.
        new.truncate(new.len() - ending.len());
        if let Some(last) = new_blocks.last_mut() {
            last.end = new.len();
        }
    }
    Ok(Replacement {
        order: 2 * at,
        start: offset,
        end: offset,
        new,
        new_blocks,
        change: texts.first().map_or(0, |(change, _)| *change),
    })
}
