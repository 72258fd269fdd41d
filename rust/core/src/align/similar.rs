//! Pairs blocks that were edited: by the words they share, and by where they stand.

use crate::align::OldBlock;
use crate::align::index::Index;
use crate::align::nearby::{Expected, Setting};
use crate::align::pairing::Pairing;
use crate::align::words::{Words, likeness, same_ends};

/// A key that more old blocks have than this says little about each of them.
const COMMON_KEY: usize = 4;
/// Most candidates of a block among those that share its words.
const CANDIDATES: usize = 6;
/// How far from its place in a gap a block is looked for.
const REACH: usize = 3;
/// How much of two blocks in the same place is the same at their ends, in thousandths, if one is an edit of the other.
const IN_PLACE: usize = 600;
/// Rounds in which pairs found by likeness stand as neighbours for the next.
const ROUNDS: usize = 3;

/// The open blocks of both sides with their words; numbered in order.
struct Open<'p> {
    olds: Vec<usize>,
    news: Vec<usize>,
    old_words: Words,
    new_words: Words,
    old_texts: &'p [OldBlock<'p>],
    new_texts: &'p [&'p [u8]],
}

/// A pair that could be: better ones first, then nearer ones, then earlier ones.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Proposal {
    short_of_best: usize,
    distance: usize,
    old: usize,
    new: usize,
}

pub(super) fn pair(pairing: &mut Pairing, old: &[OldBlock<'_>], new: &[&[u8]]) {
    pair_in_place(pairing, old, new);
    if !pairing.is_open() {
        return;
    }
    let (open, sharing) = Open::gather(pairing, old, new);
    for round in 0..ROUNDS {
        let expected = Expected::of(pairing);
        let mut proposals = open.by_place(pairing, &expected, round > 0);
        if round == 0 {
            proposals.extend(sharing.iter().filter_map(|(at, to)| open.propose(&expected, *at, *to, false)));
        }
        proposals.sort_unstable();
        let found = proposals.iter().filter(|proposal| pairing.join(proposal.old, proposal.new)).count();
        if found == 0 && round > 0 {
            break;
        }
    }
}

/// Pairs blocks between the same pairs, as many on one side as on the other, that mostly begin and end alike: what one
/// edit leaves of a block that stayed where it was. Most edits are of this kind, and need no words.
fn pair_in_place(pairing: &mut Pairing, old: &[OldBlock<'_>], new: &[&[u8]]) {
    let expected = Expected::of(pairing);
    let open: Vec<usize> = pairing.open_news().collect();
    for run in open.chunk_by(|left, right| left + 1 == *right) {
        let Some(first) = expected.old_in_step(run[0], run.len(), pairing) else { continue };
        for (step, new_index) in run.iter().enumerate() {
            if same_ends(old[first + step].text, new[*new_index]) >= IN_PLACE {
                pairing.join(first + step, *new_index);
            }
        }
    }
}

impl<'p> Open<'p> {
    /// The open blocks, and the numbers of those of both sides that share rare words.
    fn gather(pairing: &Pairing, old: &'p [OldBlock<'p>], new: &'p [&'p [u8]]) -> (Self, Vec<(usize, usize)>) {
        let mut open = Self {
            olds: pairing.open_olds().collect(),
            news: pairing.open_news().collect(),
            old_words: Words::default(),
            new_words: Words::default(),
            old_texts: old,
            new_texts: new,
        };
        let mut keys = Vec::new();
        let mut entries: Vec<(u64, usize)> = Vec::new();
        for (number, block) in open.olds.iter().enumerate() {
            open.old_words.push(old[*block].text, &mut keys);
            entries.extend(keys.iter().map(|key| (*key, number)));
        }
        let index = Index::of(&entries);
        let mut sharing = Vec::new();
        let mut hits = Vec::new();
        for (number, block) in open.news.iter().enumerate() {
            open.new_words.push(new[*block], &mut keys);
            hits.clear();
            for key in &keys {
                let same = index.find(*key);
                hits.extend(same.iter().filter(|_| same.len() <= COMMON_KEY).map(|(_, old)| *old));
            }
            sharing.extend(most_frequent(&mut hits).into_iter().map(|old| (old, number)));
        }
        (open, sharing)
    }

    /// Proposals among blocks that stand in the same gap between pairs.
    fn by_place(&self, pairing: &Pairing, expected: &Expected, lenient: bool) -> Vec<Proposal> {
        let mut proposals = Vec::new();
        for (number, old) in self.olds.iter().enumerate().filter(|(_, old)| pairing.new_of(**old).is_none()) {
            for new in expected.gap(*old, REACH).filter(|new| pairing.old_of(*new).is_none()) {
                if let Ok(other) = self.news.binary_search(&new) {
                    proposals.extend(self.propose(expected, number, other, lenient));
                }
            }
        }
        proposals
    }

    fn propose(&self, expected: &Expected, number: usize, other: usize, lenient: bool) -> Option<Proposal> {
        let (old, new) = (self.olds[number], self.news[other]);
        let likeness = likeness(&self.old_words, number, &self.new_words, other);
        let share = likeness.share.max(same_ends(self.old_texts[old].text, self.new_texts[new]));
        let setting = expected.setting(old, new);
        let score = share + bonus(setting);
        (share >= asked(setting, likeness.common, lenient)).then(|| Proposal {
            short_of_best: 2000 - score,
            distance: expected.distance(old, new),
            old,
            new,
        })
    }
}

/// What a place is worth beside the share of words.
fn bonus(setting: Setting) -> usize {
    100 * (setting.sides + usize::from(setting.in_step))
}

/// The share of words that a pair must have: less where its place speaks for it.
fn asked(setting: Setting, common: usize, lenient: bool) -> usize {
    match setting.sides {
        2 if lenient && setting.alone => 200,
        2 if lenient => 300,
        2 => 400,
        1 if lenient => 350,
        1 => 450,
        _ if common >= 4 => 500,
        _ => 600,
    }
}

/// The numbers that occur most often, at most [`CANDIDATES`] of them; earlier ones first where they are equal.
fn most_frequent(hits: &mut [usize]) -> Vec<usize> {
    hits.sort_unstable();
    let mut counted: Vec<(usize, usize)> = hits.chunk_by(|a, b| a == b).map(|run| (run.len(), run[0])).collect();
    counted.sort_unstable_by(|(left, one), (right, other)| right.cmp(left).then(one.cmp(other)));
    counted.into_iter().take(CANDIDATES).map(|(_, number)| number).collect()
}
