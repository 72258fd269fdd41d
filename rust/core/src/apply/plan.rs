//! The plan of all changes: replacements in order, resulting edits and text, and verification of all other blocks.

use std::collections::HashMap;

use crate::apply::document::{BlockRange, Document};
use crate::apply::replacements::{Replacement, delete, insertions, update};
use crate::apply::{Change, Edit};
use crate::blocks::{self, Block, Kind};
use crate::error::{ChangeReason, Error};

/// The replacements of all changes, in the order of the document.
pub(super) struct Plan {
    replacements: Vec<Replacement>,
    /// For each block of the document, whether it is updated or deleted.
    is_changed: Vec<bool>,
}

impl Plan {
    /// Turn changes into replacements.
    pub(super) fn of(
        document: &Document<'_>,
        ranges: &HashMap<&str, BlockRange>,
        changes: &[Change<'_>],
    ) -> Result<Self, Error> {
        let mut replacements = insertions(document, ranges, changes)?;
        let mut is_changed = vec![false; document.blocks.len()];
        let mut deleted = vec![false; document.blocks.len()];
        for change in changes {
            if let Change::Update { id, .. } | Change::Delete { id } = change
                && let Some(range) = ranges.get(id)
            {
                is_changed[range.first..=range.last].fill(true);
                deleted[range.first..=range.last].fill(matches!(change, Change::Delete { .. }));
            }
        }
        for (index, change) in changes.iter().enumerate() {
            match change {
                Change::Update { id, text } => {
                    if let Some(range) = ranges.get(id) {
                        replacements.push(update(document, *range, text, index)?);
                    }
                }
                Change::Delete { id } => {
                    replacements.extend(ranges.get(id).map(|range| delete(document, *range, &deleted, index)));
                }
                Change::Add { .. } => {}
            }
        }
        replacements.sort_by_key(|replacement| replacement.order);
        Ok(Self { replacements, is_changed })
    }

    /// Return the minimal edits of the replacements.
    pub(super) fn edits(&self, document: &Document<'_>) -> Vec<Edit> {
        let edit = |replacement: &Replacement| {
            Edit::minimal(document.text, replacement.start, replacement.end, &replacement.new)
        };
        self.replacements.iter().filter_map(edit).collect()
    }

    /// Return the document after the replacements.
    pub(super) fn compose(&self, document: &Document<'_>) -> String {
        let mut text = String::with_capacity(document.text.len());
        let mut at = 0;
        for replacement in &self.replacements {
            text.push_str(&document.text[at..replacement.start]);
            text.push_str(&replacement.new);
            at = replacement.end;
        }
        text.push_str(&document.text[at..]);
        text
    }

    /// Verify that unchanged blocks are what they were, and that changed ones are parsed as intended.
    ///
    /// Markdown is not local: an added code fence would swallow everything below it. The new document is therefore
    /// parsed again and each block is looked for at its shifted position.
    pub(super) fn verify(&self, document: &Document<'_>, text_after: &str) -> Result<(), Error> {
        let changed =
            ChangedDocument { blocks: blocks::parse(text_after.as_bytes(), document.sections)?, text: text_after };
        let mut replacements = self.replacements.iter().peekable();
        let (mut added, mut removed, mut last) = (0, 0, None);
        for (index, block) in document.blocks.iter().enumerate() {
            while let Some(replacement) = replacements.next_if(|replacement| replacement.order <= 2 * index + 1) {
                changed.verify_new_blocks(replacement, replacement.start + added - removed)?;
                added += replacement.new.len();
                removed += replacement.end - replacement.start;
                last = Some(replacement.change);
            }
            let intact = self.is_changed[index]
                || changed.has_block(block.kind, block.start + added - removed, block.end + added - removed);
            if !intact {
                let change =
                    last.or_else(|| replacements.peek().map(|replacement| replacement.change)).unwrap_or_default();
                return Err(Error::change(ChangeReason::BreaksOut, vec![change.to_string()]));
            }
        }
        replacements.try_for_each(|replacement| {
            let start = replacement.start + added - removed;
            added += replacement.new.len();
            removed += replacement.end - replacement.start;
            changed.verify_new_blocks(replacement, start)
        })
    }
}

/// The parsed document after the changes.
struct ChangedDocument<'t> {
    blocks: Vec<Block>,
    text: &'t str,
}

impl ChangedDocument<'_> {
    /// Return true if these bytes are still a block of this kind.
    ///
    /// The first heading may become the title or stop being it, the first summary line likewise; opaque blocks may
    /// merge.
    fn has_block(&self, kind: Kind, start: usize, end: usize) -> bool {
        let first = self.blocks.partition_point(|block| block.end <= start);
        let mut blocks = self.blocks[first..].iter().take_while(|block| block.start < end);
        match kind {
            Kind::Opaque | Kind::Summary => blocks.all(|block| matches!(block.kind, Kind::Opaque | Kind::Summary)),
            _ => blocks.next().is_some_and(|block| {
                let is_heading = |kind| matches!(kind, Kind::Title | Kind::Heading);
                block.start == start
                    && self.ends_at(block, end)
                    && (block.kind == kind || is_heading(block.kind) && is_heading(kind))
            }),
        }
    }

    /// Return true if the block ends at `end`. A last line without an ending has got one if text was added behind it.
    fn ends_at(&self, block: &Block, end: usize) -> bool {
        let lacks_ending = !self.text[..end].ends_with(['\r', '\n']);
        block.end == end
            || lacks_ending
                && block.end > end
                && self.text[end..block.end].bytes().all(|byte| matches!(byte, b'\r' | b'\n'))
    }

    /// Verify that the blocks of a replacement that begins at `start` are there.
    fn verify_new_blocks(&self, replacement: &Replacement, start: usize) -> Result<(), Error> {
        match replacement.new_blocks.iter().find(|new| !self.has_block(new.kind, start + new.start, start + new.end)) {
            Some(new) => Err(Error::change(ChangeReason::BreaksOut, vec![new.change.to_string()])),
            None => Ok(()),
        }
    }
}
