//! Identity of blocks across an edit.

use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyString};
use reverie_core::align::{OldBlock, align_checked};

use crate::error::{Refused, text};
use crate::unlocked::unlocked;

/// A block as the caller has it: bytes of a document, or text.
#[derive(FromPyObject)]
pub(crate) enum BlockText<'py> {
    Bytes(Bound<'py, PyBytes>),
    Text(Bound<'py, PyString>),
}

impl BlockText<'_> {
    fn bytes(&self) -> Result<&[u8], Refused> {
        match self {
            Self::Bytes(bytes) => Ok(bytes.as_bytes()),
            Self::Text(string) => text(string).map(str::as_bytes),
        }
    }
}

/// An id as the caller gave it.
type Id<'py> = Bound<'py, PyString>;

#[pyfunction]
pub(crate) fn align<'py>(
    py: Python<'py>,
    old: Vec<(Id<'py>, BlockText<'py>)>,
    new: Vec<BlockText<'py>>,
) -> PyResult<(Vec<Option<Id<'py>>>, Vec<Id<'py>>)> {
    let olds = old
        .iter()
        .map(|(id, block)| Ok(OldBlock { id: text(id)?, text: block.bytes()? }))
        .collect::<Result<Vec<_>, Refused>>()?;
    let news = new.iter().map(BlockText::bytes).collect::<Result<Vec<_>, Refused>>()?;
    let size = olds.iter().map(|block| block.text.len()).chain(news.iter().map(|text| text.len())).sum();
    let found = unlocked(py, size, || align_checked(&olds, &news)).map_err(Refused::from)?;
    let id = |index: usize| old[index].0.clone();
    Ok((found.carried.into_iter().map(|index| index.map(id)).collect(), found.gone.into_iter().map(id).collect()))
}
