//! Top-k retrieval without scoring every document: `MaxScore` (Turtle and Flood, 1995) over windows of slots.
//!
//! The terms with the smallest upper bounds, as long as their bounds together stay below the current threshold (the
//! k-th best score so far), cannot bring a document into the top k alone: they are non-essential, and are only looked
//! up for documents that an essential term matched. Scores are first summed in single precision and compared with a
//! margin; the candidates are then scored in double precision, always in the same order, so that no approximation shows
//! in the result.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::bm25::Bm25;
use super::cursor::TermCursor;
use super::documents::Documents;
use super::filter::AcceptedSlots;
use super::keep_best;
use super::list_cache::List;
use super::query::Query;
use super::score_window::ScoreWindow;

/// Slots per posting from which a window is sparse: then touched slots are recorded, else the whole window is scanned.
const SPARSE: usize = 32;
/// Cost of reading a posting and looking its document up in another list, relative to reading it alone.
const LOOKUP_COST: usize = 24;
/// Postings up to which a list is scored once before the search, to begin with a good threshold.
const PREVIEW_MAX: usize = 4096;

/// A part of an index: its documents, those that are accepted, and its posting lists in the order of the query's terms.
pub(super) struct Part<'i> {
    pub(super) documents: &'i Documents,
    pub(super) accepted: AcceptedSlots<'i>,
    pub(super) lists: Vec<List<'i>>,
}

/// A document of the result.
pub(super) struct Scored {
    /// The number of its part.
    pub(super) part: usize,
    pub(super) slot: u32,
    /// The sum of its term scores.
    pub(super) score: f64,
    /// Where its row of [`TopK::term_scores`] begins.
    row: usize,
}

/// The best documents, best first, and the score of each query term in each.
pub(super) struct TopK {
    pub(super) documents: Vec<Scored>,
    term_scores: Vec<f64>,
    terms: usize,
}

impl TopK {
    /// Return the best `limit` accepted documents of all parts; equal scores are ordered by id.
    pub(super) fn search(query: &Query, limit: usize, parts: &[Part<'_>], bm25: &Bm25) -> Self {
        let mut top = Self { documents: Vec::new(), term_scores: Vec::new(), terms: query.terms.len() };
        if limit == 0 || query.terms.is_empty() {
            return top;
        }
        let mut threshold = Threshold::new(limit);
        for (number, part) in parts.iter().enumerate() {
            threshold.part = number;
            let cursors = TermCursor::all(&query.terms, &part.lists, bm25);
            let min_matches = query.min_matches;
            let mut search = Search { threshold: &mut threshold, limit, min_matches, cursors, part, bm25 };
            search.preview();
            search.run();
        }
        for (part, slot) in threshold.into_candidates() {
            top.add(part, slot, query, &parts[part].lists, bm25);
        }
        top.sort(limit, parts);
        top
    }

    /// Return the score of each query term in a document, in the order of the query; 0 for terms that it lacks.
    pub(super) fn term_scores(&self, scored: &Scored) -> &[f64] {
        self.term_scores.get(scored.row..scored.row + self.terms).unwrap_or_default()
    }

    /// Score a candidate in double precision.
    fn add(&mut self, part: usize, slot: u32, query: &Query, lists: &[List<'_>], bm25: &Bm25) {
        let row = self.term_scores.len();
        self.term_scores.extend(query.terms.iter().zip(lists).map(|(term, postings)| {
            let impact = postings.find(slot, 0);
            impact.map_or(0.0, |impact| bm25.score(impact, term.weight))
        }));
        self.documents.push(Scored { part, slot, score: self.term_scores[row..].iter().sum(), row });
    }

    /// Keep the best `limit` documents, in order.
    fn sort(&mut self, limit: usize, parts: &[Part<'_>]) {
        let id = |scored: &Scored| parts[scored.part].documents.id(scored.slot);
        keep_best(&mut self.documents, limit, |a, b| b.score.total_cmp(&a.score).then_with(|| id(a).cmp(id(b))));
    }
}

/// A running search of one part. The threshold is that of all parts.
struct Search<'s> {
    threshold: &'s mut Threshold,
    limit: usize,
    /// The number of query terms that a document must contain.
    min_matches: usize,
    /// Ascending by upper bound.
    cursors: Vec<TermCursor<'s>>,
    part: &'s Part<'s>,
    bm25: &'s Bm25,
}

impl Search<'_> {
    /// Raise the threshold to the k-th best score that one short list gives alone.
    ///
    /// The list of the highest upper bound with `limit` to `PREVIEW_MAX` postings is taken. With `min_matches` above 1
    /// a document of that list alone may not be in the result, so that its score proves nothing.
    fn preview(&mut self) {
        if self.min_matches > 1 {
            return;
        }
        let lengths = self.limit..=PREVIEW_MAX;
        let strongest = self.cursors.iter().rev().find(|cursor| lengths.contains(&cursor.remaining()));
        let Some(cursor) = strongest else { return };
        let accepted = cursor.iter_rest(self.bm25).filter(|(slot, _)| self.part.accepted.contains(*slot));
        let mut scores: Vec<f32> = accepted.map(|(_, score)| score).collect();
        if scores.len() >= self.limit {
            let (_, least, _) = scores.select_nth_unstable_by(self.limit - 1, |a, b| b.total_cmp(a));
            self.threshold.raise(*least);
        }
    }

    /// Sum up the essential terms window by window, and consider every document that may reach the threshold.
    fn run(&mut self) {
        let mut window = ScoreWindow::new();
        let mut done = 0;
        while let Some(essential) = self.first_essential(done) {
            let cursors = &mut self.cursors[essential..];
            let Some(base) = cursors.iter().filter_map(TermCursor::slot).min().map(ScoreWindow::start) else { return };
            if let [cursor] = cursors {
                // One essential list is left: its documents come in order already, no window is needed.
                let documents = cursor.iter_rest(self.bm25);
                return documents.for_each(|(slot, score)| self.consider(slot, score, essential));
            }
            let remaining: usize = cursors.iter().map(TermCursor::remaining).sum();
            if remaining < (self.part.documents.slots() - base as usize) / SPARSE {
                for cursor in cursors {
                    cursor.add_window(base, self.bm25, |offset, score| window.touch(offset, score));
                }
                window.drain_touched(|offset, score| self.consider(base.saturating_add(offset), score, essential));
            } else {
                for cursor in cursors {
                    cursor.add_window(base, self.bm25, |offset, score| window.add(offset, score));
                }
                let least = self.threshold.score() - self.bound_below(essential);
                window.drain(least, |offset, score| self.consider(base.saturating_add(offset), score, essential));
            }
            done = ScoreWindow::end(base);
        }
    }

    /// Return the index of the first essential cursor, or None if no further document can reach the threshold.
    ///
    /// Any split up to the first cursor whose cumulative bound reaches the threshold is correct: fewer essential lists
    /// mean fewer postings to read but a look-up for each. The cheapest by this estimate is taken.
    fn first_essential(&mut self, done: u32) -> Option<usize> {
        let threshold = self.threshold.score();
        let last_possible = self.cursors.iter().position(|cursor| cursor.cumulative_bound >= threshold)?;
        self.cursors.iter_mut().for_each(|cursor| cursor.skip_to(done));
        let mut remaining: usize = self.cursors[last_possible..].iter().map(TermCursor::remaining).sum();
        let cost = |remaining: usize, first: usize| (remaining * if first > 0 { LOOKUP_COST } else { 1 }, first);
        let mut cheapest = cost(remaining, last_possible);
        for first in (0..last_possible).rev() {
            remaining += self.cursors[first].remaining();
            cheapest = cheapest.min(cost(remaining, first));
        }
        Some(cheapest.1)
    }

    /// Add the non-essential terms to a document's score, as long as it can still reach the threshold.
    fn consider(&mut self, slot: u32, mut score: f32, essential: usize) {
        if score + self.bound_below(essential) < self.threshold.score() || !self.part.accepted.contains(slot) {
            return;
        }
        for cursor in self.cursors[..essential].iter_mut().rev() {
            if score + cursor.cumulative_bound < self.threshold.score() {
                return;
            }
            score += cursor.score_of(slot, self.bm25).unwrap_or(0.0);
        }
        let matching_terms = || self.cursors.iter().filter(|cursor| cursor.contains(slot)).count();
        if self.min_matches == 1 || matching_terms() >= self.min_matches {
            self.threshold.add(score, slot);
        }
    }

    /// Return the upper bound of the summed scores of the cursors before `essential`.
    fn bound_below(&self, essential: usize) -> f32 {
        essential.checked_sub(1).map_or(0.0, |last| self.cursors[last].cumulative_bound)
    }
}

/// Factor that keeps the threshold below the exact k-th score despite rounding.
///
/// Sums of 64 single-precision terms, each within a millionth, differ from the exact ones by less than 1 in 10,000.
const MARGIN: f32 = 1.0 - 1e-4;
/// Candidates collected before those below the threshold are dropped for the first time.
const CANDIDATES_MIN: usize = 256;

/// The score threshold of the top k, and the candidates that reached it.
struct Threshold {
    /// A document of a lower score cannot be in the top k.
    score: f32,
    limit: usize,
    /// The best `limit` scores in single precision, the worst on top.
    ///
    /// Scores are positive, so that the order of their bits is their order.
    best: BinaryHeap<Reverse<u32>>,
    /// The number of the part that is being searched.
    part: usize,
    /// Score, part and slot.
    candidates: Vec<(f32, usize, u32)>,
    capacity: usize,
}

impl Threshold {
    /// A threshold of 0, without candidates.
    fn new(limit: usize) -> Self {
        Self { score: 0.0, limit, best: BinaryHeap::new(), part: 0, candidates: Vec::new(), capacity: CANDIDATES_MIN }
    }

    /// Return the score that a document must reach.
    fn score(&self) -> f32 {
        self.score
    }

    /// Raise the threshold, as `limit` documents are known to have at least this score.
    fn raise(&mut self, score: f32) {
        self.score = self.score.max(score * MARGIN);
    }

    /// Add a candidate with its score in single precision.
    fn add(&mut self, score: f32, slot: u32) {
        if score < self.score {
            return;
        }
        self.best.push(Reverse(score.to_bits()));
        if self.best.len() > self.limit {
            self.best.pop();
        }
        if let Some(&Reverse(worst)) = self.best.peek().filter(|_| self.best.len() == self.limit) {
            self.raise(f32::from_bits(worst));
        }
        if self.candidates.len() == self.capacity {
            self.candidates.retain(|(score, ..)| *score >= self.score);
            self.capacity = 2 * self.candidates.len() + CANDIDATES_MIN;
        }
        self.candidates.push((score, self.part, slot));
    }

    /// Return part and slot of what may be in the top k: of the documents that are, and few others.
    fn into_candidates(self) -> impl Iterator<Item = (usize, u32)> {
        self.candidates.into_iter().filter(move |(score, ..)| *score >= self.score).map(|(_, part, slot)| (part, slot))
    }
}
