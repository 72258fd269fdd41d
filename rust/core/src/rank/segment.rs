//! A segment: an immutable file with the inverted index of some documents, and in memory which of them were removed.
//!
//! | Part | Content |
//! |---|---|
//! | magic | 8 bytes |
//! | posting lists | of each term: gaps of slots, each with the term's frequency, as varints |
//! | term lists | of each document: the ids of its terms as varints of their gaps; a removal needs them |
//! | table | of each document: where its term list ends and the hash of the list, 16 bytes |
//! | directory | documents, groups and dictionary, see `segment_writer.rs`; it is read into memory |
//! | footer | where the directory is, the format, and the SHA-256 of the directory and of these numbers |
//!
//! Documents are in the order of their ids and terms in that of their spelling. Numbers are little-endian. Lists are
//! read from the file when they are needed, and not mapped into memory: a file that was truncated is an error and not
//! a signal that ends the process. Each list is verified by its hash, which the directory or the table has.

use std::fs::File;
use std::io::{self, Write};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use sha2::{Digest, Sha256};
use thiserror::Error as ThisError;

use super::adjacent_messages::AdjacentMessages;
use super::bm25::{Impact, length_class};
use super::dictionary::{Dictionary, ListPlace};
use super::documents::Documents;
use super::filter::Groups;
use super::list_cache::ListCache;
use super::postings::{Postings, PostingsBuilder};
use super::varint;

/// The first bytes of every segment.
pub(super) const MAGIC: &[u8; 8] = b"RVSEGMT\n";
/// The version of the format; a segment of any other is not read.
const FORMAT: u32 = 1;
/// Bytes of the footer: start and length of the directory, the format, four zeros, and a SHA-256.
const FOOTER_BYTES: usize = 56;
/// Bytes of memory for each document that decoded posting lists may take: half of all lists fit.
const CACHE_BYTES: usize = 64;
/// Bytes of a row of the table.
const ROW_BYTES: usize = 16;

/// Why a saved index cannot be used. It is a projection: build it again.
#[derive(Clone, Debug, PartialEq, Eq, ThisError)]
#[error("the saved index cannot be used: {0}")]
pub struct SegmentError(String);

impl SegmentError {
    /// An error with its reason.
    pub(super) fn new(reason: &str) -> Self {
        Self(reason.to_owned())
    }
}

impl From<io::Error> for SegmentError {
    fn from(error: io::Error) -> Self {
        Self(error.to_string())
    }
}

/// An open segment.
pub(super) struct Segment {
    pub(super) path: PathBuf,
    pub(super) documents: Documents,
    pub(super) groups: Groups,
    pub(super) dictionary: Dictionary,
    /// The SHA-256 of the directory, which names this content.
    pub(super) digest: [u8; 32],
    /// The length class of each document: postings in the file do not repeat it.
    length_classes: Vec<u8>,
    cache: ListCache,
    /// Computed by the first search that needs it: most indexes are never asked for surroundings.
    adjacent: OnceLock<AdjacentMessages>,
    term_lists: u64,
    table: u64,
}

impl Segment {
    /// Open a segment whose documents at the slots `removed` (see [`Self::removed`]) were removed.
    pub(super) fn open(path: &Path, removed: &[u8]) -> Result<Self, SegmentError> {
        let file = File::open(path)?;
        let (directory, start, digest) = read_directory(&file)?;
        let mut rest = Fields(&directory);
        let (term_lists, table) = (rest.u64()?, rest.u64()?);
        let documents = read_documents(&mut rest)?;
        let groups = read_groups(&mut rest, documents.slots())?;
        let dictionary = read_dictionary(&mut rest)?;
        if !rest.0.is_empty() || term_lists > table || table > start {
            return Err(SegmentError::new("its directory is not whole"));
        }
        let slots = 0..u32::try_from(documents.slots()).unwrap_or(u32::MAX);
        let length_classes = slots.map(|slot| length_class(documents.length(slot))).collect();
        let cache = ListCache::new(CACHE_BYTES * documents.slots());
        let path = path.to_owned();
        let adjacent = OnceLock::new();
        let mut segment =
            Self { path, documents, groups, dictionary, digest, length_classes, cache, adjacent, term_lists, table };
        for slot in varint::ascending(removed) {
            segment.remove_slot(slot, &file)?;
        }
        Ok(segment)
    }

    /// Return the slots of removed documents, as varints of their gaps.
    pub(super) fn removed(&self) -> Vec<u8> {
        let slots = 0..u32::try_from(self.documents.slots()).unwrap_or(u32::MAX);
        varint::encode_ascending(slots.filter(|&slot| !self.documents.live().contains(slot)))
    }

    /// Remove a document; return false if there was none with this id.
    pub(super) fn remove(&mut self, id: &str) -> Result<bool, SegmentError> {
        let Some(slot) = self.documents.find(id) else { return Ok(false) };
        self.remove_slot(slot, &self.file()?)?;
        Ok(true)
    }

    /// Open the file for reading lists. It is open only for as long as needed: segments cost no descriptors.
    pub(super) fn file(&self) -> Result<File, SegmentError> {
        Ok(File::open(&self.path)?)
    }

    /// Return the posting list of a term as [`Self::postings`], from memory if it was used lately; `file` is opened and
    /// left open where it is needed.
    pub(super) fn cached_postings(&self, term_id: u32, file: &mut Option<File>) -> Result<Arc<Postings>, SegmentError> {
        if let Some(postings) = self.cache.get(term_id) {
            return Ok(postings);
        }
        let file = match file {
            Some(file) => file,
            None => file.insert(self.file()?),
        };
        let postings = Arc::new(self.postings(term_id, file)?);
        self.cache.put(term_id, &postings);
        Ok(postings)
    }

    /// Return the posting list of a term, removed documents included.
    pub(super) fn postings(&self, term_id: u32, file: &File) -> Result<Postings, SegmentError> {
        let bytes = self.dictionary.place(term_id).map_or_else(|| Ok(Vec::new()), |place| list(place, file))?;
        let mut builder = PostingsBuilder::with_capacity(self.dictionary.live(term_id));
        let (mut rest, mut slot) = (bytes.as_slice(), 0_u32);
        while !rest.is_empty() {
            let (gap, frequency) = read_posting(&mut rest).ok_or_else(|| SegmentError::new("a list ends too early"))?;
            slot = slot.wrapping_add(gap);
            let Some(&length_class) = self.length_classes.get(slot as usize) else {
                return Err(SegmentError::new("a list names a document that is not there"));
            };
            builder.push(slot, Impact { frequency, length_class });
        }
        Ok(builder.finish())
    }

    /// Return which messages are neighbours in their threads.
    pub(super) fn adjacent(&self) -> &AdjacentMessages {
        self.adjacent.get_or_init(|| AdjacentMessages::of(&self.documents))
    }

    /// Return the ids of a document's terms, ascending, as varints of their gaps.
    pub(super) fn terms(&self, slot: u32, file: &File) -> Result<Vec<u8>, SegmentError> {
        let row = self.table + u64::from(slot) * ROW_BYTES as u64;
        let mut rows = [0; 2 * ROW_BYTES]; // the row before says where the list begins; the first list begins at 0
        if slot == 0 {
            file.read_exact_at(&mut rows[ROW_BYTES..], row)?;
        } else {
            file.read_exact_at(&mut rows, row - ROW_BYTES as u64)?;
        }
        let mut fields = Fields(&rows);
        let (start, _, end, hash) = (fields.u64()?, fields.u64()?, fields.u64()?, fields.u64()?);
        let length = end.checked_sub(start).and_then(|length| u32::try_from(length).ok());
        let fits = end <= self.table - self.term_lists;
        let length = length.filter(|_| fits).ok_or_else(|| SegmentError::new("a row of its table is damaged"))?;
        list(ListPlace { start: self.term_lists + start, length, hash }, file)
    }

    fn remove_slot(&mut self, slot: u32, file: &File) -> Result<(), SegmentError> {
        if !self.documents.live().contains(slot) {
            return Err(SegmentError::new("a document was removed that is not there"));
        }
        for term_id in varint::ascending(&self.terms(slot, file)?) {
            self.dictionary.document_removed(term_id);
        }
        self.documents.remove(slot);
        Ok(())
    }
}

/// Read a list and verify its hash.
fn list(place: ListPlace, file: &File) -> Result<Vec<u8>, SegmentError> {
    let mut bytes = vec![0; place.length as usize];
    file.read_exact_at(&mut bytes, place.start)?;
    if list_hash(&bytes) == place.hash { Ok(bytes) } else { Err(SegmentError::new("a list is damaged")) }
}

/// Return the beginning of the SHA-256 of a list: chance damage passes once in 2^64.
pub(super) fn list_hash(bytes: &[u8]) -> u64 {
    let digest: [u8; 32] = Sha256::digest(bytes).into();
    digest.first_chunk().map_or(0, |first| u64::from_le_bytes(*first))
}

/// Append a posting: the gap to the slot before (below 2^31), and the frequency if it is not 1.
pub(super) fn write_posting(gap: u32, frequency: u8, bytes: &mut Vec<u8>) {
    let many = frequency != 1;
    varint::write(gap << 1 | u32::from(many), bytes);
    if many {
        bytes.push(frequency);
    }
}

/// Read what [`write_posting`] wrote.
#[inline]
fn read_posting(bytes: &mut &[u8]) -> Option<(u32, u8)> {
    let first = varint::read(bytes)?;
    if first & 1 == 0 {
        return Some((first >> 1, 1));
    }
    let (&frequency, rest) = bytes.split_first()?;
    *bytes = rest;
    Some((first >> 1, frequency))
}

/// Append directory and footer to a file in which the directory begins at `start`.
pub(super) fn write_directory(directory: &[u8], start: u64, file: &mut impl Write) -> io::Result<()> {
    let mut numbers = Vec::with_capacity(FOOTER_BYTES);
    numbers.extend(start.to_le_bytes());
    numbers.extend((directory.len() as u64).to_le_bytes());
    numbers.extend(FORMAT.to_le_bytes());
    numbers.extend([0; 4]);
    let digest = Sha256::new().chain_update(directory).chain_update(&numbers).finalize();
    file.write_all(directory)?;
    file.write_all(&numbers)?;
    file.write_all(&digest)
}

/// Return the verified directory of a segment, where it begins, and its digest.
fn read_directory(file: &File) -> Result<(Vec<u8>, u64, [u8; 32]), SegmentError> {
    let damaged = || SegmentError::new("it is no segment, or a part of one");
    let size = file.metadata()?.len();
    let mut footer = [0; FOOTER_BYTES];
    let directory_end = size.checked_sub(FOOTER_BYTES as u64).ok_or_else(damaged)?;
    file.read_exact_at(&mut footer, directory_end)?;
    let mut fields = Fields(&footer);
    let (start, length, format) = (fields.u64()?, fields.u64()?, fields.u32()?);
    if format != FORMAT {
        return Err(SegmentError::new("it has another format"));
    }
    if start.checked_add(length) != Some(directory_end) {
        return Err(damaged());
    }
    let mut directory = vec![0; usize::try_from(length).map_err(|_| damaged())?];
    file.read_exact_at(&mut directory, start)?;
    let (numbers, stored) = footer.split_at(FOOTER_BYTES - 32);
    let digest: [u8; 32] = Sha256::new().chain_update(&directory).chain_update(numbers).finalize().into();
    if digest == stored { Ok((directory, start, digest)) } else { Err(damaged()) }
}

fn read_documents(fields: &mut Fields<'_>) -> Result<Documents, SegmentError> {
    let mut documents = Documents::default();
    for _ in 0..fields.u32()? {
        let length = fields.u32()?;
        let timestamp = if fields.u8()? == 0 { None } else { Some(fields.i64()?) };
        documents.push(fields.text()?, length, timestamp, []);
    }
    Ok(documents)
}

fn read_groups(fields: &mut Fields<'_>, slots: usize) -> Result<Groups, SegmentError> {
    let mut groups = Groups::default();
    for _ in 0..fields.u32()? {
        let name = fields.text()?;
        for slot in varint::ascending(fields.bytes()?) {
            if slot as usize >= slots {
                return Err(SegmentError::new("a group names a document that is not there"));
            }
            groups.add(name, slot);
        }
    }
    Ok(groups)
}

fn read_dictionary(fields: &mut Fields<'_>) -> Result<Dictionary, SegmentError> {
    let count = fields.u32()? as usize;
    let (mut text, mut ends) = (String::new(), Vec::with_capacity(count));
    let (mut places, mut live) = (Vec::with_capacity(count), Vec::with_capacity(count));
    let mut start = fields.u64()?;
    for _ in 0..count {
        text.push_str(fields.text()?);
        ends.push(u32::try_from(text.len()).map_err(|_| SegmentError::new("its dictionary is too large"))?);
        live.push(fields.u32()?);
        let (length, hash) = (fields.u32()?, fields.u64()?);
        places.push(ListPlace { start, length, hash });
        start = start.saturating_add(u64::from(length));
    }
    Ok(Dictionary::new(text, ends, places, live))
}

/// A reader of numbers and texts from the front of some bytes.
struct Fields<'b>(&'b [u8]);

impl<'b> Fields<'b> {
    fn chunk<const N: usize>(&mut self) -> Result<[u8; N], SegmentError> {
        let (chunk, rest) = self.0.split_first_chunk().ok_or_else(|| SegmentError::new("it ends too early"))?;
        self.0 = rest;
        Ok(*chunk)
    }

    fn u8(&mut self) -> Result<u8, SegmentError> {
        self.chunk().map(|[byte]| byte)
    }

    fn u32(&mut self) -> Result<u32, SegmentError> {
        self.chunk().map(u32::from_le_bytes)
    }

    fn u64(&mut self) -> Result<u64, SegmentError> {
        self.chunk().map(u64::from_le_bytes)
    }

    fn i64(&mut self) -> Result<i64, SegmentError> {
        self.chunk().map(i64::from_le_bytes)
    }

    /// Bytes with their length before them.
    fn bytes(&mut self) -> Result<&'b [u8], SegmentError> {
        let length = self.u32()? as usize;
        let (bytes, rest) = self.0.split_at_checked(length).ok_or_else(|| SegmentError::new("it ends too early"))?;
        self.0 = rest;
        Ok(bytes)
    }

    fn text(&mut self) -> Result<&'b str, SegmentError> {
        str::from_utf8(self.bytes()?).map_err(|_| SegmentError::new("a text is not UTF-8"))
    }
}
