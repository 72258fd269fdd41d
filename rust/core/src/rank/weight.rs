//! What a term gives to a text's score: BM25 (Robertson and Zaragoza, 2009), lengths in classes of at most 1/16.

/// How soon more of the same term stops to count.
const K1: f64 = 1.2;
/// How much a long text is held against it.
const B: f64 = 0.75;
/// Lengths below this many terms are exact.
const EXACT: u32 = 32;
/// Classes for each doubling of the length above.
const STEPS: u32 = 16;

/// Mentions below this have their gains in a table.
const FEW: usize = 4;

/// How often a term stands in a text, at most 255, and the class of the text's length.
#[derive(Clone, Copy)]
pub(super) struct Mark {
    pub(super) times: u8,
    pub(super) length: u8,
}

impl Mark {
    /// The mark in the lower half of these bits.
    pub(super) fn of(bits: u32) -> Self {
        let [length, times, ..] = bits.to_le_bytes();
        Self { times, length }
    }

    /// The mark as 16 bits.
    pub(super) fn bits(self) -> u32 {
        u32::from(self.times) << 8 | u32::from(self.length)
    }
}

/// The class of a length in terms; the longer, the higher.
pub(super) fn class_of(length: u32) -> u8 {
    let class = if length < EXACT {
        length
    } else {
        let doubling = length.ilog2();
        EXACT + (doubling - EXACT.ilog2()) * STEPS + (length >> (doubling - STEPS.ilog2())) % STEPS
    };
    u8::try_from(class).unwrap_or(u8::MAX)
}

/// The smallest length of a class.
fn length_of(class: u8) -> u32 {
    let class = u32::from(class);
    if class < EXACT {
        return class;
    }
    let (doubling, step) = ((class - EXACT) / STEPS, (class - EXACT) % STEPS);
    (STEPS + step) << (doubling + EXACT.ilog2() - STEPS.ilog2())
}

/// What finding a term is worth: the inverse document frequency, never negative.
pub(super) fn rarity(all: usize, having: usize) -> f64 {
    let (all, having) = (as_f64(all), as_f64(having));
    (1.0 + (all - having + 0.5) / (having + 0.5)).ln()
}

/// What mentions and lengths weigh in an index whose texts have this average length.
pub(super) struct Scale {
    average: f64,
    norms: [f32; 256],
    /// The gain of a mark with few mentions, for a term that gives 1 at most.
    gains: [f32; 256 * FEW],
}

impl Scale {
    /// Of texts that have `total` terms together.
    pub(super) fn new(total: u64, texts: usize) -> Self {
        let average = (as_f64(usize::try_from(total).unwrap_or(usize::MAX)) / as_f64(texts.max(1))).max(1.0);
        let mut norms = [0.0; 256];
        for (class, norm) in (0..=u8::MAX).zip(&mut norms) {
            *norm = narrow(norm_of(class, average));
        }
        let mut gains = [0.0; 256 * FEW];
        for (times, row) in (0_u8..).zip(gains.chunks_exact_mut(256)) {
            for (gain, norm) in row.iter_mut().zip(&norms) {
                *gain = f32::from(times) / (f32::from(times) + norm);
            }
        }
        Self { average, norms, gains }
    }

    /// The share of a term in a score, always summed up in the same order.
    pub(super) fn gives(&self, mark: Mark, weight: f64) -> f64 {
        let times = f64::from(mark.times);
        weight * times * (K1 + 1.0) / (times + norm_of(mark.length, self.average))
    }

    /// Nearly the same, quickly; within a millionth.
    pub(super) fn about(&self, mark: Mark, top: f32) -> f32 {
        let place = usize::from(mark.times) << 8 | usize::from(mark.length);
        top * self.gains.get(place).copied().unwrap_or_else(|| {
            let times = f32::from(mark.times);
            times / (times + self.norms[usize::from(mark.length)])
        })
    }
}

/// What a term of this weight gives at most, for [`Scale::about`].
pub(super) fn top(weight: f64) -> f32 {
    narrow(weight * (K1 + 1.0))
}

/// The nearest single-precision number.
#[expect(clippy::cast_possible_truncation, reason = "scores are small, and those that decide are kept in full")]
pub(super) fn narrow(value: f64) -> f32 {
    value as f32
}

fn norm_of(class: u8, average: f64) -> f64 {
    K1 * (1.0 - B + B * f64::from(length_of(class)) / average)
}

#[expect(clippy::cast_precision_loss, reason = "counts of texts and terms are far below 2^52")]
fn as_f64(count: usize) -> f64 {
    count as f64
}

#[cfg(test)]
mod tests {
    use super::{class_of, length_of};

    /// A length lies in its class, at most 1/16 above its start, and classes ascend with lengths.
    #[test]
    fn classes_are_close_and_in_order() {
        let mut before = 0;
        for length in 0..500_000_u32 {
            let class = class_of(length);
            assert!(class >= before);
            let start = length_of(class);
            assert!(start <= length && length - start <= start / 16, "{length} in the class of {start}");
            before = class;
        }
        assert_eq!(class_of(u32::MAX), u8::MAX);
    }
}
