//! The postings of one term of a question, read once from the first slot to the last.

use super::postings::Postings;
use super::query::Asked;
use super::vocabulary::Vocabulary;
use super::weight::{Scale, top};
use super::window::WINDOW;

/// A term's postings, and how far they were read.
pub(super) struct List<'v> {
    pub(super) postings: &'v Postings,
    /// What the term would give to a text that says nothing else.
    pub(super) top: f32,
    /// What this list and those before it give together at most.
    pub(super) reach: f32,
    /// What the term gives at most.
    bound: f32,
    /// Where the window begins in it.
    from: usize,
    /// Where reading goes on.
    next: usize,
}

impl<'v> List<'v> {
    /// The lists of some terms, those that can give least first.
    pub(super) fn all(terms: &[Asked], vocabulary: &'v Vocabulary, scale: &Scale) -> Vec<Self> {
        let mut lists: Vec<Self> = terms
            .iter()
            .map(|asked| {
                let (postings, top) = (vocabulary.postings(asked.number), top(asked.weight));
                Self { postings, top, reach: 0.0, bound: postings.bound(scale, top), from: 0, next: 0 }
            })
            .collect();
        lists.sort_by(|a, b| a.bound.total_cmp(&b.bound));
        let mut reach = 0.0;
        for list in &mut lists {
            reach += list.bound;
            list.reach = reach;
        }
        lists
    }

    /// How many postings were not read yet.
    pub(super) fn left(&self) -> usize {
        self.postings.len() - self.next
    }

    /// The next slot to read.
    pub(super) fn slot(&self) -> Option<u32> {
        self.postings.slot(self.next)
    }

    /// Leaves out what stands before this slot.
    pub(super) fn skip_to(&mut self, slot: u32) {
        self.next = self.postings.reach(slot, self.next);
        self.from = self.next;
    }

    /// What the term gives to this text, and to none before it any more.
    pub(super) fn look_up(&mut self, slot: u32, scale: &Scale) -> Option<f32> {
        self.skip_to(slot);
        (self.slot() == Some(slot)).then(|| scale.about(self.postings.mark(self.next), self.top))
    }

    /// Whether the term stands in this text, which is not before the window.
    pub(super) fn has(&self, slot: u32) -> bool {
        self.postings.find(slot, self.from).is_some()
    }

    /// Gives what the list adds to each text of the window that begins at `base`.
    pub(super) fn sum(&mut self, base: u32, scale: &Scale, mut give: impl FnMut(usize, f32)) {
        self.skip_to(base);
        let low = base & u32::from(u16::MAX);
        let mut read = 0;
        for (slot, mark) in self.postings.block(base, self.next) {
            let place = slot.wrapping_sub(low) as usize;
            if place >= WINDOW {
                break;
            }
            give(place, scale.about(mark, self.top));
            read += 1;
        }
        self.next += read;
    }

    /// Gives every text that is left, and what the term adds to it.
    pub(super) fn stream(&self, scale: &'v Scale) -> impl Iterator<Item = (u32, f32)> + use<'v> {
        let (postings, start, top) = (self.postings, self.next, self.top);
        postings.iter(start).map(move |(slot, mark)| (slot, scale.about(mark, top)))
    }
}
