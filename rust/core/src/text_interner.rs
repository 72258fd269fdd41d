//! An interner of byte texts: equal texts get the same number.

use std::borrow::Cow;

use crate::id_table::IdTable;
use crate::keyed_hash::HashKey;

/// Distinct texts, numbered from 0 in order of insertion.
pub(crate) struct TextInterner<'t> {
    key: HashKey,
    table: IdTable,
    texts: Vec<Cow<'t, [u8]>>,
}

impl<'t> TextInterner<'t> {
    /// An empty interner with room for `texts` texts.
    pub(crate) fn with_capacity(texts: usize) -> Self {
        Self { key: HashKey::default(), table: IdTable::with_capacity(texts), texts: Vec::with_capacity(texts) }
    }

    /// The number of distinct texts.
    pub(crate) fn len(&self) -> usize {
        self.texts.len()
    }

    /// Return the number of a text, giving it the next one if it is new.
    pub(crate) fn number(&mut self, text: Cow<'t, [u8]>) -> u32 {
        let hash = self.key.hash(&text);
        self.find(hash, &text).unwrap_or_else(|| {
            let number = u32::try_from(self.texts.len()).unwrap_or(u32::MAX);
            self.table.insert(hash, number);
            self.texts.push(text);
            number
        })
    }

    /// Insert a text; return whether it was new.
    pub(crate) fn insert(&mut self, text: Cow<'t, [u8]>) -> bool {
        let count = self.texts.len();
        self.number(text) as usize == count
    }

    fn find(&self, hash: u32, text: &[u8]) -> Option<u32> {
        self.table.find(hash, |number| *self.texts[number as usize] == *text)
    }

    /// Return (index, number) for those of the indexed texts that are in the interner.
    ///
    /// Three passes (hash all, look all up by hash, compare all) instead of one per text: reading the texts from memory
    /// is what takes the time, and independent reads in one loop overlap.
    pub(crate) fn find_all(&self, indexed: impl Iterator<Item = (usize, Cow<'t, [u8]>)>) -> Vec<(usize, usize)> {
        let indexed: Vec<_> = indexed.collect();
        let hashes: Vec<u32> = indexed.iter().map(|(_, text)| self.key.hash(text)).collect();
        let candidates: Vec<Option<u32>> = hashes.iter().map(|hash| self.table.find(*hash, |_| true)).collect();
        let matches = indexed.iter().zip(hashes).zip(candidates).filter_map(|(((index, text), hash), candidate)| {
            let candidate = candidate?;
            let is_equal = *self.texts[candidate as usize] == **text;
            Some((*index, if is_equal { candidate } else { self.find(hash, text)? } as usize))
        });
        matches.collect()
    }
}
