//! A historian's feature table: read it, and run each of its columns through a [`Monitor`].
//!
//! Stands beside the pipeline: no windows, no spectra, just numbers that another system has
//! computed, one row a snapshot. Every column is a measuring point of its own with one feature
//! under the column's name. Missing values are rows that cannot be judged, not errors.

mod beside;
mod cells;
mod heads;
mod points;
mod quality;
pub mod shape;
pub mod station;
mod table;
mod times;

use std::collections::BTreeMap;

use pdm_shared::event::{Anomaly, Rul, Trend};
use pdm_shared::time::Timestamp;
use serde::Serialize;

use crate::condition::{Features, Judgement, Monitor, MonitorSettings, Observation};

use beside::Beside;

pub use table::{Request, Row, SeriesError, SeriesTable, read_table};

/// The judgement of one column of one row.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SeriesLine<'a> {
    /// When, UTC. Rows without a calendar count from 1970.
    pub time: Timestamp,
    /// Which row of the table, from 0.
    pub row: usize,
    /// Which column.
    pub column: &'a str,
    /// The value in the row; `null` where the table has none.
    pub value: Option<f64>,
    /// The anomaly flag after persistence and hysteresis.
    pub anomaly_detected: bool,
    /// The grounds of the anomaly.
    pub anomaly: Anomaly,
    /// Slope over hours and days.
    pub trend: Trend,
    /// Remaining useful life.
    pub rul: Rul,
}

/// Judges a table row by row, and hands each line to `sink`.
///
/// `failure_levels`: the level at failure of columns where it is known, in the column's unit.
///
/// # Errors
/// The error of the sink; the run stops there.
pub fn judge<E>(
    table: &SeriesTable,
    failure_levels: &BTreeMap<String, f64>,
    sink: impl FnMut(SeriesLine<'_>) -> Result<(), E>,
) -> Result<(), E> {
    let mut settings = MonitorSettings::default();
    settings.failure_thresholds.extend(failure_levels.clone());
    judge_by(settings, table, sink)
}

/// Judges a table row by row by other settings than the usual ones.
///
/// # Errors
/// The error of the sink; the run stops there.
pub fn judge_by<E>(
    settings: MonitorSettings,
    table: &SeriesTable,
    mut sink: impl FnMut(SeriesLine<'_>) -> Result<(), E>,
) -> Result<(), E> {
    let mut monitors = vec![Monitor::new(settings); table.columns.len()];
    let mut beside = Beside::new(&table.columns);
    for (number, row) in table.rows.iter().enumerate() {
        beside.take(row);
        let columns = table.columns.iter().zip(&row.values).zip(&mut monitors).enumerate();
        for (at, ((column, value), monitor)) in columns {
            monitor.single_out(beside.singles_out(at));
            let judgement = observe(monitor, row.at, column, *value);
            beside.note_alarm(at, judgement.anomaly_detected);
            sink(SeriesLine {
                time: row.at,
                row: number,
                column,
                value: *value,
                anomaly_detected: judgement.anomaly_detected,
                anomaly: judgement.anomaly,
                trend: judgement.trend,
                rul: judgement.rul,
            })?;
        }
    }
    Ok(())
}

fn observe(monitor: &mut Monitor, at: Timestamp, column: &str, value: Option<f64>) -> Judgement {
    monitor.observe(&Observation {
        at,
        state: "default".to_owned(),
        usable: value.is_some(),
        turns_per_h: None,
        features: value.map(|value| (column.to_owned(), value)).into_iter().collect::<Features>(),
    })
}
