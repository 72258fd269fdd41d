//! Where a term stands: the slots of its texts in ascending order, removed ones among them until they are swept out.

use std::ops::Range;

use super::weight::{Mark, Scale};

/// Counts below this have a class of their own.
const CLASSES: usize = 7;
/// Bits of a slot that an entry holds; the others are those of its block.
const LOW_BITS: u32 = 16;

/// The texts that hold a term. An entry is 32 bits: the low half of a slot above the mark, for memory is what a search
/// waits for.
pub(super) struct Postings {
    entries: Vec<u32>,
    /// Where the slots have another upper half than before; rare, as a block is 65,536 texts.
    later: Vec<Block>,
    /// The upper half of the first slots.
    first: u32,
    live: u32,
    /// For each count of mentions (the last class: or more) the class of the shortest text that had it.
    shortest: [u8; CLASSES],
    /// A bit for each of these classes that a text is in.
    seen: u8,
}

struct Block {
    high: u32,
    start: usize,
}

impl Default for Postings {
    fn default() -> Self {
        Self { entries: Vec::new(), later: Vec::new(), first: 0, live: 0, shortest: [u8::MAX; CLASSES], seen: 0 }
    }
}

impl Postings {
    /// How many texts hold the term now.
    pub(super) fn live(&self) -> usize {
        self.live as usize
    }

    /// How many places there are, those of removed texts included.
    pub(super) fn len(&self) -> usize {
        self.entries.len()
    }

    /// The slot at a place.
    pub(super) fn slot(&self, place: usize) -> Option<u32> {
        let entry = self.entries.get(place)?;
        let later = self.later.partition_point(|block| block.start <= place);
        let high = later.checked_sub(1).map_or(self.first, |at| self.later[at].high);
        Some(high << LOW_BITS | entry >> LOW_BITS)
    }

    /// The mark at a place that has a slot.
    pub(super) fn mark(&self, place: usize) -> Mark {
        Mark::of(self.entries[place])
    }

    /// The lower halves and marks of the slots from a place on, as far as they have the upper half of this slot.
    pub(super) fn block(&self, slot: u32, place: usize) -> impl Iterator<Item = (u32, Mark)> + '_ {
        let end = self.range(slot >> LOW_BITS).end.max(place);
        self.entries[place..end].iter().map(|&entry| (entry >> LOW_BITS, Mark::of(entry)))
    }

    /// The slots and marks from a place on.
    pub(super) fn iter(&self, place: usize) -> impl Iterator<Item = (u32, Mark)> + '_ {
        let highs = std::iter::once(self.first).chain(self.later.iter().map(|block| block.high));
        highs.flat_map(move |high| {
            let range = self.range(high);
            self.entries[range.start.max(place).min(range.end)..range.end]
                .iter()
                .map(move |&entry| (high << LOW_BITS | entry >> LOW_BITS, Mark::of(entry)))
        })
    }

    /// Adds a text; its slot is higher than all before.
    pub(super) fn push(&mut self, slot: u32, mark: Mark) {
        let high = slot >> LOW_BITS;
        if self.entries.is_empty() {
            self.first = high;
        } else if self.later.last().map_or(self.first, |block| block.high) != high {
            self.later.push(Block { high, start: self.entries.len() });
        }
        self.entries.push(slot << LOW_BITS | mark.bits());
        self.live += 1;
        let class = usize::from(mark.times).clamp(1, CLASSES) - 1;
        self.shortest[class] = self.shortest[class].min(mark.length);
        self.seen |= 1 << class;
    }

    /// One of its texts was removed.
    pub(super) fn lost(&mut self) {
        self.live = self.live.saturating_sub(1);
        if self.live == 0 {
            *self = Self::default();
        }
    }

    /// The same with new slots, and without those that have none.
    pub(super) fn renamed(&self, new: impl Fn(u32) -> Option<u32>) -> Self {
        let mut renamed = Self::default();
        renamed.entries.reserve_exact(self.live());
        for (slot, mark) in self.iter(0) {
            if let Some(slot) = new(slot) {
                renamed.push(slot, mark);
            }
        }
        renamed
    }

    /// The mark of a text at or after the place `from`.
    pub(super) fn find(&self, slot: u32, from: usize) -> Option<Mark> {
        let place = self.reach(slot, from);
        (self.slot(place) == Some(slot)).then(|| self.mark(place))
    }

    /// The first place at or after `from` whose slot is not below this one.
    pub(super) fn reach(&self, slot: u32, from: usize) -> usize {
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

    /// What the term gives to a text at most, as [`Scale::about`] reckons.
    pub(super) fn bound(&self, scale: &Scale, top: f32) -> f32 {
        (1_u8..).zip(self.shortest).fold(0.0, |most, (times, length)| {
            if self.seen >> (times - 1) & 1 == 0 {
                return most;
            }
            let times = if usize::from(times) == CLASSES { u8::MAX } else { times };
            scale.about(Mark { times, length }, top).max(most)
        })
    }

    /// The places of the slots with this upper half, or where they would be.
    fn range(&self, high: u32) -> Range<usize> {
        let start_of = |at: usize| self.later.get(at).map_or(self.entries.len(), |block| block.start);
        if high <= self.first {
            return 0..if high == self.first { start_of(0) } else { 0 };
        }
        let at = self.later.partition_point(|block| block.high < high);
        let here = self.later.get(at).is_some_and(|block| block.high == high);
        start_of(at)..start_of(at + usize::from(here))
    }
}

#[cfg(test)]
mod tests {
    use super::{Mark, Postings};

    /// Slots far apart are found, read and renamed like those of one block.
    #[test]
    fn blocks_do_not_show() {
        let slots: Vec<u32> = (0..900).map(|at| 70_000 + at * at).chain([u32::MAX - 1, u32::MAX]).collect();
        let mut postings = Postings::default();
        for &slot in &slots {
            postings.push(slot, Mark { times: slot.to_le_bytes()[0], length: 7 });
        }
        assert_eq!(postings.live(), slots.len());
        assert!(postings.iter(0).map(|(slot, _)| slot).eq(slots.iter().copied()));
        for from in [0, 1, 400, 901, 902, 950] {
            assert!(postings.iter(from).map(|(slot, _)| slot).eq(slots.iter().skip(from).copied()), "{from}");
            for slot in (0..900_000).step_by(611).chain([65_535, 65_536, 70_000, 131_071, u32::MAX - 2, u32::MAX]) {
                let place = slots.partition_point(|&each| each < slot).max(from);
                assert_eq!(postings.reach(slot, from), place, "{slot} from {from}");
                assert_eq!(postings.slot(place), slots.get(place).copied());
                assert_eq!(postings.find(slot, from).is_some(), slots.get(place) == Some(&slot));
            }
        }
        let block: Vec<u32> = postings.block(70_000, 3).map(|(low, _)| low).collect();
        assert!(block.into_iter().eq(slots.iter().skip(3).filter(|slot| *slot >> 16 == 1).map(|slot| slot & 0xffff)));
        let renamed = postings.renamed(|slot| (slot % 2 == 0).then_some(slot / 2));
        assert!(
            renamed.iter(0).map(|(slot, _)| slot).eq(slots.iter().filter(|slot| *slot % 2 == 0).map(|slot| slot / 2))
        );
    }
}
