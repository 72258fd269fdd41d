//! Refinement of hunks: a change of several lines is split into smaller changes by matching old and new lines.

use std::ops::Range;

use crate::diff::{Hunk, Lines};

/// Pairs of lines compared for one hunk; a larger one (over 32 by 32 lines) stays whole, as the cost is quadratic.
const PAIRS_MAX: usize = 1024;
/// Similarity in thousandths from which two lines count as one line that was edited: half of their words are common.
const SAME_LINE_MIN: usize = 500;

/// Split a hunk into smaller ones, in order.
pub(crate) fn refine(base: &Lines<'_>, side: &Lines<'_>, hunk: &Hunk) -> Vec<Hunk> {
    let (olds, news) = (hunk.old_end - hunk.old_start, hunk.new_end - hunk.new_start);
    if olds == 0 || news == 0 || olds + news == 2 || olds.saturating_mul(news) > PAIRS_MAX {
        return vec![*hunk];
    }
    let mut hunks = Vec::new();
    let (mut old, mut new) = (hunk.old_start, hunk.new_start);
    let mut push_gap = |old: &mut usize, new: &mut usize, old_end: usize, new_end: usize| {
        if *old < old_end || *new < new_end {
            hunks.push(Hunk { old_start: *old, old_end, new_start: *new, new_end });
        }
        (*old, *new) = (old_end, new_end);
    };
    for (old_at, new_at) in match_lines(base, side, hunk) {
        push_gap(&mut old, &mut new, old_at, new_at);
        if base.ids[old_at] == side.ids[new_at] {
            (old, new) = (old_at + 1, new_at + 1);
        } else {
            push_gap(&mut old, &mut new, old_at + 1, new_at + 1);
        }
    }
    push_gap(&mut old, &mut new, hunk.old_end, hunk.new_end);
    hunks
}

/// Match old and new lines in order so that the sum of their similarities is maximal (dynamic programming).
fn match_lines(base: &Lines<'_>, side: &Lines<'_>, hunk: &Hunk) -> Vec<(usize, usize)> {
    let old = WordHashes::of(base, hunk.old_start, hunk.old_end);
    let new = WordHashes::of(side, hunk.new_start, hunk.new_end);
    let (rows, columns) = (old.ends.len(), new.ends.len());
    // `best[row][column]` is the highest sum that the lines from there on can reach.
    let mut best = vec![0; (rows + 1) * (columns + 1)];
    let mut shares = vec![0; rows * columns];
    let cell = |row: usize, column: usize| row * (columns + 1) + column;
    for row in (0..rows).rev() {
        for column in (0..columns).rev() {
            let unmatched = best[cell(row + 1, column)].max(best[cell(row, column + 1)]);
            let share =
                if old.cannot_match(row, &new, column) { 0 } else { similarity(old.line(row), new.line(column)) };
            shares[row * columns + column] = share;
            let together = if share >= SAME_LINE_MIN { share + best[cell(row + 1, column + 1)] } else { 0 };
            best[cell(row, column)] = unmatched.max(together);
        }
    }
    let (mut row, mut column) = (0, 0);
    let mut pairs = Vec::new();
    while row < rows && column < columns {
        let share = shares[row * columns + column];
        if share >= SAME_LINE_MIN && best[cell(row, column)] == share + best[cell(row + 1, column + 1)] {
            pairs.push((hunk.old_start + row, hunk.new_start + column));
            (row, column) = (row + 1, column + 1);
        } else if best[cell(row, column)] == best[cell(row + 1, column)] {
            row += 1;
        } else {
            column += 1;
        }
    }
    pairs
}

/// The hashed words of a range of lines, sorted within each line.
struct WordHashes {
    hashes: Vec<u64>,
    ends: Vec<usize>,
    /// One bit for each word of a line, by its hash: a filter against comparing lines without common words.
    bits: Vec<u64>,
}

impl WordHashes {
    /// Hash the words of lines `from..to`.
    fn of(lines: &Lines<'_>, from: usize, to: usize) -> Self {
        let count = to - from;
        let mut words = Self {
            hashes: Vec::with_capacity(8 * count),
            ends: Vec::with_capacity(count),
            bits: Vec::with_capacity(count),
        };
        for line in from..to {
            let start = words.hashes.len();
            push_words(lines.line(line), &mut words.hashes);
            words.hashes[start..].sort_unstable();
            words.bits.push(words.hashes[start..].iter().fold(0, |bits, hash| bits | 1 << (hash % 64)));
            words.ends.push(words.hashes.len());
        }
        words
    }

    /// Return true if two lines cannot be similar enough, judged by the bit filter alone.
    fn cannot_match(&self, line: usize, other: &Self, other_line: usize) -> bool {
        let (mine, theirs) = (self.line(line).len(), other.line(other_line).len());
        let repeated = |words: usize, bits: u64| words - bits.count_ones() as usize;
        let (bits, other_bits) = (self.bits[line], other.bits[other_line]);
        let most = (bits & other_bits).count_ones() as usize + repeated(mine, bits).min(repeated(theirs, other_bits));
        2000 * most.min(mine).min(theirs) < SAME_LINE_MIN * (mine + theirs).max(1)
    }

    /// Return the hashed words of all lines together, sorted.
    fn all_words(lines: &Lines<'_>, range: &Range<usize>) -> Vec<u64> {
        let mut words = Self::of(lines, range.start, range.end).hashes;
        words.sort_unstable();
        words
    }

    /// The sorted word hashes of a line.
    fn line(&self, line: usize) -> &[u64] {
        let start = if line == 0 { 0 } else { self.ends[line - 1] };
        &self.hashes[start..self.ends[line]]
    }
}

/// Return true if lines of a side may have kept half of the base's words, in whatever order: a fast filter.
pub(crate) fn may_keep_half(base: (&Lines<'_>, &Range<usize>), side: (&Lines<'_>, &Range<usize>)) -> bool {
    let (old, new) = (WordHashes::all_words(base.0, base.1), WordHashes::all_words(side.0, side.1));
    2 * common_count(&old, &new) >= old.len()
}

/// Append the hash of every word of a text.
fn push_words(text: &str, hashes: &mut Vec<u64>) {
    // FNV-1a with a final mix, as words are short.
    const FNV_OFFSET: u64 = 0xCBF2_9CE4_8422_2325;
    const FNV_PRIME: u64 = 0x0100_0000_01B3;
    let mut hash = FNV_OFFSET;
    for &byte in text.as_bytes() {
        if byte > b' ' {
            hash = (hash ^ u64::from(byte)).wrapping_mul(FNV_PRIME);
        } else if hash != FNV_OFFSET {
            hashes.push(hash ^ hash >> 32);
            hash = FNV_OFFSET;
        }
    }
    if hash != FNV_OFFSET {
        hashes.push(hash ^ hash >> 32);
    }
}

/// Return the Dice coefficient of two sorted lists of words, in thousandths; 0 for blank lines.
fn similarity(old: &[u64], new: &[u64]) -> usize {
    2000 * common_count(old, new) / (old.len() + new.len()).max(1)
}

/// Count the values that two sorted lists have in common.
fn common_count(old: &[u64], new: &[u64]) -> usize {
    let (mut left, mut right, mut equal) = (0, 0, 0);
    while left < old.len() && right < new.len() {
        let (one, other) = (old[left], new[right]);
        equal += usize::from(one == other);
        left += usize::from(one <= other);
        right += usize::from(other <= one);
    }
    equal
}
