//! Python bindings of other implementations, which tests and benchmarks compare the core with.

use pyo3::prelude::*;

/// The functions exported to Python.
#[pymodule(gil_used = false)]
mod reverie_oracle {
    use super::{Bound, PyResult, Python, pyfunction};
    use pyo3::types::PyString;

    /// Merge with diffy: return the text, with conflict markers if needed, and whether there are no conflicts.
    #[pyfunction]
    fn diffy_merge<'py>(py: Python<'py>, base: &str, ours: &str, theirs: &str) -> (Bound<'py, PyString>, bool) {
        match py.detach(|| diffy::merge(base, ours, theirs)) {
            Ok(text) => (PyString::new(py, &text), true),
            Err(text) => (PyString::new(py, &text), false),
        }
    }

    /// Return the number of hunks of diffy's line diff.
    #[pyfunction]
    fn diffy_hunks(py: Python<'_>, old: &str, new: &str) -> PyResult<usize> {
        Ok(py.detach(|| diffy::create_patch(old, new).hunks().len()))
    }
}
