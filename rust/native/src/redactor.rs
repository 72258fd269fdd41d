//! Python bindings of redaction: texts, streams and Python JSON values.

use std::borrow::Cow;
use std::sync::{Arc, Mutex, PoisonError, RwLock};

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyString};
use reverie_core::redact::{self as rules, Fingerprint, Fingerprints, Scope, Span};

use crate::detach_if_large;
use crate::error::text;
use crate::redaction_memory::Memory;
use crate::redaction_traversal::Traversal;

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
    crate::guarded("redact", || {
        let text = crate::error::text(text)?;
        Ok(detach_if_large(py, text.len(), || {
            let redactor = rules::Redactor::new(&literals);
            let none = Fingerprints::default();
            let spans = redactor.spans_remembering(text, Scope::Content, &mut Cow::Borrowed(&none));
            let (redacted, _) = redactor.redact_remembering(text, Scope::Content, &mut Cow::Borrowed(&none));
            (redacted.into_owned(), offsets(text, &spans))
        }))
    })
}

#[pyfunction]
pub(crate) fn kinds() -> Vec<&'static str> {
    rules::kinds().to_vec()
}

#[pyfunction]
pub(crate) fn marks() -> PyResult<Vec<(&'static str, &'static str, &'static str)>> {
    crate::guarded("marks", || {
        Ok(rules::indicators().into_iter().map(|mark| (mark.kind, mark.how, mark.text)).collect())
    })
}

#[pyclass(frozen, module = "reverie._native")]
pub(crate) struct Redactor {
    pub(crate) rules: Arc<rules::Redactor>,
    memory: Memory,
}

impl Redactor {
    /// Redact a text, and remember its secrets unless this redactor never does.
    pub(crate) fn redact<'t>(
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
        crate::guarded("Redactor.new", || {
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
        })
    }

    fn text<'py>(&self, py: Python<'py>, value: &Bound<'py, PyString>) -> PyResult<Bound<'py, PyString>> {
        crate::guarded("Redactor.text", || {
            let input = text(value)?;
            let (redacted, _) = detach_if_large(py, input.len(), || {
                self.memory.remembering(|fingerprints| self.redact(input, Scope::Content, fingerprints))
            });
            Ok(match redacted {
                Cow::Borrowed(_) => value.clone(),
                Cow::Owned(redacted) => PyString::new(py, &redacted),
            })
        })
    }

    fn spans(&self, py: Python<'_>, value: &Bound<'_, PyString>) -> PyResult<Vec<SpanTuple>> {
        crate::guarded("Redactor.spans", || {
            let input = text(value)?;
            let spans = detach_if_large(py, input.len(), || match self.memory {
                Memory::Never => self.rules.spans(input, Scope::Content),
                Memory::Call(_) | Memory::Always(_) => self
                    .memory
                    .remembering(|fingerprints| self.rules.spans_remembering(input, Scope::Content, fingerprints)),
            });
            Ok(offsets(input, &spans))
        })
    }

    fn stream(&self) -> RedactedStream {
        RedactedStream(Mutex::new(Some(rules::Stream::new(Arc::clone(&self.rules)))))
    }

    #[pyo3(signature = (value, names = Vec::new()))]
    fn value<'py>(&self, value: &Bound<'py, PyAny>, names: Vec<String>) -> PyResult<(Bound<'py, PyAny>, usize)> {
        crate::guarded("Redactor.value", || {
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
        })
    }

    /// Return the key and the fingerprints, for a redactor in another process.
    fn fingerprints_as_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        crate::guarded("Redactor.fingerprints_as_bytes", || {
            Ok(PyBytes::new(py, &self.memory.fingerprints().to_bytes()))
        })
    }

    /// Return the key, and the fingerprints with a greater number than `number`.
    fn fingerprints_after(&self, number: u64) -> PyResult<([u8; rules::KEY_BYTES], Vec<FingerprintTuple>)> {
        crate::guarded("Redactor.fingerprints_after", || {
            Ok({
                let fingerprints = self.memory.fingerprints();
                let tuple =
                    |(number, of): (u64, Fingerprint)| (number, of.hash, of.length, of.prefix, of.kind.to_owned());
                (fingerprints.key(), fingerprints.after(number).into_iter().map(tuple).collect())
            })
        })
    }

    /// Add fingerprints that were made under the same key.
    fn add_fingerprints(&self, fingerprints: Vec<([u8; 16], u16, u16, String)>) -> PyResult<()> {
        crate::guarded("Redactor.add_fingerprints", || {
            self.memory.add(fingerprints.into_iter().map(|(hash, length, prefix, kind)| {
                // A kind of a newer version is not known here; the secret is one all the same.
                let known = rules::kinds().binary_search(&kind.as_str()).ok();
                Fingerprint { length, prefix, hash, kind: known.map_or("secret", |at| rules::kinds()[at]) }
            }));
            Ok(())
        })
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
        Traversal::new(self, fingerprints, names).run(value)
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
        crate::guarded("RedactedStream.feed", || {
            let piece = text(piece)?;
            let fed = py.detach(|| {
                let mut stream = self.0.lock().unwrap_or_else(PoisonError::into_inner);
                stream.as_mut().map(|stream| stream.feed(piece))
            });
            fed.ok_or_else(finished_error)
        })
    }

    fn finish(&self, py: Python<'_>) -> PyResult<String> {
        crate::guarded("RedactedStream.finish", || {
            let ended = py.detach(|| {
                let mut stream = self.0.lock().unwrap_or_else(PoisonError::into_inner);
                stream.take().map(rules::Stream::finish)
            });
            ended.ok_or_else(finished_error)
        })
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
