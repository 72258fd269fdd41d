//! Python bindings of packed records and edits. Bytes that cannot be unpacked are None: the store names the record.

use pyo3::prelude::*;
use pyo3::types::PyBytes;
use reverie_core::pack as packing;

use crate::detach_if_large;

#[pyfunction]
pub(crate) fn pack<'py>(py: Python<'py>, data: &[u8]) -> Option<Bound<'py, PyBytes>> {
    detach_if_large(py, data.len(), || packing::pack(data)).map(|packed| PyBytes::new(py, &packed))
}

#[pyfunction]
pub(crate) fn unpack<'py>(py: Python<'py>, packed: &[u8], limit: usize) -> Option<Bound<'py, PyBytes>> {
    detach_if_large(py, packed.len(), || packing::unpack(packed, limit)).map(|data| PyBytes::new(py, &data))
}

#[pyfunction]
pub(crate) fn pack_edit<'py>(py: Python<'py>, base: &[u8], data: &[u8]) -> Option<Bound<'py, PyBytes>> {
    detach_if_large(py, base.len() + data.len(), || packing::edit(base, data)).map(|edit| PyBytes::new(py, &edit))
}

#[pyfunction]
pub(crate) fn apply_edit<'py>(py: Python<'py>, base: &[u8], edit: &[u8], limit: usize) -> Option<Bound<'py, PyBytes>> {
    detach_if_large(py, base.len(), || packing::apply(base, edit, limit)).map(|data| PyBytes::new(py, &data))
}
