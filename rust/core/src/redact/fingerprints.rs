//! Fingerprints: keyed hashes of secrets that were redacted, by which one is found when it comes again without its name.
//!
//! `token = 'k3j5h2g8'` is found by its name, a later `use k3j5h2g8` only by its fingerprint. The value itself is kept
//! nowhere: a fingerprint is HMAC-SHA256 under a random key, with the length of the value and 16 bits of another keyed
//! hash of its first bytes, so that a text is searched without hashing every part of it.

use std::hash::{BuildHasher, RandomState};

use sha2::{Digest, Sha256};

use crate::redact::Span;
use crate::redact::findings::{Findings, Rule};
use crate::redact::kinds::kinds;
use crate::redact::value::{CERTAIN_BITS, Parts, is_name, is_random, is_uuid};

/// Fingerprints that are kept; a newer one replaces the oldest. Real stores have a few hundred.
pub const FINGERPRINTS_MAX: usize = 4096;
/// Bytes that the prefix hash covers, and those of the longest value that is remembered.
const VALUE_MIN: usize = 6;
const VALUE_MAX: usize = 256;
/// Bytes of the key.
pub const KEY_BYTES: usize = 32;
/// Bytes of a fingerprint in [`Fingerprints::to_bytes`]: hash, length, prefix, and the number of its kind.
const PACKED_BYTES: usize = HASH_BYTES + 6;
/// Bytes of the hash that are kept: two values agree by chance once in 2^128.
pub const HASH_BYTES: usize = 16;
/// Bytes of the block that HMAC works with.
const BLOCK_BYTES: usize = 64;

/// Return true if nobody types a value by chance, so that each later mention is the secret.
///
/// Stored fingerprints are asked too, when they match: an older version remembered words.
pub(crate) fn is_memorable(value: &str) -> bool {
    (VALUE_MIN..=VALUE_MAX).contains(&value.len())
        && !value.bytes().any(|byte| byte.is_ascii_whitespace() || byte.is_ascii_control())
        && !value.contains("REDACTED")
        && !value.contains("://")
        && !is_uuid(value.as_bytes())
        && (is_random(value.as_bytes())
            || Parts::of(value.as_bytes()).bits() >= CERTAIN_BITS && !is_name(value.as_bytes()))
}

/// The fingerprint of one value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fingerprint {
    /// Bytes of the value.
    pub length: u16,
    /// 16 bits of a keyed hash of its first bytes.
    pub prefix: u16,
    /// The beginning of its HMAC-SHA256.
    pub hash: [u8; HASH_BYTES],
    /// The kind in `[REDACTED:<kind>]`.
    pub kind: &'static str,
}

/// The key, and the states of HMAC after its two blocks of key.
#[derive(Clone)]
struct Key {
    bytes: [u8; KEY_BYTES],
    inner: Sha256,
    outer: Sha256,
    mixer: [u64; 2],
}

/// The fingerprints of a store, or of one text.
#[derive(Clone)]
pub struct Fingerprints {
    key: Key,
    /// Sorted by prefix, then length; each with its number, which counts all that were ever added.
    entries: Vec<(Fingerprint, u64)>,
    /// The prefixes that any entry has, one bit each.
    prefixes: Vec<u64>,
    /// The number of the last entry.
    last: u64,
}

impl Key {
    /// Prepare the hash states of a key.
    fn new(bytes: [u8; KEY_BYTES]) -> Self {
        let padded = |mask: u8| {
            let mut block = [mask; BLOCK_BYTES];
            block.iter_mut().zip(bytes).for_each(|(padded, byte)| *padded = byte ^ mask);
            Sha256::new_with_prefix(block)
        };
        let (inner, outer) = (padded(0x36), padded(0x5c));
        let mut key = Self { bytes, inner, outer, mixer: [0; 2] };
        let mixed = key.hash(b"prefix");
        let half = |at: usize| mixed[at..at + 8].iter().fold(0, |number, byte| number << 8 | u64::from(*byte));
        key.mixer = [half(0), half(8) | 1];
        key
    }

    /// Return a random key.
    fn random() -> Self {
        let mut bytes = [0; KEY_BYTES];
        for eight in bytes.chunks_exact_mut(8) {
            eight.copy_from_slice(&RandomState::new().hash_one(0).to_ne_bytes());
        }
        Self::new(Sha256::digest(bytes).into())
    }

    /// Return the beginning of the HMAC-SHA256 of a value.
    fn hash(&self, value: &[u8]) -> [u8; HASH_BYTES] {
        let inner = self.inner.clone().chain_update(value).finalize();
        let outer = self.outer.clone().chain_update(inner).finalize();
        let mut hash = [0; HASH_BYTES];
        hash.copy_from_slice(&outer[..HASH_BYTES]);
        hash
    }

    /// Return 16 bits of a keyed hash of the first `VALUE_MIN` bytes.
    #[expect(clippy::cast_possible_truncation, reason = "16 bits are left")]
    fn prefix(&self, first: [u8; VALUE_MIN]) -> u16 {
        let number = first.iter().rev().fold(0, |number, byte| number << 8 | u64::from(*byte));
        let product = u128::from(number ^ self.mixer[0]) * u128::from(self.mixer[1]);
        (((product >> 64) ^ product) as u64 >> 48) as u16
    }
}

impl Default for Fingerprints {
    fn default() -> Self {
        Self::with_key(Key::random())
    }
}

impl Fingerprints {
    /// None yet, under a key.
    fn with_key(key: Key) -> Self {
        Self { key, entries: Vec::new(), prefixes: vec![0; 1 << 10], last: 0 }
    }

    /// None yet, under this key.
    #[must_use]
    pub fn new(key: [u8; KEY_BYTES]) -> Self {
        Self::with_key(Key::new(key))
    }

    /// Return the key.
    #[must_use]
    pub fn key(&self) -> [u8; KEY_BYTES] {
        self.key.bytes
    }

    /// Return the number of the last fingerprint that was added: how many there ever were.
    #[must_use]
    pub fn last(&self) -> u64 {
        self.last
    }

    /// Return true if there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Return the fingerprints with a greater number than `number`, in the order in which they were added.
    #[must_use]
    pub fn after(&self, number: u64) -> Vec<(u64, Fingerprint)> {
        let newer = self.entries.iter().filter(|(_, added)| *added > number);
        let mut newer: Vec<_> = newer.map(|(fingerprint, added)| (*added, *fingerprint)).collect();
        newer.sort_unstable_by_key(|(added, _)| *added);
        newer
    }

    /// Return the keyed hash of a value.
    #[must_use]
    pub fn hash(&self, value: &str) -> [u8; HASH_BYTES] {
        self.key.hash(value.as_bytes())
    }

    /// Return true if there is the fingerprint of a value.
    pub(crate) fn has(&self, value: &str) -> bool {
        let of = self.fingerprint(value.as_bytes(), "");
        of.is_some_and(|of| self.place(&of).is_ok())
    }

    /// Return where a fingerprint is in the entries, or where it has to be.
    fn place(&self, fingerprint: &Fingerprint) -> Result<usize, usize> {
        let order = |of: &Fingerprint| (of.prefix, of.length, of.hash);
        self.entries.binary_search_by_key(&order(fingerprint), |(entry, _)| order(entry))
    }

    /// Add the fingerprint of a value.
    pub(crate) fn remember(&mut self, value: &str, kind: &'static str) {
        if let Some(fingerprint) = self.fingerprint(value.as_bytes(), kind) {
            self.add(fingerprint);
        }
    }

    /// Add a fingerprint made under the same key, unless it is there.
    pub fn add(&mut self, fingerprint: Fingerprint) {
        let Err(at) = self.place(&fingerprint) else { return };
        self.last += 1;
        self.entries.insert(at, (fingerprint, self.last));
        self.prefixes[usize::from(fingerprint.prefix >> 6)] |= 1 << (fingerprint.prefix & 63);
        if self.entries.len() > FINGERPRINTS_MAX {
            let oldest = self.entries.iter().enumerate().min_by_key(|(_, (_, number))| *number);
            let (removed, _) = self.entries.remove(oldest.map_or(0, |(at, _)| at));
            if !self.entries.iter().any(|(entry, _)| entry.prefix == removed.prefix) {
                self.prefixes[usize::from(removed.prefix >> 6)] &= !(1 << (removed.prefix & 63));
            }
        }
    }

    /// Return the fingerprint of a value; None if it is too short or too long for one.
    fn fingerprint(&self, value: &[u8], kind: &'static str) -> Option<Fingerprint> {
        let first = *value.first_chunk()?;
        let length = u16::try_from(value.len()).ok().filter(|length| usize::from(*length) <= VALUE_MAX)?;
        Some(Fingerprint { length, prefix: self.key.prefix(first), hash: self.key.hash(value), kind })
    }

    /// Return the key and the fingerprints as bytes, for another process of this version.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = self.key.bytes.to_vec();
        for (_, Fingerprint { length, prefix, hash, kind }) in self.after(0) {
            let kind = kinds().binary_search(&kind).ok().and_then(|at| u16::try_from(at).ok()).unwrap_or(0);
            bytes.extend_from_slice(&hash);
            bytes.extend([length, prefix, kind].into_iter().flat_map(u16::to_be_bytes));
        }
        bytes
    }

    /// Return what [`Fingerprints::to_bytes`] made bytes of; None if these are other bytes.
    #[must_use]
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let (key, entries) = bytes.split_first_chunk()?;
        let mut read = Self::new(*key);
        for entry in entries.chunks(PACKED_BYTES) {
            let (hash, numbers) = entry.split_first_chunk()?;
            let number = |at: usize| Some(u16::from_be_bytes(*numbers.get(at..)?.first_chunk()?));
            let kind = kinds().get(usize::from(number(4)?))?;
            read.add(Fingerprint { length: number(0)?, prefix: number(2)?, hash: *hash, kind });
        }
        Some(read)
    }

    /// Add a span for every remembered value that is in the text as a whole word or words.
    pub(crate) fn find(&self, findings: &mut Findings<'_>) {
        if self.entries.is_empty() {
            return;
        }
        let bytes = findings.bytes;
        let mut before = Edge::Mark;
        for (at, byte) in bytes.iter().enumerate() {
            let edge = Edge::of(*byte);
            let begins = edge.is_separate(before) || begins_behind_letter(bytes, at);
            before = edge;
            if begins && let Some(first) = findings.part(at, usize::MAX).first_chunk() {
                let prefix = self.key.prefix(*first);
                if self.prefixes[usize::from(prefix >> 6)] >> (prefix & 63) & 1 == 1 {
                    self.find_at(findings, at, prefix);
                }
            }
        }
    }

    /// Add a span for a remembered value with this prefix that is at `at`.
    fn find_at(&self, findings: &mut Findings<'_>, at: usize, prefix: u16) {
        let bytes = findings.bytes;
        let first = self.entries.partition_point(|(entry, _)| entry.prefix < prefix);
        let mut hashed = None;
        for (entry, _) in self.entries[first..].iter().take_while(|(entry, _)| entry.prefix == prefix) {
            let end = at + usize::from(entry.length);
            let Some((value, last)) = bytes.get(at..end).and_then(|value| Some((value, *value.last()?))) else {
                continue;
            };
            let next = bytes.get(end).copied().map_or(Edge::Mark, Edge::of);
            if !Edge::of(last).is_separate(next) {
                continue;
            }
            let hash = match hashed {
                Some((length, hash)) if length == entry.length => hash,
                _ => self.key.hash(value),
            };
            hashed = Some((entry.length, hash));
            if hash == entry.hash && std::str::from_utf8(value).is_ok_and(is_memorable) {
                findings.add(Some(Span { start: at, end, kind: entry.kind }), Rule::Remembered);
            }
        }
    }
}

/// Class of a byte where a word may begin or end.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Edge {
    /// An ASCII letter or digit, or what joins the parts of names.
    Word,
    /// Part of a letter beyond ASCII: many languages write no space between words.
    Letter,
    /// Anything else.
    Mark,
}

impl Edge {
    /// Return what a byte is.
    fn of(byte: u8) -> Self {
        match byte {
            b'0'..=b'9' | b'A'..=b'Z' | b'a'..=b'z' | b'-' | b'_' => Self::Word,
            0x80.. => Self::Letter,
            _ => Self::Mark,
        }
    }

    /// Return true if a word ends between two bytes. `X1b2` is a word in `(X1b2)` and `是X1b2`, not in `aX1b2`.
    fn is_separate(self, other: Self) -> bool {
        self != other || self == Self::Mark
    }
}

/// Return true if a word begins behind the letter of an escape (`\nX1b2`) or of an option (`-pX1b2`).
fn begins_behind_letter(bytes: &[u8], at: usize) -> bool {
    match bytes.get(..at).unwrap_or_default() {
        [.., b'\\', b'n' | b'r' | b't'] => true,
        [.., b' ', b'-', letter] | [b'-', letter] => letter.is_ascii_alphabetic(),
        _ => false,
    }
}
