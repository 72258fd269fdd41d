//! An encoding's tokens and merges, unpacked from the embedded table (`data/pack.py` says how it was packed).

use crate::tokens::chars::Chars;
use crate::tokens::key::Key;
use crate::tokens::table::{Merges, Whole};

/// Ranks below this are single bytes.
const BYTES: usize = 256;

/// What must be known to encode: which pieces are tokens, and which neighbours merge into what.
pub(crate) struct Vocabulary {
    /// The rank of each single byte.
    pub(crate) bytes: [u32; BYTES],
    pub(crate) merges: Merges,
    pub(crate) whole: Whole,
    pub(crate) chars: Chars,
    packed: &'static [u8],
}

impl Vocabulary {
    pub(crate) fn unpack(packed: &'static [u8]) -> Self {
        let singles = &packed[..BYTES];
        let mut bytes = [0; BYTES];
        for (rank, byte) in (0..).zip(singles) {
            bytes[usize::from(*byte)] = rank;
        }
        let spelled = Spelled::of(packed);
        let count = spelled.ends.len();
        let (mut merges, mut whole, mut chars) =
            (Merges::with_room_for(count), Whole::with_room_for(count), Chars::new());
        for (rank, pair) in (0_u32..).skip(BYTES).zip(pairs(packed)) {
            merges.insert(pair.0, pair.1, rank);
        }
        for (rank, token) in (0_u32..).zip(spelled.tokens()) {
            chars.learn(token, rank);
            let key = Key::of(token);
            if key != Key::LONG {
                whole.insert(key);
            }
        }
        Self { bytes, merges, whole, chars, packed }
    }

    /// The bytes of every token, by rank.
    pub(crate) fn spelled(&self) -> Spelled {
        Spelled::of(self.packed)
    }
}

/// The pairs that merge, from rank 256 on.
fn pairs(packed: &[u8]) -> impl Iterator<Item = (u32, u32)> {
    let rank = |bytes: &[u8]| u32::from_le_bytes([bytes[0], bytes[1], bytes[2], 0]);
    packed[BYTES..].chunks_exact(6).map(move |pair| (rank(&pair[..3]), rank(&pair[3..])))
}

/// The bytes of all tokens, one after the other.
pub(crate) struct Spelled {
    letters: Vec<u8>,
    ends: Vec<u32>,
}

impl Spelled {
    fn of(packed: &[u8]) -> Self {
        let count = BYTES + (packed.len() - BYTES) / 6;
        let mut spelled = Self { letters: Vec::with_capacity(8 * count), ends: Vec::with_capacity(count) };
        spelled.letters.extend_from_slice(&packed[..BYTES]);
        spelled.ends.extend((1..).take(BYTES));
        for (left, right) in pairs(packed) {
            for half in [left, right] {
                let (start, end) = spelled.span(half as usize);
                spelled.letters.extend_from_within(start..end);
            }
            spelled.ends.push(u32::try_from(spelled.letters.len()).unwrap_or(u32::MAX));
        }
        spelled
    }

    fn span(&self, rank: usize) -> (usize, usize) {
        let end = |rank: usize| self.ends[rank] as usize;
        (if rank == 0 { 0 } else { end(rank - 1) }, end(rank))
    }

    fn tokens(&self) -> impl Iterator<Item = &[u8]> {
        (0..self.len()).map(|rank| self.token(rank))
    }

    pub(crate) fn token(&self, rank: usize) -> &[u8] {
        let (start, end) = self.span(rank);
        &self.letters[start..end]
    }

    pub(crate) fn len(&self) -> usize {
        self.ends.len()
    }
}
