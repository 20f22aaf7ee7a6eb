//! The summary of a series for people: curve, alarms, trend and remaining life of each column.

use std::collections::BTreeMap;
use std::io::{self, Write};

use pdm_dsp::robust::median;
use pdm_shared::event::{Rul, Trend, TrendDirection};
use pdm_shared::time::Timestamp;

use crate::series::{SeriesLine, SeriesTable, judge};

/// Width of a curve in characters.
const WIDTH: usize = 72;

/// The course of one column.
#[derive(Debug, Default)]
struct Column {
    /// Value and alarm of each row.
    course: Vec<(Option<f64>, bool)>,
    /// First and last row of each alarm.
    episodes: Vec<(usize, usize)>,
    ready: Option<u64>,
    last: Option<(Trend, Rul)>,
}

impl Column {
    fn take(&mut self, line: &SeriesLine<'_>) {
        let alarmed = self.course.last().is_some_and(|(_, alarm)| *alarm);
        match (line.anomaly_detected, self.episodes.last_mut()) {
            (true, Some(episode)) if alarmed => episode.1 = line.row,
            (true, _) => self.episodes.push((line.row, line.row)),
            (false, _) => {}
        }
        if line.anomaly.score.is_some() && self.ready.is_none() {
            self.ready = Some(line.row as u64);
        }
        self.course.push((line.value, line.anomaly_detected));
        self.last = Some((line.trend.clone(), line.rul.clone()));
    }
}

/// Judges the table and writes the summary.
pub(super) fn write(
    out: &mut impl Write,
    table: &SeriesTable,
    levels: &BTreeMap<String, f64>,
) -> io::Result<()> {
    let mut columns: BTreeMap<String, Column> = BTreeMap::new();
    judge(table, levels, |line| {
        columns.entry(line.column.to_owned()).or_default().take(&line);
        Ok::<(), io::Error>(())
    })?;
    let times: Vec<Timestamp> = table.rows.iter().map(|row| row.at).collect();
    for name in &table.columns {
        if let Some(column) = columns.get(name) {
            describe(out, name, column, &times)?;
        }
    }
    Ok(())
}

fn describe(
    out: &mut impl Write,
    name: &str,
    column: &Column,
    times: &[Timestamp],
) -> io::Result<()> {
    let hours = |from: usize, to: usize| times[to].seconds_since(times[from]) / 3600.0;
    let last = times.len() - 1;
    let ready = column.ready.map_or_else(
        || "baseline never ready".to_owned(),
        |row| format!("baseline ready from row {row}"),
    );
    writeln!(out, "{name}: {} rows, {:.1} h, {ready}", times.len(), hours(0, last))?;
    writeln!(out, "  {}", sparkline(&column.course))?;
    writeln!(out, "  {}", alarm_bar(&column.course))?;
    if column.episodes.is_empty() {
        writeln!(out, "  no alarm")?;
    }
    for (first, end) in &column.episodes {
        let until = if *end == last { "the end".to_owned() } else { format!("{}", times[*end]) };
        let (lasting, before) = (hours(*first, *end), hours(*first, last));
        writeln!(
            out,
            "  alarm from {} (row {first}, {before:.1} h before the end) to {until}, {lasting:.1} \
             h",
            times[*first]
        )?;
    }
    if let Some((trend, rul)) = &column.last {
        if let Some(words) = moved(column, trend) {
            writeln!(out, "  {words}")?;
        }
        writeln!(out, "  trend {}", trend_words(trend))?;
        writeln!(out, "  remaining life {}", rul_words(rul))?;
    }
    writeln!(out)
}

/// The latest rows whose median is the level as it is now: those of the shortest rule.
const LATEST_ROWS: usize = 6;
/// Ratios to the baseline outside which somebody is asked what changed, though no alarm stands:
/// 3 dB, as a judgement asks.
const MOVED: (f64, f64) = (0.71, 1.41);

/// Says that the level stands apart from its baseline where no alarm does.
fn moved(column: &Column, trend: &Trend) -> Option<String> {
    let healthy = trend.baseline_level.filter(|level| *level > 0.0)?;
    let latest = column.course.iter().rev().take(LATEST_ROWS);
    let (values, alarms): (Vec<Option<f64>>, Vec<bool>) = latest.copied().unzip();
    let level = median(&values.into_iter().flatten().collect::<Vec<_>>())?;
    let ratio = level / healthy;
    let is_apart = ratio < MOVED.0 || ratio > MOVED.1;
    (is_apart && !alarms.contains(&true)).then(|| {
        format!(
            "no alarm, but the level stands at {ratio:.2} times its baseline: find what changed \
             (load, speed, process, sensor)"
        )
    })
}

fn trend_words(trend: &Trend) -> String {
    let direction = match trend.trend_direction {
        TrendDirection::Rising => "rising",
        TrendDirection::Falling => "falling",
        TrendDirection::Stable => "stable",
        TrendDirection::Unknown => return "unknown".to_owned(),
    };
    let figures = trend.slope.zip(trend.slope_ci).map_or_else(String::new, |(slope, ci)| {
        format!(", {slope:.3e} {} (95 %: {:.3e} … {:.3e})", trend.slope_unit, ci[0], ci[1])
    });
    let faster = if trend.acceleration_detected { ", accelerating" } else { "" };
    format!("{direction}{figures}{faster}")
}

fn rul_words(rul: &Rul) -> String {
    match (rul.hours, rul.ci_low_hours, rul.ci_high_hours) {
        (Some(hours), Some(low), Some(high)) => {
            format!("{hours:.1} h (80 %: {low:.1} … {high:.1} h)")
        }
        _ => format!("unknown: {}", rul.unknown.as_deref().unwrap_or("no reason given")),
    }
}

/// The largest value in each of [`WIDTH`] parts, as a bar of eight heights.
fn sparkline(course: &[(Option<f64>, bool)]) -> String {
    const BARS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
    let peaks: Vec<Option<f64>> = stretches(course)
        .map(|part| part.iter().filter_map(|(value, _)| *value).reduce(f64::max))
        .collect();
    let values = || peaks.iter().flatten().copied();
    let (low, high) = (values().reduce(f64::min), values().reduce(f64::max));
    let (Some(low), Some(high)) = (low, high) else { return "no values".to_owned() };
    let bar = |peak: &Option<f64>| {
        peak.map_or(' ', |peak| {
            let share = if high > low { (peak - low) / (high - low) } else { 0.0 };
            BARS[((share * 8.0) as usize).min(7)]
        })
    };
    format!("{}  {low:.4} … {high:.4}", peaks.iter().map(bar).collect::<String>())
}

fn alarm_bar(course: &[(Option<f64>, bool)]) -> String {
    stretches(course)
        .map(|part| if part.iter().any(|(_, alarm)| *alarm) { '!' } else { '·' })
        .collect()
}

fn stretches(course: &[(Option<f64>, bool)]) -> impl Iterator<Item = &[(Option<f64>, bool)]> {
    course.chunks(course.len().div_ceil(WIDTH).max(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_without_an_alarm_is_told() {
        let trend = |level| Trend {
            feature: "overall".to_owned(),
            slope: None,
            slope_unit: "1/h".to_owned(),
            slope_ci: None,
            trend_direction: TrendDirection::Stable,
            acceleration_detected: false,
            span_h: None,
            baseline_level: Some(level),
            baseline_limit: None,
        };
        let column = |value| Column { course: vec![(Some(value), false); 20], ..Column::default() };
        let told = moved(&column(2.3), &trend(1.5)).expect("told");
        assert!(told.contains("1.53 times its baseline"), "{told}");
        assert_eq!(moved(&column(1.8), &trend(1.5)), None);
        let alarmed = Column { course: vec![(Some(2.3), true); 20], ..Column::default() };
        assert_eq!(moved(&alarmed, &trend(1.5)), None);
    }

    #[test]
    fn a_curve_is_never_wider_than_its_width_and_shows_the_alarm() {
        let course: Vec<(Option<f64>, bool)> =
            (0..1000).map(|n| (Some(f64::from(n)), n > 900)).collect();
        let bar = alarm_bar(&course);
        assert!(bar.chars().count() <= WIDTH && bar.ends_with('!') && bar.starts_with('·'));
        assert!(sparkline(&course).starts_with('▁'));
        assert_eq!(sparkline(&[(None, false)]), "no values");
    }
}
