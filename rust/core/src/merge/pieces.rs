//! The pieces that a merged text is made of.

use std::ops::Range;

use crate::merge::Texts;

/// A part of the base, what it became on either side, and what is to be made of that.
#[derive(Clone, Debug)]
pub(crate) struct Piece {
    pub(crate) base: Range<usize>,
    pub(crate) ours: Range<usize>,
    pub(crate) theirs: Range<usize>,
    pub(crate) made: Made,
}

/// What a piece becomes.
#[derive(Clone, Debug)]
pub(crate) enum Made {
    /// Unchanged on both sides.
    Same,
    /// Changed by us.
    Ours,
    /// Changed by them.
    Theirs,
    /// The same change on both sides.
    Both,
    /// Of both sides.
    Of(Vec<Bit>),
    /// Undecided.
    Conflict,
}

/// What a piece of both sides is made of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Bit {
    /// Lines of ours.
    Ours(Range<usize>),
    /// Lines of theirs.
    Theirs(Range<usize>),
    /// Lines that ours and theirs have alike.
    Both(Range<usize>, Range<usize>),
    /// Whole lines, ended by `\n`, that neither side has.
    Text(String),
}

/// One conflict for all of a cluster: from its first to its last, with what lies between.
pub(crate) fn one_conflict(pieces: &mut Vec<Piece>, from: usize) {
    let is_conflict = |piece: &Piece| matches!(piece.made, Made::Conflict);
    let Some(first) = pieces[from..].iter().position(is_conflict).map(|at| at + from) else { return };
    let Some(last) = pieces.iter().rposition(is_conflict) else { return };
    join(pieces, first, last);
}

/// Joins conflicts that no more than a few unchanged lines part, or none with a letter or digit: they are one to a
/// reader, and what only one side changed between them is hard to judge without them.
pub(crate) fn near_conflicts(texts: &Texts<'_>, pieces: &mut Vec<Piece>) {
    const APART: usize = 3;
    let mut last: Option<usize> = None;
    let (mut unchanged, mut speaks) = (0, false);
    let mut at = 0;
    while at < pieces.len() {
        match (&pieces[at].made, last) {
            (Made::Conflict, Some(first)) if unchanged <= APART || !speaks => {
                join(pieces, first, at);
                at = first;
            }
            (Made::Same, Some(_)) if unchanged <= APART || !speaks => {
                let lines = &pieces[at].ours;
                unchanged += lines.len();
                speaks = speaks || texts.ours.slice(lines.start, lines.end).contains(char::is_alphanumeric);
            }
            _ => {}
        }
        if matches!(pieces[at].made, Made::Conflict) {
            (last, unchanged, speaks) = (Some(at), 0, false);
        }
        at += 1;
    }
}

fn join(pieces: &mut Vec<Piece>, first: usize, last: usize) {
    let joined = Piece {
        base: pieces[first].base.start..pieces[last].base.end,
        ours: pieces[first].ours.start..pieces[last].ours.end,
        theirs: pieces[first].theirs.start..pieces[last].theirs.end,
        made: Made::Conflict,
    };
    pieces.splice(first..=last, std::iter::once(joined));
}
