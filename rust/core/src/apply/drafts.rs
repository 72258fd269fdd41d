//! What all changes do to a document, before it is known that they do nothing else.

use std::collections::HashMap;

use crate::apply::adding::insertions;
use crate::apply::document::{Document, Spot};
use crate::apply::draft::{Draft, removed, updated};
use crate::apply::{Change, Edit};
use crate::blocks::{self, Block, Kind};
use crate::error::{ChangeReason, Error};

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
    /// Whether these bytes are still a block of this kind. The first heading may become the title, the first summary
    /// line the summary, or stop being it; what is opaque may grow together.
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
