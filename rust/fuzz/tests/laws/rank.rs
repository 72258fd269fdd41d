//! Properties of the search index, over a few texts of a few words.

use proptest::collection::vec;
use proptest::prelude::*;
use reverie_fuzz::{SEPARATOR, rank};

use crate::config;

/// A query, and insertions and removals under six ids; few words, so that many match.
fn steps() -> impl Strategy<Value = Vec<u8>> {
    let step = (0_u8..6, any::<bool>(), "[abc ]{0,8}");
    ("[abc ]{0,6}", vec(step, 0..20)).prop_map(|(query, steps)| {
        let mut data = query.into_bytes();
        for (id, removed, text) in steps {
            data.extend([SEPARATOR, if removed { id | 0x80 } else { id }]);
            data.extend(text.into_bytes());
        }
        data
    })
}

proptest! {
    #![proptest_config(config(1024, 200_000))]

    #[test]
    fn insertion_history_does_not_matter(data in steps()) {
        rank::insertion_history_does_not_matter(&data);
    }

    #[test]
    fn hits_are_ordered_and_term_scores_add_up(data in steps()) {
        rank::hits_are_ordered_and_term_scores_add_up(&data);
    }
}
