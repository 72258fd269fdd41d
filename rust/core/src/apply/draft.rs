//! What changes do to a document, before it is known that they do nothing else.

use std::collections::HashMap;

use crate::apply::adding::insertions;
use crate::apply::document::{Document, Spot};
use crate::apply::render::{Side, before, behind, flowed, like, one_block, own_ending, tail};
use crate::apply::{Change, Edit};
use crate::blocks::{self, Block, Kind};
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

/// All drafts, in the order of the document.
pub(super) struct Drafts {
    drafts: Vec<Draft>,
    /// For each block whether it is replaced or deleted.
    touched: Vec<bool>,
}

impl Drafts {
    pub(super) fn of(
        document: &Document<'_>,
        spots: &HashMap<&str, Spot>,
        changes: &[Change<'_>],
    ) -> Result<Self, Error> {
        let mut drafts = insertions(document, spots, changes)?;
        let mut touched = vec![false; document.blocks.len()];
        let mut deleted = vec![false; document.blocks.len()];
        for change in changes {
            if let Change::Update { id, .. } | Change::Delete { id } = change
                && let Some(spot) = spots.get(id)
            {
                touched[spot.first..=spot.last].fill(true);
                deleted[spot.first..=spot.last].fill(matches!(change, Change::Delete { .. }));
            }
        }
        for (index, change) in changes.iter().enumerate() {
            match change {
                Change::Update { id, text } => {
                    if let Some(spot) = spots.get(id) {
                        drafts.push(updated(document, *spot, text, index)?);
                    }
                }
                Change::Delete { id } => {
                    drafts.extend(spots.get(id).map(|spot| removed(document, *spot, &deleted, index)));
                }
                Change::Add { .. } => {}
            }
        }
        drafts.sort_by_key(|draft| draft.order);
        Ok(Self { drafts, touched })
    }

    pub(super) fn edits(&self, document: &Document<'_>) -> Vec<Edit> {
        let edit = |draft: &Draft| Edit::minimal(document.text, draft.start, draft.end, &draft.new);
        self.drafts.iter().filter_map(edit).collect()
    }

    pub(super) fn composed(&self, document: &Document<'_>) -> String {
        let mut text = String::with_capacity(document.text.len());
        let mut at = 0;
        for draft in &self.drafts {
            text.push_str(&document.text[at..draft.start]);
            text.push_str(&draft.new);
            at = draft.end;
        }
        text.push_str(&document.text[at..]);
        text
    }

    /// Whether the blocks that no change names are what they were, and those that changes make are what they say.
    pub(super) fn check(&self, document: &Document<'_>, after: &str) -> Result<(), Error> {
        let found = Found { blocks: blocks::parse(after.as_bytes(), document.sections)?, text: after };
        let mut drafts = self.drafts.iter().peekable();
        let (mut added, mut removed, mut last) = (0, 0, None);
        for (index, block) in document.blocks.iter().enumerate() {
            while let Some(draft) = drafts.next_if(|draft| draft.order <= 2 * index + 1) {
                found.has_made(draft, draft.start + added - removed)?;
                added += draft.new.len();
                removed += draft.end - draft.start;
                last = Some(draft.change);
            }
            let kept = self.touched[index]
                || found.has(block.kind, block.start + added - removed, block.end + added - removed);
            if !kept {
                let culprit = last.or_else(|| drafts.peek().map(|draft| draft.change)).unwrap_or_default();
                return Err(Error::change(ChangeReason::BreaksOut, vec![culprit.to_string()]));
            }
        }
        drafts.try_for_each(|draft| {
            let start = draft.start + added - removed;
            added += draft.new.len();
            removed += draft.end - draft.start;
            found.has_made(draft, start)
        })
    }
}

/// The document after the changes.
struct Found<'t> {
    blocks: Vec<Block>,
    text: &'t str,
}

impl Found<'_> {
    /// Whether these bytes are still a block of this kind. The first heading may become the title, the first summary line
    /// the summary, or stop being it; what is opaque may grow together.
    fn has(&self, kind: Kind, start: usize, end: usize) -> bool {
        let first = self.blocks.partition_point(|block| block.end <= start);
        let mut here = self.blocks[first..].iter().take_while(|block| block.start < end);
        match kind {
            Kind::Opaque | Kind::Summary => here.all(|block| matches!(block.kind, Kind::Opaque | Kind::Summary)),
            _ => here.next().is_some_and(|block| {
                let heads = |kind| matches!(kind, Kind::Title | Kind::Heading);
                block.start == start
                    && self.ends(block, end)
                    && (block.kind == kind || heads(block.kind) && heads(kind))
            }),
        }
    }

    /// Whether the block ends here. A last line that had no ending has got one if something stands behind it now.
    fn ends(&self, block: &Block, end: usize) -> bool {
        let unended = !self.text[..end].ends_with(['\r', '\n']);
        block.end == end
            || unended && block.end > end && self.text[end..block.end].bytes().all(|byte| matches!(byte, b'\r' | b'\n'))
    }

    fn has_made(&self, draft: &Draft, start: usize) -> Result<(), Error> {
        match draft.made.iter().find(|made| !self.has(made.kind, start + made.start, start + made.end)) {
            Some(made) => Err(Error::change(ChangeReason::BreaksOut, vec![made.change.to_string()])),
            None => Ok(()),
        }
    }
}

/// A block with its new text: its line endings, its mark and what stands behind its last line stay.
fn updated(document: &Document<'_>, spot: Spot, text: &str, change: usize) -> Result<Draft, Error> {
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
fn removed(document: &Document<'_>, spot: Spot, deleted: &[bool], change: usize) -> Draft {
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
