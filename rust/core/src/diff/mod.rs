//! Line diff: the changes between two sequences, close to the fewest, in close to linear time.
//!
//! Few changes of short texts are found exactly, with Myers' linear-space algorithm (1986). Otherwise lines that are
//! unique on both sides serve as anchors (the idea of patience diff, Bram Cohen 2005): the chain of anchors in common
//! order that has the most equal lines around it divides the texts, and the parts between are searched again, at
//! bounded cost. A shuffled text costs no more than a few times an ordered one.

mod anchors;
mod lines;
mod myers;

use anchors::Anchors;
pub(crate) use lines::{Lines, interner_for};

/// A change: lines `old_start..old_end` of the old text became `new_start..new_end` of the new one; never both empty.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hunk {
    /// The first deleted line, from 0.
    pub old_start: usize,
    /// The old line after the last deleted one.
    pub old_end: usize,
    /// The first inserted line, from 0.
    pub new_start: usize,
    /// The new line after the last inserted one.
    pub new_end: usize,
}

/// A run of equal lines: `length` of them, from line `old` and from line `new`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct EqualRun {
    pub(crate) old: usize,
    pub(crate) new: usize,
    pub(crate) length: usize,
}

/// Return the changes from one text to another, by whole lines; the line ending is not compared.
#[must_use]
pub fn diff_text(old: &str, new: &str) -> Vec<Hunk> {
    let mut interner = interner_for(old);
    let old = Lines::of(old, &mut interner);
    let new = Lines::like(&old, new, &mut interner);
    diff(&old.ids, &new.ids, interner.len())
}

/// Return the changes from one sequence of ids to another, in order and never touching; all ids are below `kinds`.
#[must_use]
pub fn diff(old: &[u32], new: &[u32], kinds: usize) -> Vec<Hunk> {
    let mut search = Search { old, new, anchors: Anchors::of(kinds), runs: Vec::new() };
    search.run();
    let mut hunks = hunks_between(&search.runs, old.len(), new.len());
    slide_down(&mut hunks, old, new);
    hunks
}

/// A task of the search; the stack has the next one at its end.
enum Task {
    /// Append equal lines to the result.
    Equal(EqualRun),
    /// Search a part for equal lines.
    Part(Part),
}

/// A pair of line ranges to be compared.
#[derive(Clone, Copy)]
pub(crate) struct Part {
    pub(crate) old: (usize, usize),
    pub(crate) new: (usize, usize),
    /// Number of divisions at anchors above this range.
    depth: usize,
}

/// Lines of both sides together up to which a part is first searched exactly, before anchors are tried.
const SHORT_LINES: usize = 128;
/// Edits in each direction that this exact search may try: most saves change a few lines.
const FEW_EDITS: usize = 12;

/// Nested divisions at anchors after which Myers' algorithm takes the rest: it keeps the work linear.
const DEPTH_MAX: usize = 24;

/// A running search.
struct Search<'s> {
    old: &'s [u32],
    new: &'s [u32],
    anchors: Anchors,
    runs: Vec<EqualRun>,
}

impl Search<'_> {
    /// Search both texts, depth first.
    fn run(&mut self) {
        let whole = Part { old: (0, self.old.len()), new: (0, self.new.len()), depth: 0 };
        let mut tasks = vec![Task::Part(whole)];
        while let Some(work) = tasks.pop() {
            match work {
                Task::Equal(run) => self.push_run(run),
                Task::Part(part) => self.search_part(part, &mut tasks),
            }
        }
    }

    /// Strip the common prefix and suffix of a part, then search it exactly or divide it at anchors.
    fn search_part(&mut self, part: Part, tasks: &mut Vec<Task>) {
        let Part { old: (mut old, old_end), new: (mut new, new_end), depth } = part;
        let head = self.old[old..old_end].iter().zip(&self.new[new..new_end]).take_while(|(a, b)| a == b).count();
        self.push_run(EqualRun { old, new, length: head });
        (old, new) = (old + head, new + head);
        let pairs = self.old[old..old_end].iter().rev().zip(self.new[new..new_end].iter().rev());
        let tail = pairs.take_while(|(a, b)| a == b).count();
        let (old_end, new_end) = (old_end - tail, new_end - tail);
        tasks.push(Task::Equal(EqualRun { old: old_end, new: new_end, length: tail }));
        if old == old_end || new == new_end {
            return;
        }
        let inner = Part { old: (old, old_end), new: (new, new_end), depth: depth + 1 };
        let shared = self.anchors.survey(self.old, self.new, &inner);
        if !shared {
            return;
        }
        let is_short = old_end - old + new_end - new <= SHORT_LINES;
        if depth >= DEPTH_MAX {
            self.search_exact(&inner, usize::MAX);
        } else if !is_short || !self.search_exact(&inner, FEW_EDITS) {
            let chosen = self.anchors.best_chain(self.old, self.new, &inner);
            if chosen.is_empty() {
                self.search_exact(&inner, usize::MAX);
            } else {
                split_at_anchors(&inner, &chosen, tasks);
            }
        }
    }

    /// Append the equal lines of a shortest edit script; return false if it needs more than `edits` edits.
    fn search_exact(&mut self, part: &Part, edits: usize) -> bool {
        let (old, new) = self.anchors.common(self.old, self.new, part);
        let runs = myers::equal_runs([self.old, self.new], [&old, &new], edits);
        let is_found = runs.is_some();
        runs.into_iter().flatten().for_each(|run| self.push_run(run));
        is_found
    }

    /// Append equal lines, joined to the last run if they continue it.
    fn push_run(&mut self, run: EqualRun) {
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

/// Push the anchors and the parts between them as tasks, in reverse order.
fn split_at_anchors(part: &Part, chosen: &[(usize, usize)], tasks: &mut Vec<Task>) {
    let (mut old_end, mut new_end) = (part.old.1, part.new.1);
    for &(old, new) in chosen.iter().rev() {
        if (old + 1, new + 1) != (old_end, new_end) {
            let between = Part { old: (old + 1, old_end), new: (new + 1, new_end), depth: part.depth };
            tasks.push(Task::Part(between));
        }
        tasks.push(Task::Equal(EqualRun { old, new, length: 1 }));
        (old_end, new_end) = (old, new);
    }
    tasks.push(Task::Part(Part { old: (part.old.0, old_end), new: (part.new.0, new_end), depth: part.depth }));
}

/// Return the hunks, which are the gaps between the runs.
fn hunks_between(runs: &[EqualRun], old_length: usize, new_length: usize) -> Vec<Hunk> {
    let (mut old, mut new) = (0, 0);
    let mut hunks = Vec::with_capacity(runs.len() + 1);
    let end = EqualRun { old: old_length, new: new_length, length: 0 };
    for run in runs.iter().chain(std::iter::once(&end)) {
        if old < run.old || new < run.new {
            hunks.push(Hunk { old_start: old, old_end: run.old, new_start: new, new_end: run.new });
        }
        (old, new) = (run.old + run.length, run.new + run.length);
    }
    hunks
}

/// Slide every pure insertion and deletion down as far as the diff stays valid, and join hunks that touch then.
///
/// Of several equally short diffs this always chooses the one that changes the latest lines.
/// An added `}` after `}` may be the first or the second of the two; both sides of a merge must choose the same line,
/// or the same insertion would appear twice.
fn slide_down(hunks: &mut Vec<Hunk>, old: &[u32], new: &[u32]) {
    let mut results: Vec<Hunk> = Vec::with_capacity(hunks.len());
    // From the end: a hunk may slide only up to the one behind it.
    for &hunk in hunks.iter().rev() {
        let hunk = slide(hunk, results.last(), old, new);
        match results.last_mut() {
            Some(next) if next.old_start == hunk.old_end && next.new_start == hunk.new_end => {
                (next.old_start, next.new_start) = (hunk.old_start, hunk.new_start);
            }
            _ => results.push(hunk),
        }
    }
    results.reverse();
    *hunks = results;
}

/// Slide one hunk down, not beyond `next`.
fn slide(mut hunk: Hunk, next: Option<&Hunk>, old: &[u32], new: &[u32]) -> Hunk {
    let limit = next.map_or(old.len(), |next| next.old_start);
    let (lines, mut first, mut last) = if hunk.old_start == hunk.old_end {
        (new, hunk.new_start, hunk.new_end)
    } else if hunk.new_start == hunk.new_end {
        (old, hunk.old_start, hunk.old_end)
    } else {
        return hunk;
    };
    let mut moved = 0;
    while hunk.old_end + moved < limit && lines[first] == lines[last] {
        (first, last, moved) = (first + 1, last + 1, moved + 1);
    }
    hunk.old_start += moved;
    hunk.old_end += moved;
    hunk.new_start += moved;
    hunk.new_end += moved;
    hunk
}
