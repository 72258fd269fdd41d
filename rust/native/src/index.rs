//! Python binding of the search index, shared between threads behind a lock.

use std::borrow::Cow;
use std::fmt::Write;
use std::path::PathBuf;
use std::sync::{PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use pyo3::exceptions::PyOSError;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedStr;
use pyo3::types::PyTuple;
use reverie_core::rank::{self, Applies, Boost, Entry, Filter, Hit, Saturation, SegmentError, Surroundings};

#[pyclass(frozen, module = "reverie._native")]
pub(crate) struct Index(RwLock<rank::Index>);

/// A document: id, text, tags, groups, timestamp.
type Record = (PyBackedStr, PyBackedStr, Vec<PyBackedStr>, Vec<PyBackedStr>, Option<i64>);

/// A hit: id, score, the score of each term, and relevance.
type HitTuple<'py> = (String, f64, Bound<'py, PyTuple>, f64);

/// Surroundings: candidates, weight of the window, factors of groups, a group outside of windows, boosts.
type How = (usize, f64, Vec<(String, f64)>, Option<String>, Vec<BoostTuple>);

/// A boost: name, score, a group, a group of the neighbour before, a time range; one of the last three is given.
type BoostTuple = (String, f64, Option<String>, Option<String>, Option<(i64, i64)>);

/// A saved segment: its file and its removed documents.
type Saved = (PathBuf, Vec<u8>);

/// A segment: its file and removed documents, the digest in hex, the number of documents and of removed ones.
type State = (PathBuf, Cow<'static, [u8]>, String, usize, usize);

impl Index {
    fn read(&self) -> RwLockReadGuard<'_, rank::Index> {
        self.0.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, rank::Index> {
        self.0.write().unwrap_or_else(PoisonError::into_inner)
    }
}

#[pymethods]
impl Index {
    #[new]
    fn new() -> PyResult<Self> {
        crate::guarded("Index.new", || Ok(Self(RwLock::default())))
    }

    #[staticmethod]
    fn open(py: Python<'_>, segments: Vec<Saved>, k1: f64, b: f64) -> PyResult<Self> {
        crate::guarded("Index.open", || {
            let index = py.detach(|| rank::Index::open(&segments)).map_err(unreadable)?;
            Ok(Self(RwLock::new(index.with_saturation(Saturation { k1, b }))))
        })
    }

    #[staticmethod]
    fn merge(py: Python<'_>, segments: Vec<Saved>, path: PathBuf) -> PyResult<()> {
        crate::guarded("Index.merge", || py.detach(|| rank::merge(&segments, &path)).map_err(unreadable))
    }

    fn flush(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        crate::guarded("Index.flush", || py.detach(|| self.write().flush(&path)).map_err(unreadable))
    }

    fn replace(&self, py: Python<'_>, segments: Vec<Saved>, path: PathBuf) -> PyResult<()> {
        crate::guarded("Index.replace", || py.detach(|| self.write().replace(&segments, &path)).map_err(unreadable))
    }

    fn segments(&self, py: Python<'_>) -> PyResult<Vec<State>> {
        crate::guarded("Index.segments", || {
            Ok({
                let hex = |digest: [u8; 32]| {
                    digest.iter().fold(String::new(), |mut text, byte| {
                        let _ = write!(text, "{byte:02x}");
                        text
                    })
                };
                let state = |segment: rank::SegmentState| {
                    let removed = Cow::Owned(segment.removed);
                    (segment.path, removed, hex(segment.digest), segment.documents, segment.removed_documents)
                };
                py.detach(|| self.read().segments()).into_iter().map(state).collect()
            })
        })
    }

    fn buffered(&self, py: Python<'_>) -> usize {
        py.detach(|| self.read().buffered())
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
    ) -> PyResult<()> {
        crate::guarded("Index.add", || {
            let record = (id, text, tags, groups, at);
            py.detach(|| self.write().insert(&entry(&record)));
            Ok(())
        })
    }

    fn add_many(&self, py: Python<'_>, records: Vec<Record>) -> PyResult<()> {
        crate::guarded("Index.add_many", || {
            py.detach(|| self.write().extend(records.iter().map(entry)));
            Ok(())
        })
    }

    fn remove(&self, py: Python<'_>, id: &str) -> PyResult<bool> {
        crate::guarded("Index.remove", || Ok(py.detach(|| self.write().remove(id))))
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
        crate::guarded("Index.search", || {
            let filter = Filter { any_of, none_of, ids, since, before };
            let hits = py.detach(|| self.read().search_within(query, limit, &filter)).map_err(unreadable)?;
            hits.into_iter().map(|hit| tuple(py, hit)).collect()
        })
    }

    #[pyo3(signature = (query, limit, how, any_of = Vec::new(), none_of = Vec::new(), ids = None, since = None, before = None))]
    #[expect(clippy::too_many_arguments, reason = "the parts of a filter, which Python gathers in one value")]
    fn search_around<'py>(
        &self,
        py: Python<'py>,
        query: &str,
        limit: usize,
        how: How,
        any_of: Vec<Vec<String>>,
        none_of: Vec<String>,
        ids: Option<Vec<String>>,
        since: Option<i64>,
        before: Option<i64>,
    ) -> PyResult<Vec<HitTuple<'py>>> {
        crate::guarded("Index.search_around", || {
            let filter = Filter { any_of, none_of, ids, since, before };
            let (candidates, weight, factors, outside, boosts) = how;
            let how =
                Surroundings { candidates, weight, factors, outside, boosts: boosts.into_iter().map(boost).collect() };
            let hits = py.detach(|| self.read().search_around(query, limit, &filter, &how)).map_err(unreadable)?;
            hits.into_iter().map(|hit| tuple(py, hit)).collect()
        })
    }

    fn ids(&self, py: Python<'_>, any_of: Vec<Vec<String>>, after: &str, limit: usize) -> PyResult<Vec<String>> {
        crate::guarded("Index.ids", || {
            let filter = Filter { any_of, ..Filter::default() };
            py.detach(|| self.read().ids(&filter, after, limit)).map_err(unreadable)
        })
    }

    fn __len__(&self, py: Python<'_>) -> usize {
        py.detach(|| self.read().len())
    }
}

/// Convert the error of a saved index.
#[expect(clippy::needless_pass_by_value, reason = "as `map_err` passes it")]
fn unreadable(error: SegmentError) -> PyErr {
    PyOSError::new_err(error.to_string())
}

/// Borrow a document for the core.
fn entry((id, text, tags, groups, at): &Record) -> Entry<'_> {
    Entry { id, text, tags: borrowed(tags), groups: borrowed(groups), at: *at }
}

/// Convert a boost for the core; one without any condition applies to no message.
fn boost((name, score, group, group_before, times): BoostTuple) -> Boost {
    let applies = match (group, group_before, times) {
        (Some(group), ..) => Applies::In(group),
        (_, Some(group), _) => Applies::After(group),
        (.., times) => {
            let (since, end) = times.unwrap_or_default();
            Applies::Between(since, end)
        }
    };
    Boost { name, score, applies }
}

/// Borrow a list of strings.
fn borrowed(strings: &[PyBackedStr]) -> Vec<&str> {
    strings.iter().map(AsRef::as_ref).collect()
}

/// Convert a hit for Python.
fn tuple(py: Python<'_>, hit: Hit) -> PyResult<HitTuple<'_>> {
    Ok((hit.id, hit.score, PyTuple::new(py, hit.terms)?, hit.relevance))
}

/// Return the sentences or lines of a text with most of a query's words, at most `limit` characters.
#[pyfunction]
pub(crate) fn passage(py: Python<'_>, text: PyBackedStr, query: PyBackedStr, limit: usize) -> PyResult<String> {
    crate::guarded("passage", || Ok(py.detach(|| rank::passage(&text, &query, limit).to_owned())))
}
