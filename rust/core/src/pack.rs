//! Packing of stored records with zstd: short JSON texts with a shared dictionary, versions as edits of another text.
//!
//! A frame is a zstd frame (RFC 8878) without its four magic bytes, which would be the same in every record. The
//! dictionary is part of the format on disk: a changed one could not unpack what was packed before.

use std::sync::LazyLock;

use zstd::bulk::{Compressor, Decompressor};
use zstd::dict::{DecoderDictionary, EncoderDictionary};
use zstd::zstd_safe::{self, CParameter};

use crate::pool::Pool;

/// The beginning of every zstd frame, left out on disk.
const MAGIC: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];
/// zstd's default level. On JSON of 1 KB it packs 200 MB/s; level 9 makes it 3 % smaller and takes four times as long.
const LEVEL: i32 = 3;
/// Logarithms of the smallest and largest window that zstd takes on every platform.
const WINDOW_LOG: (u32, u32) = (10, 30);

/// Contexts that are kept for the next calls; small texts are packed by one thread at a time.
const IDLE_MAX: usize = 2;

/// Typical records, the most frequent ones last, where references to them are shortest.
static DICTIONARY: &[u8] = include_bytes!("../data/pack/records-1.txt");
static TO_PACK: LazyLock<EncoderDictionary<'static>> = LazyLock::new(|| EncoderDictionary::copy(DICTIONARY, LEVEL));
static TO_UNPACK: LazyLock<DecoderDictionary<'static>> = LazyLock::new(|| DecoderDictionary::copy(DICTIONARY));

// A context is larger than most texts that it packs: a megabyte for packing.
static PACKERS: Pool<Compressor<'static>> = Pool::new(IDLE_MAX);
static UNPACKERS: Pool<Decompressor<'static>> = Pool::new(IDLE_MAX);

/// Drop the contexts that are kept for later calls.
pub(crate) fn clear_contexts() {
    PACKERS.clear();
    UNPACKERS.clear();
}

/// Pack a text with the shared dictionary; `None` if zstd fails, as it does without memory.
#[must_use]
pub fn pack(data: &[u8]) -> Option<Vec<u8>> {
    without_magic(PACKERS.try_with(new_packer, |packer| packer.compress(data).ok())??)
}

/// Return the text that `pack` packed; `None` if the bytes are no such frame, or it has more than `limit` bytes.
#[must_use]
pub fn unpack(packed: &[u8], limit: usize) -> Option<Vec<u8>> {
    let (frame, size) = with_magic(packed, limit)?;
    let make = || Decompressor::with_prepared_dictionary(&TO_UNPACK).ok();
    UNPACKERS.try_with(make, |unpacker| unpacker.decompress(&frame, size).ok())?
}

/// Return the edit that makes `data` of `base`: a frame whose dictionary is `base`; `None` if zstd fails.
#[must_use]
pub fn edit(base: &[u8], data: &[u8]) -> Option<Vec<u8>> {
    let mut packer = Compressor::with_dictionary(LEVEL, base).ok()?;
    configure(&mut packer)?;
    // The window reaches back over the whole of both texts, so that any part of the base can be referred to.
    let reach = usize::BITS - (base.len() + data.len()).leading_zeros();
    packer.set_parameter(CParameter::WindowLog(reach.clamp(WINDOW_LOG.0, WINDOW_LOG.1))).ok()?;
    without_magic(packer.compress(data).ok()?)
}

/// Return what an edit makes of `base`; `None` if the bytes are no edit of it, or make more than `limit` bytes.
///
/// An edit of another base may make other bytes: the caller checks the result against its checksum.
#[must_use]
pub fn apply(base: &[u8], edit: &[u8], limit: usize) -> Option<Vec<u8>> {
    let (frame, size) = with_magic(edit, limit)?;
    Decompressor::with_dictionary(base).ok()?.decompress(&frame, size).ok()
}

/// Return a context that packs with the shared dictionary; `None` if zstd fails, as it does without memory.
fn new_packer() -> Option<Compressor<'static>> {
    let mut packer = Compressor::with_prepared_dictionary(&TO_PACK).ok()?;
    configure(&mut packer)?;
    Some(packer)
}

/// Leave out of frames what the store knows already: its own checksums cover them, and there is one dictionary.
fn configure(packer: &mut Compressor<'_>) -> Option<()> {
    packer.set_parameter(CParameter::ChecksumFlag(false)).ok()?;
    packer.set_parameter(CParameter::DictIdFlag(false)).ok()
}

/// Return a frame without its magic bytes.
fn without_magic(mut frame: Vec<u8>) -> Option<Vec<u8>> {
    frame.starts_with(&MAGIC).then(|| frame.split_off(MAGIC.len()))
}

/// Return a frame with its magic bytes, and the size of its content, which must be at most `limit`.
fn with_magic(packed: &[u8], limit: usize) -> Option<(Vec<u8>, usize)> {
    let frame = [&MAGIC, packed].concat();
    let size = zstd_safe::get_frame_content_size(&frame).ok().flatten()?;
    let size = usize::try_from(size).ok().filter(|size| *size <= limit)?;
    Some((frame, size))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{apply, edit, pack, unpack};

    const LIMIT: usize = 1 << 24;

    proptest! {
        /// Packed bytes come out again, and no more than the limit.
        #[test]
        fn packed_bytes_come_out_again(data in proptest::collection::vec(any::<u8>(), 0..4000)) {
            let packed = pack(&data).unwrap_or_default();
            prop_assert_eq!(unpack(&packed, LIMIT), Some(data.clone()));
            prop_assert_eq!(unpack(&packed, data.len().saturating_sub(1)).is_none(), !data.is_empty());
        }

        /// An edit makes the second text of the first, whatever they are.
        #[test]
        fn an_edit_makes_one_text_of_the_other(
            base in proptest::collection::vec(any::<u8>(), 0..4000),
            data in proptest::collection::vec(any::<u8>(), 0..4000),
        ) {
            let edit = edit(&base, &data).unwrap_or_default();
            prop_assert_eq!(apply(&base, &edit, LIMIT), Some(data));
        }

        /// Any bytes are refused or unpacked within the limit, without a panic.
        #[test]
        fn any_bytes_are_refused_or_unpacked(data in proptest::collection::vec(any::<u8>(), 0..400)) {
            prop_assert!(unpack(&data, 1 << 16).is_none_or(|text| text.len() <= 1 << 16));
            prop_assert!(apply(b"base", &data, 1 << 16).is_none_or(|text| text.len() <= 1 << 16));
        }
    }

    /// A text of a megabyte with three changes is an edit of a few bytes, at both ends of it too.
    #[test]
    fn an_edit_of_a_long_text_is_short() {
        let lines: Vec<String> =
            (0..20_000).map(|line| format!("- line {line} says {}\n", line * 7919 % 10_007)).collect();
        let base = lines.concat();
        let data = format!("# Title\n{}- one more line\n", base.replace("line 9000 ", "line nine thousand "));
        let edit = edit(base.as_bytes(), data.as_bytes()).unwrap_or_default();
        assert!(edit.len() < 200, "{}", edit.len());
        assert_eq!(apply(base.as_bytes(), &edit, LIMIT), Some(data.into_bytes()));
    }
}
