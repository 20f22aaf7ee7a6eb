//! Several recordings of one form, read from one file, as the snapshots of one recording.

use std::collections::VecDeque;
use std::path::Path;

use ndarray::Array2;

use super::{RawRecording, RawSnapshots, SourceError};

/// One recording of which each of these is a snapshot. They must have the same channels, samples
/// and rate; `what` is what the format calls a part (`segment`).
pub(super) fn snapshots_of(
    path: &Path,
    mut recordings: Vec<RawRecording>,
    what: &str,
) -> Result<RawRecording, SourceError> {
    if recordings.len() == 1
        && let Some(single) = recordings.pop()
    {
        return Ok(single);
    }
    let mut data = VecDeque::new();
    let mut first: Option<RawRecording> = None;
    for (index, mut recording) in recordings.into_iter().enumerate() {
        data.extend(recording.reader.next_snapshot()?);
        let Some(first) = &first else {
            first = Some(recording);
            continue;
        };
        let form =
            |r: &RawRecording| format!("{} channels of {} samples", r.channels.len(), r.samples);
        let is_other = first.channels != recording.channels
            || first.stated_rate_hz != recording.stated_rate_hz;
        if form(first) != form(&recording) || is_other {
            let told = format!(
                "{what} {index} (from 0) has {}, the first has {}, or other names, \
                 units, scales or rates; \
                 {what}s of one form are read",
                form(&recording),
                form(first)
            );
            return Err(SourceError::malformed(path, told));
        }
    }
    let Some(first) = first else {
        return Err(SourceError::malformed(path, format!("no {what} in this file")));
    };
    let snapshots = data.len() as u64;
    Ok(RawRecording { snapshots, reader: Box::new(InMemorySnapshots(data)), ..first })
}

struct InMemorySnapshots(VecDeque<Array2<f64>>);

impl RawSnapshots for InMemorySnapshots {
    fn next_snapshot(&mut self) -> Result<Option<Array2<f64>>, SourceError> {
        Ok(self.0.pop_front())
    }
}
