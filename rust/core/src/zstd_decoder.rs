//! A stream of zstd frames as other programs write them, unpacked as its bytes arrive.

use std::io;

use zstd::stream::raw::{Decoder, Operation};

/// A decoder that is given packed bytes and asked for unpacked ones, with the window of one frame in memory.
pub struct ZstdDecoder(Decoder<'static>);

/// What one step took and gave.
pub struct Step {
    /// Packed bytes that were taken in.
    pub taken: usize,
    /// Unpacked bytes.
    pub data: Vec<u8>,
    /// True if a frame ended with these bytes; the next ones begin another.
    pub ended: bool,
}

impl ZstdDecoder {
    /// Return a decoder of frames whose windows are at most 128 MiB, zstd's own limit.
    ///
    /// # Errors
    /// There is no memory for it.
    pub fn new() -> io::Result<Self> {
        Decoder::new().map(Self)
    }

    /// Unpack at most `room` bytes.
    ///
    /// # Errors
    /// The packed bytes are no zstd frame, or a damaged one.
    pub fn step(&mut self, packed: &[u8], room: usize) -> io::Result<Step> {
        let mut data = vec![0; room];
        let status = self.0.run_on_buffers(packed, &mut data)?;
        data.truncate(status.bytes_written);
        Ok(Step { taken: status.bytes_read, data, ended: status.remaining == 0 })
    }
}
