//! Python binding of exact-text patches.

use pyo3::prelude::*;
use pyo3::types::PyString;
use reverie_core::patch::{self, Patch};

use crate::detach_if_large;
use crate::error::{CoreError, text};

#[pyfunction]
#[pyo3(name = "patch")]
pub(crate) fn apply_patches<'py>(
    py: Python<'py>,
    text: &Bound<'py, PyString>,
    patches: Vec<(Bound<'py, PyString>, Bound<'py, PyString>)>,
) -> PyResult<(String, usize)> {
    crate::guarded("apply_patches", || {
        let document = self::text(text)?;
        let patches = patches
            .iter()
            .map(|(old, new)| Ok(Patch { old: self::text(old)?, new: self::text(new)? }))
            .collect::<Result<Vec<_>, CoreError>>()?;
        let size = document.len() + patches.iter().map(|patch| patch.old.len()).sum::<usize>();
        let result = detach_if_large(py, size, || patch::patch(document, &patches)).map_err(CoreError::from)?;
        Ok((result, patches.len()))
    })
}
