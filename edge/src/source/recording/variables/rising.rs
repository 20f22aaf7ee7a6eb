//! Times among the vectors of a file: numbers that rise evenly, whatever their name or language.
//!
//! The unit of a time is that which the file states, else that in its name (`t_ms`), else that of
//! its size (seconds, milliseconds, … since 1970; MATLAB's days since year 0), else seconds. A rate
//! below [`LEAST_RATE_HZ`] that rests on no stated unit is not handed out: such a vector is a
//! count, or a time in another unit, and the option `--rate` decides.

use pdm_shared::time::Timestamp;

use super::Variable;
use crate::source::interpretation::{ChannelRole, time_unit_of_name};
use crate::source::recording::StatedStart;

/// Fewest numbers that can show a time. Eight random samples rise by chance in one of 40,000 (1 in
/// 8!).
const LEAST_NUMBERS: usize = 8;

/// How far a time may stand from its place in an even row, in steps: a time that is rounded to the
/// step's size moves by half a step.
const LARGEST_DEVIATION: f64 = 0.75;

/// The least rate that is believed without a stated unit. Chosen: no bearing can be judged at 10
/// Hz, and a time in milliseconds or a count gives less.
const LEAST_RATE_HZ: f64 = 10.0;

/// Days from MATLAB's year 0 to 1970 (`datenum(1970, 1, 1)`).
const MATLAB_EPOCH_DAYS: f64 = 719_529.0;

/// Days from the first day of spreadsheets to 1970.
const SPREADSHEET_EPOCH_DAYS: f64 = 25_569.0;

/// Seconds of a day.
const DAY_S: f64 = 86_400.0;

/// The smallest step that can be in seconds. Chosen: converters for accelerometers end at 204.8
/// kHz.
const LEAST_STEP_S: f64 = 1.0 / 210e3;

/// The rate and the start that a vector of times gives.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct TimeAxis {
    pub(super) rate_hz: Option<f64>,
    pub(super) started_at: Option<StatedStart>,
}

/// The vector as times, if it rises evenly.
pub(super) fn time_axis(variable: &Variable) -> Option<TimeAxis> {
    let numbers = &variable.numbers;
    let step = even_step(numbers)?;
    let first = *numbers.first()?;
    let stated = match stated_seconds(variable) {
        StatedTime::Seconds(unit_s) => Some(unit_s),
        StatedTime::Nothing => None,
        StatedTime::OtherUnit => return None,
    };
    let sized = size_seconds(first, step);
    let unit_s = stated.or(sized.map(|(unit_s, _)| unit_s)).unwrap_or(1.0);
    let rate_hz = 1.0 / (step * unit_s);
    let is_sure = stated.is_some() || sized.is_some() || rate_hz >= LEAST_RATE_HZ;
    // times that are kept from their first one on state it beside them
    let started_at = variable.started_at.clone().or_else(|| {
        let (unit_s, start_s) = sized?;
        let ms = (start_s * 1e3).round();
        let at = (ms.abs() < 1e15).then(|| Timestamp::from_unix_ms(ms as i64)).flatten()?;
        // day numbers are those of a clock on a wall
        let is_local = unit_s >= DAY_S;
        Some(StatedStart { at, is_local, origin: format!("the times of {}", variable.path) })
    });
    Some(TimeAxis { rate_hz: Some(rate_hz).filter(|_| is_sure && rate_hz.is_finite()), started_at })
}

/// The rate of a step in a stated unit; without one the step is in seconds.
pub(in super::super) fn rate_of_step(step: f64, unit: &str) -> Option<f64> {
    let unit = unit.trim().to_lowercase();
    let unit_s = if unit.is_empty() { Some(1.0) } else { seconds_of(&unit) };
    unit_s.map(|unit_s| 1.0 / (step * unit_s)).filter(|rate| rate.is_finite() && *rate > 0.0)
}

/// The step of numbers that rise evenly.
pub(in super::super) fn even_step(numbers: &[f64]) -> Option<f64> {
    let (first, last) = (*numbers.first()?, *numbers.last()?);
    let step = (last - first) / (numbers.len().saturating_sub(1)) as f64;
    if numbers.len() < LEAST_NUMBERS || !(step.is_finite() && step > 0.0) {
        return None;
    }
    let is_even = numbers.iter().enumerate().all(|(index, &number)| {
        let deviation = number - first - step * index as f64;
        deviation.abs() <= LARGEST_DEVIATION * step
    });
    (is_even && numbers.windows(2).all(|pair| pair[1] >= pair[0])).then_some(step)
}

/// Returns the rate of a vector that is a time by its name or unit; a ramp of another quantity has
/// none.
pub(super) fn rate_of_named_time(variable: &Variable) -> Option<f64> {
    let key = variable.stated.name.as_deref().unwrap_or(&variable.path);
    let key = key.rsplit(['.', '/']).next().unwrap_or(key);
    let is_named = ChannelRole::by_name(key) == ChannelRole::Time;
    let has_unit = || {
        let unit = variable.stated.unit.as_deref().map_or("", str::trim).to_lowercase();
        seconds_of(&unit).is_some()
    };
    if is_named || has_unit() { time_axis(variable)?.rate_hz } else { None }
}

/// The statement of a file on the unit of a vector that may be a time.
enum StatedTime {
    Seconds(f64),
    Nothing,
    /// A unit of something else.
    OtherUnit,
}

/// The unit of time that stands beside the vector, else the one in its name.
fn stated_seconds(variable: &Variable) -> StatedTime {
    let unit = variable.stated.unit.as_deref().map_or("", str::trim).to_lowercase();
    let name = variable.stated.name.as_deref().unwrap_or(&variable.path);
    if !unit.is_empty() {
        // a unit of the whole table is that of its samples
        let key = name.rsplit(['.', '/']).next().unwrap_or(name);
        let is_time = ChannelRole::by_name(key) == ChannelRole::Time;
        match seconds_of(&unit) {
            Some(seconds) => return StatedTime::Seconds(seconds),
            None if is_time => {}
            None => return StatedTime::OtherUnit,
        }
    }
    let name = name.to_lowercase();
    let words: Vec<&str> =
        name.split(['_', ' ', '[', ']', '(', ')', '.', '/']).filter(|w| !w.is_empty()).collect();
    let by_name = || time_unit_of_name(&name);
    let seconds = match words.as_slice() {
        [.., _, last] => seconds_of(last).or_else(by_name),
        // `h` and `min` are names of other vectors as well
        _ => by_name().filter(|unit_s| *unit_s <= 1.0),
    };
    seconds.map_or(StatedTime::Nothing, StatedTime::Seconds)
}

/// Seconds of a unit of time.
fn seconds_of(unit: &str) -> Option<f64> {
    Some(match unit {
        "s" | "sec" | "secs" | "second" | "seconds" | "초" | "sekunde" | "sekunden" => 1.0,
        "ms" | "msec" | "millisecond" | "milliseconds" | "밀리초" => 1e-3,
        "us" | "µs" | "μs" | "usec" | "microsecond" | "microseconds" => 1e-6,
        "ns" | "nanosecond" | "nanoseconds" => 1e-9,
        "min" | "minute" | "minutes" | "분" => 60.0,
        _ => return None,
    })
}

/// Seconds of the unit, and seconds since 1970 of the first number, where its size tells both.
fn size_seconds(first: f64, step: f64) -> Option<(f64, f64)> {
    // the years 2001 to 2096 in each unit
    for unit_s in [1.0, 1e-3, 1e-6, 1e-9] {
        if (1e9..4e9).contains(&(first * unit_s)) && first >= 1e9 {
            return Some((unit_s, first * unit_s));
        }
    }
    // the years 1990 to 2100 in days, with steps below a minute
    let is_days = (726_834.0..767_011.0).contains(&first) && step < 60.0 / 86_400.0;
    if is_days {
        return Some((86_400.0, (first - MATLAB_EPOCH_DAYS) * 86_400.0));
    }
    // day numbers of a spreadsheet may be seconds, unless no sensor is sampled as fast as that
    let is_days = (32_874.0..73_051.0).contains(&first) && step < LEAST_STEP_S;
    is_days.then_some((86_400.0, (first - SPREADSHEET_EPOCH_DAYS) * 86_400.0))
}
