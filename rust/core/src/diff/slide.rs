//! Normalization of ambiguous hunks: of several equally short diffs, always take the one that changes the latest lines.

use crate::diff::Hunk;

/// Slide every pure insertion and deletion down as far as the diff stays valid, and join hunks that touch then.
///
/// An added `}` after `}` may be the first or the second of the two; both sides of a merge must choose the same line,
/// or the same insertion would appear twice.
pub(crate) fn slide_down(hunks: &mut Vec<Hunk>, old: &[u32], new: &[u32]) {
    let mut results: Vec<Hunk> = Vec::with_capacity(hunks.len());
    // From the end: a hunk may slide only up to the one behind it.
    for &hunk in hunks.iter().rev() {
        let hunk = slide(hunk, results.last(), old, new);
        match results.last_mut() {
            Some(next) if next.old_start == hunk.old_end && next.new_start == hunk.new_end => {
                (next.old_start, next.new_start) = (hunk.old_start, hunk.new_start);
            }
            _ => results.push(hunk),
        }
    }
    results.reverse();
    *hunks = results;
}

/// Slide one hunk down, not beyond `next`.
fn slide(mut hunk: Hunk, next: Option<&Hunk>, old: &[u32], new: &[u32]) -> Hunk {
    let limit = next.map_or(old.len(), |next| next.old_start);
    let (lines, mut first, mut last) = if hunk.old_start == hunk.old_end {
        (new, hunk.new_start, hunk.new_end)
    } else if hunk.new_start == hunk.new_end {
        (old, hunk.old_start, hunk.old_end)
    } else {
        return hunk;
    };
    let mut moved = 0;
    while hunk.old_end + moved < limit && lines[first] == lines[last] {
        (first, last, moved) = (first + 1, last + 1, moved + 1);
    }
    hunk.old_start += moved;
    hunk.old_end += moved;
    hunk.new_start += moved;
    hunk.new_end += moved;
    hunk
}
