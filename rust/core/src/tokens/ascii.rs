//! Which of 64 bytes are letters, digits and so on, one bit a byte: the splitter's view of ASCII text.

use crate::tokens::masks::Masks;
#[cfg(target_arch = "x86_64")]
use crate::tokens::vectors::sixteen;

/// Bytes that are looked at together.
pub(crate) const WIDTH: usize = 64;

impl Masks {
    /// Looks at every byte.
    #[inline]
    pub(crate) fn of(bytes: &[u8; WIDTH]) -> Self {
        let (chunks, _) = bytes.as_chunks::<16>();
        let mut masks = Self::default();
        for (at, chunk) in (0_u32..).step_by(16).zip(chunks) {
            let part = sixteen(*chunk);
            masks.beyond |= part.beyond << at;
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
fn sixteen(bytes: [u8; 16]) -> Masks {
    portable(bytes)
}

/// The masks of 16 bytes, eight at a time in ordinary words.
#[cfg(any(test, not(target_arch = "x86_64")))]
fn portable(bytes: [u8; 16]) -> Masks {
    const ONES: u64 = 0x0101_0101_0101_0101;
    const HIGH: u64 = 0x80 * ONES;
    /// Gathers the topmost bit of each byte.
    fn bits(lanes: u64) -> u64 {
        ((lanes & HIGH) >> 7).wrapping_mul(0x0102_0408_1020_4080) >> 56
    }
    let (low, high) = super::key::halves(bytes);
    let both = |lanes: &dyn Fn(u64) -> u64| bits(lanes(low)) | (bits(lanes(high)) << 8);
    // For the lower seven bits of each byte: whether they are at least `first`, as the topmost bit.
    let at_least = |word: u64, first: u8| (word & !HIGH) + ONES * u64::from(0x80 - first);
    let range = |word: u64, first: u8, count: u8| at_least(word, first) & !at_least(word, first + count) & !word;
    let equal = |byte: u8| both(&move |word| range(word, byte, 1));
    let blank = equal(b' ');
    Masks {
        beyond: both(&|word| word),
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

    fn byte_masks(byte: u8) -> Masks {
        let bit = u64::from;
        Masks {
            beyond: bit(!byte.is_ascii()),
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

    /// Every byte at every place, beside every other, by either way of looking.
    #[test]
    fn bytes_are_in_the_sets_that_their_names_say() {
        for byte in 0..=u8::MAX {
            for place in 0..16 {
                for around in [0, b' ', b'z', 0x80, 0xFF] {
                    let mut bytes = [around; 16];
                    bytes[place] = byte;
                    for masks in [sixteen(bytes), portable(bytes)] {
                        let bit = |mask: u64| mask >> place & 1;
                        let seen = Masks {
                            beyond: bit(masks.beyond),
                            letter: bit(masks.letter),
                            lower: bit(masks.lower),
                            digit: bit(masks.digit),
                            white: bit(masks.white),
                            newline: bit(masks.newline),
                            blank: bit(masks.blank),
                            slash: bit(masks.slash),
                            apostrophe: bit(masks.apostrophe),
                        };
                        assert_eq!(seen, byte_masks(byte), "{byte}");
                    }
                }
            }
        }
    }
}
