//! Labels that texts carry beside their words, and which texts a filter lets through.

use std::borrow::Cow;

use super::bits::Bits;
use super::documents::Documents;
use super::names::Names;

/// Which texts a search may give. The default lets every text through.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Filter {
    /// Of each of these sets a text carries at least one group.
    pub any_of: Vec<Vec<String>>,
    /// A text carries none of these groups.
    pub none_of: Vec<String>,
    /// Only these ids.
    pub ids: Option<Vec<String>>,
    /// Only texts with a time not before this one.
    pub since: Option<i64>,
    /// Only texts with a time before this one.
    pub before: Option<i64>,
}

/// The texts that a filter lets through.
pub(super) struct Admitted<'d> {
    slots: Cow<'d, Bits>,
    times: Option<(&'d Documents, i64, i64)>,
}

impl Admitted<'_> {
    /// Whether the text of this slot is let through.
    pub(super) fn has(&self, slot: u32) -> bool {
        self.slots.has(slot)
            && self.times.is_none_or(|(documents, since, before)| {
                documents.at(slot).is_some_and(|at| since <= at && at < before)
            })
    }
}

/// The texts of one group: a list while they are few, a set of bits as soon as that is smaller.
enum Members {
    Few(Vec<u32>),
    Many(Bits),
}

/// The groups and their texts.
#[derive(Default)]
pub(super) struct Groups {
    names: Names,
    members: Vec<Members>,
}

impl Groups {
    /// Puts the text into a group; its slot is not below any before.
    pub(super) fn add(&mut self, group: &str, slot: u32) {
        let number = self.names.number(group) as usize;
        if number == self.members.len() {
            self.members.push(Members::Few(Vec::new()));
        }
        self.members[number].add(slot);
    }

    /// The same groups with new names for their slots; groups without texts are gone.
    pub(super) fn renamed(&self, new: impl Fn(u32) -> Option<u32>) -> Self {
        let mut groups = Self::default();
        for (number, members) in (0..).zip(&self.members) {
            for slot in members.to_bits().iter().filter_map(&new) {
                groups.add(self.names.get(number), slot);
            }
        }
        groups
    }

    /// What the filter lets through of the texts that are there.
    pub(super) fn admitted<'d>(&self, documents: &'d Documents, filter: &Filter) -> Admitted<'d> {
        let mut slots = Cow::Borrowed(documents.live());
        for set in &filter.any_of {
            slots.to_mut().keep(&self.union(set));
        }
        if !filter.none_of.is_empty() {
            slots.to_mut().drop_all(&self.union(&filter.none_of));
        }
        if let Some(ids) = &filter.ids {
            let mut wanted = Bits::default();
            ids.iter().filter_map(|id| documents.find(id)).for_each(|slot| wanted.set(slot));
            slots.to_mut().keep(&wanted);
        }
        let bounded = filter.since.is_some() || filter.before.is_some();
        let range = (filter.since.unwrap_or(i64::MIN), filter.before.unwrap_or(i64::MAX));
        Admitted { slots, times: bounded.then_some((documents, range.0, range.1)) }
    }

    fn union(&self, set: &[String]) -> Bits {
        let mut all = Bits::default();
        for number in set.iter().filter_map(|group| self.names.find(group)) {
            self.members[number as usize].join_to(&mut all);
        }
        all
    }
}

impl Members {
    fn add(&mut self, slot: u32) {
        match self {
            Self::Few(slots) if slots.last() == Some(&slot) => {}
            Self::Few(slots) => {
                slots.push(slot);
                // A list takes 32 bits a text, a set one bit a slot.
                if slots.len() > 64 + slot as usize / 32 {
                    *self = Self::Many(self.to_bits());
                }
            }
            Self::Many(bits) => bits.set(slot),
        }
    }

    fn to_bits(&self) -> Bits {
        let mut bits = Bits::default();
        self.join_to(&mut bits);
        bits
    }

    fn join_to(&self, all: &mut Bits) {
        match self {
            Self::Few(slots) => slots.iter().for_each(|&slot| all.set(slot)),
            Self::Many(bits) => all.join(bits),
        }
    }
}
