//! Recordings: files of samples, read as a [`Source`].
//!
//! A reader per format turns a file into `RawSnapshots` (raw numbers, channel × sample);
//! `Recording` selects the channels and samples of the options and calibrates them. The format is
//! detected from the first bytes of a file, not from its name, so that a wrong name gives a clear
//! error instead of noise.
//!
//! | format | snapshots | channels |
//! |---|---|---|
//! | `.npy`, `.npy.gz` | first axis of a 3-D array, else one | rows of a 2-D array, else one |
//! | `.mat` v5 | one | columns of the variable |
//! | `.wav` | one | as the file says |
//! | `.csv`, IMS ASCII | one | columns that hold samples |

use std::io::{self, BufReader, Cursor, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use ndarray::{Array2, Axis, Slice};
use pdm_service::files::open_regular;
use pdm_shared::time::Timestamp;

use super::{Block, Calibration, Source, SourceError, SourceFormat};
use options::{check_channels, cut_of, rate_of};

pub use options::RecordingOptions;
pub use sequence::open_sequence;
pub(crate) use stated::{NumberEncoding, StatedChannel};

mod bounds;
mod matlab5;
mod npy;
mod options;
mod sequence;
mod stated;
mod text;
mod wav;

/// Raw numbers of a file, snapshot by snapshot.
pub(crate) trait RawSnapshots: Send {
    /// The next snapshot, channel × sample, or `None` at the end.
    fn next_snapshot(&mut self) -> Result<Option<Array2<f64>>, SourceError>;

    /// Skips one snapshot; false at the end.
    fn skip_snapshot(&mut self) -> Result<bool, SourceError> {
        self.next_snapshot().map(|snapshot| snapshot.is_some())
    }
}

/// An opened file: its shape and its numbers.
pub(crate) struct RawRecording {
    /// The format, as a person calls it: `WAV`, `MAT level 5`, `TDMS`.
    #[expect(dead_code, reason = "the commands do not print yet what was read")]
    pub(crate) format: &'static str,
    /// The channels in the order of the rows of a snapshot, as the file describes them. Time columns
    /// that the reader used for the rate are not among them.
    pub(crate) channels: Vec<StatedChannel>,
    pub(crate) samples: usize,
    pub(crate) snapshots: u64,
    /// Sampling rate stated in the file, Hz.
    pub(crate) stated_rate_hz: Option<f64>,
    /// Time of the first sample stated in the file.
    #[expect(dead_code, reason = "no reader states one yet")]
    pub(crate) stated_start: Option<Timestamp>,
    pub(crate) reader: Box<dyn RawSnapshots>,
}

impl RawRecording {
    /// A file whose only snapshot is in memory, and that states nothing of its channels but their
    /// encoding.
    pub(crate) fn whole(
        format: &'static str,
        data: Array2<f64>,
        stated_rate_hz: Option<f64>,
        encoding: NumberEncoding,
    ) -> Self {
        let channel = StatedChannel { encoding, ..StatedChannel::default() };
        let channels = vec![channel; data.nrows()];
        Self::described(format, data, channels, stated_rate_hz)
    }

    /// A file whose only snapshot is in memory, with a description of each channel.
    pub(crate) fn described(
        format: &'static str,
        data: Array2<f64>,
        channels: Vec<StatedChannel>,
        stated_rate_hz: Option<f64>,
    ) -> Self {
        let samples = data.ncols();
        let reader = Box::new(InMemory(Some(data)));
        Self { format, channels, samples, snapshots: 1, stated_rate_hz, stated_start: None, reader }
    }
}

struct InMemory(Option<Array2<f64>>);

impl RawSnapshots for InMemory {
    fn next_snapshot(&mut self) -> Result<Option<Array2<f64>>, SourceError> {
        Ok(self.0.take())
    }
}

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
    /// Number of channels of the file.
    file_channels: usize,
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
        let sample_rate = rate_of(path, options, raw.stated_rate_hz)?;
        check_channels(path, options, raw.channels.len())?;
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
        let channels =
            if options.channels.is_empty() { raw.channels.len() } else { options.channels.len() };
        Ok(Self {
            path: path.to_owned(),
            format: SourceFormat { channels, sample_rate, block_samples: Some(cut.1 - cut.0) },
            file_channels: raw.channels.len(),
            options: options.clone(),
            cut,
            reader: raw.reader,
            next_index: 0,
            blocks,
        })
    }

    /// The selected channels and samples of a snapshot, in m/s².
    fn calibrated(&self, raw: &Array2<f64>) -> Array2<f64> {
        let cut = raw.slice_axis(Axis(1), Slice::from(self.cut.0..self.cut.1));
        let chosen: Vec<usize> = if self.options.channels.is_empty() {
            (0..self.file_channels).collect()
        } else {
            self.options.channels.clone()
        };
        let mut accel = cut.select(Axis(0), &chosen);
        for (mut row, channel) in accel.axis_iter_mut(Axis(0)).zip(chosen) {
            let calibration = match self.options.calibrations.as_slice() {
                [] => Calibration::default(),
                [one] => *one,
                many => many.get(channel).copied().unwrap_or_default(),
            };
            row.mapv_inplace(|raw| calibration.to_m_s2(raw));
        }
        accel
    }

    fn started_at(&self, index: u64) -> Option<Timestamp> {
        let snapshot = self.options.snapshot.unwrap_or(0) + index;
        let since = self.options.period_s.map_or(0.0, |period| period * snapshot as f64);
        if snapshot > 0 && self.options.period_s.is_none() {
            return None;
        }
        self.options.started_at.map(|at| at.plus_seconds(since + self.options.start_s))
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
        let accel_m_s2 = self.calibrated(&raw);
        let started_at = self.started_at(index);
        Ok(Some(Block { index, started_at, follows_on: false, accel_m_s2 }))
    }

    fn skip_blocks(&mut self, count: u64) -> Result<u64, SourceError> {
        let mut skipped = 0;
        while skipped < count && self.next_index < self.blocks && self.reader.skip_snapshot()? {
            self.next_index += 1;
            skipped += 1;
        }
        Ok(skipped)
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
    if start.is_empty() {
        return Err(SourceError::malformed(path, "the file is empty"));
    }
    if start.starts_with(npy::MAGIC) || start.starts_with(&GZIP_MAGIC) {
        return npy::open(path, file, start.starts_with(&GZIP_MAGIC));
    }
    if start.starts_with(wav::MAGIC) {
        return wav::open(path, file);
    }
    let variable = options.variable.as_deref();
    match matlab5::version(start, extension(path) == "mat") {
        matlab5::Version::Five => return matlab5::open(path, file, variable),
        matlab5::Version::Refused(why) => return Err(SourceError::malformed(path, why)),
        matlab5::Version::Other => {}
    }
    let other = |what: &str| {
        let what = format!("the content is no {what}, although the name says so");
        Err(SourceError::malformed(path, what))
    };
    match extension(path).as_str() {
        "npy" => other("NumPy array"),
        "gz" => other("gzip file"),
        "wav" => other("WAV file"),
        _ => text::open(path, file, variable),
    }
}

/// The extension in lower case; empty if there is none.
fn extension(path: &Path) -> String {
    path.extension().map(|e| e.to_string_lossy().to_lowercase()).unwrap_or_default()
}

/// Number of first bytes by which the format is detected: the header of a MAT-file is the longest.
const START_BYTES: usize = 132;

/// First bytes of a gzip member (RFC 1952, 2.3.1).
const GZIP_MAGIC: [u8; 2] = [0x1f, 0x8b];

/// `the file has 1 channel`, `the file has 2 channels`.
pub(crate) fn counted(n: u64, what: &str) -> String {
    let ending = if n == 1 { "" } else { "s" };
    format!("the file has {n} {what}{ending}")
}

#[cfg(test)]
mod tests;
