//! The program that agents' clients run as a hook.

use pyo3::prelude::*;
use pyo3::types::PyBytes;

/// The program, empty where it could not be compiled.
static PROGRAM: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/reverie-hook"));

#[pyfunction]
pub(crate) fn hook_program(py: Python<'_>) -> Bound<'_, PyBytes> {
    PyBytes::new(py, PROGRAM)
}
