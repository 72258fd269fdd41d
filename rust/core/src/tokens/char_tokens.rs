//! Characters that are one token, and where they can be replaced by it before merging begins.
//!
//! Merges happen in the order of their ranks, as the result of a merge takes part only in merges of higher rank.
//! The bytes of a character therefore become its token on one condition alone: that none of its bytes merges with a
//! neighbour before. Such a merge across the border of two characters makes a token that begins or ends inside a
//! character; there are a few hundred of those, and the two bytes at the border in them are recorded.

/// Words of a bit set over all pairs of two bytes.
const BORDER_WORDS: usize = (1 << 16) / 64;

/// Marks a character without a token of its own: rank 0 always belongs to a single byte.
const NO_TOKEN: u32 = 0;

/// The characters of a vocabulary that are tokens, and the uncertain borders.
pub(crate) struct CharTokens {
    /// The token rank of each of the first 65,536 code points.
    ranks: Vec<u32>,
    /// Pairs of bytes (before and after a character border) at which a part of a character may merge across the border.
    uncertain: Box<[u64; BORDER_WORDS]>,
}

impl CharTokens {
    /// A table without characters.
    pub(crate) fn new() -> Self {
        Self { ranks: vec![NO_TOKEN; 1 << 16], uncertain: Box::new([0; BORDER_WORDS]) }
    }

    /// Record a token of the vocabulary: a single character, or the borders inside a token of broken characters.
    pub(crate) fn add_token(&mut self, token: &[u8], rank: u32) {
        if token.is_ascii() {
            return;
        }
        let is_start = |at: &usize| !is_continuation(token[*at]);
        if let Ok(text) = std::str::from_utf8(token) {
            let mut characters = text.chars();
            if let (Some(only), None) = (characters.next(), characters.next())
                && let Some(entry) = self.ranks.get_mut(only as usize)
            {
                *entry = rank;
            }
            return;
        }
        let borders = 1..token.len();
        if is_continuation(token[0])
            && let Some(border) = borders.clone().find(is_start)
        {
            self.mark_uncertain(token[border - 1], token[border]);
        }
        if let Some(border) = borders.rev().find(is_start)
            && token.len() - border < width(token[border])
        {
            self.mark_uncertain(token[border - 1], token[border]);
        }
    }

    /// Mark the border between these two bytes as uncertain.
    fn mark_uncertain(&mut self, before: u8, after: u8) {
        let (word, bit) = bit_of(before, after);
        self.uncertain[word] |= bit;
    }

    /// Return the width in bytes and the rank of the character at a position, if it is certain to become one token.
    #[inline]
    pub(crate) fn token(&self, text: &[u8], at: usize) -> Option<(usize, u32)> {
        let (point, width) = match *text.get(at..)? {
            [first @ 0xC2..0xE0, second, ..] => (u32::from(first & 0x1F) << 6 | low_bits(second), 2),
            [first @ 0xE0..0xF0, second, third, ..] => {
                (u32::from(first & 0xF) << 12 | low_bits(second) << 6 | low_bits(third), 3)
            }
            _ => return None,
        };
        let rank = *self.ranks.get(point as usize)?;
        let is_certain = |border: usize| match (text.get(border.wrapping_sub(1)), text.get(border)) {
            (Some(before), Some(after)) => {
                let (word, bit) = bit_of(*before, *after);
                self.uncertain[word] & bit == 0
            }
            _ => true,
        };
        (rank != NO_TOKEN && is_certain(at) && is_certain(at + width)).then_some((width, rank))
    }
}

/// Return true if a byte is a UTF-8 continuation byte.
#[inline]
fn is_continuation(byte: u8) -> bool {
    byte & 0xC0 == 0x80
}

/// The payload bits of a continuation byte.
#[inline]
fn low_bits(inner: u8) -> u32 {
    u32::from(inner & 0x3F)
}

/// The length in bytes of a character, by its first byte.
fn width(first: u8) -> usize {
    match first {
        ..0x80 => 1,
        0x80..0xE0 => 2,
        0xE0..0xF0 => 3,
        0xF0.. => 4,
    }
}

/// The word and the bit of a pair of bytes.
#[inline]
fn bit_of(before: u8, after: u8) -> (usize, u64) {
    (usize::from(before) << 2 | usize::from(after >> 6), 1 << (after & 63))
}
