//! The documents of an index that are in memory: those added since its last segment was written.

use super::Entry;
use super::analyzer;
use super::bm25::{Impact, length_class};
use super::documents::Documents;
use super::filter::Groups;
use super::vocabulary::Vocabulary;

/// Mentions that each term of a tag counts as: someone chose the tag, so it says more than one word of the text.
const TAG_WEIGHT: usize = 2;
/// Removed documents below which the buffer is never compacted: it would save little memory and cost a full rewrite.
const REMOVED_MIN: usize = 1024;

/// A mutable inverted index in memory.
#[derive(Default)]
pub(super) struct Buffer {
    pub(super) vocabulary: Vocabulary,
    pub(super) documents: Documents,
    pub(super) groups: Groups,
    /// Scratch space for the term ids of the document that is being added.
    term_ids: Vec<u32>,
}

impl Buffer {
    /// Add a document whose id is not in the buffer.
    pub(super) fn insert(&mut self, entry: &Entry<'_>) {
        let mut term_ids = std::mem::take(&mut self.term_ids);
        term_ids.clear();
        analyzer::for_each_term(entry.text, |term, _| term_ids.push(self.vocabulary.id(term)));
        for tag in &entry.tags {
            analyzer::for_each_term(tag, |term, _| {
                term_ids.extend(std::iter::repeat_n(self.vocabulary.id(term), TAG_WEIGHT));
            });
        }
        term_ids.sort_unstable();
        let length = u32::try_from(term_ids.len()).unwrap_or(u32::MAX);
        let runs = || term_ids.chunk_by(|a, b| a == b);
        let slot = self.documents.push(entry.id, length, entry.at, runs().map(|run| run[0]));
        for run in runs() {
            let frequency = u8::try_from(run.len()).unwrap_or(u8::MAX);
            self.vocabulary.postings_mut(run[0]).push(slot, Impact { frequency, length_class: length_class(length) });
        }
        for group in &entry.groups {
            self.groups.add(group, slot);
        }
        self.term_ids = term_ids;
    }

    /// Remove a document; return false if there was none with this id.
    pub(super) fn remove(&mut self, id: &str) -> bool {
        let Some(slot) = self.documents.find(id) else { return false };
        self.documents.remove(slot);
        for term in self.documents.terms(slot) {
            self.vocabulary.postings_mut(term).document_removed();
        }
        if self.documents.removed() > REMOVED_MIN.max(self.documents.slots() / 3) {
            self.compact();
        }
        true
    }

    /// Rewrite the buffer without removed documents, in time proportional to all of it.
    fn compact(&mut self) {
        let mut slot_map = vec![None; self.documents.slots()];
        for (new_slot, old) in (0..).zip(self.documents.live().iter()) {
            slot_map[old as usize] = Some(new_slot);
        }
        let new_slot = |slot: u32| slot_map.get(slot as usize).copied().flatten();
        let (vocabulary, term_ids) = self.vocabulary.compacted(new_slot);
        let mut documents = Documents::default();
        for slot in self.documents.live().iter() {
            // New term ids keep the old order, so that the ids are still ascending.
            let terms = self.documents.terms(slot).map(|term| term_ids[term as usize]);
            documents.push(self.documents.id(slot), self.documents.length(slot), self.documents.timestamp(slot), terms);
        }
        self.groups = self.groups.remapped(new_slot);
        self.vocabulary = vocabulary;
        self.documents = documents;
    }
}
