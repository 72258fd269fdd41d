//! Matching of edited blocks, by the words they share and by their position.

use crate::align::OldBlock;
use crate::align::expected_position::{ExpectedPositions, PairContext};
use crate::align::pairing::Pairing;
use crate::align::similarity::{BlockWords, common_ends, word_similarity};

/// Old blocks that may share a key; a key of more blocks (a common word) says little and would cost quadratic time.
const KEY_BLOCKS_MAX: usize = 4;
/// Old blocks that one new block is compared with because they share words.
const CANDIDATES_MAX: usize = 6;
/// Blocks on either side of an expected position that are compared.
const SEARCH_RADIUS: usize = 3;
/// Common prefix and suffix of two blocks in the same position, in thousandths, from which one is an edit of the other.
const IN_PLACE_MIN: usize = 600;
/// Rounds of matching; pairs matched in one round are neighbours for the next.
const ROUNDS: usize = 3;

/// The unmatched blocks of both sides with their words, numbered in order.
struct Unmatched<'p> {
    olds: Vec<usize>,
    news: Vec<usize>,
    old_words: BlockWords,
    new_words: BlockWords,
    old_texts: &'p [OldBlock<'p>],
    new_texts: &'p [&'p [u8]],
}

/// A possible pair. The derived order sorts better ones first, then nearer ones, then earlier ones.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Candidate {
    score_deficit: usize,
    distance: usize,
    old: usize,
    new: usize,
}

/// Match edited blocks: first those in the same position, then greedily the best pairs by words and position.
pub(super) fn pair(pairing: &mut Pairing, old: &[OldBlock<'_>], new: &[&[u8]]) {
    pair_in_place(pairing, old, new);
    if !pairing.has_unmatched_on_both_sides() {
        return;
    }
    let (unmatched, sharing_words) = Unmatched::gather(pairing, old, new);
    for round in 0..ROUNDS {
        let expected = ExpectedPositions::of(pairing);
        let mut candidates = unmatched.candidates_by_position(pairing, &expected, round > 0);
        if round == 0 {
            candidates
                .extend(sharing_words.iter().filter_map(|(at, to)| unmatched.candidate(&expected, *at, *to, false)));
        }
        candidates.sort_unstable();
        let matched = candidates.iter().filter(|candidate| pairing.match_pair(candidate.old, candidate.new)).count();
        if matched == 0 && round > 0 {
            break;
        }
    }
}

/// Match blocks between the same pairs, as many on one side as on the other, with long common prefixes and suffixes.
///
/// One edit leaves such prefixes and suffixes of a block that did not move: `- Uses Postgres 15` -> `- Uses Postgres
/// 16`. Most edits are of this kind, and comparing words is not needed for them.
fn pair_in_place(pairing: &mut Pairing, old: &[OldBlock<'_>], new: &[&[u8]]) {
    let expected = ExpectedPositions::of(pairing);
    let unmatched: Vec<usize> = pairing.unmatched_new().collect();
    for run in unmatched.chunk_by(|left, right| left + 1 == *right) {
        let Some(first) = expected.parallel_run(run[0], run.len(), pairing) else { continue };
        for (step, new_index) in run.iter().enumerate() {
            if common_ends(old[first + step].text, new[*new_index]) >= IN_PLACE_MIN {
                pairing.match_pair(first + step, *new_index);
            }
        }
    }
}

impl<'p> Unmatched<'p> {
    /// Collect the unmatched blocks, and (old, new) numbers of those that share rare words.
    fn gather(pairing: &Pairing, old: &'p [OldBlock<'p>], new: &'p [&'p [u8]]) -> (Self, Vec<(usize, usize)>) {
        let mut unmatched = Self {
            olds: pairing.unmatched_old().collect(),
            news: pairing.unmatched_new().collect(),
            old_words: BlockWords::default(),
            new_words: BlockWords::default(),
            old_texts: old,
            new_texts: new,
        };
        let mut keys = Vec::new();
        let mut entries: Vec<(u64, usize)> = Vec::new();
        for (number, block) in unmatched.olds.iter().enumerate() {
            unmatched.old_words.push(old[*block].text, &mut keys);
            entries.extend(keys.iter().map(|key| (*key, number)));
        }
        let index = KeyIndex::new(&entries);
        let mut sharing_words = Vec::new();
        let mut hits = Vec::new();
        for (number, block) in unmatched.news.iter().enumerate() {
            unmatched.new_words.push(new[*block], &mut keys);
            hits.clear();
            for key in &keys {
                let same = index.find(*key);
                hits.extend(same.iter().filter(|_| same.len() <= KEY_BLOCKS_MAX).map(|(_, old)| *old));
            }
            sharing_words.extend(most_frequent(&mut hits).into_iter().map(|old| (old, number)));
        }
        (unmatched, sharing_words)
    }

    /// Return candidates near the expected position of each unmatched old block.
    fn candidates_by_position(&self, pairing: &Pairing, expected: &ExpectedPositions, lenient: bool) -> Vec<Candidate> {
        let mut candidates = Vec::new();
        for (number, old) in self.olds.iter().enumerate().filter(|(_, old)| pairing.new_of(**old).is_none()) {
            for new in expected.search_range(*old, SEARCH_RADIUS).filter(|new| pairing.old_of(*new).is_none()) {
                if let Ok(other) = self.news.binary_search(&new) {
                    candidates.extend(self.candidate(expected, number, other, lenient));
                }
            }
        }
        candidates
    }

    /// Compare two blocks; return a candidate if they are similar enough for their position.
    fn candidate(&self, expected: &ExpectedPositions, number: usize, other: usize, lenient: bool) -> Option<Candidate> {
        let (old, new) = (self.olds[number], self.news[other]);
        let words = word_similarity(&self.old_words, number, &self.new_words, other);
        let similarity = words.similarity.max(common_ends(self.old_texts[old].text, self.new_texts[new]));
        let context = expected.context(old, new);
        let score = similarity + position_bonus(context);
        (similarity >= required_similarity(context, words.common, lenient)).then(|| Candidate {
            score_deficit: 2000 - score,
            distance: expected.distance(old, new),
            old,
            new,
        })
    }
}

/// Return what the position adds to the score (thousandths): 100 for each matching neighbour and the expected position.
fn position_bonus(context: PairContext) -> usize {
    100 * (context.matching_sides + usize::from(context.at_expected_position))
}

/// The similarity that two blocks need, in thousandths: less where their position speaks for them.
///
/// Example: a rewritten bullet alone between two unchanged ones is matched
/// from 400 on in the first round and from 200 on later, while one that also moved away from both neighbours needs 500
/// or 600.
fn required_similarity(context: PairContext, common: usize, lenient: bool) -> usize {
    match context.matching_sides {
        2 if lenient && context.alone_between => 200,
        2 if lenient => 300,
        2 => 400,
        1 if lenient => 350,
        1 => 450,
        _ if common >= 4 => 500,
        _ => 600,
    }
}

/// Return the numbers that occur most often, at most [`CANDIDATES_MAX`]; ties go to the lower number.
fn most_frequent(hits: &mut [usize]) -> Vec<usize> {
    hits.sort_unstable();
    let mut counted: Vec<(usize, usize)> = hits.chunk_by(|a, b| a == b).map(|run| (run.len(), run[0])).collect();
    counted.sort_unstable_by(|(left, one), (right, other)| right.cmp(left).then(one.cmp(other)));
    counted.into_iter().take(CANDIDATES_MAX).map(|(_, number)| number).collect()
}

/// An immutable multimap from key hashes to block numbers, bucketed by key bits that are spread evenly.
struct KeyIndex {
    starts: Vec<usize>,
    entries: Vec<(u64, usize)>,
}

impl KeyIndex {
    /// Build the index of `(key, number)` entries with a counting sort.
    fn new(entries: &[(u64, usize)]) -> Self {
        let buckets = entries.len().next_power_of_two();
        let mut starts = vec![0; buckets + 1];
        for (key, _) in entries {
            starts[bucket(*key, buckets)] += 1;
        }
        let mut sum = 0;
        for start in &mut starts {
            sum += *start;
            *start = sum;
        }
        // Each bucket is filled from its end to its beginning, which leaves `start` at its first entry.
        let mut sorted = vec![(0, 0); entries.len()];
        for entry in entries {
            let start = &mut starts[bucket(entry.0, buckets)];
            *start -= 1;
            sorted[*start] = *entry;
        }
        // A hostile text may put all its words into one bucket: sorted, it is searched in logarithmic time.
        for bounds in starts.windows(2) {
            sorted[bounds[0]..bounds[1]].sort_unstable();
        }
        Self { starts, entries: sorted }
    }

    /// Return the entries of a key, ascending by number.
    fn find(&self, key: u64) -> &[(u64, usize)] {
        let number = bucket(key, self.starts.len() - 1);
        let bucket = &self.entries[self.starts[number]..self.starts[number + 1]];
        let from = bucket.partition_point(|(other, _)| *other < key);
        let length = bucket[from..].partition_point(|(other, _)| *other == key);
        &bucket[from..from + length]
    }
}

/// The bucket of a key, by bits above those that hold the word's length; `buckets` is a power of two.
fn bucket(key: u64, buckets: usize) -> usize {
    usize::try_from((key >> 8) & (buckets as u64 - 1)).unwrap_or_default()
}
