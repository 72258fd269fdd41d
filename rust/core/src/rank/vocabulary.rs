//! The vocabulary of the index: spelling, posting list and prefix neighbours of every term.

use std::collections::HashMap;

use super::char_folding::is_unspaced;
use super::interner::Interner;
use super::postings::Postings;
use super::stem::stem;

/// Known terms that one unknown query word may be expanded to.
const RELATED_MAX: usize = 8;
/// Bytes that related terms have in common at least: the key of the prefix chains.
const PREFIX_BYTES: usize = 4;
/// Bytes that an unknown word may be longer than the known term that it begins with (`deployer` finds `deploy`).
const SUFFIX_MAX: usize = 4;
/// The end of a prefix chain, and the new id of a dropped term.
const END: u32 = u32::MAX;

/// Terms by id. A term that lost its last document stays until compaction, but is not found.
#[derive(Default)]
pub(super) struct Vocabulary {
    interner: Interner,
    postings: Vec<Postings>,
    /// The most recent term of each prefix: the head of a linked list.
    prefix_chains: HashMap<[u8; PREFIX_BYTES], u32>,
    /// For each term the previous one with the same prefix: the links of these lists.
    previous: Vec<u32>,
}

impl Vocabulary {
    /// Return the id of a term, giving it a new one if needed.
    pub(super) fn id(&mut self, term: &str) -> u32 {
        let term_id = self.interner.id(term);
        if term_id as usize == self.postings.len() {
            self.postings.push(Postings::default());
            let chain_head = prefix(term).and_then(|key| self.prefix_chains.insert(key, term_id));
            self.previous.push(chain_head.unwrap_or(END));
        }
        term_id
    }

    /// Return the id of a term that at least one document contains, or None.
    pub(super) fn find(&self, term: &str) -> Option<u32> {
        self.interner.find(term).filter(|&term_id| self.postings(term_id).live() > 0)
    }

    /// Return the spelling of a term.
    pub(super) fn spelling(&self, term_id: u32) -> &str {
        self.interner.get(term_id)
    }

    /// Return the posting list of a term.
    pub(super) fn postings(&self, term_id: u32) -> &Postings {
        &self.postings[term_id as usize]
    }

    /// Return the posting list of a term, mutable.
    pub(super) fn postings_mut(&mut self, term_id: u32) -> &mut Postings {
        &mut self.postings[term_id as usize]
    }

    /// Return the terms nearest to one that no document contains.
    ///
    /// Up to 8 terms that begin with it, shortest first, or else the longest term that it begins with: `config` gives
    /// `configuration`. Scripts written without spaces give nothing.
    pub(super) fn related(&self, term: &str) -> Vec<u32> {
        if term.chars().any(is_unspaced) {
            return Vec::new();
        }
        let mut longer: Vec<(usize, &str, u32)> = self
            .with_same_prefix(term)
            .map(|term_id| (self.spelling(term_id), term_id))
            .filter(|(spelling, term_id)| spelling.starts_with(term) && self.postings(*term_id).live() > 0)
            .map(|(spelling, term_id)| (spelling.len(), spelling, term_id))
            .collect();
        longer.sort_unstable();
        longer.truncate(RELATED_MAX);
        if longer.is_empty() {
            return self.shorter(term).into_iter().collect();
        }
        longer.into_iter().map(|(_, _, term_id)| term_id).collect()
    }

    /// A copy without unused terms and with slots remapped, and the new id of each old term (`END`: dropped).
    pub(super) fn compacted(&self, new_slot: impl Fn(u32) -> Option<u32>) -> (Self, Vec<u32>) {
        let mut compacted = Self::default();
        let mut new_ids = Vec::with_capacity(self.postings.len());
        for (term_id, postings) in (0..).zip(&self.postings) {
            if postings.live() == 0 {
                new_ids.push(END);
                continue;
            }
            let new_id = compacted.id(self.interner.get(term_id));
            compacted.postings[new_id as usize] = postings.remapped(&new_slot);
            new_ids.push(new_id);
        }
        (compacted, new_ids)
    }

    /// The longest known term that this one extends by up to `SUFFIX_MAX` bytes.
    fn shorter(&self, term: &str) -> Option<u32> {
        (1..=SUFFIX_MAX)
            .filter_map(|suffix| term.get(..term.len().checked_sub(suffix)?))
            .filter(|shorter| shorter.len() >= PREFIX_BYTES)
            .find_map(|shorter| self.find(stem(shorter)))
    }

    /// Iterate over the terms with the same prefix, most recent first.
    fn with_same_prefix(&self, term: &str) -> impl Iterator<Item = u32> + '_ {
        let last = prefix(term).and_then(|key| self.prefix_chains.get(&key).copied());
        std::iter::successors(last, |&term_id| {
            Some(self.previous[term_id as usize]).filter(|&previous| previous != END)
        })
    }
}

/// The first `PREFIX_BYTES` bytes of a term, or None if it is shorter.
fn prefix(term: &str) -> Option<[u8; PREFIX_BYTES]> {
    term.as_bytes().first_chunk().copied()
}
