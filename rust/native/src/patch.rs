//! Python binding of exact-text patches.

use pyo3::prelude::*;
use pyo3::types::PyString;
use reverie_core::patch::{self, Patch};

use crate::error::text;
use crate::try_call;

#[pyfunction]
#[pyo3(name = "patch")]
pub(crate) fn apply_patches<'py>(
    py: Python<'py>,
    text: &Bound<'py, PyString>,
    patches: Vec<(Bound<'py, PyString>, Bound<'py, PyString>)>,
) -> PyResult<(String, usize)> {
    let document = self::text(text)?;
    let patches = patches.iter().map(|(old, new)| Ok(Patch { old: self::text(old)?, new: self::text(new)? }));
    let patches = patches.collect::<PyResult<Vec<_>>>()?;
    let size = document.len() + patches.iter().map(|patch| patch.old.len()).sum::<usize>();
    Ok((try_call("apply_patches", py, size, || patch::patch(document, &patches))?, patches.len()))
}
