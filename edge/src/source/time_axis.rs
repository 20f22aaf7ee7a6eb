//! Time columns by what they do: they rise, and they rise evenly, whatever their name.
//!
//! A column of numbers becomes a [`TimeAxis`]: rate, jitter, gaps and lost samples. Stands between
//! the readers of formats and the interpretation. Invariant: a column that does not rise evenly is
//! no axis; the unit of an axis that nobody states stays open, and the caller decides by the rate
//! it knows.

/// Least number of rows over which a column must rise to be taken for time. Eight random samples
/// rise by chance in one of 40,000 tables (1 in 8!).
const LEAST_ROWS: usize = 8;

/// Largest deviation of a row from the even course, as a share of the span, so that the column is
/// even. Chosen: a vibration that rises by chance over eight rows deviates by a fifth and more.
const MOST_DEVIATION: f64 = 0.05;

/// A step of more than this many usual steps is a gap.
const GAP_STEPS: f64 = 1.5;

/// Seconds since 1970 from 2001 on: smaller numbers are times since the start of a recording.
const EPOCH_FROM_S: f64 = 1e9;
/// … up to the year 2096.
const EPOCH_TO_S: f64 = 4e9;

/// A step of whole numbers that is no step of samples in seconds. Chosen: no bearing can be judged
/// at 0.1 Hz.
const LEAST_STEP_OF_TICKS: f64 = 10.0;

/// Seconds of a day.
const DAY_S: f64 = 86_400.0;

/// Day numbers of 1970: of spreadsheets (days since 1899-12-30) and of MATLAB (`datenum(1970, 1,
/// 1)`).
const DAYS_AT_1970: [f64; 2] = [25_569.0, 719_529.0];

/// Days since 1970 that a recording is from: 1980 to 2096.
const DAYS_SINCE_1970: std::ops::Range<f64> = 3_652.0..46_020.0;

/// Rate in seconds above which numbers of the size of such days are days, Hz. Chosen: converters
/// for accelerometers end at 204.8 kHz, and rows of a day each millisecond would be 86 MHz in
/// seconds.
const DAYS_ABOVE_HZ: f64 = 210e3;

/// The course of a column of times, in the column's own unit.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct TimeAxis {
    /// Column as a person finds it: `column "Time (s)"`, `column 1`.
    pub(crate) column: String,
    /// Seconds of the column's unit; `None`: nothing states it.
    pub(crate) unit_s: Option<f64>,
    /// Usual step, in the column's unit.
    pub(crate) step: f64,
    /// Uncertainty of the step by the digits of the column, ratio.
    pub(crate) uncertainty: f64,
    /// How well the rows tell the step: better than the digits where each time stands for many
    /// rows, ratio.
    pub(crate) precision: f64,
    /// Standard deviation of the steps over their mean, if the digits of the column show it.
    pub(crate) jitter_ratio: Option<f64>,
    /// Rows for which each time stands, where that is one number: a sensor's memory that is read at
    /// once.
    pub(crate) rows_each: Option<u64>,
    /// Gaps.
    pub(crate) gaps: u64,
    /// Steps that the gaps would hold.
    pub(crate) lost: u64,
    /// The column counts rows: it shows lost rows, but no rate.
    pub(crate) is_count: bool,
    /// The newest row comes first.
    pub(crate) is_reversed: bool,
    /// The column's first time, seconds since 1970, if its numbers are such times.
    pub(crate) epoch_s: Option<f64>,
    /// This time is one of a clock whose zone nothing states: a day number of a spreadsheet or of
    /// MATLAB.
    pub(crate) is_local: bool,
}

impl TimeAxis {
    /// The course of a column; `None` if the column is no even time.
    ///
    /// `unit_s`: the seconds of its unit, where the file states it.
    pub(crate) fn of_column(values: &[f64], unit_s: Option<f64>) -> Option<Self> {
        if values.len() < LEAST_ROWS || values.iter().any(|value| !value.is_finite()) {
            return None;
        }
        let mut times = unwrapped(values);
        let is_reversed = times.first() > times.last();
        if is_reversed {
            times.reverse();
        }
        let steps: Vec<f64> = times.windows(2).map(|pair| pair[1] - pair[0]).collect();
        if steps.iter().any(|step| *step < 0.0) {
            return None;
        }
        let course = Course::of_steps(&steps)?;
        if !course.is_even(&steps) {
            return None;
        }
        let is_whole = values.iter().all(|value| value.fract() == 0.0);
        // milliseconds since 1970, one a row, count nothing; seconds may be a counter
        let is_epoch = epoch(times[0]).0.is_some_and(|unit_s| unit_s < 1.0);
        let is_count =
            unit_s.is_none() && is_whole && (course.step - 1.0).abs() < 1e-9 && !is_epoch;
        let day_s = day_number(times[0], course.step, unit_s);
        let (epoch_unit, epoch_s) = match day_s {
            Some(at_s) => (Some(DAY_S), Some(at_s)),
            // microseconds since the start of a controller reach the size of seconds since 1970
            // after a quarter of an hour
            None if unit_s.is_none() && is_whole && course.step >= LEAST_STEP_OF_TICKS => {
                match epoch(times[0]) {
                    (Some(1.0), _) => (None, None),
                    found => found,
                }
            }
            None => epoch(times[0]),
        };
        let unit_s = unit_s.or(epoch_unit);
        let epoch_s = epoch_s.filter(|_| !is_count && unit_s == epoch_unit);
        Some(Self {
            column: String::new(),
            unit_s,
            step: course.step,
            uncertainty: course.uncertainty,
            precision: course.precision,
            jitter_ratio: course.jitter_ratio,
            rows_each: course.rows_each,
            gaps: course.gaps,
            lost: course.lost,
            is_count,
            is_reversed,
            epoch_s,
            is_local: day_s.is_some() || ticks(times[0]).is_some_and(|(_, is_local)| is_local),
        })
    }

    /// A vector of times in seconds that rises evenly, with its rate.
    pub(crate) const fn even(column: String, rate_hz: f64) -> Self {
        Self {
            column,
            unit_s: Some(1.0),
            step: 1.0 / rate_hz,
            uncertainty: 0.0,
            precision: 0.0,
            jitter_ratio: None,
            rows_each: None,
            gaps: 0,
            lost: 0,
            is_count: false,
            is_reversed: false,
            epoch_s: None,
            is_local: false,
        }
    }

    /// The rate if a unit of the column has `unit_s` seconds, Hz. A rate that its digits cannot
    /// tell from a whole number is that number.
    pub(crate) fn rate_hz(&self, unit_s: f64) -> f64 {
        let rate = 1.0 / (self.step * unit_s);
        let whole = rate.round();
        // 0.02 %: quartz oscillators are better than 0.01 %
        let near = whole >= 1.0 && (rate / whole - 1.0).abs() <= self.uncertainty.clamp(2e-4, 2e-2);
        if near { whole } else { rate }
    }
}

/// Whether values never fall, or never rise: a vibration goes both ways, whatever its name
/// (`X130_DE_time`).
pub(crate) fn goes_one_way(values: impl Iterator<Item = f64>) -> bool {
    let (mut rises, mut falls, mut before) = (false, false, None);
    for value in values.filter(|value| value.is_finite()) {
        if let Some(before) = before {
            rises |= value > before;
            falls |= value < before;
        }
        before = Some(value);
    }
    !(rises && falls)
}

/// The steps of a column without those across gaps.
struct Course {
    step: f64,
    longest: f64,
    quantum: f64,
    uncertainty: f64,
    precision: f64,
    jitter_ratio: Option<f64>,
    rows_each: Option<u64>,
    gaps: u64,
    lost: u64,
}

impl Course {
    fn of_steps(steps: &[f64]) -> Option<Self> {
        let mut sorted: Vec<f64> = steps.to_vec();
        sorted.sort_by(f64::total_cmp);
        let median = *sorted.get(sorted.len() / 2)?;
        let positive = &sorted[sorted.partition_point(|step| *step <= 0.0)..];
        // a label that changes once is no time
        if positive.len() + 1 < LEAST_ROWS {
            return None;
        }
        let usual_positive = *positive.get(positive.len() / 2)?;
        let has_repeats = positive.len() < sorted.len();
        // times with few digits: their steps are one or two units of the last digit
        let quantum = if has_repeats { usual_positive } else { smallest_difference(positive) };
        let longest = GAP_STEPS * median.max(usual_positive);
        let beyond = sorted.len() - sorted.partition_point(|step| *step <= longest);
        // many long steps are the digits of the column (1, 2, 1, 2 ms), few are gaps
        let longest =
            if 20 * beyond > sorted.len() { longest + quantum.min(median) } else { longest };
        let (mut sum, mut count) = (0.0, 0u64);
        for step in steps.iter().filter(|step| **step <= longest) {
            sum += step;
            count += 1;
        }
        let rows_each = rows_of_each_time(steps);
        // the last time stands for rows whose end nothing states
        let coarse = if beyond == 0 { step_of_groups(steps) } else { None };
        let step = match rows_each {
            Some(rows) => {
                let usual = positive.partition_point(|step| *step <= longest);
                sum / (usual as u64 * rows) as f64
            }
            None => coarse.map_or(sum / count as f64, |(step, ..)| step),
        };
        if !(step.is_finite() && step > 0.0) {
            return None;
        }
        let gaps: Vec<f64> = steps.iter().copied().filter(|step| *step > longest).collect();
        let lost = gaps.iter().map(|gap| ((gap / step).round() - 1.0).max(0.0)).sum::<f64>();
        let usual = steps.iter().filter(|step| **step <= longest);
        let power: f64 = usual.map(|one| (one - step) * (one - step)).sum();
        let spread = (power / count as f64).sqrt();
        let uncertainty = (2.0 * quantum / sum).min(0.5);
        let jitter_ratio = (!has_repeats && spread > 0.75 * quantum).then_some(spread / step);
        Some(Self {
            step,
            longest,
            quantum,
            uncertainty,
            precision: match coarse {
                Some((_, _, rows)) => 2.0 / rows,
                None if rows_each.is_some() => 2.0 / steps.len() as f64,
                None => uncertainty,
            },
            jitter_ratio,
            rows_each: rows_each.or(coarse.map(|(_, rows_each, _)| rows_each)),
            gaps: gaps.len() as u64,
            lost: lost as u64,
        })
    }

    /// Whether the rows follow an even course when the gaps are taken out.
    fn is_even(&self, steps: &[f64]) -> bool {
        let usual: Vec<f64> = steps.iter().copied().filter(|step| *step <= self.longest).collect();
        // most steps must be usual ones, else the gaps are the course
        if 10 * usual.len() < 9 * steps.len() {
            return false;
        }
        let span = self.step * usual.len() as f64;
        let most = MOST_DEVIATION * span + self.quantum;
        let mut at = 0.0;
        usual.iter().enumerate().all(|(row, step)| {
            at += step;
            (at - self.step * (row + 1) as f64).abs() <= most
        })
    }
}

/// Rows of each time from which on a change of the time is sharper than its digits.
const LEAST_GROUP: f64 = 4.0;

/// The step of times of which each stands for many rows, by the rows between the second and the
/// last change; the rows of a time, and all between these changes. The first and the last time
/// stand for a part.
fn step_of_groups(steps: &[f64]) -> Option<(f64, u64, f64)> {
    let changes: Vec<usize> = (0..steps.len()).filter(|at| steps[*at] > 0.0).collect();
    let (first, last) = (*changes.first()?, *changes.last()?);
    let rows = (last - first) as f64;
    let groups = (changes.len() - 1) as f64;
    let time: f64 = steps.get(first + 1..=last)?.iter().sum();
    (groups >= 3.0 && rows / groups >= LEAST_GROUP)
        .then(|| (time / rows, (rows / groups).round() as u64, rows))
}

/// Returns how many rows stand under each time, if that is one number of more than one. The first
/// and the last time may stand for fewer.
fn rows_of_each_time(steps: &[f64]) -> Option<u64> {
    let groups: Vec<usize> = steps.split(|step| *step > 0.0).map(|same| same.len() + 1).collect();
    let (first, rest) = groups.split_first()?;
    let (last, inner) = rest.split_last()?;
    let each = *inner.first()?;
    let is_one_number = each > 1 && inner.iter().all(|rows| *rows == each);
    (is_one_number && *first <= each && *last <= each).then_some(each as u64)
}

/// The smallest difference between steps that are not equal: one unit of the column's last digit.
fn smallest_difference(sorted: &[f64]) -> f64 {
    let middle = sorted[sorted.len() / 2];
    let differences = sorted.windows(2).map(|pair| pair[1] - pair[0]);
    // below a millionth of a step the difference is the rounding of floating point
    differences.filter(|d| *d > 1e-6 * middle).fold(f64::INFINITY, f64::min).min(middle)
}

/// A counter that overflows at 2^32 or 2^16 goes on: 32-bit microseconds wrap after 71 minutes.
fn unwrapped(values: &[f64]) -> Vec<f64> {
    let is_counter =
        values.iter().all(|value| value.fract() == 0.0 && (0.0..4_294_967_296.0).contains(value));
    if !is_counter {
        return values.to_vec();
    }
    let highest = values.iter().copied().fold(0.0, f64::max);
    let range = [256.0, 65_536.0, 4_294_967_296.0].into_iter().find(|range| highest < *range);
    let Some(range) = range else { return values.to_vec() };
    let mut before = values[0];
    let mut added = 0.0;
    values
        .iter()
        .map(|value| {
            // only a fall over nearly the whole range is an overflow
            if before - value > 0.9 * range {
                added += range;
            }
            before = *value;
            value + added
        })
        .collect()
}

/// Counts of 100 ns, with the seconds from their beginning to 1970: FILETIME of Windows since 1601,
/// and the ticks of .NET since the year 1, whose clock is that of the machine where nothing else is
/// said.
const TICKS: [(f64, bool); 2] = [(11_644_473_600.0, false), (62_135_596_800.0, true)];

/// The time of a number that counts 100 ns, s since 1970, and whether its clock is a local one.
fn ticks(first: f64) -> Option<(f64, bool)> {
    let found = TICKS.iter().map(|(since_s, is_local)| (first * 1e-7 - since_s, *is_local));
    found.into_iter().find(|(at_s, _)| (EPOCH_FROM_S..EPOCH_TO_S).contains(at_s))
}

/// The unit and the time of a number that counts since 1970.
fn epoch(first: f64) -> (Option<f64>, Option<f64>) {
    for unit_s in [1.0, 1e-3, 1e-6, 1e-9] {
        let at_s = first * unit_s;
        if (EPOCH_FROM_S..EPOCH_TO_S).contains(&at_s) {
            return (Some(unit_s), Some(at_s));
        }
    }
    match ticks(first) {
        Some((at_s, _)) => (Some(1e-7), Some(at_s)),
        None => (None, None),
    }
}

/// The time of a day number, seconds since 1970: one that a spreadsheet or MATLAB writes, in days
/// by the unit of its column or by its step.
fn day_number(first: f64, step: f64, unit_s: Option<f64>) -> Option<f64> {
    let is_days = match unit_s {
        Some(unit_s) => (unit_s - DAY_S).abs() < 1.0,
        None => 1.0 / step > DAYS_ABOVE_HZ,
    };
    let since_1970 = DAYS_AT_1970.into_iter().map(|day| first - day);
    let day = since_1970.into_iter().find(|day| DAYS_SINCE_1970.contains(day));
    day.filter(|_| is_days).map(|day| day * DAY_S)
}

#[cfg(test)]
mod tests;
