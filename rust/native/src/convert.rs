//! Python objects as values of the core.

use std::borrow::Cow;

use pyo3::prelude::*;
use pyo3::types::{PyBool, PyBytes, PyDict, PyFloat, PyInt, PyList, PyString, PyTuple};
use reverie_core::canonical::{Value, DEPTH_MAX};
use reverie_core::error::{JsonReason, Position};
use reverie_core::{canonical, Error};

/// Calls `work` without the interpreter lock if the input is large enough for that to pay.
pub(crate) fn unlocked<T: Send>(py: Python<'_>, size: usize, work: impl Send + FnOnce() -> T) -> T {
    /// Below this many bytes, giving the lock back and taking it again costs more than the work.
    const WORTH_UNLOCKING: usize = 8 * 1024;
    if size < WORTH_UNLOCKING { work() } else { py.detach(work) }
}

/// A Python string as a text to be counted: halves of surrogate pairs count as U+FFFD, as tiktoken counts them.
pub(crate) fn countable<'t>(text: &'t Bound<'_, PyString>) -> PyResult<Cow<'t, str>> {
    if let Ok(text) = text.to_str() {
        return Ok(Cow::Borrowed(text));
    }
    let units = text.call_method1("encode", ("utf-16-le", "surrogatepass"))?;
    let units = units.cast::<PyBytes>()?.as_bytes().chunks_exact(2).map(|unit| u16::from_le_bytes([unit[0], unit[1]]));
    Ok(Cow::Owned(String::from_utf16_lossy(&units.collect::<Vec<_>>())))
}

/// Canonical bytes of a Python object, or of JSON text given as `bytes`.
pub(crate) fn canonical_bytes(py: Python<'_>, value: &Bound<'_, PyAny>) -> PyResult<Vec<u8>> {
    if let Ok(text) = value.cast::<PyBytes>() {
        let text = text.as_bytes();
        let written = unlocked(py, text.len(), || canonical::canonical(&canonical::parse(text)?));
        return Ok(written.map_err(crate::error::Refused::from)?);
    }
    let value = object(value, &mut Path::default())?;
    Ok(canonical::canonical(&value).map_err(crate::error::Refused::from)?)
}

/// Where in a Python object the conversion is, for its refusals.
#[derive(Default)]
struct Path(Vec<Step>);

enum Step {
    Key(String),
    Index(usize),
}

impl Path {
    fn refuse(&self, reason: JsonReason, what: &'static str) -> PyErr {
        let mut path = String::from("$");
        for step in &self.0 {
            match step {
                Step::Key(key) => {
                    path.push('.');
                    path.push_str(key);
                }
                Step::Index(index) => path.push_str(&format!("[{index}]")),
            }
        }
        crate::error::Refused::from(Error::Json { reason, what, at: Position::Path(path) }).into()
    }
}

fn object(value: &Bound<'_, PyAny>, path: &mut Path) -> PyResult<Value<'static>> {
    if let Ok(text) = value.cast::<PyString>() {
        return Ok(Value::Text(Cow::Owned(string(text, path)?)));
    }
    if let Ok(map) = value.cast::<PyDict>() {
        return members(map, path);
    }
    if let Ok(list) = value.cast::<PyList>() {
        return items(list.iter(), path);
    }
    if let Ok(truth) = value.cast::<PyBool>() {
        return Ok(Value::Bool(truth.is_true()));
    }
    if let Ok(integer) = value.cast::<PyInt>() {
        let integer = integer.extract::<i64>();
        return integer
            .map(Value::Integer)
            .map_err(|_| path.refuse(JsonReason::NumberOutOfRange, "an integer beyond 2^53-1"));
    }
    if let Ok(double) = value.cast::<PyFloat>() {
        return Ok(Value::Double(double.value()));
    }
    if value.is_none() {
        return Ok(Value::Null);
    }
    if let Ok(tuple) = value.cast::<PyTuple>() {
        return items(tuple.iter(), path);
    }
    Err(path.refuse(JsonReason::Unsupported, "a value that JSON does not have"))
}

fn string(text: &Bound<'_, PyString>, path: &Path) -> PyResult<String> {
    let refuse = |_| path.refuse(JsonReason::LoneSurrogate, "half of a surrogate pair");
    text.to_str().map(str::to_owned).map_err(refuse)
}

fn items<'py>(items: impl Iterator<Item = Bound<'py, PyAny>>, path: &mut Path) -> PyResult<Value<'static>> {
    let mut list = Vec::new();
    for (index, item) in items.enumerate() {
        enter(path, Step::Index(index))?;
        list.push(object(&item, path)?);
        path.0.pop();
    }
    Ok(Value::List(list))
}

fn members(map: &Bound<'_, PyDict>, path: &mut Path) -> PyResult<Value<'static>> {
    let mut members = Vec::with_capacity(map.len());
    for (key, value) in map.iter() {
        let Ok(key) = key.cast::<PyString>() else {
            return Err(path.refuse(JsonReason::Unsupported, "a key that is not a string"));
        };
        let key = string(key, path)?;
        enter(path, Step::Key(key.clone()))?;
        let value = object(&value, path)?;
        path.0.pop();
        members.push((Cow::Owned(key), value));
    }
    Ok(Value::Object(members))
}

/// Goes one container deeper; also what ends a value that contains itself.
fn enter(path: &mut Path, step: Step) -> PyResult<()> {
    if path.0.len() == DEPTH_MAX {
        return Err(path.refuse(JsonReason::TooDeep, "nesting deeper than 128"));
    }
    path.0.push(step);
    Ok(())
}
