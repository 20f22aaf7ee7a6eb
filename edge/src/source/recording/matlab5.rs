//! MATLAB's MAT-file, level 5 (versions 5 to 7.2), compressed or not.
//!
//! Layout: 128 bytes of header (text, version 0x0100, byte order `IM` or `MI`), then data elements:
//! a tag (type, length) and that many bytes, padded to 8. A compressed element is a zlib stream of
//! one more element. A variable is an element of type `miMATRIX`: flags, dimensions, name, numbers;
//! structs and cells hold further matrices. Source: MathWorks, *MAT-File Format*, chapter 1.
//!
//! All numeric arrays become variables, with the names, units and rates that stand in fields beside
//! them; the choice among them is that of all formats with variables. A path names one:
//! `X130_DE_time`, `bearing.gs`, `runs{2}`, `tests(1).data`, `data[0]` (counted from 0). A matrix
//! is one channel per column, or per row if it is wider than high.

use std::io::Read;
use std::path::Path;

use super::bounds::{MAX_SAMPLES, whole};
use super::leaves::{Leaf, stated_speed, stated_start, variables_of};
use super::variables::recording_of_variables;
use super::{RawRecording, SourceError};

mod element;
mod matrix;

use element::Bytes;
use matrix::Collected;

/// Length of the file's header.
const HEADER_BYTES: usize = 128;

/// The format according to the first bytes.
pub(super) enum Version {
    /// Level 5, which can be read.
    Five,
    /// Version 7.3: HDF5 behind the header.
    Hdf5,
    /// An unsupported form, with the reason.
    Refused(&'static str),
    /// Another kind of file.
    Other,
}

/// Detects a MAT-file by its first 132 bytes; `has_name` is true if its name ends in `.mat`.
pub(super) fn version(start: &[u8], has_name: bool) -> Version {
    match start.get(124..HEADER_BYTES) {
        Some([0x00, 0x01, b'I', b'M'] | [0x01, 0x00, b'M', b'I']) => Version::Five,
        Some([0x00, 0x02, b'I', b'M'] | [0x02, 0x00, b'M', b'I']) => Version::Hdf5,
        _ if start.starts_with(b"MATLAB 5.0 MAT-file") => {
            Version::Refused("the header of this MAT-file is damaged or cut off")
        }
        _ if !has_name => Version::Other,
        _ => Version::Refused("this is no MAT-file; levels 4 and 5 and version 7.3 are read"),
    }
}

/// Reads the file and finds its recording.
pub(super) fn open(
    path: &Path,
    file: impl Read,
    variable: Option<&str>,
) -> Result<RawRecording, SourceError> {
    let content = whole(path, file)?;
    let leaves = parse(&content).map_err(|what| SourceError::malformed(path, what))?;
    drop(content);
    let (speed, start) = (stated_speed(&leaves), stated_start(&leaves));
    let (variables, others) = variables_of(leaves);
    let mut recording = recording_of_variables(path, "MAT level 5", variables, &others, variable)?;
    recording.notes.extend(speed);
    recording.start_at(start);
    Ok(recording)
}

/// All arrays of a file, in its order.
fn parse(content: &[u8]) -> Result<Vec<Leaf>, String> {
    let is_big_endian = content.get(126..HEADER_BYTES) == Some(b"MI");
    let mut bytes = Bytes::new(content.get(HEADER_BYTES..).unwrap_or(&[]), is_big_endian);
    let mut collected = Collected::new(is_big_endian);
    while !bytes.is_at_end() {
        collected.add(&bytes.element()?)?;
        if collected.numbers > MAX_SAMPLES {
            return Err(format!("more than {MAX_SAMPLES} numbers, the most that is read"));
        }
    }
    Ok(collected.leaves)
}

#[cfg(test)]
mod tests;
