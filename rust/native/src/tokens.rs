//! Python bindings of token counts.

use std::borrow::Cow;

use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyString};
use reverie_core::tokens::Encoding;

use crate::call;
use crate::error::exception;

#[pyfunction]
#[pyo3(signature = (text, encoding = "o200k_base"))]
pub(crate) fn count(py: Python<'_>, text: &Bound<'_, PyString>, encoding: &str) -> PyResult<usize> {
    let (text, encoding) = (countable(text)?, named(encoding)?);
    call("count", py, text.len(), || encoding.count(&text))
}

#[pyfunction]
#[pyo3(signature = (texts, encoding = "o200k_base"))]
pub(crate) fn count_many(py: Python<'_>, texts: Vec<Bound<'_, PyString>>, encoding: &str) -> PyResult<Vec<usize>> {
    let (encoding, (texts, size)) = (named(encoding)?, all_countable(&texts)?);
    call("count_many", py, size, || encoding.count_many(&texts))
}

#[pyfunction]
#[pyo3(signature = (bodies, encoding = "o200k_base"))]
pub(crate) fn count_items(py: Python<'_>, bodies: Vec<Bound<'_, PyString>>, encoding: &str) -> PyResult<Vec<usize>> {
    let (encoding, (bodies, size)) = (named(encoding)?, all_countable(&bodies)?);
    call("count_items", py, size, || encoding.count_items(&bodies))
}

#[pyfunction]
#[pyo3(signature = (text, limit, encoding = "o200k_base"))]
pub(crate) fn fits(py: Python<'_>, text: &Bound<'_, PyString>, limit: usize, encoding: &str) -> PyResult<bool> {
    let (text, encoding) = (countable(text)?, named(encoding)?);
    call("fits", py, text.len(), || encoding.fits(&text, limit))
}

#[pyfunction]
#[pyo3(signature = (text, limit, encoding = "o200k_base"))]
pub(crate) fn truncate<'py>(
    py: Python<'py>,
    text: &Bound<'py, PyString>,
    limit: usize,
    encoding: &str,
) -> PyResult<Bound<'py, PyString>> {
    let (input, encoding) = (countable(text)?, named(encoding)?);
    let cut = call("truncate", py, input.len(), || encoding.truncate(&input, limit))?;
    Ok(if cut.len() == input.len() { text.clone() } else { PyString::new(py, cut) })
}

#[pyfunction]
pub(crate) fn vocabulary(py: Python<'_>, encoding: &str) -> PyResult<Cow<'static, [u8]>> {
    let encoding = named(encoding)?;
    call("vocabulary", py, usize::MAX, || Cow::Owned(encoding.vocabulary()))
}

/// Return the encoding of that name.
fn named(encoding: &str) -> PyResult<Encoding> {
    Encoding::named(encoding).map_err(exception)
}

/// Return texts as [`countable`] ones, and their bytes together.
fn all_countable<'t>(texts: &'t [Bound<'_, PyString>]) -> PyResult<(Vec<Cow<'t, str>>, usize)> {
    let texts = texts.iter().map(countable).collect::<PyResult<Vec<_>>>()?;
    let size = texts.iter().map(|text| text.len()).sum();
    Ok((texts, size))
}

/// Return a Python string as text to be counted; unpaired surrogates count as U+FFFD, as tiktoken counts them.
fn countable<'t>(text: &'t Bound<'_, PyString>) -> PyResult<Cow<'t, str>> {
    if let Ok(text) = text.to_str() {
        return Ok(Cow::Borrowed(text));
    }
    let units = text.call_method1("encode", ("utf-16-le", "surrogatepass"))?;
    let units = units.cast::<PyBytes>()?.as_bytes().chunks_exact(2).map(|unit| u16::from_le_bytes([unit[0], unit[1]]));
    Ok(Cow::Owned(String::from_utf16_lossy(&units.collect::<Vec<_>>())))
}
