//! Exact-text patches: each replaces a text that occurs exactly once in the original; all are applied or none.

mod find;

use crate::error::{Error, PatchProblem, PatchReason};
use crate::lines::LineNumbers;
use find::{Occurrences, count_occurrences};

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
            matches = find::occurrences(text, patches[index].old, REPORTED_MAX + 1);
        }
        let more = matches.len() > REPORTED_MAX;
        matches.truncate(REPORTED_MAX);
        let lines = matches.into_iter().map(|at| line_numbers.number(at)).collect();
        PatchProblem { patch: index, reason, lines, more }
    };
    Error::Patch { problems: problems.into_iter().map(problem).collect() }
}
