//! A change of several lines as the smaller changes that it is made of: which old line became which new one.

use std::ops::Range;

use crate::diff::{Hunk, Lines};

/// Pairs of lines that are compared for one change; a larger one stays whole.
const PAIRS_MAX: usize = 1024;
/// Out of 1,000: how much of their words two lines must share to be the same line, edited.
const ALIKE: usize = 500;

/// The changes that a change is made of, in order.
pub(crate) fn refined(base: &Lines<'_>, side: &Lines<'_>, hunk: &Hunk) -> Vec<Hunk> {
    let (olds, news) = (hunk.old_end - hunk.old_start, hunk.new_end - hunk.new_start);
    if olds == 0 || news == 0 || olds + news == 2 || olds.saturating_mul(news) > PAIRS_MAX {
        return vec![*hunk];
    }
    let mut hunks = Vec::new();
    let (mut old, mut new) = (hunk.old_start, hunk.new_start);
    let mut gap = |old: &mut usize, new: &mut usize, old_end: usize, new_end: usize| {
        if *old < old_end || *new < new_end {
            hunks.push(Hunk { old_start: *old, old_end, new_start: *new, new_end });
        }
        (*old, *new) = (old_end, new_end);
    };
    for (old_at, new_at) in pairs(base, side, hunk) {
        gap(&mut old, &mut new, old_at, new_at);
        if base.ids[old_at] == side.ids[new_at] {
            (old, new) = (old_at + 1, new_at + 1);
        } else {
            gap(&mut old, &mut new, old_at + 1, new_at + 1);
        }
    }
    gap(&mut old, &mut new, hunk.old_end, hunk.new_end);
    hunks
}

/// Lines of both sides that are the same line, in order: the pairs that share the most altogether.
fn pairs(base: &Lines<'_>, side: &Lines<'_>, hunk: &Hunk) -> Vec<(usize, usize)> {
    let old = Words::of(base, hunk.old_start, hunk.old_end);
    let new = Words::of(side, hunk.new_start, hunk.new_end);
    let (rows, columns) = (old.ends.len(), new.ends.len());
    // `best[row][column]` is the most that the lines from there on can share.
    let mut best = vec![0; (rows + 1) * (columns + 1)];
    let mut shares = vec![0; rows * columns];
    let place = |row: usize, column: usize| row * (columns + 1) + column;
    for row in (0..rows).rev() {
        for column in (0..columns).rev() {
            let apart = best[place(row + 1, column)].max(best[place(row, column + 1)]);
            let share = if old.apart(row, &new, column) { 0 } else { shared(old.line(row), new.line(column)) };
            shares[row * columns + column] = share;
            let together = if share >= ALIKE { share + best[place(row + 1, column + 1)] } else { 0 };
            best[place(row, column)] = apart.max(together);
        }
    }
    let (mut row, mut column) = (0, 0);
    let mut pairs = Vec::new();
    while row < rows && column < columns {
        let share = shares[row * columns + column];
        if share >= ALIKE && best[place(row, column)] == share + best[place(row + 1, column + 1)] {
            pairs.push((hunk.old_start + row, hunk.new_start + column));
            (row, column) = (row + 1, column + 1);
        } else if best[place(row, column)] == best[place(row + 1, column)] {
            row += 1;
        } else {
            column += 1;
        }
    }
    pairs
}

/// The words of some lines as hashes, those of each line sorted.
struct Words {
    hashes: Vec<u64>,
    ends: Vec<usize>,
    /// One bit for each word of a line, by its hash.
    bits: Vec<u64>,
}

impl Words {
    fn of(lines: &Lines<'_>, from: usize, to: usize) -> Self {
        let count = to - from;
        let mut words = Self {
            hashes: Vec::with_capacity(8 * count),
            ends: Vec::with_capacity(count),
            bits: Vec::with_capacity(count),
        };
        for line in from..to {
            let start = words.hashes.len();
            push_words(lines.slice(line, line + 1), &mut words.hashes);
            words.hashes[start..].sort_unstable();
            words.bits.push(words.hashes[start..].iter().fold(0, |bits, hash| bits | 1 << (hash % 64)));
            words.ends.push(words.hashes.len());
        }
        words
    }

    /// Whether two lines cannot share enough of their words, by their bits alone.
    fn apart(&self, line: usize, other: &Self, other_line: usize) -> bool {
        let (mine, theirs) = (self.line(line).len(), other.line(other_line).len());
        let repeated = |words: usize, bits: u64| words - bits.count_ones() as usize;
        let (bits, other_bits) = (self.bits[line], other.bits[other_line]);
        let most = (bits & other_bits).count_ones() as usize + repeated(mine, bits).min(repeated(theirs, other_bits));
        2000 * most.min(mine).min(theirs) < ALIKE * (mine + theirs).max(1)
    }

    /// The words of some lines as one.
    fn whole(lines: &Lines<'_>, range: &Range<usize>) -> Vec<u64> {
        let mut words = Self::of(lines, range.start, range.end).hashes;
        words.sort_unstable();
        words
    }

    fn line(&self, line: usize) -> &[u64] {
        let start = if line == 0 { 0 } else { self.ends[line - 1] };
        &self.hashes[start..self.ends[line]]
    }
}

/// Whether lines of a side can have kept at least half of the words of lines of the base, in whatever order.
pub(crate) fn may_keep_half(base: (&Lines<'_>, &Range<usize>), side: (&Lines<'_>, &Range<usize>)) -> bool {
    let (old, new) = (Words::whole(base.0, base.1), Words::whole(side.0, side.1));
    2 * in_both(&old, &new) >= old.len()
}

/// The hash of every word of a text.
fn push_words(text: &str, hashes: &mut Vec<u64>) {
    // FNV-1a, mixed at the end: words are short.
    const START: u64 = 0xCBF2_9CE4_8422_2325;
    const STEP: u64 = 0x0100_0000_01B3;
    let mut hash = START;
    for &byte in text.as_bytes() {
        if byte > b' ' {
            hash = (hash ^ u64::from(byte)).wrapping_mul(STEP);
        } else if hash != START {
            hashes.push(hash ^ hash >> 32);
            hash = START;
        }
    }
    if hash != START {
        hashes.push(hash ^ hash >> 32);
    }
}

/// Out of 1,000: what two sorted lists of words share, of what both have. Blank lines share nothing.
fn shared(old: &[u64], new: &[u64]) -> usize {
    2000 * in_both(old, new) / (old.len() + new.len()).max(1)
}

/// How many values two sorted lists have in common.
fn in_both(old: &[u64], new: &[u64]) -> usize {
    let (mut left, mut right, mut equal) = (0, 0, 0);
    while left < old.len() && right < new.len() {
        let (one, other) = (old[left], new[right]);
        equal += usize::from(one == other);
        left += usize::from(one <= other);
        right += usize::from(other <= one);
    }
    equal
}
