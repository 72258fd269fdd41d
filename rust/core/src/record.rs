//! Stored records: verified by their two checksums and unpacked in one step, as nearly every read of the store needs it.
//!
//! | Bytes | Content |
//! |---|---|
//! | 0 to 15 | beginning of the SHA-256 of the key and of bytes 16 to 47 |
//! | 16 to 31 | operation and time |
//! | 32 to 47 | beginning of the SHA-256 of the bytes from 48 on |
//! | 48 and 49 | version and form |
//! | from 50 on | the body: JSON text, packed or as it is |

use std::borrow::Cow;

use sha2::{Digest, Sha256};

use crate::pack::unpack;

/// Bytes of a SHA-256 that are kept.
const HASH: usize = 16;
/// Where the checksum of the sealed value begins.
const SEAL: usize = HASH + 16;
/// Where version and form begin.
const HEAD: usize = SEAL + HASH;
/// Version and form of a body that is JSON text, and of one that is packed.
const INLINE: [u8; 2] = [1, 0];
const PACKED: [u8; 2] = [1, 3];

/// Return the JSON text in the record under `key`; None where a checksum does not fit, the body is of another form or
/// elsewhere, or has more than `limit` bytes.
#[must_use]
pub fn body<'r>(key: &[u8], record: &'r [u8], limit: usize) -> Option<Cow<'r, [u8]>> {
    let (bound, sealed) = (record.get(HASH..HEAD)?, record.get(HEAD..)?);
    let (head, body) = sealed.split_first_chunk()?;
    let of_record = Sha256::new().chain_update(key).chain_update(bound).finalize();
    let of_seal = Sha256::digest(sealed);
    if of_record[..HASH] != record[..HASH] || of_seal[..HASH] != record[SEAL..HEAD] {
        return None;
    }
    match *head {
        INLINE => Some(Cow::Borrowed(body)).filter(|body| body.len() <= limit),
        PACKED => unpack(body, limit).map(Cow::Owned),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use std::borrow::Cow;

    use proptest::prelude::*;
    use sha2::{Digest, Sha256};

    use super::{HASH, HEAD, INLINE, PACKED, body};
    use crate::pack::pack;

    const LIMIT: usize = 1 << 24;

    /// A record as the store writes it.
    fn record(key: &[u8], head: [u8; 2], content: &[u8]) -> Vec<u8> {
        let sealed = [&head, content].concat();
        let bound = [&[7; 16], &Sha256::digest(&sealed)[..HASH]].concat();
        let checksum = Sha256::new().chain_update(key).chain_update(&bound).finalize();
        [&checksum[..HASH], &bound, &sealed].concat()
    }

    proptest! {
        /// A body comes out under its own key alone, and no record with another byte is read.
        #[test]
        fn only_what_was_written_comes_out(
            key in proptest::collection::vec(any::<u8>(), 1..40),
            text in proptest::collection::vec(any::<u8>(), 0..300),
            (at, bit) in (any::<prop::sample::Index>(), 0..8_u32),
        ) {
            for (head, content) in [(INLINE, text.clone()), (PACKED, pack(&text).unwrap_or_default())] {
                let whole = record(&key, head, &content);
                prop_assert_eq!(body(&key, &whole, LIMIT), Some(Cow::from(&text)));
                prop_assert_eq!(body(&key, &whole, text.len().saturating_sub(1)).is_none(), !text.is_empty());
                prop_assert_eq!(body(&key[1..], &whole, LIMIT), None);
                let mut damaged = whole.clone();
                damaged[at.index(whole.len())] ^= 1_u8 << bit;
                prop_assert_eq!(body(&key, &damaged, LIMIT), None);
                prop_assert_eq!(body(&key, &whole[..at.index(whole.len())], LIMIT), None);
            }
        }
    }

    /// Bodies of other forms and versions are left to readers that know them.
    #[test]
    fn other_forms_are_not_read() {
        for head in [[1, 1], [1, 2], [1, 4], [1, 9], [0, 0], [2, 3]] {
            assert_eq!(body(b"key", &record(b"key", head, b"{}"), LIMIT), None);
        }
        assert_eq!(body(b"", &[0; HEAD], LIMIT), None);
    }
}
