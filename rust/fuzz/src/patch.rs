//! Properties of exact-text patches.

use reverie_core::Error;
use reverie_core::error::PatchReason;
use reverie_core::patch::{Patch, patch};

/// Patching gives the same result or problems as searching each text byte by byte.
pub fn patches_agree_with_naive_replacement(data: &[u8]) {
    let text: String = data.iter().map(|byte| ["a", "b", "é", "\n"][usize::from(byte % 4)]).collect();
    let letters: Vec<char> = text.chars().collect();
    let part = |byte: &u8, length: u8| -> String {
        let start = usize::from(*byte) % (letters.len() + 1);
        letters[start..].iter().take(usize::from(length)).collect()
    };
    let texts: Vec<(String, String)> = data
        .chunks(3)
        .take(12)
        .map(|chunk| (part(&chunk[0], chunk[0] / 16), part(&chunk[chunk.len() - 1], 3)))
        .collect();
    for count in [1, texts.len() / 4, texts.len()] {
        let patches: Vec<_> = texts.iter().take(count).map(|(old, new)| Patch { old, new }).collect();
        check(&text, &patches);
    }
}

/// Compare the result, or every reported problem, with the positions found naively.
fn check(text: &str, patches: &[Patch<'_>]) {
    let positions: Vec<Vec<usize>> = patches
        .iter()
        .map(|patch| (0..text.len()).filter(|at| text.as_bytes()[*at..].starts_with(patch.old.as_bytes())).collect())
        .collect();
    let problems = match patch(text, patches) {
        Ok(result) => return assert_eq!(result, replace_naively(text, patches, &positions)),
        Err(Error::Patch { problems }) => problems,
        Err(_) => Vec::new(),
    };
    assert!(!problems.is_empty());
    for problem in problems {
        let (old, positions) = (patches[problem.patch].old, &positions[problem.patch]);
        assert_eq!(problem.reason == PatchReason::Empty, old.is_empty());
        assert_eq!(problem.reason == PatchReason::Absent, !old.is_empty() && positions.is_empty());
        assert_eq!(problem.reason == PatchReason::Ambiguous, !old.is_empty() && positions.len() > 1);
        let line = |at: &usize| 1 + text[..*at].matches('\n').count();
        let lines = if old.is_empty() { Vec::new() } else { positions.iter().take(20).map(line).collect() };
        assert_eq!(problem.lines, lines);
        assert_eq!(problem.more, !old.is_empty() && positions.len() > 20);
    }
}

/// Replace from the end to the beginning; panics unless each text occurs once and none overlap.
fn replace_naively(text: &str, patches: &[Patch<'_>], positions: &[Vec<usize>]) -> String {
    let mut order: Vec<usize> = (0..patches.len()).collect();
    order.sort_by_key(|index| std::cmp::Reverse(positions[*index].clone()));
    let mut result = text.to_owned();
    let mut limit = text.len();
    for index in order {
        assert_eq!(positions[index].len(), 1, "{:?}", patches[index].old);
        let at = &positions[index][0];
        let end = at + patches[index].old.len();
        assert!(end <= limit, "overlapping patches were applied");
        result.replace_range(*at..end, patches[index].new);
        limit = *at;
    }
    result
}
