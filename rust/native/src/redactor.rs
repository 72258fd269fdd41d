//! The compiled redactor, and its walk over a Python JSON value.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use pyo3::exceptions::PyValueError;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyString, PyTuple};
use reverie_core::Error;
use reverie_core::error::{JsonReason, Position};
use reverie_core::redact::{self as rules, ObjectKind, Scope, Span};

use crate::error::{Refused, text};
use crate::unlocked::unlocked;

/// Start, end (in characters) and kind of a replaced span.
type SpanTuple = (usize, usize, &'static str);

#[pyfunction]
#[pyo3(signature = (text, literals = Vec::new()))]
pub(crate) fn redact(
    py: Python<'_>,
    text: &Bound<'_, PyString>,
    literals: Vec<String>,
) -> PyResult<(String, Vec<SpanTuple>)> {
    let text = crate::error::text(text)?;
    Ok(unlocked(py, text.len(), || {
        let redactor = rules::Redactor::new(&literals);
        let spans = redactor.spans(text, Scope::Content);
        (redactor.redact(text, Scope::Content).0.into_owned(), offsets(text, &spans))
    }))
}

#[pyfunction]
pub(crate) fn kinds() -> Vec<&'static str> {
    rules::kinds().to_vec()
}

#[pyfunction]
pub(crate) fn marks() -> Vec<(&'static str, &'static str, &'static str)> {
    rules::indicators().into_iter().map(|mark| (mark.kind, mark.how, mark.text)).collect()
}

#[pyclass(frozen, module = "reverie._native")]
pub(crate) struct Redactor(Arc<rules::Redactor>);

#[pymethods]
impl Redactor {
    #[new]
    #[pyo3(signature = (literals = Vec::new()))]
    fn new(literals: Vec<String>) -> Self {
        Self(Arc::new(rules::Redactor::new(&literals)))
    }

    fn text<'py>(&self, py: Python<'py>, value: &Bound<'py, PyString>) -> PyResult<Bound<'py, PyString>> {
        let whole = text(value)?;
        let (redacted, _) = unlocked(py, whole.len(), || self.0.redact(whole, Scope::Content));
        Ok(match redacted {
            Cow::Borrowed(_) => value.clone(),
            Cow::Owned(redacted) => PyString::new(py, &redacted),
        })
    }

    fn spans(&self, py: Python<'_>, value: &Bound<'_, PyString>) -> PyResult<Vec<SpanTuple>> {
        let whole = text(value)?;
        Ok(unlocked(py, whole.len(), || offsets(whole, &self.0.spans(whole, Scope::Content))))
    }

    fn stream(&self) -> RedactedStream {
        RedactedStream(Mutex::new(Some(rules::Stream::new(Arc::clone(&self.0)))))
    }

    fn value<'py>(&self, value: &Bound<'py, PyAny>) -> PyResult<(Bound<'py, PyAny>, usize)> {
        let mut walk = Walk { redactor: &self.0, replaced: 0, depth: 0, around: ObjectKind::Plain };
        let redacted = walk.value(value, Some(Scope::Content))?;
        Ok((redacted.unwrap_or_else(|| value.clone()), walk.replaced))
    }
}

#[pyclass(frozen, module = "reverie._native")]
pub(crate) struct RedactedStream(Mutex<Option<rules::Stream<Arc<rules::Redactor>>>>);

#[pymethods]
impl RedactedStream {
    fn feed(&self, py: Python<'_>, piece: &Bound<'_, PyString>) -> PyResult<String> {
        let piece = text(piece)?;
        let fed = py.detach(|| {
            let mut stream = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            stream.as_mut().map(|stream| stream.feed(piece))
        });
        fed.ok_or_else(finished)
    }

    fn finish(&self, py: Python<'_>) -> PyResult<String> {
        let ended = py.detach(|| {
            let mut stream = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            stream.take().map(rules::Stream::finish)
        });
        ended.ok_or_else(finished)
    }
}

fn finished() -> PyErr {
    PyValueError::new_err("the stream has been finished")
}

/// Byte offsets as character offsets, which is how Python counts.
fn offsets(text: &str, spans: &[Span]) -> Vec<SpanTuple> {
    let (mut byte, mut character) = (0, 0);
    let mut scope = |offset: usize| {
        character += text[byte..offset].chars().count();
        byte = offset;
        character
    };
    spans.iter().map(|span| (scope(span.start), scope(span.end), span.kind)).collect()
}

struct Walk<'r> {
    redactor: &'r rules::Redactor,
    replaced: usize,
    depth: usize,
    /// The object around the one that is walked.
    around: ObjectKind,
}

impl Walk<'_> {
    /// The value that replaces this one; none if there was nothing to replace, or it is not to be looked into.
    fn value<'py>(&mut self, value: &Bound<'py, PyAny>, scope: Option<Scope>) -> PyResult<Option<Bound<'py, PyAny>>> {
        if let Ok(string) = value.cast::<PyString>() {
            let Some(scope) = scope else { return Ok(None) };
            return Ok(self.string(string, scope)?.map(Bound::into_any));
        }
        if let Ok(map) = value.cast::<PyDict>() {
            return self.nested(|walk| Ok(walk.map(map)?.map(Bound::into_any)));
        }
        if let Ok(list) = value.cast::<PyList>() {
            return self.items(list, scope);
        }
        // JSON has no tuples, but what writes JSON takes them for lists.
        if let Ok(tuple) = value.cast::<PyTuple>() {
            return self.items(&tuple.to_list(), scope);
        }
        Ok(None)
    }

    /// A list that replaces this one; its items are what its key announces.
    fn items<'py>(&mut self, list: &Bound<'py, PyList>, scope: Option<Scope>) -> PyResult<Option<Bound<'py, PyAny>>> {
        let scope = scope.filter(|scope| matches!(scope, Scope::Named(_))).unwrap_or(Scope::Content);
        self.nested(|walk| Ok(walk.list(list, scope)?.map(Bound::into_any)))
    }

    fn nested<T>(&mut self, inside: impl FnOnce(&mut Self) -> PyResult<T>) -> PyResult<T> {
        if self.depth == rules::DEPTH_MAX {
            let at = Position::Path("$".to_owned());
            let error = Error::Json { reason: JsonReason::TooDeep, what: "nesting deeper than 1024", at };
            return Err(Refused::from(error).into());
        }
        self.depth += 1;
        let result = inside(self);
        self.depth -= 1;
        result
    }

    fn string<'py>(&mut self, string: &Bound<'py, PyString>, scope: Scope) -> PyResult<Option<Bound<'py, PyString>>> {
        let (redacted, replaced) = self.redactor.redact(text(string)?, scope);
        self.replaced += replaced;
        Ok(match redacted {
            Cow::Borrowed(_) => None,
            Cow::Owned(redacted) => Some(PyString::new(string.py(), &redacted)),
        })
    }

    fn list<'py>(&mut self, list: &Bound<'py, PyList>, scope: Scope) -> PyResult<Option<Bound<'py, PyList>>> {
        let mut changed: Option<Bound<'py, PyList>> = None;
        for (index, item) in list.iter().enumerate() {
            if let Some(new) = self.value(&item, Some(scope))? {
                let copy = match changed.take() {
                    Some(copy) => copy,
                    None => list.get_slice(0, list.len()),
                };
                copy.set_item(index, new)?;
                changed = Some(copy);
            }
        }
        Ok(changed)
    }

    fn map<'py>(&mut self, map: &Bound<'py, PyDict>) -> PyResult<Option<Bound<'py, PyDict>>> {
        let object = kind_of(map)?;
        let around = std::mem::replace(&mut self.around, object);
        let mut changed: Option<Bound<'py, PyDict>> = None;
        let mut renamed = Vec::new();
        for (key, value) in map.iter() {
            let name = key.cast::<PyString>()?;
            if let Some(new) = self.string(name, Scope::Content)? {
                renamed.push((name.clone(), new));
            }
            let name = text(name)?;
            let scope = match named_beside(map, name)? {
                Some(scope) => Some(scope),
                None => rules::scope_of_key(name, object, around),
            };
            if let Some(new) = self.value(&value, scope)? {
                let copy = match changed.take() {
                    Some(copy) => copy,
                    None => map.copy()?,
                };
                copy.set_item(key, new)?;
                changed = Some(copy);
            }
        }
        self.around = around;
        if renamed.is_empty() {
            return Ok(changed);
        }
        rename(&changed.unwrap_or(map.copy()?), &renamed).map(Some)
    }
}

fn kind_of(map: &Bound<'_, PyDict>) -> PyResult<ObjectKind> {
    let Some(kind) = map.get_item(intern!(map.py(), "type"))? else { return Ok(ObjectKind::Plain) };
    kind.cast::<PyString>().map_or(Ok(ObjectKind::Plain), |kind| Ok(ObjectKind::of(text(kind)?)))
}

/// How a `value` is looked at that has its name beside it, as environments and headers are often listed.
fn named_beside(map: &Bound<'_, PyDict>, key: &str) -> PyResult<Option<Scope>> {
    let beside = match key {
        "value" => ["name", "key"],
        "Value" => ["Name", "Key"],
        _ => return Ok(None),
    };
    for key in beside {
        if let Some(name) = map.get_item(key)?
            && let Ok(name) = name.cast::<PyString>()
        {
            return Ok(Some(rules::scope_of_value(text(name)?)));
        }
    }
    Ok(None)
}

/// The map in its order under its new keys, which `renamed` has in the same order; keys that became equal are told
/// apart by a number, which goes on where the last of that name had it.
fn rename<'py>(
    map: &Bound<'py, PyDict>,
    renamed: &[(Bound<'py, PyString>, Bound<'py, PyString>)],
) -> PyResult<Bound<'py, PyDict>> {
    let fresh = PyDict::new(map.py());
    let mut renamed = renamed.iter().peekable();
    let mut numbers: HashMap<String, usize> = HashMap::new();
    for (key, value) in map.iter() {
        let new = renamed.next_if(|(old, _)| old.is(&key));
        let mut name = new.map_or(key, |(_, new)| new.clone().into_any());
        if fresh.contains(&name)? {
            let base = text(name.cast::<PyString>()?)?.to_owned();
            let number = numbers.entry(base.clone()).or_insert(1);
            while fresh.contains(&name)? {
                *number += 1;
                name = PyString::new(map.py(), &format!("{base}#{number}")).into_any();
            }
        }
        fresh.set_item(name, value)?;
    }
    Ok(fresh)
}
