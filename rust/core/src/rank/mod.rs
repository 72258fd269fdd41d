//! Full-text search: BM25 ranking of documents over an inverted index.
//!
//! A document has terms (words, identifiers and their parts; see `analyzer.rs`), tags that count as terms, and groups
//! and a timestamp that a [`Filter`] selects by. Scores depend on all documents in the index, whichever of them a
//! filter accepts.
//!
//! An index consists of segments, which are immutable files, and of a buffer in memory for what is added; [`Index::flush`]
//! makes a segment of the buffer, and [`merge`] one of several (a log-structured merge). Results depend neither on
//! what is in which of them nor on the order of insertions. Removed documents stay in the posting lists, unseen, until
//! the buffer is compacted or their segment is merged.

mod adjacent_messages;
mod analyzer;
mod bit_set;
mod bm25;
mod buffer;
mod char_folding;
mod cursor;
mod dictionary;
mod documents;
mod filter;
mod general_words;
mod interner;
mod irregular;
mod languages;
mod list_cache;
mod passage;
mod postings;
mod query;
mod score_window;
mod segment;
mod segment_writer;
mod stem;
mod stop_words;
mod surroundings;
mod top_k;
mod varint;
mod vocabulary;

use std::cmp::Ordering;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use bm25::Bm25;
pub use bm25::Saturation;
use buffer::Buffer;
pub use filter::Filter;
use list_cache::List;
pub use passage::passage;
use query::{Query, QueryTerm};
use segment::Segment;
pub use segment::SegmentError;
use segment_writer::{Source, write_segment};
pub use surroundings::{Applies, Boost, Surroundings};
use top_k::{Part, Scored, TopK};

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
    /// 0 to 1: how much of what the query is about the document has; scores say nothing about that.
    pub relevance: f64,
}

/// A segment of an index, as it is to be opened again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SegmentState {
    /// The segment's file.
    pub path: PathBuf,
    /// A name of the file's content: a hash of all that an answer depends on.
    pub digest: [u8; 32],
    /// The number of its documents, removed ones included.
    pub documents: usize,
    /// The number of its removed documents.
    pub removed_documents: usize,
    /// Its removed documents, in a form for [`Index::open`] and [`merge`].
    pub removed: Vec<u8>,
}

/// An inverted index. The order of results depends only on the documents in it, not on the order of insertions.
#[derive(Default)]
pub struct Index {
    segments: Vec<Segment>,
    buffer: Buffer,
    saturation: Saturation,
    /// Why a segment could not be read when a document was removed: the index is of no use any more.
    failure: Option<SegmentError>,
}

impl Index {
    /// Open an index of saved segments, each a file with its removed documents.
    ///
    /// # Errors
    ///
    /// A file is missing, damaged, or of another format.
    pub fn open(segments: &[(PathBuf, Vec<u8>)]) -> Result<Self, SegmentError> {
        let segments = segments.iter().map(|(path, removed)| Segment::open(path, removed)).collect::<Result<_, _>>()?;
        Ok(Self { segments, ..Self::default() })
    }

    /// Return the same index with other parameters of BM25; they are not in its files.
    #[must_use]
    pub fn with_saturation(self, saturation: Saturation) -> Self {
        Self { saturation, ..self }
    }

    /// The number of documents.
    #[must_use]
    pub fn len(&self) -> usize {
        self.segments.iter().map(|segment| segment.documents.len()).sum::<usize>() + self.buffer.documents.len()
    }

    /// Return true if the index has no documents.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The number of documents that are in memory only.
    #[must_use]
    pub fn buffered(&self) -> usize {
        self.buffer.documents.len()
    }

    /// Return the segments, oldest first.
    #[must_use]
    pub fn segments(&self) -> Vec<SegmentState> {
        let state = |segment: &Segment| SegmentState {
            path: segment.path.clone(),
            digest: segment.digest,
            documents: segment.documents.slots(),
            removed_documents: segment.documents.removed(),
            removed: segment.removed(),
        };
        self.segments.iter().map(state).collect()
    }

    /// Write the documents that are in memory only to a new segment at `path`; does nothing if there are none.
    ///
    /// # Errors
    ///
    /// The file exists, or cannot be written; the index is as before.
    pub fn flush(&mut self, path: &Path) -> Result<(), SegmentError> {
        if self.buffered() > 0 {
            write_segment(&[Source::Buffer(&self.buffer)], path)?;
            self.segments.push(Segment::open(path, &[])?);
        }
        self.buffer = Buffer::default();
        Ok(())
    }

    /// Replace segments by the one at `path` that [`merge`] made of them; documents removed since then are removed.
    ///
    /// # Errors
    ///
    /// A file cannot be read, or an input is no segment of this index; the index is as before.
    pub fn replace(&mut self, inputs: &[(PathBuf, Vec<u8>)], path: &Path) -> Result<(), SegmentError> {
        let mut merged = Segment::open(path, &[])?;
        for (input, removed_then) in inputs {
            let found = self.segments.iter().find(|segment| segment.path == *input);
            let segment = found.ok_or_else(|| SegmentError::new("a merged segment is not in the index"))?;
            let mut then = varint::ascending(removed_then).peekable();
            for slot in varint::ascending(&segment.removed()) {
                while then.next_if(|&earlier| earlier < slot).is_some() {}
                if then.peek() != Some(&slot) {
                    merged.remove(segment.documents.id(slot))?;
                }
            }
        }
        let first = self.segments.iter().position(|segment| inputs.iter().any(|(input, _)| *input == segment.path));
        self.segments.insert(first.unwrap_or(self.segments.len()), merged);
        self.segments.retain(|segment| !inputs.iter().any(|(input, _)| *input == segment.path));
        Ok(())
    }

    /// Add a document with its tags; an older document with the same id is replaced.
    pub fn add<T: AsRef<str>>(&mut self, id: &str, text: &str, tags: &[T]) {
        let tags = tags.iter().map(AsRef::as_ref).collect();
        self.insert(&Entry { id, text, tags, ..Entry::default() });
    }

    /// Add a document; an older document with the same id is replaced.
    pub fn insert(&mut self, entry: &Entry<'_>) {
        self.remove(entry.id);
        self.buffer.insert(entry);
    }

    /// Add many documents; older documents with the same ids are replaced.
    pub fn extend<'t>(&mut self, entries: impl IntoIterator<Item = Entry<'t>>) {
        for entry in entries {
            self.insert(&entry);
        }
    }

    /// Remove a document; return false if there was none with this id.
    ///
    /// Where a segment cannot be read, every later search fails.
    pub fn remove(&mut self, id: &str) -> bool {
        for segment in &mut self.segments {
            match segment.remove(id) {
                Ok(false) => {}
                Ok(true) => return true,
                Err(failure) => {
                    self.failure = Some(failure);
                    return true;
                }
            }
        }
        self.buffer.remove(id)
    }

    /// Return the best `limit` documents that contain at least one query term, best first; equal scores by id.
    ///
    /// # Errors
    ///
    /// A segment cannot be read, or is damaged.
    pub fn search(&self, query: &str, limit: usize) -> Result<Vec<Hit>, SegmentError> {
        self.search_within(query, limit, &Filter::default())
    }

    /// Return the best `limit` documents that the filter accepts, best first; equal scores by id.
    ///
    /// # Errors
    ///
    /// A segment cannot be read, or is damaged.
    pub fn search_within(&self, query: &str, limit: usize, filter: &Filter) -> Result<Vec<Hit>, SegmentError> {
        let query = Query::new(self, query);
        let bm25 = Bm25::new(self.total_length(), self.len(), self.saturation);
        let parts = self.parts(&query, filter)?;
        let top = TopK::search(&query, limit, &parts, &bm25);
        let id = |scored: &Scored| parts[scored.part].documents.id(scored.slot);
        Ok(top.documents.iter().map(|scored| hit(id(scored), scored, &query, top.term_scores(scored))).collect())
    }

    /// Return the ids of up to `limit` documents that the filter accepts and whose ids are greater than `after`, in the
    /// order of the ids.
    ///
    /// # Errors
    ///
    /// A segment could not be read earlier.
    pub fn ids(&self, filter: &Filter, after: &str, limit: usize) -> Result<Vec<String>, SegmentError> {
        self.failure.clone().map_or(Ok(()), Err)?;
        let mut ids: Vec<&str> = Vec::new();
        for segment in &self.segments {
            let accepted = segment.groups.accepted(&segment.documents, filter);
            let start = segment.documents.after(after);
            ids.extend(accepted.iter_from(start).take(limit).map(|slot| segment.documents.id(slot)));
        }
        let accepted = self.buffer.groups.accepted(&self.buffer.documents, filter);
        ids.extend(accepted.iter_from(0).map(|slot| self.buffer.documents.id(slot)).filter(|id| *id > after));
        ids.sort_unstable();
        Ok(ids.into_iter().take(limit).map(str::to_owned).collect())
    }

    /// The number of terms in all documents, repetitions included.
    fn total_length(&self) -> u64 {
        let segments = self.segments.iter().map(|segment| segment.documents.total_length());
        segments.sum::<u64>() + self.buffer.documents.total_length()
    }

    /// The number of documents that contain a term.
    fn document_frequency(&self, term: &str) -> usize {
        let in_segment =
            |segment: &Segment| segment.dictionary.find(term).map_or(0, |term_id| segment.dictionary.live(term_id));
        let vocabulary = &self.buffer.vocabulary;
        let in_buffer = vocabulary.find(term).map_or(0, |term_id| vocabulary.postings(term_id).live());
        self.segments.iter().map(in_segment).sum::<usize>() + in_buffer
    }

    /// The terms of documents that begin with `prefix`, in any order, some more than once; none for a short prefix.
    fn terms_with_prefix(&self, prefix: &str) -> Vec<String> {
        let mut terms: Vec<String> = self.buffer.vocabulary.with_prefix(prefix).map(str::to_owned).collect();
        if prefix.len() >= vocabulary::PREFIX_BYTES {
            for dictionary in self.segments.iter().map(|segment| &segment.dictionary) {
                let live = dictionary.with_prefix(prefix).filter(|&term_id| dictionary.live(term_id) > 0);
                terms.extend(live.map(|term_id| dictionary.get(term_id).to_owned()));
            }
        }
        terms
    }

    /// Return segments and buffer with what a search needs of each; posting lists of segments are read from their files.
    fn parts(&self, query: &Query, filter: &Filter) -> Result<Vec<Part<'_>>, SegmentError> {
        self.failure.clone().map_or(Ok(()), Err)?;
        let mut parts = Vec::with_capacity(self.segments.len() + 1);
        for segment in &self.segments {
            let (mut lists, mut file) = (Vec::with_capacity(query.terms.len()), None);
            for term in &query.terms {
                let term_id = segment.dictionary.find(&term.spelling);
                let Some(term_id) = term_id.filter(|&term_id| segment.dictionary.live(term_id) > 0) else {
                    lists.push(List::Shared(Arc::default()));
                    continue;
                };
                lists.push(List::Shared(segment.cached_postings(term_id, &mut file)?));
            }
            let accepted = segment.groups.accepted(&segment.documents, filter);
            parts.push(Part { documents: &segment.documents, accepted, lists });
        }
        let vocabulary = &self.buffer.vocabulary;
        let list = |term: &QueryTerm| match vocabulary.find(&term.spelling) {
            Some(term_id) => List::Borrowed(vocabulary.postings(term_id)),
            None => List::Shared(Arc::default()),
        };
        let accepted = self.buffer.groups.accepted(&self.buffer.documents, filter);
        let lists = query.terms.iter().map(list).collect();
        parts.push(Part { documents: &self.buffer.documents, accepted, lists });
        Ok(parts)
    }
}

/// Merge saved segments, each a file with its removed documents, into a new one at `path`.
///
/// An index that has them open can be used meanwhile; [`Index::replace`] then puts the new one in their place.
///
/// # Errors
///
/// A file cannot be read or written.
pub fn merge(inputs: &[(PathBuf, Vec<u8>)], path: &Path) -> Result<(), SegmentError> {
    let index = Index::open(inputs)?;
    let source = |segment| Ok(Source::Segment(segment, Segment::file(segment)?));
    write_segment(&index.segments.iter().map(source).collect::<Result<Vec<_>, SegmentError>>()?, path)
}

/// Return the first number below `count` for which `is_before` is false, which it stays; `count` if there is none.
fn partition_point(count: usize, is_before: impl Fn(u32) -> bool) -> u32 {
    let (mut low, mut high) = (0, u32::try_from(count).unwrap_or(u32::MAX));
    while low < high {
        let middle = low + (high - low) / 2;
        if is_before(middle) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    low
}

/// Leave the best `limit` items, in order.
fn keep_best<T>(items: &mut Vec<T>, limit: usize, better: impl Fn(&T, &T) -> Ordering) {
    if items.len() > limit {
        items.select_nth_unstable_by(limit, &better);
        items.truncate(limit);
    }
    items.sort_unstable_by(better);
}

/// Sort the terms of a hit, best first; equal scores by name.
fn sort_terms(terms: &mut [(String, f64)]) {
    terms.sort_by(|a, b| b.1.total_cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
}

/// Build the result for a document, adding up the terms that came from one query word.
fn hit(id: &str, scored: &Scored, query: &Query, term_scores: &[f64]) -> Hit {
    let mut terms: Vec<(String, f64)> = Vec::new();
    for (term, &score) in query.terms.iter().zip(term_scores).filter(|(_, score)| **score > 0.0) {
        match terms.iter_mut().find(|(word, _)| *word == term.word) {
            Some((_, sum)) => *sum += score,
            None => terms.push((term.word.clone(), score)),
        }
    }
    sort_terms(&mut terms);
    let relevance = query.relevance(terms.iter().map(|(word, _)| word.as_str()), 0);
    Hit { id: id.to_owned(), score: scored.score, terms, relevance }
}
