//! Finds where each of many texts occurs, and stops counting at the second time.

use aho_corasick::{AhoCorasick, AhoCorasickKind, MatchKind};

use crate::patch::Patch;

/// Up to this many texts are looked for one after another: a scan for one text is much faster than one for many.
const ONE_BY_ONE: usize = 8;

/// How often a text occurs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Found {
    Never,
    /// Once, at this byte.
    Once(usize),
    Often,
    /// The search ended before: other texts occur too often.
    Unknown,
}

/// How often each patch's old text occurs; none is empty.
pub(super) fn find(text: &str, patches: &[Patch<'_>]) -> Vec<Found> {
    if patches.len() > ONE_BY_ONE {
        let automaton = AhoCorasick::builder()
            .match_kind(MatchKind::Standard)
            .kind(Some(AhoCorasickKind::ContiguousNFA))
            .build(patches.iter().map(|patch| patch.old));
        if let Ok(automaton) = automaton {
            return find_all(&automaton, text, patches);
        }
    }
    let alone = |patch: &Patch<'_>| match occurrences(text, patch.old, 2).as_slice() {
        [] => Found::Never,
        [at] => Found::Once(*at),
        _ => Found::Often,
    };
    patches.iter().map(alone).collect()
}

/// One scan for all. Where texts are parts of one another there can be more matches than bytes; as long as none occurs
/// twice there are no more than texts, so a scan that meets many more has found its refusal and may end.
fn find_all(automaton: &AhoCorasick, text: &str, patches: &[Patch<'_>]) -> Vec<Found> {
    let mut found = vec![Found::Never; patches.len()];
    let mut budget = text.len() + 2 * patches.len();
    for hit in automaton.find_overlapping_iter(text) {
        let place = &mut found[hit.pattern().as_usize()];
        *place = if *place == Found::Never { Found::Once(hit.start()) } else { Found::Often };
        budget -= 1;
        if budget == 0 {
            let seen = |found: Found| if found == Found::Often { found } else { Found::Unknown };
            return found.into_iter().map(seen).collect();
        }
    }
    found
}

/// Where a text begins, at most `limit` times; also where one occurrence overlaps the one before.
pub(super) fn occurrences(text: &str, wanted: &str, limit: usize) -> Vec<usize> {
    let finder = memchr::memmem::Finder::new(wanted);
    let mut places = Vec::new();
    let mut from = 0;
    while places.len() < limit {
        let Some(at) = finder.find(&text.as_bytes()[from..]) else { break };
        places.push(from + at);
        from += at + 1;
    }
    places
}
