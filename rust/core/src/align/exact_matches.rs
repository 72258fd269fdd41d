//! Matching of blocks with equal text, copies included.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use crate::align::expected_position::ExpectedPositions;
use crate::align::pairing::{OptionalIndices, Pairing};
use crate::text_interner::TextInterner;

/// Number of unmatched blocks of each side with a text, and the first of them.
struct Occurrences {
    old_count: usize,
    new_count: usize,
    old: usize,
    new: usize,
}

/// The unmatched blocks, by the number of their text.
struct Copies {
    text_of_old: OptionalIndices,
    text_of_new: OptionalIndices,
    occurrences: Vec<Occurrences>,
}

/// Match unmatched blocks of equal text; `old` and `new` return the text of a block to compare (raw or normalized).
///
/// Unique texts first; then copies, by neighbours that are matched already: enclosed on both sides, following,
/// preceding; then the copy nearest to the expected position.
pub(super) fn pair<'t>(
    pairing: &mut Pairing,
    old: impl Fn(usize) -> Cow<'t, [u8]>,
    new: impl Fn(usize) -> Cow<'t, [u8]>,
) {
    let copies = Copies::gather(pairing, old, new);
    for occurrences in
        copies.occurrences.iter().filter(|occurrences| (occurrences.old_count, occurrences.new_count) == (1, 1))
    {
        pairing.match_pair(occurrences.old, occurrences.new);
    }
    if copies
        .occurrences
        .iter()
        .any(|occurrences| occurrences.new_count > 0 && occurrences.old_count + occurrences.new_count > 2)
    {
        copies.match_enclosed(pairing);
        copies.match_forward(pairing);
        copies.match_backward(pairing);
        copies.match_nearest(pairing);
    }
}

impl Copies {
    /// Number the texts of all unmatched blocks.
    fn gather<'t>(
        pairing: &Pairing,
        old: impl Fn(usize) -> Cow<'t, [u8]>,
        new: impl Fn(usize) -> Cow<'t, [u8]>,
    ) -> Self {
        let (mut occurrences, mut interner) = (Vec::new(), TextInterner::with_capacity(pairing.old_count()));
        let (mut text_of_old, mut text_of_new) =
            (OptionalIndices::none(pairing.old_count()), OptionalIndices::none(pairing.new_count()));
        for index in pairing.unmatched_old() {
            let number = interner.number(old(index)) as usize;
            if number == occurrences.len() {
                occurrences.push(Occurrences { old_count: 0, new_count: 0, old: index, new: 0 });
            }
            occurrences[number].old_count += 1;
            text_of_old.set(index, number);
        }
        // A text that no old block has cannot be matched, so that it needs no number.
        for (index, number) in interner.find_all(pairing.unmatched_new().map(|index| (index, new(index)))) {
            let occurrences = &mut occurrences[number];
            occurrences.new = if occurrences.new_count == 0 { index } else { occurrences.new };
            occurrences.new_count += 1;
            text_of_new.set(index, number);
        }
        Self { text_of_old, text_of_new, occurrences }
    }

    /// Match two blocks if they have the same text.
    fn match_if_equal(&self, pairing: &mut Pairing, old: usize, new: usize) {
        if self.text_of_new.get(new).is_some() && self.text_of_old.get(old) == self.text_of_new.get(new) {
            pairing.match_pair(old, new);
        }
    }

    /// Match copies between neighbours that are matched; the ends of the documents count as neighbours.
    fn match_enclosed(&self, pairing: &mut Pairing) {
        for new in 0..pairing.new_count() {
            if pairing.old_of(new).is_some() {
                continue;
            }
            let expected_old = if new == 0 { Some(0) } else { pairing.old_of(new - 1).map(|old| old + 1) };
            let last = new + 1 == pairing.new_count();
            let next_old = if last { Some(pairing.old_count()) } else { pairing.old_of(new + 1) };
            if let (Some(old), Some(next)) = (expected_old, next_old)
                && old + 1 == next
            {
                self.match_if_equal(pairing, old, new);
            }
        }
    }

    /// Match copies that directly follow a matched pair, in ascending order, so that a run is matched in one pass.
    fn match_forward(&self, pairing: &mut Pairing) {
        for new in 0..pairing.new_count() {
            let old = if new == 0 { Some(0) } else { pairing.old_of(new - 1).map(|old| old + 1) };
            if let Some(old) = old.filter(|old| *old < pairing.old_count()) {
                self.match_if_equal(pairing, old, new);
            }
        }
    }

    /// Match copies that directly precede a matched pair, in descending order, so that a run is matched in one pass.
    fn match_backward(&self, pairing: &mut Pairing) {
        for new in (0..pairing.new_count()).rev() {
            let next = if new + 1 == pairing.new_count() { Some(pairing.old_count()) } else { pairing.old_of(new + 1) };
            if let Some(old) = next.and_then(|next| next.checked_sub(1)) {
                self.match_if_equal(pairing, old, new);
            }
        }
    }

    /// Match the remaining copies greedily, the nearest to its expected position first.
    fn match_nearest(&self, pairing: &mut Pairing) {
        let mut by_text: BTreeMap<usize, (Vec<usize>, BTreeSet<usize>)> = BTreeMap::new();
        for (new, number) in pairing.unmatched_new().filter_map(|new| Some((new, self.text_of_new.get(new)?))) {
            by_text.entry(number).or_default().1.insert(new);
        }
        for (old, number) in pairing.unmatched_old().filter_map(|old| Some((old, self.text_of_old.get(old)?))) {
            if let Some((old_count, _)) = by_text.get_mut(&number) {
                old_count.push(old);
            }
        }
        let expected = ExpectedPositions::of(pairing);
        for (old_count, mut free) in by_text.into_values() {
            let with_distance = |old: usize| expected.nearest(old, &free).map(|(distance, _)| (distance, old));
            let mut queue: Vec<(usize, usize)> = old_count.into_iter().filter_map(with_distance).collect();
            queue.sort_unstable();
            for (_, old) in queue {
                let Some((_, new)) = expected.nearest(old, &free) else { break };
                free.remove(&new);
                pairing.match_pair(old, new);
            }
        }
    }
}
