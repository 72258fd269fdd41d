//! Ranking.

use std::collections::BTreeMap;

use reverie_core::rank::{Entry, Filter, Index};

use crate::parts::{SEPARATOR, text};

/// An index is what is in it: how it came there does not show.
pub fn forgets(data: &[u8]) {
    let mut parts = data.split(|&byte| byte == SEPARATOR);
    let query = text(parts.next().unwrap_or_default());
    let (mut lived, mut kept) = (Index::default(), BTreeMap::new());
    for part in parts {
        let Some((&head, said)) = part.split_first() else { continue };
        let (id, removed) = ((head % 8).to_string(), head & 0x80 != 0);
        if removed {
            assert_eq!(lived.remove(&id), kept.remove(&id).is_some(), "removed if it was there");
        } else {
            lived.add(&id, &text(said), &["tag"]);
            kept.insert(id, text(said));
        }
    }
    let mut fresh = Index::default();
    for (id, said) in kept.iter().rev() {
        fresh.add(id, said, &["tag"]);
    }
    assert_eq!(lived.len(), fresh.len());
    for limit in [0, 1, 3, 100] {
        assert_eq!(lived.search(&query, limit), fresh.search(&query, limit));
    }
}

/// Hits are in order, fewer are the first of more, shares add up, and a filter takes away without changing a score.
pub fn explains(data: &[u8]) {
    let mut parts = data.split(|&byte| byte == SEPARATOR).map(text);
    let query = parts.next().unwrap_or_default();
    let mut index = Index::default();
    for (at, part) in parts.enumerate() {
        let groups = vec![if at % 2 == 0 { "even" } else { "odd" }];
        index.insert(&Entry { id: &(at * 5 % 8).to_string(), text: &part, groups, ..Entry::default() });
    }
    let all = index.search(&query, usize::MAX);
    for pair in all.windows(2) {
        let equal = pair[0].score.total_cmp(&pair[1].score).is_eq();
        assert!(pair[0].score > pair[1].score || equal && pair[0].id < pair[1].id);
    }
    for hit in &all {
        let told: f64 = hit.terms.iter().map(|(_, share)| share).sum();
        assert!(hit.score > 0.0 && (hit.score - told).abs() <= hit.score * 1e-9);
    }
    for limit in 0..all.len() {
        assert_eq!(index.search(&query, limit), all[..limit]);
    }
    let odd = || vec!["odd".to_owned()];
    let with = index.search_within(&query, usize::MAX, &Filter { any_of: vec![odd()], ..Filter::default() });
    let without = index.search_within(&query, usize::MAX, &Filter { none_of: odd(), ..Filter::default() });
    assert_eq!(with.len() + without.len(), all.len());
    assert!(with.iter().chain(&without).all(|hit| all.contains(hit)));
}
