//! Derives the meaning of a file from its statements: channels, calibrations, rate.
//!
//! After the reader of a format and before the first block. Invariant: a recording that opens has a
//! rate, and a unit for each of its channels, and says where they come from.

use std::path::Path;

use ndarray::{Array2, ArrayView1};
use pdm_service::clock::{Clock as _, SystemClock};
use pdm_shared::event::StatementSource;
use pdm_shared::time::Timestamp;
use pdm_shared::units::SampleRate;

use super::assumed_unit::{check_app, check_file_name, check_gravity};
use super::spectrum;
use super::time_columns::take_time_columns;
use super::{
    Calibration, InMemory, Interpretation, NumberEncoding, RawRecording, RecordingOptions,
    SourceError, StatedChannel, check_channels,
};
use crate::source::Preferred;
use crate::source::interleaved::axes_in_one;
use crate::source::interpretation::{
    InterpretedChannel, RateStatements, StatedUnit, choose_channels, decided_rate, decided_scale,
    label,
};
use crate::tabular::sentinel::{in_samples, written};

/// Whole numbers above this are counts of a converter and no acceleration in g: chosen; a bearing's
/// vibration is below 50 g, and nobody records it in whole g.
const COUNTS_ABOVE: f64 = 50.0;

/// A recording that is dated further ahead of this machine's clock than this, s, is told to be: two
/// clocks that are set are closer.
const AHEAD_S: f64 = 60.0;

/// Recordings are dated from February 2000 on, ms since 1970: clocks without a battery begin in
/// 1970, 1980 and on the first day of 2000. Files of universal form from before are kept as they
/// are.
const CLOCKS_SET_FROM_MS: i64 = 949_363_200_000;

/// Samples from which on whole numbers are no chance.
const LEAST_WHOLE: usize = 64;

/// The meaning of a recording: its channels, rate and interpretation.
pub(super) struct RecordingMeaning {
    /// Row of the snapshots and calibration of each channel.
    pub(super) rows: Vec<(usize, Calibration)>,
    pub(super) sample_rate: SampleRate,
    pub(super) interpretation: Interpretation,
}

/// Decides what a recording means. A snapshot that is the only one is read for it, and put back.
pub(super) fn meaning_of(
    path: &Path,
    raw: &mut RawRecording,
    options: &RecordingOptions,
) -> Result<RecordingMeaning, SourceError> {
    let refused = |what: String| SourceError::options(path, what);
    let mut numbers = only_snapshot(path, raw)?;
    refuse_spectrum(path, raw, options)?;
    let (rows, mut left_out) = chosen(path, raw, options, numbers.as_ref())?;
    refuse_interleaved(path, raw, &rows, options, numbers.as_ref())?;
    mark_counts(raw, numbers.as_ref());
    // an array states nothing of its rows, but marks for no value are none there either
    let mut array = match numbers {
        None if raw.snapshots == 1 => raw.reader.next_snapshot()?,
        _ => None,
    };
    let codes = leave_codes_out(raw, &rows, numbers.as_mut().or(array.as_mut()));
    let missing = |row: &usize| {
        let numbers = numbers.as_ref().or(array.as_ref())?;
        Some(numbers.row(*row).iter().filter(|value| value.is_nan()).count() as u64)
    };
    let missing_values = rows.iter().filter_map(missing).sum();
    left_out.splice(0..0, raw.left_out.iter().cloned());
    check_channels(path, options, rows.len())?;
    let DecidedChannels { calibrated, channels, notes } =
        decided_channels(path, raw, &rows, options)?;
    let mut notes = [raw.notes.clone(), codes, notes].concat();
    notes.extend(snapshot_note(raw, options));
    notes.extend(full_scale_note(raw, &channels, numbers.as_ref()));
    let statements = RateStatements {
        option_hz: options.sample_rate.map(SampleRate::get),
        file_hz: raw.stated_rate_hz,
        axis: raw.time.as_ref(),
        prefer: options.prefer,
    };
    refuse_restart(path, raw, options)?;
    let (rate_hz, rate_source, rate_notes) = decided_rate(statements).map_err(|what| {
        // a note may say why the file gives no rate
        let told = raw.notes.iter().filter(|note| note.contains("gives no rate"));
        refused(std::iter::once(&what).chain(told).cloned().collect::<Vec<_>>().join("; "))
    })?;
    notes.extend(rate_notes);
    let sample_rate =
        SampleRate::new(rate_hz).map_err(|e| SourceError::malformed(path, e.to_string()))?;
    notes.extend(dated_start(raw, options));
    if let Some(numbers) = numbers.or(array) {
        raw.reader = Box::new(InMemory(Some(numbers)));
    }
    let time = raw.time.as_ref();
    let interpretation = Interpretation {
        format: raw.format.to_owned(),
        channels,
        further: further_channels(raw, &rows, options),
        left_out,
        time: time.filter(|axis| !axis.is_count).map(|axis| axis.column.clone()),
        rate_hz,
        rate_source,
        jitter_ratio: time.and_then(|axis| axis.jitter_ratio),
        missing_values,
        gaps: time.map_or(0, |axis| axis.gaps) + raw.gaps_told,
        lost_samples: time.map_or(0, |axis| axis.lost),
        time_steps_back: raw.time_steps_back,
        notes,
    };
    Ok(RecordingMeaning { rows: calibrated, sample_rate, interpretation })
}

/// A note on the one snapshot of several that is read.
fn snapshot_note(raw: &RawRecording, options: &RecordingOptions) -> Option<String> {
    let snapshot = options.snapshot.filter(|_| raw.snapshots > 1)?;
    Some(format!(
        "of {} snapshots (0 to {}) number {snapshot} alone is read (--snapshot)",
        raw.snapshots,
        raw.snapshots - 1
    ))
}

/// Refuses values over a frequency, unless a person states that the rows are samples over time.
fn refuse_spectrum(
    path: &Path,
    raw: &RawRecording,
    options: &RecordingOptions,
) -> Result<(), SourceError> {
    let is_over_time = options.sample_rate.is_some() && options.prefer == Some(Preferred::Option);
    match raw.spectrum_over.as_deref().filter(|_| !is_over_time) {
        Some(abscissa) => Err(SourceError::options(path, spectrum::refusal(abscissa))),
        None => Ok(()),
    }
}

/// Refuses rows of which the times begin anew, unless a person states that they are one recording.
fn refuse_restart(
    path: &Path,
    raw: &RawRecording,
    options: &RecordingOptions,
) -> Result<(), SourceError> {
    let is_one = options.sample_rate.is_some() && options.prefer == Some(Preferred::Option);
    match raw.time_restart.as_deref().filter(|_| !is_one) {
        Some(what) => Err(SourceError::options(
            path,
            format!(
                "{what}; save each in a file of its own (if all rows are one recording: --rate HZ \
                 --prefer option)"
            ),
        )),
        None => Ok(()),
    }
}

/// Refuses the one array of a document that looks like several axes in turn, unless a person has
/// named it.
fn refuse_interleaved(
    path: &Path,
    raw: &RawRecording,
    rows: &[usize],
    options: &RecordingOptions,
    numbers: Option<&Array2<f64>>,
) -> Result<(), SourceError> {
    let (&[row], Some(numbers), None) = (rows, numbers, &options.variable) else { return Ok(()) };
    if !raw.format.starts_with("JSON") {
        return Ok(());
    }
    let Some(axes) = axes_in_one(&numbers.row(row).to_vec()) else { return Ok(()) };
    let what = format!(
        "{} looks like {axes} axes in turn (x, y, z, x, …); write an array for each axis, or name \
         it as one channel (--variable)",
        label(row, &raw.channels[row])
    );
    Err(SourceError::options(path, what))
}

/// Decides when the first sample was taken; returns notes on it for the person.
fn dated_start(raw: &mut RawRecording, options: &RecordingOptions) -> Vec<String> {
    if raw.stated_start.is_none()
        && let Some(axis) = &raw.time
    {
        raw.stated_start = axis.epoch_s.and_then(since_1970);
        raw.is_start_local = axis.is_local;
    }
    let Some(stated) = raw.stated_start.filter(|_| options.started_at.is_none()) else {
        return Vec::new();
    };
    let of_axis = || raw.time.as_ref().map(|axis| axis.column.clone());
    let origin = raw.start_origin.clone().or_else(of_axis);
    let origin = origin.as_deref().unwrap_or("the file's content");
    if stated.unix_ms() < CLOCKS_SET_FROM_MS && !raw.format.starts_with("universal") {
        raw.stated_start = None;
        return vec![format!(
            "{origin} begins at {stated}, where a clock stands that was never set: the recording \
             is not dated by it"
        )];
    }
    let mut notes = vec![format!("dated by {origin}")];
    let mut at = stated;
    if std::mem::take(&mut raw.is_start_local) {
        let offsets = options.zone.offsets(stated.date_time().naive_utc());
        at = stated.plus_seconds(-f64::from(offsets.first_s));
        notes.push(format!(
            "times without a zone are read in {}",
            options.zone.words(offsets.first_s)
        ));
        if offsets.second_s.is_some() {
            notes.push(
                "its hour is repeated (the end of summer time): the first one is taken".to_owned(),
            );
        }
        raw.stated_start = Some(at);
    }
    let ahead_s = at.seconds_since(SystemClock.now());
    if ahead_s > AHEAD_S {
        notes.push(format!(
            "its time {at} is {} ahead of this machine's clock",
            duration_words(ahead_s)
        ));
    }
    notes
}

/// A note on samples that are exactly 0 for the most part: rows of a faster sensor, filled with
/// zeros.
fn mostly_zero(name: &str, samples: ArrayView1<'_, f64>) -> Option<String> {
    let zeros = samples.iter().filter(|sample| **sample == 0.0).count();
    let is_told =
        2 * zeros > samples.len() && zeros < samples.len() && samples.len() >= LEAST_WHOLE;
    is_told.then(|| {
        format!(
            "{name}: {zeros} of {} samples are exactly 0: the sensor may be slower than the rows, \
             or have failed",
            samples.len()
        )
    })
}

/// Takes codes that stand for no value out of the samples; returns a note on each.
fn leave_codes_out(
    raw: &RawRecording,
    rows: &[usize],
    numbers: Option<&mut Array2<f64>>,
) -> Vec<String> {
    let Some(numbers) = numbers else { return Vec::new() };
    let mut notes = Vec::new();
    for row in rows {
        let mut samples = numbers.row_mut(*row);
        notes.extend(mostly_zero(&label(*row, &raw.channels[*row]), samples.view()));
        let found = in_samples(samples.iter().copied());
        for own in found.into_iter().filter(|own| own.is_no_value) {
            samples.mapv_inplace(|sample| if own.is(sample) { f64::NAN } else { sample });
            notes.push(format!(
                "{}: {} stands {} times (first at sample {}), as a mark for no value: left out",
                label(*row, &raw.channels[*row]),
                written(own.code),
                own.count,
                own.first
            ));
        }
    }
    notes
}

/// Floating-point sound without a unit, where nothing states what its full scale of 1 is.
fn full_scale_note(
    raw: &RawRecording,
    channels: &[InterpretedChannel],
    numbers: Option<&Array2<f64>>,
) -> Option<String> {
    let is_assumed = channels.iter().any(|one| one.unit_source == StatementSource::Assumed);
    let is_within = || {
        numbers.is_some_and(|all| all.iter().all(|number| number.is_nan() || number.abs() <= 1.0))
    };
    // libsndfile calls the samples so in MAT-files
    let is_sound = raw.format.starts_with("WAV")
        || channels.iter().all(|one| one.name.as_deref() == Some("wavedata"));
    (is_sound && is_assumed && is_within()).then(|| {
        "all samples are within ±1, as recorders write sound: their full scale is taken for 1 g, \
         which nothing states; give the g of the full scale (--scale), or --unit g where they are \
         calibrated"
            .to_owned()
    })
}

/// The channels that are delivered, with their calibrations.
struct DecidedChannels {
    calibrated: Vec<(usize, Calibration)>,
    channels: Vec<InterpretedChannel>,
    notes: Vec<String>,
}

/// Decides unit and scale of the channels that a person wants, of the rows that are channels.
fn decided_channels(
    path: &Path,
    raw: &RawRecording,
    rows: &[usize],
    options: &RecordingOptions,
) -> Result<DecidedChannels, SourceError> {
    let mut all =
        DecidedChannels { calibrated: Vec::new(), channels: Vec::new(), notes: Vec::new() };
    let wanted: Vec<usize> = if options.channels.is_empty() {
        (0..rows.len()).collect()
    } else {
        options.channels.clone()
    };
    for place in wanted {
        let row = rows[place];
        let given = match options.calibrations.as_slice() {
            [] => Calibration::default(),
            [one] => *one,
            many => many.get(place).copied().unwrap_or_default(),
        };
        let name = label(place, &raw.channels[row]);
        let decided = decided_scale(&name, &raw.channels[row], given, options.prefer)
            .map_err(|what| SourceError::options(path, what))?;
        all.calibrated.push((row, decided.calibration));
        all.channels.push(decided.channel);
        all.notes.extend(decided.note);
    }
    Ok(all)
}

/// The channels that a person has not asked for.
fn further_channels(
    raw: &RawRecording,
    rows: &[usize],
    options: &RecordingOptions,
) -> Vec<(usize, Option<String>)> {
    if options.channels.is_empty() {
        return Vec::new();
    }
    let others = rows.iter().enumerate().filter(|(place, _)| !options.channels.contains(place));
    others.map(|(place, row)| (place, raw.channels[*row].name.clone())).collect()
}

/// Seconds in words of a fitting unit.
pub(in crate::source) fn duration_words(seconds: f64) -> String {
    match seconds {
        s if s < 120.0 => format!("{s:.0} s"),
        s if s < 7200.0 => format!("{:.0} min", s / 60.0),
        s if s < 172_800.0 => format!("{:.1} h", s / 3600.0),
        s => format!("{:.0} days", s / 86_400.0),
    }
}

pub(super) fn since_1970(seconds: f64) -> Option<Timestamp> {
    Timestamp::from_unix_ms((seconds * 1000.0).round() as i64)
}

/// The only snapshot of a file, without its columns of time. An array is read snapshot by snapshot
/// and states nothing of its rows, so it is left alone.
fn only_snapshot(path: &Path, raw: &mut RawRecording) -> Result<Option<Array2<f64>>, SourceError> {
    if raw.snapshots != 1 || raw.format.starts_with("NumPy") {
        return Ok(None);
    }
    let Some(data) = raw.reader.next_snapshot()? else { return Ok(None) };
    if raw.time.is_some() {
        return Ok(Some(data));
    }
    let channels = std::mem::take(&mut raw.channels);
    let split = take_time_columns(data, channels).map_err(|e| SourceError::options(path, e))?;
    raw.channels = split.channels;
    raw.time = split.axis;
    raw.time_steps_back += split.steps_back;
    raw.time_restart = raw.time_restart.take().or(split.restart);
    raw.left_out.extend(split.left_out);
    raw.notes.extend(split.notes);
    Ok(Some(split.data))
}

/// The rows that are channels: all that a person has named, else those that are vibration.
fn chosen(
    path: &Path,
    raw: &mut RawRecording,
    options: &RecordingOptions,
    numbers: Option<&Array2<f64>>,
) -> Result<(Vec<usize>, Vec<String>), SourceError> {
    for channel in &mut raw.channels {
        if channel.unit.is_none() {
            let unit = channel.name.as_deref().and_then(StatedUnit::of_name);
            channel.unit = unit.map(|unit| unit.spelling);
        }
    }
    let refused = |what: String| SourceError::options(path, what);
    let is_stated =
        |calibration: &Calibration| calibration.unit().is_some() || calibration.states_scale();
    let is_open = !options.calibrations.iter().any(is_stated);
    if options.variable.is_some() {
        let rows: Vec<usize> = (0..raw.channels.len()).collect();
        if is_open {
            check_file_name(path, &raw.channels, &rows).map_err(refused)?;
        }
        return Ok((rows, Vec::new()));
    }
    let choice = choose_channels(&raw.channels, numbers)
        .map_err(|what| refused(with_unread(what, &raw.unread)))?;
    if is_open {
        check_file_name(path, &raw.channels, &choice.rows).map_err(refused)?;
        check_gravity(&raw.channels, &choice.rows, numbers).map_err(refused)?;
        check_app(&raw.channels, &choice.rows, &raw.left_out).map_err(refused)?;
    }
    Ok((choice.rows, choice.left_out))
}

/// A refusal with the arrays and columns that could not be read.
fn with_unread(what: String, unread: &[String]) -> String {
    const MOST_TOLD: usize = 8;
    if unread.is_empty() {
        return what;
    }
    let more = if unread.len() > MOST_TOLD { ", …" } else { "" };
    format!("{what}; not read: {}{more}", unread[..unread.len().min(MOST_TOLD)].join(", "))
}

/// Marks channels of whole numbers as counts where nothing states a unit, or a field beside them
/// may be their scale.
fn mark_counts(raw: &mut RawRecording, numbers: Option<&Array2<f64>>) {
    let Some(numbers) = numbers else { return };
    let is_plain = |channel: &StatedChannel| {
        let is_open = channel.unit.is_none() || channel.factor.is_some();
        is_open && channel.encoding == NumberEncoding::Real
    };
    for (row, channel) in raw.channels.iter_mut().enumerate() {
        if !is_plain(channel) {
            continue;
        }
        let samples = numbers.row(row);
        let finite = || samples.iter().filter(|sample| sample.is_finite());
        let is_whole = finite().all(|sample| sample.fract() == 0.0);
        let highest = finite().fold(0.0f64, |most, sample| most.max(sample.abs()));
        if is_whole && highest > COUNTS_ABOVE && finite().count() >= LEAST_WHOLE {
            // bits that the numbers need; the file does not state them
            channel.encoding = NumberEncoding::Counts { bits: 0 };
        }
    }
}
