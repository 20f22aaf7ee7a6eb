//! The chunks of a RIFF file: identifiers, lengths, pad bytes, and the lengths of streams.
//!
//! A chunk of odd length is followed by a pad byte; some writers leave it out. It is recognised by
//! what follows: an identifier is four printable characters, a pad byte is none.

use std::io::{self, Read};
use std::path::Path;

use super::SourceError;

/// Bytes of a chunk's content that are kept: the longest header of a format has 40.
const HEADER_BYTES: u64 = 64;

/// The least length that stands for "not known yet": writers to a pipe put 2^31 or 2^32 there, less
/// some bytes of header or a whole buffer (ffmpeg `0xffffffff`, arecord 2^31, sox `0x7ffff000`).
const LEAST_STREAM_LENGTH: u32 = 0x7ff0_0000;

/// Whether a length is one that a writer to a pipe puts into the header.
const fn is_stream_length(length: u32) -> bool {
    length >= LEAST_STREAM_LENGTH
}

/// Identifier and announced length of a chunk.
pub(super) struct Chunk {
    pub(super) id: [u8; 4],
    pub(super) length: u32,
}

/// A RIFF file that is read from front to back.
pub(super) struct Chunks<'a, R> {
    path: &'a Path,
    reader: R,
    pub(super) is_big_endian: bool,
    /// Length of the whole that the file announces, without its first 8 bytes.
    riff_length: u32,
    /// Bytes read so far.
    position: u64,
    /// The last chunk had an odd length.
    is_after_odd: bool,
}

impl<'a, R: Read> Chunks<'a, R> {
    /// Reads the head of the file.
    pub(super) fn new(path: &'a Path, reader: R) -> Result<Self, SourceError> {
        let mut chunks = Self {
            path,
            reader,
            is_big_endian: false,
            riff_length: 0,
            position: 0,
            is_after_odd: false,
        };
        let head = chunks.piece(12)?;
        if head.get(8..12) != Some(b"WAVE") {
            return Err(SourceError::malformed(path, "no WAV file: the head has no WAVE"));
        }
        chunks.is_big_endian = head.starts_with(b"RIFX");
        chunks.riff_length = chunks.number(&head, 4);
        Ok(chunks)
    }

    fn number(&self, bytes: &[u8], at: usize) -> u32 {
        let mut raw = [0u8; 4];
        if let Some(four) = bytes.get(at..at + 4) {
            raw.copy_from_slice(four);
        }
        if self.is_big_endian { u32::from_be_bytes(raw) } else { u32::from_le_bytes(raw) }
    }

    /// The next bytes: fewer than wanted at the end of the file alone.
    pub(super) fn piece(&mut self, wanted: u64) -> Result<Vec<u8>, SourceError> {
        let mut bytes = Vec::new();
        let got = self.reader.by_ref().take(wanted).read_to_end(&mut bytes);
        got.map_err(|e| SourceError::from_io(self.path, e))?;
        self.position += bytes.len() as u64;
        Ok(bytes)
    }

    /// The head of the next chunk, or `None` at the end of the file.
    pub(super) fn next_chunk(&mut self) -> Result<Option<Chunk>, SourceError> {
        let mut head = self.piece(8)?;
        let is_identifier = |raw: &[u8]| raw.iter().all(|byte| (0x20..0x7f).contains(byte));
        if self.is_after_odd && head.len() == 8 && !is_identifier(&head[..4]) {
            head.remove(0);
            head.extend(self.piece(1)?);
        }
        self.is_after_odd = false;
        let Some(id) = head.get(..4).and_then(|raw| <[u8; 4]>::try_from(raw).ok()) else {
            return Ok(None);
        };
        if head.len() < 8 {
            return Ok(None);
        }
        Ok(Some(Chunk { id, length: self.number(&head, 4) }))
    }

    /// Reads a chunk and hands out the start of its content.
    pub(super) fn content_start(&mut self, length: u32) -> Result<Vec<u8>, SourceError> {
        let kept = self.piece(u64::from(length).min(HEADER_BYTES))?;
        self.pass(u64::from(length) - kept.len() as u64)?;
        self.is_after_odd = length % 2 == 1;
        Ok(kept)
    }

    /// Leaves out the content of a chunk.
    pub(super) fn skip(&mut self, length: u32) -> Result<(), SourceError> {
        self.pass(length.into())?;
        self.is_after_odd = length % 2 == 1;
        Ok(())
    }

    fn pass(&mut self, length: u64) -> Result<(), SourceError> {
        let passed = io::copy(&mut self.reader.by_ref().take(length), &mut io::sink());
        let passed = passed.map_err(|e| SourceError::from_io(self.path, e))?;
        self.position += passed;
        if passed < length {
            let what = "the WAV file ends too early: it is truncated inside its header";
            return Err(SourceError::malformed(self.path, what));
        }
        Ok(())
    }

    /// The length of the data in the chunk `ds64` of a file of more than 4 GiB.
    pub(super) fn long_data_length(&mut self, length: u32) -> Result<Option<u64>, SourceError> {
        let content = self.content_start(length)?;
        let raw = content.get(8..16).and_then(|raw| <[u8; 8]>::try_from(raw).ok());
        Ok(raw.map(|raw| {
            if self.is_big_endian { u64::from_be_bytes(raw) } else { u64::from_le_bytes(raw) }
        }))
    }

    /// Bytes of samples that follow, or `None` if they last to the end of the file.
    ///
    /// A length of 0 is that of a stream if the whole file is announced to end here, or has no
    /// length either; else the chunk is empty and others follow.
    pub(super) fn data_length(&self, announced: u32, long: Option<u64>) -> Option<u64> {
        if let Some(long) = long.filter(|_| announced == u32::MAX) {
            return (long > 0 && long != u64::MAX).then_some(long);
        }
        let ends_here = u64::from(self.riff_length) + 8 <= self.position;
        let is_stream = is_stream_length(announced)
            || announced == 0
                && (self.riff_length == 0 || is_stream_length(self.riff_length) || ends_here);
        (!is_stream).then_some(u64::from(announced))
    }
}
