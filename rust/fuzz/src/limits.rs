//! Inputs with structure at the internal limits of the core, and every function of it that Python calls.
//!
//! A rule that examines so many bytes goes wrong where its limit cuts a name, a value or a character in two, which
//! random texts hardly ever do: `Cookie: ` and a name that ends at byte 4,096. So a text is made of pieces that mean
//! something to a rule and of runs of one filler, which end at, before or behind a limit.

use std::borrow::Cow;
use std::cell::RefCell;
use std::path::PathBuf;

use reverie_core::align::{OldBlock, align_checked};
use reverie_core::apply::{BlockId, Change, Edit, apply_changes, apply_edits};
use reverie_core::blocks::{Sections, parse, parse_beside};
use reverie_core::canonical;
use reverie_core::diff::diff_text;
use reverie_core::merge::merge3;
use reverie_core::pack;
use reverie_core::patch::{Patch, patch};
use reverie_core::rank::{self, Applies, Boost, Entry, Filter, Index, Surroundings, passage};
use reverie_core::record;
use reverie_core::redact::{
    Fingerprint, Fingerprints, ObjectKind, Redactor, Scope, continue_private, scope_of_key, scope_of_value,
};
use reverie_core::tokens::{ENCODINGS, Encoding};
use reverie_core::zstd_decoder::ZstdDecoder;

use crate::{WORDS, blocks, redaction};

/// The internal limits: values of the core's constants, as `tests/limits.rs` checks, each once.
pub const LIMITS: &[usize] = &[
    2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 18, 19, 20, 22, 24, 25, 26, 30, 32, 36, 40, 41, 48, 56, 64, 96,
    100, 120, 126, 128, 160, 192, 256, 300, 500, 512, 600, 1024, 2048, 4096, 8192,
];
/// Limits that make a text slow to examine, and seldom drawn for that: 32 and 64 KB, 256 KB.
pub const LONG_LIMITS: &[usize] = &[1 << 15, 1 << 16, 1 << 17, 1 << 18];

/// What runs are made of: one, two, three and four bytes a character, and everything that ends a name or a value.
const FILLERS: [&str; 36] = [
    "x", "x", "A", "0", "é", "中", "😀", " ", "\n", "\t", "\r\n", "=", ";", ":", "-", ".", "_", "/", "\"", "'", "\\",
    ",", "%41", "a1B2", "ab ", "a b-c ", "- a\n", "{\"a\":", "[", "]", "a=b; ", "> ", "0f", "Zz9+", "\u{301}",
    "\u{200b}",
];
/// What begins the texts that rules look for in a certain length; the rest are the pieces of the other laws.
const OPENINGS: [&str; 34] = [
    "Cookie: ", "Set-Cookie: ", "cookie=", "Authorization: Basic ", "Authorization: Bearer ", "password: ",
    "password=", "the password is ", "api_key = \"", "token:\n  ", "curl -u ", "mysql -p", "sudo -S ", "export PASS=",
    "postgres://u:", "-----BEGIN PRIVATE KEY-----\n", "<private>", "</private>", "[REDACTED:", "eyJ", "ghp_", "sk-",
    "user,password\n", "| password |\n|---|\n| ", "key: |\n  ", "\u{5bc6}\u{7801}: ", "&#103;", "\\u0067", "%67%68",
    "Z2hw", "6768", "#tag", "```\n", "<!-- ",
];

/// Decisions read from bytes, so that a fuzzer that changes a byte changes a decision; zeros at the end.
pub struct Draw<'d> {
    data: &'d [u8],
}

impl<'d> Draw<'d> {
    /// Begin with the first byte.
    #[must_use]
    pub fn new(data: &'d [u8]) -> Self {
        Self { data }
    }

    /// Return a number below `end`, of one byte or, above 256, of two.
    pub fn below(&mut self, end: usize) -> usize {
        let mut number = 0;
        for _ in 0..=usize::from(end > 256) {
            let Some((first, rest)) = self.data.split_first() else { break };
            (number, self.data) = (number << 8 | usize::from(*first), rest);
        }
        number % end.max(1)
    }

    /// Return one of these.
    pub fn one<T: Copy>(&mut self, of: &[T]) -> T {
        of[self.below(of.len())]
    }

    /// Return a number at a limit, or a little above or below it.
    pub fn near_limit(&mut self) -> usize {
        let limit = if self.below(256) == 0 { self.one(LONG_LIMITS) } else { self.one(LIMITS) };
        (limit + self.below(9)).saturating_sub(4)
    }

    /// Return any number that Python may pass: small, at a limit, or beyond all.
    pub fn number(&mut self) -> usize {
        match self.below(8) {
            0 => usize::MAX - self.below(9),
            1 => usize::MAX / 2 + self.below(9),
            2..=4 => self.below(16),
            _ => self.near_limit(),
        }
    }

    /// Return a text of pieces, and of runs that end at a limit, counted from where the text or a piece began.
    pub fn text(&mut self) -> String {
        let mut text = String::new();
        let (mut began, mut behind) = (0, 0); // the last piece
        for _ in 0..=self.below(6) {
            match self.below(8) {
                0 | 1 => {
                    let (length, filler) = (self.near_limit(), self.one(&FILLERS));
                    let from = self.one(&[0, began, behind, text.len()]);
                    let missing = (from + length).saturating_sub(text.len());
                    text.push_str(&filler.repeat(missing / filler.len()));
                    text.push_str(&"y".repeat(missing % filler.len()));
                }
                2 => {
                    let (piece, times) = (self.piece(), self.one(&[2, 3, 4, 6, 7, 8, 10, 16, 20, 64, 128, 256]));
                    text.push_str(&piece.repeat((times + self.below(3)).saturating_sub(1)));
                }
                3 => text.push_str(self.one(&FILLERS)),
                4 => text.truncate(text.floor_char_boundary(self.near_limit())),
                _ => {
                    began = text.len();
                    text.push_str(self.piece());
                    behind = text.len();
                }
            }
        }
        text
    }

    /// Return a piece that means something to a rule.
    fn piece(&mut self) -> &'static str {
        match self.below(4) {
            0 => self.one(WORDS),
            1 => self.one(&blocks::PIECES),
            2 => self.one(&OPENINGS),
            _ => self.one(&redaction::PIECES),
        }
    }

    /// Return at most `most` texts.
    fn texts(&mut self, most: usize) -> Vec<String> {
        (0..self.below(most + 1)).map(|_| self.text()).collect()
    }

    /// Return a text with a few changes: another version of it.
    fn changed(&mut self, text: &str) -> String {
        let mut text = text.to_owned();
        for _ in 0..self.below(4) {
            let at = text.floor_char_boundary(self.near_limit().min(text.len()));
            let end = text.floor_char_boundary(text.len().min(at + self.below(40)));
            text.replace_range(at..end, self.piece());
        }
        text
    }

    /// Return bytes with a few changes.
    fn damaged(&mut self, mut bytes: Vec<u8>) -> Vec<u8> {
        for _ in 0..self.below(4) {
            let at = self.near_limit() % bytes.len().max(1);
            if let Some(byte) = bytes.get_mut(at) {
                *byte = self.one(&[0, 1, 0x7f, 0x80, 0xff, *byte ^ 1]);
            }
        }
        if self.below(4) == 0 {
            bytes.truncate(self.near_limit());
        }
        bytes
    }

    fn sections(&mut self) -> Sections {
        self.one(&[Sections::ByFields, Sections::Always, Sections::Never])
    }
}

/// Redaction: of texts, names, remembered values, private ranges; and reading what was remembered.
pub fn redaction_returns(data: &[u8]) {
    let mut draw = Draw::new(data);
    let known = if draw.below(4) == 0 { draw.texts(2) } else { Vec::new() };
    let redactor = Redactor::new(&known);
    let text = draw.text();
    let scope = match draw.below(4) {
        0 => Scope::Identifier,
        1 => scope_of_value(draw.one(&["password", "Authorization", "apiToken", "secret_key", "name"])),
        _ => Scope::Content,
    };
    let _ = redactor.redact(&text, scope);
    let fingerprints = &mut Cow::<Fingerprints>::Owned(Fingerprints::default());
    match draw.below(8) {
        0 => {
            let value = Fingerprint {
                length: u16::try_from(draw.number() & 0xffff).unwrap_or(0),
                prefix: u16::try_from(draw.number() & 0xffff).unwrap_or(0),
                hash: [7; 16],
                kind: "password",
            };
            fingerprints.to_mut().add(value);
            redaction::check_spans(&redactor, &text);
        }
        1 => {
            let packed = draw.damaged(fingerprints.to_bytes());
            let _ = Fingerprints::from_bytes(&packed);
        }
        2 => {
            let _ = continue_private(&text, draw.below(2) == 1);
            let _ = scope_of_key(&text, ObjectKind::of(draw.piece()), ObjectKind::Plain);
        }
        _ => {}
    }
    let (once, _) = redactor.redact_remembering(&text, scope, fingerprints);
    let _ = redactor.spans_remembering(&once, scope, fingerprints);
}

/// Blocks and changes to them, by spans and ids that fit and that do not; edits, patches and alignment.
pub fn changes_return(data: &[u8]) {
    let mut draw = Draw::new(data);
    let (text, sections) = (draw.text(), draw.sections());
    let bytes = draw.damaged(text.clone().into_bytes());
    let other = draw.changed(&text);
    let _ = parse(&bytes, sections);
    let _ = parse_beside(text.as_bytes(), &bytes, sections);
    let _ = parse_beside(text.as_bytes(), other.as_bytes(), sections);
    let found = parse(text.as_bytes(), sections).unwrap_or_default();
    let ids: Vec<String> = (0..found.len()).map(|number| number.to_string()).collect();
    let mut spans: Vec<BlockId<'_>> =
        found.iter().zip(&ids).map(|(block, id)| BlockId { id, start: block.start, end: block.end }).collect();
    if draw.below(3) == 0 {
        spans.push(BlockId { id: "other", start: draw.number(), end: draw.number() });
    }
    let texts = draw.texts(3);
    let changes: Vec<Change<'_>> = texts
        .iter()
        .filter_map(|text| {
            let target = ids.get(draw.below(8)).map_or(draw.one(&["other", "", "S", "T"]), String::as_str);
            Change::named(draw.one(&["add_after", "add_under", "add_end", "update", "delete"]), target, text).ok()
        })
        .collect();
    let _ = apply_changes(text.as_bytes(), sections, &spans, &changes);
    let edits: Vec<Edit> =
        texts.iter().map(|new| Edit { start: draw.number(), old: draw.piece().to_owned(), new: new.clone() }).collect();
    let _ = apply_edits(text.as_bytes(), &edits);
    let patches: Vec<Patch<'_>> = texts.iter().map(|new| Patch { old: draw.piece(), new }).collect();
    let _ = patch(&text, &patches);
    let lines: Vec<&[u8]> = other.split_inclusive('\n').map(str::as_bytes).collect();
    let old: Vec<OldBlock<'_>> = found
        .iter()
        .zip(&ids)
        .map(|(block, id)| OldBlock { id, text: &text.as_bytes()[block.start..block.end] })
        .collect();
    let _ = align_checked(&old, &lines);
}

/// Diffs and three-way merges of versions of one text, and of unrelated ones.
pub fn merges_return(data: &[u8]) {
    let mut draw = Draw::new(data);
    let base = draw.text();
    let ours = draw.changed(&base);
    let theirs = if draw.below(8) == 0 { draw.text() } else { draw.changed(&base) };
    let _ = diff_text(&base, &ours);
    let _ = merge3(&base, &ours, &theirs).in_characters();
}

/// JSON: checked, in canonical form, hashed.
pub fn json_returns(data: &[u8]) {
    let mut draw = Draw::new(data);
    let depth = draw.near_limit();
    let text = draw.text();
    let json = match draw.below(5) {
        0 => text.clone(),
        1 => format!("\"{text}\""),
        2 => format!("{{\"{text}\":[{text}]}}"),
        3 => "[".repeat(depth) + &"]".repeat(depth),
        _ => format!("[{}{}]", "{\"a\":1,\"b\":\"\\ud83d\\ude00\"},".repeat(depth.min(600)), text),
    };
    let bytes = draw.damaged(json.into_bytes());
    let _ = canonical::check_json(&bytes);
    if let Ok(rewritten) = canonical::rewrite(&bytes) {
        let _ = canonical::sha256_hex(&rewritten);
    }
}

/// Packed texts, edits of one by another, and records, whole and damaged.
pub fn packing_returns(data: &[u8]) {
    let mut draw = Draw::new(data);
    let (text, limit) = (draw.text(), draw.near_limit());
    let other = draw.changed(&text);
    let packed = draw.damaged(pack::pack(text.as_bytes()).unwrap_or_default());
    let _ = pack::unpack(&packed, limit);
    let edit = draw.damaged(pack::edit(text.as_bytes(), other.as_bytes()).unwrap_or_default());
    let _ = pack::apply(text.as_bytes(), &edit, limit);
    if let Ok(mut decoder) = ZstdDecoder::new() {
        let frame = draw.damaged([&[0x28, 0xb5, 0x2f, 0xfd], &packed[..]].concat());
        let _ = decoder.step(&frame, limit);
    }
    let _ = record::body(b"key", text.as_bytes(), limit);
    let _ = record::body(other.as_bytes(), &packed, limit);
}

/// Token counts, limits and cuts.
pub fn counting_returns(data: &[u8]) {
    let mut draw = Draw::new(data);
    let (text, limit) = (draw.text(), draw.number());
    let texts = draw.texts(3);
    let Ok(encoding) = Encoding::named(draw.one(&ENCODINGS)) else { return };
    let _ = encoding.count(&text);
    let _ = (encoding.fits(&text, limit), encoding.truncate(&text, limit));
    let _ = (encoding.count_many(&texts), encoding.count_items(&texts));
}

thread_local! {
    /// A file for the segments of this thread.
    static SEGMENT: RefCell<PathBuf> = RefCell::new({
        let base = Some(PathBuf::from("/dev/shm")).filter(|path| path.is_dir()).unwrap_or_else(std::env::temp_dir);
        base.join(format!("reverie-fuzz-{}-{:?}", std::process::id(), std::thread::current().id()))
    });
}

/// The search index: added, removed, searched, saved, opened again from whole and from damaged files, merged.
pub fn searching_returns(data: &[u8]) {
    let mut draw = Draw::new(data);
    let (texts, query, limit) = (draw.texts(4), draw.text(), draw.number());
    let _ = passage(texts.first().map_or("", String::as_str), &query, limit);
    let mut index = Index::default();
    for (number, text) in texts.iter().enumerate() {
        let id = if draw.below(8) == 0 { draw.piece().to_owned() } else { format!("thread/{number}") };
        let at = Some(i64::MIN).filter(|_| draw.below(4) == 0).or(Some(5));
        let (tags, groups) = (vec![draw.piece()], vec!["all", draw.piece()]);
        index.insert(&Entry { id: &id, text, tags, groups, at });
    }
    let filter = Filter {
        any_of: if draw.below(2) == 0 { vec![vec!["all".to_owned()]] } else { Vec::new() },
        since: Some(i64::MIN).filter(|_| draw.below(2) == 0),
        before: Some(i64::MAX).filter(|_| draw.below(2) == 0),
        ..Filter::default()
    };
    let how = Surroundings {
        candidates: draw.near_limit(),
        weight: 0.5,
        factors: vec![("all".to_owned(), 2.0)],
        outside: None,
        boosts: vec![Boost { name: "new".to_owned(), score: 1.0, applies: Applies::Between(i64::MIN, i64::MAX) }],
    };
    search_all(&index, &query, limit, &filter, &how);
    if draw.below(4) > 0 {
        index.remove("thread/1");
        return search_all(&index, &query, limit, &filter, &how);
    }
    SEGMENT.with_borrow(|path| {
        let (saved, merged) = (path.clone(), path.with_extension("merged"));
        if index.flush(&saved).is_ok() {
            index.remove("thread/0");
            search_all(&index, &query, limit, &filter, &how);
            let removed = index.segments().pop().map(|segment| segment.removed).unwrap_or_default();
            let removed = draw.damaged(removed);
            if let Ok(bytes) = std::fs::read(&saved)
                && draw.below(2) == 0
                && std::fs::write(&merged, draw.damaged(bytes)).is_ok()
                && std::fs::rename(&merged, &saved).is_ok()
            {}
            let segments = [(saved.clone(), removed)];
            if let Ok(opened) = Index::open(&segments) {
                search_all(&opened, &query, limit, &filter, &how);
            }
            let _ = rank::merge(&segments, &merged);
        }
        for file in [saved, merged] {
            let _ = std::fs::remove_file(file);
        }
    });
}

/// Ask everything that an index answers.
fn search_all(index: &Index, query: &str, limit: usize, filter: &Filter, how: &Surroundings) {
    let _ = index.search(query, limit);
    let _ = index.search_within(query, limit, filter);
    let _ = index.search_around(query, limit, filter, how);
    let _ = index.ids(filter, query, limit);
}
