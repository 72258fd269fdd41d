//! `reverie._native`: converts arguments, releases the interpreter lock, calls the core, converts the result.

#![expect(clippy::needless_pass_by_value, reason = "what was converted from Python belongs to the call")]

mod align;
mod apply;
mod blocks;
mod canonical;
mod error;
mod guard;
mod hook_program;
mod index;
mod merge;
mod pack;
mod patch;
mod python_object;
mod redaction_memory;
mod redaction_traversal;
mod redactor;
mod tokens;
mod zstd_decoder;

use pyo3::prelude::*;

pub(crate) use guard::guarded;

/// The exported names, documented in `_native.pyi`.
#[pymodule(gil_used = false)]
mod _native {
    #[pymodule_export]
    use crate::align::align;
    #[pymodule_export]
    use crate::apply::{apply_changes, apply_edits};
    #[pymodule_export]
    use crate::blocks::{parse_blocks, parse_blocks_beside};
    #[pymodule_export]
    use crate::canonical::{canonical, check_json, sha256_canonical};
    #[pymodule_export]
    use crate::guard::panic_with;
    #[pymodule_export]
    use crate::hook_program::hook_program;
    #[pymodule_export]
    use crate::index::{Index, passage};
    #[pymodule_export]
    use crate::merge::merge3;
    #[pymodule_export]
    use crate::pack::{apply_edit, clear_pools, pack, pack_edit, unpack, verified_bodies, verified_body};
    #[pymodule_export]
    use crate::patch::apply_patches;
    #[pymodule_export]
    use crate::redactor::{Redactor, kinds, marks, rule_names};
    #[pymodule_export]
    use crate::tokens::{count, count_items, count_many, fits, truncate, vocabulary};
    #[pymodule_export]
    use crate::zstd_decoder::ZstdDecoder;
}

/// Call `work` of the core for the exported `function`, [`guarded`], and without the interpreter lock if `size` bytes of
/// input are enough for that to pay.
pub(crate) fn call<T: Send>(
    function: &'static str,
    py: Python<'_>,
    size: usize,
    work: impl Send + FnOnce() -> T,
) -> PyResult<T> {
    /// Bytes of input below which releasing and taking the lock costs more than the work.
    const DETACH_MIN: usize = 8 * 1024;
    guarded(function, || Ok(if size < DETACH_MIN { work() } else { py.detach(work) }))
}

/// [`call`] work that may fail.
pub(crate) fn try_call<T: Send>(
    function: &'static str,
    py: Python<'_>,
    size: usize,
    work: impl Send + FnOnce() -> Result<T, reverie_core::Error>,
) -> PyResult<T> {
    call(function, py, size, work)?.map_err(error::exception)
}
