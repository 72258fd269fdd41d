//! Posting lists: the documents of a term in ascending slot order, removed ones included until the next compaction.

use std::ops::Range;

use super::bm25::{Bm25, Impact};

/// Classes of term frequencies for the score bound: 1 to 6 exactly, the last class is "7 or more".
///
/// BM25 saturates: at k1 = 1.2 a score in a document of average length rises by at most 17 % beyond 7 mentions, so that
/// finer classes would let a search skip little more.
const FREQUENCIES: usize = 7;
/// Bits of a slot stored in an entry; the upper 16 are stored once per block of 65,536 slots.
const LOW_BITS: u32 = 16;

/// The posting list of one term.
///
/// An entry is 32 bits, the low half of the slot above the 16 bits of its impact: a search waits for memory, so that
/// entries are small and contiguous.
#[derive(Clone)]
pub(super) struct Postings {
    entries: Vec<u32>,
    /// The blocks after the first, by the upper 16 bits of their slot numbers; few, as a block covers 65,536 documents.
    later_blocks: Vec<Block>,
    /// The upper 16 bits that all slot numbers of the first block share.
    first: u32,
    live: u32,
    /// For each frequency class, the lowest length class (shortest document) of any entry, for the score bound.
    shortest_class: [u8; FREQUENCIES],
    /// One bit per frequency class that has an entry.
    seen_frequencies: u8,
}

/// The start of a run of entries whose slot numbers share their upper 16 bits.
#[derive(Clone)]
struct Block {
    high: u32,
    start: usize,
}

impl Default for Postings {
    fn default() -> Self {
        Self {
            entries: Vec::new(),
            later_blocks: Vec::new(),
            first: 0,
            live: 0,
            shortest_class: [u8::MAX; FREQUENCIES],
            seen_frequencies: 0,
        }
    }
}

/// A posting list that is read from a file: as by [`Postings::push`], with what is known of the whole list counted once
/// at the end.
pub(super) struct PostingsBuilder {
    postings: Postings,
    /// The upper 16 bits of the slots of the current block.
    high: u32,
    /// For each impact of a frequency up to 255, the lowest length class; `u16::MAX`: there is none.
    shortest: [u16; 256],
}

impl PostingsBuilder {
    /// An empty list with room for so many documents.
    pub(super) fn with_capacity(documents: usize) -> Self {
        let mut postings = Postings::default();
        postings.entries.reserve_exact(documents);
        Self { postings, high: u32::MAX, shortest: [u16::MAX; 256] }
    }

    /// Append a document; its slot must be higher than all before.
    #[inline]
    pub(super) fn push(&mut self, slot: u32, impact: Impact) {
        if slot >> LOW_BITS != self.high {
            self.begin_block(slot >> LOW_BITS);
        }
        self.postings.entries.push(slot << LOW_BITS | impact.bits());
        let shortest = &mut self.shortest[usize::from(impact.frequency)];
        *shortest = u16::from(impact.length_class).min(*shortest);
    }

    /// Return the list.
    pub(super) fn finish(mut self) -> Postings {
        self.postings.live = u32::try_from(self.postings.entries.len()).unwrap_or(u32::MAX);
        for (frequency, shortest) in self.shortest.into_iter().enumerate() {
            if let Ok(length_class) = u8::try_from(shortest) {
                self.postings.count_class(frequency, length_class);
            }
        }
        self.postings
    }

    fn begin_block(&mut self, high: u32) {
        if self.postings.entries.is_empty() {
            self.postings.first = high;
        } else {
            self.postings.later_blocks.push(Block { high, start: self.postings.entries.len() });
        }
        self.high = high;
    }
}

impl Postings {
    /// The number of documents with this term that were not removed (its document frequency).
    pub(super) fn live(&self) -> usize {
        self.live as usize
    }

    /// The number of entries, removed documents included.
    pub(super) fn len(&self) -> usize {
        self.entries.len()
    }

    /// Return the slot of the entry at `index`, or None behind the last.
    pub(super) fn slot(&self, index: usize) -> Option<u32> {
        let entry = self.entries.get(index)?;
        let later_blocks = self.later_blocks.partition_point(|block| block.start <= index);
        let high = later_blocks.checked_sub(1).map_or(self.first, |at| self.later_blocks[at].high);
        Some(high << LOW_BITS | entry >> LOW_BITS)
    }

    /// Return the impact of the entry at `index`, which must exist.
    pub(super) fn impact(&self, index: usize) -> Impact {
        Impact::of(self.entries[index])
    }

    /// Iterate from `index` to the end of the block of `slot`, over the lower halves of the slots and their impacts.
    pub(super) fn block(&self, slot: u32, index: usize) -> impl Iterator<Item = (u32, Impact)> + '_ {
        let end = self.range(slot >> LOW_BITS).end.max(index);
        self.entries[index..end].iter().map(|&entry| (entry >> LOW_BITS, Impact::of(entry)))
    }

    /// Iterate over slots and impacts from `index` to the end.
    pub(super) fn iter(&self, index: usize) -> impl Iterator<Item = (u32, Impact)> + '_ {
        let highs = std::iter::once(self.first).chain(self.later_blocks.iter().map(|block| block.high));
        highs.flat_map(move |high| {
            let range = self.range(high);
            self.entries[range.start.max(index).min(range.end)..range.end]
                .iter()
                .map(move |&entry| (high << LOW_BITS | entry >> LOW_BITS, Impact::of(entry)))
        })
    }

    /// Append a document; its slot must be higher than all before.
    pub(super) fn push(&mut self, slot: u32, impact: Impact) {
        let high = slot >> LOW_BITS;
        if self.entries.is_empty() {
            self.first = high;
        } else if self.later_blocks.last().map_or(self.first, |block| block.high) != high {
            self.later_blocks.push(Block { high, start: self.entries.len() });
        }
        self.entries.push(slot << LOW_BITS | impact.bits());
        self.live += 1;
        self.count_class(usize::from(impact.frequency), impact.length_class);
    }

    /// Take an impact into account for the score bound.
    fn count_class(&mut self, frequency: usize, length_class: u8) {
        let class = frequency.clamp(1, FREQUENCIES) - 1;
        self.shortest_class[class] = self.shortest_class[class].min(length_class);
        self.seen_frequencies |= 1 << class;
    }

    /// Count one document less; the list is cleared when none is left.
    pub(super) fn document_removed(&mut self) {
        self.live = self.live.saturating_sub(1);
        if self.live == 0 {
            *self = Self::default();
        }
    }

    /// A copy with slots remapped by `new_slot`, without removed documents (None).
    pub(super) fn remapped(&self, new_slot: impl Fn(u32) -> Option<u32>) -> Self {
        let mut remapped = Self::default();
        remapped.entries.reserve_exact(self.live());
        for (slot, impact) in self.iter(0) {
            if let Some(slot) = new_slot(slot) {
                remapped.push(slot, impact);
            }
        }
        remapped
    }

    /// Return the impact of a document, searching from the entry at `from` on.
    pub(super) fn find(&self, slot: u32, from: usize) -> Option<Impact> {
        let range = self.range(slot >> LOW_BITS);
        let rest = self.entries.get(from.max(range.start)..range.end)?;
        let low = slot << LOW_BITS;
        let entry = rest.get(rest.partition_point(|&entry| entry < low))?;
        (entry >> LOW_BITS == low >> LOW_BITS).then(|| Impact::of(*entry))
    }

    /// Return the index of the first entry at or after `from` whose slot is not below `slot`.
    ///
    /// Galloping (exponential) search, then binary search: cheap for near targets, logarithmic for far ones.
    pub(super) fn seek(&self, slot: u32, from: usize) -> usize {
        let range = self.range(slot >> LOW_BITS);
        let from = from.max(range.start);
        let rest = self.entries.get(from..range.end).unwrap_or_default();
        let low = slot << LOW_BITS;
        let mut step = 1;
        while step < rest.len() && rest[step - 1] < low {
            step *= 2;
        }
        let start = step / 2;
        let end = step.min(rest.len());
        from + start + rest.get(start..end).unwrap_or_default().partition_point(|&entry| entry < low)
    }

    /// Return an upper bound of the term's score in any document, for [`Bm25::approximate`].
    pub(super) fn bound(&self, bm25: &Bm25, max_score: f32) -> f32 {
        (1_u8..).zip(self.shortest_class).fold(0.0, |most, (frequency, length_class)| {
            if self.seen_frequencies >> (frequency - 1) & 1 == 0 {
                return most;
            }
            let frequency = if usize::from(frequency) == FREQUENCIES { u8::MAX } else { frequency };
            bm25.approximate(Impact { frequency, length_class }, max_score).max(most)
        })
    }

    /// The index range of the block with these upper 16 bits; empty at its insertion point if there is no such block.
    fn range(&self, high: u32) -> Range<usize> {
        let start_of = |at: usize| self.later_blocks.get(at).map_or(self.entries.len(), |block| block.start);
        if high <= self.first {
            return 0..if high == self.first { start_of(0) } else { 0 };
        }
        let at = self.later_blocks.partition_point(|block| block.high < high);
        let here = self.later_blocks.get(at).is_some_and(|block| block.high == high);
        start_of(at)..start_of(at + usize::from(here))
    }
}

#[cfg(test)]
mod tests {
    use super::{Impact, Postings};

    /// Slots in different 65,536-slot blocks are found, iterated and remapped like those of one block.
    #[test]
    fn blocks_do_not_show() {
        let slots: Vec<u32> = (0..900).map(|at| 70_000 + at * at).chain([u32::MAX - 1, u32::MAX]).collect();
        let mut postings = Postings::default();
        for &slot in &slots {
            postings.push(slot, Impact { frequency: slot.to_le_bytes()[0], length_class: 7 });
        }
        assert_eq!(postings.live(), slots.len());
        assert!(postings.iter(0).map(|(slot, _)| slot).eq(slots.iter().copied()));
        for from in [0, 1, 400, 901, 902, 950] {
            assert!(postings.iter(from).map(|(slot, _)| slot).eq(slots.iter().skip(from).copied()), "{from}");
            for slot in (0..900_000).step_by(611).chain([65_535, 65_536, 70_000, 131_071, u32::MAX - 2, u32::MAX]) {
                let index = slots.partition_point(|&other| other < slot).max(from);
                assert_eq!(postings.seek(slot, from), index, "{slot} from {from}");
                assert_eq!(postings.slot(index), slots.get(index).copied());
                assert_eq!(postings.find(slot, from).is_some(), slots.get(index) == Some(&slot));
            }
        }
        let block: Vec<u32> = postings.block(70_000, 3).map(|(low, _)| low).collect();
        assert!(block.into_iter().eq(slots.iter().skip(3).filter(|slot| *slot >> 16 == 1).map(|slot| slot & 0xffff)));
        let remapped = postings.remapped(|slot| (slot % 2 == 0).then_some(slot / 2));
        assert!(
            remapped.iter(0).map(|(slot, _)| slot).eq(slots.iter().filter(|slot| *slot % 2 == 0).map(|slot| slot / 2))
        );
    }
}
