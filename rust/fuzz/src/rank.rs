//! Ranking.

use std::collections::BTreeMap;

use reverie_core::rank::Index;

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
