//! Test of a merge with a completely reordered text.

use reverie_core::merge::merge3;

/// A text whose lines were all moved is merged with an edited one.
#[test]
fn a_shuffled_text_is_merged() {
    let lines: Vec<String> = (0..4_000).map(|line| format!("- item {line} of {}\n", line % 7)).collect();
    let shuffled: String = (0..4_000).map(|line| lines[line * 1_777 % 4_000].as_str()).collect();
    let edited = lines.concat().replace("item 7 ", "item seven ");
    let merged = merge3(&lines.concat(), &shuffled, &edited);
    assert!(merged.text.lines().count() >= 4_000);
    assert!(merged.text.contains("item seven ") || merged.conflicts.iter().any(|at| at.theirs.text.contains("seven")));
}
