//! Word-by-word merge of lines that both sides edited.

use std::borrow::Cow;
use std::ops::Range;

use crate::diff::{Hunk, Lines, diff};
use crate::merge::Texts;
use crate::merge::chunk::Fragment;
use crate::merge::hunk_refinement::may_keep_half;
use crate::text_interner::TextInterner;

/// Words and spaces that each of the three texts may have; longer ones become a conflict, which bounds the cost.
const TOKENS_MAX: usize = 4096;

/// Merge two edits of the same lines by their words, or return None if they conflict.
///
/// They merge if at least one word that neither side changed lies between any two changes, and if each side kept at
/// least half of the words: otherwise it rewrote the sentence, and a mixture of the two is what nobody wrote. Example:
/// base `Use Postgres 15 in production`, ours `Use Postgres 16 in production`, theirs `Use Postgres 15 in staging` give
/// `Use Postgres 16 in staging`.
pub(crate) fn merge_words(
    texts: &Texts<'_>,
    base: &Range<usize>,
    ours: &Range<usize>,
    theirs: &Range<usize>,
) -> Option<Vec<Fragment>> {
    let old = (&texts.base, base);
    if !(may_keep_half(old, (&texts.ours, ours)) && may_keep_half(old, (&texts.theirs, theirs))) {
        return None;
    }
    let base = lines_text(&texts.base, base);
    let ours = lines_text(&texts.ours, ours);
    let theirs = lines_text(&texts.theirs, theirs);
    let mut interner = TextInterner::with_capacity(64);
    let base = Tokens::of(&base, &mut interner)?;
    let ours = Tokens::of(&ours, &mut interner)?;
    let theirs = Tokens::of(&theirs, &mut interner)?;
    let our_hunks = diff(&base.ids, &ours.ids, interner.len());
    let their_hunks = diff(&base.ids, &theirs.ids, interner.len());
    if !(keeps_half(&base, &our_hunks) && keeps_half(&base, &their_hunks)) {
        return None;
    }
    let text = combine(&base, [&ours, &theirs], [&our_hunks, &their_hunks])?;
    Some(vec![Fragment::Text(text)])
}

/// The text of lines, each ended by `\n`.
fn lines_text(lines: &Lines<'_>, range: &Range<usize>) -> String {
    let mut text = String::with_capacity(lines.slice(range.start, range.end).len());
    for line in range.clone() {
        text.push_str(lines.parts(line).0);
        text.push('\n');
    }
    text
}

/// A text as alternating words and white space, with ids.
struct Tokens<'t> {
    tokens: Vec<&'t str>,
    ids: Vec<u32>,
}

impl<'t> Tokens<'t> {
    /// Split a text; None if it has more than `TOKENS_MAX` tokens.
    fn of(text: &'t str, interner: &mut TextInterner<'t>) -> Option<Self> {
        let mut tokens = Vec::new();
        let mut rest = text;
        while let Some(first) = rest.chars().next() {
            let end = rest.find(|next: char| next.is_whitespace() != first.is_whitespace()).unwrap_or(rest.len());
            tokens.push(&rest[..end]);
            rest = &rest[end..];
            if tokens.len() > TOKENS_MAX {
                return None;
            }
        }
        let ids = tokens.iter().map(|token| interner.number(Cow::Borrowed(token.as_bytes()))).collect();
        Some(Self { tokens, ids })
    }

    /// The number of words in a range of tokens.
    fn word_count(&self, range: Range<usize>) -> usize {
        self.tokens[range].iter().filter(|token| !token.trim_start().is_empty()).count()
    }

    /// Append a range of tokens to a text.
    fn push_to(&self, text: &mut String, range: Range<usize>) {
        self.tokens[range].iter().for_each(|token| text.push_str(token));
    }
}

/// Return true if the hunks leave at least half of the words.
fn keeps_half(base: &Tokens<'_>, hunks: &[Hunk]) -> bool {
    let deleted: usize = hunks.iter().map(|hunk| base.word_count(hunk.old_start..hunk.old_end)).sum();
    2 * deleted <= base.word_count(0..base.tokens.len())
}

/// Apply the hunks of both sides to the base; None if two of them overlap or are adjacent words, unless they are equal.
fn combine(base: &Tokens<'_>, sides: [&Tokens<'_>; 2], hunks: [&[Hunk]; 2]) -> Option<String> {
    let mut text = String::new();
    let mut at = 0;
    let mut rest = hunks;
    while let Some(side) = first_side(rest) {
        let (hunk, later) = rest[side].split_first()?;
        rest[side] = later;
        if let Some(&other) = rest[1 - side].first()
            && (other.old_start <= hunk.old_end || base.word_count(hunk.old_end..other.old_start) == 0)
        {
            let mine = &sides[side].tokens[hunk.new_start..hunk.new_end];
            let equal = (other.old_start, other.old_end) == (hunk.old_start, hunk.old_end)
                && mine == &sides[1 - side].tokens[other.new_start..other.new_end];
            if !equal {
                return None;
            }
            rest[1 - side] = &rest[1 - side][1..];
        }
        base.push_to(&mut text, at..hunk.old_start);
        sides[side].push_to(&mut text, hunk.new_start..hunk.new_end);
        at = hunk.old_end;
    }
    base.push_to(&mut text, at..base.tokens.len());
    Some(text)
}

/// Return the side whose next hunk comes first.
fn first_side(rest: [&[Hunk]; 2]) -> Option<usize> {
    let position = |side: usize| rest[side].first().map(|hunk| (hunk.old_start, hunk.old_end));
    match (position(0), position(1)) {
        (Some(ours), Some(theirs)) => Some(usize::from(theirs < ours)),
        (Some(_), None) => Some(0),
        (None, Some(_)) => Some(1),
        (None, None) => None,
    }
}
