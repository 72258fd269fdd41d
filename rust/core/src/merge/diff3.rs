//! The diff3 walk: aligns the hunks of both sides along the merge base and resolves each group of hunks that meet.

use std::ops::Range;

use crate::diff::{Hunk, Lines};
use crate::merge::chunk::{Chunk, Resolution, join_cluster_conflicts, join_near_conflicts};
use crate::merge::{Side, Texts, hunk_refinement, insertions, word_merge};

/// Return the chunks of the merged text, in order.
///
/// Hunks of both sides that overlap or touch form a cluster; lines outside clusters are unchanged.
pub(crate) fn chunks(texts: &Texts<'_>, our_hunks: &[Hunk], their_hunks: &[Hunk]) -> Vec<Chunk> {
    let mut walk = Walk {
        texts,
        at: [0; 3],
        chunks: Vec::with_capacity(2 * (our_hunks.len() + their_hunks.len()) + 1),
        fence_tracker: FenceTracker::default(),
    };
    let (mut our_hunks, mut their_hunks) = (our_hunks, their_hunks);
    while let Some(start) =
        [our_hunks, their_hunks].iter().filter_map(|side| side.first()).map(|hunk| hunk.old_start).min()
    {
        let mut end = start;
        let (mut ours, mut theirs) = (0, 0);
        loop {
            if let Some(hunk) = our_hunks.get(ours).filter(|hunk| hunk.old_start <= end) {
                (end, ours) = (end.max(hunk.old_end), ours + 1);
            } else if let Some(hunk) = their_hunks.get(theirs).filter(|hunk| hunk.old_start <= end) {
                (end, theirs) = (end.max(hunk.old_end), theirs + 1);
            } else {
                break;
            }
        }
        walk.push_unchanged(start);
        walk.resolve_cluster(end, &our_hunks[..ours], &their_hunks[..theirs]);
        (our_hunks, their_hunks) = (&our_hunks[ours..], &their_hunks[theirs..]);
    }
    walk.push_unchanged(texts.base.len());
    join_near_conflicts(texts, &mut walk.chunks);
    walk.chunks
}

/// A hunk and its side.
type SideHunk = (Hunk, Side);

/// The state of the walk.
struct Walk<'w> {
    texts: &'w Texts<'w>,
    /// The next line of base, ours and theirs.
    at: [usize; 3],
    chunks: Vec<Chunk>,
    fence_tracker: FenceTracker,
}

impl Walk<'_> {
    /// Push the unchanged lines before line `base` of the merge base.
    fn push_unchanged(&mut self, base: usize) {
        let length = base - self.at[0];
        if length > 0 {
            self.push_chunk(base, self.at[1] + length, self.at[2] + length, Resolution::Same);
        }
    }

    /// Push a chunk that ends before these lines.
    fn push_chunk(&mut self, base: usize, ours: usize, theirs: usize, resolution: Resolution) {
        let [base_at, ours_at, theirs_at] = std::mem::replace(&mut self.at, [base, ours, theirs]);
        self.chunks.push(Chunk { base: base_at..base, ours: ours_at..ours, theirs: theirs_at..theirs, resolution });
    }

    /// Resolve a cluster of hunks that touch, up to line `end` of the merge base.
    fn resolve_cluster(&mut self, end: usize, our_hunks: &[Hunk], their_hunks: &[Hunk]) {
        let ours = line_after(end, self.at[0], self.at[1], our_hunks);
        let theirs = line_after(end, self.at[0], self.at[2], their_hunks);
        if their_hunks.is_empty() {
            return self.push_chunk(end, ours, theirs, Resolution::Side(Side::Ours));
        }
        if our_hunks.is_empty() {
            return self.push_chunk(end, ours, theirs, Resolution::Side(Side::Theirs));
        }
        // Both sides changed these lines. Equal results are no conflict; this also covers a whole cluster that both
        // sides got from elsewhere (a cherry-picked edit).
        if self.are_equal(&(self.at[1]..ours), &(self.at[2]..theirs)) {
            return self.push_chunk(end, ours, theirs, Resolution::Both);
        }
        // Line hunks are too coarse: two adjacent edited items are one hunk of each side. Refined into smaller hunks,
        // most of them concern different lines. What still conflicts becomes one conflict for the cluster, so that its
        // parts are resolved together.
        let first = self.chunks.len();
        self.resolve_groups(&self.refined_changes(our_hunks, their_hunks));
        self.push_unchanged(end);
        join_cluster_conflicts(&mut self.chunks, first);
    }

    /// Return the hunks of both sides in order, split into the smallest changes by matching similar lines.
    fn refined_changes(&self, our_hunks: &[Hunk], their_hunks: &[Hunk]) -> Vec<SideHunk> {
        let refined = |side: Side, hunks: &[Hunk]| -> Vec<SideHunk> {
            let refine = |hunk| hunk_refinement::refine(&self.texts.base, self.texts.side(side), hunk);
            hunks.iter().flat_map(refine).map(|hunk| (hunk, side)).collect()
        };
        let mut hunks = refined(Side::Ours, our_hunks);
        hunks.extend(refined(Side::Theirs, their_hunks));
        // Ours stay before theirs.
        hunks.sort_by_key(|(hunk, _)| (hunk.old_start, hunk.old_end));
        hunks
    }

    /// Resolve the refined hunks in groups that change the same lines or insert at the same position.
    fn resolve_groups(&mut self, hunks: &[SideHunk]) {
        let mut rest = hunks;
        while let Some(&(first, _)) = rest.first() {
            let (start, mut end) = (first.old_start, first.old_end);
            let mut count = 1;
            while let Some(next) = rest.get(count) {
                let (hunk, _) = next;
                let at_same_position = hunk.old_end == start && end == start;
                if hunk.old_start >= end && !at_same_position && !self.continues_removed_block(&rest[..count], next) {
                    break;
                }
                (end, count) = (end.max(hunk.old_end), count + 1);
            }
            self.push_unchanged(start);
            self.resolve_group(end, &rest[..count]);
            rest = &rest[count..];
        }
    }

    /// Return true if a hunk inserts into the block that the other side removed just before it.
    ///
    /// Such a hunk is a conflict, as the inserted lines would continue nothing.
    fn continues_removed_block(&self, before: &[SideHunk], next: &SideHunk) -> bool {
        let (hunk, side) = *next;
        let removed = before.iter().all(|(other, by)| *by != side && other.new_start == other.new_end);
        let follows = before.last().is_some_and(|(other, _)| other.old_end == hunk.old_start);
        let is_insertion = hunk.old_start == hunk.old_end;
        let lines = hunk.new_start..hunk.new_end;
        is_insertion && removed && follows && insertions::continued_lines(self.texts.side(side), &lines) > 0
    }

    /// Resolve one group of hunks.
    fn resolve_group(&mut self, end: usize, hunks: &[SideHunk]) {
        let of = |side: Side| hunks.iter().filter(move |(_, by)| *by == side).map(|(hunk, _)| *hunk);
        let (our_hunks, their_hunks): (Vec<_>, Vec<_>) = (of(Side::Ours).collect(), of(Side::Theirs).collect());
        let ours = self.at[1]..line_after(end, self.at[0], self.at[1], &our_hunks);
        let theirs = self.at[2]..line_after(end, self.at[0], self.at[2], &their_hunks);
        let resolution = if their_hunks.is_empty() {
            Resolution::Side(Side::Ours)
        } else if our_hunks.is_empty() {
            Resolution::Side(Side::Theirs)
        } else if self.are_equal(&ours, &theirs) {
            Resolution::Both
        } else if end == self.at[0] {
            // No base line is involved: both sides inserted at the same position, and both insertions are kept.
            let is_fenced = self.fence_tracker.open_before(&self.texts.base, end);
            Resolution::Fragments(insertions::merge(self.texts, &ours, &theirs, is_fenced))
        } else if hunks.iter().all(|(hunk, _)| hunk.new_start == hunk.new_end) {
            // Both sides only deleted, though not exactly the same lines: everything that either deleted is gone.
            Resolution::Fragments(Vec::new())
        } else {
            self.merge_overlapping(end, &ours, &theirs)
        };
        self.push_chunk(end, ours.end, theirs.end, resolution);
    }

    /// Resolve lines that both sides changed: by words, or as a conflict.
    fn merge_overlapping(&mut self, end: usize, ours: &Range<usize>, theirs: &Range<usize>) -> Resolution {
        let base = self.at[0]..end;
        // One side deleted what the other edited: no text satisfies both. And in code a mixture of words from both
        // sides may be syntactically valid but wrong.
        if ours.is_empty() || theirs.is_empty() || self.fence_tracker.open_before(&self.texts.base, base.start) {
            return Resolution::Conflict;
        }
        word_merge::merge_words(self.texts, &base, ours, theirs).map_or(Resolution::Conflict, Resolution::Fragments)
    }

    /// Return true if our lines and their lines are equal.
    fn are_equal(&self, ours: &Range<usize>, theirs: &Range<usize>) -> bool {
        self.texts.ours.ids[ours.clone()] == self.texts.theirs.ids[theirs.clone()]
    }
}

/// Return the line of a side that corresponds to line `end` of the base.
///
/// Line `base` corresponds to line `side`, and `hunks` lie between.
fn line_after(end: usize, base: usize, side: usize, hunks: &[Hunk]) -> usize {
    hunks.last().map_or(side + end - base, |last| last.new_end + end - last.old_end)
}

/// Tracks open code fences; queried in ascending order it reads the text once.
#[derive(Default)]
pub(crate) struct FenceTracker {
    at: usize,
    open: Option<(u8, usize)>,
}

impl FenceTracker {
    /// Return true if a line is inside fenced code, where no line is a markdown block.
    pub(crate) fn open_before(&mut self, lines: &Lines<'_>, line: usize) -> bool {
        for at in self.at..line {
            let text = lines.line(at).trim_ascii();
            let Some(&marker) = text.as_bytes().first().filter(|marker| b"`~".contains(marker)) else { continue };
            let length = text.bytes().take_while(|&byte| byte == marker).count();
            match self.open {
                Some((open, opened)) if open == marker && length >= opened && length == text.len() => self.open = None,
                None if length >= 3 => self.open = Some((marker, length)),
                _ => {}
            }
        }
        self.at = self.at.max(line);
        self.open.is_some()
    }
}
