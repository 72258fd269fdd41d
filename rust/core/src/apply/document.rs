//! The parsed document that changes apply to: blocks, headings, insertion positions.

use std::collections::HashMap;

use crate::apply::{BlockId, reject_if_any};
use crate::blocks::{self, Block, Kind, Sections};
use crate::error::{ChangeReason, Error};
use crate::lines::dominant_ending;

/// The range of blocks that one id covers: `first..=last`, as indices.
#[derive(Clone, Copy, Debug)]
pub(super) struct BlockRange {
    pub(super) first: usize,
    pub(super) last: usize,
}

/// Return true if a block is a heading or the title.
fn is_heading(block: &Block) -> bool {
    matches!(block.kind, Kind::Title | Kind::Heading)
}

/// A parsed document with what changes need to know of it.
pub(super) struct Document<'t> {
    pub(super) text: &'t str,
    pub(super) blocks: Vec<Block>,
    pub(super) sections: Sections,
    /// The most frequent line ending.
    pub(super) ending: &'static str,
    headings: HashMap<String, usize>,
}

impl<'t> Document<'t> {
    /// Parse a document.
    pub(super) fn read(document: &'t [u8], sections: Sections) -> Result<Self, Error> {
        let text = std::str::from_utf8(document).map_err(|error| Error::NotUtf8 { offset: error.valid_up_to() })?;
        let blocks = blocks::parse(document, sections)?;
        let mut headings = HashMap::new();
        for (index, block) in blocks.iter().enumerate().filter(|(_, block)| is_heading(block)) {
            headings.entry(block.text.clone()).or_insert(index);
        }
        Ok(Self { text, blocks, sections, ending: dominant_ending(text), headings })
    }

    /// Resolve the ids to ranges of blocks.
    ///
    /// # Errors
    /// Two blocks have the same id, or the bytes of an id do not begin and end with blocks or overlap those of another.
    pub(super) fn ranges<'h>(&self, block_ids: &[BlockId<'h>]) -> Result<HashMap<&'h str, BlockRange>, Error> {
        let mut ranges = HashMap::with_capacity(block_ids.len());
        let mut owner_ids: Vec<Option<&str>> = vec![None; self.blocks.len()];
        let (mut duplicates, mut mismatches) = (Vec::new(), Vec::new());
        for BlockId { id, start, end } in block_ids.iter().copied() {
            let first = self.blocks.binary_search_by_key(&start, |block| block.start);
            let last = self.blocks.binary_search_by_key(&end, |block| block.end);
            let range = match (first, last) {
                (Ok(first), Ok(last)) if first <= last => BlockRange { first, last },
                _ => {
                    mismatches.push(id);
                    continue;
                }
            };
            let covered = &mut owner_ids[range.first..=range.last];
            if covered.iter().any(Option::is_some) {
                mismatches.push(id);
            }
            covered.fill(Some(id));
            if ranges.insert(id, range).is_some() {
                duplicates.push(id);
            }
        }
        reject_if_any(ChangeReason::DuplicateId, &duplicates)?;
        reject_if_any(ChangeReason::NotABlock, &mismatches)?;
        Ok(ranges)
    }

    /// Return the text of a range of blocks.
    pub(super) fn slice(&self, range: BlockRange) -> &'t str {
        &self.text[self.blocks[range.first].start..self.blocks[range.last].end]
    }

    /// Return the index of the first heading with this text.
    pub(super) fn heading(&self, text: &str) -> Option<usize> {
        self.headings.get(text).copied()
    }

    /// Return the block index at which to insert at the end of a heading's content, before its trailing blank lines.
    pub(super) fn end_under(&self, heading: usize) -> usize {
        let is_next = |block: &Block| is_heading(block) || block.kind == Kind::Section;
        let following = &self.blocks[heading + 1..];
        let end = following.iter().position(is_next).map_or(self.blocks.len(), |length| heading + 1 + length);
        self.skip_trailing_blank(heading + 1, end)
    }

    /// Return the block index at which to insert at the end of the document, before its trailing blank lines.
    pub(super) fn end(&self) -> usize {
        self.skip_trailing_blank(0, self.blocks.len())
    }

    /// Move `end` back over blank blocks, not beyond `from`.
    fn skip_trailing_blank(&self, from: usize, mut end: usize) -> usize {
        while end > from && self.is_blank(end - 1) {
            end -= 1;
        }
        end
    }

    /// Return true if a block has only white space.
    fn is_blank(&self, block: usize) -> bool {
        self.slice(BlockRange { first: block, last: block }).bytes().all(|byte| byte.is_ascii_whitespace())
    }

    /// Return the byte offset before the block of this index (which may be one behind the last).
    pub(super) fn offset(&self, block: usize) -> usize {
        block.checked_sub(1).map_or(0, |previous| self.blocks[previous].end)
    }
}
