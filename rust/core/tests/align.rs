//! Identity survives edits.

use proptest::collection::vec;
use proptest::prelude::*;
use reverie_core::Error;
use reverie_core::align::{Alignment, OldBlock, align, align_checked};
use reverie_core::error::ChangeReason;

fn run(old: &[&str], new: &[&str]) -> Alignment {
    let old: Vec<_> = old.iter().map(|text| OldBlock { id: text, text: text.as_bytes() }).collect();
    let new: Vec<_> = new.iter().map(|text| text.as_bytes()).collect();
    align(&old, &new)
}

fn carried(old: &[&str], new: &[&str]) -> Vec<Option<usize>> {
    run(old, new).old_of_new
}

#[test]
fn an_unchanged_block_keeps_its_id_wherever_it_goes() {
    assert_eq!(
        carried(&["- a\n", "- b\n", "- c\n"], &["- c\n", "- x\n", "- a\n", "- b\n"]),
        [Some(2), None, Some(0), Some(1)]
    );
    assert_eq!(run(&["- a\n", "- b\n"], &["- b\n"]).deleted, [0]);
    assert_eq!(run(&[], &["- b\n"]).old_of_new, [None]);
    assert_eq!(run(&["- a\n"], &[]).deleted, [0]);
}

#[test]
fn line_endings_and_white_space_at_the_end_are_no_edit() {
    assert_eq!(carried(&["- a\n", "- b\n  c\n"], &["- b \r\n  c", "- a\r"]), [Some(1), Some(0)]);
}

#[test]
fn a_copy_does_not_steal_an_id() {
    let old = ["# T\n", "- one\n", "- two\n", "- three\n"];
    assert_eq!(carried(&old, &["# T\n", "- one\n", "- two\n", "- three\n", "- one\n"])[4], None);
    assert_eq!(carried(&old, &["- two\n", "# T\n", "- one\n", "- two\n", "- three\n"])[0], None);
    // What stood beside the original is gone or edited: the place decides.
    let new = ["# T\n", "- One!\n", "- two\n", "- 3\n", "- x\n", "- y\n", "- two\n"];
    assert_eq!(carried(&old, &new)[2], Some(2));
}

#[test]
fn copies_keep_their_order() {
    let old = ["- a\n", "---\n", "- b\n", "---\n", "- c\n", "---\n"];
    assert_eq!(carried(&old, &old), (0..6).map(Some).collect::<Vec<_>>());
    assert_eq!(carried(&old, &["- c\n", "---\n", "- a\n", "---\n"]), [4, 5, 0, 1].map(Some));
    assert_eq!(carried(&["x", "x", "x"], &["x", "x"]), [0, 1].map(Some));
}

#[test]
fn an_edited_block_keeps_its_id() {
    let old = ["- Editor: vim\n", "- Shell: zsh with plugins\n", "- Works in Berlin on search engines\n"];
    assert_eq!(carried(&old, &["- Editor: neovim\n", "- Shell: fish with plugins\n", old[2]]), [0, 1, 2].map(Some));
    let moved = "- Works in Hamburg on search engines #work\n";
    assert_eq!(carried(&old, &[moved, "- new\n", old[0], old[1]]), [Some(2), None, Some(0), Some(1)]);
    assert_eq!(carried(&["- 偏好使用简体中文回复\n", "- b\n"], &["- b\n", "- 偏好使用英文回复\n"]), [Some(1), Some(0)]);
}

#[test]
fn a_block_that_is_split_lives_on_in_the_part_that_has_more_of_it() {
    let old = ["- a\n", "- one two three four five six seven eight\n", "- z\n"];
    assert_eq!(
        carried(&old, &["- a\n", "- one two\n", "- three four five six seven eight\n", "- z\n"])[1..3],
        [None, Some(1)]
    );
}

#[test]
fn what_has_nothing_in_common_is_new() {
    let found = run(&["- likes tea\n", "- x\n"], &["- 1234 5678\n", "- x\n"]);
    assert_eq!((found.old_of_new, found.deleted), (vec![None, Some(1)], vec![0]));
}

#[test]
fn two_blocks_with_one_id_are_refused() {
    let old = ["a", "b", "a", "b", "c"].map(|id| OldBlock { id, text: b"" });
    let refused = align_checked(&old, &[]);
    assert_eq!(refused, Err(Error::Change { reason: ChangeReason::DuplicateId, names: vec!["a".into(), "b".into()] }));
    assert!(align_checked(&old[..2], &[]).is_ok());
}

/// Time is bounded where everything shares its words, where all is equal, and where one block holds all words.
#[test]
fn no_input_is_slow() {
    let shared: Vec<String> = (0..6_000).map(|number| format!("- item {} of {}\n", number % 7, number % 11)).collect();
    let edited: Vec<String> = shared.iter().map(|text| text.replace("of", "and of")).collect();
    let whole = shared.concat();
    let lists = [
        shared.iter().map(String::as_str).collect::<Vec<_>>(),
        edited.iter().map(String::as_str).collect(),
        vec![&whole],
        vec!["- a\n"; 6_000],
    ];
    for old in &lists {
        for new in &lists {
            check(old, new);
        }
    }
}

/// No id twice, every id once either carried on or gone, and the same again.
fn check(old: &[&str], new: &[&str]) {
    let found = run(old, new);
    assert_eq!(found.old_of_new.len(), new.len());
    let mut all: Vec<usize> = found.old_of_new.iter().flatten().chain(&found.deleted).copied().collect();
    all.sort_unstable();
    assert_eq!(all, (0..old.len()).collect::<Vec<_>>());
    assert_eq!(run(old, new), found);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1024, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_id_is_carried_on_once_or_gone(old in vec("[ab ]{0,3}\n?", 0..9), new in vec("[ab ]{0,3}\r?\n?", 0..9)) {
        check(&old.iter().map(String::as_str).collect::<Vec<_>>(), &new.iter().map(String::as_str).collect::<Vec<_>>());
    }

    #[test]
    fn nothing_moves_where_nothing_was_done(texts in vec("[ab]{0,2}", 0..12)) {
        let texts: Vec<_> = texts.iter().map(String::as_str).collect();
        prop_assert_eq!(carried(&texts, &texts), (0..texts.len()).map(Some).collect::<Vec<_>>());
    }

    /// A text that is unique on both sides is carried on, whatever was done around it.
    #[test]
    fn unique_texts_are_found(old in vec("[a-d]{1,2}", 0..12), new in vec("[a-d]{1,2}", 0..12)) {
        let (old, new): (Vec<_>, Vec<_>) = (old.iter().map(String::as_str).collect(), new.iter().map(String::as_str).collect());
        let found = carried(&old, &new);
        for (at, text) in new.iter().enumerate() {
            let once = |list: &[&str]| list.iter().filter(|other| *other == text).count() == 1;
            if once(&old) && once(&new) {
                prop_assert_eq!(found[at].map(|index| old[index]), Some(*text));
            }
        }
    }

    /// As many equal texts are carried on as there are on both sides.
    #[test]
    fn equal_texts_are_all_used(old in vec("[ab]", 0..12), new in vec("[ab]", 0..12)) {
        let (old, new): (Vec<_>, Vec<_>) = (old.iter().map(String::as_str).collect(), new.iter().map(String::as_str).collect());
        let found = carried(&old, &new);
        for text in ["a", "b"] {
            let count = |list: &[&str]| list.iter().filter(|other| **other == text).count();
            let kept = found.iter().enumerate().filter(|(at, index)| new[*at] == text && index.is_some_and(|index| old[index] == text)).count();
            prop_assert_eq!(kept, count(&old).min(count(&new)));
        }
    }
}
