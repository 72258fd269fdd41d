//! Properties of alignment.

use reverie_core::align::{OldBlock, align};

/// Two lists of short lines: those before the first 0xff, and those after it.
fn lists(data: &[u8]) -> (Vec<&[u8]>, Vec<&[u8]>) {
    let cut = data.iter().position(|byte| *byte == 0xff).unwrap_or(data.len() / 2);
    let blocks = |data| <[u8]>::split_inclusive(data, |byte| *byte == b'\n').collect();
    (blocks(&data[..cut]), blocks(&data[cut..]))
}

/// Every old block is matched once or deleted, and of equal texts as many are matched as both sides have.
///
/// A text that is unique on both sides is matched, and the result is deterministic.
pub fn every_old_block_is_matched_once_or_deleted(data: &[u8]) {
    let (old, new) = lists(data);
    let olds: Vec<_> = old.iter().map(|text| OldBlock { id: "", text }).collect();
    let alignment = align(&olds, &new);
    assert_eq!(alignment, align(&olds, &new));
    assert_eq!(alignment.old_of_new.len(), new.len());
    let mut all: Vec<usize> = alignment.old_of_new.iter().flatten().chain(&alignment.deleted).copied().collect();
    all.sort_unstable();
    assert!(all.into_iter().eq(0..old.len()));
    for text in &new {
        let count = |list: &[&[u8]]| list.iter().filter(|other| *other == text).count();
        let is_equal_pair =
            |(at, index): (usize, &Option<usize>)| new[at] == *text && index.is_some_and(|index| old[index] == *text);
        let pairs = alignment.old_of_new.iter().enumerate().filter(|pair| is_equal_pair(*pair)).count();
        assert_eq!(pairs, count(&old).min(count(&new)));
    }
}

/// Aligning a list with itself matches every block with itself.
pub fn unchanged_lists_are_matched_in_order(data: &[u8]) {
    let (old, _) = lists(data);
    let olds: Vec<_> = old.iter().map(|text| OldBlock { id: "", text }).collect();
    assert!(align(&olds, &old).old_of_new.into_iter().eq((0..old.len()).map(Some)));
}
