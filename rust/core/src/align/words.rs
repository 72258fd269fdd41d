//! What a block says, as hashes of its words: enough to see how alike two blocks are.

use std::borrow::Cow;

/// Most words of a block that are compared; of a longer one those with the smallest hashes, a fair sample.
const SAMPLE: usize = 256;
/// Most words and neighbouring pairs under which a block is found.
const KEYS: usize = 16;
/// The bits of a hash that hold the length of the word.
const LENGTH: u64 = 31;
/// Bytes at each end of a block within which it is compared letter by letter.
const LETTERS: usize = 1024;

/// The text with `\n` for every line ending, without white space at the ends of lines and of the text.
pub(super) fn folded(text: &[u8]) -> Cow<'_, [u8]> {
    let text = text.trim_ascii_end();
    if !text.iter().any(|byte| *byte == b'\r' || *byte == b'\n') {
        return Cow::Borrowed(text);
    }
    let mut folded: Vec<u8> = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.iter().position(|byte| *byte == b'\r' || *byte == b'\n') {
        folded.extend_from_slice(rest[..at].trim_ascii_end());
        folded.push(b'\n');
        rest = rest[at..].strip_prefix(b"\r\n").unwrap_or(&rest[at + 1..]);
    }
    folded.extend_from_slice(rest);
    Cow::Owned(folded)
}

/// The words of many blocks, in one piece of memory.
#[derive(Default)]
pub(super) struct Words {
    hashes: Vec<u64>,
    ends: Vec<usize>,
    totals: Vec<usize>,
}

impl Words {
    /// Adds a block, and gives the keys under which it can be found.
    pub(super) fn push(&mut self, text: &[u8], keys: &mut Vec<u64>) {
        let start = self.hashes.len();
        keys.clear();
        let mut before = 0;
        each_word(text, |word| {
            self.hashes.push(word);
            keys.push(mixed(before ^ word.rotate_left(17)));
            keys.push(word);
            before = word;
        });
        let words = &mut self.hashes[start..];
        words.sort_unstable();
        self.totals.push(words.len());
        self.hashes.truncate(start + SAMPLE.min(self.hashes.len() - start));
        self.ends.push(self.hashes.len());
        keys.sort_unstable();
        keys.dedup();
        keys.truncate(KEYS);
    }

    fn of(&self, block: usize) -> &[u64] {
        let start = block.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.hashes[start..self.ends[block]]
    }

    fn is_whole(&self, block: usize) -> bool {
        self.totals[block] <= SAMPLE
    }
}

/// How alike two blocks are.
#[derive(Clone, Copy, Debug)]
pub(super) struct Likeness {
    /// 0 to 1000: twice what they share by what they have, in bytes of words.
    pub(super) share: usize,
    /// Words that both have.
    pub(super) common: usize,
}

/// Compares the words of two blocks: the Dice coefficient of the whole, or of a sample of long ones. Longer words count
/// for more: most texts share the short ones.
pub(super) fn likeness(olds: &Words, old: usize, news: &Words, new: usize) -> Likeness {
    let (left, right) = (olds.of(old), news.of(new));
    let whole = olds.is_whole(old) && news.is_whole(new);
    let limit = if whole { usize::MAX } else { SAMPLE };
    let (mut at, mut to, mut common, mut shared, mut apart, mut seen) = (0, 0, 0, 0, 0, 0);
    while at < left.len() && to < right.len() && seen < limit {
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
        seen += 1;
    }
    if whole {
        apart += left[at..].iter().chain(&right[to..]).map(|word| weight(*word)).sum::<usize>();
    }
    Likeness { share: (2 * shared * 1000).checked_div(2 * shared + apart).unwrap_or(0), common }
}

/// The hash of a word: its low bits are its length in bytes.
fn word(hash: u64, length: usize) -> u64 {
    mixed(hash) & !LENGTH | LENGTH.min(length as u64)
}

/// What a word counts.
fn weight(word: u64) -> usize {
    usize::try_from(word & LENGTH).unwrap_or_default()
}

/// 0 to 1000: the share of the bytes of two short blocks that their beginnings and their ends have in common.
pub(super) fn same_ends(old: &[u8], new: &[u8]) -> usize {
    let (old, new) = (inner(old), inner(new));
    let shorter = old.len().min(new.len());
    if shorter == 0 || old.len().max(new.len()) > LETTERS {
        return 0;
    }
    let head = old.iter().zip(new).take_while(|(left, right)| left == right).count();
    let tail = old[head..].iter().rev().zip(new[head..].iter().rev()).take_while(|(left, right)| left == right).count();
    2 * (head + tail) * 1000 / (old.len() + new.len())
}

/// The text without what many blocks begin and end with: indentation, list marks, line endings.
fn inner(text: &[u8]) -> &[u8] {
    let mark = |byte: &u8| matches!(byte, b' ' | b'\t' | b'-' | b'*' | b'+' | b'#' | b'>' | b'\r' | b'\n');
    let start = text.iter().position(|byte| !mark(byte)).unwrap_or(text.len());
    text[start..].trim_ascii_end()
}

/// Calls `found` with the hash of every word: runs of letters and digits without regard to ASCII case, and single
/// characters of scripts that write no spaces (U+3000 and above).
fn each_word(text: &[u8], mut found: impl FnMut(u64)) {
    const SEED: u64 = 0x9e37_79b9_7f4a_7c15;
    let mut at = 0;
    while at < text.len() {
        let letters = text[at..].iter().take_while(|byte| is_letter(**byte)).count();
        if letters > 0 {
            let step = |hash: u64, byte: &u8| {
                (hash ^ u64::from(byte.to_ascii_lowercase())).wrapping_mul(0x0000_0100_0000_01b3)
            };
            found(word(text[at..at + letters].iter().fold(SEED, step), letters));
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
            found(word(text[at..end].iter().fold(SEED, step), length));
        }
        at = end;
    }
}

/// ASCII letters and digits, and the bytes of letters below U+2000.
fn is_letter(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || (0x80..0xe2).contains(&byte)
}

/// A hash whose order says nothing about the text (the finisher of `SplitMix64`).
fn mixed(hash: u64) -> u64 {
    let hash = (hash ^ (hash >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let hash = (hash ^ (hash >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    hash ^ (hash >> 31)
}
