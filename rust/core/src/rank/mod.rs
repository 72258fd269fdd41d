//! Full-text search: BM25 ranking of documents over an inverted index in memory.
//!
//! A document has terms (words, identifiers and their parts; see `analyzer.rs`), tags that count as terms, and groups
//! and a timestamp that a [`Filter`] selects by. Scores depend on all documents in the index, whichever of them a
//! filter accepts. Removed documents stay in the posting lists, unseen, until more than a third of the slots is unused;
//! then the index is compacted at once.

mod analyzer;
mod bit_set;
mod bm25;
mod char_folding;
mod cursor;
mod documents;
mod filter;
mod interner;
mod postings;
mod query;
mod score_window;
mod stem;
mod stop_words;
mod top_k;
mod vocabulary;

use bm25::{Bm25, Impact, length_class};
use documents::Documents;
pub use filter::Filter;
use filter::Groups;
use query::Query;
use top_k::{Scored, TopK};
use vocabulary::Vocabulary;

/// Mentions that each term of a tag counts as: someone chose the tag, so it says more than one word of the text.
const TAG_WEIGHT: usize = 2;
/// Removed documents below which the index is never compacted: it would save little memory and cost a full rewrite.
const REMOVED_MIN: usize = 1024;

/// A document to be indexed: its text, and its tags, groups and timestamp.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Entry<'t> {
    /// The document's id; an older document with the same id is replaced.
    pub id: &'t str,
    /// The text to be indexed.
    pub text: &'t str,
    /// Tags; each counts as two mentions of its words.
    pub tags: Vec<&'t str>,
    /// Groups for [`Filter`]; any strings, compared as a whole.
    pub groups: Vec<&'t str>,
    /// The document's timestamp for [`Filter`], in any unit that is used throughout.
    pub at: Option<i64>,
}

/// A search result: the document, its score, and the score of each query term.
#[derive(Clone, Debug, PartialEq)]
pub struct Hit {
    /// The document's id.
    pub id: String,
    /// The document's score, the sum of its term scores.
    pub score: f64,
    /// The query words that the document contains, as written in the query, with their scores, best first.
    pub terms: Vec<(String, f64)>,
}

/// An inverted index. The order of results depends only on the documents in it, not on the order of insertions.
#[derive(Default)]
pub struct Index {
    vocabulary: Vocabulary,
    documents: Documents,
    groups: Groups,
    /// Scratch buffer for the term ids of the document that is being added.
    term_ids: Vec<u32>,
}

impl Index {
    /// The number of documents.
    #[must_use]
    pub fn len(&self) -> usize {
        self.documents.len()
    }

    /// Whether the index has no documents.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Add a document with its tags; an older document with the same id is replaced.
    pub fn add<T: AsRef<str>>(&mut self, id: &str, text: &str, tags: &[T]) {
        let tags = tags.iter().map(AsRef::as_ref).collect();
        self.insert(&Entry { id, text, tags, ..Entry::default() });
    }

    /// Add a document; an older document with the same id is replaced.
    pub fn insert(&mut self, entry: &Entry<'_>) {
        self.remove(entry.id);
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

    /// Add many documents; older documents with the same ids are replaced.
    pub fn extend<'t>(&mut self, entries: impl IntoIterator<Item = Entry<'t>>) {
        for entry in entries {
            self.insert(&entry);
        }
    }

    /// Remove a document; return false if there was none with this id.
    pub fn remove(&mut self, id: &str) -> bool {
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

    /// Return the best `limit` documents that contain at least one query term, best first; equal scores by id.
    #[must_use]
    pub fn search(&self, query: &str, limit: usize) -> Vec<Hit> {
        self.search_within(query, limit, &Filter::default())
    }

    /// Return the best `limit` documents that the filter accepts, best first; equal scores by id.
    #[must_use]
    pub fn search_within(&self, query: &str, limit: usize, filter: &Filter) -> Vec<Hit> {
        let query = Query::new(self, query);
        let bm25 = Bm25::new(self.documents.total_length(), self.len());
        let accepted = self.groups.accepted(&self.documents, filter);
        let top = TopK::search(&query, limit, &self.vocabulary, &self.documents, &bm25, &accepted);
        top.documents.iter().map(|scored| self.hit(scored, &query, top.term_scores(scored))).collect()
    }

    /// Build the result for a document, adding up the terms that came from one query word.
    fn hit(&self, scored: &Scored, query: &Query, term_scores: &[f64]) -> Hit {
        let mut terms: Vec<(String, f64)> = Vec::new();
        for (term, &score) in query.terms.iter().zip(term_scores).filter(|(_, score)| **score > 0.0) {
            match terms.iter_mut().find(|(word, _)| *word == term.word) {
                Some((_, sum)) => *sum += score,
                None => terms.push((term.word.clone(), score)),
            }
        }
        terms.sort_by(|a, b| b.1.total_cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
        Hit { id: self.documents.id(scored.slot).to_owned(), score: scored.score, terms }
    }

    /// Rewrite the index without removed documents, in time proportional to the whole index.
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
