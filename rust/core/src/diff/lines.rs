//! Lines as numbers: equal lines have equal ids, whatever ends them.

use memchr::memchr;

/// A text cut into lines, each with its id.
#[derive(Clone, Debug)]
pub struct Lines<'t> {
    /// The text.
    pub text: &'t str,
    /// One id for each line.
    pub ids: Vec<u32>,
    /// The byte behind each line, its ending included.
    pub ends: Vec<usize>,
    /// Whether a line ends with CR LF.
    pub has_crlf: bool,
}

impl<'t> Lines<'t> {
    /// How many lines there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.ids.len()
    }

    /// Whether there is no line.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.ids.is_empty()
    }

    /// The byte where a line begins; the length of the text for the line behind the last.
    #[must_use]
    pub fn start(&self, line: usize) -> usize {
        if line == 0 { 0 } else { self.ends[line - 1] }
    }

    /// The lines from `from` to before `to` as they stand in the text.
    #[must_use]
    pub fn slice(&self, from: usize, to: usize) -> &'t str {
        &self.text[self.start(from)..self.start(to)]
    }

    /// A line without and with what ends it: `\n`, `\r\n`, or nothing at the end of the text.
    #[must_use]
    pub fn parts(&self, line: usize) -> (&'t str, &'t str) {
        let whole = self.slice(line, line + 1);
        whole.split_at(content_length(whole.as_bytes()))
    }
}

/// Bytes of a line without its ending.
fn content_length(line: &[u8]) -> usize {
    let Some(content) = line.strip_suffix(b"\n") else { return line.len() };
    content.strip_suffix(b"\r").unwrap_or(content).len()
}

/// Gives equal lines equal ids, over several texts.
#[derive(Default)]
pub struct Interner<'t> {
    /// The first line of each id, without its ending, and its hash.
    known: Vec<(&'t [u8], u64)>,
    /// Open addressing: id + 1, or 0 for an empty place; the length is a power of two.
    table: Vec<u32>,
}

impl<'t> Interner<'t> {
    /// How many ids there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.known.len()
    }

    /// Whether there is no id.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.known.is_empty()
    }

    /// The lines of a text.
    pub fn first(&mut self, text: &'t str) -> Lines<'t> {
        let none = Lines { text: "", ids: Vec::new(), ends: Vec::new(), has_crlf: false };
        self.like(&none, text)
    }

    /// The lines of a text that is expected to be much like `other`: lines that stand in the same order are compared
    /// with each other first, and are hashed only where that fails.
    pub fn like(&mut self, other: &Lines<'t>, text: &'t str) -> Lines<'t> {
        let bytes = text.as_bytes();
        let guess = if other.is_empty() { bytes.len() / 24 } else { other.len() + other.len() / 8 } + 8;
        let mut lines =
            Lines { text, ids: Vec::with_capacity(guess), ends: Vec::with_capacity(guess), has_crlf: false };
        if self.is_empty() {
            self.known.reserve(guess);
            self.grow((2 * guess).next_power_of_two());
        }
        let mut places = Places::of(other, self.len());
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
            if let Some(place) = places.behind(id) {
                expected = place;
            }
            lines.ids.push(id);
            lines.ends.push(end);
            at = end;
        }
        lines
    }

    fn id(&mut self, line: &'t [u8]) -> u32 {
        if self.known.len() * 2 >= self.table.len() {
            self.grow(self.table.len() * 4);
        }
        let hash = hashed(line);
        let mask = self.table.len() - 1;
        let mut place = place_of(hash, mask);
        loop {
            match self.table[place] {
                0 => {
                    self.known.push((line, hash));
                    let id = u32::try_from(self.known.len()).unwrap_or(u32::MAX);
                    self.table[place] = id;
                    return id - 1;
                }
                id => {
                    let (known, known_hash) = self.known[id as usize - 1];
                    if known_hash == hash && known == line {
                        return id - 1;
                    }
                }
            }
            place = (place + 1) & mask;
        }
    }

    /// Makes a table of so many places, a power of two.
    fn grow(&mut self, size: usize) {
        self.table.clear();
        self.table.resize(size, 0);
        let mask = size - 1;
        for (id, (_, hash)) in (1_u32..).zip(&self.known) {
            let mut place = place_of(*hash, mask);
            while self.table[place] != 0 {
                place = (place + 1) & mask;
            }
            self.table[place] = id;
        }
    }
}

/// Where the lines of another text stand that stand there once.
struct Places(Vec<u32>);

impl Places {
    const NONE: u32 = 0;
    const SEVERAL: u32 = u32::MAX;

    fn of(other: &Lines<'_>, kinds: usize) -> Self {
        let mut places = vec![Self::NONE; if other.is_empty() { 0 } else { kinds }];
        for (behind, &id) in (1_u32..).zip(&other.ids) {
            let place = &mut places[id as usize];
            *place = if *place == Self::NONE { behind } else { Self::SEVERAL };
        }
        Self(places)
    }

    /// The line behind the only one with this id.
    fn behind(&mut self, id: u32) -> Option<usize> {
        let place = *self.0.get(id as usize)?;
        (place != Self::NONE && place != Self::SEVERAL).then_some(place as usize)
    }
}

/// If a text goes on with the expected line of another: its id, its length with its ending, and whether that is CR LF.
#[inline]
fn same_line(other: &Lines<'_>, expected: usize, rest: &[u8]) -> Option<(u32, usize, bool)> {
    let end = *other.ends.get(expected)?;
    let line = &other.text.as_bytes()[other.start(expected)..end];
    if rest.starts_with(line) && line.last() == Some(&b'\n') {
        return Some((other.ids[expected], line.len(), line.ends_with(b"\r\n")));
    }
    // The same line with another ending; one that ends with a lone CR has its own rules.
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

fn place_of(hash: u64, mask: usize) -> usize {
    // The high bits are the best mixed ones.
    usize::try_from(hash >> 32).unwrap_or(0) & mask
}

/// Eight bytes at a time, each folded in with a multiplication of 64 by 64 to 128 bits.
fn hashed(line: &[u8]) -> u64 {
    const SEED: u64 = 0x9E37_79B9_7F4A_7C15;
    let (words, rest) = line.as_chunks::<8>();
    let mut state = SEED ^ line.len() as u64;
    for word in words {
        state = folded(state ^ u64::from_le_bytes(*word));
    }
    let mut last = [0; 8];
    last[..rest.len()].copy_from_slice(rest);
    folded(folded(state ^ u64::from_le_bytes(last)) ^ SEED)
}

#[expect(clippy::cast_possible_truncation, reason = "the two halves of the product")]
fn folded(state: u64) -> u64 {
    const STEP: u64 = 0xD6E8_FEB8_6659_FD93;
    let product = u128::from(state) * u128::from(STEP);
    product as u64 ^ (product >> 64) as u64
}
