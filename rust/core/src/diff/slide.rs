//! Where a change is said to stand when several places are equally true.

use crate::diff::Hunk;

/// Moves every pure insertion and deletion down as far as it reads the same, so that both sides of a merge say it at
/// the same place, and joins changes that touch then.
pub(crate) fn down(hunks: &mut Vec<Hunk>, old: &[u32], new: &[u32]) {
    let mut done: Vec<Hunk> = Vec::with_capacity(hunks.len());
    // From the end: a change may only slide up to the one behind it.
    for &hunk in hunks.iter().rev() {
        let hunk = slid(hunk, done.last(), old, new);
        match done.last_mut() {
            Some(next) if next.old_start == hunk.old_end && next.new_start == hunk.new_end => {
                (next.old_start, next.new_start) = (hunk.old_start, hunk.new_start);
            }
            _ => done.push(hunk),
        }
    }
    done.reverse();
    *hunks = done;
}

fn slid(mut hunk: Hunk, next: Option<&Hunk>, old: &[u32], new: &[u32]) -> Hunk {
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
