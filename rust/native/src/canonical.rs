//! Canonical JSON of Python objects and of JSON text.

use std::borrow::Cow;

use pyo3::prelude::*;
use pyo3::types::{PyBool, PyBytes, PyDict, PyFloat, PyInt, PyList, PyString, PyTuple};
use reverie_core::Error;
use reverie_core::canonical::{self as json, DEPTH_MAX, Value};
use reverie_core::error::{JsonReason, Position, Step};

use crate::unlocked::unlocked;

#[pyfunction]
pub(crate) fn canonical<'py>(py: Python<'py>, value: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyBytes>> {
    Ok(PyBytes::new(py, &canonical_bytes(py, value)?))
}

#[pyfunction]
pub(crate) fn sha256_canonical(py: Python<'_>, value: &Bound<'_, PyAny>) -> PyResult<String> {
    let bytes = canonical_bytes(py, value)?;
    Ok(unlocked(py, bytes.len(), || json::sha256_hex(&bytes)))
}

#[pyfunction]
pub(crate) fn check_json(py: Python<'_>, data: &[u8]) -> PyResult<()> {
    Ok(unlocked(py, data.len(), || json::check_json(data)).map_err(crate::error::Refused::from)?)
}

/// Canonical bytes of a Python object, or of JSON text given as `bytes`.
fn canonical_bytes(py: Python<'_>, value: &Bound<'_, PyAny>) -> PyResult<Vec<u8>> {
    if let Ok(text) = value.cast::<PyBytes>() {
        let text = text.as_bytes();
        let written = unlocked(py, text.len(), || json::canonical(&json::parse(text)?));
        return Ok(written.map_err(crate::error::Refused::from)?);
    }
    let value = object(value, 0).map_err(Refused::into_error)?;
    Ok(json::canonical(&value).map_err(crate::error::Refused::from)?)
}

/// A refusal on its way out of the object, gathering the steps of its path from the innermost.
struct Refused {
    reason: JsonReason,
    what: &'static str,
    steps: Vec<Step>,
}

impl Refused {
    fn new(reason: JsonReason, what: &'static str) -> Self {
        Self { reason, what, steps: Vec::new() }
    }

    fn inside(mut self, step: Step) -> Self {
        self.steps.push(step);
        self
    }

    fn into_error(self) -> crate::error::Refused {
        let at = Position::path(self.steps.iter().rev());
        Error::Json { reason: self.reason, what: self.what, at }.into()
    }
}

fn object(value: &Bound<'_, PyAny>, depth: usize) -> Result<Value<'static>, Refused> {
    if let Ok(text) = value.cast::<PyString>() {
        return Ok(Value::Text(Cow::Owned(string(text)?)));
    }
    if let Ok(map) = value.cast::<PyDict>() {
        return members(map, deeper(depth)?);
    }
    if let Ok(list) = value.cast::<PyList>() {
        return items(list.iter(), deeper(depth)?);
    }
    if let Ok(truth) = value.cast::<PyBool>() {
        return Ok(Value::Bool(truth.is_true()));
    }
    if let Ok(integer) = value.cast::<PyInt>() {
        let beyond = |_| Refused::new(JsonReason::NumberOutOfRange, "an integer beyond 2^53-1");
        return integer.extract::<i64>().map(Value::Integer).map_err(beyond);
    }
    if let Ok(double) = value.cast::<PyFloat>() {
        return Ok(Value::Double(double.value()));
    }
    if value.is_none() {
        return Ok(Value::Null);
    }
    if let Ok(tuple) = value.cast::<PyTuple>() {
        return items(tuple.iter(), deeper(depth)?);
    }
    Err(Refused::new(JsonReason::Unsupported, "a value that JSON does not have"))
}

/// One container deeper; also what ends a value that contains itself.
fn deeper(depth: usize) -> Result<usize, Refused> {
    let free = depth < DEPTH_MAX;
    free.then_some(depth + 1).ok_or_else(|| Refused::new(JsonReason::TooDeep, "nesting deeper than 128"))
}

fn string(text: &Bound<'_, PyString>) -> Result<String, Refused> {
    let refuse = |_| Refused::new(JsonReason::LoneSurrogate, "half of a surrogate pair");
    text.to_str().map(str::to_owned).map_err(refuse)
}

fn items<'py>(items: impl Iterator<Item = Bound<'py, PyAny>>, depth: usize) -> Result<Value<'static>, Refused> {
    let mut list = Vec::new();
    for (index, item) in items.enumerate() {
        list.push(object(&item, depth).map_err(|refused| refused.inside(Step::Index(index)))?);
    }
    Ok(Value::List(list))
}

fn members(map: &Bound<'_, PyDict>, depth: usize) -> Result<Value<'static>, Refused> {
    let mut members = Vec::with_capacity(map.len());
    for (key, value) in map.iter() {
        let Ok(key) = key.cast::<PyString>() else {
            return Err(Refused::new(JsonReason::Unsupported, "a key that is not a string"));
        };
        let key = string(key)?;
        match object(&value, depth) {
            Ok(value) => members.push((Cow::Owned(key), value)),
            Err(refused) => return Err(refused.inside(Step::Key(key))),
        }
    }
    Ok(Value::Object(members))
}
