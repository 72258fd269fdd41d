//! Texts ranked by how well they answer a query: BM25 over an index in memory.
//!
//! A text has terms (words, identifiers and their parts; see `terms.rs`), tags that count as terms, and groups and a time
//! that a [`Filter`] asks for. Scores depend on all texts that are in the index, whichever of them a filter lets through.
//! What was removed stays in the postings, unseen, until a third of the slots is such waste; then all is swept at once.

mod best;
mod bits;
mod documents;
mod floor;
mod groups;
mod letters;
mod list;
mod names;
mod postings;
mod query;
mod stem;
mod terms;
mod vocabulary;
mod weight;
mod window;
mod words;

use best::{Best, Found};
use documents::Documents;
pub use groups::Filter;
use groups::Groups;
use query::Question;
use vocabulary::Vocabulary;
use weight::{Mark, Scale, class_of};

/// A tag counts as this many mentions.
const TAG_WEIGHT: usize = 2;
/// Fewer removed texts than this are not worth sweeping.
const DEAD_MIN: usize = 1024;

/// A text to be found, with what it is found by beside its words.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Entry<'t> {
    /// What a hit names it by; a text under the same id is replaced.
    pub id: &'t str,
    /// Its words.
    pub text: &'t str,
    /// Each counts as two mentions of its words.
    pub tags: Vec<&'t str>,
    /// What a filter knows it by; any strings, compared whole.
    pub groups: Vec<&'t str>,
    /// When it was, in any unit that filters use too.
    pub at: Option<i64>,
}

/// One answer: which text, how well, and what each term of the query gave to that.
#[derive(Clone, Debug, PartialEq)]
pub struct Hit {
    /// The id that the text was added under.
    pub id: String,
    /// The sum of its terms.
    pub score: f64,
    /// The words of the query that stand in it, as the query says them, best first.
    pub terms: Vec<(String, f64)>,
}

/// An index of texts by their terms. The order of results depends only on what is in it, not on how it came there.
#[derive(Default)]
pub struct Index {
    vocabulary: Vocabulary,
    documents: Documents,
    groups: Groups,
    /// The terms of the text that is being added, kept for the memory that it has.
    numbers: Vec<u32>,
}

impl Index {
    /// How many texts it holds.
    #[must_use]
    pub fn len(&self) -> usize {
        self.documents.len()
    }

    /// Whether it holds none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Adds a text with its tags, in place of what had the same id.
    pub fn add<T: AsRef<str>>(&mut self, id: &str, text: &str, tags: &[T]) {
        let tags = tags.iter().map(AsRef::as_ref).collect();
        self.insert(&Entry { id, text, tags, ..Entry::default() });
    }

    /// Adds a text with all that belongs to it, in place of what had the same id.
    pub fn insert(&mut self, entry: &Entry<'_>) {
        self.remove(entry.id);
        let mut numbers = std::mem::take(&mut self.numbers);
        numbers.clear();
        terms::terms(entry.text, |term, _| numbers.push(self.vocabulary.number(term)));
        for tag in &entry.tags {
            terms::terms(tag, |term, _| {
                numbers.extend(std::iter::repeat_n(self.vocabulary.number(term), TAG_WEIGHT));
            });
        }
        numbers.sort_unstable();
        let length = u32::try_from(numbers.len()).unwrap_or(u32::MAX);
        let runs = || numbers.chunk_by(|a, b| a == b);
        let slot = self.documents.push(entry.id, length, entry.at, runs().map(|run| run[0]));
        for run in runs() {
            let times = u8::try_from(run.len()).unwrap_or(u8::MAX);
            self.vocabulary.postings_mut(run[0]).push(slot, Mark { times, length: class_of(length) });
        }
        for group in &entry.groups {
            self.groups.add(group, slot);
        }
        self.numbers = numbers;
    }

    /// Adds many texts, each in place of what had the same id.
    pub fn extend<'t>(&mut self, entries: impl IntoIterator<Item = Entry<'t>>) {
        for entry in entries {
            self.insert(&entry);
        }
    }

    /// Removes a text; false if there was none under that id.
    pub fn remove(&mut self, id: &str) -> bool {
        let Some(slot) = self.documents.find(id) else { return false };
        self.documents.remove(slot);
        for term in self.documents.terms(slot) {
            self.vocabulary.postings_mut(term).lost();
        }
        if self.documents.dead() > DEAD_MIN.max(self.documents.slots() / 3) {
            self.sweep();
        }
        true
    }

    /// The best `limit` texts that hold at least one term of the query, best first, equal ones by id.
    #[must_use]
    pub fn search(&self, query: &str, limit: usize) -> Vec<Hit> {
        self.search_within(query, limit, &Filter::default())
    }

    /// The best `limit` texts that the filter lets through, best first, equal ones by id.
    #[must_use]
    pub fn search_within(&self, query: &str, limit: usize, filter: &Filter) -> Vec<Hit> {
        let question = Question::new(self, query);
        let scale = Scale::new(self.documents.total_length(), self.len());
        let admitted = self.groups.admitted(&self.documents, filter);
        let best = Best::new(&question, limit, &self.vocabulary, &self.documents, &scale, &admitted);
        best.found.iter().map(|found| self.hit(found, &question, best.shares(found))).collect()
    }

    fn hit(&self, found: &Found, question: &Question, shares: &[f64]) -> Hit {
        let mut terms: Vec<(String, f64)> = Vec::new();
        for (asked, &share) in question.terms.iter().zip(shares).filter(|(_, share)| **share > 0.0) {
            match terms.iter_mut().find(|(word, _)| *word == asked.word) {
                Some((_, sum)) => *sum += share,
                None => terms.push((asked.word.clone(), share)),
            }
        }
        terms.sort_by(|a, b| b.1.total_cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
        Hit { id: self.documents.id(found.slot).to_owned(), score: found.score, terms }
    }

    /// Frees what removed texts have left, in time proportional to the whole index.
    fn sweep(&mut self) {
        let mut renamed = vec![None; self.documents.slots()];
        for (new, old) in (0..).zip(self.documents.live().iter()) {
            renamed[old as usize] = Some(new);
        }
        let new = |slot: u32| renamed.get(slot as usize).copied().flatten();
        let (vocabulary, numbers) = self.vocabulary.swept(new);
        let mut documents = Documents::default();
        for slot in self.documents.live().iter() {
            // Terms keep their order when they are numbered anew.
            let terms = self.documents.terms(slot).map(|term| numbers[term as usize]);
            documents.push(self.documents.id(slot), self.documents.length(slot), self.documents.at(slot), terms);
        }
        self.groups = self.groups.renamed(new);
        self.vocabulary = vocabulary;
        self.documents = documents;
    }
}
