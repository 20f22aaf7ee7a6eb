//! Takes the columns of time and count out of a table of channels.
//!
//! Between a reader that has a whole snapshot in memory and the interpretation. A column is time if
//! its name or unit says so or nothing says otherwise, and if it rises evenly. Invariant: a column
//! whose name says that it is vibration is never taken out.

use ndarray::{Array2, Axis};

use super::StatedChannel;
use crate::source::interpretation::{
    ChannelRole, StatedUnit, UnitKind, states_time, time_unit_of_name,
};
use crate::source::time_axis::{TimeAxis, goes_one_way};

/// Rows over which a column without a word on it must rise to be time where it is not the first.
const LEAST_ROWS_ANYWHERE: usize = 64;

/// A column with fewer numbers than one in this many rows is no column of samples.
const LEAST_PART: usize = 10;

/// Rises for each fall from which on a column is a time whose clock was set. Chosen: a vibration
/// has as many falls as rises, a saw-tooth of ten samples has nine.
const MOST_RISES: usize = 20;

/// A table without its columns of time.
pub(super) struct WithoutTime {
    pub(super) data: Array2<f64>,
    pub(super) channels: Vec<StatedChannel>,
    /// The course of the best column of time.
    pub(super) axis: Option<TimeAxis>,
    /// The row of the table that held it.
    pub(super) axis_row: Option<usize>,
    /// Rows of the table that were taken out.
    pub(super) taken: Vec<usize>,
    /// How often the times of a column that was taken out step back.
    pub(super) steps_back: u64,
    /// Where the times of such a column begin anew, in words.
    pub(super) restart: Option<String>,
    /// The columns that were taken out, with the reason.
    pub(super) left_out: Vec<String>,
    pub(super) notes: Vec<String>,
}

/// Takes the columns of time out. A table of one column has none.
///
/// # Errors
/// A first column that rises, but not evenly, and that nothing names; in words.
#[expect(clippy::too_many_lines, reason = "the columns are judged in their order")]
pub(super) fn take_time_columns(
    data: Array2<f64>,
    channels: Vec<StatedChannel>,
) -> Result<WithoutTime, String> {
    let (data, channels) = with_joined_parts(data, channels);
    let mut best: Option<TimeAxis> = None;
    let mut axis_row = None;
    let (mut taken, mut left_out, mut notes) = (Vec::new(), Vec::new(), Vec::new());
    let (mut steps_back, mut restart) = (0, None);
    let mut axes: Vec<(usize, TimeAxis)> = Vec::new();
    if channels.len() > 1 {
        for (row, channel) in channels.iter().enumerate() {
            let role = crate::source::interpretation::role(channel);
            if matches!(role, ChannelRole::Acceleration | ChannelRole::Other(_)) {
                continue;
            }
            let values = data.row(row).to_vec();
            // exports write statements into further columns of the first rows
            if LEAST_PART * values.iter().filter(|value| !value.is_nan()).count() < values.len() {
                taken.push(row);
                left_out.push(format!("{} (empty)", described(row, channel)));
                continue;
            }
            let is_first = taken.len() == row;
            let unit_s = unit_of_time(channel);
            let column = described(row, channel);
            // the time since the row before, as sketches print it
            let is_interval = is_interval_column(channel, &values);
            let values = if is_interval { summed(&values) } else { values };
            if is_interval {
                notes.push(format!("{column} holds the time from one row to the next"));
            }
            match TimeAxis::of_column(&values, unit_s) {
                Some(axis) => {
                    let is_named = role != ChannelRole::Unknown;
                    if !is_named && !is_first && values.len() < LEAST_ROWS_ANYWHERE {
                        continue;
                    }
                    taken.push(row);
                    let what = if axis.is_count { "count" } else { "time" };
                    left_out.push(format!("{column} ({what})"));
                    let axis = TimeAxis { column, ..axis };
                    axes.push((row, axis.clone()));
                    if best.as_ref().is_none_or(|before| is_better(&axis, before)) {
                        (best, axis_row) = (Some(axis), Some(row));
                    }
                }
                None if role == ChannelRole::Time && goes_one_way(values.iter().copied()) => {
                    taken.push(row);
                    left_out.push(format!("{column} (time)"));
                    notes.push(format!("{column} does not rise evenly, so it gives no rate"));
                }
                // a date, a name with a unit of time, or numbers that rise but for a few falls: no
                // vibration, whatever its name
                None if is_fallen_time(channel, role, is_first, &values) => {
                    let falls = values.windows(2).filter(|pair| pair[1] < pair[0]).count() as u64;
                    steps_back += falls;
                    restart = restart.or_else(|| restart_of(&column, &values));
                    taken.push(row);
                    left_out.push(format!("{column} (time)"));
                    let times = if falls == 1 { "once" } else { &format!("{falls} times") };
                    notes.push(format!(
                        "{column} falls back {times}, so it gives no rate; several recordings may \
                         stand one below the other"
                    ));
                }
                // `Sample` may be the name of the samples
                None if role == ChannelRole::Count && values.iter().any(|v| v.fract() != 0.0) => {}
                None if role == ChannelRole::Count => {
                    taken.push(row);
                    left_out.push(format!("{column} (count)"));
                }
                None if is_first && rises(&values) => {
                    return Err(format!(
                        "{column} rises in every row, but not evenly: it may be time or a channel; \
                         name the columns to read (--variable)"
                    ));
                }
                None => {}
            }
        }
    }
    if let Some((row, axis)) = axis_of_acceleration(&axes, &channels) {
        notes.push(format!(
            "columns of time of different rates stand beside each other: {} is that of the \
             acceleration",
            axis.column
        ));
        (best, axis_row) = (Some(axis), Some(row));
    }
    let spectra = spectra_beside(&axes, axis_row, &channels, &data);
    for (over, row) in
        spectra.into_iter().filter(|(_, row)| !taken.contains(row)).collect::<Vec<_>>()
    {
        taken.push(row);
        left_out
            .push(format!("{} (a spectrum over column {over})", described(row, &channels[row])));
    }
    if taken.len() == channels.len() {
        // a table of counts or times alone: the choice of channels refuses it
        return Ok(WithoutTime {
            data,
            channels,
            axis: None,
            axis_row: None,
            taken: Vec::new(),
            steps_back,
            restart,
            left_out: Vec::new(),
            notes,
        });
    }
    let kept: Vec<usize> = (0..channels.len()).filter(|row| !taken.contains(row)).collect();
    let mut data = if taken.is_empty() { data } else { data.select(Axis(0), &kept) };
    if best.as_ref().is_some_and(|axis| axis.is_reversed) {
        data.invert_axis(Axis(1));
        data = data.as_standard_layout().into_owned();
        notes.push("the newest row came first; the rows were turned round".to_owned());
    }
    let channels = kept.into_iter().map(|row| channels[row].clone()).collect();
    notes.extend(best.as_ref().and_then(rows_of_one_time));
    notes.extend(best.as_ref().and_then(few_digits));
    Ok(WithoutTime {
        data,
        channels,
        axis: best,
        axis_row,
        taken,
        steps_back,
        restart,
        left_out,
        notes,
    })
}

/// Columns that are never below 0 behind a column without a name that rises evenly, beside the
/// column of time: the frequencies and amplitudes of a spectrum, as analyzers write both. Each with
/// the column before it.
fn spectra_beside(
    axes: &[(usize, TimeAxis)],
    axis_row: Option<usize>,
    channels: &[StatedChannel],
    data: &Array2<f64>,
) -> Vec<(usize, usize)> {
    let is_unnamed = |row: usize| {
        channels.get(row).is_some_and(|channel| {
            crate::source::interpretation::role(channel) == ChannelRole::Unknown
        })
    };
    let is_amplitude = |row: &usize| {
        let own = data.row(*row);
        own.iter().all(|value| value.is_nan() || *value >= 0.0)
            && own.iter().any(|value| *value > 0.0)
    };
    let others =
        axes.iter().map(|(row, _)| *row).filter(|row| axis_row.is_some_and(|at| at < *row));
    others
        .filter(|row| is_unnamed(*row) && is_unnamed(row + 1))
        .map(|row| (row, row + 1))
        .filter(|(_, row)| is_amplitude(row))
        .collect()
}

/// Of times of different rates the one that stands directly before the first acceleration, as where
/// each channel has a time of its own; `None` where all have one rate, or none stands there.
fn axis_of_acceleration(
    axes: &[(usize, TimeAxis)],
    channels: &[StatedChannel],
) -> Option<(usize, TimeAxis)> {
    let times = || axes.iter().filter(|(_, axis)| !axis.is_count && axis.unit_s.is_some());
    let rate = |axis: &TimeAxis| axis.rate_hz(axis.unit_s.unwrap_or(1.0));
    let (_, first) = times().next()?;
    let differs =
        times().any(|(_, axis)| (rate(axis) / rate(first) - 1.0).abs() > LEAST_TOLD_UNCERTAINTY);
    let is_acceleration = |channel: &StatedChannel| {
        crate::source::interpretation::role(channel) == ChannelRole::Acceleration
    };
    let place = channels.iter().position(is_acceleration)?;
    let before = place.checked_sub(1).filter(|_| differs)?;
    times().find(|(row, _)| *row == before).cloned()
}

/// Joins whole seconds and the part of a second in a column beside them (`sec`, `nsec`) into one
/// time; the column of the part becomes a count, which is no channel.
fn with_joined_parts(
    mut data: Array2<f64>,
    mut channels: Vec<StatedChannel>,
) -> (Array2<f64>, Vec<StatedChannel>) {
    let unit = |channel: &StatedChannel| {
        let is_time = crate::source::interpretation::role(channel) == ChannelRole::Time;
        unit_of_time(channel).or_else(|| unit_of_last_word(channel)).filter(|_| is_time)
    };
    let is_whole = |row: usize| data.row(row).iter().all(|value| value.fract() == 0.0);
    let steps = |row: usize| data.row(row).to_vec();
    let seconds = (0..channels.len()).find(|row| {
        unit(&channels[*row]) == Some(1.0)
            && is_whole(*row)
            && steps(*row).windows(2).all(|two| two[1] >= two[0] && two[1] - two[0] <= 1.0)
    });
    let parts = (0..channels.len()).find_map(|row| {
        let unit_s = unit(&channels[row]).filter(|unit_s| *unit_s < 0.5)?;
        let own = steps(row);
        let is_part = own.iter().all(|value| (0.0..1.0).contains(&(value * unit_s)))
            && own.windows(2).any(|two| two[1] < two[0]);
        is_part.then_some((row, unit_s))
    });
    if let (Some(seconds), Some((part, unit_s))) = (seconds, parts) {
        let parts = steps(part);
        data.row_mut(seconds)
            .iter_mut()
            .zip(&parts)
            .for_each(|(time, part)| *time += part * unit_s);
        data.row_mut(part).iter_mut().enumerate().for_each(|(row, count)| *count = row as f64);
        channels[part] = StatedChannel {
            name: channels[part].name.as_ref().map(|name| format!("{name} count")),
            unit: None,
            ..StatedChannel::default()
        };
    }
    (data, channels)
}

/// The seconds of a unit that is the last word of a name: `timeInSeconds`, `offsetInNanos`.
fn unit_of_last_word(channel: &StatedChannel) -> Option<f64> {
    let name = channel.name.as_deref()?;
    let at = name.rfind(|c: char| c.is_uppercase() || !c.is_alphanumeric())?;
    let word = name.get(at..)?.trim_matches(|c: char| !c.is_alphanumeric()).to_lowercase();
    match StatedUnit::parse(&word)?.kind {
        UnitKind::Time(seconds) => Some(seconds),
        UnitKind::Acceleration(_)
        | UnitKind::Voltage(_)
        | UnitKind::Counts
        | UnitKind::Other(_) => None,
    }
}

/// Whether a column that does not rise throughout is a time all the same: by its name or unit, or
/// because the most of its numbers rise. A vibration falls as often as it rises.
fn is_fallen_time(
    channel: &StatedChannel,
    role: ChannelRole,
    is_first: bool,
    values: &[f64],
) -> bool {
    let is_named = channel.name.as_deref().is_some_and(states_time);
    if role == ChannelRole::Time && (is_named || unit_of_time(channel).is_some()) {
        return true;
    }
    let steps = || values.windows(2).map(|pair| pair[1] - pair[0]);
    let (rises, falls) =
        (steps().filter(|s| *s > 0.0).count(), steps().filter(|s| *s < 0.0).count());
    let may_be_time = role == ChannelRole::Time || (role == ChannelRole::Unknown && is_first);
    may_be_time && falls > 0 && rises > MOST_RISES * falls && values.len() >= LEAST_ROWS_ANYWHERE
}

/// A fall to a time within this part of the course so far is a new beginning, ratio. Chosen: clocks
/// are set by seconds, recordings begin anew at their first time.
const RESTART_SHARE: f64 = 0.02;

/// Rows of a recording before another one may begin.
const LEAST_ROWS_BEFORE: usize = 16;

/// Returns where times begin anew, in words: a fall to the first time or before it, behind rows
/// that have left it. Rows in no order are no recordings one below the other.
fn restart_of(column: &str, values: &[f64]) -> Option<String> {
    let first = values.iter().copied().find(|value| value.is_finite())?;
    let falls = values.windows(2).filter(|two| two[1] < two[0]).count();
    if falls * MOST_RISES > values.len() {
        return None;
    }
    let mut highest = first;
    for (row, two) in values.windows(2).enumerate() {
        highest = highest.max(two[0]);
        let near = first + RESTART_SHARE * (highest - first);
        if two[1] < two[0] && two[1] <= near && row + 1 >= LEAST_ROWS_BEFORE {
            let row = row + 2;
            return Some(format!(
                "{column} begins anew in row {row}: several recordings stand one below the other"
            ));
        }
    }
    None
}

/// A note on times whose digits do not give the rate to a hundredth.
fn few_digits(axis: &TimeAxis) -> Option<String> {
    let is_coarse = axis.precision > LEAST_TOLD_UNCERTAINTY && !axis.is_count;
    is_coarse.then(|| {
        format!(
            "the times of {} have few digits: their rate is known to {:.1} % only",
            axis.column,
            100.0 * axis.precision
        )
    })
}

/// Uncertainty of a rate from which on it is told, ratio: rates agree within as much.
const LEAST_TOLD_UNCERTAINTY: f64 = 0.01;

/// Whether an axis tells more than another one: of two times that of more digits, as a stamp of the
/// sensor beside that of its arrival in whole seconds.
fn is_better(axis: &TimeAxis, before: &TimeAxis) -> bool {
    let is_finer = || 4.0 * axis.uncertainty < before.uncertainty;
    match worth(axis).cmp(&worth(before)) {
        std::cmp::Ordering::Greater => true,
        std::cmp::Ordering::Equal => !axis.is_count && is_finer(),
        std::cmp::Ordering::Less => false,
    }
}

/// A note on times that each stand for the same number of rows.
fn rows_of_one_time(axis: &TimeAxis) -> Option<String> {
    let rows = axis.rows_each.filter(|rows| *rows > 1)?;
    Some(format!("each time of {} stands for {rows} rows, which are taken as even", axis.column))
}

/// Returns how much an axis tells: a time with a unit most, a count least.
fn worth(axis: &TimeAxis) -> u8 {
    match (axis.is_count, axis.unit_s) {
        (true, _) => 0,
        (false, None) => 1,
        (false, Some(_)) => 2,
    }
}

fn described(row: usize, channel: &StatedChannel) -> String {
    match &channel.name {
        Some(name) if !name.is_empty() => format!("column {name:?}"),
        _ => format!("column {row}"),
    }
}

/// The seconds of the unit of a column of time, by its unit or its name.
fn unit_of_time(channel: &StatedChannel) -> Option<f64> {
    match channel.unit.as_deref().and_then(StatedUnit::parse).map(|unit| unit.kind) {
        Some(UnitKind::Time(seconds)) => Some(seconds),
        // `Sekunde(n)`: what the brackets of a name hold is a unit only by its form
        Some(_)
            if channel
                .name
                .as_deref()
                .is_none_or(|name| ChannelRole::by_name(name) != ChannelRole::Time) =>
        {
            None
        }
        _ => channel.name.as_deref().and_then(time_unit_of_name),
    }
}

/// Names of a column of intervals, without blanks, signs and units.
const INTERVAL_NAMES: [&str; 10] = [
    "dt",
    "dtus",
    "dtms",
    "deltat",
    "deltatime",
    "timedelta",
    "tdelta",
    "deltaus",
    "deltams",
    "interval",
];

/// Whether a column holds the time from one row to the next: by its name, and because its numbers
/// neither rise throughout nor are negative.
fn is_interval_column(channel: &StatedChannel, values: &[f64]) -> bool {
    let name = channel.name.as_deref().unwrap_or_default().to_lowercase();
    let name = name.split(['(', '[']).next().unwrap_or_default();
    let name: String = name.chars().filter(|c| c.is_alphanumeric()).collect();
    INTERVAL_NAMES.contains(&name.as_str())
        && values.iter().all(|value| *value >= 0.0)
        && values.iter().skip(1).all(|value| *value > 0.0)
        && !rises(values)
}

/// Times from intervals: that of the first row is 0.
fn summed(intervals: &[f64]) -> Vec<f64> {
    let mut at = 0.0;
    let times = intervals.iter().enumerate().map(|(row, interval)| {
        at += if row == 0 { 0.0 } else { *interval };
        at
    });
    times.collect()
}

fn rises(values: &[f64]) -> bool {
    values.len() >= LEAST_ROWS_ANYWHERE && values.windows(2).all(|pair| pair[1] > pair[0])
}
