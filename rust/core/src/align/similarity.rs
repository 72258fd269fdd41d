//! Similarity of two blocks: by hashes of their words, and by their common prefix and suffix.

use std::borrow::Cow;

/// Words of a block that are compared: of a longer block, those with the smallest hashes (a bottom-k sketch).
const SAMPLE_MAX: usize = 256;
/// Words and pairs of adjacent words under which a block can be found, those with the smallest hashes.
const KEYS_MAX: usize = 16;
/// The low bits of a word's hash, which store its length in bytes (31 for longer words).
const LENGTH_BITS: u64 = 31;
/// Bytes of a block up to which its prefix and suffix are compared.
const COMMON_ENDS_MAX: usize = 1024;

/// Return the text with `\n` for every line ending, without white space at the ends of lines and of the text.
pub(super) fn normalized(text: &[u8]) -> Cow<'_, [u8]> {
    let text = text.trim_ascii_end();
    if !text.iter().any(|byte| *byte == b'\r' || *byte == b'\n') {
        return Cow::Borrowed(text);
    }
    let mut normalized: Vec<u8> = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.iter().position(|byte| *byte == b'\r' || *byte == b'\n') {
        normalized.extend_from_slice(rest[..at].trim_ascii_end());
        normalized.push(b'\n');
        rest = rest[at..].strip_prefix(b"\r\n").unwrap_or(&rest[at + 1..]);
    }
    normalized.extend_from_slice(rest);
    Cow::Owned(normalized)
}

/// The word hashes of many blocks, in one buffer.
#[derive(Default)]
pub(super) struct BlockWords {
    hashes: Vec<u64>,
    ends: Vec<usize>,
    totals: Vec<usize>,
}

impl BlockWords {
    /// Add a block; `keys` is filled with the keys under which it can be found.
    pub(super) fn push(&mut self, text: &[u8], keys: &mut Vec<u64>) {
        let start = self.hashes.len();
        keys.clear();
        let mut previous = 0;
        for_each_word(text, |word| {
            self.hashes.push(word);
            keys.push(mix(previous ^ word.rotate_left(17)));
            keys.push(word);
            previous = word;
        });
        let words = &mut self.hashes[start..];
        words.sort_unstable();
        self.totals.push(words.len());
        self.hashes.truncate(start + SAMPLE_MAX.min(self.hashes.len() - start));
        self.ends.push(self.hashes.len());
        keys.sort_unstable();
        keys.dedup();
        keys.truncate(KEYS_MAX);
    }

    /// The sampled word hashes of a block, ascending.
    fn of(&self, block: usize) -> &[u64] {
        let start = block.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.hashes[start..self.ends[block]]
    }

    /// Return true if the sample has all words of the block.
    fn is_whole(&self, block: usize) -> bool {
        self.totals[block] <= SAMPLE_MAX
    }
}

/// Similarity of the words of two blocks.
#[derive(Clone, Copy, Debug)]
pub(super) struct WordSimilarity {
    /// The Dice coefficient in thousandths, each word weighted by its length in bytes.
    pub(super) similarity: usize,
    /// The number of words that both have.
    pub(super) common: usize,
}

/// Compare the words of two blocks by a weighted Dice coefficient, over all words or the samples of long blocks.
///
/// Longer words weigh more, as most texts share the short ones: "the API uses Redis" and "the API uses Kafka" share
/// `the`, `API` and `uses` (10 of 15 bytes each), 666.
pub(super) fn word_similarity(olds: &BlockWords, old: usize, news: &BlockWords, new: usize) -> WordSimilarity {
    let (left, right) = (olds.of(old), news.of(new));
    let is_complete = olds.is_whole(old) && news.is_whole(new);
    let limit = if is_complete { usize::MAX } else { SAMPLE_MAX };
    let (mut at, mut to, mut common, mut shared, mut apart, mut compared) = (0, 0, 0, 0, 0, 0);
    while at < left.len() && to < right.len() && compared < limit {
        let order = left[at].cmp(&right[to]);
        let weight = weight(left[at].min(right[to]));
        if order.is_eq() {
            common += 1;
            shared += weight;
        } else {
            apart += weight;
        }
        at += usize::from(order.is_le());
        to += usize::from(order.is_ge());
        compared += 1;
    }
    if is_complete {
        apart += left[at..].iter().chain(&right[to..]).map(|word| weight(*word)).sum::<usize>();
    }
    WordSimilarity { similarity: (2 * shared * 1000).checked_div(2 * shared + apart).unwrap_or(0), common }
}

/// The hash of a word, with its length in the low bits.
fn word_hash(hash: u64, length: usize) -> u64 {
    mix(hash) & !LENGTH_BITS | LENGTH_BITS.min(length as u64)
}

/// The weight of a word: its length in bytes, at most 31.
fn weight(word: u64) -> usize {
    usize::try_from(word & LENGTH_BITS).unwrap_or_default()
}

/// Return the part of two short blocks, in thousandths of their bytes, that is in their common prefix and suffix.
pub(super) fn common_ends(old: &[u8], new: &[u8]) -> usize {
    let (old, new) = (without_marker(old), without_marker(new));
    let shorter = old.len().min(new.len());
    if shorter == 0 || old.len().max(new.len()) > COMMON_ENDS_MAX {
        return 0;
    }
    let head = old.iter().zip(new).take_while(|(left, right)| left == right).count();
    let tail = old[head..].iter().rev().zip(new[head..].iter().rev()).take_while(|(left, right)| left == right).count();
    2 * (head + tail) * 1000 / (old.len() + new.len())
}

/// The text without what many blocks begin and end with: indentation, list markers, line endings.
fn without_marker(text: &[u8]) -> &[u8] {
    let is_marker = |byte: &u8| matches!(byte, b' ' | b'\t' | b'-' | b'*' | b'+' | b'#' | b'>' | b'\r' | b'\n');
    let start = text.iter().position(|byte| !is_marker(byte)).unwrap_or(text.len());
    text[start..].trim_ascii_end()
}

/// Call `emit` with the hash of every word: runs of letters and digits, ignoring ASCII case, and single characters of
/// scripts written without spaces (U+3000 and above).
fn for_each_word(text: &[u8], mut emit: impl FnMut(u64)) {
    const SEED: u64 = 0x9e37_79b9_7f4a_7c15;
    let mut at = 0;
    while at < text.len() {
        let letters = text[at..].iter().take_while(|byte| is_letter(**byte)).count();
        if letters > 0 {
            let step = |hash: u64, byte: &u8| {
                (hash ^ u64::from(byte.to_ascii_lowercase())).wrapping_mul(0x0000_0100_0000_01b3)
            };
            emit(word_hash(text[at..at + letters].iter().fold(SEED, step), letters));
            at += letters;
            continue;
        }
        let length = match text[at] {
            0xf0.. => 4,
            0xe2.. => 3,
            _ => 1,
        };
        let end = text.len().min(at + length);
        if text[at] >= 0xe3 {
            let step = |hash: u64, byte: &u8| (hash ^ u64::from(*byte)).rotate_left(9);
            emit(word_hash(text[at..end].iter().fold(SEED, step), length));
        }
        at = end;
    }
}

/// Return true if a byte is an ASCII letter or digit, or part of a letter below U+2000.
fn is_letter(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || (0x80..0xe2).contains(&byte)
}

/// Mix a hash so that its order is independent of the text (the finalizer of `SplitMix64`).
fn mix(hash: u64) -> u64 {
    let hash = (hash ^ (hash >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let hash = (hash ^ (hash >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    hash ^ (hash >> 31)
}
