//! The BM25 score of a term in a document (Robertson and Zaragoza, 2009), with document lengths in classes 1/16 wide.

/// The two parameters of BM25.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Saturation {
    /// Saturation of the term frequency: at 0 a second mention of a word adds nothing.
    pub k1: f64,
    /// Length normalization: at 0 a long document counts as much as a short one.
    pub b: f64,
}

/// The usual defaults of search engines.
impl Default for Saturation {
    fn default() -> Self {
        Self { k1: 1.2, b: 0.75 }
    }
}

/// Document lengths below this many terms have a class each.
const EXACT_LENGTHS: u32 = 32;
/// Classes for each doubling of the length above: a class is at most 1/16 of its start wide, and one byte is enough.
const CLASSES_PER_DOUBLING: u32 = 16;

/// Frequencies below this have their saturation in a table of 4 KiB; others, which are rare, are computed.
const TABLE_FREQUENCIES: usize = 4;

/// Term frequency (at most 255) and length class of the document: all that a score needs to know of a posting.
#[derive(Clone, Copy)]
pub(super) struct Impact {
    pub(super) frequency: u8,
    pub(super) length_class: u8,
}

impl Impact {
    /// Decode an impact from the lower 16 bits.
    pub(super) fn of(bits: u32) -> Self {
        let [length_class, frequency, ..] = bits.to_le_bytes();
        Self { frequency, length_class }
    }

    /// Encode the impact in 16 bits.
    pub(super) fn bits(self) -> u32 {
        u32::from(self.frequency) << 8 | u32::from(self.length_class)
    }
}

/// Return the class of a document length in terms; it rises with the length.
pub(super) fn length_class(length: u32) -> u8 {
    let class = if length < EXACT_LENGTHS {
        length
    } else {
        let doubling = length.ilog2();
        EXACT_LENGTHS
            + (doubling - EXACT_LENGTHS.ilog2()) * CLASSES_PER_DOUBLING
            + (length >> (doubling - CLASSES_PER_DOUBLING.ilog2())) % CLASSES_PER_DOUBLING
    };
    u8::try_from(class).unwrap_or(u8::MAX)
}

/// Return the smallest length of a class.
fn class_start(class: u8) -> u32 {
    let class = u32::from(class);
    if class < EXACT_LENGTHS {
        return class;
    }
    let (doubling, step) =
        ((class - EXACT_LENGTHS) / CLASSES_PER_DOUBLING, (class - EXACT_LENGTHS) % CLASSES_PER_DOUBLING);
    (CLASSES_PER_DOUBLING + step) << (doubling + EXACT_LENGTHS.ilog2() - CLASSES_PER_DOUBLING.ilog2())
}

/// Return the inverse document frequency of a term, never negative: ln(1 + (N - n + 0.5) / (n + 0.5)).
pub(super) fn idf(all: usize, document_frequency: usize) -> f64 {
    let (all, document_frequency) = (as_f64(all), as_f64(document_frequency));
    (1.0 + (all - document_frequency + 0.5) / (document_frequency + 0.5)).ln()
}

/// BM25 for an index of a given average document length, with its constants precomputed for each length class.
pub(super) struct Bm25 {
    average: f64,
    saturation_of: Saturation,
    norms: [f32; 256],
    /// frequency / (frequency + norm) for low frequencies and every length class.
    saturation: [f32; 256 * TABLE_FREQUENCIES],
}

impl Bm25 {
    /// BM25 for an index of so many documents with `total` terms together.
    pub(super) fn new(total: u64, documents: usize, saturation_of: Saturation) -> Self {
        let average = (as_f64(usize::try_from(total).unwrap_or(usize::MAX)) / as_f64(documents.max(1))).max(1.0);
        let mut norms = [0.0; 256];
        for (class, entry) in (0..=u8::MAX).zip(&mut norms) {
            *entry = to_f32(norm(f64::from(class_start(class)) / average, saturation_of));
        }
        let mut saturation = [0.0; 256 * TABLE_FREQUENCIES];
        for (frequency, row) in (0_u8..).zip(saturation.chunks_exact_mut(256)) {
            for (value, norm) in row.iter_mut().zip(&norms) {
                *value = f32::from(frequency) / (f32::from(frequency) + norm);
            }
        }
        Self { average, saturation_of, norms, saturation }
    }

    /// Return the exact score of a term of this weight (its IDF) in a document.
    pub(super) fn score(&self, impact: Impact, weight: f64) -> f64 {
        self.score_of(f64::from(impact.frequency), f64::from(class_start(impact.length_class)) / self.average, weight)
    }

    /// Return the score of a term with this frequency in a text of so many average lengths.
    pub(super) fn score_of(&self, frequency: f64, lengths: f64, weight: f64) -> f64 {
        let Saturation { k1, .. } = self.saturation_of;
        weight * frequency * (k1 + 1.0) / (frequency + norm(lengths, self.saturation_of))
    }

    /// Return a length in average lengths.
    pub(super) fn in_averages(&self, length: u32) -> f64 {
        f64::from(length) / self.average
    }

    /// Return the limit of a term's score as its frequency grows: weight * (k1 + 1), for [`Self::approximate`].
    pub(super) fn max_score(&self, weight: f64) -> f32 {
        to_f32(weight * (self.saturation_of.k1 + 1.0))
    }

    /// Return the score in single precision, within a millionth of [`Self::score`], for a term of this [`Self::max_score`].
    pub(super) fn approximate(&self, impact: Impact, max_score: f32) -> f32 {
        let index = usize::from(impact.frequency) << 8 | usize::from(impact.length_class);
        max_score
            * self.saturation.get(index).copied().unwrap_or_else(|| {
                let frequency = f32::from(impact.frequency);
                frequency / (frequency + self.norms[usize::from(impact.length_class)])
            })
    }
}

/// Round to the nearest single-precision number.
#[expect(clippy::cast_possible_truncation, reason = "scores are small, and those that decide are kept in full")]
pub(super) fn to_f32(value: f64) -> f32 {
    value as f32
}

/// The BM25 length norm of a text of so many average lengths: k1 * (1 - b + b * length / average length).
fn norm(lengths: f64, Saturation { k1, b }: Saturation) -> f64 {
    k1 * (1.0 - b + b * lengths)
}

#[expect(clippy::cast_precision_loss, reason = "counts of documents and terms are far below 2^52")]
fn as_f64(count: usize) -> f64 {
    count as f64
}

#[cfg(test)]
mod tests {
    use super::{class_start, length_class};

    /// A length lies in its class, at most 1/16 above its start, and classes ascend with lengths.
    #[test]
    fn classes_are_close_and_in_order() {
        let mut before = 0;
        for length in 0..500_000_u32 {
            let class = length_class(length);
            assert!(class >= before);
            let start = class_start(class);
            assert!(start <= length && length - start <= start / 16, "{length} in the class of {start}");
            before = class;
        }
        assert_eq!(length_class(u32::MAX), u8::MAX);
    }
}
