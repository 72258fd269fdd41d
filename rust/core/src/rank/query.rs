//! A query as the terms of an index that it asks for, and what finding each is worth.

use std::collections::BTreeMap;

use super::Index;
use super::terms::terms;
use super::weight::rarity;
use super::words::is_function_word;

/// Terms of a query that are looked at: those that are worth most.
const TERMS_MAX: usize = 64;
/// What a term is worth that only begins like the word that was asked for, or is its beginning.
const RELATED_WEIGHT: f64 = 0.5;
/// A query of function words alone asks for those that at most one text in this many holds.
const FUNCTION_SHARE: usize = 8;
/// In an index of fewer texts it asks for all of them.
const FUNCTION_TEXTS_MIN: usize = 16;

/// A term of a query: its number, what finding it is worth, and the word it was asked by.
pub(super) struct Asked {
    pub(super) number: u32,
    pub(super) weight: f64,
    pub(super) word: String,
}

/// What a query asks for.
pub(super) struct Question {
    /// In the order of their spelling.
    pub(super) terms: Vec<Asked>,
    /// A text holds at least this many of them.
    pub(super) needed: usize,
}

impl Question {
    /// Reads a query. Function words are asked for only by a query that has no other word: beside one that tells
    /// something they would bring up whatever is phrased alike. Even then a text must hold two of those that are asked
    /// for, and what most texts hold is not.
    pub(super) fn new(index: &Index, query: &str) -> Self {
        let mut words: BTreeMap<String, String> = BTreeMap::new();
        let mut telling = false;
        terms(query, |term, word| {
            telling |= !is_function_word(word);
            if !words.contains_key(term) {
                words.insert(term.to_owned(), word.to_owned());
            }
        });
        words.retain(|term, word| if telling { !is_function_word(word) } else { tells(index, term) });
        let mut found: BTreeMap<&str, Asked> = BTreeMap::new();
        for (term, word) in &words {
            let (meant, share) = index.vocabulary.meant(term);
            for number in meant {
                let weight = share * rarity(index.len(), index.vocabulary.postings(number).live());
                let known = found.get(index.vocabulary.spelling(number)).map_or(0.0, |known| known.weight);
                if weight > known {
                    found.insert(index.vocabulary.spelling(number), Asked { number, weight, word: word.clone() });
                }
            }
        }
        let terms = worthiest(found.into_values().collect());
        let needed = if telling { 1 } else { terms.len().min(2) };
        Self { terms, needed }
    }
}

impl super::vocabulary::Vocabulary {
    /// The terms that a word of a query stands for, and the share of their weight that counts: itself, or if no text has
    /// it, what begins with it, or else what it begins with.
    fn meant(&self, term: &str) -> (Vec<u32>, f64) {
        match self.find(term) {
            Some(number) => (vec![number], 1.0),
            None => (self.related(term), RELATED_WEIGHT),
        }
    }
}

/// Whether a function word says anything in this index.
fn tells(index: &Index, term: &str) -> bool {
    let having = index.vocabulary.find(term).map_or(0, |number| index.vocabulary.postings(number).live());
    index.len() < FUNCTION_TEXTS_MIN || having * FUNCTION_SHARE <= index.len()
}

fn worthiest(asked: Vec<Asked>) -> Vec<Asked> {
    if asked.len() <= TERMS_MAX {
        return asked;
    }
    let mut placed: Vec<(usize, Asked)> = asked.into_iter().enumerate().collect();
    placed.sort_by(|a, b| b.1.weight.total_cmp(&a.1.weight).then(a.0.cmp(&b.0)));
    placed.truncate(TERMS_MAX);
    placed.sort_unstable_by_key(|&(place, _)| place);
    placed.into_iter().map(|(_, asked)| asked).collect()
}
