//! The blocks of a document that differ from those of an earlier text of it.

use crate::blocks::{Block, Sections, parse};
use crate::error::Error;

/// The blocks of a document beside those of an earlier text: `first` blocks at the beginning and `last` at the end of
/// both are the same, `between` are all others of the document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Beside {
    /// The number of blocks at the beginning that are the same, at the same bytes.
    pub first: usize,
    /// The number of blocks at the end that are the same, at bytes shifted by the difference of the lengths.
    pub last: usize,
    /// The blocks of the document between them.
    pub between: Vec<Block>,
}

/// Parse a document beside an earlier text of it.
///
/// # Errors
/// One of them is not UTF-8.
pub fn parse_beside(before: &[u8], document: &[u8], sections: Sections) -> Result<Beside, Error> {
    let earlier = parse(before, sections)?;
    let mut blocks = parse(document, sections)?;
    let same = |old: &Block, new: &Block, shift: isize| {
        old.start.checked_add_signed(shift) == Some(new.start)
            && old.end.checked_add_signed(shift) == Some(new.end)
            && (old.kind, old.level) == (new.kind, new.level)
            && before[old.start..old.end] == document[new.start..new.end]
            && (&old.text, &old.tags, &old.fields) == (&new.text, &new.tags, &new.fields)
    };
    let first = earlier.iter().zip(&blocks).take_while(|(old, new)| same(old, new, 0)).count();
    let shift = document.len().cast_signed() - before.len().cast_signed();
    let pairs = earlier[first..].iter().rev().zip(blocks[first..].iter().rev());
    let last = pairs.take_while(|(old, new)| same(old, new, shift)).count();
    blocks.truncate(blocks.len() - last);
    Ok(Beside { first, last, between: blocks.split_off(first) })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn beside(before: &str, document: &str) -> (usize, usize, Vec<String>) {
        let found = parse_beside(before.as_bytes(), document.as_bytes(), Sections::Never).expect("both are UTF-8");
        (found.first, found.last, found.between.into_iter().map(|block| block.text).collect())
    }

    #[test]
    fn an_added_item_is_the_only_block_between() {
        let (first, last, between) = beside("# A\n\n- one\n- two\n\nend\n", "# A\n\n- one\n- two\n- three\n\nend\n");
        assert_eq!((first, between), (4, vec!["three".to_owned()]));
        assert_eq!(last, 2, "the empty line and the paragraph");
    }

    #[test]
    fn the_same_text_has_nothing_between() {
        assert_eq!(beside("- one\n- two\n", "- one\n- two\n"), (2, 0, vec![]));
    }

    #[test]
    fn an_open_fence_takes_in_what_was_the_same() {
        let (first, last, between) = beside("- one\n- two\n", "- one\n```\n- two\n");
        assert_eq!((first, last), (1, 0));
        assert_eq!(between, vec![String::new()]);
    }

    #[test]
    fn blocks_are_counted_once_where_a_text_repeats_itself() {
        let (first, last, between) = beside("- one\n- one\n", "- one\n- one\n- one\n");
        assert_eq!((first, last, between), (2, 0, vec!["one".to_owned()]));
    }
}
