//! `reverie._native`: converts, releases the interpreter lock, calls the core, converts back.

#![expect(clippy::needless_pass_by_value, reason = "what was converted from Python belongs to the call")]

mod align;
mod apply;
mod blocks;
mod canonical;
mod error;
mod index;
mod merge;
mod object;
mod patch;
mod redactor;
mod tokens;
mod unlocked;

use pyo3::prelude::*;

/// The names that Python sees; `_native.pyi` documents them.
#[pymodule(gil_used = false)]
mod _native {
    #[pymodule_export]
    use crate::align::align;
    #[pymodule_export]
    use crate::apply::{apply_changes, apply_edits};
    #[pymodule_export]
    use crate::blocks::parse_blocks;
    #[pymodule_export]
    use crate::canonical::{canonical, check_json, sha256_canonical};
    #[pymodule_export]
    use crate::index::Index;
    #[pymodule_export]
    use crate::merge::merge3;
    #[pymodule_export]
    use crate::patch::apply_patches;
    #[pymodule_export]
    use crate::redactor::{RedactedStream, Redactor, kinds, marks, redact};
    #[pymodule_export]
    use crate::tokens::{count, count_items, count_many, fits, truncate, vocabulary};
}
