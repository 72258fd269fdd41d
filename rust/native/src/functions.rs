//! The functions of `_native`, each a call into the core.

use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyString};
use reverie_core::blocks::{self, Sections};
use reverie_core::canonical as json;
use reverie_core::redact::{Reach, Redactor};
use reverie_core::tokens::Encoding;

use crate::convert::{canonical_bytes, countable, unlocked};
use crate::error::Refused;
use crate::redactor::offsets;

#[pyfunction]
#[pyo3(name = "count", signature = (text, encoding = "o200k_base"))]
pub(crate) fn count(py: Python<'_>, text: &Bound<'_, PyString>, encoding: &str) -> PyResult<usize> {
    let (text, encoding) = (countable(text)?, named(encoding)?);
    Ok(unlocked(py, text.len(), || encoding.count(&text)))
}

#[pyfunction]
#[pyo3(signature = (texts, encoding = "o200k_base"))]
pub(crate) fn count_many(py: Python<'_>, texts: Vec<Bound<'_, PyString>>, encoding: &str) -> PyResult<Vec<usize>> {
    let encoding = named(encoding)?;
    let texts = texts.iter().map(countable).collect::<Result<Vec<_>, _>>()?;
    let size = texts.iter().map(|text| text.len()).sum();
    Ok(unlocked(py, size, || texts.iter().map(|text| encoding.count(text)).collect()))
}

#[pyfunction]
#[pyo3(signature = (bodies, encoding = "o200k_base"))]
pub(crate) fn count_items(py: Python<'_>, bodies: Vec<Bound<'_, PyString>>, encoding: &str) -> PyResult<Vec<usize>> {
    let encoding = named(encoding)?;
    let bodies = bodies.iter().map(countable).collect::<Result<Vec<_>, _>>()?;
    let size = bodies.iter().map(|body| body.len()).sum();
    Ok(unlocked(py, size, || encoding.count_items(&bodies)))
}

#[pyfunction]
#[pyo3(signature = (text, limit, encoding = "o200k_base"))]
pub(crate) fn fits(py: Python<'_>, text: &Bound<'_, PyString>, limit: usize, encoding: &str) -> PyResult<bool> {
    let (text, encoding) = (countable(text)?, named(encoding)?);
    Ok(unlocked(py, text.len(), || encoding.fits(&text, limit)))
}

#[pyfunction]
#[pyo3(signature = (text, limit, encoding = "o200k_base"))]
pub(crate) fn truncate<'py>(
    py: Python<'py>,
    text: &Bound<'py, PyString>,
    limit: usize,
    encoding: &str,
) -> PyResult<Bound<'py, PyString>> {
    let (whole, encoding) = (countable(text)?, named(encoding)?);
    let cut = unlocked(py, whole.len(), || encoding.truncate(&whole, limit));
    Ok(if cut.len() == whole.len() { text.clone() } else { PyString::new(py, cut) })
}

#[pyfunction]
pub(crate) fn vocabulary<'py>(py: Python<'py>, encoding: &str) -> PyResult<Bound<'py, PyBytes>> {
    let encoding = named(encoding)?;
    Ok(PyBytes::new(py, &py.detach(|| encoding.vocabulary())))
}

#[pyfunction]
pub(crate) fn canonical<'py>(py: Python<'py>, value: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyBytes>> {
    Ok(PyBytes::new(py, &canonical_bytes(py, value)?))
}

#[pyfunction]
pub(crate) fn sha256_canonical(py: Python<'_>, value: &Bound<'_, PyAny>) -> PyResult<String> {
    let bytes = canonical_bytes(py, value)?;
    Ok(unlocked(py, bytes.len(), || json::sha256_hex(&bytes)))
}

#[pyfunction]
pub(crate) fn check_json(py: Python<'_>, data: &[u8]) -> PyResult<()> {
    Ok(unlocked(py, data.len(), || json::check_json(data)).map_err(Refused::from)?)
}

/// Kind, start, end, level, text, tags and fields of a block.
type BlockTuple = (&'static str, usize, usize, usize, String, Vec<String>, Vec<(String, String)>);

#[pyfunction]
#[pyo3(signature = (data, sections = None))]
pub(crate) fn parse_blocks(py: Python<'_>, data: &[u8], sections: Option<bool>) -> PyResult<Vec<BlockTuple>> {
    let sections = match sections {
        Some(true) => Sections::Always,
        Some(false) => Sections::Never,
        None => Sections::ByFields,
    };
    let blocks = unlocked(py, data.len(), || blocks::parse(data, sections)).map_err(Refused::from)?;
    let tuple = |block: blocks::Block| {
        (block.kind.word(), block.start, block.end, block.level, block.text, block.tags, block.fields)
    };
    Ok(blocks.into_iter().map(tuple).collect())
}

/// Start, end (in characters) and kind of a replaced span.
pub(crate) type SpanTuple = (usize, usize, &'static str);

#[pyfunction]
#[pyo3(signature = (text, literals = Vec::new()))]
pub(crate) fn redact(
    py: Python<'_>,
    text: &Bound<'_, PyString>,
    literals: Vec<String>,
) -> PyResult<(String, Vec<SpanTuple>)> {
    let text = crate::error::text(text)?;
    Ok(unlocked(py, text.len(), || {
        let redactor = Redactor::new(&literals);
        let spans = redactor.spans(text, Reach::Content);
        (redactor.redact(text, Reach::Content).0.into_owned(), offsets(text, &spans))
    }))
}

fn named(encoding: &str) -> Result<Encoding, Refused> {
    Ok(Encoding::named(encoding)?)
}
