//! Object keys of canonical JSON: their order by UTF-16 code units (RFC 8785), and the detection of duplicates.

use std::borrow::Cow;
use std::cmp::Ordering;

/// Keys up to which an object is checked for duplicates by pairwise comparison, if their order does not matter.
const PAIRWISE_MAX: usize = 12;

/// A key of an object in JSON text.
pub(crate) struct ObjectKey<'a> {
    sort_prefix: u64,
    text: Cow<'a, str>,
    offset: usize,
    /// The position of the key within its object, from 0.
    pub(crate) index: usize,
}

impl<'a> ObjectKey<'a> {
    /// A key that begins at byte `offset` of the text.
    pub(crate) fn new(text: Cow<'a, str>, offset: usize, index: usize) -> Self {
        Self { sort_prefix: sort_prefix(&text), text, offset, index }
    }

    /// Compare two keys in canonical order.
    fn order(&self, other: &Self) -> Ordering {
        self.sort_prefix.cmp(&other.sort_prefix).then_with(|| utf16_order(&self.text, &other.text))
    }

    /// Return true if two keys are equal.
    fn is_equal(&self, other: &Self) -> bool {
        self.sort_prefix == other.sort_prefix && self.text == other.text
    }
}

/// Sort keys into canonical order; return the offset of the first duplicate in the text, if there is one.
pub(crate) fn sort_keys(keys: &mut [ObjectKey<'_>]) -> Option<usize> {
    if keys.is_sorted_by(|a, b| a.order(b).is_lt()) {
        return None;
    }
    keys.sort_unstable_by(|a, b| a.order(b).then(a.offset.cmp(&b.offset)));
    keys.windows(2).filter(|pair| pair[0].is_equal(&pair[1])).map(|pair| pair[1].offset).min()
}

/// Return the offset of the first duplicate key in the text. The keys may be in another order afterwards.
pub(crate) fn find_duplicate(keys: &mut [ObjectKey<'_>]) -> Option<usize> {
    if keys.len() > PAIRWISE_MAX {
        return sort_keys(keys);
    }
    let is_repeated =
        |(index, key): &(usize, &ObjectKey<'_>)| keys[..*index].iter().any(|earlier| earlier.is_equal(key));
    keys.iter().enumerate().find(is_repeated).map(|(_, key)| key.offset)
}

/// Compare two strings by their UTF-16 code units without converting them.
///
/// UTF-8 order is code point order. It differs from UTF-16 order only between U+E000..U+FFFF (lead bytes EE, EF) and
/// the supplementary planes (lead bytes F0 and above, surrogates D800..DFFF in UTF-16): there it is reversed.
#[must_use]
pub fn utf16_order(left: &str, right: &str) -> Ordering {
    let differing = left.bytes().zip(right.bytes()).find(|(a, b)| a != b);
    match differing {
        None => left.len().cmp(&right.len()),
        Some((a, b)) => utf16_weight(a).cmp(&utf16_weight(b)),
    }
}

/// Return the first eight bytes of a string as a number: two different numbers compare like the strings.
#[must_use]
pub(crate) fn sort_prefix(text: &str) -> u64 {
    const HIGH: u64 = 0x8080_8080_8080_8080;
    let bytes = big_endian_prefix(text.as_bytes());
    if bytes & HIGH == 0 { bytes } else { u64::from_be_bytes(bytes.to_be_bytes().map(utf16_weight)) }
}

/// Map UTF-8 bytes to the order of the UTF-16 units they begin: EE and EF come after F0 to F4.
fn utf16_weight(byte: u8) -> u8 {
    if matches!(byte, 0xEE | 0xEF) { byte + 0x10 } else { byte }
}

/// Return up to eight bytes as a big-endian number, padded with zeros.
pub(crate) fn big_endian_prefix(bytes: &[u8]) -> u64 {
    if let Some(eight) = bytes.first_chunk() {
        return u64::from_be_bytes(*eight);
    }
    if let (Some(first), Some(last)) = (bytes.first_chunk(), bytes.last_chunk()) {
        let last = u64::from(u32::from_be_bytes(*last)) << (8 * (8 - bytes.len()));
        return u64::from(u32::from_be_bytes(*first)) << 32 | (last & 0xFFFF_FFFF);
    }
    bytes.iter().zip([56, 48, 40]).fold(0, |prefix, (byte, shift)| prefix | u64::from(*byte) << shift)
}
