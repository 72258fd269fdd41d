//! Python bindings of canonical JSON, for Python objects and JSON text.

use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyBytesMethods};
use reverie_core::canonical as json;

use crate::error::exception;
use crate::{call, guarded, python_object, try_call};

#[pyfunction]
pub(crate) fn canonical<'py>(py: Python<'py>, value: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyBytes>> {
    Ok(PyBytes::new(py, &canonical_bytes("canonical", py, value)?))
}

#[pyfunction]
pub(crate) fn sha256_canonical(py: Python<'_>, value: &Bound<'_, PyAny>) -> PyResult<String> {
    let bytes = canonical_bytes("sha256_canonical", py, value)?;
    call("sha256_canonical", py, bytes.len(), || json::sha256_hex(&bytes))
}

#[pyfunction]
pub(crate) fn check_json(py: Python<'_>, data: &[u8]) -> PyResult<()> {
    try_call("check_json", py, data.len(), || json::check_json(data))
}

/// Return the canonical form of a Python object, or of JSON text given as `bytes`.
fn canonical_bytes(function: &'static str, py: Python<'_>, value: &Bound<'_, PyAny>) -> PyResult<Vec<u8>> {
    match value.cast::<PyBytes>().map(PyBytesMethods::as_bytes) {
        Ok(text) => try_call(function, py, text.len(), || json::rewrite(text)),
        Err(_) => guarded(function, || python_object::canonical(value).map_err(exception)),
    }
}
