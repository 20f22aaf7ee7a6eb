//! `pdm-edge replay` of captures: the windows of each waveform through the stateful judgement of
//! its point, in the order of time, one bearing after the other, as `backtest` reads them.
//!
//! A capture of 12 s is twelve windows of the length that the gateway judges, laid so that the
//! window of the trigger is one of them. Windows over a gap, and those that another capture has
//! shown already, are left out.

use std::collections::{BTreeMap, HashMap};
use std::io::Write as _;

use pdm_service::exit::{Exit, Failure};
use pdm_shared::capture::CaptureDocument;
use pdm_shared::event::Event;
use pdm_shared::id::{BearingKey, MeasuringPoint};
use pdm_shared::time::Timestamp;
use pdm_shared::units::SampleRate;

use super::super::captured::{self, CapturedRecording, captures};
use super::super::recording_options::{RecordingArgs, usage};
use super::Args;
use super::summary::Summary;
use crate::pipeline::point::Point;
use crate::settings::PointSettings;
use crate::source::{SourceError, open_recording};

/// Change of the sampling rate from which levels do not compare, as a ratio: that from which a
/// capture is cut.
const OTHER_RATE: f64 = 0.01;

/// Prints the events of captures, or a summary.
pub(super) fn replay(args: &Args) -> anyhow::Result<Exit> {
    for (is_given, option) in [
        (args.period.is_some(), "--period"),
        (args.start.is_some(), "--start"),
        (args.config.is_some(), "--config"),
    ] {
        if is_given {
            let told = "captures state their times, and their events are printed: leave it out";
            return Err(usage(format!("{option}: {told}")));
        }
    }
    let mut bearings: BTreeMap<BearingKey, Vec<CapturedRecording>> = BTreeMap::new();
    for capture in captures(&args.files)? {
        bearings.entry(capture.document.key()).or_default().push(capture);
    }
    let mut summary = Summary::of_bearings();
    let mut out = std::io::BufWriter::new(std::io::stdout().lock());
    let mut sequence = 0;
    for captures in bearings.into_values() {
        let mut bearing = Bearing { args, points: BTreeMap::new(), samples: HashMap::new() };
        for (at, number, first) in windows(&captures) {
            let Some(mut event) = bearing.measured(&captures, number, (at, first))? else {
                continue;
            };
            sequence += 1;
            event.sequence = sequence;
            summary.take(&event);
            if args.jsonl {
                serde_json::to_writer(&mut out, &event)?;
                match out.write_all(b"\n") {
                    // the reader of the pipe has closed it
                    Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => {
                        return Ok(Exit::Ok);
                    }
                    written => written.map_err(|error| Failure::new(Exit::Io, error))?,
                }
            }
        }
    }
    out.flush().map_err(|error| Failure::new(Exit::Io, error))?;
    drop(out);
    if !args.jsonl {
        super::super::print(&summary.to_string())?;
    }
    Ok(Exit::Ok)
}

/// The windows of all captures of a bearing in the order of time: when, of which capture, from
/// which sample on.
fn windows(captures: &[CapturedRecording]) -> Vec<(Timestamp, usize, u64)> {
    let mut all: Vec<_> = captures
        .iter()
        .enumerate()
        .flat_map(|(number, capture)| {
            let document = &capture.document;
            windows_of(document)
                .into_iter()
                .map(move |first| (time_of(document, first), number, first))
        })
        .collect();
    all.sort_unstable_by_key(|&(at, number, _)| (at, number));
    all
}

/// The first samples of the windows of a capture.
fn windows_of(document: &CaptureDocument) -> Vec<u64> {
    let length = document.window.samples.max(1);
    let has_gap = |first: u64| {
        let inside = first + 1..first + length;
        document.gaps.iter().any(|gap| inside.contains(&gap.before_sample))
    };
    let mut first = document.window.first_sample % length;
    let mut firsts = Vec::new();
    while first.saturating_add(length) <= document.samples {
        if !has_gap(first) {
            firsts.push(first);
        }
        first += length;
    }
    firsts
}

/// Returns when a sample was taken.
fn time_of(document: &CaptureDocument, sample: u64) -> Timestamp {
    let before = document.gaps.iter().filter(|gap| gap.before_sample <= sample);
    let missing_s: f64 = before.map(|gap| gap.missing_s).sum();
    document.started_at.plus_seconds(sample as f64 / document.sampling_rate_hz + missing_s)
}

/// The points of a bearing at work, and the samples of the captures that are being read.
struct Bearing<'a> {
    args: &'a Args,
    points: BTreeMap<Option<MeasuringPoint>, Course>,
    samples: HashMap<usize, Vec<f64>>,
}

struct Course {
    point: Point,
    rate_hz: f64,
    /// The end of the newest window.
    end: Timestamp,
}

impl Bearing<'_> {
    /// Returns the event of a window; `None` where another capture has shown it already.
    fn measured(
        &mut self,
        captures: &[CapturedRecording],
        number: usize,
        (at, first): (Timestamp, u64),
    ) -> anyhow::Result<Option<Event>> {
        let Some(CapturedRecording { path, document }) = captures.get(number) else {
            return Ok(None);
        };
        if !self.samples.contains_key(&number) {
            // what ended before is not read again
            self.samples.retain(|&known, _| {
                captures
                    .get(known)
                    .is_some_and(|one| time_of(&one.document, one.document.samples) >= at)
            });
            self.samples.insert(number, samples_of(self.args, path, document)?);
        }
        let rate_hz = document.sampling_rate_hz;
        let course = match self.points.entry(document.measuring_point.clone()) {
            std::collections::btree_map::Entry::Occupied(known) => {
                let known = known.into_mut();
                if (rate_hz / known.rate_hz - 1.0).abs() > OTHER_RATE {
                    super::super::note(&format!(
                        "{}: {rate_hz} Hz, those before {} Hz: the point learns anew, because \
                         levels at two rates do not compare",
                        path.display(),
                        known.rate_hz
                    ));
                    *known = course(self.args, document, known.end)?;
                }
                known
            }
            std::collections::btree_map::Entry::Vacant(new) => {
                new.insert(course(self.args, document, document.started_at)?)
            }
        };
        // times are rounded to the millisecond
        if at.plus_seconds(0.002) < course.end {
            return Ok(None);
        }
        let (from, length) = (first as usize, document.window.samples as usize);
        let window = self.samples.get(&number).and_then(|all| all.get(from..from + length));
        let Some(window) = window else { return Ok(None) };
        course.end = at.plus_seconds(length as f64 / rate_hz);
        Ok(Some(course.point.measure(window, at, at)))
    }
}

/// A point that knows nothing yet, as the document describes it.
fn course(args: &Args, document: &CaptureDocument, end: Timestamp) -> anyhow::Result<Course> {
    let machine = captured::machine(&args.machine, document).machine()?;
    let bearing = (
        document.equipment_id.clone(),
        document.bearing_id.clone(),
        document.measuring_point.clone(),
    );
    let settings = PointSettings::of_machine(&machine, bearing);
    let rate_hz = document.sampling_rate_hz;
    let rate = SampleRate::new(rate_hz).map_err(|error| Failure::new(Exit::BadInput, error))?;
    let (gateway, site) = (document.gateway_id.clone(), document.site.clone());
    Ok(Course { point: Point::new(settings, gateway, site, rate), rate_hz, end })
}

/// All samples of a capture, m/s².
fn samples_of(
    args: &Args,
    path: &std::path::Path,
    document: &CaptureDocument,
) -> anyhow::Result<Vec<f64>> {
    let whole = RecordingArgs { start_s: Some(0.0), duration_s: None, ..args.recording.clone() };
    let mut options = captured::recording(&whole, document).options()?;
    options.channels = vec![0];
    options.snapshot = Some(0);
    let failed = |error: SourceError| Failure::new(error.exit(), error);
    let mut source = open_recording(path, &options).map_err(failed)?;
    let mut samples = Vec::new();
    while let Some(block) = source.next_block().map_err(failed)? {
        samples.extend(block.accel_m_s2.row(0).iter().copied());
    }
    Ok(samples)
}

#[cfg(test)]
mod tests {
    use pdm_shared::capture::{CaptureGap, CaptureStretch};

    use super::*;

    fn document() -> CaptureDocument {
        let text = include_str!("../../../../config/examples/capture.json");
        let mut document: CaptureDocument = serde_json::from_str(text).expect("a document");
        document.sampling_rate_hz = 1000.0;
        document.samples = 10_500;
        document.window = CaptureStretch { first_sample: 4300, samples: 1000 };
        document.gaps = Vec::new();
        document
    }

    /// R-EDGE-10: the window that the gateway judged is one of those that are replayed.
    #[test]
    fn windows_lie_around_that_of_the_trigger_and_over_no_gap() {
        let document = document();
        assert_eq!(
            windows_of(&document),
            [300, 1300, 2300, 3300, 4300, 5300, 6300, 7300, 8300, 9300]
        );
        let mut gap = document.clone();
        gap.gaps = vec![CaptureGap { before_sample: 2300, missing_s: 5.0 }];
        assert_eq!(windows_of(&gap).len(), 10, "a gap between two windows is in none");
        assert_eq!(time_of(&gap, 3300), document.started_at.plus_seconds(8.3));
        gap.gaps[0].before_sample = 2500;
        assert_eq!(windows_of(&gap), [300, 1300, 3300, 4300, 5300, 6300, 7300, 8300, 9300]);
    }

    #[test]
    fn windows_of_all_captures_are_in_the_order_of_time() {
        let mut later = document();
        later.started_at = later.started_at.plus_seconds(5.0);
        let file = |document| CapturedRecording { path: "x.wav".into(), document };
        let all = windows(&[file(document()), file(later)]);
        assert!(all.is_sorted_by_key(|&(at, ..)| at) && all.len() == 20);
    }
}
