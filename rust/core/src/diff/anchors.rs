//! Anchors of a diff: lines that are unique on both sides, and the best chain of them in common order.

use std::ops::Range;

use crate::diff::Part;

/// Number of occurrences of a line id in the two ranges that are compared now.
#[derive(Clone, Copy, Default)]
struct LineCount {
    /// The survey that wrote these counts; others are stale. It saves clearing the table for each part.
    survey: u32,
    old_count: u32,
    new_count: u32,
    old_at: u32,
}

/// Counts of all line ids in the part that was surveyed last, and its unique lines.
pub(crate) struct Anchors {
    counts: Vec<LineCount>,
    survey: u32,
    /// (old, new) line numbers of the lines that are unique on both sides, ascending by the new one.
    unique: Vec<(u32, u32)>,
}

impl Anchors {
    /// A table for ids below `kinds`.
    pub(crate) fn of(kinds: usize) -> Self {
        Self { counts: vec![LineCount::default(); kinds], survey: 0, unique: Vec::new() }
    }

    /// Count the line ids of a part; return false if the two sides have none in common.
    pub(crate) fn survey(&mut self, old: &[u32], new: &[u32], part: &Part) -> bool {
        self.survey += 1;
        let survey = self.survey;
        for (at, &id) in (0_u32..).zip(&old[part.old.0..part.old.1]) {
            let count = &mut self.counts[id as usize];
            if count.survey != survey {
                *count = LineCount { survey, ..LineCount::default() };
            }
            count.old_count += 1;
            count.old_at = at;
        }
        let mut shared = false;
        for &id in &new[part.new.0..part.new.1] {
            let count = &mut self.counts[id as usize];
            if count.survey == survey {
                count.new_count += 1;
                shared = true;
            }
        }
        self.unique.clear();
        for (at, &id) in (0_u32..).zip(&new[part.new.0..part.new.1]) {
            let count = &self.counts[id as usize];
            if count.survey == survey && count.old_count == 1 && count.new_count == 1 {
                self.unique.push((absolute(count.old_at, part.old.0), absolute(at, part.new.0)));
            }
        }
        shared
    }

    /// Return the anchors that divide the part: the chain in common order with the most equal lines around it.
    ///
    /// Counting the equal lines keeps a moved single line from separating a paragraph that stayed together.
    pub(crate) fn best_chain(&self, old: &[u32], new: &[u32], part: &Part) -> Vec<(usize, usize)> {
        let segments = self.segments(old, new, part);
        let mut chain = Vec::with_capacity(self.unique.len());
        for number in heaviest_chain(&segments) {
            let anchors = &self.unique[segments[number].anchors.clone()];
            chain.extend(anchors.iter().map(|&(old, new)| (old as usize, new as usize)));
        }
        chain
    }

    /// Group the anchors that are connected by equal lines, in the order of the new side.
    fn segments(&self, old: &[u32], new: &[u32], part: &Part) -> Vec<Segment> {
        let mut segments: Vec<Segment> = Vec::new();
        let mut at = 0;
        let mut new_taken = part.new.0;
        while let Some(&(old_at, new_at)) = self.unique.get(at) {
            let (old_from, new_from) = (old_at as usize, new_at as usize);
            let ahead = old[old_from..part.old.1].iter().zip(&new[new_from..part.new.1]);
            let ahead = ahead.take_while(|(old, new)| old == new).count();
            let before = old[part.old.0..old_from].iter().rev().zip(new[new_taken..new_from].iter().rev());
            let before = before.take_while(|(old, new)| old == new).count();
            // An anchor within these equal lines belongs to the same segment.
            let count = self.unique[at..].iter().take_while(|(_, new)| (*new as usize) < new_from + ahead).count();
            segments.push(Segment { anchors: at..at + count, old: old_from, weight: before + ahead });
            at += count;
            new_taken = new_from + ahead;
        }
        segments
    }

    /// Return the line numbers of the surveyed part whose lines occur on both sides.
    pub(crate) fn common(&self, old: &[u32], new: &[u32], part: &Part) -> (Vec<usize>, Vec<usize>) {
        let both = |id: u32| {
            let count = &self.counts[id as usize];
            count.survey == self.survey && count.old_count > 0 && count.new_count > 0
        };
        let common = |ids: &[u32], (from, to): (usize, usize)| (from..to).filter(|&at| both(ids[at])).collect();
        (common(old, part.old), common(new, part.new))
    }
}

/// Convert an offset in a range to a line number; texts have fewer than 2^32 lines.
fn absolute(at: u32, from: usize) -> u32 {
    u32::try_from(from).unwrap_or(u32::MAX).saturating_add(at)
}

/// Anchors connected by equal lines.
struct Segment {
    /// Indices into the unique lines.
    anchors: Range<usize>,
    /// The old line number of the first anchor.
    old: usize,
    /// The number of equal lines.
    weight: usize,
}

/// Return the heaviest chain of segments that ascends on the old side too (a weighted longest increasing subsequence).
fn heaviest_chain(segments: &[Segment]) -> Vec<usize> {
    if segments.is_sorted_by_key(|segment| segment.old) {
        return (0..segments.len()).collect();
    }
    let mut by_old: Vec<usize> = (0..segments.len()).collect();
    by_old.sort_unstable_by_key(|&number| segments[number].old);
    let mut rank = vec![0; segments.len()];
    for (position, &number) in by_old.iter().enumerate() {
        rank[number] = position + 1;
    }
    // A Fenwick tree of prefix maxima: the weight of the heaviest chain that ends at a rank or before, and its last
    // segment + 1.
    let mut tree = vec![(0, 0); segments.len() + 1];
    let mut before = vec![0; segments.len()];
    for (number, segment) in segments.iter().enumerate() {
        let mut best = (0, 0);
        let mut position = rank[number] - 1;
        while position > 0 {
            best = best.max(tree[position]);
            position &= position - 1;
        }
        before[number] = best.1;
        let chain = (best.0 + segment.weight, number + 1);
        position = rank[number];
        while position < tree.len() {
            tree[position] = tree[position].max(chain);
            position += position & position.wrapping_neg();
        }
    }
    let mut chain = Vec::new();
    let mut last = tree.iter().copied().max().map_or(0, |(_, last)| last);
    while last > 0 {
        chain.push(last - 1);
        last = before[last - 1];
    }
    chain.reverse();
    chain
}
