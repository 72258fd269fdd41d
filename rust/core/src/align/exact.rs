//! Pairs blocks that say the same.

use std::borrow::Cow;
use std::collections::{BTreeSet, HashMap};

use crate::align::nearby::Expected;
use crate::align::pairing::Pairing;

/// Where the open blocks of one text stand.
#[derive(Default)]
struct Same {
    olds: Vec<usize>,
    news: Vec<usize>,
}

/// Open blocks by their text.
struct Texts {
    of_old: Vec<Option<usize>>,
    of_new: Vec<Option<usize>>,
    same: Vec<Same>,
}

/// Pairs open blocks of the same text, as `old` and `new` read it.
pub(super) fn pair<'t>(
    pairing: &mut Pairing,
    old: impl Fn(usize) -> Cow<'t, [u8]>,
    new: impl Fn(usize) -> Cow<'t, [u8]>,
) {
    let texts = Texts::gather(pairing, old, new);
    for same in &texts.same {
        if let ([old], [new]) = (same.olds.as_slice(), same.news.as_slice()) {
            pairing.join(*old, *new);
        }
    }
    if texts.same.iter().any(|same| same.olds.len() + same.news.len() > 2 && !same.news.is_empty()) {
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
        let mut numbers: HashMap<Cow<'t, [u8]>, usize> = HashMap::with_capacity(pairing.olds());
        let mut same: Vec<Same> = Vec::with_capacity(pairing.olds());
        let mut of_old = vec![None; pairing.olds()];
        let mut of_new = vec![None; pairing.news()];
        for index in pairing.open_olds() {
            let number = *numbers.entry(old(index)).or_insert(same.len());
            if number == same.len() {
                same.push(Same::default());
            }
            same[number].olds.push(index);
            of_old[index] = Some(number);
        }
        for index in pairing.open_news() {
            // A text that no old block has pairs with nothing.
            if let Some(number) = numbers.get(&new(index)) {
                same[*number].news.push(index);
                of_new[index] = Some(*number);
            }
        }
        Self { of_old, of_new, same }
    }

    fn joins(&self, pairing: &mut Pairing, old: usize, new: usize) {
        if self.of_new[new].is_some() && self.of_old[old] == self.of_new[new] {
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
        let expected = Expected::of(pairing);
        for same in &self.same {
            let mut free: BTreeSet<usize> =
                same.news.iter().copied().filter(|new| pairing.old_of(*new).is_none()).collect();
            let mut waiting: Vec<(usize, usize)> = same
                .olds
                .iter()
                .filter(|old| pairing.new_of(**old).is_none())
                .filter_map(|old| expected.nearest(*old, &free).map(|(distance, _)| (distance, *old)))
                .collect();
            waiting.sort_unstable();
            for (_, old) in waiting {
                let Some((_, new)) = expected.nearest(old, &free) else { break };
                free.remove(&new);
                pairing.join(old, new);
            }
        }
    }
}
