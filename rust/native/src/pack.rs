//! Python bindings of stored records, packed texts and edits. Bytes that cannot be unpacked are None: the store names the record.

use std::borrow::Cow;

use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::PyBytes;
use reverie_core::pack as packing;
use reverie_core::record;

use crate::call;

/// Bytes that are None where what was given is damaged.
type Checked = Option<Cow<'static, [u8]>>;

#[pyfunction]
pub(crate) fn clear_pools(py: Python<'_>) {
    py.detach(reverie_core::pool::clear);
}

#[pyfunction]
pub(crate) fn pack(py: Python<'_>, data: &[u8]) -> PyResult<Checked> {
    call("pack", py, data.len(), || packing::pack(data).map(Cow::Owned))
}

#[pyfunction]
pub(crate) fn unpack(py: Python<'_>, packed: &[u8], limit: usize) -> PyResult<Checked> {
    call("unpack", py, packed.len(), || packing::unpack(packed, limit).map(Cow::Owned))
}

#[pyfunction]
pub(crate) fn pack_edit(py: Python<'_>, base: &[u8], data: &[u8]) -> PyResult<Checked> {
    call("pack_edit", py, base.len() + data.len(), || packing::edit(base, data).map(Cow::Owned))
}

#[pyfunction]
pub(crate) fn apply_edit(py: Python<'_>, base: &[u8], edit: &[u8], limit: usize) -> PyResult<Checked> {
    call("apply_edit", py, base.len(), || packing::apply(base, edit, limit).map(Cow::Owned))
}

#[pyfunction]
pub(crate) fn verified_body<'r>(
    py: Python<'_>,
    key: &[u8],
    record: &'r [u8],
    limit: usize,
) -> PyResult<Option<Cow<'r, [u8]>>> {
    call("verified_body", py, record.len(), || record::body(key, record, limit))
}

#[pyfunction]
pub(crate) fn verified_bodies(
    py: Python<'_>,
    records: Vec<(PyBackedBytes, PyBackedBytes)>,
    limit: usize,
) -> PyResult<Vec<Option<Bound<'_, PyBytes>>>> {
    let size = records.iter().map(|(_, record)| record.len()).sum();
    let bodies: Vec<_> = call("verified_bodies", py, size, || {
        records.iter().map(|(key, record)| record::body(key, record, limit)).collect()
    })?;
    Ok(bodies.into_iter().map(|body| body.map(|body| PyBytes::new(py, &body))).collect())
}
