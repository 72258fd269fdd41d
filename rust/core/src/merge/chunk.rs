//! Chunks of a three-way merge, their resolutions, and the joining of adjacent conflicts.

use std::ops::Range;

use crate::merge::{Side, Texts};

/// A range of lines in each of the three texts that belong together, and how it is resolved.
#[derive(Clone, Debug)]
pub(crate) struct Chunk {
    pub(crate) base: Range<usize>,
    pub(crate) ours: Range<usize>,
    pub(crate) theirs: Range<usize>,
    pub(crate) resolution: Resolution,
}

impl Chunk {
    /// Return the lines of a side.
    pub(crate) fn lines(&self, side: Side) -> &Range<usize> {
        match side {
            Side::Ours => &self.ours,
            Side::Theirs => &self.theirs,
        }
    }
}

/// The resolution of a chunk.
#[derive(Clone, Debug)]
pub(crate) enum Resolution {
    /// Unchanged on both sides.
    Same,
    /// Changed by one side.
    Side(Side),
    /// The same change on both sides.
    Both,
    /// Composed of fragments of both sides.
    Fragments(Vec<Fragment>),
    /// Unresolved.
    Conflict,
}

/// A fragment of a chunk that was composed of both sides.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Fragment {
    /// Lines of one side.
    Side(Side, Range<usize>),
    /// Lines that are equal in ours and theirs.
    Both(Range<usize>, Range<usize>),
    /// New whole lines, each ended by `\n`.
    Text(String),
}

/// Join all conflicts of one cluster, from chunk `from` on, into one, with the chunks between them.
pub(crate) fn join_cluster_conflicts(chunks: &mut Vec<Chunk>, from: usize) {
    let is_conflict = |chunk: &Chunk| matches!(chunk.resolution, Resolution::Conflict);
    let Some(first) = chunks[from..].iter().position(is_conflict).map(|at| at + from) else { return };
    let Some(last) = chunks.iter().rposition(is_conflict) else { return };
    join_range(chunks, first, last);
}

/// Unchanged lines that may be between two parts of one conflict: the context that unified diffs show.
pub(crate) const GAP_LINES_MAX: usize = 3;

/// Join conflicts with only a few unchanged lines, or no letter or digit, between them.
///
/// To a reader they are one conflict, and a change of only one side between them is hard to judge without them.
pub(crate) fn join_near_conflicts(texts: &Texts<'_>, chunks: &mut Vec<Chunk>) {
    let mut last: Option<usize> = None;
    let (mut unchanged, mut has_words) = (0, false);
    let mut at = 0;
    while at < chunks.len() {
        match (&chunks[at].resolution, last) {
            (Resolution::Conflict, Some(first)) if unchanged <= GAP_LINES_MAX || !has_words => {
                join_range(chunks, first, at);
                at = first;
            }
            (Resolution::Same, Some(_)) if unchanged <= GAP_LINES_MAX || !has_words => {
                let lines = &chunks[at].ours;
                unchanged += lines.len();
                has_words = has_words || texts.ours.slice(lines.start, lines.end).contains(char::is_alphanumeric);
            }
            _ => {}
        }
        if matches!(chunks[at].resolution, Resolution::Conflict) {
            (last, unchanged, has_words) = (Some(at), 0, false);
        }
        at += 1;
    }
}

/// Replace the chunks `first..=last` by one conflict.
pub(crate) fn join_range(chunks: &mut Vec<Chunk>, first: usize, last: usize) {
    let joined = Chunk {
        base: chunks[first].base.start..chunks[last].base.end,
        ours: chunks[first].ours.start..chunks[last].ours.end,
        theirs: chunks[first].theirs.start..chunks[last].theirs.end,
        resolution: Resolution::Conflict,
    };
    chunks.splice(first..=last, std::iter::once(joined));
}
