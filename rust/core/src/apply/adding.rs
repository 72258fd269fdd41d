//! New blocks at their place, parted from what stands around them as the document parts its blocks.

use std::collections::{BTreeMap, HashMap};

use crate::apply::document::{Document, Spot};
use crate::apply::draft::{Draft, Made};
use crate::apply::render::{Side, before, behind, flowed, like, one_block};
use crate::apply::{Change, Place};
use crate::blocks::Kind;
use crate::error::Error;

/// The new blocks of every place, as one insertion each.
pub(super) fn insertions(
    document: &Document<'_>,
    spots: &HashMap<&str, Spot>,
    changes: &[Change<'_>],
) -> Result<Vec<Draft>, Error> {
    let mut places: BTreeMap<usize, Vec<(usize, &str)>> = BTreeMap::new();
    let mut headings: HashMap<&str, usize> = HashMap::new();
    for (index, change) in changes.iter().enumerate() {
        let Change::Add { place, text } = change else { continue };
        let at = match place {
            Place::After(id) => spots.get(id).map(|spot| spot.last + 1),
            Place::Under(heading) => {
                let end = || document.heading(heading).map_or_else(|| document.end(), |at| document.end_under(at));
                Some(*headings.entry(heading).or_insert_with(end))
            }
            Place::End => None,
        };
        places.entry(at.unwrap_or_else(|| document.end())).or_default().push((index, text));
    }
    places.into_iter().map(|(at, texts)| insertion(document, at, &texts)).collect()
}

fn insertion(document: &Document<'_>, at: usize, texts: &[(usize, &str)]) -> Result<Draft, Error> {
    let block = |index: usize| Some((document.blocks.get(index)?, document.slice(Spot { first: index, last: index })));
    let previous = at.checked_sub(1).and_then(block);
    let next = block(at);
    let offset = document.offset(at);
    let unended =
        !matches!(document.text[..offset].trim_start_matches('\u{feff}').chars().next_back(), None | Some('\r' | '\n'));
    let ending = document.ending;
    let mut new = if unended { ending.to_owned() } else { String::new() };
    let mut side = previous.map_or(Side::Open, |(block, text)| before(block, text));
    let mut made = Vec::new();
    for (change, text) in texts {
        let mut text = flowed(text, ending);
        if let Some((_, model)) = previous.filter(|(block, _)| block.kind == Kind::Bullet) {
            text = like(&text, model, ending);
        }
        text.push_str(ending);
        let kind = one_block(&text, document.sections, *change)?.kind;
        if side.parted_from(Side::of(kind)) {
            new.push_str(ending);
        }
        made.push(Made { change: *change, kind, start: new.len(), end: new.len() + text.len() });
        new.push_str(&text);
        side = Side::of(kind);
    }
    if next.is_some_and(|(block, text)| side.parted_from(behind(block, text))) {
        new.push_str(ending);
    }
    if unended {
        // The document goes on having no newline at its end.
        new.truncate(new.len() - ending.len());
        if let Some(last) = made.last_mut() {
            last.end = new.len();
        }
    }
    Ok(Draft {
        order: 2 * at,
        start: offset,
        end: offset,
        new,
        made,
        change: texts.first().map_or(0, |(change, _)| *change),
    })
}
