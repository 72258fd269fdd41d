//! Laws of exact-text patches.

use reverie_core::Error;
use reverie_core::error::PatchReason;
use reverie_core::patch::{Patch, patch};

/// Patches say what looking for each text byte by byte says.
pub fn patches_are_what_they_say(data: &[u8]) {
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
        agrees(&text, &patches);
    }
}

fn agrees(text: &str, patches: &[Patch<'_>]) {
    let places: Vec<Vec<usize>> = patches
        .iter()
        .map(|patch| (0..text.len()).filter(|at| text.as_bytes()[*at..].starts_with(patch.old.as_bytes())).collect())
        .collect();
    let problems = match patch(text, patches) {
        Ok(result) => return assert_eq!(result, naive(text, patches, &places)),
        Err(Error::Patch { problems }) => problems,
        Err(_) => Vec::new(),
    };
    assert!(!problems.is_empty());
    for problem in problems {
        let (old, places) = (patches[problem.patch].old, &places[problem.patch]);
        assert_eq!(problem.reason == PatchReason::Empty, old.is_empty());
        assert_eq!(problem.reason == PatchReason::Absent, !old.is_empty() && places.is_empty());
        assert_eq!(problem.reason == PatchReason::Ambiguous, !old.is_empty() && places.len() > 1);
        let line = |at: &usize| 1 + text[..*at].matches('\n').count();
        let lines = if old.is_empty() { Vec::new() } else { places.iter().take(20).map(line).collect() };
        assert_eq!(problem.lines, lines);
        assert_eq!(problem.more, !old.is_empty() && places.len() > 20);
    }
}

/// The replacement from the end to the beginning; a law is broken if the places are not there once and apart.
fn naive(text: &str, patches: &[Patch<'_>], places: &[Vec<usize>]) -> String {
    let mut order: Vec<usize> = (0..patches.len()).collect();
    order.sort_by_key(|index| std::cmp::Reverse(places[*index].clone()));
    let mut result = text.to_owned();
    let mut limit = text.len();
    for index in order {
        assert_eq!(places[index].len(), 1, "{:?}", patches[index].old);
        let at = &places[index][0];
        let end = at + patches[index].old.len();
        assert!(end <= limit, "overlapping patches were applied");
        result.replace_range(*at..end, patches[index].new);
        limit = *at;
    }
    result
}
