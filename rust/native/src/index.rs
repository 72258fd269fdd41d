//! The ranking index, shared between threads behind a lock.

use std::sync::{PoisonError, RwLock};

use pyo3::prelude::*;
use reverie_core::rank;

#[pyclass(frozen, module = "reverie._native")]
pub(crate) struct Index(RwLock<rank::Index>);

/// Id, score, and what each term gave to it.
type HitTuple = (String, f64, Vec<(String, f64)>);

#[pymethods]
impl Index {
    #[new]
    fn new() -> Self {
        Self(RwLock::default())
    }

    #[pyo3(signature = (id, text, tags = Vec::new()))]
    fn add(&self, py: Python<'_>, id: &str, text: &str, tags: Vec<String>) {
        py.detach(|| self.0.write().unwrap_or_else(PoisonError::into_inner).add(id, text, &tags));
    }

    fn remove(&self, py: Python<'_>, id: &str) -> bool {
        py.detach(|| self.0.write().unwrap_or_else(PoisonError::into_inner).remove(id))
    }

    fn search(&self, py: Python<'_>, query: &str, limit: usize) -> Vec<HitTuple> {
        let hits = py.detach(|| self.0.read().unwrap_or_else(PoisonError::into_inner).search(query, limit));
        hits.into_iter().map(|hit| (hit.id, hit.score, hit.terms)).collect()
    }

    fn __len__(&self, py: Python<'_>) -> usize {
        py.detach(|| self.0.read().unwrap_or_else(PoisonError::into_inner).len())
    }
}
