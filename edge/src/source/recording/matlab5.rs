//! MATLAB's MAT-file, level 5 (versions 5 to 7.2), compressed or not.
//!
//! Layout: 128 bytes of header (text, version 0x0100, byte order `IM` or `MI`), then data elements:
//! a tag (type, length) and that many bytes, padded to 8. A compressed element is a zlib stream of
//! one more element. A variable is an element of type `miMATRIX`: flags, dimensions, name, numbers;
//! structs and cells hold further matrices. Source: MathWorks, *MAT-File Format*, chapter 1.
//!
//! A recording is the longest numeric vector of the file (of equally long ones the first that does
//! not rise all the time, as a vector of times does), or the variable that is named by its path:
//! `X130_DE_time`, `bearing.gs`, `runs{2}`, `tests(1).data` (counted from 0). A matrix is read as
//! one channel per column, or per row if it is wider than high. Where a scalar beside the vector is
//! called `sr`, `fs`, `SampleFrequency` or the like, it is the rate.

use std::io::Read;
use std::path::Path;

use ndarray::Array2;

use super::bounds::{MAX_SAMPLES, whole};
use super::{NumberEncoding, RawRecording, SourceError};

mod element;
mod matrix;

use element::Bytes;
use matrix::{MAX_CHANNELS, NumericArray};

/// Length of the file's header.
const HEADER_BYTES: usize = 128;

/// Names under which a rate is found, lower case, without `_`.
const RATE_NAMES: [&str; 9] = [
    "sr",
    "fs",
    "samplerate",
    "samplefrequency",
    "samplingrate",
    "samplingfrequency",
    "samplefreq",
    "samplingfreq",
    "sampleratehz",
];

/// The format according to the first bytes.
pub(super) enum Version {
    /// Level 5, which can be read.
    Five,
    /// An unsupported form, with the reason.
    Refused(&'static str),
    /// Another kind of file.
    Other,
}

/// Detects a MAT-file by its first 132 bytes; `has_name` is true if its name ends in `.mat`.
pub(super) fn version(start: &[u8], has_name: bool) -> Version {
    const HDF5: &str =
        "this is a MAT-file of version 7.3 (HDF5); save it with '-v7' to have it read";
    if start.starts_with(b"MATLAB 7.3") || start.starts_with(b"\x89HDF") {
        return Version::Refused(HDF5);
    }
    match start.get(124..HEADER_BYTES) {
        Some([0x00, 0x01, b'I', b'M'] | [0x01, 0x00, b'M', b'I']) => Version::Five,
        Some([0x00, 0x02, b'I', b'M'] | [0x02, 0x00, b'M', b'I']) => Version::Refused(HDF5),
        _ if start.starts_with(b"MATLAB 5.0 MAT-file") => {
            Version::Refused("the header of this MAT-file is damaged or cut off")
        }
        _ if !has_name => Version::Other,
        // level 4 begins with a number below 5000, so one of its first four bytes is 0
        _ if start.len() >= 20 && start[..4].contains(&0) => Version::Refused(
            "this is a MAT-file of level 4 (or no MAT-file); save it with '-v7' to have it read",
        ),
        _ => Version::Refused("this is no MAT-file; level 5 (MATLAB 5 to 7.2) is read"),
    }
}

/// Reads the file and finds its recording.
pub(super) fn open(
    path: &Path,
    file: impl Read,
    variable: Option<&str>,
) -> Result<RawRecording, SourceError> {
    let content = whole(path, file)?;
    let arrays = parse(&content).map_err(|what| SourceError::malformed(path, what))?;
    let chosen = choose(path, &arrays, variable)?;
    let rate_hz = rate_beside(&arrays, &chosen.path);
    Ok(RawRecording::whole("MAT level 5", as_channels(chosen), rate_hz, NumberEncoding::Real))
}

/// All numeric arrays of a file, in its order.
fn parse(content: &[u8]) -> Result<Vec<NumericArray>, String> {
    let is_big_endian = content.get(126..HEADER_BYTES) == Some(b"MI");
    let mut bytes = Bytes::new(content.get(HEADER_BYTES..).unwrap_or(&[]), is_big_endian);
    let mut arrays = Vec::new();
    while !bytes.is_at_end() {
        let element = bytes.element()?;
        matrix::collect(&element, is_big_endian, &mut arrays)?;
        let numbers: usize = arrays.iter().map(|array| array.numbers.len()).sum();
        if numbers > MAX_SAMPLES {
            return Err(format!("more than {MAX_SAMPLES} numbers, the most that is read"));
        }
    }
    Ok(arrays)
}

fn choose<'a>(
    path: &Path,
    arrays: &'a [NumericArray],
    variable: Option<&str>,
) -> Result<&'a NumericArray, SourceError> {
    if let Some(wanted) = variable {
        return match arrays.iter().find(|array| array.path == wanted) {
            Some(array) if array.is_recording() => Ok(array),
            Some(array) => {
                let what = format!(
                    "variable {wanted:?} is {} × {}; a recording is a vector, or a matrix of at \
                     most {MAX_CHANNELS} channels",
                    array.rows, array.columns
                );
                Err(SourceError::options(path, what))
            }
            None => {
                let what = format!("no numeric variable {wanted:?}; there are {}", names(arrays));
                Err(SourceError::options(path, what))
            }
        };
    }
    let mut longest: Option<&NumericArray> = None;
    for array in arrays.iter().filter(|array| array.is_recording()) {
        let is_better = |best: &NumericArray| {
            array.length() > best.length()
                || (array.length() == best.length() && best.is_time() && !array.is_time())
        };
        if longest.is_none_or(is_better) {
            longest = Some(array);
        }
    }
    longest.ok_or_else(|| {
        let what = format!("no numeric vector in this MAT-file; there are {}", names(arrays));
        SourceError::malformed(path, what)
    })
}

/// A list of the variables for an error, at most twenty.
fn names(arrays: &[NumericArray]) -> String {
    if arrays.is_empty() {
        return "no numeric variables".to_owned();
    }
    let shown: Vec<String> = arrays
        .iter()
        .take(20)
        .map(|array| format!("{} ({} × {})", array.path, array.rows, array.columns))
        .collect();
    shown.join(", ")
}

/// The array with one row per channel. The file holds the numbers column by column.
fn as_channels(array: &NumericArray) -> Array2<f64> {
    let at = |row: usize, column: usize| array.numbers[column * array.rows + row];
    if array.rows >= array.columns {
        Array2::from_shape_fn((array.columns, array.rows), |(c, s)| at(s, c))
    } else {
        Array2::from_shape_fn((array.rows, array.columns), |(c, s)| at(c, s))
    }
}

/// A scalar with the name of a rate in the same struct, else one at the top.
fn rate_beside(arrays: &[NumericArray], path: &str) -> Option<f64> {
    let parent = path.rsplit_once('.').map_or("", |(parent, _)| parent);
    [parent, ""].iter().find_map(|wanted| {
        let is_rate = |array: &&NumericArray| {
            let (scope, name) = array.path.rsplit_once('.').unwrap_or(("", &array.path));
            let name = name.replace('_', "").to_lowercase();
            scope == *wanted && array.numbers.len() == 1 && RATE_NAMES.contains(&name.as_str())
        };
        let rate = arrays.iter().find(is_rate)?.numbers.first().copied()?;
        (rate.is_finite() && rate > 0.0).then_some(rate)
    })
}

#[cfg(test)]
mod tests;
