//! The document table of the index: id, length, timestamp and term ids of each document, by slot.

use super::bit_set::BitSet;
use super::interner::Interner;
use super::{partition_point, varint};

/// Documents by slot, without their postings. Slots are ascending and never reused.
#[derive(Default)]
pub(super) struct Documents {
    ids: Interner,
    lengths: Vec<u32>,
    timestamps: Vec<Option<i64>>,
    /// The term ids of each document, ascending, as varints of their gaps: removal needs them. Empty in a segment, which
    /// has them in its file.
    terms: Vec<u8>,
    ends: Vec<usize>,
    live: BitSet,
    total_length: u64,
}

impl Documents {
    /// The number of documents that were not removed.
    pub(super) fn len(&self) -> usize {
        self.ids.live()
    }

    /// The number of slots whose document was removed.
    pub(super) fn removed(&self) -> usize {
        self.ids.len() - self.ids.live()
    }

    /// The number of slots, removed documents included.
    pub(super) fn slots(&self) -> usize {
        self.ids.len()
    }

    /// The number of terms in all documents, repetitions included.
    pub(super) fn total_length(&self) -> u64 {
        self.total_length
    }

    /// The slots of documents that were not removed.
    pub(super) fn live(&self) -> &BitSet {
        &self.live
    }

    /// Return the slot of a document id, or None.
    pub(super) fn find(&self, id: &str) -> Option<u32> {
        self.ids.find(id)
    }

    /// Return the first slot whose id is greater than `id`; ids must ascend with the slots, as they do in a segment.
    pub(super) fn after(&self, id: &str) -> u32 {
        partition_point(self.slots(), |slot| self.id(slot) <= id)
    }

    /// Return the document id of a slot.
    pub(super) fn id(&self, slot: u32) -> &str {
        self.ids.get(slot)
    }

    /// Return the timestamp of a document, or None if it has none.
    pub(super) fn timestamp(&self, slot: u32) -> Option<i64> {
        self.timestamps.get(slot as usize).copied().flatten()
    }

    /// Return the length of a document in terms.
    pub(super) fn length(&self, slot: u32) -> u32 {
        self.lengths.get(slot as usize).copied().unwrap_or(0)
    }

    /// Add a document with a new id and the ids of its terms in ascending order; return its slot.
    pub(super) fn push(
        &mut self,
        id: &str,
        length: u32,
        timestamp: Option<i64>,
        terms: impl IntoIterator<Item = u32>,
    ) -> u32 {
        let slot = self.ids.push(id);
        self.lengths.push(length);
        self.timestamps.push(timestamp);
        self.total_length += u64::from(length);
        self.live.insert(slot);
        let mut previous = 0;
        for term in terms {
            varint::write(term.wrapping_sub(previous), &mut self.terms);
            previous = term;
        }
        self.ends.push(self.terms.len());
        slot
    }

    /// Remove a document; its terms can still be read.
    pub(super) fn remove(&mut self, slot: u32) {
        self.ids.remove(slot);
        self.live.remove(slot);
        self.total_length -= u64::from(self.length(slot));
    }

    /// Iterate over the ids of a document's terms, ascending.
    pub(super) fn terms(&self, slot: u32) -> impl Iterator<Item = u32> + '_ {
        let slot = slot as usize;
        let start = slot.checked_sub(1).map_or(0, |previous| self.ends[previous]);
        varint::ascending(&self.terms[start..self.ends[slot]])
    }
}
