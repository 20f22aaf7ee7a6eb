//! Decides which columns or variables of a file are channels of vibration.
//!
//! Rule: those whose unit or name says acceleration; else those that say nothing. A column that
//! says something else is never a channel by itself.

use super::{ChannelRole, StatedUnit, UnitKind, states_time, time_unit_of_name};
use crate::source::recording::StatedChannel;
use crate::source::time_axis::goes_one_way;

/// The rows of a snapshot that are channels, and the others with the reason.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ChannelChoice {
    pub(crate) rows: Vec<usize>,
    pub(crate) left_out: Vec<String>,
}

/// The channel as an error names it: `channel 2 "rpm"`.
pub(crate) fn label(row: usize, stated: &StatedChannel) -> String {
    match &stated.name {
        Some(name) => format!("channel {row} {name:?}"),
        None => format!("channel {row}"),
    }
}

/// The role of a channel by its unit, then by its name.
pub(crate) fn role(stated: &StatedChannel) -> ChannelRole {
    let by_name = stated.name.as_deref().map_or(ChannelRole::Unknown, ChannelRole::by_name);
    let in_name = || stated.name.as_deref().and_then(StatedUnit::of_name);
    let unit = stated.unit.as_deref().and_then(StatedUnit::parse).or_else(in_name);
    match unit.map(|unit| unit.kind) {
        // the RMS or the spectrum of an acceleration is in its unit, too
        Some(UnitKind::Acceleration(_)) if by_name.is_no_sample() => by_name,
        Some(UnitKind::Acceleration(_)) => ChannelRole::Acceleration,
        // `Sekunde(n)` holds the ending of a plural in its brackets, no unit
        Some(UnitKind::Other(_)) if is_time_by_plural(stated) => ChannelRole::Time,
        Some(UnitKind::Other(what)) => ChannelRole::Other(what),
        Some(UnitKind::Time(_)) if by_name != ChannelRole::Acceleration => ChannelRole::Time,
        // `Time_acc [s]`, `t_acc (s)`: the time of an acceleration
        Some(UnitKind::Time(_)) if begins_with_time(stated) => ChannelRole::Time,
        _ => by_name,
    }
}

/// Whether the first word of a name is one for a time.
fn begins_with_time(stated: &StatedChannel) -> bool {
    let name = stated.name.as_deref().unwrap_or_default();
    let first = name.split(|c: char| !c.is_alphanumeric()).next().unwrap_or_default();
    ChannelRole::by_name(first) == ChannelRole::Time
}

/// Whether a name is that of a time with the ending of a plural in brackets.
fn is_time_by_plural(stated: &StatedChannel) -> bool {
    let name = stated.name.as_deref().unwrap_or_default();
    let is_plural = ["(n)", "(en)", "(e)"].iter().any(|plural| name.ends_with(plural));
    is_plural
        && ChannelRole::by_name(name) == ChannelRole::Time
        && time_unit_of_name(name).is_some()
}

/// Chooses the channels. `numbers`: the samples of a row, where they are at hand.
///
/// # Errors
/// No channel is left, or columns without a word on them differ in kind; in words, with the
/// candidates.
pub(crate) fn choose_channels(
    channels: &[StatedChannel],
    numbers: Option<&ndarray::Array2<f64>>,
) -> Result<ChannelChoice, String> {
    let roles: Vec<ChannelRole> = channels
        .iter()
        .enumerate()
        .map(|(row, channel)| match (role(channel), numbers) {
            // a name may speak of time (`X130_DE_time`) where the numbers go up and down
            (ChannelRole::Time, Some(numbers))
                if channel.unit.is_none()
                    && !channel.name.as_deref().is_some_and(states_time)
                    && !goes_one_way(numbers.row(row).iter().copied()) =>
            {
                ChannelRole::Unknown
            }
            // `Sample` may be the name of the samples
            (ChannelRole::Count, Some(numbers))
                if numbers
                    .row(row)
                    .iter()
                    .any(|value| value.is_finite() && value.fract() != 0.0) =>
            {
                ChannelRole::Unknown
            }
            (role, _) => role,
        })
        .collect();
    let with = |wanted: ChannelRole| -> Vec<usize> {
        (0..roles.len()).filter(|row| roles[*row] == wanted).collect()
    };
    let accelerations = with(ChannelRole::Acceleration);
    let mut left_out = Vec::new();
    let unknown = with(ChannelRole::Unknown);
    let rows = if accelerations.is_empty() {
        let (rows, pulses) = without_pulses(&unknown, numbers);
        left_out.extend(pulses.iter().map(|row| format!("{} (pulses)", name_of(*row, channels))));
        check_alike(&rows, channels, numbers)?;
        rows
    } else {
        accelerations
    };
    if rows.is_empty() {
        return Err(format!(
            "no column of acceleration: {}; name the one to read (--variable)",
            candidates(channels, &roles)
        ));
    }
    for row in (0..channels.len()).filter(|row| !rows.contains(row)) {
        let name = name_of(row, channels);
        match roles[row] {
            ChannelRole::Other(what) => left_out.push(format!("{name} ({what})")),
            ChannelRole::Time => left_out.push(format!("{name} (time)")),
            ChannelRole::Count => left_out.push(format!("{name} (count)")),
            ChannelRole::Unknown if !left_out.iter().any(|one| one.starts_with(&name)) => {
                left_out.push(name);
            }
            ChannelRole::Unknown | ChannelRole::Acceleration => {}
        }
    }
    Ok(ChannelChoice { rows, left_out })
}

fn name_of(row: usize, channels: &[StatedChannel]) -> String {
    channels[row].name.clone().unwrap_or_else(|| format!("column {row}"))
}

fn candidates(channels: &[StatedChannel], roles: &[ChannelRole]) -> String {
    let named: Vec<String> = roles
        .iter()
        .enumerate()
        .take(20)
        .map(|(row, role)| {
            let what = match role {
                ChannelRole::Other(what) => what,
                ChannelRole::Time => "time",
                ChannelRole::Count => "count",
                ChannelRole::Acceleration | ChannelRole::Unknown => "not known",
            };
            format!("{} is {what}", name_of(row, channels))
        })
        .collect();
    named.join(", ")
}

/// The rows without those that hold the pulses of a tachometer, and these.
fn without_pulses(
    rows: &[usize],
    numbers: Option<&ndarray::Array2<f64>>,
) -> (Vec<usize>, Vec<usize>) {
    let Some(numbers) = numbers else { return (rows.to_vec(), Vec::new()) };
    let is_pulses = |row: &usize| rows.len() > 1 && are_pulses(numbers.row(*row).iter().copied());
    let (pulses, others): (Vec<usize>, Vec<usize>) = rows.iter().partition(|row| is_pulses(row));
    if others.is_empty() { (pulses, others) } else { (others, pulses) }
}

/// Whether samples stand at one of two levels: a vibration is between its extremes most of the time
/// (a sine stays within 15 % of them for half of it), pulses are at them.
fn are_pulses(samples: impl Iterator<Item = f64> + Clone) -> bool {
    let finite = || samples.clone().filter(|sample| sample.is_finite());
    let (low, high) =
        finite().fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), s| (s.min(l), s.max(h)));
    let range = high - low;
    if !(range.is_finite() && range > 0.0) {
        return false;
    }
    let (mut at_low, mut at_high, mut count) = (0.0, 0.0, 0.0);
    for sample in finite() {
        count += 1.0;
        at_low += f64::from(u8::from(sample <= low + 0.15 * range));
        at_high += f64::from(u8::from(sample >= high - 0.15 * range));
    }
    // pulses last; a signal that jumps from one level to the other with each sample is none
    let middle = low + 0.5 * range;
    let mut jumps = 0.0;
    let mut before = None;
    for sample in finite() {
        let is_high = sample > middle;
        jumps += f64::from(u8::from(before.is_some_and(|before| before != is_high)));
        before = Some(is_high);
    }
    count >= 64.0
        && 8.0 * jumps < count
        && at_low + at_high > 0.97 * count
        && at_low.min(at_high) > 0.005 * count
}

/// Refuses columns without a word on them that cannot be one quantity.
fn check_alike(
    rows: &[usize],
    channels: &[StatedChannel],
    numbers: Option<&ndarray::Array2<f64>>,
) -> Result<(), String> {
    let Some(numbers) = numbers.filter(|_| rows.len() > 1) else { return Ok(()) };
    let level = |row: &usize| {
        let samples: Vec<f64> =
            numbers.row(*row).iter().copied().filter(|sample| sample.is_finite()).collect();
        let n = samples.len().max(1) as f64;
        let mean = samples.iter().sum::<f64>() / n;
        let rms = (samples.iter().map(|s| (s - mean) * (s - mean)).sum::<f64>() / n).sqrt();
        (mean.abs(), rms)
    };
    let levels: Vec<(f64, f64)> = rows.iter().map(level).collect();
    // a speed or temperature stands far from zero and hardly moves; gravity is at most 10
    let stands = |(mean, rms): &(f64, f64)| *mean > 20.0 && *mean > 100.0 * rms;
    let standing: Vec<usize> = (0..rows.len()).filter(|at| stands(&levels[*at])).collect();
    if standing.is_empty() || standing.len() == rows.len() {
        return Ok(());
    }
    let words = |at: &usize| {
        let (mean, rms) = levels[*at];
        format!("{} has a mean of {mean:.4} and an RMS of {rms:.4}", name_of(rows[*at], channels))
    };
    let all: Vec<String> = (0..rows.len()).take(20).map(|at| words(&at)).collect();
    Err(format!(
        "nothing names the columns, and they are of different kinds ({}); name those to read \
         (--variable 0,1,…, counted from 0)",
        all.join("; ")
    ))
}
