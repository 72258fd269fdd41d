//! Texts ranked by how well they answer a query: BM25 over an index in memory.

mod terms;

use std::collections::{BTreeMap, HashMap};

use terms::{is_function_word, terms};

/// How soon more of the same term stops to count.
const K1: f64 = 1.2;
/// How much a long text is held against it.
const B: f64 = 0.75;
/// A tag counts as this many mentions.
const TAG_WEIGHT: u32 = 2;
/// Terms of a query that are looked at.
const QUERY_TERMS_MAX: usize = 64;

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

/// A term of a query: its number, what finding it is worth, and the word it was asked by.
struct Asked {
    number: u32,
    weight: f64,
    word: String,
}

#[derive(Clone, Copy)]
struct Posting {
    slot: u32,
    times: u32,
}

struct Document {
    id: String,
    length: u32,
    terms: Vec<u32>,
}

/// An index of texts by their terms. The order of results depends only on what is in it, not on how it came there.
#[derive(Default)]
pub struct Index {
    slots: Vec<Option<Document>>,
    free: Vec<u32>,
    by_id: HashMap<String, u32>,
    term_numbers: HashMap<String, u32>,
    postings: Vec<Vec<Posting>>,
    total_length: u64,
}

impl Index {
    /// How many texts it holds.
    #[must_use]
    pub fn len(&self) -> usize {
        self.by_id.len()
    }

    /// Whether it holds none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.by_id.is_empty()
    }

    /// Adds a text with its tags, in place of what had the same id.
    pub fn add<T: AsRef<str>>(&mut self, id: &str, text: &str, tags: &[T]) {
        self.remove(id);
        let mut times: HashMap<u32, u32> = HashMap::new();
        terms(text, |term, _| *times.entry(self.number(term)).or_default() += 1);
        for tag in tags {
            terms(tag.as_ref(), |term, _| *times.entry(self.number(term)).or_default() += TAG_WEIGHT);
        }
        let slot = self.free.pop().unwrap_or_else(|| {
            self.slots.push(None);
            u32::try_from(self.slots.len() - 1).unwrap_or(u32::MAX)
        });
        for (&term, &times) in &times {
            let postings = &mut self.postings[term as usize];
            let place = postings.partition_point(|posting| posting.slot < slot);
            postings.insert(place, Posting { slot, times });
        }
        let length = times.values().sum();
        self.total_length += u64::from(length);
        self.by_id.insert(id.to_owned(), slot);
        let terms = times.into_keys().collect();
        self.slots[slot as usize] = Some(Document { id: id.to_owned(), length, terms });
    }

    /// Removes a text; false if there was none under that id.
    pub fn remove(&mut self, id: &str) -> bool {
        let Some(slot) = self.by_id.remove(id) else { return false };
        if let Some(document) = self.slots[slot as usize].take() {
            self.total_length -= u64::from(document.length);
            for term in document.terms {
                let postings = &mut self.postings[term as usize];
                if let Ok(place) = postings.binary_search_by_key(&slot, |posting| posting.slot) {
                    postings.remove(place);
                }
            }
        }
        self.free.push(slot);
        true
    }

    /// The best `limit` texts that hold at least one term of the query, best first, equal ones by id.
    #[must_use]
    pub fn search(&self, query: &str, limit: usize) -> Vec<Hit> {
        let mut scores: HashMap<u32, f64> = HashMap::new();
        let asked = self.asked(query);
        for term in asked.values() {
            for posting in &self.postings[term.number as usize] {
                *scores.entry(posting.slot).or_default() += self.gives(*posting, term.weight);
            }
        }
        let mut ranked: Vec<(f64, &Document, u32)> = scores
            .into_iter()
            .filter_map(|(slot, score)| Some((score, self.slots[slot as usize].as_ref()?, slot)))
            .collect();
        let better =
            |a: &(f64, &Document, u32), b: &(f64, &Document, u32)| b.0.total_cmp(&a.0).then(a.1.id.cmp(&b.1.id));
        if ranked.len() > limit && limit > 0 {
            ranked.select_nth_unstable_by(limit - 1, better);
        }
        ranked.truncate(limit);
        ranked.sort_unstable_by(better);
        ranked.into_iter().map(|(score, document, slot)| self.hit(score, document, slot, &asked)).collect()
    }

    fn number(&mut self, term: &str) -> u32 {
        if let Some(&number) = self.term_numbers.get(term) {
            return number;
        }
        let number = u32::try_from(self.postings.len()).unwrap_or(u32::MAX);
        self.postings.push(Vec::new());
        self.term_numbers.insert(term.to_owned(), number);
        number
    }

    /// The known terms of a query, in the order of their spelling. Function words are asked for only by a query that has
    /// no other word: beside one that tells something they would bring up whatever is phrased alike.
    fn asked(&self, query: &str) -> BTreeMap<String, Asked> {
        let mut asked: BTreeMap<String, Asked> = BTreeMap::new();
        let mut telling = false;
        terms(query, |_, word| telling |= !is_function_word(word));
        terms(query, |term, word| {
            if asked.len() == QUERY_TERMS_MAX || asked.contains_key(term) || (telling && is_function_word(word)) {
                return;
            }
            if let Some(&number) =
                self.term_numbers.get(term).filter(|number| !self.postings[**number as usize].is_empty())
            {
                asked.insert(term.to_owned(), Asked { number, weight: self.rarity(number), word: word.to_owned() });
            }
        });
        asked
    }

    /// The inverse document frequency, never negative.
    fn rarity(&self, term: u32) -> f64 {
        let all = as_f64(self.by_id.len());
        let having = as_f64(self.postings[term as usize].len());
        (1.0 + (all - having + 0.5) / (having + 0.5)).ln()
    }

    fn gives(&self, posting: Posting, weight: f64) -> f64 {
        let length = self.slots[posting.slot as usize].as_ref().map_or(0.0, |document| f64::from(document.length));
        let average =
            as_f64(usize::try_from(self.total_length).unwrap_or(usize::MAX)) / as_f64(self.by_id.len().max(1));
        let times = f64::from(posting.times);
        weight * times * (K1 + 1.0) / (times + K1 * (1.0 - B + B * length / average.max(1.0)))
    }

    fn hit(&self, score: f64, document: &Document, slot: u32, asked: &BTreeMap<String, Asked>) -> Hit {
        let mut terms: Vec<(String, f64)> = asked
            .values()
            .filter_map(|term| {
                let postings = &self.postings[term.number as usize];
                let place = postings.binary_search_by_key(&slot, |posting| posting.slot).ok()?;
                Some((term.word.clone(), self.gives(postings[place], term.weight)))
            })
            .collect();
        terms.sort_by(|a, b| b.1.total_cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
        Hit { id: document.id.clone(), score, terms }
    }
}

#[expect(clippy::cast_precision_loss, reason = "counts of texts and terms are far below 2^52")]
fn as_f64(count: usize) -> f64 {
    count as f64
}
