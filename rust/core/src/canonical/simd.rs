//! Fast search for string bytes that need an escape: 16 bytes at a time with SSE2, else 8 at a time in a register.

#![cfg_attr(
    target_arch = "x86_64",
    expect(unsafe_code, reason = "a fifth more speed for long strings, a twentieth for records of short ones")
)]

/// Bytes that are examined together.
pub(crate) const CHUNK_BYTES: usize = 16;

/// Return how many bytes from the first need no escape: up to a quote, a backslash or a control character.
#[cfg(target_arch = "x86_64")]
#[inline]
pub(crate) fn plain_prefix_length(chunk: &[u8; CHUNK_BYTES]) -> usize {
    // SAFETY: calling it is unsafe only because a processor without SSE2 could not run it. This is compiled for
    // x86-64 alone, and every processor of that architecture has SSE2. No memory is reached through pointers.
    unsafe { sse2::plain_prefix_length(chunk) }
}

/// Return true if none of these bytes needs an escape.
#[cfg(target_arch = "x86_64")]
#[inline]
pub(crate) fn all_plain(block: &[u8; 4 * CHUNK_BYTES]) -> bool {
    // SAFETY: as above.
    unsafe { sse2::all_plain(block) }
}

#[cfg(target_arch = "x86_64")]
mod sse2 {
    use std::arch::x86_64::{
        __m128i, _mm_cmpeq_epi8, _mm_min_epu8, _mm_movemask_epi8, _mm_or_si128, _mm_set_epi64x, _mm_set1_epi8,
    };

    use super::{CHUNK_BYTES, halves};

    #[target_feature(enable = "sse2")]
    #[inline]
    pub(super) fn plain_prefix_length(chunk: &[u8; CHUNK_BYTES]) -> usize {
        (_mm_movemask_epi8(special_lanes(chunk)) | 1 << CHUNK_BYTES).trailing_zeros() as usize
    }

    #[target_feature(enable = "sse2")]
    #[inline]
    pub(super) fn all_plain(block: &[u8; 4 * CHUNK_BYTES]) -> bool {
        let (chunks, _) = block.as_chunks::<CHUNK_BYTES>();
        let [a, b, c, d] = chunks else { return false };
        let left = _mm_or_si128(special_lanes(a), special_lanes(b));
        let right = _mm_or_si128(special_lanes(c), special_lanes(d));
        _mm_movemask_epi8(_mm_or_si128(left, right)) == 0
    }

    /// All bits set in the lanes that need an escape.
    #[target_feature(enable = "sse2")]
    #[inline]
    fn special_lanes(chunk: &[u8; CHUNK_BYTES]) -> __m128i {
        let [low, high] = halves(chunk);
        let lanes = _mm_set_epi64x(high.cast_signed(), low.cast_signed());
        let quote = _mm_cmpeq_epi8(lanes, _mm_set1_epi8(0x22));
        let slash = _mm_cmpeq_epi8(lanes, _mm_set1_epi8(0x5C));
        let control = _mm_cmpeq_epi8(_mm_min_epu8(lanes, _mm_set1_epi8(0x1F)), lanes);
        _mm_or_si128(_mm_or_si128(quote, slash), control)
    }
}

/// Return how many bytes from the first need no escape: up to a quote, a backslash or a control character.
#[cfg(not(target_arch = "x86_64"))]
#[inline]
pub(crate) fn plain_prefix_length(chunk: &[u8; CHUNK_BYTES]) -> usize {
    match halves(chunk).map(special_lanes) {
        [0, 0] => CHUNK_BYTES,
        [0, high] => 8 + high.trailing_zeros() as usize / 8,
        [low, _] => low.trailing_zeros() as usize / 8,
    }
}

/// Return true if none of these bytes needs an escape.
#[cfg(not(target_arch = "x86_64"))]
#[inline]
pub(crate) fn all_plain(block: &[u8; 4 * CHUNK_BYTES]) -> bool {
    block.as_chunks().0.iter().all(|chunk| plain_prefix_length(chunk) == CHUNK_BYTES)
}

/// Split 16 bytes into two little-endian words.
fn halves(chunk: &[u8; CHUNK_BYTES]) -> [u64; 2] {
    let lanes = u128::from_le_bytes(*chunk);
    [0, 64].map(|shift| {
        #[expect(clippy::cast_possible_truncation, reason = "half by half")]
        let half = (lanes >> shift) as u64;
        half
    })
}

/// Set the high bit of each lane that needs an escape; exact for the lowest such lane, which is the one needed.
///
/// `(x - n) & !x` has its high bit set where a byte is below `n`.
#[inline]
pub(crate) fn special_lanes(lanes: u64) -> u64 {
    const LOW: u64 = 0x0101_0101_0101_0101;
    const HIGH: u64 = 0x8080_8080_8080_8080;
    let quote = lanes ^ (LOW * u64::from(b'"'));
    let slash = lanes ^ (LOW * u64::from(b'\\'));
    HIGH & ((quote.wrapping_sub(LOW) & !quote)
        | (slash.wrapping_sub(LOW) & !slash)
        | (lanes.wrapping_sub(LOW * 0x20) & !lanes))
}
