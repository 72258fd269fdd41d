//! Lines that stand exactly once on each side, and the heaviest choice of them that keeps its order.

use std::ops::Range;

use crate::diff::Part;

/// Where an id stands in the two ranges that are compared now.
#[derive(Clone, Copy, Default)]
struct Seen {
    /// The survey that wrote this; others are void.
    survey: u32,
    old_count: u32,
    new_count: u32,
    old_at: u32,
}

/// The ids of two ranges, counted.
pub(crate) struct Anchors {
    seen: Vec<Seen>,
    survey: u32,
    /// Pairs of places of lines that stand once on each side, in the order of the new side.
    once: Vec<(u32, u32)>,
}

impl Anchors {
    pub(crate) fn of(kinds: usize) -> Self {
        Self { seen: vec![Seen::default(); kinds], survey: 0, once: Vec::new() }
    }

    /// Counts the ids of a part; false if the two sides have none in common.
    pub(crate) fn survey(&mut self, old: &[u32], new: &[u32], part: &Part) -> bool {
        self.survey += 1;
        let survey = self.survey;
        for (at, &id) in (0_u32..).zip(&old[part.old.0..part.old.1]) {
            let seen = &mut self.seen[id as usize];
            if seen.survey != survey {
                *seen = Seen { survey, ..Seen::default() };
            }
            seen.old_count += 1;
            seen.old_at = at;
        }
        let mut shared = false;
        for &id in &new[part.new.0..part.new.1] {
            let seen = &mut self.seen[id as usize];
            if seen.survey == survey {
                seen.new_count += 1;
                shared = true;
            }
        }
        self.once.clear();
        for (at, &id) in (0_u32..).zip(&new[part.new.0..part.new.1]) {
            let seen = &self.seen[id as usize];
            if seen.survey == survey && seen.old_count == 1 && seen.new_count == 1 {
                self.once.push((widened(seen.old_at, part.old.0), widened(at, part.new.0)));
            }
        }
        shared
    }

    /// Anchors that stand in the same order on both sides, those that stand among the most equal lines: a line that
    /// was moved alone does not part what stayed together.
    pub(crate) fn chosen(&self, old: &[u32], new: &[u32], part: &Part) -> Vec<(usize, usize)> {
        let stretches = self.stretches(old, new, part);
        let mut chosen = Vec::with_capacity(self.once.len());
        for number in heaviest(&stretches) {
            let anchors = &self.once[stretches[number].anchors.clone()];
            chosen.extend(anchors.iter().map(|&(old, new)| (old as usize, new as usize)));
        }
        chosen
    }

    /// The anchors that equal lines join to each other, in the order of the new side.
    fn stretches(&self, old: &[u32], new: &[u32], part: &Part) -> Vec<Stretch> {
        let mut stretches: Vec<Stretch> = Vec::new();
        let mut at = 0;
        let mut new_taken = part.new.0;
        while let Some(&(old_at, new_at)) = self.once.get(at) {
            let (old_from, new_from) = (old_at as usize, new_at as usize);
            let ahead = old[old_from..part.old.1].iter().zip(&new[new_from..part.new.1]);
            let ahead = ahead.take_while(|(old, new)| old == new).count();
            let before = old[part.old.0..old_from].iter().rev().zip(new[new_taken..new_from].iter().rev());
            let before = before.take_while(|(old, new)| old == new).count();
            // What is equal ahead and stands once on each side is an anchor of the same stretch.
            let count = self.once[at..].iter().take_while(|(_, new)| (*new as usize) < new_from + ahead).count();
            stretches.push(Stretch { anchors: at..at + count, old: old_from, weight: before + ahead });
            at += count;
            new_taken = new_from + ahead;
        }
        stretches
    }

    /// The places of the lines of the surveyed part that stand on both sides.
    pub(crate) fn common(&self, old: &[u32], new: &[u32], part: &Part) -> (Vec<usize>, Vec<usize>) {
        let both = |id: u32| {
            let seen = &self.seen[id as usize];
            seen.survey == self.survey && seen.old_count > 0 && seen.new_count > 0
        };
        let kept = |ids: &[u32], (from, to): (usize, usize)| (from..to).filter(|&at| both(ids[at])).collect();
        (kept(old, part.old), kept(new, part.new))
    }
}

/// A place in a range as a place in the whole; texts have fewer than 2^32 lines.
fn widened(at: u32, from: usize) -> u32 {
    u32::try_from(from).unwrap_or(u32::MAX).saturating_add(at)
}

/// Anchors that equal lines join.
struct Stretch {
    /// Numbers of anchors.
    anchors: Range<usize>,
    /// The old place of the first.
    old: usize,
    /// How many lines are equal.
    weight: usize,
}

/// The stretches that rise on the old side and weigh the most together, in order.
fn heaviest(stretches: &[Stretch]) -> Vec<usize> {
    if stretches.is_sorted_by_key(|stretch| stretch.old) {
        return (0..stretches.len()).collect();
    }
    let mut by_old: Vec<usize> = (0..stretches.len()).collect();
    by_old.sort_unstable_by_key(|&number| stretches[number].old);
    let mut rank = vec![0; stretches.len()];
    for (place, &number) in by_old.iter().enumerate() {
        rank[number] = place + 1;
    }
    // A Fenwick tree of the heaviest chain that ends at a rank or before: its weight and its last stretch + 1.
    let mut tree = vec![(0, 0); stretches.len() + 1];
    let mut before = vec![0; stretches.len()];
    for (number, stretch) in stretches.iter().enumerate() {
        let mut best = (0, 0);
        let mut place = rank[number] - 1;
        while place > 0 {
            best = best.max(tree[place]);
            place &= place - 1;
        }
        before[number] = best.1;
        let chain = (best.0 + stretch.weight, number + 1);
        place = rank[number];
        while place < tree.len() {
            tree[place] = tree[place].max(chain);
            place += place & place.wrapping_neg();
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
