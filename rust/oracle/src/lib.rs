//! Other implementations as Python calls ours: strings in, strings out.

use pyo3::prelude::*;

/// The names that Python sees.
#[pymodule(gil_used = false)]
mod reverie_oracle {
    use super::{Bound, PyResult, Python, pyfunction};
    use pyo3::types::PyString;

    /// diffy's three-way merge: the text, with its markers if there are conflicts, and whether there are none.
    #[pyfunction]
    fn diffy_merge<'py>(py: Python<'py>, base: &str, ours: &str, theirs: &str) -> (Bound<'py, PyString>, bool) {
        match py.detach(|| diffy::merge(base, ours, theirs)) {
            Ok(text) => (PyString::new(py, &text), true),
            Err(text) => (PyString::new(py, &text), false),
        }
    }

    /// diffy's line diff: how many hunks.
    #[pyfunction]
    fn diffy_hunks(py: Python<'_>, old: &str, new: &str) -> PyResult<usize> {
        Ok(py.detach(|| diffy::create_patch(old, new).hunks().len()))
    }
}
