//! The dictionary of a segment: its terms in the order of their spelling, and where the posting list of each is.

use std::ops::Range;

use super::partition_point;

/// Where a list is in the file of a segment, and the beginning of the SHA-256 of its bytes.
#[derive(Clone, Copy)]
pub(super) struct ListPlace {
    pub(super) start: u64,
    pub(super) length: u32,
    pub(super) hash: u64,
}

/// Terms by id; ids follow the order of the spellings.
#[derive(Default)]
pub(super) struct Dictionary {
    text: String,
    ends: Vec<u32>,
    places: Vec<ListPlace>,
    /// The number of documents with each term that were not removed (its document frequency).
    live: Vec<u32>,
}

impl Dictionary {
    /// A dictionary of these spellings, one after the other in `text`, with as many ends, places and frequencies.
    pub(super) fn new(text: String, ends: Vec<u32>, places: Vec<ListPlace>, live: Vec<u32>) -> Self {
        Self { text, ends, places, live }
    }

    /// The number of terms.
    pub(super) fn len(&self) -> usize {
        self.ends.len()
    }

    /// Return the spelling of a term.
    pub(super) fn get(&self, term_id: u32) -> &str {
        let at = term_id as usize;
        let start = at.checked_sub(1).and_then(|before| self.ends.get(before)).map_or(0, |&end| end as usize);
        self.ends.get(at).and_then(|&end| self.text.get(start..end as usize)).unwrap_or_default()
    }

    /// Return the id of a term, or None.
    pub(super) fn find(&self, term: &str) -> Option<u32> {
        let at = self.lower_bound(term);
        (self.get(at) == term && (at as usize) < self.len()).then_some(at)
    }

    /// Return the ids of the terms that begin with `prefix`.
    pub(super) fn with_prefix(&self, prefix: &str) -> Range<u32> {
        let begins = |term_id: u32| self.get(term_id).starts_with(prefix);
        self.lower_bound(prefix)..partition_point(self.len(), |at| self.get(at) < prefix || begins(at))
    }

    /// Return where the posting list of a term is.
    pub(super) fn place(&self, term_id: u32) -> Option<ListPlace> {
        self.places.get(term_id as usize).copied()
    }

    /// Return the number of documents with a term that were not removed.
    pub(super) fn live(&self, term_id: u32) -> usize {
        self.live.get(term_id as usize).map_or(0, |&live| live as usize)
    }

    /// Count one document less for a term.
    pub(super) fn document_removed(&mut self, term_id: u32) {
        if let Some(live) = self.live.get_mut(term_id as usize) {
            *live = live.saturating_sub(1);
        }
    }

    /// Return the id of the first term that is not before `term`.
    fn lower_bound(&self, term: &str) -> u32 {
        partition_point(self.len(), |term_id| self.get(term_id) < term)
    }
}
