//! Texts split into lines with ids: equal lines have equal ids, whatever their line ending.

use memchr::memchr;

/// A text split into lines, each with its id.
#[derive(Clone, Debug)]
pub struct Lines<'t> {
    /// The text.
    pub text: &'t str,
    /// The id of each line.
    pub ids: Vec<u32>,
    /// The byte offset behind each line and its line ending.
    pub ends: Vec<usize>,
    /// True if any line ends with CR LF.
    pub has_crlf: bool,
}

impl<'t> Lines<'t> {
    /// The number of lines.
    #[must_use]
    pub fn len(&self) -> usize {
        self.ids.len()
    }

    /// Return true if there is no line.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.ids.is_empty()
    }

    /// Return the byte offset at which a line begins; the length of the text for the line behind the last.
    #[must_use]
    pub fn start(&self, line: usize) -> usize {
        if line == 0 { 0 } else { self.ends[line - 1] }
    }

    /// Return lines `from..to` as they are in the text.
    #[must_use]
    pub fn slice(&self, from: usize, to: usize) -> &'t str {
        &self.text[self.start(from)..self.start(to)]
    }

    /// Split a line into content and line ending: `\n`, `\r\n`, or nothing at the end of the text.
    #[must_use]
    pub fn parts(&self, line: usize) -> (&'t str, &'t str) {
        let whole = self.slice(line, line + 1);
        whole.split_at(content_length(whole.as_bytes()))
    }
}

/// The length in bytes of a line without its ending.
fn content_length(line: &[u8]) -> usize {
    let Some(content) = line.strip_suffix(b"\n") else { return line.len() };
    content.strip_suffix(b"\r").unwrap_or(content).len()
}

/// An interner of lines: equal lines get equal ids, over several texts.
#[derive(Default)]
pub struct Interner<'t> {
    /// The content of the line of each id, and its hash.
    interned: Vec<(&'t [u8], u64)>,
    /// Open-addressed hash table: id + 1, or 0 for an empty slot; the length is a power of two.
    table: Vec<u32>,
}

impl<'t> Interner<'t> {
    /// The number of ids.
    #[must_use]
    pub fn len(&self) -> usize {
        self.interned.len()
    }

    /// Return true if there is no id.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.interned.is_empty()
    }

    /// Split a text into lines with ids.
    pub fn split(&mut self, text: &'t str) -> Lines<'t> {
        let none = Lines { text: "", ids: Vec::new(), ends: Vec::new(), has_crlf: false };
        self.split_like(&none, text)
    }

    /// Split a text that resembles `other` into lines with ids.
    ///
    /// Lines in the same order as in `other` are compared with it directly, and are hashed only where that fails: most
    /// of a saved file is unchanged.
    pub fn split_like(&mut self, other: &Lines<'t>, text: &'t str) -> Lines<'t> {
        let bytes = text.as_bytes();
        let guess = if other.is_empty() { bytes.len() / 24 } else { other.len() + other.len() / 8 } + 8;
        let mut lines =
            Lines { text, ids: Vec::with_capacity(guess), ends: Vec::with_capacity(guess), has_crlf: false };
        if self.is_empty() {
            self.interned.reserve(guess);
            self.grow((2 * guess).next_power_of_two());
        }
        let mut positions = UniquePositions::of(other, self.len());
        let mut at = 0;
        let mut expected = 0;
        while at < bytes.len() {
            if let Some((id, end, crlf)) = same_line(other, expected, &bytes[at..]) {
                lines.ids.push(id);
                at += end;
                lines.ends.push(at);
                lines.has_crlf |= crlf;
                expected += 1;
                continue;
            }
            let end = memchr(b'\n', &bytes[at..]).map_or(bytes.len(), |length| at + length + 1);
            let content = content_length(&bytes[at..end]);
            lines.has_crlf |= end - at - content == 2;
            let id = self.id(&bytes[at..at + content]);
            if let Some(line) = positions.line_after(id) {
                expected = line;
            }
            lines.ids.push(id);
            lines.ends.push(end);
            at = end;
        }
        lines
    }

    /// Return the id of a line, giving it a new one if needed.
    fn id(&mut self, line: &'t [u8]) -> u32 {
        if self.interned.len() * 2 >= self.table.len() {
            self.grow(self.table.len() * 4);
        }
        let hash = hash_line(line);
        let mask = self.table.len() - 1;
        let mut slot = slot_of(hash, mask);
        loop {
            match self.table[slot] {
                0 => {
                    self.interned.push((line, hash));
                    let id = u32::try_from(self.interned.len()).unwrap_or(u32::MAX);
                    self.table[slot] = id;
                    return id - 1;
                }
                id => {
                    let (interned, interned_hash) = self.interned[id as usize - 1];
                    if interned_hash == hash && interned == line {
                        return id - 1;
                    }
                }
            }
            slot = (slot + 1) & mask;
        }
    }

    /// Rebuild the table with `size` slots, a power of two.
    fn grow(&mut self, size: usize) {
        self.table.clear();
        self.table.resize(size, 0);
        let mask = size - 1;
        for (id, (_, hash)) in (1_u32..).zip(&self.interned) {
            let mut slot = slot_of(*hash, mask);
            while self.table[slot] != 0 {
                slot = (slot + 1) & mask;
            }
            self.table[slot] = id;
        }
    }
}

/// For each line id, the line behind its only occurrence in another text.
struct UniquePositions(Vec<u32>);

impl UniquePositions {
    const NONE: u32 = 0;
    const SEVERAL: u32 = u32::MAX;

    /// Find the ids that occur once in `other`.
    fn of(other: &Lines<'_>, kinds: usize) -> Self {
        let mut positions = vec![Self::NONE; if other.is_empty() { 0 } else { kinds }];
        for (line_after, &id) in (1_u32..).zip(&other.ids) {
            let position = &mut positions[id as usize];
            *position = if *position == Self::NONE { line_after } else { Self::SEVERAL };
        }
        Self(positions)
    }

    /// Return the number of the line behind the only occurrence of an id, or None if there is none or more.
    fn line_after(&mut self, id: u32) -> Option<usize> {
        let position = *self.0.get(id as usize)?;
        (position != Self::NONE && position != Self::SEVERAL).then_some(position as usize)
    }
}

/// Compare the beginning of a text with the expected line of another text.
///
/// Return the line's id, its length with its ending, and whether that is CR LF; None if it differs.
#[inline]
fn same_line(other: &Lines<'_>, expected: usize, rest: &[u8]) -> Option<(u32, usize, bool)> {
    let end = *other.ends.get(expected)?;
    let line = &other.text.as_bytes()[other.start(expected)..end];
    if rest.starts_with(line) && line.last() == Some(&b'\n') {
        return Some((other.ids[expected], line.len(), line.ends_with(b"\r\n")));
    }
    // The same content with another ending. A line that ends with a lone CR is left to the general path.
    let content = &line[..content_length(line)];
    if content.last() == Some(&b'\r') || !rest.starts_with(content) {
        return None;
    }
    match &rest[content.len()..] {
        [] => Some((other.ids[expected], content.len(), false)),
        [b'\n', ..] => Some((other.ids[expected], content.len() + 1, false)),
        [b'\r', b'\n', ..] => Some((other.ids[expected], content.len() + 2, true)),
        _ => None,
    }
}

/// The first slot to probe for a hash.
fn slot_of(hash: u64, mask: usize) -> usize {
    // The high bits are the best mixed ones.
    usize::try_from(hash >> 32).unwrap_or(0) & mask
}

/// Hash a line, eight bytes at a time, each mixed in by a multiplication of 64 by 64 to 128 bits.
fn hash_line(line: &[u8]) -> u64 {
    const SEED: u64 = 0x9E37_79B9_7F4A_7C15;
    let (words, rest) = line.as_chunks::<8>();
    let mut state = SEED ^ line.len() as u64;
    for word in words {
        state = multiply_fold(state ^ u64::from_le_bytes(*word));
    }
    let mut last = [0; 8];
    last[..rest.len()].copy_from_slice(rest);
    multiply_fold(multiply_fold(state ^ u64::from_le_bytes(last)) ^ SEED)
}

/// Multiply to 128 bits and XOR the two halves.
#[expect(clippy::cast_possible_truncation, reason = "the two halves of the product")]
fn multiply_fold(state: u64) -> u64 {
    const STEP: u64 = 0xD6E8_FEB8_6659_FD93;
    let product = u128::from(state) * u128::from(STEP);
    product as u64 ^ (product >> 64) as u64
}
