//! Two edits of the same lines, merged by words.

use std::collections::HashMap;
use std::ops::Range;

use crate::diff::{Hunk, Lines, diff};
use crate::merge::Texts;
use crate::merge::pieces::Bit;
use crate::merge::refine::may_keep_half;

/// Words and spaces that one of the three texts may have; longer ones are not merged by words.
const TOKENS_MAX: usize = 4096;

/// The lines as both sides want them; none where they do not go together.
///
/// Two edits go together if at least one word that neither touched lies between them, and if each side kept at least
/// half of the words: else it has said something else, and no mixture of the two is what anyone wrote.
pub(crate) fn merged(
    texts: &Texts<'_>,
    base: &Range<usize>,
    ours: &Range<usize>,
    theirs: &Range<usize>,
) -> Option<Vec<Bit>> {
    let old = (&texts.base, base);
    if !(may_keep_half(old, (&texts.ours, ours)) && may_keep_half(old, (&texts.theirs, theirs))) {
        return None;
    }
    let base = joined(&texts.base, base);
    let ours = joined(&texts.ours, ours);
    let theirs = joined(&texts.theirs, theirs);
    let mut kinds: HashMap<&str, u32> = HashMap::new();
    let base = Tokens::of(&base, &mut kinds)?;
    let ours = Tokens::of(&ours, &mut kinds)?;
    let theirs = Tokens::of(&theirs, &mut kinds)?;
    let left = diff(&base.ids, &ours.ids, kinds.len());
    let right = diff(&base.ids, &theirs.ids, kinds.len());
    if !(mostly_kept(&base, &left) && mostly_kept(&base, &right)) {
        return None;
    }
    let text = mixed(&base, [&ours, &theirs], [&left, &right])?;
    Some(vec![Bit::Text(text)])
}

fn joined(lines: &Lines<'_>, range: &Range<usize>) -> String {
    let mut text = String::with_capacity(lines.slice(range.start, range.end).len());
    for line in range.clone() {
        text.push_str(lines.parts(line).0);
        text.push('\n');
    }
    text
}

/// A text as words and the spaces between them.
struct Tokens<'t> {
    tokens: Vec<&'t str>,
    ids: Vec<u32>,
}

impl<'t> Tokens<'t> {
    fn of(text: &'t str, kinds: &mut HashMap<&'t str, u32>) -> Option<Self> {
        let mut tokens = Vec::new();
        let mut left = text;
        while let Some(first) = left.chars().next() {
            let end = left.find(|next: char| next.is_whitespace() != first.is_whitespace()).unwrap_or(left.len());
            tokens.push(&left[..end]);
            left = &left[end..];
            if tokens.len() > TOKENS_MAX {
                return None;
            }
        }
        let mut ids = Vec::with_capacity(tokens.len());
        for &token in &tokens {
            let next = u32::try_from(kinds.len()).ok()?;
            ids.push(*kinds.entry(token).or_insert(next));
        }
        Some(Self { tokens, ids })
    }

    fn words(&self, range: Range<usize>) -> usize {
        self.tokens[range].iter().filter(|token| !token.trim_start().is_empty()).count()
    }

    fn push_to(&self, text: &mut String, range: Range<usize>) {
        self.tokens[range].iter().for_each(|token| text.push_str(token));
    }
}

fn mostly_kept(base: &Tokens<'_>, hunks: &[Hunk]) -> bool {
    let gone: usize = hunks.iter().map(|hunk| base.words(hunk.old_start..hunk.old_end)).sum();
    2 * gone <= base.words(0..base.tokens.len())
}

/// The base with the changes of both sides; none if two of them are the same words' or neighbours'.
fn mixed(base: &Tokens<'_>, sides: [&Tokens<'_>; 2], hunks: [&[Hunk]; 2]) -> Option<String> {
    let mut text = String::new();
    let mut at = 0;
    let mut left = hunks;
    while let Some(side) = first_side(left) {
        let (hunk, rest) = left[side].split_first()?;
        left[side] = rest;
        if let Some(&other) = left[1 - side].first()
            && (other.old_start <= hunk.old_end || base.words(hunk.old_end..other.old_start) == 0)
        {
            let mine = &sides[side].tokens[hunk.new_start..hunk.new_end];
            let equal = (other.old_start, other.old_end) == (hunk.old_start, hunk.old_end)
                && mine == &sides[1 - side].tokens[other.new_start..other.new_end];
            if !equal {
                return None;
            }
            left[1 - side] = &left[1 - side][1..];
        }
        base.push_to(&mut text, at..hunk.old_start);
        sides[side].push_to(&mut text, hunk.new_start..hunk.new_end);
        at = hunk.old_end;
    }
    base.push_to(&mut text, at..base.tokens.len());
    Some(text)
}

/// The side whose next change comes first.
fn first_side(left: [&[Hunk]; 2]) -> Option<usize> {
    let place = |side: usize| left[side].first().map(|hunk| (hunk.old_start, hunk.old_end));
    match (place(0), place(1)) {
        (Some(ours), Some(theirs)) => Some(usize::from(theirs < ours)),
        (Some(_), None) => Some(0),
        (None, Some(_)) => Some(1),
        (None, None) => None,
    }
}
