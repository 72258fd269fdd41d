//! Hints that memory will be read soon, so that the waits for it overlap with other work.

#[cfg(target_arch = "x86_64")]
pub(crate) use crate::tokens::vectors::announce;

/// No hint.
#[cfg(not(target_arch = "x86_64"))]
#[inline]
pub(crate) fn announce<T>(_place: &T) {}
