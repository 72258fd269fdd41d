//! The walk over the changes of both sides.

use std::ops::Range;

use crate::diff::Hunk;
use crate::merge::Texts;
use crate::merge::fences::Fences;
use crate::merge::pieces::{Made, Piece, near_conflicts, one_conflict};
use crate::merge::{inserts, refine, words};

/// The pieces of the merged text, in order.
pub(crate) fn pieces(texts: &Texts<'_>, left: &[Hunk], right: &[Hunk]) -> Vec<Piece> {
    let mut walk = Walk {
        texts,
        at: [0; 3],
        pieces: Vec::with_capacity(2 * (left.len() + right.len()) + 1),
        fences: Fences::default(),
    };
    let (mut left, mut right) = (left, right);
    while let Some(start) = [left, right].iter().filter_map(|side| side.first()).map(|hunk| hunk.old_start).min() {
        let mut end = start;
        let (mut ours, mut theirs) = (0, 0);
        loop {
            if let Some(hunk) = left.get(ours).filter(|hunk| hunk.old_start <= end) {
                (end, ours) = (end.max(hunk.old_end), ours + 1);
            } else if let Some(hunk) = right.get(theirs).filter(|hunk| hunk.old_start <= end) {
                (end, theirs) = (end.max(hunk.old_end), theirs + 1);
            } else {
                break;
            }
        }
        walk.same_until(start);
        walk.cluster(end, &left[..ours], &right[..theirs]);
        (left, right) = (&left[ours..], &right[theirs..]);
    }
    walk.same_until(texts.base.len());
    near_conflicts(texts, &mut walk.pieces);
    walk.pieces
}

/// A change, and whether it is ours.
type Change = (Hunk, bool);

struct Walk<'w> {
    texts: &'w Texts<'w>,
    /// The next line of base, ours and theirs.
    at: [usize; 3],
    pieces: Vec<Piece>,
    fences: Fences,
}

impl Walk<'_> {
    /// Takes the unchanged lines before line `base` of the base.
    fn same_until(&mut self, base: usize) {
        let length = base - self.at[0];
        if length > 0 {
            self.take(base, self.at[1] + length, self.at[2] + length, Made::Same);
        }
    }

    fn take(&mut self, base: usize, ours: usize, theirs: usize, made: Made) {
        let [base_at, ours_at, theirs_at] = std::mem::replace(&mut self.at, [base, ours, theirs]);
        self.pieces.push(Piece { base: base_at..base, ours: ours_at..ours, theirs: theirs_at..theirs, made });
    }

    /// Changes that touch each other, up to line `end` of the base.
    fn cluster(&mut self, end: usize, left: &[Hunk], right: &[Hunk]) {
        let ours = until(end, self.at[0], self.at[1], left);
        let theirs = until(end, self.at[0], self.at[2], right);
        if right.is_empty() {
            return self.take(end, ours, theirs, Made::Ours);
        }
        if left.is_empty() {
            return self.take(end, ours, theirs, Made::Theirs);
        }
        if self.alike(&(self.at[1]..ours), &(self.at[2]..theirs)) {
            return self.take(end, ours, theirs, Made::Both);
        }
        let first = self.pieces.len();
        self.groups(&self.changes(left, right));
        self.same_until(end);
        one_conflict(&mut self.pieces, first);
    }

    /// The changes of both sides in order, each as small as it can be told.
    fn changes(&self, left: &[Hunk], right: &[Hunk]) -> Vec<Change> {
        let texts = self.texts;
        let ours = left.iter().flat_map(|hunk| refine::refined(&texts.base, &texts.ours, hunk));
        let theirs = right.iter().flat_map(|hunk| refine::refined(&texts.base, &texts.theirs, hunk));
        let mut changes: Vec<Change> = ours.map(|hunk| (hunk, true)).chain(theirs.map(|hunk| (hunk, false))).collect();
        changes.sort_by_key(|(hunk, ours)| (hunk.old_start, hunk.old_end, !ours));
        changes
    }

    /// Takes the changes in groups that change the same lines, or insert at the same place.
    fn groups(&mut self, changes: &[Change]) {
        let mut left = changes;
        while let Some(&(first, _)) = left.first() {
            let (start, mut end) = (first.old_start, first.old_end);
            let mut count = 1;
            while let Some(change) = left.get(count) {
                let (hunk, _) = change;
                let at_one_place = hunk.old_end == start && end == start;
                if hunk.old_start >= end && !at_one_place && !self.goes_on(&left[..count], change) {
                    break;
                }
                (end, count) = (end.max(hunk.old_end), count + 1);
            }
            self.same_until(start);
            self.group(end, &left[..count]);
            left = &left[count..];
        }
    }

    /// Whether a change inserts into the last block of what the other side removed before it.
    fn goes_on(&self, before: &[Change], change: &Change) -> bool {
        let (hunk, ours) = *change;
        let removed = before.iter().all(|(other, by_us)| *by_us != ours && other.new_start == other.new_end);
        let follows = before.last().is_some_and(|(other, _)| other.old_end == hunk.old_start);
        let side = if ours { &self.texts.ours } else { &self.texts.theirs };
        let inserts = hunk.old_start == hunk.old_end;
        inserts && removed && follows && inserts::continued(side, &(hunk.new_start..hunk.new_end)) > 0
    }

    fn group(&mut self, end: usize, changes: &[Change]) {
        let side = |ours: bool| changes.iter().filter(move |(_, by_us)| *by_us == ours).map(|(hunk, _)| *hunk);
        let (left, right): (Vec<_>, Vec<_>) = (side(true).collect(), side(false).collect());
        let ours = self.at[1]..until(end, self.at[0], self.at[1], &left);
        let theirs = self.at[2]..until(end, self.at[0], self.at[2], &right);
        let made = if right.is_empty() {
            Made::Ours
        } else if left.is_empty() {
            Made::Theirs
        } else if self.alike(&ours, &theirs) {
            Made::Both
        } else if end == self.at[0] {
            let fenced = self.fences.open_before(&self.texts.base, end);
            Made::Of(inserts::both(self.texts, &ours, &theirs, fenced))
        } else if changes.iter().all(|(hunk, _)| hunk.new_start == hunk.new_end) {
            Made::Of(Vec::new())
        } else {
            self.contested(end, &ours, &theirs)
        };
        self.take(end, ours.end, theirs.end, made);
    }

    /// Lines that both sides changed: by words, or a conflict.
    fn contested(&mut self, end: usize, ours: &Range<usize>, theirs: &Range<usize>) -> Made {
        let base = self.at[0]..end;
        if ours.is_empty() || theirs.is_empty() || self.fences.open_before(&self.texts.base, base.start) {
            return Made::Conflict;
        }
        words::merged(self.texts, &base, ours, theirs).map_or(Made::Conflict, Made::Of)
    }

    fn alike(&self, ours: &Range<usize>, theirs: &Range<usize>) -> bool {
        self.texts.ours.ids[ours.clone()] == self.texts.theirs.ids[theirs.clone()]
    }
}

/// The line of a side that line `end` of the base became, if line `base` became `side` and `hunks` lie between.
fn until(end: usize, base: usize, side: usize, hunks: &[Hunk]) -> usize {
    hunks.last().map_or(side + end - base, |last| last.new_end + end - last.old_end)
}
