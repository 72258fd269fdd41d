//! Score accumulators for a window of consecutive slots, small enough for the first-level cache.

use super::bit_set::SetBits;

/// Slots in a window: 16 KiB of sums fit a level-1 cache; a power of two below the 65,536 slots of a postings block.
pub(super) const WINDOW: usize = 4096;
/// Sums compared in one step: 32 single-precision numbers are two to eight vector registers.
const STEP: usize = 32;

/// The partial scores of a window, and which of them were touched.
pub(super) struct ScoreWindow {
    sums: [f32; WINDOW],
    touched: [u64; WINDOW / 64],
}

impl ScoreWindow {
    /// A window of zeros.
    pub(super) fn new() -> Self {
        Self { sums: [0.0; WINDOW], touched: [0; WINDOW / 64] }
    }

    /// Return the first slot of the window that contains `slot`.
    pub(super) fn start(slot: u32) -> u32 {
        slot >> WINDOW.ilog2() << WINDOW.ilog2()
    }

    /// Return the slot after the window that begins at `base`.
    pub(super) fn end(base: u32) -> u32 {
        base.saturating_add(1 << WINDOW.ilog2())
    }

    /// Add to the sum at an offset of the window.
    pub(super) fn add(&mut self, offset: usize, score: f32) {
        self.sums[offset % WINDOW] += score;
    }

    /// Add to the sum at an offset and mark it as touched, for [`Self::drain_touched`].
    pub(super) fn touch(&mut self, offset: usize, score: f32) {
        self.add(offset, score);
        self.touched[offset % WINDOW / 64] |= 1 << (offset % 64);
    }

    /// Emit (offset, sum) of every touched sum in ascending order, and reset them.
    pub(super) fn drain_touched(&mut self, mut emit: impl FnMut(u32, f32)) {
        for (word, first) in self.touched.iter_mut().zip((0_u32..).step_by(64)) {
            for offset in SetBits(std::mem::take(word)).map(|bit| first + bit) {
                emit(offset, std::mem::take(&mut self.sums[offset as usize % WINDOW]));
            }
        }
    }

    /// Emit (offset, sum) of every sum above zero that reaches `threshold`, in ascending order, and reset all.
    pub(super) fn drain(&mut self, threshold: f32, mut emit: impl FnMut(u32, f32)) {
        let threshold = threshold.max(f32::MIN_POSITIVE);
        for (sums, first) in self.sums.chunks_exact_mut(STEP).zip((0_u32..).step_by(STEP)) {
            if sums.iter().fold(0, |any, &sum| any | u32::from(sum >= threshold)) > 0 {
                sums.iter()
                    .zip(first..)
                    .filter(|(sum, _)| **sum >= threshold)
                    .for_each(|(&sum, offset)| emit(offset, sum));
            }
            sums.fill(0.0);
        }
    }
}
