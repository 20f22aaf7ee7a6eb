//! Recordings: files of samples, read as a [`Source`].
//!
//! A reader per format turns a file into `RawSnapshots` (raw numbers, channel × sample);
//! `Recording` selects the channels and samples of the options and calibrates them. The format is
//! detected from the first bytes of a file, not from its name, so that a wrong name gives a clear
//! error instead of noise.
//!
//! | format | snapshots | channels |
//! |---|---|---|
//! | NumPy `.npy`, `.npz` | first axis of a 3-D array, else one | rows of a 2-D array, else one |
//! | MAT levels 4 and 5, version 7.3; HDF5 | one | equally long vectors and columns (`variables`) |
//! | WAV, RF64 | one | as the file says |
//! | CSV, IMS ASCII and other tables; Excel | one | columns that hold samples |
//! | LabVIEW LVM, TDMS; universal files 58, 58b | one | as the file says |
//! | Parquet | one | columns of numbers |
//! | JSON | one for each document | arrays of samples |
//!
//! gzip and zip of any of them are unpacked (`packed`).

use std::io::{self, BufReader, Cursor, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use ndarray::{Array2, Axis, Slice};
use pdm_service::files::open_regular;
use pdm_shared::time::Timestamp;

use super::interpretation::Interpretation;
use super::{Block, BlockRate, Calibration, Source, SourceError, SourceFormat};
use crate::tabular::sentinel::{FILL_FROM, in_samples, written};
pub(in crate::source) use meaning::duration_words;
use meaning::{RecordingMeaning, meaning_of};
use options::{check_channels, cut_of};
use raw::InMemory;
use snapshots::snapshots_of;

pub use options::RecordingOptions;
pub(crate) use raw::{RawRecording, RawSnapshots};
pub use sequence::open_sequence;
pub(crate) use stated::{NumberEncoding, StatedChannel, StatedStart};
pub(crate) use stations::names_points;
pub(crate) use text::unit_columns::names_units;

mod assumed_unit;
mod bounds;
#[cfg(feature = "parquet")]
mod columnar;
#[cfg(feature = "excel")]
mod excel;
#[cfg(any(feature = "hdf5", feature = "parquet", feature = "excel"))]
mod guarded;
mod half;
#[cfg(feature = "hdf5")]
mod hdf5;
mod json;
mod leaves;
mod likeness;
mod lvm;
mod matlab4;
mod matlab5;
mod meaning;
mod name_days;
mod name_points;
mod not_read;
mod npy;
mod options;
mod packed;
mod raw;
mod repeats;
mod sequence;
mod snapshots;
mod spectrum;
mod stated;
mod stations;
mod tdms;
mod text;
mod text_times;
mod time_columns;
mod universal;
mod variables;
mod wav;

/// Opens a recording.
///
/// # Errors
/// [`SourceError`] if the file is missing, damaged or of an unsupported format, or if an option
/// does not fit the file.
pub fn open_recording(
    path: &Path,
    options: &RecordingOptions,
) -> Result<Box<dyn Source>, SourceError> {
    Recording::open(path, options).map(|recording| Box::new(recording) as Box<dyn Source>)
}

/// One file as a source.
struct Recording {
    path: PathBuf,
    format: SourceFormat,
    /// Row of the snapshots and calibration of each channel.
    rows: Vec<(usize, Calibration)>,
    /// Time of the first sample by the file.
    stated_start: Option<Timestamp>,
    interpretation: Arc<Interpretation>,
    options: RecordingOptions,
    cut: (usize, usize),
    reader: Box<dyn RawSnapshots>,
    next_index: u64,
    blocks: u64,
}

impl Recording {
    fn open(path: &Path, options: &RecordingOptions) -> Result<Self, SourceError> {
        Self::of(path, open_raw(path, options)?, options)
    }

    fn of(
        path: &Path,
        mut raw: RawRecording,
        options: &RecordingOptions,
    ) -> Result<Self, SourceError> {
        let RecordingMeaning { rows, sample_rate, interpretation } =
            meaning_of(path, &mut raw, options)?;
        let cut = cut_of(path, options, raw.samples, sample_rate)?;
        let blocks = match options.snapshot {
            None => raw.snapshots,
            Some(wanted) if wanted < raw.snapshots => {
                for _ in 0..wanted {
                    raw.reader.skip_snapshot()?;
                }
                1
            }
            Some(wanted) => {
                let what = format!(
                    "snapshot {wanted} is not there: {}",
                    counted(raw.snapshots, "snapshot")
                );
                return Err(SourceError::options(path, what));
            }
        };
        let block_samples = Some(cut.1 - cut.0);
        Ok(Self {
            path: path.to_owned(),
            format: SourceFormat { channels: rows.len(), sample_rate, block_samples },
            rows,
            stated_start: raw.stated_start,
            interpretation: Arc::new(interpretation),
            options: options.clone(),
            cut,
            reader: raw.reader,
            next_index: 0,
            blocks,
        })
    }

    /// The selected channels and samples of a snapshot, in m/s², and a note on each mark for no
    /// value in them with the number of its places.
    fn calibrated(&self, raw: &Array2<f64>) -> (Array2<f64>, Vec<(String, u64)>) {
        let cut = raw.slice_axis(Axis(1), Slice::from(self.cut.0..self.cut.1));
        let chosen: Vec<usize> = self.rows.iter().map(|(row, _)| *row).collect();
        let mut accel = cut.select(Axis(0), &chosen);
        let mut marks = Vec::new();
        for (mut row, (place, calibration)) in accel.axis_iter_mut(Axis(0)).zip(&self.rows) {
            // arrays are read snapshot by snapshot; what is no measured number in them becomes none
            // here
            for mark in in_samples(row.iter().copied()).into_iter().filter(|mark| mark.is_no_value)
            {
                row.mapv_inplace(|raw| if mark.is(raw) { f64::NAN } else { raw });
                let (code, count) = (written(mark.code), mark.count as u64);
                let note = format!(
                    "row {place}: {code} stands {count} times, as a mark for no value: left out"
                );
                marks.push((note, count));
            }
            row.mapv_inplace(|raw| {
                if raw.abs() < FILL_FROM { calibration.to_m_s2(raw) } else { f64::NAN }
            });
        }
        (accel, marks)
    }

    /// Returns how a snapshot with these marks was read.
    fn input_with(&self, marks: Vec<(String, u64)>) -> Arc<Interpretation> {
        if marks.is_empty() {
            return Arc::clone(&self.interpretation);
        }
        let mut own = Interpretation::clone(&self.interpretation);
        for (note, count) in marks {
            own.missing_values += count;
            own.notes.push(note);
        }
        Arc::new(own)
    }

    fn started_at(&self, index: u64) -> Option<Timestamp> {
        let snapshot = self.options.snapshot.unwrap_or(0) + index;
        let since = self.options.period_s.map_or(0.0, |period| period * snapshot as f64);
        if snapshot > 0 && self.options.period_s.is_none() {
            return None;
        }
        let first = self.options.started_at.or(self.stated_start);
        first.map(|at| at.plus_seconds(since + self.options.start_s))
    }
}

impl Source for Recording {
    fn format(&self) -> &SourceFormat {
        &self.format
    }

    fn next_block(&mut self) -> Result<Option<Block>, SourceError> {
        if self.next_index >= self.blocks {
            return Ok(None);
        }
        let Some(raw) = self.reader.next_snapshot()? else {
            let what = format!(
                "the file ends after snapshot {}, its header announces {}",
                self.next_index, self.blocks
            );
            self.next_index = self.blocks;
            return Err(SourceError::malformed(&self.path, what));
        };
        let index = self.next_index;
        self.next_index += 1;
        let (accel_m_s2, marks) = self.calibrated(&raw);
        let started_at = self.started_at(index);
        let rate = BlockRate::Format;
        let input = Some(self.input_with(marks));
        Ok(Some(Block {
            index,
            started_at,
            follows_on: false,
            rate,
            input,
            values: None,
            accel_m_s2,
        }))
    }

    fn skip_blocks(&mut self, count: u64) -> Result<u64, SourceError> {
        let mut skipped = 0;
        while skipped < count && self.next_index < self.blocks && self.reader.skip_snapshot()? {
            self.next_index += 1;
            skipped += 1;
        }
        Ok(skipped)
    }

    fn interpretation(&self) -> Option<&Arc<Interpretation>> {
        Some(&self.interpretation)
    }

    fn expected_blocks(&self) -> Option<u64> {
        Some(self.blocks)
    }
}

/// Opens a recording that is in memory. `name` is used in errors, and its extension as for a file.
///
/// # Errors
/// As [`open_recording`].
pub fn open_content(
    name: &Path,
    content: Vec<u8>,
    options: &RecordingOptions,
) -> Result<Box<dyn Source>, SourceError> {
    let start = content[..content.len().min(START_BYTES)].to_vec();
    let raw = raw_of(name, &start, Box::new(Cursor::new(content)), options)?;
    Recording::of(name, raw, options).map(|recording| Box::new(recording) as Box<dyn Source>)
}

fn open_raw(path: &Path, options: &RecordingOptions) -> Result<RawRecording, SourceError> {
    let io_error = |e| SourceError::from_io(path, e);
    let mut file = open_regular(path).map_err(|error| {
        if error.kind() == io::ErrorKind::InvalidInput {
            return SourceError::malformed(path, error.to_string());
        }
        SourceError::from_io(path, error)
    })?;
    let mut start = Vec::new();
    file.by_ref().take(START_BYTES as u64).read_to_end(&mut start).map_err(io_error)?;
    file.seek(SeekFrom::Start(0)).map_err(io_error)?;
    raw_of(path, &start, Box::new(BufReader::new(file)), options)
}

/// The reader of a file that begins with `start`.
fn raw_of(
    path: &Path,
    start: &[u8],
    file: Box<dyn Read + Send>,
    options: &RecordingOptions,
) -> Result<RawRecording, SourceError> {
    if start.starts_with(packed::GZIP_MAGIC) {
        return packed::open_gzip(path, file, options);
    }
    if start.starts_with(packed::ZIP_MAGIC) {
        return packed::open_zip(path, file, options);
    }
    raw_inside(path, &extension(path), start, file, options)
}

/// The reader of a content that is not compressed, or no longer; `extension` is that of its name.
#[expect(clippy::too_many_lines, reason = "one branch for each format")]
fn raw_inside(
    path: &Path,
    extension: &str,
    start: &[u8],
    file: Box<dyn Read + Send>,
    options: &RecordingOptions,
) -> Result<RawRecording, SourceError> {
    if start.is_empty() {
        return Err(SourceError::malformed(path, "the file is empty"));
    }
    if start.starts_with(npy::MAGIC) {
        return npy::open(path, file, false);
    }
    if start.starts_with(OLD_OFFICE_MAGIC) {
        let what = "a workbook of the old form (.xls) or another old file of Office, which is not \
                    read; save it as .xlsx or CSV";
        return Err(SourceError::malformed(path, what));
    }
    if let Some(what) = not_read::refusal(start) {
        return Err(SourceError::malformed(path, what));
    }
    if wav::is_wav(start) {
        return wav::open(path, file);
    }
    let variable = options.variable.as_deref();
    if start.starts_with(lvm::MAGIC) {
        return lvm::open(path, file, options);
    }
    if start.starts_with(tdms::MAGIC) {
        return tdms::open(path, file, variable);
    }
    if start.starts_with(PARQUET_MAGIC) {
        return open_parquet(path, file, variable);
    }
    if is_hdf5(start) || start.starts_with(MAT73_MAGIC) {
        return open_hdf5(path, file, variable);
    }
    if universal::is_universal(start) {
        return universal::open(path, file, variable);
    }
    let file = if json::may_be_json(start) {
        let content = bounds::whole(path, file)?;
        if let Some(documents) = json::documents(&content) {
            drop(content);
            return json::open(path, documents, variable);
        }
        if ["json", "jsonl", "ndjson"].contains(&extension) {
            return Err(SourceError::malformed(path, json::fault(&content)));
        }
        Box::new(Cursor::new(content))
    } else {
        file
    };
    if matlab4::is_level_4(start) {
        return matlab4::open(path, file, variable);
    }
    match matlab5::version(start, extension == "mat") {
        matlab5::Version::Five => return matlab5::open(path, file, variable),
        matlab5::Version::Hdf5 => return open_hdf5(path, file, variable),
        matlab5::Version::Refused(why) => return Err(SourceError::malformed(path, why)),
        matlab5::Version::Other => {}
    }
    let other = |what: &str| {
        let what = format!("the content is no {what}, although the name says so");
        Err(SourceError::malformed(path, what))
    };
    match extension {
        "npy" => other("NumPy array"),
        "gz" => other("gzip file"),
        "wav" => other("WAV file"),
        _ => match not_read::refusal_of_binary(start, extension) {
            Some(what) => Err(SourceError::malformed(path, what)),
            None => text::open(path, file, options),
        },
    }
}

/// First bytes of a compound file: `.xls` and other files of Office before 2007.
const OLD_OFFICE_MAGIC: &[u8] = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1";

/// First bytes of Parquet, of HDF5, and of a MAT-file of version 7.3, whose HDF5 begins later.
const PARQUET_MAGIC: &[u8] = b"PAR1";
const HDF5_MAGIC: &[u8] = b"\x89HDF\r\n\x1a\n";
const MAT73_MAGIC: &[u8] = b"MATLAB 7.3";

/// Whether HDF5 begins here, or behind a block of the user, whose size is a power of two from 512
/// on.
fn is_hdf5(start: &[u8]) -> bool {
    let begins = |at: usize| start.get(at..).is_some_and(|rest| rest.starts_with(HDF5_MAGIC));
    [0, 512, 1024, 2048].into_iter().any(begins)
}

#[cfg(feature = "parquet")]
use columnar::open as open_parquet;
#[cfg(feature = "hdf5")]
use hdf5::open as open_hdf5;

/// This build has no reader of workbooks.
#[cfg(not(feature = "excel"))]
mod excel {
    use super::{Path, RawRecording, RecordingOptions, SourceError};

    pub(super) const WORKBOOK: &str = "xl/workbook.xml";

    pub(super) fn open(
        path: &Path,
        _: Vec<u8>,
        _: &RecordingOptions,
    ) -> Result<RawRecording, SourceError> {
        let what = "an Excel workbook, which this build does not read (feature `excel`); Excel \
                    saves a sheet as CSV";
        Err(SourceError::malformed(path, what))
    }
}

/// This build has no reader of the format.
#[cfg(not(feature = "parquet"))]
fn open_parquet(path: &Path, _: impl Read, _: Option<&str>) -> Result<RawRecording, SourceError> {
    let what = "Parquet, which this build does not read (feature `parquet`)";
    Err(SourceError::malformed(path, what))
}

/// This build has no reader of the format.
#[cfg(not(feature = "hdf5"))]
fn open_hdf5(path: &Path, _: impl Read, _: Option<&str>) -> Result<RawRecording, SourceError> {
    let what = "HDF5 or MAT version 7.3, which this build does not read (feature `hdf5`); MATLAB \
                saves version 7 with '-v7'";
    Err(SourceError::malformed(path, what))
}

/// The extension in lower case; empty if there is none.
fn extension(path: &Path) -> String {
    path.extension().map(|e| e.to_string_lossy().to_lowercase()).unwrap_or_default()
}

/// Number of first bytes by which the format is detected: HDF5 behind the longest block of a user
/// that is looked for is the farthest.
const START_BYTES: usize = 2056;

/// `the file has 1 channel`, `the file has 2 channels`.
pub(crate) fn counted(n: u64, what: &str) -> String {
    let ending = if n == 1 { "" } else { "s" };
    format!("the file has {n} {what}{ending}")
}

#[cfg(test)]
mod tests;
