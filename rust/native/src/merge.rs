//! Three texts become one.

use std::ops::Range;

use pyo3::prelude::*;
use pyo3::types::PyString;
use reverie_core::merge::{self, Conflict, Part};

use crate::error::text;
use crate::unlocked::unlocked;

/// A text and its lines.
type PartTuple = (String, usize, usize);
/// Base, ours and theirs; the lines of the merged text that hold ours, and their characters.
type ConflictTuple = (PartTuple, PartTuple, PartTuple, (usize, usize), (usize, usize));

#[pyfunction]
pub(crate) fn merge3<'py>(
    py: Python<'py>,
    base: &Bound<'py, PyString>,
    ours: &Bound<'py, PyString>,
    theirs: &Bound<'py, PyString>,
) -> PyResult<(Bound<'py, PyString>, Vec<ConflictTuple>)> {
    let (base, ours, theirs) = (text(base)?, text(ours)?, text(theirs)?);
    let merged = unlocked(py, base.len() + ours.len() + theirs.len(), || merge::merge3(base, ours, theirs));
    let places = merged.in_characters();
    let conflicts = merged.conflicts.into_iter().zip(places).map(|(conflict, place)| tuple(conflict, &place)).collect();
    Ok((PyString::new(py, &merged.text), conflicts))
}

fn tuple(conflict: Conflict, place: &Range<usize>) -> ConflictTuple {
    let part = |part: Part| (part.text, part.lines.start, part.lines.end);
    let lines = (conflict.lines.start, conflict.lines.end);
    (part(conflict.base), part(conflict.ours), part(conflict.theirs), lines, (place.start, place.end))
}
