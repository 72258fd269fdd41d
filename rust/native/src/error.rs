//! Conversion of core errors to exceptions of `reverie.errors`, the only place where that happens.

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString};
use reverie_core::Error;
use reverie_core::error::{ChangeReason, JsonReason, PatchProblem, Position};

/// Convert an error.
#[expect(clippy::needless_pass_by_value, reason = "as `map_err` passes it")]
pub(crate) fn exception(error: Error) -> PyErr {
    Python::attach(|py| to_exception(py, &error).unwrap_or_else(|other| other))
}

/// Build the `ValidationError` with its details.
fn to_exception(py: Python<'_>, error: &Error) -> PyResult<PyErr> {
    let details = PyDict::new(py);
    details.set_item("hint", hint(error))?;
    match error {
        Error::Json { reason, at, .. } => {
            details.set_item("reason", reason.code())?;
            match at {
                Position::Offset(offset) => details.set_item("offset", offset)?,
                Position::Path(path) => details.set_item("path", path)?,
            }
        }
        Error::NotUtf8 { offset } => {
            details.set_item("reason", JsonReason::Encoding.code())?;
            details.set_item("offset", offset)?;
        }
        Error::Change { reason, names } => {
            details.set_item("reason", reason.code())?;
            details.set_item("names", names)?;
        }
        Error::Patch { problems } => {
            details.set_item("reason", problems.first().map(|problem| problem.reason.code()))?;
            let named = problems.iter().map(|problem| patch_problem(py, problem)).collect::<PyResult<Vec<_>>>()?;
            details.set_item("patches", named)?;
        }
        Error::UnknownEncoding { name } => details.set_item("encoding", name)?,
    }
    let kind = py.import("reverie.errors")?.getattr("ValidationError")?;
    Ok(PyErr::from_value(kind.call((error.to_string(),), Some(&details))?))
}

/// The details of one rejected patch.
fn patch_problem<'py>(py: Python<'py>, problem: &PatchProblem) -> PyResult<Bound<'py, PyDict>> {
    let details = PyDict::new(py);
    details.set_item("patch", problem.patch)?;
    details.set_item("reason", problem.reason.code())?;
    details.set_item("lines", &problem.lines)?;
    details.set_item("more", problem.more)?;
    Ok(details)
}

/// Return what the caller can do about an error.
fn hint(error: &Error) -> &'static str {
    match error {
        Error::Json { reason, .. } => match reason {
            JsonReason::Malformed => "send one JSON value as RFC 8259 writes it",
            JsonReason::DuplicateKey => "give every key of an object once",
            JsonReason::NumberOutOfRange => "send the number as a string",
            JsonReason::LoneSurrogate => "send whole characters",
            JsonReason::TooDeep => "nest lists and objects at most 128 deep",
            JsonReason::Encoding => "send UTF-8 without a byte order mark",
            JsonReason::Unsupported => "use only dict, list, str, int, float, bool and None",
        },
        Error::NotUtf8 { .. } => "save the text as UTF-8",
        Error::Change { reason, .. } => match reason {
            ChangeReason::DuplicateId => "give every block an id of its own",
            ChangeReason::UnknownId => "read the document again and name ids that it has",
            ChangeReason::ChangedTwice => "make one change of the changes of one block",
            ChangeReason::UnknownHeading => "name a heading of the document by its text without marks",
            ChangeReason::UnknownChange => "use add_after, add_under, add_end, update or delete",
            ChangeReason::NotABlock => "parse the document as it is now and give each block's span once",
            ChangeReason::NotOneBlock => "write one block: one item with its other lines indented, or one section",
            ChangeReason::BreaksOut => "close what the text opens: code fences, comments, HTML",
            ChangeReason::StaleEdit => "apply edits in order to the very text that they were made for",
        },
        Error::Patch { .. } => "quote the text exactly, with so many lines around it that it occurs once",
        Error::UnknownEncoding { .. } => "use o200k_base or cl100k_base",
    }
}

/// Return a Python string as UTF-8; one with an unpaired surrogate is rejected.
pub(crate) fn text<'t>(value: &'t Bound<'_, PyString>) -> PyResult<&'t str> {
    value.to_str().map_err(|_| {
        let (reason, at) = (JsonReason::LoneSurrogate, Position::Path("$".to_owned()));
        exception(Error::Json { reason, what: "half of a surrogate pair", at })
    })
}
