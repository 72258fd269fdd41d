//! A string interner: strings get consecutive ids, and their text is stored in one buffer.

use crate::id_table::IdTable;
use crate::keyed_hash::HashKey;

/// Strings with ids from 0 in order of insertion.
#[derive(Default)]
pub(super) struct Interner {
    key: HashKey,
    table: IdTable,
    text: String,
    ends: Vec<usize>,
}

impl Interner {
    /// The number of ids given so far, removed strings included.
    pub(super) fn len(&self) -> usize {
        self.ends.len()
    }

    /// The number of strings that were not removed.
    pub(super) fn live(&self) -> usize {
        self.table.len()
    }

    /// Return the string of an id, even of a removed one; empty if the id was never given.
    pub(super) fn get(&self, id: u32) -> &str {
        let at = id as usize;
        let start = at.checked_sub(1).map_or(0, |before| self.ends[before]);
        self.ends.get(at).map_or("", |end| &self.text[start..*end])
    }

    /// Return the id of a string, or None.
    pub(super) fn find(&self, string: &str) -> Option<u32> {
        self.table.find(self.key.hash(string.as_bytes()), |id| self.get(id) == string)
    }

    /// Return the id of a string, giving it a new one if needed.
    pub(super) fn id(&mut self, string: &str) -> u32 {
        let hash = self.key.hash(string.as_bytes());
        if let Some(id) = self.table.find(hash, |id| self.get(id) == string) {
            return id;
        }
        self.add(hash, string)
    }

    /// Give a new id to a string that is not in the interner (or was removed).
    pub(super) fn push(&mut self, string: &str) -> u32 {
        self.add(self.key.hash(string.as_bytes()), string)
    }

    /// Remove a string from look-up; its id is not given again and still returns the text.
    pub(super) fn remove(&mut self, id: u32) {
        let hash = self.key.hash(self.get(id).as_bytes());
        self.table.remove(hash, id);
    }

    /// Append a string with its hash and return its id.
    fn add(&mut self, hash: u32, string: &str) -> u32 {
        let id = u32::try_from(self.ends.len()).unwrap_or(u32::MAX);
        self.text.push_str(string);
        self.ends.push(self.text.len());
        self.table.insert(hash, id);
        id
    }
}
