//! A document as its blocks, and which of them have ids.

use std::collections::HashMap;

use crate::apply::{Held, refuse_any};
use crate::blocks::{self, Block, Kind, Sections};
use crate::error::{ChangeReason, Error};
use crate::lines::dominant_ending;

/// The blocks that one id stands for: `first..=last` by their index.
#[derive(Clone, Copy, Debug)]
pub(super) struct Spot {
    pub(super) first: usize,
    pub(super) last: usize,
}

fn is_heading(block: &Block) -> bool {
    matches!(block.kind, Kind::Title | Kind::Heading)
}

/// A document that is about to change.
pub(super) struct Document<'t> {
    pub(super) text: &'t str,
    pub(super) blocks: Vec<Block>,
    pub(super) sections: Sections,
    /// What ends most of its lines.
    pub(super) ending: &'static str,
    headings: HashMap<String, usize>,
}

impl<'t> Document<'t> {
    pub(super) fn read(document: &'t [u8], sections: Sections) -> Result<Self, Error> {
        let text = std::str::from_utf8(document).map_err(|error| Error::NotUtf8 { offset: error.valid_up_to() })?;
        let blocks = blocks::parse(document, sections)?;
        let mut headings = HashMap::new();
        for (index, block) in blocks.iter().enumerate().filter(|(_, block)| is_heading(block)) {
            headings.entry(block.text.clone()).or_insert(index);
        }
        Ok(Self { text, blocks, sections, ending: dominant_ending(text), headings })
    }

    /// The blocks of every id.
    pub(super) fn spots<'h>(&self, held: &[Held<'h>]) -> Result<HashMap<&'h str, Spot>, Error> {
        let mut spots = HashMap::with_capacity(held.len());
        let mut owners: Vec<Option<&str>> = vec![None; self.blocks.len()];
        let (mut twice, mut wrong) = (Vec::new(), Vec::new());
        for Held { id, start, end } in held.iter().copied() {
            let first = self.blocks.binary_search_by_key(&start, |block| block.start);
            let last = self.blocks.binary_search_by_key(&end, |block| block.end);
            let spot = match (first, last) {
                (Ok(first), Ok(last)) if first <= last => Spot { first, last },
                _ => {
                    wrong.push(id);
                    continue;
                }
            };
            let owned = &mut owners[spot.first..=spot.last];
            if owned.iter().any(Option::is_some) {
                wrong.push(id);
            }
            owned.fill(Some(id));
            if spots.insert(id, spot).is_some() {
                twice.push(id);
            }
        }
        refuse_any(ChangeReason::DuplicateId, &twice)?;
        refuse_any(ChangeReason::NotABlock, &wrong)?;
        Ok(spots)
    }

    /// The text of these blocks.
    pub(super) fn slice(&self, spot: Spot) -> &'t str {
        &self.text[self.blocks[spot.first].start..self.blocks[spot.last].end]
    }

    /// The first heading that says this.
    pub(super) fn heading(&self, text: &str) -> Option<usize> {
        self.headings.get(text).copied()
    }

    /// The index of the block before which something goes to stand behind everything under a heading.
    pub(super) fn end_under(&self, heading: usize) -> usize {
        let is_next = |block: &Block| is_heading(block) || block.kind == Kind::Section;
        let behind = &self.blocks[heading + 1..];
        let end = behind.iter().position(is_next).map_or(self.blocks.len(), |length| heading + 1 + length);
        self.without_blank(heading + 1, end)
    }

    /// The index of the block before which something goes to stand behind everything.
    pub(super) fn end(&self) -> usize {
        self.without_blank(0, self.blocks.len())
    }

    fn without_blank(&self, from: usize, mut end: usize) -> usize {
        while end > from && self.is_blank(end - 1) {
            end -= 1;
        }
        end
    }

    fn is_blank(&self, block: usize) -> bool {
        self.slice(Spot { first: block, last: block }).bytes().all(|byte| byte.is_ascii_whitespace())
    }

    /// The byte where something goes that stands before this block.
    pub(super) fn offset(&self, block: usize) -> usize {
        block.checked_sub(1).map_or(0, |before| self.blocks[before].end)
    }
}
