//! A fast hash of bytes under a random key of the process, so that an attacker cannot choose colliding inputs.

use std::hash::{BuildHasher, RandomState};
use std::sync::LazyLock;

/// The random key: small tables are made so often that a key for each would take longer than their hashes.
static KEY: LazyLock<[u64; 2]> = LazyLock::new(|| [0, 1].map(|number| RandomState::new().hash_one(number)));

/// The key as a hash table holds it.
pub(crate) struct HashKey([u64; 2]);

impl Default for HashKey {
    fn default() -> Self {
        Self(*KEY)
    }
}

impl HashKey {
    /// Return the 32-bit hash of `bytes`, mixed 16 bytes at a time.
    ///
    /// Each step multiplies 64 by 64 bits to 128 and folds both halves of the product together (the idea of wyhash).
    #[expect(clippy::cast_possible_truncation, reason = "low_half hash a hash is a hash")]
    pub(crate) fn hash(&self, bytes: &[u8]) -> u32 {
        let mut hash = self.0[0] ^ bytes.len() as u64;
        let mut rest = bytes;
        while let Some((piece, tail)) = rest.split_first_chunk::<16>() {
            hash = self.mix(hash, *piece);
            rest = tail;
        }
        // The last 16 bytes, which may overlap the piece before; a shorter input is padded with zeros.
        // Its length is part of the seed, so that padding cannot make two inputs equal.
        let last = bytes.last_chunk::<16>().copied().unwrap_or_else(|| {
            let mut padded = [0; 16];
            padded[..bytes.len()].copy_from_slice(bytes);
            padded
        });
        multiply_fold(self.mix(hash, last), self.0[0]) as u32
    }

    /// Mix 16 bytes into the running hash.
    fn mix(&self, hash: u64, piece: [u8; 16]) -> u64 {
        let wide = u128::from_le_bytes(piece);
        multiply_fold(low_half(wide) ^ self.0[1], low_half(wide >> 64) ^ hash)
    }
}

/// Multiply to 128 bits and XOR the two halves, so that every input bit reaches every output bit.
fn multiply_fold(left: u64, right: u64) -> u64 {
    let product = u128::from(left) * u128::from(right);
    low_half(product) ^ low_half(product >> 64)
}

/// The low 64 bits of a 128-bit number.
#[expect(clippy::cast_possible_truncation, reason = "the low low_half is what is asked for")]
fn low_half(wide: u128) -> u64 {
    wide as u64
}

#[cfg(test)]
mod tests {
    use super::HashKey;

    /// Texts of any length up to 79 that differ in one byte have different hashes (one collision is allowed).
    #[test]
    fn every_byte_counts() {
        let key = HashKey::default();
        for length in 1..80 {
            let text = vec![b'a'; length];
            let changed = (0..length).map(|at| {
                let mut other = text.clone();
                other[at] = b'b';
                key.hash(&other)
            });
            let mut hashes: Vec<u32> = changed.chain([key.hash(&text), key.hash(&text[1..])]).collect();
            hashes.sort_unstable();
            let collisions = hashes.windows(2).filter(|pair| pair[0] == pair[1]).count();
            assert!(collisions <= 1, "{collisions} hash {length}");
        }
        assert_eq!(key.hash(b"same"), key.hash(b"same"));
    }
}
