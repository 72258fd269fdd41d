//! Python bindings of redaction: texts and Python JSON values.

use std::borrow::Cow;
use std::sync::{Arc, PoisonError, RwLock};

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyString;
use reverie_core::redact::{self as rules, Allow, Finding, Fingerprint, Fingerprints, Scope, Taken};

use crate::call;
use crate::error::text;
use crate::redaction_memory::Memory;
use crate::redaction_traversal::Traversal;

/// Start and end in characters, and kind, of a secret.
type SpanTuple = (usize, usize, &'static str);
/// Start and end in characters, kind, rule and shape of a secret, and the keyed hash of its value.
type FindingTuple = (usize, usize, &'static str, &'static str, String, [u8; rules::HASH_BYTES]);
/// Rule, kind, shape and keyed hash of a value that was replaced.
type TakenTuple = (&'static str, &'static str, String, [u8; rules::HASH_BYTES]);
/// Number, hash, length and prefix, and kind, of a fingerprint.
type FingerprintTuple = (u64, [u8; 16], u16, u16, &'static str);

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

#[pyfunction]
pub(crate) fn rule_names() -> Vec<&'static str> {
    rules::rule_names()
}

#[pyclass(frozen, module = "reverie._native")]
pub(crate) struct Redactor {
    rules: RwLock<Arc<rules::Redactor>>,
    memory: Memory,
}

impl Redactor {
    /// Redact a text, return what was taken, and remember it unless this redactor never does.
    pub(crate) fn redact<'t>(
        &self,
        text: &'t str,
        scope: Scope,
        fingerprints: &mut Cow<'_, Fingerprints>,
    ) -> (Cow<'t, str>, Vec<Taken>) {
        let rules = self.rules();
        match self.memory {
            Memory::Never(_) => rules.redact_forgetting(text, scope, fingerprints),
            Memory::Call(_) | Memory::Always(_) => rules.redact_remembering(text, scope, fingerprints),
        }
    }

    /// Return the rules as they are now.
    pub(crate) fn rules(&self) -> Arc<rules::Redactor> {
        Arc::clone(&self.rules.read().unwrap_or_else(PoisonError::into_inner))
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
                None | Some(b"") if forgets => Memory::Never(Arc::default()),
                None => Memory::Call(Arc::default()),
                Some(b"") => Memory::Always(RwLock::default()),
                Some(bytes) => {
                    let error = || PyValueError::new_err("these bytes are not fingerprints of this version");
                    let fingerprints = Fingerprints::from_bytes(bytes).ok_or_else(error)?;
                    if forgets {
                        Memory::Never(Arc::new(Fingerprints::new(fingerprints.key())))
                    } else {
                        Memory::Always(RwLock::new(Arc::new(fingerprints)))
                    }
                }
            };
            Ok(Self { rules: RwLock::new(rules), memory })
        })
    }

    fn text<'py>(&self, py: Python<'py>, value: &Bound<'py, PyString>) -> PyResult<Bound<'py, PyString>> {
        let input = text(value)?;
        let (redacted, _) = call("Redactor.text", py, input.len(), || {
            self.memory.remembering(|fingerprints| self.redact(input, Scope::Content, fingerprints))
        })?;
        Ok(match redacted {
            Cow::Borrowed(_) => value.clone(),
            Cow::Owned(redacted) => PyString::new(py, &redacted),
        })
    }

    fn findings(&self, py: Python<'_>, value: &Bound<'_, PyString>) -> PyResult<Vec<FindingTuple>> {
        let input = text(value)?;
        call("Redactor.findings", py, input.len(), || {
            let found = self.found(input);
            let fingerprints = self.memory.fingerprints();
            let taken = found.iter().map(|found| Taken::of(found, input, &fingerprints));
            let places = offsets(input, &found).into_iter().zip(taken);
            places.map(|((start, end, kind), of)| (start, end, kind, of.rule, of.shape, of.hash)).collect()
        })
    }

    fn spans(&self, py: Python<'_>, value: &Bound<'_, PyString>) -> PyResult<Vec<SpanTuple>> {
        let input = text(value)?;
        call("Redactor.spans", py, input.len(), || offsets(input, &self.found(input)))
    }

    /// Leave from now on what rules switched off find, and values: as such, by patterns, or by their keyed hashes.
    fn allow(&self, rules: Vec<String>, values: Vec<String>, hashes: Vec<[u8; rules::HASH_BYTES]>) -> PyResult<()> {
        crate::guarded("Redactor.allow", || {
            let allow = Allow::new(rules, values, hashes, self.memory.fingerprints().key());
            let changed = Arc::new(self.rules().with_allow(allow));
            *self.rules.write().unwrap_or_else(PoisonError::into_inner) = changed;
            Ok(())
        })
    }

    #[pyo3(signature = (value, names = Vec::new()))]
    fn value<'py>(
        &self,
        value: &Bound<'py, PyAny>,
        names: Vec<String>,
    ) -> PyResult<(Bound<'py, PyAny>, Vec<TakenTuple>)> {
        crate::guarded("Redactor.value", || {
            self.memory.remembering(|fingerprints| {
                let before = fingerprints.last();
                let (mut redacted, mut taken) = Traversal::new(self, fingerprints, &names).run(value)?;
                if fingerprints.last() > before {
                    // What a string announced may be in those before it.
                    let again;
                    (redacted, again) = Traversal::new(self, fingerprints, &names).run(&redacted)?;
                    taken.extend(again);
                }
                Ok((redacted, taken.into_iter().map(|of| (of.rule, of.kind, of.shape, of.hash)).collect()))
            })
        })
    }

    /// Return the key and the fingerprints, for a redactor in another process.
    fn fingerprints_as_bytes(&self) -> PyResult<Cow<'static, [u8]>> {
        crate::guarded("Redactor.fingerprints_as_bytes", || Ok(Cow::Owned(self.memory.fingerprints().to_bytes())))
    }

    /// Return the key, and the fingerprints with a greater number than `number`.
    fn fingerprints_after(&self, number: u64) -> PyResult<([u8; rules::KEY_BYTES], Vec<FingerprintTuple>)> {
        crate::guarded("Redactor.fingerprints_after", || {
            let fingerprints = self.memory.fingerprints();
            let tuple = |(number, of): (u64, Fingerprint)| (number, of.hash, of.length, of.prefix, of.kind);
            Ok((fingerprints.key(), fingerprints.after(number).into_iter().map(tuple).collect()))
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
    /// Return the secrets of a text, and remember them unless this redactor never does.
    fn found(&self, text: &str) -> Vec<Finding> {
        match self.memory {
            Memory::Never(_) => self.rules().spans(text, Scope::Content),
            Memory::Call(_) | Memory::Always(_) => self
                .memory
                .remembering(|fingerprints| self.rules().spans_remembering(text, Scope::Content, fingerprints)),
        }
    }
}

/// Convert byte offsets to character offsets, which Python uses.
fn offsets(text: &str, spans: &[Finding]) -> Vec<SpanTuple> {
    let (mut byte, mut character) = (0, 0);
    let mut scope = |offset: usize| {
        character += text[byte..offset].chars().count();
        byte = offset;
        character
    };
    spans.iter().map(|span| (scope(span.start), scope(span.end), span.kind)).collect()
}
