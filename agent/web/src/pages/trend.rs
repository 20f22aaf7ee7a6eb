//! The windows of a bearing's trend over a day, a week, a month, a year or all of it, thinned by
//! the server to what a plot can show: of each stretch of equal length the lowest and the highest
//! figure.
//!
//! Invariant: the lowest and the highest figure of the range are among the rows that are sent, so
//! no peak is lost by thinning. What is not sent because there are too many windows is said.

use std::sync::Arc;

use axum::Json;
use axum::extract::{Path, Query, State};
use axum::http::HeaderMap;
use axum::response::{IntoResponse, Response};
use pdm_shared::feature::Feature;
use pdm_shared::time::Timestamp;
use serde::{Deserialize, Serialize};

use super::history::{self, BearingMark};
use crate::Shared;
use crate::api::{Names, key_of};
use crate::language::language_of;
use crate::plant::{SHOWN_FEATURES, WindowRow};
use crate::problem::Problem;

/// Most windows of a range. Chosen: a month of one a minute; more of them take seconds to read.
const MOST: u32 = 50_000;
/// Stretches of a range: a plot of 1,152 px shows two points of each.
const STRETCHES: i64 = 400;
/// Ranges with fewer windows are sent whole.
const WHOLE: usize = 1_000;

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct TrendAsked {
    #[serde(default)]
    range: Option<String>,
    #[serde(default)]
    feature: Option<String>,
}

/// A figure of a window: a feature, or one that the judgement has.
enum Figure {
    Feature(Feature),
    Anomaly,
    Life,
}

impl Figure {
    fn of(key: &str) -> Result<Self, Problem> {
        if let Some(feature) = SHOWN_FEATURES.into_iter().find(|one| one.key() == key) {
            return Ok(Self::Feature(feature));
        }
        match key {
            "anomaly_score" => Ok(Self::Anomaly),
            "rul_hours" => Ok(Self::Life),
            other => {
                let allowed = "a feature of the page, anomaly_score, rul_hours";
                Err(Problem::parameter("feature", other, allowed))
            }
        }
    }

    const fn value(&self, row: &WindowRow) -> Option<f64> {
        match self {
            Self::Feature(feature) => row.figure(feature),
            Self::Anomaly => row.anomaly_score,
            Self::Life => row.rul_hours,
        }
    }
}

/// Returns the hours of a range; `None` for all of it.
fn hours_of(range: &str) -> Result<Option<f64>, Problem> {
    match range {
        "day" => Ok(Some(24.0)),
        "week" => Ok(Some(7.0 * 24.0)),
        "month" => Ok(Some(31.0 * 24.0)),
        "year" => Ok(Some(366.0 * 24.0)),
        "all" => Ok(None),
        other => Err(Problem::parameter("range", other, "day, week, month, year, all")),
    }
}

/// The windows of a range, as the plot takes them.
#[derive(Debug, Serialize)]
struct Trend<'a> {
    items: Vec<&'a WindowRow>,
    /// Windows in the range that were read.
    windows: usize,
    /// The feature that the bearing's limit is of.
    limited: Option<&'a str>,
    /// The first window that was read, where earlier ones of the range were not.
    cut_at: Option<Timestamp>,
    /// What happened to the bearing within the range, newest first.
    marks: Vec<BearingMark>,
}

pub(super) async fn json(
    State(shared): State<Arc<Shared>>,
    Path(names): Path<Names>,
    Query(asked): Query<TrendAsked>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let key = key_of(&names)?;
    let hours = hours_of(asked.range.as_deref().unwrap_or("month"))?;
    let rows = shared.site.plant.windows(&key, None, MOST).await?;
    // the range ends with the last window: the past of a bearing that is silent is shown too
    let from =
        rows.last().zip(hours).map(|(last, hours)| last.measured_at.plus_seconds(-3600.0 * hours));
    let start = rows.partition_point(|row| from.is_some_and(|from| row.measured_at < from));
    let of_range = rows.get(start..).unwrap_or_default();
    let is_cut = rows.len() >= MOST as usize && start == 0;
    let limited = rows.iter().rev().find(|row| row.baseline_limit.is_some());
    let limited = limited.map(|row| row.feature.as_str());
    let figure = match asked.feature.as_deref().or(limited) {
        Some(key) => Figure::of(key).or_else(|problem| {
            // a limit of a feature that no list shows
            if asked.feature.is_some() { Err(problem) } else { Ok(Figure::Feature(Feature::Rms)) }
        })?,
        None => Figure::Feature(Feature::Rms),
    };
    let mut marks = history::marks(&shared, &key, language_of(&headers)).await?;
    marks.retain(|mark| of_range.first().is_some_and(|first| mark.at >= first.measured_at));
    let trend = Trend {
        marks,
        items: thinned(of_range, |row| figure.value(row)),
        windows: of_range.len(),
        limited,
        cut_at: of_range.first().filter(|_| is_cut).map(|row| row.measured_at),
    };
    Ok(Json(trend).into_response())
}

/// Returns, for each stretch of equal length, the rows with the lowest and the highest figure, the
/// worst risk, and the first one that has no figure, in their order.
fn thinned(rows: &[WindowRow], figure: impl Fn(&WindowRow) -> Option<f64>) -> Vec<&WindowRow> {
    let (Some(first), Some(last)) = (rows.first(), rows.last()) else { return Vec::new() };
    if rows.len() <= WHOLE {
        return rows.iter().collect();
    }
    let start = first.measured_at.unix_ms();
    let width = (last.measured_at.unix_ms() - start) / STRETCHES + 1;
    let mut kept = Vec::new();
    for stretch in rows.chunk_by(|a, b| {
        let place = |row: &WindowRow| (row.measured_at.unix_ms() - start) / width;
        place(a) == place(b)
    }) {
        kept.extend(telling(stretch, &figure));
    }
    kept
}

/// The rows of a stretch that tell of it.
fn telling<'a>(
    stretch: &'a [WindowRow],
    figure: &impl Fn(&WindowRow) -> Option<f64>,
) -> Vec<&'a WindowRow> {
    let measured = || {
        let rows = stretch.iter().enumerate().filter(|(_, row)| row.valid && row.running);
        rows.filter_map(|(at, row)| figure(row).map(|value| (at, value)))
    };
    let lowest = measured().min_by(|a, b| a.1.total_cmp(&b.1)).map(|(at, _)| at);
    let highest = measured().max_by(|a, b| a.1.total_cmp(&b.1)).map(|(at, _)| at);
    let worst = stretch.iter().enumerate().max_by_key(|(_, row)| row.risk_level).map(|(at, _)| at);
    let bare = stretch.iter().position(|row| figure(row).is_none() || !row.valid || !row.running);
    let mut places: Vec<usize> = [lowest, highest, worst, bare].into_iter().flatten().collect();
    places.sort_unstable();
    places.dedup();
    places.into_iter().filter_map(|at| stretch.get(at)).collect()
}

#[cfg(test)]
mod tests {
    use pdm_shared::id::EventId;

    use super::*;

    fn row(minute: i64, rms_g: f64) -> WindowRow {
        WindowRow {
            event_id: EventId::at(0),
            measured_at: Timestamp::from_unix_ms(60_000 * minute).expect("in range"),
            running: true,
            valid: true,
            rms_g: Some(rms_g),
            velocity_rms_mm_s: None,
            low_band_rms_g: None,
            kurtosis: None,
            envelope_rms_g: None,
            anomaly_score: None,
            baseline_level: None,
            baseline_limit: None,
            feature: "rms_g".to_owned(),
            risk_level: None,
            fault_stage: None,
            fault_type: None,
            rul_hours: None,
            rul_low_hours: None,
            rul_high_hours: None,
        }
    }

    /// A single high window among a month of them is drawn, and what is drawn stays few.
    #[test]
    fn no_peak_is_lost_by_thinning() {
        let mut rows: Vec<WindowRow> =
            (0..44_640).map(|minute| row(minute, 0.1 + (minute % 7) as f64 * 0.001)).collect();
        rows[31_111].rms_g = Some(2.5);
        rows[7].rms_g = Some(0.01);
        let kept = thinned(&rows, |row| row.rms_g);
        assert!((800..=1_700).contains(&kept.len()), "{}", kept.len());
        let has = |value: f64| kept.iter().any(|row| row.rms_g == Some(value));
        assert!(has(2.5) && has(0.01));
        assert!(kept.is_sorted_by_key(|row| row.measured_at.unix_ms()));
        assert_eq!(thinned(&rows[..1_000], |row| row.rms_g).len(), 1_000);
        assert!(thinned(&[], |row| row.rms_g).is_empty());
    }

    #[test]
    fn ranges_and_figures_are_those_of_the_page() {
        for range in ["day", "week", "month", "year"] {
            assert!(hours_of(range).is_ok_and(|hours| hours.is_some()), "{range}");
        }
        assert!(hours_of("all").is_ok_and(|hours| hours.is_none()) && hours_of("hour").is_err());
        assert!(Figure::of("rms_g").is_ok() && Figure::of("rul_hours").is_ok());
        assert!(Figure::of("peak'; --").is_err());
    }
}
