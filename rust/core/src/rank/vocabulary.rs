//! The vocabulary of the index: spelling, posting list and prefix neighbours of every term.

use std::collections::HashMap;

use super::interner::Interner;
use super::postings::Postings;

/// Bytes that related terms have in common at least: the key of the prefix chains.
pub(super) const PREFIX_BYTES: usize = 4;
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

    /// Iterate over the terms that at least one document contains and that begin with `prefix` of 4 bytes or more.
    pub(super) fn with_prefix(&self, prefix: &str) -> impl Iterator<Item = &str> {
        let same = self.with_same_prefix(prefix).filter(|&term_id| self.postings(term_id).live() > 0);
        same.map(|term_id| self.spelling(term_id)).filter(move |spelling| spelling.starts_with(prefix))
    }

    /// Iterate over the ids and spellings of the terms that at least one document contains.
    pub(super) fn iter(&self) -> impl Iterator<Item = (u32, &str)> {
        let live = (0..).zip(&self.postings).filter(|(_, postings)| postings.live() > 0);
        live.map(|(term_id, _)| (term_id, self.interner.get(term_id)))
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
