//! Ranking messages together with what was said around them.
//!
//! A message often answers a question without a word of it: "Where did you go?" - "To Oslo, with my sister." So a
//! message is scored twice, alone and as one text with its neighbours, and the scores are added. The texts of
//! neighbours are not indexed again: what a window has of a term is the sum of what its messages have. Candidates are
//! the best messages alone and their neighbours, since a window that scores well has a message in it that does.

use std::cmp::Ordering;
use std::collections::{BTreeMap, HashMap};
use std::fmt::Write as _;

use super::bm25::Bm25;
use super::filter::Filter;
use super::list_cache::List;
use super::query::Query;
use super::segment::SegmentError;
use super::top_k::{Part, TopK};
use super::{Hit, Index};

/// Neighbours on either side that belong to the window of a message.
const REACH: usize = 2;
/// Numbers looked through for a neighbour: in a transcript, lines that say nothing are between two messages.
const GAP: u64 = 12;

/// How messages are ranked by [`Index::search_around`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Surroundings {
    /// The number of the best messages that are looked at together with their neighbours.
    pub candidates: usize,
    /// What the score of a message's window counts, beside that of the message itself.
    pub weight: f64,
    /// What else raises or lowers the score of a message.
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

/// What is known of a document that is looked at.
struct Looked {
    /// The neighbours, nearest first, before and behind it.
    before: Vec<Place>,
    behind: Vec<Place>,
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
        let mut around =
            Around { index: self, parts: &parts, query: &query, looked: HashMap::new(), rows: HashMap::new() };
        let mut candidates: Vec<Place> = Vec::new();
        for scored in &best.documents {
            let place = (scored.part, scored.slot);
            candidates.push(place);
            candidates.extend(around.neighbours(place).filter(|&(part, slot)| parts[part].accepted.contains(slot)));
        }
        candidates.sort_unstable();
        candidates.dedup();
        let score = |place: Place| -> (f64, Place) {
            let mut score = 0.0;
            around.for_each_part(place, &bm25, how, |_, part| score += part);
            (score, place)
        };
        let mut scored: Vec<(f64, Place)> = candidates.into_iter().map(score).collect();
        let id = |(part, slot): Place| parts[part].documents.id(slot);
        let better =
            |a: &(f64, Place), b: &(f64, Place)| -> Ordering { b.0.total_cmp(&a.0).then_with(|| id(a.1).cmp(id(b.1))) };
        if scored.len() > limit {
            scored.select_nth_unstable_by(limit, better);
            scored.truncate(limit);
        }
        scored.sort_unstable_by(better);
        Ok(scored.into_iter().map(|(score, place)| around.hit(place, score, &bm25, how)).collect())
    }

    /// Return where a document is that was not removed; `likely` is the part that is looked at first.
    fn place(&self, id: &str, likely: usize) -> Option<Place> {
        let found = |part: usize| {
            let documents = self.segments.get(part).map_or(&self.buffer.documents, |segment| &segment.documents);
            documents.find(id).map(|slot| (part, slot))
        };
        found(likely).or_else(|| (0..=self.segments.len()).filter(|&part| part != likely).find_map(found))
    }

    /// Whether a document is in a group.
    fn is_in(&self, (part, slot): Place, group: &str) -> bool {
        self.segments.get(part).map_or(&self.buffer.groups, |segment| &segment.groups).contains(group, slot)
    }
}

/// Documents that are looked at, with their neighbours and frequencies once they are known.
struct Around<'s> {
    index: &'s Index,
    parts: &'s [Part<'s>],
    query: &'s Query,
    looked: HashMap<Place, Looked>,
    /// The frequency of each query term in a document.
    rows: HashMap<Place, Vec<u8>>,
}

impl Around<'_> {
    /// Iterate over the neighbours of a document, on both sides.
    fn neighbours(&mut self, place: Place) -> impl Iterator<Item = Place> {
        let looked = self.look(place);
        looked.before.iter().chain(&looked.behind).copied().collect::<Vec<_>>().into_iter()
    }

    /// Return a document with its neighbours.
    fn look(&mut self, place: Place) -> &Looked {
        let (index, parts) = (self.index, self.parts);
        self.looked.entry(place).or_insert_with(|| {
            let id = parts[place.0].documents.id(place.1);
            let Some((thread, number)) = numbered(id) else {
                return Looked { before: Vec::new(), behind: Vec::new() };
            };
            let mut id = String::with_capacity(id.len() + 2);
            let mut found = |number: u64| {
                id.clear();
                write!(id, "{thread}/{number}").ok()?;
                index.place(&id, place.0)
            };
            let before =
                (1..=GAP).map_while(|step| number.checked_sub(step)).filter_map(&mut found).take(REACH).collect();
            let behind = (1..=GAP).map_while(|step| number.checked_add(step)).filter_map(found).take(REACH).collect();
            Looked { before, behind }
        })
    }

    /// Return how often each query term is in a document.
    fn row(&mut self, place: Place) -> &[u8] {
        let parts = self.parts;
        self.rows.entry(place).or_insert_with(|| {
            let frequency = |list: &List<'_>| list.find(place.1, 0).map_or(0, |impact| impact.frequency);
            parts[place.0].lists.iter().map(frequency).collect()
        })
    }

    /// Return a candidate as a hit, with the words and boosts that its score is made of.
    fn hit(&mut self, place: Place, score: f64, bm25: &Bm25, how: &Surroundings) -> Hit {
        let mut parts: BTreeMap<String, f64> = BTreeMap::new();
        self.for_each_part(place, bm25, how, |name, part| *parts.entry(name.to_owned()).or_default() += part);
        let mut terms: Vec<(String, f64)> = parts.into_iter().collect();
        terms.sort_by(|a, b| b.1.total_cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
        Hit { id: self.parts[place.0].documents.id(place.1).to_owned(), score, terms }
    }

    /// Call `emit(word, score)` for every query term in a candidate's window, and for every boost with its name.
    fn for_each_part(&mut self, place: Place, bm25: &Bm25, how: &Surroundings, mut emit: impl FnMut(&str, f64)) {
        let query = self.query;
        let members: Vec<Place> = self.neighbours(place).collect();
        let length_of = |(part, slot): Place| self.parts[part].documents.length(slot);
        let length = length_of(place);
        let window = members.iter().fold(length, |sum, &member| sum.saturating_add(length_of(member)));
        let own: Vec<f64> = self.row(place).iter().copied().map(f64::from).collect();
        let mut frequencies = own.clone();
        for member in members {
            self.row(member).iter().zip(&mut frequencies).for_each(|(&more, sum)| *sum += f64::from(more));
        }
        // A window at the end of a thread is shorter and not better for it: all are compared with one of full width.
        let widths = bm25.in_averages(window) / f64::from(u8::try_from(2 * REACH + 1).unwrap_or(u8::MAX));
        for ((term, own), around) in query.terms.iter().zip(own).zip(frequencies).filter(|&(_, around)| around > 0.0) {
            let alone = bm25.score_of(own, bm25.in_averages(length), term.weight);
            let together = bm25.score_of(around, widths, term.weight);
            emit(&term.word, alone + how.weight * together);
        }
        for boost in how.boosts.iter().filter(|boost| boost.score != 0.0) {
            if self.applies(place, &boost.applies) {
                emit(&boost.name, boost.score);
            }
        }
    }

    /// Whether a boost is added to a document.
    fn applies(&mut self, place: Place, applies: &Applies) -> bool {
        match applies {
            Applies::In(group) => self.index.is_in(place, group),
            Applies::After(group) => {
                let before = self.look(place).before.first().copied();
                before.is_some_and(|before| self.index.is_in(before, group))
            }
            Applies::Between(since, end) => {
                let at = self.parts[place.0].documents.timestamp(place.1);
                at.is_some_and(|at| *since <= at && at < *end)
            }
        }
    }
}

/// Split an id into the thread and the number of the message.
fn numbered(id: &str) -> Option<(&str, u64)> {
    let (thread, number) = id.rsplit_once('/')?;
    Some((thread, number.parse().ok()?))
}
