//! Several recordings as one source, for snapshots that were saved in a file each.
//!
//! Invariants: all files have the number of channels and the rate of the first; a bad file of a
//! folder is set aside, named in the log and counted, and the next one is read: a folder is filled
//! by other programs, and one broken file must not keep the edge from measuring. A bad file that is
//! named itself is an error.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::likeness::{Likeness, NameChange};
use super::name_days::days_of_names;
use super::name_points::points_of_names;
use super::{Recording, RecordingOptions};
use crate::source::interpretation::short;
use crate::source::{Block, Interpretation, Source, SourceError, SourceFormat};

/// Difference of the rates of two files up to which they are one rate, ratio: the clocks of loggers
/// differ by a tenth of it.
const SAME_RATE: f64 = 0.002;

/// A file of a sequence.
#[derive(Debug, Clone)]
struct SequenceFile {
    path: PathBuf,
    /// True if the file is from a folder, not named itself.
    is_found: bool,
}

/// Opens several recordings of the same format as one sequence of snapshots. A folder is replaced
/// by its files, sorted by name (by the day where names write the year last), without hidden ones.
///
/// # Errors
/// As [`super::open_recording`] for the first readable file. Each later file is opened after the
/// one before was read; a damaged one, another number of channels or another rate is an error then,
/// unless the file is from a folder.
pub fn open_sequence(
    paths: &[PathBuf],
    options: &RecordingOptions,
) -> Result<Box<dyn Source>, SourceError> {
    let mut files = Vec::new();
    for path in paths {
        if path.is_dir() {
            files.extend(
                files_of(path)?.into_iter().map(|path| SequenceFile { path, is_found: true }),
            );
        } else {
            files.push(SequenceFile { path: path.clone(), is_found: false });
        }
    }
    let all: Vec<PathBuf> = files.iter().map(|file| file.path.clone()).collect();
    if let Some(points) = points_of_names(&all) {
        let folder = paths.first().map_or_else(PathBuf::new, Clone::clone);
        let what = format!(
            "the names of the files tell several measuring points apart ({}): give the files of \
             one point, each point in a folder of its own",
            points.join(", ")
        );
        return Err(SourceError::options(&folder, what));
    }
    let is_one = files.len() == 1;
    let count = files.len() as u64;
    let mut later = files.into_iter();
    let (current, is_found) = first(&mut later, options, paths)?;
    if is_one && !is_found {
        return Ok(Box::new(current));
    }
    let format = SourceFormat { block_samples: None, ..current.format.clone() };
    let mut likeness = Likeness::new(current.interpretation.as_ref(), &current.path);
    likeness.follow_start(current.stated_start, options.period_s);
    let options = options.clone();
    // a file that cannot be read keeps its place in time
    let left_out = count - 1 - later.len() as u64;
    // of files of one snapshot each the length is known
    let expected = (current.expected_blocks() == Some(1)).then_some(count);
    Ok(Box::new(Sequence {
        current: Some(current),
        is_found,
        later,
        options,
        format,
        next_index: 0,
        left_out,
        expected,
        likeness,
    }))
}

/// The first file that can be read, and whether it is from a folder.
fn first(
    files: &mut std::vec::IntoIter<SequenceFile>,
    options: &RecordingOptions,
    paths: &[PathBuf],
) -> Result<(Recording, bool), SourceError> {
    let mut last = None;
    for SequenceFile { path, is_found } in files {
        match Recording::open(&path, options) {
            Ok(recording) => return Ok((recording, is_found)),
            // an option that does not fit one file fits none: the person who gave it corrects it
            Err(error) if !is_found || matches!(error, SourceError::Options { .. }) => {
                return Err(error);
            }
            Err(error) => {
                set_aside(&error);
                last = Some(error);
            }
        }
    }
    let path = paths.first().map_or_else(PathBuf::new, Clone::clone);
    match last {
        None => Err(SourceError::malformed(&path, "no file in this folder; a recording is needed")),
        Some(error) => Err(SourceError::NothingReadable { path, last: error.to_string() }),
    }
}

/// Names and counts a bad file of a folder.
fn set_aside(error: &SourceError) {
    metrics::counter!("pdm_edge_recordings_set_aside_total").increment(1);
    tracing::warn!(%error, "a recording is set aside");
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
    files.sort_by_cached_key(|path| numeric_order(path));
    if let Some(days) = days_of_names(&files) {
        let mut dated: Vec<_> = days.into_iter().zip(files).collect();
        // a stable sort: files of a day stay in the order of their names
        dated.sort_by_key(|(day, _)| *day);
        return Ok(dated.into_iter().map(|(_, path)| path).collect());
    }
    Ok(files)
}

/// The key by which files of a folder are sorted: runs of digits as numbers, so that `2.csv` comes
/// before `10.csv`; equal numbers by their spelling.
fn numeric_order(path: &Path) -> (Vec<NamePart>, PathBuf) {
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let mut parts = Vec::new();
    let mut rest = name.as_str();
    while let Some(first) = rest.chars().next() {
        let is_number = first.is_ascii_digit();
        let end = rest.find(|c: char| c.is_ascii_digit() != is_number).unwrap_or(rest.len());
        let (part, after) = rest.split_at(end);
        parts.push(if is_number {
            let digits = part.trim_start_matches('0');
            NamePart::Number(digits.len(), digits.to_owned())
        } else {
            NamePart::Text(part.to_owned())
        });
        rest = after;
    }
    (parts, path.to_owned())
}

/// A part of a file's name. A number is compared by its count of digits, then by them.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
enum NamePart {
    Number(usize, String),
    Text(String),
}

/// Several files, read one after the other.
struct Sequence {
    current: Option<Recording>,
    /// True if the current file is from a folder.
    is_found: bool,
    later: std::vec::IntoIter<SequenceFile>,
    options: RecordingOptions,
    format: SourceFormat,
    next_index: u64,
    /// Files before the next block that were set aside: each has its place in time.
    left_out: u64,
    /// Blocks of the whole sequence, those of files that are set aside among them.
    expected: Option<u64>,
    likeness: Likeness,
}

impl Sequence {
    /// Opens the next file that can be read; false if there is none.
    fn open_next(&mut self) -> Result<bool, SourceError> {
        while let Some(SequenceFile { path, is_found }) = self.later.next() {
            match self.open_like(&path) {
                Ok(next) => {
                    (self.current, self.is_found) = (Some(next), is_found);
                    return Ok(true);
                }
                Err(error) if is_found => {
                    set_aside(&error);
                    self.left_out += 1;
                }
                Err(error) => return Err(error),
            }
        }
        Ok(false)
    }

    /// A file of the form of the first.
    fn open_like(&mut self, path: &Path) -> Result<Recording, SourceError> {
        if let Some(what) = self.likeness.refused_copy(path) {
            return Err(SourceError::malformed(path, what));
        }
        let mut next = Recording::open(path, &self.options)?;
        let (got, before) = (next.format.sample_rate.get(), self.format.sample_rate.get());
        // rates that time columns give differ in their last digits
        let is_alike = (got / before - 1.0).abs() <= SAME_RATE;
        if next.format.channels != self.format.channels || !is_alike {
            let channels = |n: usize| format!("{n} channel{}", if n == 1 { "" } else { "s" });
            let what = format!(
                "the file has {} at {} Hz, the files before it have {} at {} Hz; name files of one \
                 form",
                channels(next.format.channels),
                short(got),
                channels(self.format.channels),
                short(before)
            );
            return Err(SourceError::malformed(path, what));
        }
        match self.likeness.change_of_names(next.interpretation.as_ref()) {
            Some(NameChange::OtherAxes(what)) => return Err(SourceError::malformed(path, what)),
            Some(NameChange::OtherNames(what)) => {
                tracing::warn!(file = %path.display(), "{what}");
            }
            None => {}
        }
        if let Some(what) = self.likeness.change_of_unit(next.interpretation.as_ref()) {
            return Err(SourceError::malformed(path, what));
        }
        if let Some(what) = self.likeness.follow_start(next.stated_start, self.options.period_s) {
            tracing::warn!(file = %path.display(), "{what}");
        }
        next.format.sample_rate = self.format.sample_rate;
        Ok(next)
    }

    /// The block with its index and time in the whole sequence.
    fn placed(&mut self, mut block: Block) -> Block {
        block.index = self.next_index;
        block.started_at = match (self.options.started_at, self.options.period_s) {
            (Some(at), Some(period)) => {
                let place = (block.index + self.left_out) as f64;
                Some(at.plus_seconds(period * place + self.options.start_s))
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
            match current.next_block() {
                Ok(Some(block)) => return Ok(Some(self.placed(block))),
                Ok(None) => {}
                Err(error) if self.is_found => set_aside(&error),
                Err(error) => return Err(error),
            }
            self.current = None;
            if !self.open_next()? {
                break;
            }
        }
        Ok(None)
    }

    fn interpretation(&self) -> Option<&Arc<Interpretation>> {
        self.current.as_ref().map(|current| &current.interpretation)
    }

    fn expected_blocks(&self) -> Option<u64> {
        self.expected
    }
}
