//! Blocks by the keys under which they can be found.

/// Numbers under keys, in buckets by low bits of the keys: those are spread evenly, whichever keys a block has.
pub(super) struct Index {
    starts: Vec<usize>,
    entries: Vec<(u64, usize)>,
}

impl Index {
    /// An index of `(key, number)`.
    pub(super) fn of(entries: &[(u64, usize)]) -> Self {
        let buckets = entries.len().next_power_of_two();
        let mut starts = vec![0; buckets + 1];
        for (key, _) in entries {
            starts[bucket(*key, buckets)] += 1;
        }
        let mut sum = 0;
        for start in &mut starts {
            sum += *start;
            *start = sum;
        }
        // Filled from its end to its beginning, every bucket's start moves to where it is.
        let mut placed = vec![(0, 0); entries.len()];
        for entry in entries {
            let start = &mut starts[bucket(entry.0, buckets)];
            *start -= 1;
            placed[*start] = *entry;
        }
        // Whoever chose the words may have filled one bucket: it is searched, not read through.
        for bounds in starts.windows(2) {
            placed[bounds[0]..bounds[1]].sort_unstable();
        }
        Self { starts, entries: placed }
    }

    /// What is there under a key, by number.
    pub(super) fn find(&self, key: u64) -> &[(u64, usize)] {
        let number = bucket(key, self.starts.len() - 1);
        let bucket = &self.entries[self.starts[number]..self.starts[number + 1]];
        let from = bucket.partition_point(|(other, _)| *other < key);
        let length = bucket[from..].partition_point(|(other, _)| *other == key);
        &bucket[from..from + length]
    }
}

/// The bucket of a key, by bits that say nothing about its word; there is a power of two of them.
fn bucket(key: u64, buckets: usize) -> usize {
    usize::try_from((key >> 8) & (buckets as u64 - 1)).unwrap_or_default()
}
