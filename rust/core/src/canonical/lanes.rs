//! Sixteen bytes of a string looked at together.

#![cfg_attr(
    target_arch = "x86_64",
    expect(unsafe_code, reason = "a fifth more speed for long strings, a twentieth for records of short ones")
)]

/// How many bytes are looked at together.
pub(crate) const LANES: usize = 16;

/// How many bytes, from the first, a string can hold as they are: up to a quote, a backslash or a control.
#[cfg(target_arch = "x86_64")]
#[inline]
pub(crate) fn plain_in(chunk: &[u8; LANES]) -> usize {
    // SAFETY: calling it is unsafe only because a processor without SSE2 could not run it. This is compiled for
    // x86-64 alone, and every processor of that architecture has SSE2. No memory is reached through pointers.
    unsafe { sse2::plain_in(chunk) }
}

/// Whether a string can hold all of these bytes as they are.
#[cfg(target_arch = "x86_64")]
#[inline]
pub(crate) fn all_plain(block: &[u8; 4 * LANES]) -> bool {
    // SAFETY: as above.
    unsafe { sse2::all_plain(block) }
}

#[cfg(target_arch = "x86_64")]
mod sse2 {
    use std::arch::x86_64::{
        __m128i, _mm_cmpeq_epi8, _mm_min_epu8, _mm_movemask_epi8, _mm_or_si128, _mm_set_epi64x, _mm_set1_epi8,
    };

    use super::{LANES, halves};

    #[target_feature(enable = "sse2")]
    #[inline]
    pub(super) fn plain_in(chunk: &[u8; LANES]) -> usize {
        (_mm_movemask_epi8(special(chunk)) | 1 << LANES).trailing_zeros() as usize
    }

    #[target_feature(enable = "sse2")]
    #[inline]
    pub(super) fn all_plain(block: &[u8; 4 * LANES]) -> bool {
        let (chunks, _) = block.as_chunks::<LANES>();
        let [a, b, c, d] = chunks else { return false };
        let left = _mm_or_si128(special(a), special(b));
        let right = _mm_or_si128(special(c), special(d));
        _mm_movemask_epi8(_mm_or_si128(left, right)) == 0
    }

    /// All bits of the lanes that a string cannot hold as they are.
    #[target_feature(enable = "sse2")]
    #[inline]
    fn special(chunk: &[u8; LANES]) -> __m128i {
        let [low, high] = halves(chunk);
        let lanes = _mm_set_epi64x(high.cast_signed(), low.cast_signed());
        let quote = _mm_cmpeq_epi8(lanes, _mm_set1_epi8(0x22));
        let slash = _mm_cmpeq_epi8(lanes, _mm_set1_epi8(0x5C));
        let control = _mm_cmpeq_epi8(_mm_min_epu8(lanes, _mm_set1_epi8(0x1F)), lanes);
        _mm_or_si128(_mm_or_si128(quote, slash), control)
    }
}

/// How many bytes, from the first, a string can hold as they are: up to a quote, a backslash or a control.
#[cfg(not(target_arch = "x86_64"))]
#[inline]
pub(crate) fn plain_in(chunk: &[u8; LANES]) -> usize {
    match halves(chunk).map(special) {
        [0, 0] => LANES,
        [0, high] => 8 + high.trailing_zeros() as usize / 8,
        [low, _] => low.trailing_zeros() as usize / 8,
    }
}

/// Whether a string can hold all of these bytes as they are.
#[cfg(not(target_arch = "x86_64"))]
#[inline]
pub(crate) fn all_plain(block: &[u8; 4 * LANES]) -> bool {
    block.as_chunks().0.iter().all(|chunk| plain_in(chunk) == LANES)
}

fn halves(chunk: &[u8; LANES]) -> [u64; 2] {
    let lanes = u128::from_le_bytes(*chunk);
    [0, 64].map(|shift| {
        #[expect(clippy::cast_possible_truncation, reason = "half by half")]
        let half = (lanes >> shift) as u64;
        half
    })
}

/// The high bit of each lane that a string cannot hold as it is; exact for the lowest such lane, the one asked for.
///
/// `(x - n) & !x` has its high bit set where a byte is below `n`.
#[inline]
pub(crate) fn special(lanes: u64) -> u64 {
    const LOW: u64 = 0x0101_0101_0101_0101;
    const HIGH: u64 = 0x8080_8080_8080_8080;
    let quote = lanes ^ (LOW * u64::from(b'"'));
    let slash = lanes ^ (LOW * u64::from(b'\\'));
    HIGH & ((quote.wrapping_sub(LOW) & !quote)
        | (slash.wrapping_sub(LOW) & !slash)
        | (lanes.wrapping_sub(LOW * 0x20) & !lanes))
}
