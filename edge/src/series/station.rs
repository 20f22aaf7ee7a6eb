//! One series of a station, judged in one step: its shape by [`super::shape`], trend and anomaly by
//! the judgement of every feature series ([`super::judge`]), and the nearest of past series.

use std::collections::BTreeMap;

use pdm_dsp::robust::median;
use pdm_shared::event::Trend;
use pdm_shared::time::Timestamp;
use serde::{Deserialize, Serialize};

use super::shape::{FEWEST, Kind, likeness, shape};
use super::table::{Row, SeriesTable};

/// Most values of a series: two years of hours. More are refused.
pub const MOST_VALUES: usize = 20_000;
/// Most past series that are compared.
pub const MOST_PAST: usize = 300;
/// Past series that are told, nearest first.
const NEAREST: usize = 3;
/// Seconds of a day.
const DAY_S: f64 = 86_400.0;

/// A series: instants in seconds since 1970 and their values.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Samples {
    /// Seconds since 1970-01-01T00:00:00Z, rising.
    pub at_s: Vec<i64>,
    /// The values; null is missing.
    pub values: Vec<Option<f64>>,
}

/// A past series.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PastSeries {
    /// The caller's name for it.
    pub id: String,
    /// Its values.
    pub samples: Samples,
}

/// A series that cannot be judged. The caller corrects it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum StationError {
    /// Instants and values do not fit.
    #[error("{series}: {at} instants and {values} values, expected as many")]
    Lengths {
        /// The series.
        series: String,
        /// Instants.
        at: usize,
        /// Values.
        values: usize,
    },
    /// An instant is not after the one before it.
    #[error("{series}: at_s.{place} is not after the instant before it")]
    Order {
        /// The series.
        series: String,
        /// Where, from 0.
        place: usize,
    },
    /// Too much.
    #[error("{series}: {got} values over the span of the series, at most {MOST_VALUES}")]
    Long {
        /// The series.
        series: String,
        /// Values on an even grid.
        got: usize,
    },
    /// Too many past series.
    #[error("past: {got} series, at most {MOST_PAST}")]
    Past {
        /// The number of past series.
        got: usize,
    },
}

/// A fault with its instants.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct StationFinding {
    /// The kind.
    pub kind: Kind,
    /// The first instant.
    pub from: Timestamp,
    /// The last instant.
    pub to: Timestamp,
    /// Peak above its neighbourhood, change of the level, or the value of a drop-out.
    pub amount: Option<f64>,
    /// How sure, see [`super::shape::ShapeFinding::strength`].
    pub strength: f64,
}

/// Figures of a series.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Figures {
    /// Values that are there.
    pub count: usize,
    /// Values that an even grid would have beside them.
    pub missing: usize,
    /// Seconds from value to value.
    pub step_s: f64,
    /// Median of the values.
    pub median: Option<f64>,
    /// Least value.
    pub min: Option<f64>,
    /// Greatest value.
    pub max: Option<f64>,
}

/// A past series that is near.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Near {
    /// The caller's name for it.
    pub id: String,
    /// Cosine of the two shapes, -1 … 1.
    pub likeness: f64,
}

/// The judgement of a series.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct StationJudgement {
    /// `sound`, `dropout`, `spike`, `drift`, or `cannot_say` with too few values.
    pub verdict: &'static str,
    /// The faults, in the order drop-out, spike, drift.
    pub findings: Vec<StationFinding>,
    /// Figures.
    pub figures: Figures,
    /// The trend at the end of the series, as of every feature series.
    pub trend: Option<Trend>,
    /// The nearest past series, nearest first.
    pub nearest: Vec<Near>,
    /// The vector of the series' shape.
    pub embedding: Vec<f64>,
}

/// A series on an even grid.
#[derive(Debug, Clone, PartialEq)]
pub struct Even {
    /// The first instant, s.
    pub start_s: i64,
    /// Seconds from value to value.
    pub step_s: f64,
    /// The values.
    pub values: Vec<Option<f64>>,
}

impl Even {
    /// Puts samples on a grid whose step is their usual distance.
    ///
    /// # Errors
    /// [`StationError`] of samples that are no series.
    pub fn of(name: &str, samples: &Samples) -> Result<Self, StationError> {
        let series = || name.to_owned();
        let (at, values) = (samples.at_s.len(), samples.values.len());
        if at != values {
            return Err(StationError::Lengths { series: series(), at, values });
        }
        let steps: Vec<f64> =
            samples.at_s.windows(2).map(|pair| pair[1].saturating_sub(pair[0]) as f64).collect();
        if let Some(place) = steps.iter().position(|step| *step <= 0.0) {
            return Err(StationError::Order { series: series(), place: place + 1 });
        }
        let step_s = median(&steps).filter(|step| *step > 0.0).unwrap_or(1.0);
        let Some((&start_s, &end_s)) = samples.at_s.first().zip(samples.at_s.last()) else {
            return Ok(Self { start_s: 0, step_s, values: Vec::new() });
        };
        let place = |at_s: i64| (at_s.saturating_sub(start_s) as f64 / step_s).round() as usize;
        let got = place(end_s).saturating_add(1);
        if got > MOST_VALUES {
            return Err(StationError::Long { series: series(), got });
        }
        let mut even = vec![None; got];
        for (at_s, value) in samples.at_s.iter().zip(&samples.values) {
            if let Some(value) = value.filter(|value| value.is_finite()) {
                even[place(*at_s)] = Some(value);
            }
        }
        Ok(Self { start_s, step_s, values: even })
    }

    /// Values a day, where that is a whole number above 1.
    pub fn day(&self) -> Option<usize> {
        let day = DAY_S / self.step_s;
        let is_whole = (day - day.round()).abs() < 1e-6 && day.round() > 1.0;
        is_whole.then_some(day.round() as usize)
    }

    /// The instant of a place.
    pub fn at(&self, place: usize) -> Timestamp {
        let start = self.start_s.checked_mul(1000).and_then(Timestamp::from_unix_ms);
        start.unwrap_or(Timestamp::EPOCH).plus_seconds(place as f64 * self.step_s)
    }
}

/// Judges a series and finds the nearest of past ones.
///
/// # Errors
/// [`StationError`] of samples that are no series.
pub fn judge_station(
    column: &str,
    series: &Even,
    past: &[PastSeries],
) -> Result<StationJudgement, StationError> {
    if past.len() > MOST_PAST {
        return Err(StationError::Past { got: past.len() });
    }
    let seen = shape(&series.values, series.day());
    let mut nearest = Vec::with_capacity(past.len());
    for one in past {
        let even = Even::of(&one.id, &one.samples)?;
        let other = shape(&even.values, even.day());
        nearest.push(Near {
            id: one.id.clone(),
            likeness: likeness(&seen.embedding, &other.embedding),
        });
    }
    // a stable sort: equally near ones stay in the caller's order
    nearest.sort_by(|a, b| b.likeness.total_cmp(&a.likeness));
    nearest.truncate(NEAREST);
    let findings: Vec<StationFinding> = seen
        .findings
        .iter()
        .map(|one| StationFinding {
            kind: one.kind,
            from: series.at(one.first),
            to: series.at(one.last),
            amount: one.amount,
            strength: one.strength,
        })
        .collect();
    let figures = figures(series);
    let verdict = match findings.first() {
        Some(first) => first.kind.word(),
        None if figures.count < FEWEST => "cannot_say",
        None => "sound",
    };
    let (trend, embedding) = (trend(column, series), seen.embedding);
    Ok(StationJudgement { verdict, findings, figures, trend, nearest, embedding })
}

fn figures(series: &Even) -> Figures {
    let present: Vec<f64> = series.values.iter().flatten().copied().collect();
    Figures {
        count: present.len(),
        missing: series.values.len() - present.len(),
        step_s: series.step_s,
        median: median(&present),
        min: present.iter().copied().reduce(f64::min),
        max: present.iter().copied().reduce(f64::max),
    }
}

/// The trend that the judgement of feature series has at the end.
fn trend(column: &str, series: &Even) -> Option<Trend> {
    let row =
        |(place, value): (usize, &Option<f64>)| Row { at: series.at(place), values: vec![*value] };
    let table = SeriesTable {
        columns: vec![column.to_owned()],
        rows: series.values.iter().enumerate().map(row).collect(),
        notes: Vec::new(),
    };
    let mut last = None;
    let judged = super::judge(&table, &BTreeMap::new(), |line| {
        last = Some(line.trend);
        Ok::<(), std::convert::Infallible>(())
    });
    judged.map(|()| last).unwrap_or_default()
}
