//! Posting lists of a segment that were read and decoded: the words of questions recur, and decoding the list of a
//! frequent word takes longer than ranking by it.

use std::collections::HashMap;
use std::ops::Deref;
use std::sync::{Arc, Mutex, PoisonError};

use super::postings::Postings;

/// Bytes that a cached list takes beside its entries.
const OVERHEAD: usize = 192;

/// A posting list: of the buffer, or shared with the cache of its segment.
pub(super) enum List<'p> {
    Borrowed(&'p Postings),
    Shared(Arc<Postings>),
}

impl Deref for List<'_> {
    type Target = Postings;

    fn deref(&self) -> &Postings {
        match self {
            Self::Borrowed(postings) => postings,
            Self::Shared(postings) => postings,
        }
    }
}

/// The lists of one segment that were used last, by their terms, as many as fit a number of bytes.
pub(super) struct ListCache {
    bytes_max: usize,
    lists: Mutex<Lists>,
}

#[derive(Default)]
struct Lists {
    /// Each list with the time of its last use.
    by_term: HashMap<u32, (u64, Arc<Postings>)>,
    bytes: usize,
    time: u64,
}

impl ListCache {
    /// An empty cache of at most so many bytes.
    pub(super) fn new(bytes_max: usize) -> Self {
        Self { bytes_max, lists: Mutex::default() }
    }

    /// Return the list of a term if it is here.
    pub(super) fn get(&self, term_id: u32) -> Option<Arc<Postings>> {
        let mut lists = self.lists.lock().unwrap_or_else(PoisonError::into_inner);
        lists.time += 1;
        let now = lists.time;
        let (used, list) = lists.by_term.get_mut(&term_id)?;
        *used = now;
        Some(Arc::clone(list))
    }

    /// Keep the list of a term; where it does not fit, those that were not used for the longest time go.
    pub(super) fn put(&self, term_id: u32, list: &Arc<Postings>) {
        let size = bytes_of(list);
        if size > self.bytes_max {
            return;
        }
        let mut lists = self.lists.lock().unwrap_or_else(PoisonError::into_inner);
        if lists.bytes + size > self.bytes_max {
            lists.shrink(self.bytes_max.saturating_sub(size) / 4 * 3);
        }
        lists.time += 1;
        let now = lists.time;
        let before = lists.by_term.insert(term_id, (now, Arc::clone(list)));
        lists.bytes += size;
        lists.bytes -= before.map_or(0, |(_, list)| bytes_of(&list));
    }
}

impl Lists {
    /// Drop the lists that were not used for the longest time until at most so many bytes are left.
    ///
    /// A quarter goes at once, so that sorting them by their use is rare.
    fn shrink(&mut self, bytes_max: usize) {
        let mut by_use: Vec<(u64, u32)> = self.by_term.iter().map(|(&term_id, &(used, _))| (used, term_id)).collect();
        by_use.sort_unstable();
        for (_, term_id) in by_use {
            if self.bytes <= bytes_max {
                return;
            }
            self.bytes -= self.by_term.remove(&term_id).map_or(0, |(_, list)| bytes_of(&list));
        }
    }
}

/// The memory of a list in bytes.
fn bytes_of(list: &Postings) -> usize {
    list.len() * size_of::<u32>() + OVERHEAD
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::super::bm25::Impact;
    use super::{ListCache, OVERHEAD, Postings};

    fn list(length: u32) -> Arc<Postings> {
        let mut list = Postings::default();
        (0..length).for_each(|slot| list.push(slot, Impact { frequency: 1, length_class: 9 }));
        Arc::new(list)
    }

    /// Lists used last stay, all together never take more than allowed, and a list too large is not cached.
    #[test]
    fn the_least_used_lists_go() {
        let cache = ListCache::new(10 * (400 + OVERHEAD));
        for term_id in 0..50 {
            cache.put(term_id, &list(100));
            assert_eq!(cache.get(0).map(|list| list.len()), Some(100), "{term_id}");
            let bytes = cache.lists.lock().unwrap().bytes;
            assert!(bytes <= cache.bytes_max, "{bytes}");
        }
        assert!(cache.get(49).is_some());
        assert!(cache.get(20).is_none());
        cache.put(49, &list(10));
        assert_eq!(cache.get(49).map(|list| list.len()), Some(10));
        cache.put(60, &list(1_000_000));
        assert!(cache.get(60).is_none());
        assert!(cache.get(0).is_some());
    }
}
