//! Properties of changes to blocks.

use reverie_core::apply::{Applied, BlockId, Change, Place, apply_changes, apply_edits};
use reverie_core::blocks::{Block, Kind, Sections, parse};

use crate::blocks::document;

/// Applied changes can be undone, consist of the reported edits, and leave every other block unchanged.
///
/// Otherwise they are rejected as a whole.
pub fn changes_affect_only_their_blocks(data: &[u8]) {
    let (plan, rest) = data.split_at(data.len() / 2);
    let text = document(rest);
    let sections = [Sections::ByFields, Sections::Always, Sections::Never][data.len() % 3];
    let blocks = parse(text.as_bytes(), sections).unwrap_or_default();
    let ids: Vec<String> = (0..blocks.len()).map(|index| index.to_string()).collect();
    let block_ids: Vec<_> =
        blocks.iter().zip(&ids).map(|(block, id)| BlockId { id, start: block.start, end: block.end }).collect();
    let texts: Vec<String> = plan.chunks(4).map(document).collect();
    let mut is_changed = vec![false; blocks.len()];
    let mut changes = Vec::new();
    for (step, new) in plan.chunks(4).zip(&texts) {
        let target = usize::from(step[0]) % blocks.len().max(1);
        let id = ids.get(target).map_or("none", String::as_str);
        let new = if step[0] > 128 { "- new\n  item" } else { new };
        match step.len() {
            _ if step[0] % 5 == 0 => changes.push(Change::Add { place: Place::After(id), text: new }),
            _ if step[0] % 5 == 1 => changes.push(Change::Add { place: Place::End, text: new }),
            1 | 2 => changes.push(Change::Add { place: Place::Under("S"), text: new }),
            _ if is_changed.get(target) != Some(&false) => {}
            length => {
                is_changed[target] = true;
                changes.push(if length == 3 { Change::Delete { id } } else { Change::Update { id, text: new } });
            }
        }
    }
    if let Ok(applied) = apply_changes(text.as_bytes(), sections, &block_ids, &changes) {
        check_edits_and_inverse(&text, &applied);
        let unchanged: Vec<_> =
            blocks.iter().zip(&is_changed).filter(|(_, is_changed)| !**is_changed).map(|(block, _)| block).collect();
        check_unchanged_blocks(&text, &unchanged, &applied.document, sections);
    }
}

/// The edits lead to the changed document, their inverse back, and each replaces what it says.
fn check_edits_and_inverse(text: &str, applied: &Applied) {
    assert_eq!(apply_edits(text.as_bytes(), &applied.edits).as_deref(), Ok(applied.document.as_str()));
    assert_eq!(apply_edits(applied.document.as_bytes(), &applied.inverse).as_deref(), Ok(text));
    for edit in &applied.edits {
        assert_eq!(text.get(edit.start..edit.end()), Some(edit.old.as_str()));
        assert_ne!(edit.old, edit.new);
    }
}

/// The list items and sections that were not changed are there, in order, with the same bytes.
fn check_unchanged_blocks(text: &str, unchanged: &[&Block], after: &str, sections: Sections) {
    let is_memory = |block: &&Block| matches!(block.kind, Kind::Bullet | Kind::Section);
    let blocks_after = parse(after.as_bytes(), sections).unwrap_or_default();
    let mut actual = blocks_after.iter().filter(is_memory).map(|block| (block.kind, &after[block.start..block.end]));
    for block in unchanged.iter().copied().filter(is_memory) {
        let expected = (block.kind, &text[block.start..block.end]);
        assert!(actual.any(|other| is_same_block(other, expected)), "{expected:?} of {text:?} is not in {after:?}");
    }
}

/// Return true if two blocks have the same kind and bytes; a last line without an ending may have got one.
fn is_same_block(actual: (Kind, &str), expected: (Kind, &str)) -> bool {
    actual.0 == expected.0
        && actual.1.strip_prefix(expected.1).is_some_and(|more| matches!(more, "" | "\n" | "\r" | "\r\n"))
}
