//! Python binding of block alignment.

use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyString};
use reverie_core::align::{OldBlock, align_checked};

use crate::error::text;
use crate::try_call;

/// The bytes of a block, given as `bytes` or `str`.
fn bytes<'b>(block: &'b Bound<'_, PyAny>) -> PyResult<&'b [u8]> {
    match block.cast::<PyBytes>() {
        Ok(bytes) => Ok(bytes.as_bytes()),
        Err(_) => Ok(text(block.cast::<PyString>()?)?.as_bytes()),
    }
}

/// A Python string with an id, returned as the same object.
type Id<'py> = Bound<'py, PyString>;

#[pyfunction]
pub(crate) fn align<'py>(
    py: Python<'py>,
    old: Vec<(Id<'py>, Bound<'py, PyAny>)>,
    new: Vec<Bound<'py, PyAny>>,
) -> PyResult<(Vec<Option<Id<'py>>>, Vec<Id<'py>>)> {
    let olds = old.iter().map(|(id, block)| Ok(OldBlock { id: text(id)?, text: bytes(block)? }));
    let (olds, news) = (olds.collect::<PyResult<Vec<_>>>()?, new.iter().map(bytes).collect::<PyResult<Vec<_>>>()?);
    let size = olds.iter().map(|block| block.text).chain(news.iter().copied()).map(<[u8]>::len).sum();
    let alignment = try_call("align", py, size, || align_checked(&olds, &news))?;
    let id = |index: usize| old[index].0.clone();
    let old_of_new = alignment.old_of_new.into_iter().map(|index| index.map(id)).collect();
    Ok((old_of_new, alignment.deleted.into_iter().map(id).collect()))
}
