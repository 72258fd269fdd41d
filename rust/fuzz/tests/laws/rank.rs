//! Laws of ranking, on a few texts of a few words.

use proptest::collection::vec;
use proptest::prelude::*;
use reverie_fuzz::{SEPARATOR, rank};

use crate::config;

/// A query, and texts under six ids, each added or removed: few words, so that much is found.
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
    fn forgets(data in steps()) {
        rank::forgets(&data);
    }

    #[test]
    fn explains(data in steps()) {
        rank::explains(&data);
    }
}
