//! Ranking messages together with what was said around them.
//!
//! A message often answers a question without a word of it: "Where did you go?" - "To Oslo, with my sister." So a
//! message is scored twice, alone and as one text with its neighbours, and the scores are added. A long message says
//! itself what it is about, and its window has the words of what is asked and answered beside it: of 240 terms, the
//! window counts a quarter ([`SHORT`]), and the message alone the rest. The texts of
//! neighbours are not indexed again: what a window has of a term is the sum of what its messages have. Candidates are
//! the best messages alone and their neighbours, since a window that scores well has a message in it that does.

use std::collections::BTreeMap;

use super::adjacent_messages::{Side, numbered};
use super::bm25::Bm25;
use super::documents::Documents;
use super::filter::Filter;
use super::query::Query;
use super::segment::SegmentError;
use super::top_k::{Part, TopK};
use super::{Hit, Index, keep_best, sort_terms};

/// Neighbours on either side that belong to the window of a message.
const REACH: usize = 2;
/// Terms of a message whose window counts in full.
const SHORT: f64 = 60.0;
/// Numbers looked through for a neighbour: in a transcript, lines that say nothing are between two messages.
const GAP: u64 = 12;

/// Parameters of the ranking by [`Index::search_around`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Surroundings {
    /// The number of the best messages that are looked at together with their neighbours.
    pub candidates: usize,
    /// Weight of the score of a message's window, beside that of the message itself.
    pub weight: f64,
    /// Groups, each with a factor for the words of its messages.
    pub factors: Vec<(String, f64)>,
    /// A group whose messages are in no window but their own: what tools print is not what was said.
    pub outside: Option<String>,
    /// Further terms that raise or lower the score of a message.
    pub boosts: Vec<Boost>,
}

/// A score that is added to messages to which something applies.
#[derive(Clone, Debug, PartialEq)]
pub struct Boost {
    /// A name for it, as a hit's `terms` show it.
    pub name: String,
    /// The score; a negative one lowers the message.
    pub score: f64,
    /// The messages to which it is added.
    pub applies: Applies,
}

/// The messages to which a boost is added.
#[derive(Clone, Debug, PartialEq)]
pub enum Applies {
    /// Those of a group.
    In(String),
    /// Those whose neighbour before is of a group.
    After(String),
    /// Those with a time at or after the first and before the second one.
    Between(i64, i64),
}

/// Part and slot of a document.
type Place = (usize, u32);

/// A document that is ranked, with its neighbours, nearest first, before and behind it.
struct Candidate {
    place: Place,
    before: [Option<Place>; REACH],
    behind: [Option<Place>; REACH],
}

impl Candidate {
    /// Iterate over the neighbours, on both sides.
    fn neighbours(&self) -> impl Iterator<Item = Place> {
        self.before.into_iter().chain(self.behind).flatten()
    }
}

impl Index {
    /// Return the best `limit` messages that the filter accepts, ranked with their surroundings; equal scores by id.
    ///
    /// The id of a message ends with its number in its thread: `thread/17`. The terms of a hit are those of the message
    /// and of its window, and the names of its boosts.
    ///
    /// # Errors
    ///
    /// A segment cannot be read, or is damaged.
    pub fn search_around(
        &self,
        query: &str,
        limit: usize,
        filter: &Filter,
        how: &Surroundings,
    ) -> Result<Vec<Hit>, SegmentError> {
        let query = Query::new(self, query);
        let bm25 = Bm25::new(self.total_length(), self.len(), self.saturation);
        let parts = self.parts(&query, filter)?;
        let best = TopK::search(&query, how.candidates.max(limit), &parts, &bm25);
        let mut places: Vec<Place> = Vec::new();
        for scored in &best.documents {
            let candidate = self.candidate((scored.part, scored.slot), how);
            places.push(candidate.place);
            places.extend(candidate.neighbours().filter(|&(part, slot)| parts[part].accepted.contains(slot)));
        }
        sort_once(&mut places);
        let candidates: Vec<Candidate> = places.into_iter().map(|place| self.candidate(place, how)).collect();
        let around = Around::new(self, &parts, &query, &candidates);
        let score = |candidate: Candidate| -> (f64, Candidate) {
            let mut score = 0.0;
            around.for_each_part(&candidate, &bm25, how, |_, part| score += part);
            (score, candidate)
        };
        let mut scored: Vec<(f64, Candidate)> =
            candidates.into_iter().filter(|candidate| around.has_words(candidate)).map(score).collect();
        let id = |candidate: &Candidate| parts[candidate.place.0].documents.id(candidate.place.1);
        keep_best(&mut scored, limit, |a, b| b.0.total_cmp(&a.0).then_with(|| id(&a.1).cmp(id(&b.1))));
        Ok(scored.into_iter().map(|(score, candidate)| around.hit(&candidate, score, &bm25, how)).collect())
    }

    /// Return a document with its neighbours; one whose id has no number has none.
    fn candidate(&self, place: Place, how: &Surroundings) -> Candidate {
        let said = |place: &Place| how.outside.as_ref().is_none_or(|group| !self.is_in(*place, group));
        let [before, behind] =
            [Side::Before, Side::Behind].map(|side| self.neighbours(place, side).map(|found| found.filter(&said)));
        Candidate { place, before, behind }
    }

    /// Return the nearest messages on one side of a document, nearest first.
    ///
    /// The message that is beside another one in the same segment is known. Other ids are looked up.
    fn neighbours(&self, place: Place, side: Side) -> [Option<Place>; REACH] {
        let mut found = [None; REACH];
        let mut rest = found.iter_mut();
        let Some(mut free) = rest.next() else { return found };
        let (mut last, mut id) = (Some(place), String::new());
        for step in 1..=GAP {
            last = last.and_then(|last| self.adjacent(last, side)).or_else(|| self.look_up(place, side, step, &mut id));
            if last.is_some() {
                *free = last;
                match rest.next() {
                    Some(next) => free = next,
                    None => break,
                }
            }
        }
        found
    }

    /// Return the message that is beside another one in the same segment.
    fn adjacent(&self, (part, slot): Place, side: Side) -> Option<Place> {
        let segment = self.segments.get(part)?;
        let found = segment.adjacent().beside(slot, side);
        found.filter(|&found| segment.documents.live().contains(found)).map(|found| (part, found))
    }

    /// Return the message that is so many numbers from another one; `id` is scratch space.
    fn look_up(&self, (part, slot): Place, side: Side, step: u64, id: &mut String) -> Option<Place> {
        let (thread, number) = numbered(self.documents(part).id(slot))?;
        let number = match side {
            Side::Before => number.checked_sub(step),
            Side::Behind => number.checked_add(step),
        };
        id.clear();
        id.push_str(thread);
        id.push('/');
        id.push_str(&number?.to_string());
        self.place(id, part)
    }

    /// Return where a document is that was not removed; `likely` is the part that is looked at first.
    fn place(&self, id: &str, likely: usize) -> Option<Place> {
        let found = |part: usize| self.documents(part).find(id).map(|slot| (part, slot));
        found(likely).or_else(|| (0..=self.segments.len()).filter(|&part| part != likely).find_map(found))
    }

    /// The documents of a part: of a segment, or of the buffer behind the last one.
    fn documents(&self, part: usize) -> &Documents {
        self.segments.get(part).map_or(&self.buffer.documents, |segment| &segment.documents)
    }

    /// Return true if a document is in a group.
    fn is_in(&self, (part, slot): Place, group: &str) -> bool {
        self.segments.get(part).map_or(&self.buffer.groups, |segment| &segment.groups).contains(group, slot)
    }
}

/// All documents that are looked at, and how often each has each term of the query.
struct Around<'s> {
    index: &'s Index,
    parts: &'s [Part<'s>],
    query: &'s Query,
    /// Ascending.
    places: Vec<Place>,
    /// For each of these places the frequency of each query term.
    frequencies: Vec<u8>,
}

impl<'s> Around<'s> {
    /// Look at candidates and their neighbours.
    fn new(index: &'s Index, parts: &'s [Part<'s>], query: &'s Query, candidates: &[Candidate]) -> Self {
        let all = candidates.iter().flat_map(|candidate| candidate.neighbours().chain([candidate.place]));
        let mut places: Vec<Place> = all.collect();
        sort_once(&mut places);
        let mut frequencies = vec![0; places.len() * query.terms.len()];
        for term in 0..query.terms.len() {
            // Places ascend, so that each list is read forward, from one place to the next.
            let mut next = (0, 0);
            for (row, &(part, slot)) in frequencies.chunks_exact_mut(query.terms.len()).zip(&places) {
                let list = &parts[part].lists[term];
                next = (part, list.seek(slot, if next.0 == part { next.1 } else { 0 }));
                if list.slot(next.1) == Some(slot) {
                    row[term] = list.impact(next.1).frequency;
                }
            }
        }
        Self { index, parts, query, places, frequencies }
    }

    /// Return how often each query term is in a document that is looked at.
    fn row(&self, place: Place) -> &[u8] {
        let terms = self.query.terms.len();
        let at = self.places.binary_search(&place).map_or(0, |at| at * terms);
        self.frequencies.get(at..at + terms).unwrap_or_default()
    }

    /// Return true if a candidate or its window has a word of the query; what is beside a tool's output may have none.
    fn has_words(&self, candidate: &Candidate) -> bool {
        let mut window = candidate.neighbours().chain([candidate.place]);
        window.any(|place| self.row(place).iter().any(|&frequency| frequency > 0))
    }

    /// Return a candidate as a hit, with the words and boosts that its score is made of.
    fn hit(&self, candidate: &Candidate, score: f64, bm25: &Bm25, how: &Surroundings) -> Hit {
        let mut parts: BTreeMap<String, f64> = BTreeMap::new();
        self.for_each_part(candidate, bm25, how, |name, part| match parts.get_mut(name) {
            Some(sum) => *sum += part,
            None => drop(parts.insert(name.to_owned(), part)),
        });
        let mut terms: Vec<(String, f64)> = parts.into_iter().collect();
        sort_terms(&mut terms);
        let (part, slot) = candidate.place;
        let asked_for = |boost: &&Boost| {
            let is_named = boost.score > 0.0 && !matches!(boost.applies, Applies::After(_));
            is_named && self.applies(candidate, &boost.applies)
        };
        let named = how.boosts.iter().filter(asked_for).count();
        let relevance = self.query.relevance(terms.iter().map(|(word, _)| word.as_str()), named);
        Hit { id: self.parts[part].documents.id(slot).to_owned(), score, terms, relevance }
    }

    /// Call `emit(word, score)` for every query term in a candidate's window, and for every boost with its name.
    fn for_each_part(&self, candidate: &Candidate, bm25: &Bm25, how: &Surroundings, mut emit: impl FnMut(&str, f64)) {
        let length_of = |(part, slot): Place| self.parts[part].documents.length(slot);
        let length = length_of(candidate.place);
        let window = candidate.neighbours().fold(length, |sum, member| sum.saturating_add(length_of(member)));
        // A window at the end of a thread is shorter and not better for it: all are compared with one of full width.
        let widths = bm25.in_averages(window) / f64::from(u8::try_from(2 * REACH + 1).unwrap_or(u8::MAX));
        let own = self.row(candidate.place);
        let rows: [&[u8]; 2 * REACH] = {
            let mut neighbours = candidate.neighbours();
            std::array::from_fn(|_| neighbours.next().map_or(&[][..], |member| self.row(member)))
        };
        let leans = (SHORT / f64::from(length.max(1))).min(1.0);
        let in_group = |(group, _): &&(String, f64)| self.index.is_in(candidate.place, group);
        let factor: f64 = how.factors.iter().filter(in_group).map(|(_, factor)| factor).product();
        for (at, (term, &own)) in self.query.terms.iter().zip(own).enumerate() {
            let beside: u32 = rows.iter().filter_map(|row| row.get(at)).map(|&more| u32::from(more)).sum();
            let around = u32::from(own) + beside;
            if around == 0 {
                continue;
            }
            let alone = bm25.score_of(f64::from(own), bm25.in_averages(length), term.weight);
            let together = bm25.score_of(f64::from(around), widths, term.weight);
            emit(&term.word, factor * (alone + how.weight * (leans * together + (1.0 - leans) * alone)));
        }
        for boost in how.boosts.iter().filter(|boost| boost.score != 0.0) {
            if self.applies(candidate, &boost.applies) {
                emit(&boost.name, boost.score);
            }
        }
    }

    /// Return true if a boost is added to a document.
    fn applies(&self, candidate: &Candidate, applies: &Applies) -> bool {
        match applies {
            Applies::In(group) => self.index.is_in(candidate.place, group),
            Applies::After(group) => candidate.before[0].is_some_and(|before| self.index.is_in(before, group)),
            Applies::Between(since, end) => {
                let (part, slot) = candidate.place;
                let at = self.parts[part].documents.timestamp(slot);
                at.is_some_and(|at| *since <= at && at < *end)
            }
        }
    }
}

/// Sort places, and leave each once.
fn sort_once(places: &mut Vec<Place>) {
    places.sort_unstable();
    places.dedup();
}
