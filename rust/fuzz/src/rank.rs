//! Properties of the search index.

use std::collections::BTreeMap;

use reverie_core::rank::{Entry, Filter, Index};

use crate::SEPARATOR;

fn text(data: &[u8]) -> String {
    String::from_utf8_lossy(data).into_owned()
}

/// Search results depend only on the documents in the index, not on earlier insertions and removals.
pub fn insertion_history_does_not_matter(data: &[u8]) {
    let mut parts = data.split(|&byte| byte == SEPARATOR);
    let query = text(parts.next().unwrap_or_default());
    let (mut modified, mut remaining) = (Index::default(), BTreeMap::new());
    for part in parts {
        let Some((&head, content)) = part.split_first() else { continue };
        let (id, removed) = ((head % 8).to_string(), head & 0x80 != 0);
        if removed {
            assert_eq!(modified.remove(&id), remaining.remove(&id).is_some(), "removed if it was there");
        } else {
            modified.add(&id, &text(content), &["tag"]);
            remaining.insert(id, text(content));
        }
    }
    let mut fresh = Index::default();
    for (id, content) in remaining.iter().rev() {
        fresh.add(id, content, &["tag"]);
    }
    assert_eq!(modified.len(), fresh.len());
    for limit in [0, 1, 3, 100] {
        assert_eq!(modified.search(&query, limit), fresh.search(&query, limit));
    }
}

/// Hits are ordered, fewer are a prefix of more, term scores add up, and filters do not change scores.
pub fn hits_are_ordered_and_term_scores_add_up(data: &[u8]) {
    let mut parts = data.split(|&byte| byte == SEPARATOR).map(text);
    let query = parts.next().unwrap_or_default();
    let mut index = Index::default();
    for (at, part) in parts.enumerate() {
        let groups = vec![if at % 2 == 0 { "even" } else { "odd" }];
        index.insert(&Entry { id: &(at * 5 % 8).to_string(), text: &part, groups, ..Entry::default() });
    }
    let all = index.search(&query, usize::MAX).unwrap_or_default();
    for pair in all.windows(2) {
        let equal = pair[0].score.total_cmp(&pair[1].score).is_eq();
        assert!(pair[0].score > pair[1].score || equal && pair[0].id < pair[1].id);
    }
    for hit in &all {
        let sum: f64 = hit.terms.iter().map(|(_, share)| share).sum();
        assert!(hit.score > 0.0 && (hit.score - sum).abs() <= hit.score * 1e-9);
    }
    for limit in 0..all.len() {
        assert_eq!(index.search(&query, limit).as_deref(), Ok(&all[..limit]));
    }
    let odd = || vec!["odd".to_owned()];
    let any = Filter { any_of: vec![odd()], ..Filter::default() };
    let with = index.search_within(&query, usize::MAX, &any).unwrap_or_default();
    let none = Filter { none_of: odd(), ..Filter::default() };
    let without = index.search_within(&query, usize::MAX, &none).unwrap_or_default();
    assert_eq!(with.len() + without.len(), all.len());
    assert!(with.iter().chain(&without).all(|hit| all.contains(hit)));
}
