//! Working memory that calls share, such as caches and compression contexts: one for each call at the same time.
//!
//! One per thread would multiply megabytes by the threads of a server, of which few ever compute at one moment.

use std::sync::{Mutex, PoisonError};

/// Drop the working memory that no call uses now, some megabytes for each thread that has counted or packed.
pub fn clear() {
    crate::tokens::clear_caches();
    crate::pack::clear_contexts();
}

/// Values that no call uses now, for later calls; at most `idle_max` of them, the one used last is taken first.
pub(crate) struct Pool<T> {
    idle_max: usize,
    idle: Mutex<Vec<T>>,
}

impl<T> Pool<T> {
    /// An empty pool.
    pub(crate) const fn new(idle_max: usize) -> Self {
        Self { idle_max, idle: Mutex::new(Vec::new()) }
    }

    /// Call `work` with a value that no other call uses; `make` is called where none is idle.
    ///
    /// The value of a call that panics is dropped.
    pub(crate) fn with<R>(&self, make: impl FnOnce() -> T, work: impl FnOnce(&mut T) -> R) -> R {
        let mut value = self.take().unwrap_or_else(make);
        let result = work(&mut value);
        self.put(value);
        result
    }

    /// Do as [`Self::with`] does; `None` where no value is idle and none can be made.
    pub(crate) fn try_with<R>(&self, make: impl FnOnce() -> Option<T>, work: impl FnOnce(&mut T) -> R) -> Option<R> {
        let mut value = self.take().or_else(make)?;
        let result = work(&mut value);
        self.put(value);
        Some(result)
    }

    /// Drop the idle values.
    pub(crate) fn clear(&self) {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }

    /// Return an idle value.
    fn take(&self) -> Option<T> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop()
    }

    /// Keep a value for the next call, unless enough are idle.
    fn put(&self, value: T) {
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        if idle.len() < self.idle_max {
            idle.push(value);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::Pool;

    /// Calls one after the other share one value; nested calls have values of their own, of which `idle_max` are kept.
    #[test]
    fn values_are_made_for_calls_at_the_same_time_only() {
        let pool = Pool::new(2);
        let calls = Cell::new(0);
        let make = || calls.replace(calls.get() + 1);
        for _ in 0..5 {
            pool.with(make, |_| ());
        }
        assert_eq!(calls.get(), 1);
        let nested = || pool.with(make, |one| pool.with(make, |two| pool.with(make, |three| (*one, *two, *three))));
        assert_eq!(nested(), (0, 1, 2));
        assert_eq!(calls.get(), 3);
        nested();
        assert_eq!(calls.get(), 4, "two of the three were kept");
        pool.clear();
        assert_eq!(pool.with(make, |value| *value), 4, "none was left");
        assert_eq!(pool.try_with(|| None, |_| "an idle one"), Some("an idle one"));
        assert_eq!(Pool::<u8>::new(1).try_with(|| None, |_| "one that cannot be made"), None);
    }
}
