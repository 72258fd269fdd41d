//! Python binding of the three-way merge.

use std::ops::Range;

use pyo3::prelude::*;
use pyo3::types::PyString;
use reverie_core::merge::{self, Conflict, Part};

use crate::call;
use crate::error::text;

/// A part of a text: the text, its first line and the line after its last.
type PartTuple = (String, usize, usize);
/// A conflict: base, ours, theirs; the range of our version in the merged text in lines and in characters.
type ConflictTuple = (PartTuple, PartTuple, PartTuple, (usize, usize), (usize, usize));

#[pyfunction]
pub(crate) fn merge3<'py>(
    py: Python<'py>,
    base: &Bound<'py, PyString>,
    ours: &Bound<'py, PyString>,
    theirs: &Bound<'py, PyString>,
) -> PyResult<(Bound<'py, PyString>, Vec<ConflictTuple>)> {
    let (base, ours, theirs) = (text(base)?, text(ours)?, text(theirs)?);
    let (merged, ranges) = call("merge3", py, base.len() + ours.len() + theirs.len(), || {
        let merged = merge::merge3(base, ours, theirs);
        let ranges = merged.in_characters();
        (merged, ranges)
    })?;
    let conflicts = merged.conflicts.into_iter().zip(ranges).map(|(conflict, range)| tuple(conflict, &range)).collect();
    Ok((PyString::new(py, &merged.text), conflicts))
}

/// Convert a conflict for Python.
fn tuple(conflict: Conflict, characters: &Range<usize>) -> ConflictTuple {
    let part = |part: Part| (part.text, part.lines.start, part.lines.end);
    let lines = (conflict.lines.start, conflict.lines.end);
    (part(conflict.base), part(conflict.ours), part(conflict.theirs), lines, (characters.start, characters.end))
}
