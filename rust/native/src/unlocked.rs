//! When the interpreter lock is given back.

use pyo3::prelude::*;

/// Calls `work` without the interpreter lock if the input is large enough for that to pay.
pub(crate) fn unlocked<T: Send>(py: Python<'_>, size: usize, work: impl Send + FnOnce() -> T) -> T {
    /// Below this many bytes, giving the lock back and taking it again costs more than the work.
    const WORTH_UNLOCKING: usize = 8 * 1024;
    if size < WORTH_UNLOCKING { work() } else { py.detach(work) }
}
