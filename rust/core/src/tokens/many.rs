//! Counts large batches of texts on all processors.

use std::sync::{Mutex, PoisonError};
use std::thread::{Builder, available_parallelism, scope};

use crate::tokens::Encoding;
use crate::tokens::memo::Memo;

/// Each thread gets at least this many bytes: starting one takes as long as counting a few thousand.
const SHARE: usize = 256 * 1024;

/// More threads than this would wait for each other's memory.
const THREADS: usize = 8;

/// What threads that have ended remembered, for those to come; never more than [`THREADS`].
pub(crate) struct Spare(Mutex<Vec<Memo>>);

impl Spare {
    pub(crate) const fn new() -> Self {
        Self(Mutex::new(Vec::new()))
    }

    /// Gives `work` a memo that no other thread has.
    fn lend<T>(&self, work: impl FnOnce(&mut Memo) -> T) -> T {
        let spare = || self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let known = spare().pop();
        let mut memo = known.unwrap_or_else(Memo::new);
        let done = work(&mut memo);
        let mut spare = spare();
        if spare.len() < THREADS {
            spare.push(memo);
        }
        done
    }
}

/// Tokens of each text, in order.
pub(crate) fn count<T: AsRef<str> + Sync>(texts: &[T], encoding: &Encoding, spare: &Spare) -> Vec<usize> {
    let here = |texts: &[T]| texts.iter().map(|text| encoding.count(text.as_ref())).collect::<Vec<_>>();
    let shares = shares(texts, available_parallelism().map_or(1, usize::from).min(THREADS));
    let Some((first, others)) = shares.split_first().filter(|(_, others)| !others.is_empty()) else {
        return here(texts);
    };
    scope(|scope| {
        let work = |texts: &[T]| {
            spare.lend(|memo| texts.iter().map(|text| encoding.count_with(text.as_ref(), memo)).collect::<Vec<_>>())
        };
        let started = others.iter().map(|share| (*share, Builder::new().spawn_scoped(scope, move || work(share)).ok()));
        let started: Vec<_> = started.collect();
        let mut counts = here(first);
        for (share, thread) in started {
            // What no thread could be had for is done here.
            counts.extend(thread.and_then(|thread| thread.join().ok()).unwrap_or_else(|| here(share)));
        }
        counts
    })
}

/// The texts in at most `count` parts of about the same size.
fn shares<T: AsRef<str>>(texts: &[T], count: usize) -> Vec<&[T]> {
    let total: usize = texts.iter().map(|text| text.as_ref().len()).sum();
    let size = (total / count.max(1)).max(SHARE);
    let (mut shares, mut start, mut held) = (Vec::new(), 0, 0);
    for (end, text) in (1..).zip(texts) {
        held += text.as_ref().len();
        if held >= size && shares.len() + 1 < count {
            shares.push(&texts[start..end]);
            (start, held) = (end, 0);
        }
    }
    if start < texts.len() {
        shares.push(&texts[start..]);
    }
    shares
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every text is in one share, in order, and small batches are not shared out.
    #[test]
    fn texts_are_shared_out_in_order() {
        let large = vec!["x".repeat(100_000); 40];
        for count in 1..=9 {
            let shares = shares(&large, count);
            assert!(shares.len() <= count && (shares.len() > 1 || count == 1));
            assert_eq!(shares.concat(), large);
        }
        assert_eq!(shares(&large[..2], 8).len(), 1);
        assert_eq!(shares::<String>(&[], 8).len(), 0);
    }

    /// Threads count as one does, again and again.
    #[test]
    fn threads_count_as_one_does() {
        static SPARE: Spare = Spare::new();
        let encoding = Encoding::named("cl100k_base").unwrap();
        let texts: Vec<String> = (0..400).map(|number| format!("text {number} in many words; ").repeat(90)).collect();
        let alone: Vec<usize> = texts.iter().map(|text| encoding.count(text)).collect();
        for _ in 0..2 {
            assert_eq!(count(&texts, &encoding, &SPARE), alone);
        }
    }
}
