//! A cursor over the postings of one query term, read forward once.

use super::bm25::Bm25;
use super::list_cache::List;
use super::postings::Postings;
use super::query::QueryTerm;
use super::score_window::WINDOW;

/// The postings of a term and the read position.
pub(super) struct TermCursor<'p> {
    pub(super) postings: &'p Postings,
    /// The limit of the term's score as its frequency grows, see [`Bm25::max_score`].
    pub(super) max_score: f32,
    /// Upper bound of the summed scores of this cursor and all before it.
    pub(super) cumulative_bound: f32,
    /// Upper bound of the term's score in any document.
    upper_bound: f32,
    /// The index of the first posting of the current window.
    window_start: usize,
    /// The index of the next posting to read.
    next: usize,
}

impl<'p> TermCursor<'p> {
    /// Return cursors over the posting lists of the given terms, ascending by upper bound, with cumulative bounds as
    /// `MaxScore` needs them. Empty lists are left out.
    pub(super) fn all(terms: &[QueryTerm], lists: &'p [List<'_>], bm25: &Bm25) -> Vec<Self> {
        let mut cursors: Vec<Self> = terms
            .iter()
            .zip(lists)
            .filter(|(_, postings)| postings.len() > 0)
            .map(|(term, postings)| {
                let (postings, max_score) = (&**postings, bm25.max_score(term.weight));
                Self {
                    postings,
                    max_score,
                    cumulative_bound: 0.0,
                    upper_bound: postings.bound(bm25, max_score),
                    window_start: 0,
                    next: 0,
                }
            })
            .collect();
        cursors.sort_by(|a, b| a.upper_bound.total_cmp(&b.upper_bound));
        let mut sum = 0.0;
        for cursor in &mut cursors {
            sum += cursor.upper_bound;
            cursor.cumulative_bound = sum;
        }
        cursors
    }

    /// The number of postings not read yet.
    pub(super) fn remaining(&self) -> usize {
        self.postings.len() - self.next
    }

    /// Return the slot of the next posting.
    pub(super) fn slot(&self) -> Option<u32> {
        self.postings.slot(self.next)
    }

    /// Skip postings before `slot`.
    pub(super) fn skip_to(&mut self, slot: u32) {
        self.next = self.postings.seek(slot, self.next);
        self.window_start = self.next;
    }

    /// Return the term's score in the document of `slot`, or None; the cursor moves there and cannot go back.
    pub(super) fn score_of(&mut self, slot: u32, bm25: &Bm25) -> Option<f32> {
        self.skip_to(slot);
        (self.slot() == Some(slot)).then(|| bm25.approximate(self.postings.impact(self.next), self.max_score))
    }

    /// Return true if the document of `slot` contains the term; the slot must not be before the current window.
    pub(super) fn contains(&self, slot: u32) -> bool {
        self.postings.find(slot, self.window_start).is_some()
    }

    /// Call `add(offset, score)` for each posting in the window that begins at slot `base`.
    pub(super) fn add_window(&mut self, base: u32, bm25: &Bm25, mut add: impl FnMut(usize, f32)) {
        self.skip_to(base);
        let low = base & u32::from(u16::MAX);
        let mut read = 0;
        for (slot, impact) in self.postings.block(base, self.next) {
            let offset = slot.wrapping_sub(low) as usize;
            if offset >= WINDOW {
                break;
            }
            add(offset, bm25.approximate(impact, self.max_score));
            read += 1;
        }
        self.next += read;
    }

    /// Iterate over (slot, score) of all remaining postings, without moving the cursor.
    pub(super) fn iter_rest(&self, bm25: &'p Bm25) -> impl Iterator<Item = (u32, f32)> + use<'p> {
        let (postings, start, max_score) = (self.postings, self.next, self.max_score);
        postings.iter(start).map(move |(slot, impact)| (slot, bm25.approximate(impact, max_score)))
    }
}
