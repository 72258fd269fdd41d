//! Exact-text patches: each replaces a text that occurs exactly once in the original; all are applied or none.

use aho_corasick::{AhoCorasick, AhoCorasickKind, MatchKind};

use crate::error::{Error, PatchProblem, PatchReason};
use crate::lines::LineNumbers;

/// Problems reported in one error, and lines reported in one problem; enough to act on, small enough to read.
pub const REPORTED_MAX: usize = 20;

/// A replacement of one text by another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Patch<'t> {
    /// The old text; it must occur exactly once, byte for byte.
    pub old: &'t str,
    /// The new text.
    pub new: &'t str,
}

/// Return the text with every patch applied.
///
/// All patches are searched in the original text, so that none sees the result of another. Time is linear in the sizes
/// of the text and the patches.
///
/// # Errors
/// A patch has an empty `old`, or one that does not occur, that occurs more than once (overlapping occurrences
/// count), or that overlaps another one's: every such patch is named with the numbers of the lines where its text
/// begins, the first [`REPORTED_MAX`] of each.
pub fn patch(text: &str, patches: &[Patch<'_>]) -> Result<String, Error> {
    let empty: Vec<_> = (0..patches.len()).filter(|index| patches[*index].old.is_empty()).collect();
    if !empty.is_empty() {
        let problems = empty.into_iter().map(|index| (index, PatchReason::Empty, Vec::new())).collect();
        return Err(error(text, patches, problems));
    }
    let occurrences = count_occurrences(text, patches);
    let mut matches: Vec<(usize, usize)> = Vec::with_capacity(patches.len());
    let mut problems = Vec::new();
    for (index, occurrences) in occurrences.iter().enumerate() {
        match occurrences {
            Occurrences::Once(at) => matches.push((*at, index)),
            Occurrences::Never => problems.push((index, PatchReason::Absent, Vec::new())),
            Occurrences::Many => problems.push((index, PatchReason::Ambiguous, Vec::new())),
            Occurrences::Unknown => {}
        }
    }
    matches.sort_unstable();
    problems.extend(overlaps(patches, &matches).into_iter().map(|(at, index)| (index, PatchReason::Overlap, vec![at])));
    if problems.is_empty() { Ok(apply_all(text, patches, &matches)) } else { Err(error(text, patches, problems)) }
}

/// Return the (position, index) of all patches whose old texts overlap; `matches` is ascending.
fn overlaps(patches: &[Patch<'_>], matches: &[(usize, usize)]) -> Vec<(usize, usize)> {
    let mut overlapping = Vec::new();
    let mut longest_reach: Option<((usize, usize), usize)> = None;
    for (at, index) in matches.iter().copied() {
        let end = at + patches[index].old.len();
        if let Some((other, reach_end)) = longest_reach.filter(|(_, reach_end)| at < *reach_end) {
            overlapping.extend([other, (at, index)]);
            longest_reach = Some(if end > reach_end { ((at, index), end) } else { (other, reach_end) });
        } else {
            longest_reach = Some(((at, index), end));
        }
    }
    overlapping.sort_unstable();
    overlapping.dedup();
    overlapping
}

/// Replace the matches, which are ascending and do not overlap.
fn apply_all(text: &str, patches: &[Patch<'_>], matches: &[(usize, usize)]) -> String {
    let added: usize = patches.iter().map(|patch| patch.new.len()).sum();
    let mut result = String::with_capacity(text.len() + added);
    let mut at = 0;
    for (start, index) in matches {
        result.push_str(&text[at..*start]);
        result.push_str(patches[*index].new);
        at = start + patches[*index].old.len();
    }
    result.push_str(&text[at..]);
    result
}

/// Build the error that names all problems in the order of the patches.
fn error(text: &str, patches: &[Patch<'_>], mut problems: Vec<(usize, PatchReason, Vec<usize>)>) -> Error {
    problems.sort_by_key(|(index, ..)| *index);
    problems.truncate(REPORTED_MAX);
    let line_numbers = LineNumbers::new(text);
    let problem = |(index, reason, matches): (usize, PatchReason, Vec<usize>)| {
        let mut matches = matches;
        if reason == PatchReason::Ambiguous {
            matches = positions(text, patches[index].old, REPORTED_MAX + 1);
        }
        let more = matches.len() > REPORTED_MAX;
        matches.truncate(REPORTED_MAX);
        let lines = matches.into_iter().map(|at| line_numbers.number(at)).collect();
        PatchProblem { patch: index, reason, lines, more }
    };
    Error::Patch { problems: problems.into_iter().map(problem).collect() }
}

/// Texts up to which each is searched separately: a vectorized scan for one text is much faster than an automaton.
const SEPARATE_SCANS_MAX: usize = 8;

/// Number of occurrences of a text: none, one or several.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Occurrences {
    Never,
    /// Once, at this byte offset.
    Once(usize),
    Many,
    /// The search ended early, because other texts occur too often.
    Unknown,
}

/// Return how often each patch's old text occurs; none may be empty.
fn count_occurrences(text: &str, patches: &[Patch<'_>]) -> Vec<Occurrences> {
    if patches.len() > SEPARATE_SCANS_MAX {
        let automaton = AhoCorasick::builder()
            .match_kind(MatchKind::Standard)
            .kind(Some(AhoCorasickKind::ContiguousNFA))
            .build(patches.iter().map(|patch| patch.old));
        if let Ok(automaton) = automaton {
            return count_in_one_scan(&automaton, text, patches);
        }
    }
    let count = |patch: &Patch<'_>| match positions(text, patch.old, 2).as_slice() {
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
fn positions(text: &str, needle: &str, limit: usize) -> Vec<usize> {
    let finder = memchr::memmem::Finder::new(needle);
    let mut found = Vec::new();
    let mut from = 0;
    while found.len() < limit {
        let Some(at) = finder.find(&text.as_bytes()[from..]) else { break };
        found.push(from + at);
        from += at + 1;
    }
    found
}
