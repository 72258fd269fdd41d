//! Token counts of large batches of texts on all processors.

use std::thread::{Builder, available_parallelism, scope};

use crate::tokens::Encoding;
use crate::tokens::count_cache::CountCache;

/// Bytes that each thread gets at least: starting a thread takes as long as counting a few thousand bytes.
const CHUNK_BYTES_MIN: usize = 256 * 1024;

/// Threads at most; more would compete for memory bandwidth.
pub(crate) const THREADS_MAX: usize = 8;

/// Count the tokens of each text, in order.
pub(crate) fn count<T: AsRef<str> + Sync>(texts: &[T], encoding: &Encoding) -> Vec<usize> {
    let count_here = |texts: &[T]| texts.iter().map(|text| encoding.count(text.as_ref())).collect::<Vec<_>>();
    let chunks = chunks(texts, available_parallelism().map_or(1, usize::from).min(THREADS_MAX));
    let Some((first, others)) = chunks.split_first().filter(|(_, others)| !others.is_empty()) else {
        return count_here(texts);
    };
    scope(|scope| {
        let work = |texts: &[T]| {
            encoding.caches.with(CountCache::new, |cache| {
                texts.iter().map(|text| encoding.count_with(text.as_ref(), cache)).collect::<Vec<_>>()
            })
        };
        let threads = others.iter().map(|chunk| (*chunk, Builder::new().spawn_scoped(scope, move || work(chunk)).ok()));
        let threads: Vec<_> = threads.collect();
        let mut counts = count_here(first);
        for (chunk, thread) in threads {
            // If a thread could not be started, its texts are counted here.
            counts.extend(thread.and_then(|thread| thread.join().ok()).unwrap_or_else(|| count_here(chunk)));
        }
        counts
    })
}

/// Divide the texts into at most `count` consecutive chunks of about the same size in bytes.
fn chunks<T: AsRef<str>>(texts: &[T], count: usize) -> Vec<&[T]> {
    let total: usize = texts.iter().map(|text| text.as_ref().len()).sum();
    let size = (total / count.max(1)).max(CHUNK_BYTES_MIN);
    let (mut chunks, mut start, mut chunk_bytes) = (Vec::new(), 0, 0);
    for (end, text) in (1..).zip(texts) {
        chunk_bytes += text.as_ref().len();
        if chunk_bytes >= size && chunks.len() + 1 < count {
            chunks.push(&texts[start..end]);
            (start, chunk_bytes) = (end, 0);
        }
    }
    if start < texts.len() {
        chunks.push(&texts[start..]);
    }
    chunks
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every text is in one chunk, in order, and small batches are not divided.
    #[test]
    fn texts_are_shared_out_in_order() {
        let large = vec!["x".repeat(100_000); 40];
        for count in 1..=9 {
            let chunks = chunks(&large, count);
            assert!(chunks.len() <= count && (chunks.len() > 1 || count == 1));
            assert_eq!(chunks.concat(), large);
        }
        assert_eq!(chunks(&large[..2], 8).len(), 1);
        assert_eq!(chunks::<String>(&[], 8).len(), 0);
    }

    /// Several threads count like one, with new and with reused caches.
    #[test]
    fn threads_count_as_one_does() {
        let encoding = Encoding::named("cl100k_base").unwrap();
        let texts: Vec<String> = (0..400).map(|number| format!("text {number} in many words; ").repeat(90)).collect();
        let expected: Vec<usize> = texts.iter().map(|text| encoding.count(text)).collect();
        for _ in 0..2 {
            assert_eq!(count(&texts, &encoding), expected);
        }
    }
}
