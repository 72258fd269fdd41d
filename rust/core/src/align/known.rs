//! Texts that can be told apart, and found again.

use std::borrow::Cow;

use crate::hash::Key;
use crate::table::Table;

/// Texts by number, each once.
pub(super) struct Known<'t> {
    key: Key,
    table: Table,
    texts: Vec<Cow<'t, [u8]>>,
}

impl<'t> Known<'t> {
    pub(super) fn with_capacity(texts: usize) -> Self {
        Self { key: Key::default(), table: Table::with_capacity(texts), texts: Vec::with_capacity(texts) }
    }

    /// The number of a text; of one that is not known yet, the next.
    pub(super) fn number(&mut self, text: Cow<'t, [u8]>) -> usize {
        let hash = self.key.of(&text);
        if let Some(number) = self.find(hash, &text) {
            return number;
        }
        self.table.insert(hash, u32::try_from(self.texts.len()).unwrap_or(u32::MAX));
        self.texts.push(text);
        self.texts.len() - 1
    }

    /// Makes a text known; whether it was not.
    pub(super) fn insert(&mut self, text: Cow<'t, [u8]>) -> bool {
        let count = self.texts.len();
        self.number(text) == count
    }

    fn find(&self, hash: u32, text: &[u8]) -> Option<usize> {
        self.table.find(hash, |number| *self.texts[number as usize] == *text).map(|number| number as usize)
    }

    /// Those of the texts that are known, by the index given with them. Memory is slow to give the texts, wherever they
    /// lie: hashing all, then looking all up, then comparing all leaves it time for several at once.
    pub(super) fn find_all(&self, given: impl Iterator<Item = (usize, Cow<'t, [u8]>)>) -> Vec<(usize, usize)> {
        let given: Vec<_> = given.collect();
        let hashes: Vec<u32> = given.iter().map(|(_, text)| self.key.of(text)).collect();
        let likely: Vec<Option<u32>> = hashes.iter().map(|hash| self.table.find(*hash, |_| true)).collect();
        let found = given.iter().zip(hashes).zip(likely).filter_map(|(((index, text), hash), likely)| {
            let likely = likely? as usize;
            let is = *self.texts[likely] == **text;
            Some((*index, if is { likely } else { self.find(hash, text)? }))
        });
        found.collect()
    }
}
