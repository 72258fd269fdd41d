//! What one change does to a document.

use crate::apply::document::{Document, Spot};
use crate::apply::render::{Side, before, behind, flowed, like, one_block, own_ending, tail};
use crate::blocks::{Block, Kind};
use crate::error::{ChangeReason, Error};

/// A block that a change makes, in bytes of the draft's new text.
pub(super) struct Made {
    pub(super) change: usize,
    pub(super) kind: Kind,
    pub(super) start: usize,
    pub(super) end: usize,
}

/// Bytes `start..end` of the document become `new`.
pub(super) struct Draft {
    /// Twice the index of the block before which something is inserted; one more for what is done to the block itself.
    pub(super) order: usize,
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) new: String,
    pub(super) made: Vec<Made>,
    /// The first change that this draft is about.
    pub(super) change: usize,
}

/// A block with its new text: its line endings, its mark and what stands behind its last line stay.
pub(super) fn updated(document: &Document<'_>, spot: Spot, text: &str, change: usize) -> Result<Draft, Error> {
    let old = document.slice(spot);
    let ending = own_ending(old).unwrap_or(document.ending);
    let mut new = flowed(text, ending);
    let mut made = Vec::new();
    if spot.first == spot.last {
        let kind = document.blocks[spot.first].kind;
        let block = one_block(&new, document.sections, change)?;
        if matches!(kind, Kind::Bullet | Kind::Section) && block.kind != kind {
            return Err(Error::change(ChangeReason::NotOneBlock, vec![change.to_string()]));
        }
        if kind == Kind::Bullet {
            new = like(&new, old, ending);
        }
        new.push_str(tail(old));
        made.push(Made { change, kind: block.kind, start: 0, end: new.len() });
    } else {
        new.push_str(tail(old));
    }
    let start = document.blocks[spot.first].start;
    Ok(Draft { order: 2 * spot.first + 1, start, end: start + old.len(), new, made, change })
}

/// A block that goes. Where it stood between two blocks that would run into one, an empty line stays.
pub(super) fn removed(document: &Document<'_>, spot: Spot, deleted: &[bool], change: usize) -> Draft {
    let block = |index: usize| (&document.blocks[index], document.slice(Spot { first: index, last: index }));
    let next = Some(spot.last + 1).filter(|next| deleted.get(*next) == Some(&false)).map(block);
    // Of a run of deleted blocks only the last one looks back.
    let previous = next.and_then(|_| (0..spot.first).rev().find(|index| !deleted[*index])).map(block);
    let runs_on = |(before_it, its_text): (&Block, &str), (next, text): (&Block, &str)| {
        let side = before(before_it, its_text);
        next.kind == Kind::Opaque && behind(next, text) != Side::Open && !matches!(side, Side::Open | Side::Heading)
    };
    let parted = matches!((previous, next), (Some(previous), Some(next)) if runs_on(previous, next));
    Draft {
        order: 2 * spot.first + 1,
        start: document.blocks[spot.first].start,
        end: document.blocks[spot.last].end,
        new: if parted { document.ending.to_owned() } else { String::new() },
        made: Vec::new(),
        change,
    }
}
