//! The texts of an index by slot: their ids, lengths, times, and the terms they are to be taken out of again.

use super::bits::Bits;
use super::names::Names;

/// What is known of each text but its postings. Slots are given in ascending order and never twice.
#[derive(Default)]
pub(super) struct Documents {
    ids: Names,
    lengths: Vec<u32>,
    times: Vec<Option<i64>>,
    /// The numbers of each text's terms in ascending order, as distances of 7 bits a byte.
    terms: Vec<u8>,
    ends: Vec<usize>,
    live: Bits,
    total_length: u64,
}

impl Documents {
    /// How many texts there are.
    pub(super) fn len(&self) -> usize {
        self.ids.known()
    }

    /// How many slots hold a text that was removed.
    pub(super) fn dead(&self) -> usize {
        self.ids.len() - self.ids.known()
    }

    /// How many slots were given.
    pub(super) fn slots(&self) -> usize {
        self.ids.len()
    }

    /// The terms of all texts, repeated ones counted.
    pub(super) fn total_length(&self) -> u64 {
        self.total_length
    }

    /// The slots of the texts that are there.
    pub(super) fn live(&self) -> &Bits {
        &self.live
    }

    /// The slot of an id.
    pub(super) fn find(&self, id: &str) -> Option<u32> {
        self.ids.find(id)
    }

    /// The id of a slot.
    pub(super) fn id(&self, slot: u32) -> &str {
        self.ids.get(slot)
    }

    /// The time of a text that has one.
    pub(super) fn at(&self, slot: u32) -> Option<i64> {
        self.times.get(slot as usize).copied().flatten()
    }

    /// How many terms the text has.
    pub(super) fn length(&self, slot: u32) -> u32 {
        self.lengths.get(slot as usize).copied().unwrap_or(0)
    }

    /// Takes in a text of a new id with the numbers of its terms in ascending order; gives its slot.
    pub(super) fn push(&mut self, id: &str, length: u32, at: Option<i64>, terms: impl IntoIterator<Item = u32>) -> u32 {
        let slot = self.ids.push(id);
        self.lengths.push(length);
        self.times.push(at);
        self.total_length += u64::from(length);
        self.live.set(slot);
        let mut before = 0;
        for term in terms {
            self.write(term.wrapping_sub(before));
            before = term;
        }
        self.ends.push(self.terms.len());
        slot
    }

    /// Takes out a text; its terms can still be read.
    pub(super) fn remove(&mut self, slot: u32) {
        self.ids.forget(slot);
        self.live.clear(slot);
        self.total_length -= u64::from(self.length(slot));
    }

    /// The numbers of the text's terms, ascending.
    pub(super) fn terms(&self, slot: u32) -> impl Iterator<Item = u32> + '_ {
        let at = slot as usize;
        let start = at.checked_sub(1).map_or(0, |before| self.ends[before]);
        let mut bytes = self.terms[start..self.ends[at]].iter();
        let mut term = 0_u32;
        std::iter::from_fn(move || {
            let (mut distance, mut shift) = (0_u32, 0);
            loop {
                let byte = *bytes.next()?;
                distance |= u32::from(byte & 0x7f) << shift;
                if byte < 0x80 {
                    term = term.wrapping_add(distance);
                    return Some(term);
                }
                shift += 7;
            }
        })
    }

    #[expect(clippy::cast_possible_truncation, reason = "seven bits at a time")]
    fn write(&mut self, mut distance: u32) {
        while distance >= 0x80 {
            self.terms.push(distance as u8 | 0x80);
            distance >>= 7;
        }
        self.terms.push(distance as u8);
    }
}
