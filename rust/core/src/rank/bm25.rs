//! The BM25 score of a term in a document (Robertson and Zaragoza, 2009), with document lengths in classes 1/16 wide.

/// Saturation of the term frequency, the k1 of BM25: the usual default of search engines.
const K1: f64 = 1.2;
/// Length normalization, the b of BM25: the usual default; 0 would ignore lengths.
const B: f64 = 0.75;
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
    norms: [f32; 256],
    /// frequency / (frequency + norm) for low frequencies and every length class.
    saturation: [f32; 256 * TABLE_FREQUENCIES],
}

impl Bm25 {
    /// BM25 for an index of so many documents with `total` terms together.
    pub(super) fn new(total: u64, documents: usize) -> Self {
        let average = (as_f64(usize::try_from(total).unwrap_or(usize::MAX)) / as_f64(documents.max(1))).max(1.0);
        let mut norms = [0.0; 256];
        for (class, entry) in (0..=u8::MAX).zip(&mut norms) {
            *entry = to_f32(norm(class, average));
        }
        let mut saturation = [0.0; 256 * TABLE_FREQUENCIES];
        for (frequency, row) in (0_u8..).zip(saturation.chunks_exact_mut(256)) {
            for (value, norm) in row.iter_mut().zip(&norms) {
                *value = f32::from(frequency) / (f32::from(frequency) + norm);
            }
        }
        Self { average, norms, saturation }
    }

    /// Return the exact score of a term of this weight (its IDF) in a document.
    pub(super) fn score(&self, impact: Impact, weight: f64) -> f64 {
        let frequency = f64::from(impact.frequency);
        weight * frequency * (K1 + 1.0) / (frequency + norm(impact.length_class, self.average))
    }

    /// Return the score in single precision, within a millionth of [`Self::score`], for a term of this [`max_score`].
    pub(super) fn approximate(&self, impact: Impact, max_score: f32) -> f32 {
        let index = usize::from(impact.frequency) << 8 | usize::from(impact.length_class);
        max_score
            * self.saturation.get(index).copied().unwrap_or_else(|| {
                let frequency = f32::from(impact.frequency);
                frequency / (frequency + self.norms[usize::from(impact.length_class)])
            })
    }
}

/// Return the limit of a term's score as its frequency grows: weight * (k1 + 1), for [`Bm25::approximate`].
pub(super) fn max_score(weight: f64) -> f32 {
    to_f32(weight * (K1 + 1.0))
}

/// Round to the nearest single-precision number.
#[expect(clippy::cast_possible_truncation, reason = "scores are small, and those that decide are kept in full")]
pub(super) fn to_f32(value: f64) -> f32 {
    value as f32
}

/// The BM25 length norm: k1 * (1 - b + b * length / average length).
fn norm(class: u8, average: f64) -> f64 {
    K1 * (1.0 - B + B * f64::from(class_start(class)) / average)
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
