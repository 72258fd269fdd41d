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
        Some((a, b)) if a >= 0xEE && b >= 0xEE && (a < 0xF0) != (b < 0xF0) => b.cmp(&a),
        Some((a, b)) => a.cmp(&b),
    }
}
