//! Python binding of a stream of zstd frames. Damage is None: the caller names the file.

use pyo3::prelude::*;
use pyo3::types::PyBytes;
use reverie_core::zstd_decoder as core;

use crate::call;

#[pyclass(module = "reverie._native")]
pub(crate) struct ZstdDecoder(core::ZstdDecoder);

#[pymethods]
impl ZstdDecoder {
    #[new]
    fn new() -> PyResult<Self> {
        crate::guarded("ZstdDecoder.new", || Ok(Self(core::ZstdDecoder::new()?)))
    }

    fn step<'py>(
        &mut self,
        py: Python<'py>,
        packed: &[u8],
        room: usize,
    ) -> PyResult<Option<(usize, Bound<'py, PyBytes>, bool)>> {
        let step = call("ZstdDecoder.step", py, room, || self.0.step(packed, room))?.ok();
        Ok(step.map(|step| (step.taken, PyBytes::new(py, &step.data), step.ended)))
    }
}
