//! Python binding of the search index, shared between threads behind a lock.

use std::sync::{PoisonError, RwLock};

use pyo3::prelude::*;
use pyo3::pybacked::PyBackedStr;
use pyo3::types::PyTuple;
use reverie_core::rank::{self, Entry, Filter, Hit};

#[pyclass(frozen, module = "reverie._native")]
pub(crate) struct Index(RwLock<rank::Index>);

/// A document: id, text, tags, groups, timestamp.
type Record = (PyBackedStr, PyBackedStr, Vec<PyBackedStr>, Vec<PyBackedStr>, Option<i64>);

/// A hit: id, score, and the score of each term.
type HitTuple<'py> = (String, f64, Bound<'py, PyTuple>);

#[pymethods]
impl Index {
    #[new]
    fn new() -> Self {
        Self(RwLock::default())
    }

    #[pyo3(signature = (id, text, tags = Vec::new(), groups = Vec::new(), at = None))]
    fn add(
        &self,
        py: Python<'_>,
        id: PyBackedStr,
        text: PyBackedStr,
        tags: Vec<PyBackedStr>,
        groups: Vec<PyBackedStr>,
        at: Option<i64>,
    ) {
        let record = (id, text, tags, groups, at);
        py.detach(|| self.0.write().unwrap_or_else(PoisonError::into_inner).insert(&entry(&record)));
    }

    fn add_many(&self, py: Python<'_>, records: Vec<Record>) {
        py.detach(|| self.0.write().unwrap_or_else(PoisonError::into_inner).extend(records.iter().map(entry)));
    }

    fn remove(&self, py: Python<'_>, id: &str) -> bool {
        py.detach(|| self.0.write().unwrap_or_else(PoisonError::into_inner).remove(id))
    }

    #[pyo3(signature = (query, limit, any_of = Vec::new(), none_of = Vec::new(), ids = None, since = None, before = None))]
    #[expect(clippy::too_many_arguments, reason = "the parts of a filter, which Python gathers in one value")]
    fn search<'py>(
        &self,
        py: Python<'py>,
        query: &str,
        limit: usize,
        any_of: Vec<Vec<String>>,
        none_of: Vec<String>,
        ids: Option<Vec<String>>,
        since: Option<i64>,
        before: Option<i64>,
    ) -> PyResult<Vec<HitTuple<'py>>> {
        let filter = Filter { any_of, none_of, ids, since, before };
        let hits =
            py.detach(|| self.0.read().unwrap_or_else(PoisonError::into_inner).search_within(query, limit, &filter));
        hits.into_iter().map(|hit| tuple(py, hit)).collect()
    }

    fn __len__(&self, py: Python<'_>) -> usize {
        py.detach(|| self.0.read().unwrap_or_else(PoisonError::into_inner).len())
    }
}

/// Borrow a document for the core.
fn entry((id, text, tags, groups, at): &Record) -> Entry<'_> {
    Entry { id, text, tags: borrowed(tags), groups: borrowed(groups), at: *at }
}

/// Borrow a list of strings.
fn borrowed(strings: &[PyBackedStr]) -> Vec<&str> {
    strings.iter().map(AsRef::as_ref).collect()
}

/// Convert a hit for Python.
fn tuple(py: Python<'_>, hit: Hit) -> PyResult<HitTuple<'_>> {
    Ok((hit.id, hit.score, PyTuple::new(py, hit.terms)?))
}
