//! What changed between two sequences: the fewest changes that can be found in close to linear time.
//!
//! Few changes of short texts are found exactly, with Myers' linear-space algorithm (1986). Else lines that stand once
//! on each side are anchors (the idea of patience diff, Bram Cohen 2005): the choice of them that keeps its order and
//! stands among the most equal lines parts the texts, and what lies between is searched again, bounded in cost. A
//! shuffled text costs no more than a few times an ordered one.

mod anchors;
mod lines;
mod myers;
mod slide;

pub use lines::{Interner, Lines};

use anchors::Anchors;

/// Lines `old_start..old_end` of the old text became lines `new_start..new_end` of the new one; never both empty.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hunk {
    /// The first old line that is gone, from 0.
    pub old_start: usize,
    /// The old line after the last that is gone.
    pub old_end: usize,
    /// The first new line that came, from 0.
    pub new_start: usize,
    /// The new line after the last that came.
    pub new_end: usize,
}

/// Equal lines: `length` of them, from `old` and from `new`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Run {
    pub(crate) old: usize,
    pub(crate) new: usize,
    pub(crate) length: usize,
}

/// The changes from one text to another, by whole lines; a line ending is no part of its line.
#[must_use]
pub fn diff_text(old: &str, new: &str) -> Vec<Hunk> {
    let mut interner = Interner::default();
    let old = interner.first(old);
    let new = interner.like(&old, new);
    diff(&old.ids, &new.ids, interner.len())
}

/// The changes from one sequence of ids below `kinds` to another, in order; two of them never touch.
#[must_use]
pub fn diff(old: &[u32], new: &[u32], kinds: usize) -> Vec<Hunk> {
    let mut search = Search { old, new, anchors: Anchors::of(kinds), runs: Vec::new() };
    search.all();
    let mut hunks = hunks(&search.runs, old.len(), new.len());
    slide::down(&mut hunks, old, new);
    hunks
}

/// What is left to be done, the next at the end.
enum Work {
    /// Equal lines that belong behind what was found so far.
    Equal(Run),
    /// A part that may hold more equal lines.
    Part(Part),
}

/// Two ranges that are to be compared.
#[derive(Clone, Copy)]
pub(crate) struct Part {
    pub(crate) old: (usize, usize),
    pub(crate) new: (usize, usize),
    /// How many rounds of anchors led here.
    depth: usize,
}

/// Lines of both sides up to which a part is searched at once, without anchors, for a script of few edits.
const SHORT: usize = 128;
/// Edits in each direction that such a search may try.
const FEW_EDITS: usize = 12;

/// Rounds of anchors inside anchors before Myers' algorithm takes what is left: it keeps the work linear.
const DEPTH_MAX: usize = 24;

struct Search<'s> {
    old: &'s [u32],
    new: &'s [u32],
    anchors: Anchors,
    runs: Vec<Run>,
}

impl Search<'_> {
    fn all(&mut self) {
        let whole = Part { old: (0, self.old.len()), new: (0, self.new.len()), depth: 0 };
        let mut left = vec![Work::Part(whole)];
        while let Some(work) = left.pop() {
            match work {
                Work::Equal(run) => self.keep(run),
                Work::Part(part) => self.part(part, &mut left),
            }
        }
    }

    fn part(&mut self, part: Part, left: &mut Vec<Work>) {
        let Part { old: (mut old, old_end), new: (mut new, new_end), depth } = part;
        let head = self.old[old..old_end].iter().zip(&self.new[new..new_end]).take_while(|(a, b)| a == b).count();
        self.keep(Run { old, new, length: head });
        (old, new) = (old + head, new + head);
        let pairs = self.old[old..old_end].iter().rev().zip(self.new[new..new_end].iter().rev());
        let tail = pairs.take_while(|(a, b)| a == b).count();
        let (old_end, new_end) = (old_end - tail, new_end - tail);
        left.push(Work::Equal(Run { old: old_end, new: new_end, length: tail }));
        if old == old_end || new == new_end {
            return;
        }
        let inner = Part { old: (old, old_end), new: (new, new_end), depth: depth + 1 };
        let shared = self.anchors.survey(self.old, self.new, &inner);
        if !shared {
            return;
        }
        let is_short = old_end - old + new_end - new <= SHORT;
        if depth >= DEPTH_MAX {
            self.exact(&inner, usize::MAX);
        } else if !is_short || !self.exact(&inner, FEW_EDITS) {
            let chosen = self.anchors.chosen(self.old, self.new, &inner);
            if chosen.is_empty() {
                self.exact(&inner, usize::MAX);
            } else {
                split(&inner, &chosen, left);
            }
        }
    }

    /// Keeps the equal lines of a shortest script; false if it takes more than so many edits.
    fn exact(&mut self, part: &Part, edits: usize) -> bool {
        let (old, new) = self.anchors.common(self.old, self.new, part);
        let runs = myers::runs([self.old, self.new], [&old, &new], edits);
        let found = runs.is_some();
        runs.into_iter().flatten().for_each(|run| self.keep(run));
        found
    }

    fn keep(&mut self, run: Run) {
        if run.length == 0 {
            return;
        }
        if let Some(last) = self.runs.last_mut()
            && last.old + last.length == run.old
            && last.new + last.length == run.new
        {
            last.length += run.length;
            return;
        }
        self.runs.push(run);
    }
}

/// Leaves the anchors and what lies between them to be done, the first last.
fn split(part: &Part, chosen: &[(usize, usize)], left: &mut Vec<Work>) {
    let (mut old_end, mut new_end) = (part.old.1, part.new.1);
    for &(old, new) in chosen.iter().rev() {
        if (old + 1, new + 1) != (old_end, new_end) {
            let between = Part { old: (old + 1, old_end), new: (new + 1, new_end), depth: part.depth };
            left.push(Work::Part(between));
        }
        left.push(Work::Equal(Run { old, new, length: 1 }));
        (old_end, new_end) = (old, new);
    }
    left.push(Work::Part(Part { old: (part.old.0, old_end), new: (part.new.0, new_end), depth: part.depth }));
}

/// What lies between the runs.
fn hunks(runs: &[Run], old_length: usize, new_length: usize) -> Vec<Hunk> {
    let (mut old, mut new) = (0, 0);
    let mut hunks = Vec::with_capacity(runs.len() + 1);
    let end = Run { old: old_length, new: new_length, length: 0 };
    for run in runs.iter().chain(std::iter::once(&end)) {
        if old < run.old || new < run.new {
            hunks.push(Hunk { old_start: old, old_end: run.old, new_start: new, new_end: run.new });
        }
        (old, new) = (run.old + run.length, run.new + run.length);
    }
    hunks
}
