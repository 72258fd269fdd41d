//! Exact-text patches: each replaces a text that occurs once, all are found in the original, and all or none apply.

mod find;

use crate::error::{Error, PatchProblem, PatchReason};
use crate::lines::LineNumbers;
use find::{Found, find};

/// Most problems that one refusal names, and most lines that one problem names.
pub const NAMED_MAX: usize = 20;

/// One replacement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Patch<'t> {
    /// What must occur exactly once, byte for byte.
    pub old: &'t str,
    /// What stands there afterwards.
    pub new: &'t str,
}

/// The text with every patch applied. Patches do not see one another: each is looked for in the text as it was given.
/// Time is linear in the sizes of the text and the patches.
///
/// # Errors
/// A patch has an empty `old`, or one that does not occur, that occurs more than once (occurrences that overlap count),
/// or that overlaps another one's: every such patch is named with the numbers of the lines where its text begins, the
/// first [`NAMED_MAX`] of each.
pub fn patch(text: &str, patches: &[Patch<'_>]) -> Result<String, Error> {
    let empty: Vec<_> = (0..patches.len()).filter(|index| patches[*index].old.is_empty()).collect();
    if !empty.is_empty() {
        let problems = empty.into_iter().map(|index| (index, PatchReason::Empty, Vec::new())).collect();
        return Err(refused(text, patches, problems));
    }
    let found = find(text, patches);
    let mut places: Vec<(usize, usize)> = Vec::with_capacity(patches.len());
    let mut problems = Vec::new();
    for (index, found) in found.iter().enumerate() {
        match found {
            Found::Once(at) => places.push((*at, index)),
            Found::Never => problems.push((index, PatchReason::Absent, Vec::new())),
            Found::Often => problems.push((index, PatchReason::Ambiguous, Vec::new())),
            Found::Unknown => {}
        }
    }
    places.sort_unstable();
    problems.extend(overlaps(patches, &places).into_iter().map(|(at, index)| (index, PatchReason::Overlap, vec![at])));
    if problems.is_empty() { Ok(replaced(text, patches, &places)) } else { Err(refused(text, patches, problems)) }
}

/// The patches whose texts overlap, with their places.
fn overlaps(patches: &[Patch<'_>], places: &[(usize, usize)]) -> Vec<(usize, usize)> {
    let mut overlapping = Vec::new();
    let mut furthest: Option<((usize, usize), usize)> = None;
    for (at, index) in places.iter().copied() {
        let end = at + patches[index].old.len();
        if let Some((other, stop)) = furthest.filter(|(_, stop)| at < *stop) {
            overlapping.extend([other, (at, index)]);
            furthest = Some(if end > stop { ((at, index), end) } else { (other, stop) });
        } else {
            furthest = Some(((at, index), end));
        }
    }
    overlapping.sort_unstable();
    overlapping.dedup();
    overlapping
}

fn replaced(text: &str, patches: &[Patch<'_>], places: &[(usize, usize)]) -> String {
    let added: usize = patches.iter().map(|patch| patch.new.len()).sum();
    let mut result = String::with_capacity(text.len() + added);
    let mut at = 0;
    for (start, index) in places {
        result.push_str(&text[at..*start]);
        result.push_str(patches[*index].new);
        at = start + patches[*index].old.len();
    }
    result.push_str(&text[at..]);
    result
}

/// The refusal that names all problems in the order of the patches.
fn refused(text: &str, patches: &[Patch<'_>], mut problems: Vec<(usize, PatchReason, Vec<usize>)>) -> Error {
    problems.sort_by_key(|(index, ..)| *index);
    problems.truncate(NAMED_MAX);
    let numbers = LineNumbers::of(text);
    let problem = |(index, reason, places): (usize, PatchReason, Vec<usize>)| {
        let mut places = places;
        if reason == PatchReason::Ambiguous {
            places = find::occurrences(text, patches[index].old, NAMED_MAX + 1);
        }
        let more = places.len() > NAMED_MAX;
        places.truncate(NAMED_MAX);
        let lines = places.into_iter().map(|at| numbers.at(at)).collect();
        PatchProblem { patch: index, reason, lines, more }
    };
    Error::Patch { problems: problems.into_iter().map(problem).collect() }
}
