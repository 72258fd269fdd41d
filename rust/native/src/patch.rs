//! Exact-text patches.

use pyo3::prelude::*;
use pyo3::types::PyString;
use reverie_core::patch::{self, Patch};

use crate::error::{Refused, text};
use crate::unlocked::unlocked;

#[pyfunction]
#[pyo3(name = "patch")]
pub(crate) fn apply_patches<'py>(
    py: Python<'py>,
    text: &Bound<'py, PyString>,
    patches: Vec<(Bound<'py, PyString>, Bound<'py, PyString>)>,
) -> PyResult<(String, usize)> {
    let whole = self::text(text)?;
    let patches = patches
        .iter()
        .map(|(old, new)| Ok(Patch { old: self::text(old)?, new: self::text(new)? }))
        .collect::<Result<Vec<_>, Refused>>()?;
    let size = whole.len() + patches.iter().map(|patch| patch.old.len()).sum::<usize>();
    let result = unlocked(py, size, || patch::patch(whole, &patches)).map_err(Refused::from)?;
    Ok((result, patches.len()))
}
