//! The characters that are one token, and where they may be taken for it before merging begins.
//!
//! Merges happen in the order of their ranks, since what a merge makes merges further only by a higher rank. Whether
//! the bytes of a character become its token therefore depends on one thing alone: that nothing merges with a part of
//! them before. A merge across the border of two characters that takes a part of one of them makes a token that begins
//! or ends inside a character; there are a few hundred of those, and the bytes beside the borders in them are noted.

/// Bits for all pairs of two bytes.
const BORDERS: usize = (1 << 16) / 64;

/// No token stands for the character, since such ranks belong to single bytes.
const NONE: u32 = 0;

/// What is known about the characters of a vocabulary.
pub(crate) struct Chars {
    /// By code point, of the first 65,536.
    ranks: Vec<u32>,
    /// Where a part of a character may merge with another: by the byte before the border, and the one after it.
    uncertain: Box<[u64; BORDERS]>,
}

impl Chars {
    pub(crate) fn new() -> Self {
        Self { ranks: vec![NONE; 1 << 16], uncertain: Box::new([0; BORDERS]) }
    }

    /// Takes note of a token.
    pub(crate) fn learn(&mut self, token: &[u8], rank: u32) {
        if token.is_ascii() {
            return;
        }
        let is_start = |at: &usize| !is_inner(token[*at]);
        if let Ok(text) = std::str::from_utf8(token) {
            let mut characters = text.chars();
            if let (Some(only), None) = (characters.next(), characters.next())
                && let Some(known) = self.ranks.get_mut(only as usize)
            {
                *known = rank;
            }
            return;
        }
        let borders = 1..token.len();
        if is_inner(token[0])
            && let Some(border) = borders.clone().find(is_start)
        {
            self.note(token[border - 1], token[border]);
        }
        if let Some(border) = borders.rev().find(is_start)
            && token.len() - border < width(token[border])
        {
            self.note(token[border - 1], token[border]);
        }
    }

    fn note(&mut self, before: u8, after: u8) {
        let (word, bit) = place(before, after);
        self.uncertain[word] |= bit;
    }

    /// The width and the rank of the character at a place, if it is certain to become one token.
    #[inline]
    pub(crate) fn token(&self, text: &[u8], at: usize) -> Option<(usize, u32)> {
        let (point, width) = match *text.get(at..)? {
            [first @ 0xC2..0xE0, second, ..] => (u32::from(first & 0x1F) << 6 | low(second), 2),
            [first @ 0xE0..0xF0, second, third, ..] => {
                (u32::from(first & 0xF) << 12 | low(second) << 6 | low(third), 3)
            }
            _ => return None,
        };
        let rank = *self.ranks.get(point as usize)?;
        let certain = |border: usize| match (text.get(border.wrapping_sub(1)), text.get(border)) {
            (Some(before), Some(after)) => {
                let (word, bit) = place(*before, *after);
                self.uncertain[word] & bit == 0
            }
            _ => true,
        };
        (rank != NONE && certain(at) && certain(at + width)).then_some((width, rank))
    }
}

/// Whether a byte is one of a character, but not its first.
#[inline]
fn is_inner(byte: u8) -> bool {
    byte & 0xC0 == 0x80
}

#[inline]
fn low(inner: u8) -> u32 {
    u32::from(inner & 0x3F)
}

/// Bytes of a character, by the first of them.
fn width(first: u8) -> usize {
    match first {
        ..0x80 => 1,
        0x80..0xE0 => 2,
        0xE0..0xF0 => 3,
        0xF0.. => 4,
    }
}

#[inline]
fn place(before: u8, after: u8) -> (usize, u64) {
    (usize::from(before) << 2 | usize::from(after >> 6), 1 << (after & 63))
}
