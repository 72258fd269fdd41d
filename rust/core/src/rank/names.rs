//! Strings as consecutive numbers, their text in one piece of memory.

use crate::hash::Key;
use crate::table::Table;

/// Strings numbered from 0 in the order of their arrival.
#[derive(Default)]
pub(super) struct Names {
    key: Key,
    table: Table,
    text: String,
    ends: Vec<usize>,
}

impl Names {
    /// How many were numbered, forgotten ones included.
    pub(super) fn len(&self) -> usize {
        self.ends.len()
    }

    /// How many can be found.
    pub(super) fn known(&self) -> usize {
        self.table.len()
    }

    /// The string of a number that was given; empty for any other.
    pub(super) fn get(&self, number: u32) -> &str {
        let at = number as usize;
        let start = at.checked_sub(1).map_or(0, |before| self.ends[before]);
        self.ends.get(at).map_or("", |end| &self.text[start..*end])
    }

    /// The number of a string.
    pub(super) fn find(&self, name: &str) -> Option<u32> {
        self.table.find(self.key.of(name.as_bytes()), |number| self.get(number) == name)
    }

    /// The number of a string, a new one if it has none yet.
    pub(super) fn number(&mut self, name: &str) -> u32 {
        let hash = self.key.of(name.as_bytes());
        if let Some(number) = self.table.find(hash, |number| self.get(number) == name) {
            return number;
        }
        self.add(hash, name)
    }

    /// A new number for a string that cannot be found.
    pub(super) fn push(&mut self, name: &str) -> u32 {
        self.add(self.key.of(name.as_bytes()), name)
    }

    /// Makes a string unfindable; its number is not given again.
    pub(super) fn forget(&mut self, number: u32) {
        let hash = self.key.of(self.get(number).as_bytes());
        self.table.remove(hash, number);
    }

    fn add(&mut self, hash: u32, name: &str) -> u32 {
        let number = u32::try_from(self.ends.len()).unwrap_or(u32::MAX);
        self.text.push_str(name);
        self.ends.push(self.text.len());
        self.table.insert(hash, number);
        number
    }
}
