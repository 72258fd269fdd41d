//! A quick hash of bytes, under a key of its own for every table, so that nobody can choose texts that meet in one.

use std::hash::{BuildHasher, RandomState};

/// What a table hashes with. The same bytes have the same hash under one key, and another under any other.
pub(crate) struct Key([u64; 2]);

impl Default for Key {
    fn default() -> Self {
        let random = RandomState::new();
        Self([random.hash_one(0), random.hash_one(1)])
    }
}

impl Key {
    /// The hash of the bytes: of 16 at a time, by the halves of a product of 128 bits.
    #[expect(clippy::cast_possible_truncation, reason = "half of a hash is a hash")]
    pub(crate) fn of(&self, bytes: &[u8]) -> u32 {
        let mut hash = self.0[0] ^ bytes.len() as u64;
        let mut rest = bytes;
        while let Some((piece, tail)) = rest.split_first_chunk::<16>() {
            hash = self.step(hash, *piece);
            rest = tail;
        }
        // The last bytes, some of them for the second time; of a shorter text, with zeros behind them.
        let last = bytes.last_chunk::<16>().copied().unwrap_or_else(|| {
            let mut padded = [0; 16];
            padded[..bytes.len()].copy_from_slice(bytes);
            padded
        });
        folded(self.step(hash, last), self.0[0]) as u32
    }

    fn step(&self, hash: u64, piece: [u8; 16]) -> u64 {
        let wide = u128::from_le_bytes(piece);
        folded(half(wide) ^ self.0[1], half(wide >> 64) ^ hash)
    }
}

fn folded(left: u64, right: u64) -> u64 {
    let product = u128::from(left) * u128::from(right);
    half(product) ^ half(product >> 64)
}

#[expect(clippy::cast_possible_truncation, reason = "the low half is what is asked for")]
fn half(wide: u128) -> u64 {
    wide as u64
}

#[cfg(test)]
mod tests {
    use super::Key;

    /// Texts of every length that differ in one byte have different hashes, as far as 32 bits can tell them apart.
    #[test]
    fn every_byte_counts() {
        let key = Key::default();
        for length in 1..80 {
            let text = vec![b'a'; length];
            let differing = (0..length).map(|at| {
                let mut other = text.clone();
                other[at] = b'b';
                key.of(&other)
            });
            let mut hashes: Vec<u32> = differing.chain([key.of(&text), key.of(&text[1..])]).collect();
            hashes.sort_unstable();
            let met = hashes.windows(2).filter(|pair| pair[0] == pair[1]).count();
            assert!(met <= 1, "{met} of {length}");
        }
        assert_eq!(key.of(b"same"), key.of(b"same"));
    }
}
