//! Laws of changes.

use reverie_core::apply::{Applied, BlockId, Change, Place, apply_changes, apply_edits};
use reverie_core::blocks::{Block, Kind, Sections, parse};

use crate::blocks::document;

/// Changes go through or are refused as a whole; what goes through can be undone, is made of the edits that it says, and
/// leaves every other block as it was.
pub fn changes_stay_in_their_blocks(data: &[u8]) {
    let (plan, rest) = data.split_at(data.len() / 2);
    let text = document(rest);
    let sections = [Sections::ByFields, Sections::Always, Sections::Never][data.len() % 3];
    let blocks = parse(text.as_bytes(), sections).unwrap_or_default();
    let ids: Vec<String> = (0..blocks.len()).map(|index| index.to_string()).collect();
    let block_ids: Vec<_> =
        blocks.iter().zip(&ids).map(|(block, id)| BlockId { id, start: block.start, end: block.end }).collect();
    let texts: Vec<String> = plan.chunks(4).map(document).collect();
    let mut touched = vec![false; blocks.len()];
    let mut changes = Vec::new();
    for (step, new) in plan.chunks(4).zip(&texts) {
        let target = usize::from(step[0]) % blocks.len().max(1);
        let id = ids.get(target).map_or("none", String::as_str);
        let new = if step[0] > 128 { "- new\n  item" } else { new };
        match step.len() {
            _ if step[0] % 5 == 0 => changes.push(Change::Add { place: Place::After(id), text: new }),
            _ if step[0] % 5 == 1 => changes.push(Change::Add { place: Place::End, text: new }),
            1 | 2 => changes.push(Change::Add { place: Place::Under("S"), text: new }),
            _ if touched.get(target) != Some(&false) => {}
            length => {
                touched[target] = true;
                changes.push(if length == 3 { Change::Delete { id } } else { Change::Update { id, text: new } });
            }
        }
    }
    if let Ok(applied) = apply_changes(text.as_bytes(), sections, &block_ids, &changes) {
        can_be_undone(&text, &applied);
        let kept: Vec<_> =
            blocks.iter().zip(&touched).filter(|(_, touched)| !**touched).map(|(block, _)| block).collect();
        keeps(&text, &kept, &applied.document, sections);
    }
}

fn can_be_undone(text: &str, applied: &Applied) {
    assert_eq!(apply_edits(text.as_bytes(), &applied.edits).as_deref(), Ok(applied.document.as_str()));
    assert_eq!(apply_edits(applied.document.as_bytes(), &applied.inverse).as_deref(), Ok(text));
    for edit in &applied.edits {
        assert_eq!(text.get(edit.start..edit.end()), Some(edit.old.as_str()));
        assert_ne!(edit.old, edit.new);
    }
}

/// The items and sections that were not changed are there, in order, with the same bytes.
fn keeps(text: &str, kept: &[&Block], after: &str, sections: Sections) {
    let is_memory = |block: &&Block| matches!(block.kind, Kind::Bullet | Kind::Section);
    let found = parse(after.as_bytes(), sections).unwrap_or_default();
    let mut there = found.iter().filter(is_memory).map(|block| (block.kind, &after[block.start..block.end]));
    for block in kept.iter().copied().filter(is_memory) {
        let wanted = (block.kind, &text[block.start..block.end]);
        assert!(there.any(|other| same(other, wanted)), "{wanted:?} of {text:?} is not in {after:?}");
    }
}

/// The same bytes; a last line without an ending may have got one.
fn same(found: (Kind, &str), wanted: (Kind, &str)) -> bool {
    found.0 == wanted.0 && found.1.strip_prefix(wanted.1).is_some_and(|more| matches!(more, "" | "\n" | "\r" | "\r\n"))
}
