//! An encoding's tokens and merges, unpacked from the embedded table (`data/pack.py` says how it was packed).

/// Bytes of a token that fit into a key, beside their number.
pub(crate) const KEY_BYTES: usize = 15;

/// Ranks below this are single bytes.
const BYTES: usize = 256;

/// What must be known to encode: which pieces are tokens, and which neighbours merge into what.
pub(crate) struct Vocabulary {
    /// The rank of each single byte.
    pub(crate) bytes: [u32; BYTES],
    pub(crate) merges: Merges,
    pub(crate) whole: Whole,
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
        let (mut merges, mut whole) = (Merges::with_room_for(count), Whole::with_room_for(count));
        for (rank, pair) in (0_u32..).skip(BYTES).zip(pairs(packed)) {
            merges.insert(pair.0, pair.1, rank);
        }
        for rank in 0..count {
            if let Some(key) = key_of(spelled.token(rank)) {
                whole.insert(key);
            }
        }
        Self { bytes, merges, whole, packed }
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
    ends: Vec<usize>,
}

impl Spelled {
    fn of(packed: &[u8]) -> Self {
        let mut spelled = Self { letters: packed[..BYTES].to_vec(), ends: (1..=BYTES).collect() };
        for (left, right) in pairs(packed) {
            for half in [left, right] {
                let (start, end) = spelled.span(half as usize);
                spelled.letters.extend_from_within(start..end);
            }
            spelled.ends.push(spelled.letters.len());
        }
        spelled
    }

    fn span(&self, rank: usize) -> (usize, usize) {
        (if rank == 0 { 0 } else { self.ends[rank - 1] }, self.ends[rank])
    }

    pub(crate) fn token(&self, rank: usize) -> &[u8] {
        let (start, end) = self.span(rank);
        &self.letters[start..end]
    }

    pub(crate) fn len(&self) -> usize {
        self.ends.len()
    }
}

/// Spreads the bits of a key over a table whose size is a power of two.
#[inline]
pub(crate) fn spread(key: u64) -> u64 {
    let mixed = key.wrapping_mul(0x9E37_79B9_7F4A_7C15);
    mixed ^ (mixed >> 29)
}

/// Which two tokens merge into which: open addressing, one word an entry.
pub(crate) struct Merges {
    entries: Vec<u64>,
    mask: usize,
}

/// Ranks fit into this many bits.
const RANK_BITS: u32 = 18;
const RANK_MASK: u64 = (1 << RANK_BITS) - 1;

impl Merges {
    fn with_room_for(count: usize) -> Self {
        let size = (count * 2).next_power_of_two();
        Self { entries: vec![u64::MAX; size], mask: size - 1 }
    }

    fn insert(&mut self, left: u32, right: u32, merged: u32) {
        let pair = pair(left, right);
        let mut at = self.home(pair);
        while self.entries[at] != u64::MAX {
            at = (at + 1) & self.mask;
        }
        self.entries[at] = pair << RANK_BITS | u64::from(merged);
    }

    /// The rank that two neighbours merge into, or `u32::MAX`.
    #[inline]
    pub(crate) fn get(&self, left: u32, right: u32) -> u32 {
        let pair = pair(left, right);
        let mut at = self.home(pair);
        loop {
            let entry = self.entries[at];
            if entry >> RANK_BITS == pair {
                return u32::try_from(entry & RANK_MASK).unwrap_or(u32::MAX);
            }
            if entry == u64::MAX {
                return u32::MAX;
            }
            at = (at + 1) & self.mask;
        }
    }

    #[inline]
    fn home(&self, pair: u64) -> usize {
        place(spread(pair), self.mask)
    }
}

#[inline]
fn pair(left: u32, right: u32) -> u64 {
    u64::from(left) << RANK_BITS | u64::from(right)
}

#[inline]
pub(crate) fn place(hash: u64, mask: usize) -> usize {
    usize::try_from(hash & mask as u64).unwrap_or(0)
}

/// The tokens of at most [`KEY_BYTES`] bytes: open addressing, one key an entry, 0 for none.
pub(crate) struct Whole {
    entries: Vec<u128>,
    mask: usize,
}

impl Whole {
    fn with_room_for(count: usize) -> Self {
        let size = (count * 2).next_power_of_two();
        Self { entries: vec![0; size], mask: size - 1 }
    }

    fn insert(&mut self, key: u128) {
        let mut at = place(hash_of(key), self.mask);
        while self.entries[at] != 0 {
            at = (at + 1) & self.mask;
        }
        self.entries[at] = key;
    }

    #[inline]
    pub(crate) fn contains(&self, key: u128) -> bool {
        let mut at = place(hash_of(key), self.mask);
        loop {
            let entry = self.entries[at];
            if entry == key {
                return true;
            }
            if entry == 0 {
                return false;
            }
            at = (at + 1) & self.mask;
        }
    }
}

/// A short piece as a number: its bytes, and their count in the highest byte. Never 0.
#[inline]
pub(crate) fn key_of(piece: &[u8]) -> Option<u128> {
    if piece.is_empty() || piece.len() > KEY_BYTES {
        return None;
    }
    let mut bytes = [0; 16];
    bytes[..piece.len()].copy_from_slice(piece);
    bytes[KEY_BYTES] = u8::try_from(piece.len()).unwrap_or(0);
    Some(u128::from_le_bytes(bytes))
}

/// The same for a piece inside a text, without copying byte by byte where 16 bytes are at hand.
#[inline]
pub(crate) fn key_at(text: &[u8], start: usize, end: usize) -> Option<u128> {
    let length = end - start;
    if length > KEY_BYTES {
        return None;
    }
    let Some(window) = text.get(start..start + 16).and_then(|window| <[u8; 16]>::try_from(window).ok()) else {
        return key_of(&text[start..end]);
    };
    let kept = u128::from_le_bytes(window) & ((1 << (8 * length)) - 1);
    Some(kept | (length as u128) << 120)
}

#[inline]
pub(crate) fn hash_of(key: u128) -> u64 {
    let (low, high) = halves(key);
    spread(low ^ spread(high))
}

#[inline]
fn halves(key: u128) -> (u64, u64) {
    let bytes = key.to_le_bytes();
    let half = |at: usize| {
        let mut half = [0; 8];
        half.copy_from_slice(&bytes[at..at + 8]);
        u64::from_le_bytes(half)
    };
    (half(0), half(8))
}
