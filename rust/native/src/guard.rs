//! A panic of the core becomes an exception that `except Exception` catches, without a word of the input.
//!
//! `pyo3` makes a `BaseException` of it, which passes by every handler that keeps one bad item from the others, and the
//! standard hook prints the panic's message, which quotes the text that was sliced.

use std::cell::RefCell;
use std::panic::{self, AssertUnwindSafe};
use std::sync::Once;

use pyo3::prelude::*;
use pyo3::types::PyDict;

thread_local! {
    /// Where the last panic of this thread was, as file and line.
    static PLACE: RefCell<String> = const { RefCell::new(String::new()) };
}

/// Call `work` for the exported `function`; a panic in it raises `reverie.errors.CoreFailed`, which names both the
/// function and the line.
///
/// What `work` changed may be half changed then: an index is searched without the document, a stream has ended.
pub(crate) fn guarded<T>(function: &'static str, work: impl FnOnce() -> PyResult<T>) -> PyResult<T> {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        panic::set_hook(Box::new(|panicked| {
            let place =
                panicked.location().map_or_else(String::new, |place| format!("{}:{}", place.file(), place.line()));
            PLACE.set(place);
        }));
    });
    // What is captured is borrowed for this call alone, or stands behind a lock that takes no notice of panics.
    panic::catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|_| Err(failure(function, &PLACE.take())))
}

/// Build the exception.
fn failure(function: &str, place: &str) -> PyErr {
    Python::attach(|py| {
        let build = || -> PyResult<PyErr> {
            let details = PyDict::new(py);
            details.set_item("function", function)?;
            details.set_item("at", place)?;
            let kind = py.import("reverie.errors")?.getattr("CoreFailed")?;
            Ok(PyErr::from_value(kind.call((), Some(&details))?))
        };
        build().unwrap_or_else(|other| other)
    })
}

/// Panic, as a defect of the core would: with this the tests check what becomes of it.
#[pyfunction]
#[expect(clippy::panic, reason = "it is what is tested")]
pub(crate) fn panic_with(text: String) -> PyResult<()> {
    guarded("panic_with", || panic!("{text}"))
}
