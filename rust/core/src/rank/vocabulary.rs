//! The terms of an index: their spelling, their postings, and which begin alike.

use std::collections::HashMap;

use super::letters::is_unspaced;
use super::names::Names;
use super::postings::Postings;
use super::stem::fold;

/// Terms that one unknown word may stand for.
const RELATED_MAX: usize = 8;
/// Bytes that related terms have in common at least.
const BEGINNING: usize = 4;
/// An unknown word may be this much longer than a known one that it begins with.
const ENDING_MAX: usize = 4;
/// The end of a chain.
const NONE: u32 = u32::MAX;

/// Terms by number. A term that no text has any more stays until the index is swept, but is not found.
#[derive(Default)]
pub(super) struct Vocabulary {
    names: Names,
    postings: Vec<Postings>,
    /// The last term of each beginning.
    chains: HashMap<[u8; BEGINNING], u32>,
    /// For each term the one before it with the same beginning.
    before: Vec<u32>,
}

impl Vocabulary {
    /// The number of a term, a new one if it has none yet.
    pub(super) fn number(&mut self, term: &str) -> u32 {
        let number = self.names.number(term);
        if number as usize == self.postings.len() {
            self.postings.push(Postings::default());
            let chained = beginning(term).and_then(|key| self.chains.insert(key, number));
            self.before.push(chained.unwrap_or(NONE));
        }
        number
    }

    /// The number of a term that a text has.
    pub(super) fn find(&self, term: &str) -> Option<u32> {
        self.names.find(term).filter(|&number| self.postings(number).live() > 0)
    }

    /// How a term is spelled.
    pub(super) fn spelling(&self, number: u32) -> &str {
        self.names.get(number)
    }

    /// Where a term stands.
    pub(super) fn postings(&self, number: u32) -> &Postings {
        &self.postings[number as usize]
    }

    /// Where a term stands, to be changed.
    pub(super) fn postings_mut(&mut self, number: u32) -> &mut Postings {
        &mut self.postings[number as usize]
    }

    /// The terms nearest to one that no text has: those that begin with it, the shortest first, or else the longest one
    /// that it begins with.
    pub(super) fn related(&self, term: &str) -> Vec<u32> {
        if term.chars().any(is_unspaced) {
            return Vec::new();
        }
        let mut longer: Vec<(usize, &str, u32)> = self
            .alike(term)
            .map(|number| (self.spelling(number), number))
            .filter(|(spelling, number)| spelling.starts_with(term) && self.postings(*number).live() > 0)
            .map(|(spelling, number)| (spelling.len(), spelling, number))
            .collect();
        longer.sort_unstable();
        longer.truncate(RELATED_MAX);
        if longer.is_empty() {
            return self.shorter(term).into_iter().collect();
        }
        longer.into_iter().map(|(_, _, number)| number).collect()
    }

    /// The same terms without those that no text has, their slots renamed, and the new number of each.
    pub(super) fn swept(&self, new: impl Fn(u32) -> Option<u32>) -> (Self, Vec<u32>) {
        let mut swept = Self::default();
        let mut numbers = Vec::with_capacity(self.postings.len());
        for (number, postings) in (0..).zip(&self.postings) {
            if postings.live() == 0 {
                numbers.push(NONE);
                continue;
            }
            let kept = swept.number(self.names.get(number));
            swept.postings[kept as usize] = postings.renamed(&new);
            numbers.push(kept);
        }
        (swept, numbers)
    }

    fn shorter(&self, term: &str) -> Option<u32> {
        (1..=ENDING_MAX)
            .filter_map(|ending| term.get(..term.len().checked_sub(ending)?))
            .filter(|shorter| shorter.len() >= BEGINNING)
            .find_map(|shorter| self.find(fold(shorter)))
    }

    /// The terms with the same beginning.
    fn alike(&self, term: &str) -> impl Iterator<Item = u32> + '_ {
        let last = beginning(term).and_then(|key| self.chains.get(&key).copied());
        std::iter::successors(last, |&number| Some(self.before[number as usize]).filter(|&before| before != NONE))
    }
}

fn beginning(term: &str) -> Option<[u8; BEGINNING]> {
    term.as_bytes().first_chunk().copied()
}
