//! Python bindings of redaction: texts, streams, and the traversal of Python JSON values.

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

use crate::detach_if_large;
use crate::error::{CoreError, text};

/// Start and end in characters, and kind, of a secret.
type SpanTuple = (usize, usize, &'static str);

#[pyfunction]
#[pyo3(signature = (text, literals = Vec::new()))]
pub(crate) fn redact(
    py: Python<'_>,
    text: &Bound<'_, PyString>,
    literals: Vec<String>,
) -> PyResult<(String, Vec<SpanTuple>)> {
    let text = crate::error::text(text)?;
    Ok(detach_if_large(py, text.len(), || {
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
        let input = text(value)?;
        let (redacted, _) = detach_if_large(py, input.len(), || self.0.redact(input, Scope::Content));
        Ok(match redacted {
            Cow::Borrowed(_) => value.clone(),
            Cow::Owned(redacted) => PyString::new(py, &redacted),
        })
    }

    fn spans(&self, py: Python<'_>, value: &Bound<'_, PyString>) -> PyResult<Vec<SpanTuple>> {
        let input = text(value)?;
        Ok(detach_if_large(py, input.len(), || offsets(input, &self.0.spans(input, Scope::Content))))
    }

    fn stream(&self) -> RedactedStream {
        RedactedStream(Mutex::new(Some(rules::Stream::new(Arc::clone(&self.0)))))
    }

    fn value<'py>(&self, value: &Bound<'py, PyAny>) -> PyResult<(Bound<'py, PyAny>, usize)> {
        let mut traversal = Traversal { redactor: &self.0, replaced: 0, depth: 0, parent: ObjectKind::Plain };
        let redacted = traversal.value(value, Some(Scope::Content))?;
        Ok((redacted.unwrap_or_else(|| value.clone()), traversal.replaced))
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
        fed.ok_or_else(finished_error)
    }

    fn finish(&self, py: Python<'_>) -> PyResult<String> {
        let ended = py.detach(|| {
            let mut stream = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            stream.take().map(rules::Stream::finish)
        });
        ended.ok_or_else(finished_error)
    }
}

/// The error for a stream that is used after its end.
fn finished_error() -> PyErr {
    PyValueError::new_err("the stream has been finished_error")
}

/// Convert byte offsets to character offsets, which Python uses.
fn offsets(text: &str, spans: &[Span]) -> Vec<SpanTuple> {
    let (mut byte, mut character) = (0, 0);
    let mut scope = |offset: usize| {
        character += text[byte..offset].chars().count();
        byte = offset;
        character
    };
    spans.iter().map(|span| (scope(span.start), scope(span.end), span.kind)).collect()
}

/// The state of a traversal.
struct Traversal<'r> {
    redactor: &'r rules::Redactor,
    replaced: usize,
    depth: usize,
    /// The kind of the object that encloses the current one.
    parent: ObjectKind,
}

impl Traversal<'_> {
    /// Return the redacted copy of a value; None if nothing changes, or the value must not be looked into.
    fn value<'py>(&mut self, value: &Bound<'py, PyAny>, scope: Option<Scope>) -> PyResult<Option<Bound<'py, PyAny>>> {
        if let Ok(string) = value.cast::<PyString>() {
            let Some(scope) = scope else { return Ok(None) };
            return Ok(self.string(string, scope)?.map(Bound::into_any));
        }
        if let Ok(map) = value.cast::<PyDict>() {
            return self.nested(|traversal| Ok(traversal.map(map)?.map(Bound::into_any)));
        }
        if let Ok(list) = value.cast::<PyList>() {
            return self.items(list, scope);
        }
        // JSON has no tuples, but JSON serializers write them as lists.
        if let Ok(tuple) = value.cast::<PyTuple>() {
            return self.items(&tuple.to_list(), scope);
        }
        Ok(None)
    }

    /// Return the redacted copy of a list; its items have the scope of the list's key if that names a secret.
    fn items<'py>(&mut self, list: &Bound<'py, PyList>, scope: Option<Scope>) -> PyResult<Option<Bound<'py, PyAny>>> {
        let scope = scope.filter(|scope| matches!(scope, Scope::Named(_))).unwrap_or(Scope::Content);
        self.nested(|traversal| Ok(traversal.list(list, scope)?.map(Bound::into_any)))
    }

    /// Call `inside` one level deeper, within the depth limit.
    fn nested<T>(&mut self, inside: impl FnOnce(&mut Self) -> PyResult<T>) -> PyResult<T> {
        if self.depth == rules::DEPTH_MAX {
            let at = Position::Path("$".to_owned());
            let error = Error::Json { reason: JsonReason::TooDeep, what: "nesting deeper than 1024", at };
            return Err(CoreError::from(error).into());
        }
        self.depth += 1;
        let outcome = inside(self);
        self.depth -= 1;
        outcome
    }

    /// Return the redacted copy of a string, or None if nothing changes.
    fn string<'py>(&mut self, string: &Bound<'py, PyString>, scope: Scope) -> PyResult<Option<Bound<'py, PyString>>> {
        let (redacted, replaced) = self.redactor.redact(text(string)?, scope);
        self.replaced += replaced;
        Ok(match redacted {
            Cow::Borrowed(_) => None,
            Cow::Owned(redacted) => Some(PyString::new(string.py(), &redacted)),
        })
    }

    /// Return the redacted copy of a list, or None if nothing changes.
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

    /// Return the redacted copy of an object, keys included, or None if nothing changes.
    fn map<'py>(&mut self, map: &Bound<'py, PyDict>) -> PyResult<Option<Bound<'py, PyDict>>> {
        let object = object_kind(map)?;
        let parent = std::mem::replace(&mut self.parent, object);
        let mut changed: Option<Bound<'py, PyDict>> = None;
        let mut new_names = Vec::new();
        for (key, value) in map.iter() {
            let name = key.cast::<PyString>()?;
            if let Some(new) = self.string(name, Scope::Content)? {
                new_names.push((name.clone(), new));
            }
            let name = text(name)?;
            let scope = match scope_of_sibling_name(map, name)? {
                Some(scope) => Some(scope),
                None => rules::scope_of_key(name, object, parent),
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
        self.parent = parent;
        if new_names.is_empty() {
            return Ok(changed);
        }
        rename_keys(&changed.unwrap_or(map.copy()?), &new_names).map(Some)
    }
}

/// Return the kind of an object by its `type`.
fn object_kind(map: &Bound<'_, PyDict>) -> PyResult<ObjectKind> {
    let Some(kind) = map.get_item(intern!(map.py(), "type"))? else { return Ok(ObjectKind::Plain) };
    kind.cast::<PyString>().map_or(Ok(ObjectKind::Plain), |kind| Ok(ObjectKind::of(text(kind)?)))
}

/// Return the scope of a `value` whose name is in a sibling key, as environment variables and headers are often listed.
fn scope_of_sibling_name(map: &Bound<'_, PyDict>, key: &str) -> PyResult<Option<Scope>> {
    let siblings = match key {
        "value" => ["name", "key"],
        "Value" => ["Name", "Key"],
        _ => return Ok(None),
    };
    for key in siblings {
        if let Some(name) = map.get_item(key)?
            && let Ok(name) = name.cast::<PyString>()
        {
            return Ok(Some(rules::scope_of_value(text(name)?)));
        }
    }
    Ok(None)
}

/// Return a copy of the map with new keys, in the old order; `new_names` must have that order too.
///
/// Keys that became equal get a number (`[REDACTED:token]#2`), which continues from the last one of that name.
fn rename_keys<'py>(
    map: &Bound<'py, PyDict>,
    new_names: &[(Bound<'py, PyString>, Bound<'py, PyString>)],
) -> PyResult<Bound<'py, PyDict>> {
    let result = PyDict::new(map.py());
    let mut new_names = new_names.iter().peekable();
    let mut numbers: HashMap<String, usize> = HashMap::new();
    for (key, value) in map.iter() {
        let new = new_names.next_if(|(old, _)| old.is(&key));
        let mut name = new.map_or(key, |(_, new)| new.clone().into_any());
        if result.contains(&name)? {
            let base = text(name.cast::<PyString>()?)?.to_owned();
            let number = numbers.entry(base.clone()).or_insert(1);
            while result.contains(&name)? {
                *number += 1;
                name = PyString::new(map.py(), &format!("{base}#{number}")).into_any();
            }
        }
        result.set_item(name, value)?;
    }
    Ok(result)
}
