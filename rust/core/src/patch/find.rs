//! Searches many old texts at once, counting only up to two occurrences.

use aho_corasick::{AhoCorasick, AhoCorasickKind, MatchKind};

use crate::patch::Patch;

/// Number of texts up to which each is searched separately: a vectorized scan for one text is much faster than an
/// automaton.
const SEPARATE_SCANS_MAX: usize = 8;

/// How often a text occurs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Occurrences {
    Never,
    /// Once, at this byte offset.
    Once(usize),
    Many,
    /// The search ended early, because other texts occur too often.
    Unknown,
}

/// Return how often each patch's old text occurs; none may be empty.
pub(super) fn count_occurrences(text: &str, patches: &[Patch<'_>]) -> Vec<Occurrences> {
    if patches.len() > SEPARATE_SCANS_MAX {
        let automaton = AhoCorasick::builder()
            .match_kind(MatchKind::Standard)
            .kind(Some(AhoCorasickKind::ContiguousNFA))
            .build(patches.iter().map(|patch| patch.old));
        if let Ok(automaton) = automaton {
            return count_in_one_scan(&automaton, text, patches);
        }
    }
    let count = |patch: &Patch<'_>| match occurrences(text, patch.old, 2).as_slice() {
        [] => Occurrences::Never,
        [at] => Occurrences::Once(*at),
        _ => Occurrences::Many,
    };
    patches.iter().map(count).collect()
}

/// Count all texts in one scan with an Aho-Corasick automaton.
///
/// Where texts contain one another there can be more matches than bytes. As long as none occurs twice there are no more
/// matches than texts, so that a scan with many more has found its error and may end early: time stays linear.
fn count_in_one_scan(automaton: &AhoCorasick, text: &str, patches: &[Patch<'_>]) -> Vec<Occurrences> {
    let mut counts = vec![Occurrences::Never; patches.len()];
    let mut budget = text.len() + 2 * patches.len();
    for hit in automaton.find_overlapping_iter(text) {
        let count = &mut counts[hit.pattern().as_usize()];
        *count = if *count == Occurrences::Never { Occurrences::Once(hit.start()) } else { Occurrences::Many };
        budget -= 1;
        if budget == 0 {
            let certain = |count: Occurrences| if count == Occurrences::Many { count } else { Occurrences::Unknown };
            return counts.into_iter().map(certain).collect();
        }
    }
    counts
}

/// Return the positions of at most `limit` occurrences, overlapping ones included.
pub(super) fn occurrences(text: &str, needle: &str, limit: usize) -> Vec<usize> {
    let finder = memchr::memmem::Finder::new(needle);
    let mut positions = Vec::new();
    let mut from = 0;
    while positions.len() < limit {
        let Some(at) = finder.find(&text.as_bytes()[from..]) else { break };
        positions.push(from + at);
        from += at + 1;
    }
    positions
}
