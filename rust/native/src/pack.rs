//! Python bindings of stored records, packed texts and edits. Bytes that cannot be unpacked are None: the store names the record.

use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::PyBytes;
use reverie_core::pack as packing;
use reverie_core::record;

use crate::detach_if_large;

#[pyfunction]
pub(crate) fn pack<'py>(py: Python<'py>, data: &[u8]) -> PyResult<Option<Bound<'py, PyBytes>>> {
    crate::guarded("pack", || {
        Ok(detach_if_large(py, data.len(), || packing::pack(data)).map(|packed| PyBytes::new(py, &packed)))
    })
}

#[pyfunction]
pub(crate) fn unpack<'py>(py: Python<'py>, packed: &[u8], limit: usize) -> PyResult<Option<Bound<'py, PyBytes>>> {
    crate::guarded("unpack", || {
        Ok(detach_if_large(py, packed.len(), || packing::unpack(packed, limit)).map(|data| PyBytes::new(py, &data)))
    })
}

#[pyfunction]
pub(crate) fn pack_edit<'py>(py: Python<'py>, base: &[u8], data: &[u8]) -> PyResult<Option<Bound<'py, PyBytes>>> {
    crate::guarded("pack_edit", || {
        Ok(detach_if_large(py, base.len() + data.len(), || packing::edit(base, data))
            .map(|edit| PyBytes::new(py, &edit)))
    })
}

#[pyfunction]
pub(crate) fn apply_edit<'py>(
    py: Python<'py>,
    base: &[u8],
    edit: &[u8],
    limit: usize,
) -> PyResult<Option<Bound<'py, PyBytes>>> {
    crate::guarded("apply_edit", || {
        Ok(detach_if_large(py, base.len(), || packing::apply(base, edit, limit)).map(|data| PyBytes::new(py, &data)))
    })
}

#[pyfunction]
pub(crate) fn verified_body<'py>(
    py: Python<'py>,
    key: &[u8],
    record: &[u8],
    limit: usize,
) -> PyResult<Option<Bound<'py, PyBytes>>> {
    crate::guarded("verified_body", || {
        Ok(detach_if_large(py, record.len(), || record::body(key, record, limit)).map(|body| PyBytes::new(py, &body)))
    })
}

#[pyfunction]
pub(crate) fn verified_bodies(
    py: Python<'_>,
    records: Vec<(PyBackedBytes, PyBackedBytes)>,
    limit: usize,
) -> PyResult<Vec<Option<Bound<'_, PyBytes>>>> {
    crate::guarded("verified_bodies", || {
        Ok({
            let size = records.iter().map(|(_, record)| record.len()).sum();
            let bodies: Vec<_> = detach_if_large(py, size, || {
                records.iter().map(|(key, record)| record::body(key, record, limit)).collect()
            });
            bodies.into_iter().map(|body| body.map(|body| PyBytes::new(py, &body))).collect()
        })
    })
}
