//! Python bindings of changes to blocks, and of text edits.

use std::borrow::Cow;

use pyo3::prelude::*;
use reverie_core::apply::{self, BlockId, Change, Edit};

use crate::blocks::sections_of;
use crate::try_call;

/// An edit: start in bytes, old text, new text.
type EditTuple = (usize, String, String);

/// The edits, the document after them, and the edits that undo them.
type AppliedTuple = (Vec<EditTuple>, Cow<'static, [u8]>, Vec<EditTuple>);

/// Convert edits for Python.
fn tuples(edits: Vec<Edit>) -> Vec<EditTuple> {
    edits.into_iter().map(|edit| (edit.start, edit.old, edit.new)).collect()
}

#[pyfunction]
#[pyo3(signature = (document, blocks, changes, sections = None))]
pub(crate) fn apply_changes(
    py: Python<'_>,
    document: &[u8],
    blocks: Vec<(String, usize, usize)>,
    changes: Vec<(String, String, String)>,
    sections: Option<bool>,
) -> PyResult<AppliedTuple> {
    let blocks: Vec<_> = blocks.iter().map(|(id, start, end)| BlockId { id, start: *start, end: *end }).collect();
    let applied = try_call("apply_changes", py, document.len(), || {
        let changes = changes.iter().map(|(word, target, text)| Change::named(word, target, text));
        apply::apply_changes(document, sections_of(sections), &blocks, &changes.collect::<Result<Vec<_>, _>>()?)
    })?;
    Ok((tuples(applied.edits), Cow::Owned(applied.document.into_bytes()), tuples(applied.inverse)))
}

#[pyfunction]
pub(crate) fn apply_edits(py: Python<'_>, document: &[u8], edits: Vec<EditTuple>) -> PyResult<Cow<'static, [u8]>> {
    let edits: Vec<_> = edits.into_iter().map(|(start, old, new)| Edit { start, old, new }).collect();
    let text = try_call("apply_edits", py, document.len(), || apply::apply_edits(document, &edits))?;
    Ok(Cow::Owned(text.into_bytes()))
}
