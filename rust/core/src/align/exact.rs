//! Pairs blocks that say the same.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use crate::align::nearby::Expected;
use crate::align::pairing::{Indices, Pairing};
use crate::align::text_interner::TextInterner;

/// How often a text stands among the open blocks of each side, and where first.
struct Same {
    olds: usize,
    news: usize,
    old: usize,
    new: usize,
}

/// Open blocks by the number of their text.
struct Texts {
    of_old: Indices,
    of_new: Indices,
    same: Vec<Same>,
}

/// Pairs open blocks of the same text, as `old` and `new` read it.
pub(super) fn pair<'t>(
    pairing: &mut Pairing,
    old: impl Fn(usize) -> Cow<'t, [u8]>,
    new: impl Fn(usize) -> Cow<'t, [u8]>,
) {
    let texts = Texts::gather(pairing, old, new);
    for same in texts.same.iter().filter(|same| (same.olds, same.news) == (1, 1)) {
        pairing.join(same.old, same.new);
    }
    if texts.same.iter().any(|same| same.news > 0 && same.olds + same.news > 2) {
        texts.between(pairing);
        texts.after(pairing);
        texts.before(pairing);
        texts.nearest(pairing);
    }
}

impl Texts {
    fn gather<'t>(
        pairing: &Pairing,
        old: impl Fn(usize) -> Cow<'t, [u8]>,
        new: impl Fn(usize) -> Cow<'t, [u8]>,
    ) -> Self {
        let (mut same, mut known) = (Vec::new(), TextInterner::with_capacity(pairing.olds()));
        let (mut of_old, mut of_new) = (Indices::none(pairing.olds()), Indices::none(pairing.news()));
        for index in pairing.open_olds() {
            let number = known.number(old(index));
            if number == same.len() {
                same.push(Same { olds: 0, news: 0, old: index, new: 0 });
            }
            same[number].olds += 1;
            of_old.set(index, number);
        }
        // A text that no old block has pairs with nothing.
        for (index, number) in known.find_all(pairing.open_news().map(|index| (index, new(index)))) {
            let same = &mut same[number];
            same.new = if same.news == 0 { index } else { same.new };
            same.news += 1;
            of_new.set(index, number);
        }
        Self { of_old, of_new, same }
    }

    fn joins(&self, pairing: &mut Pairing, old: usize, new: usize) {
        if self.of_new.get(new).is_some() && self.of_old.get(old) == self.of_new.get(new) {
            pairing.join(old, new);
        }
    }

    /// Copies whose neighbours on both sides are pairs; the ends of the lists are neighbours too.
    fn between(&self, pairing: &mut Pairing) {
        for new in 0..pairing.news() {
            if pairing.old_of(new).is_some() {
                continue;
            }
            let before = if new == 0 { Some(0) } else { pairing.old_of(new - 1).map(|old| old + 1) };
            let last = new + 1 == pairing.news();
            let after = if last { Some(pairing.olds()) } else { pairing.old_of(new + 1) };
            if let (Some(old), Some(next)) = (before, after)
                && old + 1 == next
            {
                self.joins(pairing, old, new);
            }
        }
    }

    /// Copies that follow a pair, and so on.
    fn after(&self, pairing: &mut Pairing) {
        for new in 0..pairing.news() {
            let old = if new == 0 { Some(0) } else { pairing.old_of(new - 1).map(|old| old + 1) };
            if let Some(old) = old.filter(|old| *old < pairing.olds()) {
                self.joins(pairing, old, new);
            }
        }
    }

    /// Copies that stand before a pair, and so on.
    fn before(&self, pairing: &mut Pairing) {
        for new in (0..pairing.news()).rev() {
            let next = if new + 1 == pairing.news() { Some(pairing.olds()) } else { pairing.old_of(new + 1) };
            if let Some(old) = next.and_then(|next| next.checked_sub(1)) {
                self.joins(pairing, old, new);
            }
        }
    }

    /// The copies that are left: the one nearest to where the old block would stand takes its place.
    fn nearest(&self, pairing: &mut Pairing) {
        let mut left: BTreeMap<usize, (Vec<usize>, BTreeSet<usize>)> = BTreeMap::new();
        for (new, number) in pairing.open_news().filter_map(|new| Some((new, self.of_new.get(new)?))) {
            left.entry(number).or_default().1.insert(new);
        }
        for (old, number) in pairing.open_olds().filter_map(|old| Some((old, self.of_old.get(old)?))) {
            if let Some((olds, _)) = left.get_mut(&number) {
                olds.push(old);
            }
        }
        let expected = Expected::of(pairing);
        for (olds, mut free) in left.into_values() {
            let near = |old: usize| expected.nearest(old, &free).map(|(distance, _)| (distance, old));
            let mut waiting: Vec<(usize, usize)> = olds.into_iter().filter_map(near).collect();
            waiting.sort_unstable();
            for (_, old) in waiting {
                let Some((_, new)) = expected.nearest(old, &free) else { break };
                free.remove(&new);
                pairing.join(old, new);
            }
        }
    }
}
