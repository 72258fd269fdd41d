//! The keys of one object in JSON text: their order, and that none stands twice.

use std::borrow::Cow;
use std::cmp::Ordering;

use crate::canonical::order::{head, utf16_order};

/// Objects with at most this many keys are compared pairwise, if their order does not matter.
const PAIRWISE_MAX: usize = 12;

/// A key, and where it stands.
pub(crate) struct Key<'a> {
    head: u64,
    text: Cow<'a, str>,
    offset: usize,
    /// Which of its object's keys it is in the text, from 0.
    pub(crate) index: usize,
}

impl<'a> Key<'a> {
    pub(crate) fn new(text: Cow<'a, str>, offset: usize, index: usize) -> Self {
        Self { head: head(&text), text, offset, index }
    }

    fn order(&self, other: &Self) -> Ordering {
        self.head.cmp(&other.head).then_with(|| utf16_order(&self.text, &other.text))
    }

    fn same(&self, other: &Self) -> bool {
        self.head == other.head && self.text == other.text
    }
}

/// Puts keys into canonical order; the offset of the first that stood before, if one did.
pub(crate) fn arrange(keys: &mut [Key<'_>]) -> Option<usize> {
    if keys.is_sorted_by(|a, b| a.order(b).is_lt()) {
        return None;
    }
    keys.sort_unstable_by(|a, b| a.order(b).then(a.offset.cmp(&b.offset)));
    keys.windows(2).filter(|pair| pair[0].same(&pair[1])).map(|pair| pair[1].offset).min()
}

/// The offset of the first key that stood before in the same object. The keys may be in another order afterwards.
pub(crate) fn repeated(keys: &mut [Key<'_>]) -> Option<usize> {
    if keys.len() > PAIRWISE_MAX {
        return arrange(keys);
    }
    let stood_before = |(index, key): &(usize, &Key<'_>)| keys[..*index].iter().any(|earlier| earlier.same(key));
    keys.iter().enumerate().find(stood_before).map(|(_, key)| key.offset)
}
