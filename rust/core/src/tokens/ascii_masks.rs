//! Character classes of 64 bytes at once, as bit masks with one bit per byte: the ASCII splitter's input.

#[cfg(target_arch = "x86_64")]
use crate::tokens::simd::masks_of_16;

/// Bytes in a window: one per bit of a `u64`.
pub(crate) const WIDTH: usize = 64;

/// One bit for each of up to 64 bytes; a non-ASCII byte is in `non_ascii` and may be in any other set, too.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct ByteMasks {
    pub(crate) non_ascii: u64,
    pub(crate) letter: u64,
    /// Bytes with the bit that distinguishes lower from upper case; meaningful for letters only.
    pub(crate) lower: u64,
    pub(crate) digit: u64,
    /// White space, newlines included.
    pub(crate) white: u64,
    /// `\r` and `\n`
    pub(crate) newline: u64,
    pub(crate) blank: u64,
    pub(crate) slash: u64,
    pub(crate) apostrophe: u64,
}

impl ByteMasks {
    /// Classify every byte.
    #[inline]
    pub(crate) fn of(bytes: &[u8; WIDTH]) -> Self {
        let (chunks, _) = bytes.as_chunks::<16>();
        let mut masks = Self::default();
        for (at, chunk) in (0_u32..).step_by(16).zip(chunks) {
            let part = masks_of_16(*chunk);
            masks.non_ascii |= part.non_ascii << at;
            masks.letter |= part.letter << at;
            masks.lower |= part.lower << at;
            masks.digit |= part.digit << at;
            masks.white |= part.white << at;
            masks.newline |= part.newline << at;
            masks.blank |= part.blank << at;
            masks.slash |= part.slash << at;
            masks.apostrophe |= part.apostrophe << at;
        }
        masks
    }
}

#[cfg(not(target_arch = "x86_64"))]
#[inline]
fn masks_of_16(bytes: [u8; 16]) -> ByteMasks {
    portable(bytes)
}

/// Classify 16 bytes, eight at a time in ordinary words (SIMD within a register).
#[cfg(any(test, not(target_arch = "x86_64")))]
fn portable(bytes: [u8; 16]) -> ByteMasks {
    const ONES: u64 = 0x0101_0101_0101_0101;
    const HIGH: u64 = 0x80 * ONES;
    /// Collect the top bit of each byte.
    fn bits(lanes: u64) -> u64 {
        ((lanes & HIGH) >> 7).wrapping_mul(0x0102_0408_1020_4080) >> 56
    }
    let (low, high) = super::piece_key::halves(bytes);
    let both = |lanes: &dyn Fn(u64) -> u64| bits(lanes(low)) | (bits(lanes(high)) << 8);
    // For the lower seven bits of each byte: whether they are at least `first`, as the top bit.
    let at_least = |word: u64, first: u8| (word & !HIGH) + ONES * u64::from(0x80 - first);
    let range = |word: u64, first: u8, count: u8| at_least(word, first) & !at_least(word, first + count) & !word;
    let equal = |byte: u8| both(&move |word| range(word, byte, 1));
    let blank = equal(b' ');
    ByteMasks {
        non_ascii: both(&|word| word),
        letter: both(&|word| range(word | (0x20 * ONES), b'a', 26)),
        lower: both(&|word| word << 2),
        digit: both(&|word| range(word, b'0', 10)),
        white: blank | both(&|word| range(word, 9, 5)),
        newline: equal(b'\r') | equal(b'\n'),
        blank,
        slash: equal(b'/'),
        apostrophe: equal(b'\''),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The expected masks of one byte.
    fn byte_masks(byte: u8) -> ByteMasks {
        let bit = u64::from;
        ByteMasks {
            non_ascii: bit(!byte.is_ascii()),
            letter: bit(byte.is_ascii_alphabetic()),
            lower: bit(byte & 0x20 != 0),
            digit: bit(byte.is_ascii_digit()),
            white: bit((9..=13).contains(&byte) || byte == b' '),
            newline: bit(matches!(byte, b'\r' | b'\n')),
            blank: bit(byte == b' '),
            slash: bit(byte == b'/'),
            apostrophe: bit(byte == b'\''),
        }
    }

    /// Every byte at every position, beside every other, is classified alike by the SIMD and the portable version.
    #[test]
    fn bytes_are_in_the_sets_that_their_names_say() {
        for byte in 0..=u8::MAX {
            for position in 0..16 {
                for around in [0, b' ', b'z', 0x80, 0xFF] {
                    let mut bytes = [around; 16];
                    bytes[position] = byte;
                    for masks in [masks_of_16(bytes), portable(bytes)] {
                        let bit = |mask: u64| mask >> position & 1;
                        let actual = ByteMasks {
                            non_ascii: bit(masks.non_ascii),
                            letter: bit(masks.letter),
                            lower: bit(masks.lower),
                            digit: bit(masks.digit),
                            white: bit(masks.white),
                            newline: bit(masks.newline),
                            blank: bit(masks.blank),
                            slash: bit(masks.slash),
                            apostrophe: bit(masks.apostrophe),
                        };
                        assert_eq!(actual, byte_masks(byte), "{byte}");
                    }
                }
            }
        }
    }
}
