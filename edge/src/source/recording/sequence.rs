//! Several recordings as one source, for snapshots that were saved in a file each.
//!
//! Invariant: all files have the number of channels and the rate of the first.

use std::path::{Path, PathBuf};

use super::{Recording, RecordingOptions, counted};
use crate::source::{Block, Source, SourceError, SourceFormat};

/// Opens several recordings of the same format as one sequence of snapshots. A folder is replaced
/// by its files, sorted by name, without hidden ones.
///
/// # Errors
/// As [`super::open_recording`] for the first file. Each later file is opened after the one before
/// was read; another number of channels or another rate is an error then.
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

/// Several files, read one after the other.
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

    /// The block with its index and time in the whole sequence.
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
