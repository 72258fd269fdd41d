//! Python bindings of redaction: texts, streams, and the traversal of Python JSON values.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError, RwLock};

use pyo3::exceptions::PyValueError;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList, PyString, PyTuple};
use reverie_core::Error;
use reverie_core::error::{JsonReason, Position};
use reverie_core::redact::{self as rules, Fingerprint, Fingerprints, ObjectKind, Scope, Span};

use crate::detach_if_large;
use crate::error::{CoreError, text};
use crate::redaction_memory::Memory;

/// Start and end in characters, and kind, of a secret.
type SpanTuple = (usize, usize, &'static str);
/// Number, hash, length and prefix, and kind, of a fingerprint.
type FingerprintTuple = (u64, [u8; 16], u16, u16, String);

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
        let none = Fingerprints::default();
        let spans = redactor.spans_remembering(text, Scope::Content, &mut Cow::Borrowed(&none));
        let (redacted, _) = redactor.redact_remembering(text, Scope::Content, &mut Cow::Borrowed(&none));
        (redacted.into_owned(), offsets(text, &spans))
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
pub(crate) struct Redactor {
    rules: Arc<rules::Redactor>,
    memory: Memory,
}

impl Redactor {
    /// Redact a text, and remember its secrets unless this redactor never does.
    fn redact<'t>(
        &self,
        text: &'t str,
        scope: Scope,
        fingerprints: &mut Cow<'_, Fingerprints>,
    ) -> (Cow<'t, str>, usize) {
        match self.memory {
            Memory::Never => self.rules.redact(text, scope),
            Memory::Call(_) | Memory::Always(_) => self.rules.redact_remembering(text, scope, fingerprints),
        }
    }
}

#[pymethods]
impl Redactor {
    #[new]
    #[pyo3(signature = (literals = Vec::new(), *, fingerprints = None, forgets = false))]
    fn new(literals: Vec<String>, fingerprints: Option<&[u8]>, forgets: bool) -> PyResult<Self> {
        let rules = Arc::new(rules::Redactor::new(&literals));
        let memory = match fingerprints {
            _ if forgets => Memory::Never,
            None => Memory::Call(Arc::default()),
            Some(b"") => Memory::Always(RwLock::default()),
            Some(bytes) => {
                let fingerprints = Fingerprints::from_bytes(bytes).ok_or_else(fingerprints_error)?;
                Memory::Always(RwLock::new(Arc::new(fingerprints)))
            }
        };
        Ok(Self { rules, memory })
    }

    fn text<'py>(&self, py: Python<'py>, value: &Bound<'py, PyString>) -> PyResult<Bound<'py, PyString>> {
        let input = text(value)?;
        let (redacted, _) = detach_if_large(py, input.len(), || {
            self.memory.remembering(|fingerprints| self.redact(input, Scope::Content, fingerprints))
        });
        Ok(match redacted {
            Cow::Borrowed(_) => value.clone(),
            Cow::Owned(redacted) => PyString::new(py, &redacted),
        })
    }

    fn spans(&self, py: Python<'_>, value: &Bound<'_, PyString>) -> PyResult<Vec<SpanTuple>> {
        let input = text(value)?;
        let spans = detach_if_large(py, input.len(), || match self.memory {
            Memory::Never => self.rules.spans(input, Scope::Content),
            Memory::Call(_) | Memory::Always(_) => self
                .memory
                .remembering(|fingerprints| self.rules.spans_remembering(input, Scope::Content, fingerprints)),
        });
        Ok(offsets(input, &spans))
    }

    fn stream(&self) -> RedactedStream {
        RedactedStream(Mutex::new(Some(rules::Stream::new(Arc::clone(&self.rules)))))
    }

    #[pyo3(signature = (value, names = Vec::new()))]
    fn value<'py>(&self, value: &Bound<'py, PyAny>, names: Vec<String>) -> PyResult<(Bound<'py, PyAny>, usize)> {
        self.memory.remembering(|fingerprints| {
            let before = fingerprints.last();
            let (redacted, replaced) = self.traversed(value, &names, fingerprints)?;
            if fingerprints.last() == before {
                return Ok((redacted, replaced));
            }
            // What a string announced may be in those before it.
            let (redacted, again) = self.traversed(&redacted, &names, fingerprints)?;
            Ok((redacted, replaced + again))
        })
    }

    /// Return the key and the fingerprints, for a redactor in another process.
    fn fingerprints_as_bytes<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.memory.fingerprints().to_bytes())
    }

    /// Return the key, and the fingerprints with a greater number than `number`.
    fn fingerprints_after(&self, number: u64) -> ([u8; rules::KEY_BYTES], Vec<FingerprintTuple>) {
        let fingerprints = self.memory.fingerprints();
        let tuple = |(number, of): (u64, Fingerprint)| (number, of.hash, of.length, of.prefix, of.kind.to_owned());
        (fingerprints.key(), fingerprints.after(number).into_iter().map(tuple).collect())
    }

    /// Add fingerprints that were made under the same key.
    fn add_fingerprints(&self, fingerprints: Vec<([u8; 16], u16, u16, String)>) {
        self.memory.add(fingerprints.into_iter().map(|(hash, length, prefix, kind)| {
            // A kind of a newer version is not known here; the secret is one all the same.
            let known = rules::kinds().binary_search(&kind.as_str()).ok();
            Fingerprint { length, prefix, hash, kind: known.map_or("secret", |at| rules::kinds()[at]) }
        }));
    }
}

impl Redactor {
    /// Redact every string of a JSON value once.
    fn traversed<'py>(
        &self,
        value: &Bound<'py, PyAny>,
        names: &[String],
        fingerprints: &mut Cow<'_, Fingerprints>,
    ) -> PyResult<(Bound<'py, PyAny>, usize)> {
        let mut traversal =
            Traversal { redactor: self, fingerprints, names, replaced: 0, depth: 0, parent: ObjectKind::Plain };
        let redacted = traversal.value(value, Some(Scope::Content))?;
        Ok((redacted.unwrap_or_else(|| value.clone()), traversal.replaced))
    }
}

/// The error for bytes that are no fingerprints.
fn fingerprints_error() -> PyErr {
    PyValueError::new_err("these bytes are not fingerprints of this version")
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
struct Traversal<'r, 'f> {
    redactor: &'r Redactor,
    fingerprints: &'r mut Cow<'f, Fingerprints>,
    /// Keys of the outermost object whose strings are names: only the rules are applied to them.
    names: &'r [String],
    replaced: usize,
    depth: usize,
    /// The kind of the object that encloses the current one.
    parent: ObjectKind,
}

impl Traversal<'_, '_> {
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

    /// Return the copy of a name redacted by the rules alone, or None if nothing changes.
    fn name<'py>(&mut self, value: &Bound<'py, PyAny>, scope: Option<Scope>) -> PyResult<Option<Bound<'py, PyAny>>> {
        let (Ok(string), Some(scope)) = (value.cast::<PyString>(), scope) else { return self.value(value, scope) };
        let (redacted, replaced) = self.redactor.rules.redact(text(string)?, scope);
        self.replaced += replaced;
        Ok((replaced > 0).then(|| PyString::new(string.py(), &redacted).into_any()))
    }

    /// Return the redacted copy of a string, or None if nothing changes.
    fn string<'py>(&mut self, string: &Bound<'py, PyString>, scope: Scope) -> PyResult<Option<Bound<'py, PyString>>> {
        let (redacted, replaced) = self.redactor.redact(text(string)?, scope, self.fingerprints);
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
            let is_name = self.depth == 1 && self.names.iter().any(|listed| listed == name);
            let new = if is_name { self.name(&value, scope)? } else { self.value(&value, scope)? };
            if let Some(new) = new {
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
