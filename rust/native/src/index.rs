//! Python binding of the search index, shared between threads behind a lock.

use std::borrow::Cow;
use std::path::PathBuf;
use std::sync::{PoisonError, RwLock};

use pyo3::exceptions::PyOSError;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedStr;
use pyo3::types::PyTuple;
use reverie_core::canonical::hex;
use reverie_core::rank::{self, Applies, Boost, Entry, Filter, Hit, Saturation, SegmentError, Surroundings};

use crate::{call, guarded};

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

/// A filter: sets of groups, groups that are left out, ids, and the times between which it selects.
type Within = (Vec<Vec<String>>, Vec<String>, Option<Vec<String>>, Option<i64>, Option<i64>);

impl Index {
    /// Call `work` for an exported method without the interpreter lock, while others may read too.
    fn read<T: Send>(
        &self,
        py: Python<'_>,
        method: &'static str,
        work: impl Send + FnOnce(&rank::Index) -> T,
    ) -> PyResult<T> {
        guarded(method, || Ok(py.detach(|| work(&self.0.read().unwrap_or_else(PoisonError::into_inner)))))
    }

    /// Call `work` for an exported method without the interpreter lock, and alone.
    fn write<T: Send>(
        &self,
        py: Python<'_>,
        method: &'static str,
        work: impl Send + FnOnce(&mut rank::Index) -> T,
    ) -> PyResult<T> {
        guarded(method, || Ok(py.detach(|| work(&mut self.0.write().unwrap_or_else(PoisonError::into_inner)))))
    }
}

#[pymethods]
impl Index {
    #[staticmethod]
    fn open(py: Python<'_>, segments: Vec<Saved>, k1: f64, b: f64) -> PyResult<Self> {
        guarded("Index.open", || {
            let index = py.detach(|| rank::Index::open(&segments)).map_err(unreadable)?;
            Ok(Self(RwLock::new(index.with_saturation(Saturation { k1, b }))))
        })
    }

    #[staticmethod]
    fn merge(py: Python<'_>, segments: Vec<Saved>, path: PathBuf) -> PyResult<()> {
        guarded("Index.merge", || py.detach(|| rank::merge(&segments, &path)).map_err(unreadable))
    }

    fn flush(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        self.write(py, "Index.flush", |index| index.flush(&path))?.map_err(unreadable)
    }

    fn replace(&self, py: Python<'_>, segments: Vec<Saved>, path: PathBuf) -> PyResult<()> {
        self.write(py, "Index.replace", |index| index.replace(&segments, &path))?.map_err(unreadable)
    }

    fn segments(&self, py: Python<'_>) -> PyResult<Vec<State>> {
        let state = |segment: rank::SegmentState| {
            let removed = Cow::Owned(segment.removed);
            (segment.path, removed, hex(&segment.digest), segment.documents, segment.removed_documents)
        };
        Ok(self.read(py, "Index.segments", rank::Index::segments)?.into_iter().map(state).collect())
    }

    fn buffered(&self, py: Python<'_>) -> PyResult<usize> {
        self.read(py, "Index.buffered", rank::Index::buffered)
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
        let record = (id, text, tags, groups, at);
        self.write(py, "Index.add", |index| index.insert(&entry(&record)))
    }

    fn add_many(&self, py: Python<'_>, records: Vec<Record>) -> PyResult<()> {
        self.write(py, "Index.add_many", |index| index.extend(records.iter().map(entry)))
    }

    fn remove(&self, py: Python<'_>, id: &str) -> PyResult<bool> {
        self.write(py, "Index.remove", |index| index.remove(id))
    }

    #[pyo3(signature = (query, limit, within, how = None))]
    fn search<'py>(
        &self,
        py: Python<'py>,
        query: &str,
        limit: usize,
        within: Within,
        how: Option<How>,
    ) -> PyResult<Vec<HitTuple<'py>>> {
        let (any_of, none_of, ids, since, before) = within;
        let filter = Filter { any_of, none_of, ids, since, before };
        let how = how.map(|(candidates, weight, factors, outside, boosts)| {
            let boosts = boosts.into_iter().map(boost).collect();
            Surroundings { candidates, weight, factors, outside, boosts }
        });
        let hits = self.read(py, "Index.search", |index| match &how {
            None => index.search_within(query, limit, &filter),
            Some(how) => index.search_around(query, limit, &filter, how),
        })?;
        hits.map_err(unreadable)?.into_iter().map(|hit| tuple(py, hit)).collect()
    }

    fn ids(&self, py: Python<'_>, any_of: Vec<Vec<String>>, after: &str, limit: usize) -> PyResult<Vec<String>> {
        let filter = Filter { any_of, ..Filter::default() };
        self.read(py, "Index.ids", |index| index.ids(&filter, after, limit))?.map_err(unreadable)
    }

    fn __len__(&self, py: Python<'_>) -> PyResult<usize> {
        self.read(py, "Index.len", rank::Index::len)
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
    call("passage", py, usize::MAX, || rank::passage(&text, &query, limit).to_owned())
}
