//! Properties of diffs and three-way merges.

use std::collections::HashMap;

use reverie_core::diff::{Hunk, diff, diff_text};
use reverie_core::merge::{Merged, merge3};

/// The lines that texts are made of; so few that both sides often have the same.
const LINES: [&str; 16] = [
    "", "- a", "- b", "- c #tag", "  more of it", "# T", "## S", "### U", "```", "text that goes on over a line",
    "text that went on over a line", "| a | b |", "> Summary: s", "---", "\r", "é\u{feff}",
];

/// Build a text of one line per byte, with the line endings that the bytes select; the last line may have none.
fn text(data: &[u8]) -> String {
    let mut text = String::new();
    for (at, byte) in data.iter().enumerate() {
        text.push_str(LINES[usize::from(byte % 16)]);
        let crlf = byte / 16 % 4 == 3;
        let last = at + 1 == data.len() && byte / 64 == 1;
        text.push_str(if last {
            ""
        } else if crlf {
            "\r\n"
        } else {
            "\n"
        });
    }
    if data.first().is_some_and(|byte| byte / 64 == 2) { format!("\u{feff}{text}") } else { text }
}

/// Build a merge base, and two texts that differ from it by edits that the data selects.
fn base_and_two_edits(data: &[u8]) -> [String; 3] {
    let (base, rest) = data.split_at(data.len() / 2);
    let (ours, theirs) = rest.split_at(rest.len() / 2);
    let edited = |edits: &[u8]| {
        let mut bytes = base.to_vec();
        for edit in edits.chunks_exact(2) {
            let at = usize::from(edit[0]) % (bytes.len() + 1);
            match edit[1] % 3 {
                0 => bytes.insert(at, edit[1] / 3),
                1 if at < bytes.len() => bytes[at] = edit[1] / 3,
                _ if at < bytes.len() => drop(bytes.remove(at)),
                _ => {}
            }
        }
        text(&bytes)
    };
    [text(base), edited(ours), edited(theirs)]
}

/// Count the lines of a text, without their endings.
///
/// A lone CR at the end of a line is ignored: a merge may put a newline behind it, which makes it a CR LF.
fn lines(text: &str) -> HashMap<&str, usize> {
    let mut counts = HashMap::new();
    for line in text.strip_prefix('\u{feff}').unwrap_or(text).split_terminator('\n') {
        *counts.entry(line.trim_end_matches('\r')).or_default() += 1;
    }
    counts
}

/// The hunks of a diff lead from the old to the new sequence, are in order, and never touch.
pub fn hunks_lead_from_old_to_new(data: &[u8]) {
    let (old, new) = data.split_at(data.len() / 2);
    let ids = |data: &[u8]| data.iter().map(|byte| u32::from(byte % 8)).collect::<Vec<u32>>();
    let (old, new) = (ids(old), ids(new));
    let (mut old_at, mut new_at) = (0, 0);
    for (number, hunk) in diff(&old, &new, 8).into_iter().enumerate() {
        let Hunk { old_start, old_end, new_start, new_end } = hunk;
        assert_eq!(old[old_at..old_start], new[new_at..new_start]);
        assert!(old_start < old_end || new_start < new_end);
        assert!(number == 0 || old_start > old_at);
        (old_at, new_at) = (old_end, new_end);
    }
    assert_eq!(old[old_at..], new[new_at..]);
    assert!(diff(&old, &old, 8).is_empty());
}

/// A change of only one side, or the same change of both, is taken byte for byte without conflict.
pub fn changes_of_one_side_are_taken_unchanged(data: &[u8]) {
    let [base, ours, theirs] = base_and_two_edits(data);
    for (left, right, expected) in
        [(&base, &theirs, &theirs), (&ours, &base, &ours), (&ours, &ours, &ours), (&base, &base, &base)]
    {
        let merged = merge3(&base, left, right);
        assert_eq!(merged.text, **expected);
        assert!(merged.conflicts.is_empty());
    }
}

/// Swapping the sides changes only the sides of the conflicts, the order of lines and blank lines between insertions.
///
/// A line that both sides added several times may be there once more or less: of two insertions at one position those
/// of ours come first, and how they are divided decides which of them repeats one elsewhere.
pub fn merge_is_symmetric(data: &[u8]) {
    let [base, ours, theirs] = base_and_two_edits(data);
    let (one, other) = (merge3(&base, &ours, &theirs), merge3(&base, &theirs, &ours));
    assert_eq!(one, merge3(&base, &ours, &theirs));
    assert_eq!(one.conflicts.len(), other.conflicts.len());
    for (left, right) in one.conflicts.iter().zip(&other.conflicts) {
        assert_eq!((&left.base, &left.ours, &left.theirs), (&right.base, &right.theirs, &right.ours));
    }
    let (base, ours, theirs) = (lines(&base), lines(&ours), lines(&theirs));
    let times = |counts: &HashMap<&str, usize>, line: &str| counts.get(line).copied().unwrap_or(0);
    let is_repeated = |line: &str| {
        let before = times(&base, line);
        times(&ours, line) > before && times(&theirs, line) > before
    };
    let line_counts = |merged: &Merged| {
        let text = text_without_conflicts(merged);
        lines(&text)
            .into_iter()
            .filter(|(line, _)| !line.trim().is_empty())
            .map(|(line, count)| (line.to_owned(), if is_repeated(line) { 1 } else { count }))
            .collect::<HashMap<_, _>>()
    };
    assert_eq!(line_counts(&one), line_counts(&other));
}

/// The merged text without the parts that represent conflicts.
fn text_without_conflicts(merged: &Merged) -> String {
    let mut text = String::new();
    let mut at = 0;
    for conflict in &merged.conflicts {
        text.push_str(&merged.text[at..conflict.bytes.start]);
        text.push('\n');
        at = conflict.bytes.end;
    }
    text + &merged.text[at..]
}

/// Every line that a side added is in the merged text or in a conflict, or was merged word by word.
pub fn no_added_line_is_lost(data: &[u8]) {
    let [base, ours, theirs] = base_and_two_edits(data);
    let merged = merge3(&base, &ours, &theirs);
    let mut output = merged.text.clone();
    for conflict in &merged.conflicts {
        for part in [&conflict.ours, &conflict.theirs] {
            output.push('\n');
            output.push_str(&part.text);
        }
    }
    let (base_lines, output_lines) = (lines(&base), lines(&output));
    for side in [&ours, &theirs] {
        for (line, count) in lines(side) {
            if count > base_lines.get(line).copied().unwrap_or(0) && !output_lines.contains_key(line) {
                assert!(line.split_whitespace().all(|word| output.contains(word)), "{line:?}");
            }
        }
    }
}

/// The parts of a conflict are the lines that it reports, and its range in the merged text has our version.
pub fn conflict_positions_are_correct(data: &[u8]) {
    let [base, ours, theirs] = base_and_two_edits(data);
    let merged = merge3(&base, &ours, &theirs);
    let character_ranges = merged.in_characters();
    let mut at = 0;
    for (conflict, characters) in merged.conflicts.iter().zip(character_ranges) {
        for (part, text) in [(&conflict.base, &base), (&conflict.ours, &ours), (&conflict.theirs, &theirs)] {
            let text = text.strip_prefix('\u{feff}').unwrap_or(text);
            let lines: Vec<&str> = text.split_inclusive('\n').collect();
            assert_eq!(lines[part.lines.clone()].concat(), part.text);
        }
        assert!(at <= conflict.bytes.start && conflict.bytes.start <= conflict.bytes.end);
        at = conflict.bytes.end;
        let conflict_text = &merged.text[conflict.bytes.clone()];
        assert_eq!(conflict_text.chars().count(), characters.len());
        assert_eq!(lines(conflict_text), lines(&conflict.ours.text));
        let body = merged.text.strip_prefix('\u{feff}').unwrap_or(&merged.text);
        let all: Vec<&str> = body.split_inclusive('\n').collect();
        assert_eq!(all[conflict.lines.clone()].concat(), conflict_text);
    }
}

/// Any three texts can be merged, with no more conflicts than either side has hunks.
pub fn arbitrary_texts_are_merged(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let mut parts = text.splitn(3, '\u{0}');
    let [base, ours, theirs] = std::array::from_fn(|_| parts.next().unwrap_or(""));
    let merged = merge3(base, ours, theirs);
    // A byte order mark is no part of the first line, which a deletion of all lines would leave.
    let [base, ours, theirs] = [base, ours, theirs].map(|text| text.strip_prefix('\u{feff}').unwrap_or(text));
    assert!(merged.conflicts.len() <= diff_text(base, ours).len().min(diff_text(base, theirs).len()));
}
