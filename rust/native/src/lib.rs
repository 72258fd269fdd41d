//! `reverie._native`: converts, releases the interpreter lock, calls the core, converts back.

#![expect(clippy::needless_pass_by_value, reason = "what was converted from Python belongs to the call")]

mod convert;
mod error;
mod functions;
mod index;
mod redactor;

use pyo3::prelude::*;

/// The names that Python sees; `_native.pyi` documents them.
#[pymodule(gil_used = false)]
mod _native {
    #[pymodule_export]
    use crate::functions::{
        canonical, check_json, count, count_items, count_many, fits, parse_blocks, redact, sha256_canonical, truncate,
        vocabulary,
    };
    #[pymodule_export]
    use crate::index::Index;
    #[pymodule_export]
    use crate::redactor::Redactor;
}
