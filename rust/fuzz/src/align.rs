//! Laws of alignment.

use reverie_core::align::{OldBlock, align};

/// Two lists of short blocks: those before the first 0xff, and those behind it, each ended by a newline.
fn lists(data: &[u8]) -> (Vec<&[u8]>, Vec<&[u8]>) {
    let cut = data.iter().position(|byte| *byte == 0xff).unwrap_or(data.len() / 2);
    let blocks = |data| <[u8]>::split_inclusive(data, |byte| *byte == b'\n').collect();
    (blocks(&data[..cut]), blocks(&data[cut..]))
}

/// Every old block is carried on once or gone; a text that is unique on both sides is carried on; of equal texts as many
/// as both sides have; and the same input has the same answer.
pub fn every_id_is_used_once(data: &[u8]) {
    let (old, new) = lists(data);
    let olds: Vec<_> = old.iter().map(|text| OldBlock { id: "", text }).collect();
    let found = align(&olds, &new);
    assert_eq!(found, align(&olds, &new));
    assert_eq!(found.old_of_new.len(), new.len());
    let mut all: Vec<usize> = found.old_of_new.iter().flatten().chain(&found.deleted).copied().collect();
    all.sort_unstable();
    assert!(all.into_iter().eq(0..old.len()));
    for text in &new {
        let count = |list: &[&[u8]]| list.iter().filter(|other| *other == text).count();
        let kept =
            |(at, index): (usize, &Option<usize>)| new[at] == *text && index.is_some_and(|index| old[index] == *text);
        let pairs = found.old_of_new.iter().enumerate().filter(|pair| kept(*pair)).count();
        assert_eq!(pairs, count(&old).min(count(&new)));
    }
}

/// Nothing moves where nothing was done.
pub fn the_same_stays(data: &[u8]) {
    let (old, _) = lists(data);
    let olds: Vec<_> = old.iter().map(|text| OldBlock { id: "", text }).collect();
    assert!(align(&olds, &old).old_of_new.into_iter().eq((0..old.len()).map(Some)));
}
