//! The order of keys in RFC 8785: by UTF-16 code units, which differs from UTF-8 order above U+FFFF.

use std::cmp::Ordering;

/// Compares two strings by their UTF-16 code units without converting them.
///
/// UTF-8 order is code point order. It differs from UTF-16 order only between U+E000..U+FFFF (lead bytes EE, EF)
/// and the supplementary planes (lead bytes F0 and above, surrogates D800..DFFF in UTF-16): there it is reversed.
#[must_use]
pub fn utf16_order(left: &str, right: &str) -> Ordering {
    let differing = left.bytes().zip(right.bytes()).find(|(a, b)| a != b);
    match differing {
        None => left.len().cmp(&right.len()),
        Some((a, b)) => rank(a).cmp(&rank(b)),
    }
}

/// The first eight bytes of a string as a number: where two of them differ, they are in the order of the strings.
#[must_use]
pub(crate) fn head(text: &str) -> u64 {
    const HIGH: u64 = 0x8080_8080_8080_8080;
    let bytes = first_bytes(text.as_bytes());
    if bytes & HIGH == 0 { bytes } else { u64::from_be_bytes(bytes.to_be_bytes().map(rank)) }
}

/// UTF-8 bytes in the order of the code units they begin: EE and EF come after F0 to F4.
fn rank(byte: u8) -> u8 {
    if matches!(byte, 0xEE | 0xEF) { byte + 0x10 } else { byte }
}

/// Up to eight bytes from the highest down, zero where there are fewer.
pub(crate) fn first_bytes(bytes: &[u8]) -> u64 {
    if let Some(eight) = bytes.first_chunk() {
        return u64::from_be_bytes(*eight);
    }
    if let (Some(first), Some(last)) = (bytes.first_chunk(), bytes.last_chunk()) {
        let last = u64::from(u32::from_be_bytes(*last)) << (8 * (8 - bytes.len()));
        return u64::from(u32::from_be_bytes(*first)) << 32 | (last & 0xFFFF_FFFF);
    }
    bytes.iter().zip([56, 48, 40]).fold(0, |head, (byte, shift)| head | u64::from(*byte) << shift)
}
