//! The vocabulary of an encoding, unpacked from the embedded merge list (packed by `data/pack.py`).

use crate::tokens::char_tokens::CharTokens;
use crate::tokens::merge_table::{MergeTable, TokenSet};
use crate::tokens::piece_key::PieceKey;

/// Ranks below this are single bytes.
const BYTES: usize = 256;

/// The tables of an encoding: which pieces are tokens, and which adjacent tokens merge into what.
pub(crate) struct Vocabulary {
    /// The rank of each single byte.
    pub(crate) bytes: [u32; BYTES],
    pub(crate) merges: MergeTable,
    pub(crate) token_set: TokenSet,
    pub(crate) chars: CharTokens,
    packed: &'static [u8],
}

impl Vocabulary {
    /// Build the tables from the packed merge list.
    pub(crate) fn unpack(packed: &'static [u8]) -> Self {
        let singles = &packed[..BYTES];
        let mut bytes = [0; BYTES];
        for (rank, byte) in (0..).zip(singles) {
            bytes[usize::from(*byte)] = rank;
        }
        let spellings = Spellings::of(packed);
        let count = spellings.ends.len();
        let (mut merges, mut token_set, mut chars) =
            (MergeTable::with_capacity(count), TokenSet::with_capacity(count), CharTokens::new());
        for (rank, pair) in (0_u32..).skip(BYTES).zip(pairs(packed)) {
            merges.insert(pair.0, pair.1, rank);
        }
        for (rank, token) in (0_u32..).zip(spellings.tokens()) {
            chars.add_token(token, rank);
            let key = PieceKey::of(token);
            if key != PieceKey::TOO_LONG {
                token_set.insert(key);
            }
        }
        Self { bytes, merges, token_set, chars, packed }
    }

    /// Return the bytes of every token, by rank.
    pub(crate) fn spellings(&self) -> Spellings {
        Spellings::of(self.packed)
    }
}

/// Iterate over the pairs of ranks that merge into ranks 256, 257, ...
fn pairs(packed: &[u8]) -> impl Iterator<Item = (u32, u32)> {
    let rank = |bytes: &[u8]| u32::from_le_bytes([bytes[0], bytes[1], bytes[2], 0]);
    packed[BYTES..].chunks_exact(6).map(move |pair| (rank(&pair[..3]), rank(&pair[3..])))
}

/// The bytes of all tokens, concatenated.
pub(crate) struct Spellings {
    bytes: Vec<u8>,
    ends: Vec<u32>,
}

impl Spellings {
    /// Spell out every token from the two it was merged from.
    fn of(packed: &[u8]) -> Self {
        let count = BYTES + (packed.len() - BYTES) / 6;
        let mut spellings = Self { bytes: Vec::with_capacity(8 * count), ends: Vec::with_capacity(count) };
        spellings.bytes.extend_from_slice(&packed[..BYTES]);
        spellings.ends.extend((1..).take(BYTES));
        for (left, right) in pairs(packed) {
            for half in [left, right] {
                let (start, end) = spellings.span(half as usize);
                spellings.bytes.extend_from_within(start..end);
            }
            spellings.ends.push(u32::try_from(spellings.bytes.len()).unwrap_or(u32::MAX));
        }
        spellings
    }

    /// The byte range of a token.
    fn span(&self, rank: usize) -> (usize, usize) {
        let end = |rank: usize| self.ends[rank] as usize;
        (if rank == 0 { 0 } else { end(rank - 1) }, end(rank))
    }

    /// Iterate over the bytes of all tokens.
    fn tokens(&self) -> impl Iterator<Item = &[u8]> {
        (0..self.len()).map(|rank| self.token(rank))
    }

    /// Return the bytes of a token.
    pub(crate) fn token(&self, rank: usize) -> &[u8] {
        let (start, end) = self.span(rank);
        &self.bytes[start..end]
    }

    /// The number of tokens.
    pub(crate) fn len(&self) -> usize {
        self.ends.len()
    }
}
