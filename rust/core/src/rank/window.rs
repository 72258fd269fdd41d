//! Sums for consecutive slots, few enough to stay in the nearest cache.

use super::bits::Ones;

/// Slots that are summed up at once; a power of two below the size of a block of postings.
pub(super) const WINDOW: usize = 4096;
/// Sums that are looked over in one step.
const STEP: usize = 32;

/// The sums of a window, and which of them were begun.
pub(super) struct Window {
    sums: [f32; WINDOW],
    touched: [u64; WINDOW / 64],
}

impl Window {
    /// All sums at nothing.
    pub(super) fn new() -> Self {
        Self { sums: [0.0; WINDOW], touched: [0; WINDOW / 64] }
    }

    /// Where the window begins that this slot lies in.
    pub(super) fn start(slot: u32) -> u32 {
        slot >> WINDOW.ilog2() << WINDOW.ilog2()
    }

    /// The slot after a window that begins at this one.
    pub(super) fn end(base: u32) -> u32 {
        base.saturating_add(1 << WINDOW.ilog2())
    }

    /// Adds to the sum of a place.
    pub(super) fn add(&mut self, place: usize, gain: f32) {
        self.sums[place % WINDOW] += gain;
    }

    /// Adds to the sum of a place and notes it.
    pub(super) fn touch(&mut self, place: usize, gain: f32) {
        self.add(place, gain);
        self.touched[place % WINDOW / 64] |= 1 << (place % 64);
    }

    /// Gives every noted sum in the order of the places, and sets all back.
    pub(super) fn drain_touched(&mut self, mut each: impl FnMut(u32, f32)) {
        for (word, first) in self.touched.iter_mut().zip((0_u32..).step_by(64)) {
            for place in Ones(std::mem::take(word)).map(|bit| first + bit) {
                each(place, std::mem::take(&mut self.sums[place as usize % WINDOW]));
            }
        }
    }

    /// Gives every sum that was begun and is `least` or more in the order of the places, and sets all back.
    pub(super) fn drain(&mut self, least: f32, mut each: impl FnMut(u32, f32)) {
        let least = least.max(f32::MIN_POSITIVE);
        for (sums, first) in self.sums.chunks_exact_mut(STEP).zip((0_u32..).step_by(STEP)) {
            if sums.iter().fold(0, |any, &sum| any | u32::from(sum >= least)) > 0 {
                sums.iter().zip(first..).filter(|(sum, _)| **sum >= least).for_each(|(&sum, place)| each(place, sum));
            }
            sums.fill(0.0);
        }
    }
}
