//! Several recordings of one form, read from one file, as the snapshots of one recording.

use std::collections::VecDeque;
use std::path::Path;

use ndarray::Array2;

use super::{RawRecording, RawSnapshots, SourceError, StatedChannel};
use crate::source::interpretation::short;

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
        if let Some(difference) = difference(first, &recording) {
            let told =
                format!("{what} {index} (from 0) {difference}; {what}s of one form are read");
            return Err(SourceError::malformed(path, told));
        }
    }
    let Some(first) = first else {
        return Err(SourceError::malformed(path, format!("no {what} in this file")));
    };
    let snapshots = data.len() as u64;
    Ok(RawRecording { snapshots, reader: Box::new(InMemorySnapshots(data)), ..first })
}

/// Difference of the rates of two parts up to which they are one rate, ratio: those of columns of
/// times differ in their last digits.
const SAME_RATE: f64 = 1e-3;

/// Returns the difference of a part from the first one, in words.
fn difference(first: &RawRecording, other: &RawRecording) -> Option<String> {
    let count = |n: usize, what: &str| format!("{n} {what}{}", if n == 1 { "" } else { "s" });
    let differ = |own: String, before: String| Some(format!("has {own}, the first has {before}"));
    if first.channels.len() != other.channels.len() {
        let (own, before) = (other.channels.len(), first.channels.len());
        return differ(count(own, "channel"), count(before, "channel"));
    }
    if first.samples != other.samples {
        return differ(count(other.samples, "sample"), count(first.samples, "sample"));
    }
    for (before, own) in first.channels.iter().zip(&other.channels) {
        let name = |stated: &StatedChannel| stated.name.clone().unwrap_or_default();
        let unit = |stated: &StatedChannel| stated.unit.clone().unwrap_or_default();
        if name(own) != name(before) {
            return differ(
                format!("a channel {:?}", name(own)),
                format!("{:?} in its place", name(before)),
            );
        }
        if unit(own) != unit(before) {
            let place = name(own);
            return differ(
                format!("{place:?} in {:?}", unit(own)),
                format!("it in {:?}", unit(before)),
            );
        }
        if own != before {
            return Some(format!("has another scale or encoding of {:?}", name(own)));
        }
    }
    match (first.stated_rate_hz, other.stated_rate_hz) {
        (Some(before), Some(own)) if (own / before - 1.0).abs() <= SAME_RATE => None,
        (None, None) => None,
        (before, own) => {
            let words =
                |hz: Option<f64>| hz.map_or("no rate".to_owned(), |hz| format!("{} Hz", short(hz)));
            differ(words(own), words(before))
        }
    }
}

struct InMemorySnapshots(VecDeque<Array2<f64>>);

impl RawSnapshots for InMemorySnapshots {
    fn next_snapshot(&mut self) -> Result<Option<Array2<f64>>, SourceError> {
        Ok(self.0.pop_front())
    }
}
