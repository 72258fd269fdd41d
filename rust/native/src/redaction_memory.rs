//! For how long a redactor remembers what it has redacted, and the fingerprints that it has meanwhile.

use std::borrow::Cow;
use std::sync::{Arc, PoisonError, RwLock};

use reverie_core::redact::{Fingerprint, Fingerprints};

/// For how long a redactor remembers what it has redacted.
pub(crate) enum Memory {
    /// Not at all; it has a key by which values are allowed.
    Never(Arc<Fingerprints>),
    /// For one text or JSON value.
    Call(Arc<Fingerprints>),
    /// For as long as it lives.
    Always(RwLock<Arc<Fingerprints>>),
}

impl Memory {
    /// Return the fingerprints as they are now.
    pub(crate) fn fingerprints(&self) -> Arc<Fingerprints> {
        match self {
            Self::Never(none) | Self::Call(none) => Arc::clone(none),
            Self::Always(fingerprints) => Arc::clone(&fingerprints.read().unwrap_or_else(PoisonError::into_inner)),
        }
    }

    /// Call `work` with the fingerprints, and keep those that it adds.
    pub(crate) fn remembering<T>(&self, work: impl FnOnce(&mut Cow<'_, Fingerprints>) -> T) -> T {
        let before = self.fingerprints();
        let mut fingerprints = Cow::Borrowed(&*before);
        let result = work(&mut fingerprints);
        if let (Self::Always(kept), Cow::Owned(grown)) = (self, fingerprints) {
            let new = grown.after(before.last()).into_iter().map(|(_, fingerprint)| fingerprint);
            add_to(kept, new);
        }
        result
    }

    /// Add fingerprints to those that are kept.
    pub(crate) fn add(&self, fingerprints: impl Iterator<Item = Fingerprint>) {
        if let Self::Always(kept) = self {
            add_to(kept, fingerprints);
        }
    }
}

/// Add fingerprints to shared ones.
fn add_to(kept: &RwLock<Arc<Fingerprints>>, fingerprints: impl Iterator<Item = Fingerprint>) {
    let mut kept = kept.write().unwrap_or_else(PoisonError::into_inner);
    let kept = Arc::make_mut(&mut kept);
    fingerprints.for_each(|fingerprint| kept.add(fingerprint));
}
