//! Python bindings of token counts.

use std::borrow::Cow;

use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyString};
use reverie_core::tokens::Encoding;

use crate::detach_if_large;
use crate::error::CoreError;

#[pyfunction]
#[pyo3(name = "count", signature = (text, encoding = "o200k_base"))]
pub(crate) fn count(py: Python<'_>, text: &Bound<'_, PyString>, encoding: &str) -> PyResult<usize> {
    crate::guarded("count", || {
        let (text, encoding) = (countable(text)?, named(encoding)?);
        Ok(detach_if_large(py, text.len(), || encoding.count(&text)))
    })
}

#[pyfunction]
#[pyo3(signature = (texts, encoding = "o200k_base"))]
pub(crate) fn count_many(py: Python<'_>, texts: Vec<Bound<'_, PyString>>, encoding: &str) -> PyResult<Vec<usize>> {
    crate::guarded("count_many", || {
        let encoding = named(encoding)?;
        let texts = texts.iter().map(countable).collect::<Result<Vec<_>, _>>()?;
        let size = texts.iter().map(|text| text.len()).sum();
        Ok(detach_if_large(py, size, || encoding.count_many(&texts)))
    })
}

#[pyfunction]
#[pyo3(signature = (bodies, encoding = "o200k_base"))]
pub(crate) fn count_items(py: Python<'_>, bodies: Vec<Bound<'_, PyString>>, encoding: &str) -> PyResult<Vec<usize>> {
    crate::guarded("count_items", || {
        let encoding = named(encoding)?;
        let bodies = bodies.iter().map(countable).collect::<Result<Vec<_>, _>>()?;
        let size = bodies.iter().map(|body| body.len()).sum();
        Ok(detach_if_large(py, size, || encoding.count_items(&bodies)))
    })
}

#[pyfunction]
#[pyo3(signature = (text, limit, encoding = "o200k_base"))]
pub(crate) fn fits(py: Python<'_>, text: &Bound<'_, PyString>, limit: usize, encoding: &str) -> PyResult<bool> {
    crate::guarded("fits", || {
        let (text, encoding) = (countable(text)?, named(encoding)?);
        Ok(detach_if_large(py, text.len(), || encoding.fits(&text, limit)))
    })
}

#[pyfunction]
#[pyo3(signature = (text, limit, encoding = "o200k_base"))]
pub(crate) fn truncate<'py>(
    py: Python<'py>,
    text: &Bound<'py, PyString>,
    limit: usize,
    encoding: &str,
) -> PyResult<Bound<'py, PyString>> {
    crate::guarded("truncate", || {
        let (input, encoding) = (countable(text)?, named(encoding)?);
        let cut = detach_if_large(py, input.len(), || encoding.truncate(&input, limit));
        Ok(if cut.len() == input.len() { text.clone() } else { PyString::new(py, cut) })
    })
}

#[pyfunction]
pub(crate) fn vocabulary<'py>(py: Python<'py>, encoding: &str) -> PyResult<Bound<'py, PyBytes>> {
    crate::guarded("vocabulary", || {
        let encoding = named(encoding)?;
        Ok(PyBytes::new(py, &py.detach(|| encoding.vocabulary())))
    })
}

/// Return the encoding of that name.
fn named(encoding: &str) -> Result<Encoding, CoreError> {
    Ok(Encoding::named(encoding)?)
}

/// Return a Python string as text to be counted; unpaired surrogates count as U+FFFD, as tiktoken counts them.
pub(crate) fn countable<'t>(text: &'t Bound<'_, PyString>) -> PyResult<Cow<'t, str>> {
    if let Ok(text) = text.to_str() {
        return Ok(Cow::Borrowed(text));
    }
    let units = text.call_method1("encode", ("utf-16-le", "surrogatepass"))?;
    let units = units.cast::<PyBytes>()?.as_bytes().chunks_exact(2).map(|unit| u16::from_le_bytes([unit[0], unit[1]]));
    Ok(Cow::Owned(String::from_utf16_lossy(&units.collect::<Vec<_>>())))
}
