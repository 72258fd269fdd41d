//! The best texts for a question without looking at all of them: `MaxScore` (Turtle and Flood, 1995) in windows of slots.
//!
//! A term whose bound, together with all smaller ones, cannot lift a text over the worst of the best so far need not be
//! read through: it is only looked up for texts that another term found. Sums are first taken in single precision and
//! with a margin; what passes is summed up in full, always in the same order, so that nothing of this shows in the result.

use std::cmp::Ordering;

use super::documents::Documents;
use super::floor::Floor;
use super::groups::Admitted;
use super::list::List;
use super::query::Question;
use super::vocabulary::Vocabulary;
use super::weight::Scale;
use super::window::Window;

/// With fewer postings than one for this many slots, the slots that were met are noted, else all are looked over.
const DENSE: usize = 32;
/// What it costs to read a posting and to look its text up in another list, when reading it alone costs 1.
const LOOKUP: usize = 24;
/// A list up to this length is read once more beforehand, to know from the start what is too little.
const PREVIEW_MAX: usize = 4096;

/// A text that was found.
pub(super) struct Found {
    pub(super) slot: u32,
    /// The sum of the shares.
    pub(super) score: f64,
    /// Where its row of [`Best::shares`] begins.
    row: usize,
}

/// The best texts, best first, and what each term of the question gave to each.
pub(super) struct Best {
    pub(super) found: Vec<Found>,
    shares: Vec<f64>,
    terms: usize,
}

impl Best {
    /// The best `limit` texts that are admitted; equal ones by id.
    pub(super) fn new(
        question: &Question,
        limit: usize,
        vocabulary: &Vocabulary,
        documents: &Documents,
        scale: &Scale,
        admitted: &Admitted<'_>,
    ) -> Self {
        let mut best = Self { found: Vec::new(), shares: Vec::new(), terms: question.terms.len() };
        if limit == 0 || question.terms.is_empty() {
            return best;
        }
        let lists = List::all(&question.terms, vocabulary, scale);
        let mut search =
            Search { floor: Floor::new(limit), limit, needed: question.needed, lists, documents, scale, admitted };
        search.preview();
        search.run();
        for slot in search.floor.into_candidates() {
            best.add(slot, question, vocabulary, scale);
        }
        best.sort(limit, documents);
        best
    }

    /// What each term of the question gave to a text, in their order; nothing where it does not stand.
    pub(super) fn shares(&self, found: &Found) -> &[f64] {
        self.shares.get(found.row..found.row + self.terms).unwrap_or_default()
    }

    fn add(&mut self, slot: u32, question: &Question, vocabulary: &Vocabulary, scale: &Scale) {
        let row = self.shares.len();
        self.shares.extend(question.terms.iter().map(|asked| {
            let mark = vocabulary.postings(asked.number).find(slot, 0);
            mark.map_or(0.0, |mark| scale.gives(mark, asked.weight))
        }));
        self.found.push(Found { slot, score: self.shares[row..].iter().sum(), row });
    }

    fn sort(&mut self, limit: usize, documents: &Documents) {
        let better = |a: &Found, b: &Found| -> Ordering {
            b.score.total_cmp(&a.score).then_with(|| documents.id(a.slot).cmp(documents.id(b.slot)))
        };
        if self.found.len() > limit {
            self.found.select_nth_unstable_by(limit, better);
            self.found.truncate(limit);
        }
        self.found.sort_unstable_by(better);
    }
}

struct Search<'s> {
    floor: Floor,
    limit: usize,
    /// How many terms a text must have.
    needed: usize,
    lists: Vec<List<'s>>,
    documents: &'s Documents,
    scale: &'s Scale,
    admitted: &'s Admitted<'s>,
}

impl Search<'_> {
    /// Raises the floor to what the term that tells most gives to enough texts alone.
    fn preview(&mut self) {
        if self.needed > 1 {
            return;
        }
        let lengths = self.limit..=PREVIEW_MAX;
        let telling = self.lists.iter().rev().find(|list| lengths.contains(&list.left()));
        let Some(list) = telling else { return };
        let admitted = list.stream(self.scale).filter(|(slot, _)| self.admitted.has(*slot));
        let mut gains: Vec<f32> = admitted.map(|(_, gain)| gain).collect();
        if gains.len() >= self.limit {
            let (_, least, _) = gains.select_nth_unstable_by(self.limit - 1, |a, b| b.total_cmp(a));
            self.floor.raise(*least);
        }
    }

    fn run(&mut self) {
        let mut window = Window::new();
        let mut done = 0;
        while let Some(essential) = self.essential(done) {
            let lists = &mut self.lists[essential..];
            let Some(base) = lists.iter().filter_map(List::slot).min().map(Window::start) else { return };
            if let [list] = lists {
                let texts = list.stream(self.scale);
                return texts.for_each(|(slot, gained)| self.consider(slot, gained, essential));
            }
            let waiting: usize = lists.iter().map(List::left).sum();
            if waiting < (self.documents.slots() - base as usize) / DENSE {
                for list in lists {
                    list.sum(base, self.scale, |place, gain| window.touch(place, gain));
                }
                window.drain_touched(|place, gained| self.consider(base.saturating_add(place), gained, essential));
            } else {
                for list in lists {
                    list.sum(base, self.scale, |place, gain| window.add(place, gain));
                }
                let least = self.floor.least() - self.rest(essential);
                window.drain(least, |place, gained| self.consider(base.saturating_add(place), gained, essential));
            }
            done = Window::end(base);
        }
    }

    /// From which list on to read; those before it are looked up. None if no text can be among the best any more.
    fn essential(&mut self, done: u32) -> Option<usize> {
        let least = self.floor.least();
        let most = self.lists.iter().position(|list| list.reach >= least)?;
        self.lists.iter_mut().for_each(|list| list.skip_to(done));
        let mut left: usize = self.lists[most..].iter().map(List::left).sum();
        let cost = |left: usize, at: usize| (left * if at > 0 { LOOKUP } else { 1 }, at);
        let mut cheapest = cost(left, most);
        for at in (0..most).rev() {
            left += self.lists[at].left();
            cheapest = cheapest.min(cost(left, at));
        }
        Some(cheapest.1)
    }

    /// Looks up the rest of a text that the lists from `essential` on gave this much.
    fn consider(&mut self, slot: u32, mut gained: f32, essential: usize) {
        if gained + self.rest(essential) < self.floor.least() || !self.admitted.has(slot) {
            return;
        }
        for list in self.lists[..essential].iter_mut().rev() {
            if gained + list.reach < self.floor.least() {
                return;
            }
            gained += list.look_up(slot, self.scale).unwrap_or(0.0);
        }
        if self.needed == 1 || self.lists.iter().filter(|list| list.has(slot)).count() >= self.needed {
            self.floor.add(gained, slot);
        }
    }

    /// What the lists before `essential` give together at most.
    fn rest(&self, essential: usize) -> f32 {
        essential.checked_sub(1).map_or(0.0, |last| self.lists[last].reach)
    }
}
