//! Recordings: files of samples, read as a [`Source`].
//!
//! A reader per format turns a file into [`RawSnapshots`] (raw numbers, channel × sample);
//! [`Recording`] cuts out what the options ask for and calibrates. The first bytes of a file decide
//! its format, not its name, so that a wrong name gives a clear error instead of noise.
//!
//! | format | snapshots | channels |
//! |---|---|---|
//! | `.npy`, `.npy.gz` | first axis of a 3-D array, else one | rows of a 2-D array, else one |
//! | `.mat` v5 | one | columns of the variable |
//! | `.wav` | one | as the file says |
//! | `.csv`, IMS ASCII | one | columns that hold samples |

use std::fs::File;
use std::io::{BufReader, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use ndarray::{Array2, Axis, Slice};
use pdm_shared::clock::Timestamp;
use pdm_shared::units::SampleRate;

use super::{Block, Calibration, Source, SourceError, SourceFormat};

mod npy;
mod wav;

/// What to read of a recording, and what its numbers mean.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct RecordingOptions {
    /// Samples per second; needed where the file does not say it, and wins where it does.
    pub sample_rate: Option<SampleRate>,
    /// Channels to read, counted from 0, in this order; empty: all.
    pub channels: Vec<usize>,
    /// One calibration for all channels, or one for each channel of the file; empty: samples in g.
    pub calibrations: Vec<Calibration>,
    /// Name of the variable (`.mat`: `bearing.gs`) or column (`.csv`: header or number from 0).
    pub variable: Option<String>,
    /// Only this snapshot, counted from 0.
    pub snapshot: Option<u64>,
    /// Seconds left out at the beginning of each snapshot.
    pub start_s: f64,
    /// Seconds read of each snapshot; `None`: to its end.
    pub duration_s: Option<f64>,
    /// When the first snapshot was taken.
    pub started_at: Option<Timestamp>,
    /// Seconds from the beginning of one snapshot to that of the next.
    pub period_s: Option<f64>,
}

/// Raw numbers of a file, snapshot by snapshot.
pub(crate) trait RawSnapshots: Send {
    /// The next snapshot, channel × sample, or `None` at the end.
    fn next_snapshot(&mut self) -> Result<Option<Array2<f64>>, SourceError>;

    /// Passes over one snapshot; false at the end.
    fn skip_snapshot(&mut self) -> Result<bool, SourceError> {
        self.next_snapshot().map(|snapshot| snapshot.is_some())
    }
}

/// A file that was opened: its shape and its numbers.
pub(crate) struct RawRecording {
    pub(crate) channels: usize,
    pub(crate) samples: usize,
    pub(crate) snapshots: u64,
    /// Rate that the file itself states, Hz.
    pub(crate) stated_rate_hz: Option<f64>,
    pub(crate) reader: Box<dyn RawSnapshots>,
}

impl RawRecording {
    /// A file with one snapshot that is already in memory.
    pub(crate) fn whole(data: Array2<f64>, stated_rate_hz: Option<f64>) -> Self {
        let (channels, samples) = data.dim();
        let reader = Box::new(InMemory(Some(data)));
        Self { channels, samples, snapshots: 1, stated_rate_hz, reader }
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
/// [`SourceError`]: the file is missing, damaged or of a format that is not read, or an option does
/// not fit it.
pub fn open_recording(
    path: &Path,
    options: &RecordingOptions,
) -> Result<Box<dyn Source>, SourceError> {
    Recording::open(path, options).map(|recording| Box::new(recording) as Box<dyn Source>)
}

/// Opens several recordings of the same format as one sequence of snapshots; a folder stands for
/// the files in it, sorted by name (hidden ones left out).
///
/// # Errors
/// As [`open_recording`] for the first file; later files are opened when their turn comes, and one
/// with another number of channels or another rate is an error then.
pub fn open_sequence(
    paths: &[PathBuf],
    options: &RecordingOptions,
) -> Result<Box<dyn Source>, SourceError> {
    let mut files = Vec::new();
    for path in paths {
        if path.is_dir() { files.extend(files_of(path)?) } else { files.push(path.clone()) }
    }
    let Some(first) = files.first() else {
        let path = paths.first().map_or_else(PathBuf::new, Clone::clone);
        return Err(SourceError::malformed(&path, "no file in this folder; a recording is needed"));
    };
    let current = Recording::open(first, options)?;
    if files.len() == 1 {
        return Ok(Box::new(current));
    }
    let format = SourceFormat { block_samples: None, ..current.format.clone() };
    let later = files.split_off(1).into_iter();
    Ok(Box::new(Sequence {
        current: Some(current),
        later,
        options: options.clone(),
        format,
        next_index: 0,
    }))
}

fn files_of(folder: &Path) -> Result<Vec<PathBuf>, SourceError> {
    let entries = std::fs::read_dir(folder).map_err(|e| SourceError::from_io(folder, e))?;
    let mut files = Vec::new();
    for entry in entries {
        let path = entry.map_err(|e| SourceError::from_io(folder, e))?.path();
        let is_hidden = path.file_name().is_some_and(|n| n.to_string_lossy().starts_with('.'));
        if path.is_file() && !is_hidden {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}

/// One file as a source.
struct Recording {
    path: PathBuf,
    format: SourceFormat,
    /// Channels of the file, before the choice.
    file_channels: usize,
    options: RecordingOptions,
    cut: (usize, usize),
    reader: Box<dyn RawSnapshots>,
    next_index: u64,
    blocks: u64,
}

impl Recording {
    fn open(path: &Path, options: &RecordingOptions) -> Result<Self, SourceError> {
        let mut raw = open_raw(path, options)?;
        let sample_rate = rate_of(path, options, raw.stated_rate_hz)?;
        check_channels(path, options, raw.channels)?;
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
            if options.channels.is_empty() { raw.channels } else { options.channels.len() };
        Ok(Self {
            path: path.to_owned(),
            format: SourceFormat { channels, sample_rate, block_samples: Some(cut.1 - cut.0) },
            file_channels: raw.channels,
            options: options.clone(),
            cut,
            reader: raw.reader,
            next_index: 0,
            blocks,
        })
    }

    /// The chosen channels and samples of a snapshot, in m/s².
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

    fn expected_blocks(&self) -> Option<u64> {
        Some(self.blocks)
    }
}

/// Several files after each other.
struct Sequence {
    current: Option<Recording>,
    later: std::vec::IntoIter<PathBuf>,
    options: RecordingOptions,
    format: SourceFormat,
    next_index: u64,
}

impl Sequence {
    fn open_next(&mut self) -> Result<bool, SourceError> {
        let Some(path) = self.later.next() else { return Ok(false) };
        let next = Recording::open(&path, &self.options)?;
        if next.format.channels != self.format.channels
            || next.format.sample_rate != self.format.sample_rate
        {
            let what = format!(
                "{} at {}, but the files before it have {} at {}",
                counted(next.format.channels as u64, "channel"),
                next.format.sample_rate,
                counted(self.format.channels as u64, "channel"),
                self.format.sample_rate
            );
            return Err(SourceError::malformed(&path, what));
        }
        self.current = Some(next);
        Ok(true)
    }

    /// The block with its place and time in the whole sequence.
    fn placed(&mut self, mut block: Block) -> Block {
        block.index = self.next_index;
        block.started_at = match (self.options.started_at, self.options.period_s) {
            (Some(at), Some(period)) => {
                Some(at.plus_seconds(period * block.index as f64 + self.options.start_s))
            }
            _ => None,
        };
        self.next_index += 1;
        block
    }
}

impl Source for Sequence {
    fn format(&self) -> &SourceFormat {
        &self.format
    }

    fn next_block(&mut self) -> Result<Option<Block>, SourceError> {
        while let Some(current) = &mut self.current {
            if let Some(block) = current.next_block()? {
                return Ok(Some(self.placed(block)));
            }
            self.current = None;
            if !self.open_next()? {
                break;
            }
        }
        Ok(None)
    }

    fn expected_blocks(&self) -> Option<u64> {
        None
    }
}

fn open_raw(path: &Path, options: &RecordingOptions) -> Result<RawRecording, SourceError> {
    let io_error = |e| SourceError::from_io(path, e);
    let mut file = File::open(path).map_err(io_error)?;
    if file.metadata().map_err(io_error)?.is_dir() {
        return Err(SourceError::malformed(path, "this is a folder, a recording is a file"));
    }
    let mut start = Vec::new();
    file.by_ref().take(132).read_to_end(&mut start).map_err(io_error)?;
    file.seek(SeekFrom::Start(0)).map_err(io_error)?;
    if start.is_empty() {
        return Err(SourceError::malformed(path, "the file is empty"));
    }
    let file = BufReader::new(file);
    if start.starts_with(npy::MAGIC) || start.starts_with(&GZIP_MAGIC) {
        return npy::open(path, Box::new(file), start.starts_with(&GZIP_MAGIC));
    }
    if start.starts_with(wav::MAGIC) {
        return wav::open(path, file);
    }
    let _ = options;
    Err(SourceError::malformed(path, "unknown format"))
}

/// First bytes of a gzip member (RFC 1952, 2.3.1).
const GZIP_MAGIC: [u8; 2] = [0x1f, 0x8b];

fn rate_of(
    path: &Path,
    options: &RecordingOptions,
    stated_hz: Option<f64>,
) -> Result<SampleRate, SourceError> {
    if let Some(rate) = options.sample_rate {
        return Ok(rate);
    }
    let Some(hz) = stated_hz else {
        let what = "the file does not say its sampling rate; give it in Hz (--rate)";
        return Err(SourceError::options(path, what));
    };
    SampleRate::new(hz).map_err(|e| SourceError::malformed(path, e.to_string()))
}

fn check_channels(
    path: &Path,
    options: &RecordingOptions,
    channels: usize,
) -> Result<(), SourceError> {
    if let Some(missing) = options.channels.iter().find(|&&channel| channel >= channels) {
        let has = counted(channels as u64, "channel");
        let what = format!("channel {missing} is not there: {has} (counted from 0)");
        return Err(SourceError::options(path, what));
    }
    let given = options.calibrations.len();
    if given > 1 && given != channels {
        let what = format!(
            "{given} calibrations given, but the file has {}; give one, or one a channel",
            counted(channels as u64, "channel")
        );
        return Err(SourceError::options(path, what));
    }
    Ok(())
}

/// First sample and the one after the last that the options ask for.
fn cut_of(
    path: &Path,
    options: &RecordingOptions,
    samples: usize,
    rate: SampleRate,
) -> Result<(usize, usize), SourceError> {
    let length_s = samples as f64 / rate.get();
    let start_s = options.start_s;
    if !start_s.is_finite() || start_s < 0.0 || (start_s > 0.0 && start_s >= length_s) {
        let what = format!("start {start_s} s lies outside the recording of {length_s:.3} s");
        return Err(SourceError::options(path, what));
    }
    let start = ((start_s * rate.get()).round() as usize).min(samples);
    let Some(duration_s) = options.duration_s else { return Ok((start, samples)) };
    if !duration_s.is_finite() || duration_s <= 0.0 {
        let what = format!("duration {duration_s} s is no length; it must be above 0");
        return Err(SourceError::options(path, what));
    }
    let wanted = (duration_s * rate.get()).round() as usize;
    if wanted > samples - start {
        let left_s = (samples - start) as f64 / rate.get();
        let what = format!(
            "duration {duration_s} s reaches beyond the recording: {left_s:.3} s are left from {start_s} s on"
        );
        return Err(SourceError::options(path, what));
    }
    Ok((start, start + wanted))
}

/// `1 channel`, `2 channels`.
pub(crate) fn counted(n: u64, what: &str) -> String {
    let ending = if n == 1 { "" } else { "s" };
    format!("the file has {n} {what}{ending}")
}
