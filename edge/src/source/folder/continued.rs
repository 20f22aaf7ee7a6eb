//! Files of which a part, or all, was measured under another size: one that has grown behind its
//! old end, and a recording that was packed.
//!
//! Invariant: only a file whose old bytes are the same counts as grown; every doubt makes it a new
//! one.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;

use flate2::read::MultiGzDecoder;

use super::identity::{END_BYTES, FileRecord, SeenFile};
use crate::source::{RecordingOptions, Source, SourceError, open_recording};

/// The samples of a file that were measured before it grew; `None` if it did not grow behind its
/// old end, or nothing tells how many there were.
pub(super) fn samples_before(file: &SeenFile, record: &FileRecord) -> Option<u64> {
    let samples = record.samples?;
    let is_measured = record.is_done && record.set_aside.is_none() && record.blocks == 1;
    let has_grown = file.size > record.size && record.size > 0;
    let is_continued = || is_beginning(&file.path, record).unwrap_or(false);
    (is_measured && has_grown && is_continued()).then_some(samples)
}

/// Whether a file begins with the bytes of which a record has the checksums.
fn is_beginning(path: &Path, record: &FileRecord) -> io::Result<bool> {
    let mut file = File::open(path)?;
    let first = record.size.min(END_BYTES);
    if checksum(&mut file, first)? != record.ends.0 {
        return Ok(false);
    }
    if record.size <= END_BYTES {
        return Ok(true);
    }
    file.seek(SeekFrom::Start(record.size - END_BYTES))?;
    Ok(checksum(&mut file, END_BYTES)? == record.ends.1)
}

/// Whether a file is the packed form (gzip) of one that was measured.
pub(super) fn is_packed_copy<'a>(
    file: &SeenFile,
    mut records: impl Iterator<Item = &'a FileRecord>,
) -> bool {
    let has_ending = file.path.extension().is_some_and(|end| end.eq_ignore_ascii_case("gz"));
    if !has_ending {
        return false;
    }
    let plain = file.path.with_extension("");
    let own = records.find(|record| {
        let is_measured = record.is_done && record.set_aside.is_none();
        is_measured && record.path == plain
    });
    own.is_some_and(|record| holds(&file.path, record).unwrap_or(false))
}

/// Whether the content of a gzip file has the size and the first bytes of a record.
fn holds(path: &Path, record: &FileRecord) -> io::Result<bool> {
    let mut file = File::open(path)?;
    let head = checksum(&mut MultiGzDecoder::new(&mut file), record.size.min(END_BYTES))?;
    // the last four bytes are the length of the content, modulo 2^32
    file.seek(SeekFrom::End(-4))?;
    let mut length = [0; 4];
    file.read_exact(&mut length)?;
    let is_as_long = u64::from(u32::from_le_bytes(length)) == record.size % (1 << 32);
    Ok(is_as_long && head == record.ends.0)
}

fn checksum(bytes: &mut impl Read, count: u64) -> io::Result<u32> {
    let mut first = Vec::new();
    bytes.take(count).read_to_end(&mut first)?;
    let mut crc = flate2::Crc::new();
    crc.update(&first);
    Ok(crc.sum())
}

/// Why a file is not read.
pub(super) enum NotOpened {
    /// It has grown by less than a sample.
    NothingNew,
    Failed(SourceError),
}

/// Opens a recording behind its first samples.
pub(super) fn open_new_part(
    path: &Path,
    options: &RecordingOptions,
    first: u64,
) -> Result<Box<dyn Source>, NotOpened> {
    let source = open_recording(path, options).map_err(NotOpened::Failed)?;
    if first == 0 {
        return Ok(source);
    }
    let format = source.format();
    if format.block_samples.is_none_or(|samples| samples as u64 <= first) {
        return Err(NotOpened::NothingNew);
    }
    let start_s = first as f64 / format.sample_rate.get();
    let behind = RecordingOptions { start_s, ..options.clone() };
    open_recording(path, &behind).map_err(NotOpened::Failed)
}
