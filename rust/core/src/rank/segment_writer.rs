//! Writing a segment: the buffer alone, or several segments merged into one. Removed documents are left out of it, and so
//! are terms that no other document has.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fs::{File, OpenOptions, remove_file};
use std::io::{BufWriter, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use super::buffer::Buffer;
use super::documents::Documents;
use super::filter::Groups;
use super::postings::Postings;
use super::segment::{MAGIC, Segment, SegmentError, list_hash, write_directory, write_posting};
use super::varint;

/// The new slot of a removed document, and the new id of a term that no document has any more.
const NONE: u32 = u32::MAX;

/// Source from which documents are written.
pub(super) enum Source<'s> {
    /// The documents in memory.
    Buffer(&'s Buffer),
    /// The documents of an older segment, and its open file.
    Segment(&'s Segment, File),
}

impl<'s> Source<'s> {
    fn documents(&self) -> &'s Documents {
        match self {
            Self::Buffer(buffer) => &buffer.documents,
            Self::Segment(segment, _) => &segment.documents,
        }
    }

    fn groups(&self) -> &'s Groups {
        match self {
            Self::Buffer(buffer) => &buffer.groups,
            Self::Segment(segment, _) => &segment.groups,
        }
    }

    /// Return the terms that a document has which was not removed, with their ids.
    fn terms(&self) -> Vec<(&'s str, u32)> {
        match self {
            Self::Buffer(buffer) => buffer.vocabulary.iter().map(|(term_id, term)| (term, term_id)).collect(),
            Self::Segment(segment, _) => {
                let ids = 0..u32::try_from(segment.dictionary.len()).unwrap_or(u32::MAX);
                let live = ids.filter(|&term_id| segment.dictionary.live(term_id) > 0);
                live.map(|term_id| (segment.dictionary.get(term_id), term_id)).collect()
            }
        }
    }

    fn postings(&self, term_id: u32) -> Result<Cow<'s, Postings>, SegmentError> {
        match self {
            Self::Buffer(buffer) => Ok(Cow::Borrowed(buffer.vocabulary.postings(term_id))),
            Self::Segment(segment, file) => segment.postings(term_id, file).map(Cow::Owned),
        }
    }

    fn terms_of(&self, slot: u32) -> Result<Vec<u32>, SegmentError> {
        match self {
            Self::Buffer(buffer) => Ok(buffer.documents.terms(slot).collect()),
            Self::Segment(segment, file) => Ok(varint::ascending(&segment.terms(slot, file)?).collect()),
        }
    }
}

/// Write the documents of the sources to a new file; if that fails, no file is left. No id may be in two sources.
///
/// The file is not flushed to disk: a reader verifies all that it reads of it.
pub(super) fn write_segment(sources: &[Source<'_>], path: &Path) -> Result<(), SegmentError> {
    let file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)?;
    let written = write_to(sources, file);
    if written.is_err() {
        remove_file(path)?;
    }
    written
}

fn write_to(sources: &[Source<'_>], file: File) -> Result<(), SegmentError> {
    let mut writer = Writer { file: BufWriter::new(file), position: 0 };
    writer.write(MAGIC)?;
    let documents = sorted_documents(sources);
    let slots = new_slots(sources, &documents);
    let mut directory = Vec::new();
    let lists_start = writer.position;
    let (dictionary, term_ids) = write_postings(sources, &slots, &mut writer)?;
    let term_lists = writer.position;
    let table = write_term_lists(sources, &documents, &term_ids, &mut writer)?;
    directory.extend(term_lists.to_le_bytes());
    directory.extend(writer.position.to_le_bytes());
    writer.write(&table)?;
    add_documents(sources, &documents, &mut directory);
    add_groups(sources, &slots, &mut directory);
    dictionary.add_to(lists_start, &mut directory);
    let start = writer.position;
    write_directory(&directory, start, &mut writer.file)?;
    writer.file.flush()?;
    Ok(())
}

/// A file and how much was written to it.
struct Writer<W: Write> {
    file: W,
    position: u64,
}

impl<W: Write> Writer<W> {
    fn write(&mut self, bytes: &[u8]) -> Result<(), SegmentError> {
        self.file.write_all(bytes)?;
        self.position += bytes.len() as u64;
        Ok(())
    }
}

/// The dictionary that is being written.
#[derive(Default)]
struct NewDictionary {
    count: u32,
    rows: Vec<u8>,
}

impl NewDictionary {
    fn push(&mut self, term: &str, documents: usize, list: &[u8]) {
        add_bytes(term.as_bytes(), &mut self.rows);
        self.rows.extend(as_u32(documents).to_le_bytes());
        self.rows.extend(as_u32(list.len()).to_le_bytes());
        self.rows.extend(list_hash(list).to_le_bytes());
        self.count += 1;
    }

    fn add_to(&self, lists_start: u64, directory: &mut Vec<u8>) {
        directory.extend(self.count.to_le_bytes());
        directory.extend(lists_start.to_le_bytes());
        directory.extend(&self.rows);
    }
}

/// Return source and slot of every document that was not removed, in the order of the ids.
fn sorted_documents(sources: &[Source<'_>]) -> Vec<(usize, u32)> {
    let id = |&(source, slot): &(usize, u32)| sources[source].documents().id(slot);
    let live = |source: usize| sources[source].documents().live().iter().map(move |slot| (source, slot));
    let mut documents: Vec<(usize, u32)> = (0..sources.len()).flat_map(live).collect();
    documents.sort_unstable_by(|a, b| id(a).cmp(id(b)));
    documents
}

/// Return the new slot of each old one, by source.
fn new_slots(sources: &[Source<'_>], documents: &[(usize, u32)]) -> Vec<Vec<u32>> {
    let mut slots: Vec<Vec<u32>> = sources.iter().map(|source| vec![NONE; source.documents().slots()]).collect();
    for (new_slot, &(source, slot)) in (0..).zip(documents) {
        slots[source][slot as usize] = new_slot;
    }
    slots
}

/// Write every posting list; return the dictionary, and by source the new id of each old term id.
fn write_postings<W: Write>(
    sources: &[Source<'_>],
    slots: &[Vec<u32>],
    writer: &mut Writer<W>,
) -> Result<(NewDictionary, Vec<Vec<u32>>), SegmentError> {
    let mut terms: Vec<(&str, usize, u32)> = Vec::new();
    for (number, source) in sources.iter().enumerate() {
        terms.extend(source.terms().into_iter().map(|(term, term_id)| (term, number, term_id)));
    }
    terms.sort_unstable();
    let mut dictionary = NewDictionary::default();
    let mut term_ids: Vec<Vec<u32>> = vec![Vec::new(); sources.len()];
    let (mut entries, mut list) = (Vec::new(), Vec::new());
    for same in terms.chunk_by(|a, b| a.0 == b.0) {
        entries.clear();
        list.clear();
        for &(_, source, term_id) in same {
            for (slot, impact) in sources[source].postings(term_id)?.iter(0) {
                let slot = slots[source][slot as usize];
                if slot != NONE {
                    entries.push((slot, impact.frequency));
                }
            }
            let new_ids = &mut term_ids[source];
            new_ids.resize(new_ids.len().max(term_id as usize + 1), NONE);
            new_ids[term_id as usize] = dictionary.count;
        }
        entries.sort_unstable();
        let mut previous = 0;
        for &(slot, frequency) in &entries {
            write_posting(slot - previous, frequency, &mut list);
            previous = slot;
        }
        dictionary.push(same[0].0, entries.len(), &list);
        writer.write(&list)?;
    }
    Ok((dictionary, term_ids))
}

/// Write the term list of every document; return the table.
fn write_term_lists<W: Write>(
    sources: &[Source<'_>],
    documents: &[(usize, u32)],
    term_ids: &[Vec<u32>],
    writer: &mut Writer<W>,
) -> Result<Vec<u8>, SegmentError> {
    let (mut table, start) = (Vec::new(), writer.position);
    for &(source, slot) in documents {
        let mut terms: Vec<u32> = Vec::new();
        for term_id in sources[source].terms_of(slot)? {
            let new_id = term_ids[source].get(term_id as usize).copied().filter(|&new_id| new_id != NONE);
            terms.push(new_id.ok_or_else(|| SegmentError::new("a document has a term that is not there"))?);
        }
        terms.sort_unstable();
        let list = varint::encode_ascending(terms);
        writer.write(&list)?;
        table.extend((writer.position - start).to_le_bytes());
        table.extend(list_hash(&list).to_le_bytes());
    }
    Ok(table)
}

/// Append the documents: length, timestamp and id of each.
fn add_documents(sources: &[Source<'_>], documents: &[(usize, u32)], directory: &mut Vec<u8>) {
    directory.extend(as_u32(documents.len()).to_le_bytes());
    for &(source, slot) in documents {
        let old = sources[source].documents();
        directory.extend(old.length(slot).to_le_bytes());
        match old.timestamp(slot) {
            None => directory.push(0),
            Some(at) => {
                directory.push(1);
                directory.extend(at.to_le_bytes());
            }
        }
        add_bytes(old.id(slot).as_bytes(), directory);
    }
}

/// Append the groups that have a document: name and slots of each.
fn add_groups(sources: &[Source<'_>], slots: &[Vec<u32>], directory: &mut Vec<u8>) {
    let mut members: BTreeMap<&str, Vec<u32>> = BTreeMap::new();
    for (source, slots) in sources.iter().zip(slots) {
        for (name, old_slots) in source.groups().iter() {
            let new_slots = old_slots.iter().map(|slot| slots[slot as usize]).filter(|&slot| slot != NONE);
            members.entry(name).or_default().extend(new_slots);
        }
    }
    members.retain(|_, slots| !slots.is_empty());
    directory.extend(as_u32(members.len()).to_le_bytes());
    for (name, mut slots) in members {
        slots.sort_unstable();
        add_bytes(name.as_bytes(), directory);
        add_bytes(&varint::encode_ascending(slots), directory);
    }
}

/// Append bytes with their length before them.
fn add_bytes(bytes: &[u8], directory: &mut Vec<u8>) {
    directory.extend(as_u32(bytes.len()).to_le_bytes());
    directory.extend(bytes);
}

fn as_u32(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}
