//! The options of a recording, and the checks against its file.

use std::path::Path;

use pdm_shared::time::Timestamp;
use pdm_shared::units::SampleRate;

use super::{SourceError, counted};
use crate::source::{Calibration, Preferred};
use crate::tabular::{Decimal, LocalZone};

/// The part of a recording to read, and the meaning of its numbers.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct RecordingOptions {
    /// Samples per second. Needed if the file does not state a rate; refused if the file states
    /// another.
    pub sample_rate: Option<SampleRate>,
    /// Channels to read, counted from 0, in this order; empty: all.
    pub channels: Vec<usize>,
    /// One calibration for all channels, or one for each channel of the file; empty: samples in g.
    pub calibrations: Vec<Calibration>,
    /// Name of the variable (`.mat`: `bearing.gs`) or column (`.csv`: header or number from 0).
    pub variable: Option<String>,
    /// The only snapshot that is read, counted from 0.
    pub snapshot: Option<u64>,
    /// Seconds left out at the beginning of each snapshot.
    pub start_s: f64,
    /// Seconds read of each snapshot; `None`: to its end.
    pub duration_s: Option<f64>,
    /// Time of the first snapshot.
    pub started_at: Option<Timestamp>,
    /// Seconds from the beginning of one snapshot to that of the next.
    pub period_s: Option<f64>,
    /// Which side counts where the file and an option contradict each other; `None`: the file is
    /// refused.
    pub prefer: Option<Preferred>,
    /// Decimal sign of the numbers of a text; `None`: the text tells.
    pub decimal: Option<Decimal>,
    /// The zone of times that state none.
    pub zone: LocalZone,
}

pub(super) fn check_channels(
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
pub(super) fn cut_of(
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
        let what = format!("duration {duration_s} s is out of range; the duration must be above 0");
        return Err(SourceError::options(path, what));
    }
    let wanted = (duration_s * rate.get()).round() as usize;
    if wanted > samples - start {
        let left_s = (samples - start) as f64 / rate.get();
        let what = format!(
            "duration {duration_s} s reaches beyond the recording: {left_s:.3} s are left from \
             {start_s} s on"
        );
        return Err(SourceError::options(path, what));
    }
    Ok((start, start + wanted))
}
