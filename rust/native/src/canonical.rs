//! Python bindings of canonical JSON, for Python objects and JSON text.

use pyo3::prelude::*;
use pyo3::types::PyBytes;
use reverie_core::canonical as json;

use crate::detach_if_large;
use crate::error::CoreError;
use crate::python_object;

#[pyfunction]
pub(crate) fn canonical<'py>(py: Python<'py>, value: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyBytes>> {
    crate::guarded("canonical", || Ok(PyBytes::new(py, &canonical_bytes(py, value)?)))
}

#[pyfunction]
pub(crate) fn sha256_canonical(py: Python<'_>, value: &Bound<'_, PyAny>) -> PyResult<String> {
    crate::guarded("sha256_canonical", || {
        let bytes = canonical_bytes(py, value)?;
        Ok(detach_if_large(py, bytes.len(), || json::sha256_hex(&bytes)))
    })
}

#[pyfunction]
pub(crate) fn check_json(py: Python<'_>, data: &[u8]) -> PyResult<()> {
    crate::guarded("check_json", || {
        Ok(detach_if_large(py, data.len(), || json::check_json(data)).map_err(CoreError::from)?)
    })
}

/// Return the canonical form of a Python object, or of JSON text given as `bytes`.
fn canonical_bytes(py: Python<'_>, value: &Bound<'_, PyAny>) -> Result<Vec<u8>, CoreError> {
    Ok(match value.cast::<PyBytes>() {
        Ok(text) => {
            let text = text.as_bytes();
            detach_if_large(py, text.len(), || json::rewrite(text))?
        }
        Err(_) => python_object::canonical(value)?,
    })
}
