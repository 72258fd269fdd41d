//! Filters on groups, ids and time, and the group membership of documents.

use std::borrow::Cow;

use super::bit_set::{BitSet, SetBits};
use super::documents::Documents;
use super::interner::Interner;

/// Which documents a search may return. The default accepts every document.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Filter {
    /// For each of these sets, the document belongs to at least one group of the set (AND of ORs).
    pub any_of: Vec<Vec<String>>,
    /// The document belongs to none of these groups.
    pub none_of: Vec<String>,
    /// Only documents with these ids; None accepts every id.
    pub ids: Option<Vec<String>>,
    /// Only documents with a timestamp at or after this one.
    pub since: Option<i64>,
    /// Only documents with a timestamp before this one.
    pub before: Option<i64>,
}

/// The documents that a filter accepts; its conditions are checked on look-up: few documents are looked up.
pub(super) struct AcceptedSlots<'d> {
    live: &'d BitSet,
    all_of: Vec<Cow<'d, BitSet>>,
    none_of: Cow<'d, BitSet>,
    times: Option<(&'d Documents, i64, i64)>,
}

impl AcceptedSlots<'_> {
    /// Iterate over the accepted slots from `start` on, in ascending order.
    pub(super) fn iter_from(&self, start: u32) -> impl Iterator<Item = u32> + '_ {
        let words = (start / 64..self.live.words()).map(|at| (at, self.word(at)));
        let slots = words.flat_map(|(at, word)| SetBits(word).map(move |bit| at * 64 + bit));
        slots.filter(move |&slot| slot >= start && self.is_in_time(slot))
    }

    /// Return true if the filter accepts the document of this slot.
    pub(super) fn contains(&self, slot: u32) -> bool {
        let is_in = |set: &BitSet| set.contains(slot);
        is_in(self.live) && self.all_of.iter().all(|set| is_in(set)) && !is_in(&self.none_of) && self.is_in_time(slot)
    }

    /// Return the slots from `64 * at` on, in whatever time, as the bits of a word.
    fn word(&self, at: u32) -> u64 {
        self.all_of.iter().fold(self.live.word(at) & !self.none_of.word(at), |word, set| word & set.word(at))
    }

    fn is_in_time(&self, slot: u32) -> bool {
        self.times.is_none_or(|(documents, since, before)| {
            documents.timestamp(slot).is_some_and(|at| since <= at && at < before)
        })
    }
}

/// The documents of one group: a sorted list while short, a bit set as soon as that is smaller.
enum Members {
    Few(Vec<u32>),
    Many(BitSet),
}

/// Groups by name, each with its documents.
#[derive(Default)]
pub(super) struct Groups {
    names: Interner,
    members: Vec<Members>,
}

impl Groups {
    /// Add a document to a group; slots must not descend.
    pub(super) fn add(&mut self, group: &str, slot: u32) {
        let group_id = self.names.id(group) as usize;
        if group_id == self.members.len() {
            self.members.push(Members::Few(Vec::new()));
        }
        self.members[group_id].add(slot);
    }

    /// Return true if a document is in a group.
    pub(super) fn contains(&self, group: &str, slot: u32) -> bool {
        self.names.find(group).is_some_and(|group_id| self.members[group_id as usize].contains(slot))
    }

    /// Iterate over the names of the groups and the slots of their documents, removed ones included.
    pub(super) fn iter(&self) -> impl Iterator<Item = (&str, BitSet)> {
        (0..).zip(&self.members).map(|(group_id, members)| (self.names.get(group_id), members.to_bits()))
    }

    /// A copy with slots remapped by `new_slot` (None: removed); empty groups are dropped.
    pub(super) fn remapped(&self, new_slot: impl Fn(u32) -> Option<u32>) -> Self {
        let mut groups = Self::default();
        for (group_id, members) in (0..).zip(&self.members) {
            for slot in members.to_bits().iter().filter_map(&new_slot) {
                groups.add(self.names.get(group_id), slot);
            }
        }
        groups
    }

    /// Evaluate a filter over the documents that were not removed.
    pub(super) fn accepted<'d>(&'d self, documents: &'d Documents, filter: &Filter) -> AcceptedSlots<'d> {
        let mut all_of: Vec<Cow<'d, BitSet>> = filter.any_of.iter().map(|set| self.union(set)).collect();
        if let Some(ids) = &filter.ids {
            let mut listed = BitSet::default();
            ids.iter().filter_map(|id| documents.find(id)).for_each(|slot| listed.insert(slot));
            all_of.push(Cow::Owned(listed));
        }
        let has_time_range = filter.since.is_some() || filter.before.is_some();
        let range = (filter.since.unwrap_or(i64::MIN), filter.before.unwrap_or(i64::MAX));
        let times = has_time_range.then_some((documents, range.0, range.1));
        AcceptedSlots { live: documents.live(), all_of, none_of: self.union(&filter.none_of), times }
    }

    /// The documents that belong to any group of the set.
    fn union(&self, set: &[String]) -> Cow<'_, BitSet> {
        let mut known = set.iter().filter_map(|group| self.names.find(group)).map(|id| &self.members[id as usize]);
        let Some(first) = known.next() else { return Cow::default() };
        let mut all = match first {
            Members::Many(bits) => Cow::Borrowed(bits),
            few @ Members::Few(_) => Cow::Owned(few.to_bits()),
        };
        known.for_each(|members| members.add_to(all.to_mut()));
        all
    }
}

impl Members {
    fn add(&mut self, slot: u32) {
        match self {
            Self::Few(slots) if slots.last() == Some(&slot) => {}
            Self::Few(slots) => {
                slots.push(slot);
                // A list takes 32 bits a document, a bit set one bit per slot up to the highest: at slot 6,400 a list
                // of more than 64 + 200 documents becomes a bit set. 64 keeps tiny groups of a young index as lists.
                if slots.len() > 64 + slot as usize / 32 {
                    *self = Self::Many(self.to_bits());
                }
            }
            Self::Many(bits) => bits.insert(slot),
        }
    }

    fn contains(&self, slot: u32) -> bool {
        match self {
            Self::Few(slots) => slots.binary_search(&slot).is_ok(),
            Self::Many(bits) => bits.contains(slot),
        }
    }

    fn to_bits(&self) -> BitSet {
        let mut bits = BitSet::default();
        self.add_to(&mut bits);
        bits
    }

    /// Add the members to `all`.
    fn add_to(&self, all: &mut BitSet) {
        match self {
            Self::Few(slots) => slots.iter().for_each(|&slot| all.insert(slot)),
            Self::Many(bits) => all.union_with(bits),
        }
    }
}
