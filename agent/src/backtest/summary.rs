//! All of a back-test: figures, failures, differing episodes, and what has to be said of the events
//! (`pdm.backtest/1`).

use pdm_shared::id::{BearingKey, GatewayId};
use pdm_shared::time::Timestamp;
use serde::Serialize;
use serde_json::{Value, json};

use super::compare::{Difference, differences};
use super::figures::{FailureRow, SideFigures, failures, side};
use super::played::{BearingPlayed, Hole, MachinePlayed};
use super::truth::Truth;

/// The value of `schema`.
const SCHEMA: &str = "pdm.backtest/1";

/// The inputs of a summary.
#[derive(Debug, Clone)]
pub(crate) struct Making<'a> {
    /// The names of the configurations.
    pub(crate) sides: Vec<String>,
    /// The known failures.
    pub(crate) truth: &'a Truth,
    /// How long after an episode a failure still is what it told of, days.
    pub(crate) horizon_days: f64,
    /// Hours after which somebody is assumed to acknowledge; nobody without it.
    pub(crate) acknowledged_after_h: Option<f64>,
    /// The address of the pages, if they have one.
    pub(crate) page_url: Option<String>,
    /// Remarks on the input that are no errors.
    pub(crate) remarks: Vec<String>,
}

/// All of a back-test.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct Summary {
    schema: &'static str,
    /// Machines, bearings, windows and late windows.
    pub(crate) machines: u64,
    pub(crate) bearings: u64,
    pub(crate) windows: u64,
    pub(crate) late_windows: u64,
    /// The first and the last window; `None` without events.
    pub(crate) first: Option<Timestamp>,
    pub(crate) last: Option<Timestamp>,
    /// Years of all bearings, without holes.
    pub(crate) bearing_years: f64,
    pub(crate) acknowledged_after_h: Option<f64>,
    pub(crate) horizon_days: f64,
    /// The configurations.
    pub(crate) sides: Vec<SideFigures>,
    /// Failures, where the truth is known.
    pub(crate) failures: Vec<FailureRow>,
    /// The episodes that differ, of two configurations.
    pub(crate) differences: Vec<Difference>,
    /// Times without windows.
    pub(crate) holes: Vec<HoleRow>,
    /// Bearings that several gateways measured.
    pub(crate) moved: Vec<MovedRow>,
    /// Remarks on the input that are no errors.
    pub(crate) remarks: Vec<String>,
}

/// A hole of a bearing.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct HoleRow {
    pub(crate) bearing: BearingKey,
    #[serde(flatten)]
    pub(crate) hole: Hole,
}

/// A bearing that moved between gateways.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct MovedRow {
    pub(crate) bearing: BearingKey,
    pub(crate) gateways: Vec<(GatewayId, Timestamp)>,
}

impl Summary {
    /// The summary of machines in any order.
    pub(crate) fn of(machines: &mut [MachinePlayed], making: &Making<'_>) -> Self {
        machines.sort_by(|one, other| one.machine.cmp(&other.machine));
        let machines = &*machines;
        let horizon_s = 86_400.0 * making.horizon_days;
        let bearings: Vec<&BearingPlayed> =
            machines.iter().flat_map(|machine| &machine.bearings).collect();
        let figures = making.sides.iter().enumerate();
        let figures =
            figures.map(|(place, name)| side(name, place, machines, making.truth, horizon_s));
        let page = |key: &BearingKey| {
            let base = making.page_url.as_deref()?.trim_end_matches('/');
            Some(format!("{base}{}", pdm_web::bearing_path(key)))
        };
        let holes = bearings.iter().flat_map(|one| {
            one.holes.iter().map(|hole| HoleRow { bearing: one.bearing.clone(), hole: *hole })
        });
        let moved = bearings
            .iter()
            .filter(|one| one.gateways.len() > 1)
            .map(|one| MovedRow { bearing: one.bearing.clone(), gateways: one.gateways.clone() });
        let mut remarks = making.remarks.clone();
        let played: std::collections::BTreeSet<&BearingKey> =
            bearings.iter().map(|one| &one.bearing).collect();
        let without_events = making.truth.0.keys().filter(|key| !played.contains(key));
        remarks.extend(without_events.map(|key| {
            format!("--truth names {key}, of which there is no event: it is counted nowhere")
        }));
        remarks.sort();
        Self {
            schema: SCHEMA,
            machines: machines.len() as u64,
            bearings: bearings.len() as u64,
            windows: bearings.iter().map(|one| one.windows).sum(),
            late_windows: bearings.iter().map(|one| one.late).sum(),
            first: bearings.iter().map(|one| one.first).min(),
            last: bearings.iter().map(|one| one.last).max(),
            // a sum of nothing is -0
            bearing_years: bearings.iter().map(|one| one.years()).sum::<f64>().abs(),
            acknowledged_after_h: making.acknowledged_after_h,
            horizon_days: making.horizon_days,
            sides: figures.collect(),
            failures: failures(making.sides.len(), machines, making.truth, horizon_s),
            differences: differences(machines, page),
            holes: holes.collect(),
            moved: moved.collect(),
            remarks,
        }
    }

    /// The summary with every episode and message.
    ///
    /// # Errors
    /// The error of the form, which is a bug.
    pub(crate) fn with_messages(
        &self,
        machines: &[MachinePlayed],
    ) -> Result<Value, serde_json::Error> {
        let mut value = serde_json::to_value(self)?;
        let mut all = serde_json::to_value(machines)?;
        for machine in all.as_array_mut().into_iter().flatten() {
            let bearings = machine.get_mut("bearings").and_then(Value::as_array_mut);
            for bearing in bearings.into_iter().flatten().filter_map(Value::as_object_mut) {
                // pictures are for plots
                bearing.remove("course");
            }
        }
        value["played"] = json!(all);
        Ok(value)
    }
}
