//! The traversal of a JSON value: every string in it is redacted in the scope that its key has.

use std::borrow::Cow;
use std::collections::HashMap;

use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyString, PyTuple};
use reverie_core::Error;
use reverie_core::error::{JsonReason, Position};
use reverie_core::redact::{self as rules, Finding, Fingerprints, ObjectKind, Scope, Taken};

use crate::error::{exception, text};
use crate::redactor::Redactor;

/// The key of the text in a block of a message.
const TEXT: &str = "text";

/// Marker that replaces the private beginning of a text.
const PRIVATE_MARKER: &str = "[REDACTED:private]";

/// Return the text of an item of a list that is a block of a message, as `{"type": "text", "text": …}` is.
fn text_of_block<'py>(item: &Bound<'py, PyAny>) -> PyResult<Option<Bound<'py, PyString>>> {
    let Ok(map) = item.cast::<PyDict>() else { return Ok(None) };
    if !map.contains("type")? {
        return Ok(None);
    }
    let Some(found) = map.get_item(TEXT)? else { return Ok(None) };
    Ok(found.cast_into::<PyString>().ok())
}

/// The state of a traversal.
pub(crate) struct Traversal<'r, 'f> {
    redactor: &'r Redactor,
    fingerprints: &'r mut Cow<'f, Fingerprints>,
    /// Keys of the outermost object whose strings are names: only the rules are applied to them.
    names: &'r [String],
    taken: Vec<Taken>,
    depth: usize,
    /// The kind of the object that encloses the current one.
    parent: ObjectKind,
    /// Number of bytes at the beginning of the next object's `text` that are private, by a mark in a block before it.
    private: usize,
}

impl<'r, 'f> Traversal<'r, 'f> {
    /// A traversal from the outermost value on.
    pub(crate) fn new(
        redactor: &'r Redactor,
        fingerprints: &'r mut Cow<'f, Fingerprints>,
        names: &'r [String],
    ) -> Self {
        Self { redactor, fingerprints, names, taken: Vec::new(), depth: 0, parent: ObjectKind::Plain, private: 0 }
    }

    /// Return the redacted copy of the outermost value and what was taken.
    pub(crate) fn run<'py>(mut self, value: &Bound<'py, PyAny>) -> PyResult<(Bound<'py, PyAny>, Vec<Taken>)> {
        let redacted = self.value(value, Some(Scope::Content))?;
        Ok((redacted.unwrap_or_else(|| value.clone()), self.taken))
    }

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
            let reason = JsonReason::TooDeep;
            return Err(exception(Error::Json { reason, what: "nesting deeper than 1024", at }));
        }
        self.depth += 1;
        let outcome = inside(self);
        self.depth -= 1;
        outcome
    }

    /// Return the copy of a name redacted by the rules alone, or None if nothing changes.
    fn name<'py>(&mut self, value: &Bound<'py, PyAny>, scope: Option<Scope>) -> PyResult<Option<Bound<'py, PyAny>>> {
        let (Ok(string), Some(scope)) = (value.cast::<PyString>(), scope) else { return self.value(value, scope) };
        let (redacted, taken) = self.redactor.rules().redact_forgetting(text(string)?, scope, self.fingerprints);
        let changed = !taken.is_empty();
        self.taken.extend(taken);
        Ok(changed.then(|| PyString::new(string.py(), &redacted).into_any()))
    }

    /// Return the redacted copy of a string, or None if nothing changes.
    fn string<'py>(&mut self, string: &Bound<'py, PyString>, scope: Scope) -> PyResult<Option<Bound<'py, PyString>>> {
        let (redacted, taken) = self.redactor.redact(text(string)?, scope, self.fingerprints);
        self.taken.extend(taken);
        Ok(match redacted {
            Cow::Borrowed(_) => None,
            Cow::Owned(redacted) => Some(PyString::new(string.py(), &redacted)),
        })
    }

    /// Return the redacted copy of a text of which so many bytes at the beginning are private.
    fn after_private<'py>(&mut self, string: &Bound<'py, PyString>, private: usize) -> PyResult<Bound<'py, PyAny>> {
        let (hidden, rest) = text(string)?.split_at(private);
        let shown = format!("{PRIVATE_MARKER}{rest}");
        let (redacted, taken) = self.redactor.redact(&shown, Scope::Content, self.fingerprints);
        let part = Finding { start: 0, end: hidden.len(), kind: rules::PRIVATE, rule: rules::PRIVATE };
        self.taken.push(Taken::of(&part, hidden, self.fingerprints));
        self.taken.extend(taken);
        Ok(PyString::new(string.py(), &redacted).into_any())
    }

    /// Return the redacted copy of a list, or None if nothing changes.
    fn list<'py>(&mut self, list: &Bound<'py, PyList>, scope: Scope) -> PyResult<Option<Bound<'py, PyList>>> {
        let mut changed: Option<Bound<'py, PyList>> = None;
        let mut is_open = false;
        for (index, item) in list.iter().enumerate() {
            if let Some(block) = text_of_block(&item)? {
                (self.private, is_open) = rules::continue_private(text(&block)?, is_open);
            }
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
        let private = std::mem::take(&mut self.private);
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
            let new = if private > 0 && name == TEXT {
                Some(self.after_private(value.cast::<PyString>()?, private)?)
            } else if is_name {
                self.name(&value, scope)?
            } else {
                self.value(&value, scope)?
            };
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
