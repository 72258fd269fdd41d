//! Tests of alignment: which blocks keep their ids across an edit.

use reverie_core::Error;
use reverie_core::align::{Alignment, OldBlock, align, align_checked};
use reverie_core::error::ChangeReason;

/// Align two lists of texts.
fn run(old: &[&str], new: &[&str]) -> Alignment {
    let old: Vec<_> = old.iter().map(|text| OldBlock { id: text, text: text.as_bytes() }).collect();
    let new: Vec<_> = new.iter().map(|text| text.as_bytes()).collect();
    align(&old, &new)
}

/// The old index that each new block is matched with.
fn matches(old: &[&str], new: &[&str]) -> Vec<Option<usize>> {
    run(old, new).old_of_new
}

#[test]
fn an_unchanged_block_keeps_its_id_when_moved() {
    assert_eq!(
        matches(&["- a\n", "- b\n", "- c\n"], &["- c\n", "- x\n", "- a\n", "- b\n"]),
        [Some(2), None, Some(0), Some(1)]
    );
    assert_eq!(run(&["- a\n", "- b\n"], &["- b\n"]).deleted, [0]);
    assert_eq!(run(&[], &["- b\n"]).old_of_new, [None]);
    assert_eq!(run(&["- a\n"], &[]).deleted, [0]);
}

#[test]
fn line_endings_and_trailing_white_space_are_ignored() {
    assert_eq!(matches(&["- a\n", "- b\n  c\n"], &["- b \r\n  c", "- a\r"]), [Some(1), Some(0)]);
}

#[test]
fn a_copy_does_not_steal_an_id() {
    let old = ["# T\n", "- one\n", "- two\n", "- three\n"];
    assert_eq!(matches(&old, &["# T\n", "- one\n", "- two\n", "- three\n", "- one\n"])[4], None);
    assert_eq!(matches(&old, &["- two\n", "# T\n", "- one\n", "- two\n", "- three\n"])[0], None);
    // Both neighbours of the original were edited or removed: its position decides.
    let new = ["# T\n", "- One!\n", "- two\n", "- 3\n", "- x\n", "- y\n", "- two\n"];
    assert_eq!(matches(&old, &new)[2], Some(2));
}

#[test]
fn copies_keep_their_order() {
    let old = ["- a\n", "---\n", "- b\n", "---\n", "- c\n", "---\n"];
    assert_eq!(matches(&old, &old), (0..6).map(Some).collect::<Vec<_>>());
    assert_eq!(matches(&old, &["- c\n", "---\n", "- a\n", "---\n"]), [4, 5, 0, 1].map(Some));
    assert_eq!(matches(&["x", "x", "x"], &["x", "x"]), [0, 1].map(Some));
}

#[test]
fn an_edited_block_keeps_its_id() {
    let old = ["- Editor: vim\n", "- Shell: zsh with plugins\n", "- Works in Berlin on search engines\n"];
    assert_eq!(matches(&old, &["- Editor: neovim\n", "- Shell: fish with plugins\n", old[2]]), [0, 1, 2].map(Some));
    let moved = "- Works in Hamburg on search engines #work\n";
    assert_eq!(matches(&old, &[moved, "- new\n", old[0], old[1]]), [Some(2), None, Some(0), Some(1)]);
    assert_eq!(matches(&["- 偏好使用简体中文回复\n", "- b\n"], &["- b\n", "- 偏好使用英文回复\n"]), [Some(1), Some(0)]);
}

#[test]
fn the_larger_part_of_a_split_block_keeps_its_id() {
    let old = ["- a\n", "- one two three four five six seven eight\n", "- z\n"];
    assert_eq!(
        matches(&old, &["- a\n", "- one two\n", "- three four five six seven eight\n", "- z\n"])[1..3],
        [None, Some(1)]
    );
}

#[test]
fn blocks_without_common_words_are_not_matched() {
    let alignment = run(&["- likes tea\n", "- x\n"], &["- 1234 5678\n", "- x\n"]);
    assert_eq!((alignment.old_of_new, alignment.deleted), (vec![None, Some(1)], vec![0]));
}

#[test]
fn duplicate_ids_are_rejected() {
    let old = ["a", "b", "a", "b", "c"].map(|id| OldBlock { id, text: b"" });
    let result = align_checked(&old, &[]);
    assert_eq!(result, Err(Error::Change { reason: ChangeReason::DuplicateId, names: vec!["a".into(), "b".into()] }));
    assert!(align_checked(&old[..2], &[]).is_ok());
}

/// Time is bounded if all blocks share their words, if all are equal, and if one block has all words.
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
            let alignment = run(old, new);
            assert_eq!(alignment.old_of_new.iter().flatten().count() + alignment.deleted.len(), old.len());
        }
    }
}
