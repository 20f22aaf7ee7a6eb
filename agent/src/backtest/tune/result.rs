//! The choice: each machine left out once, the proposal, and the curve of what else could be had
//! (`pdm.tune/1`).

use serde::Serialize;

use super::costs::SideCost;
use super::{Candidate, Change, LEAST_MACHINES, MachineCosts};

/// The value of `schema`.
const SCHEMA: &str = "pdm.tune/1";

/// The terms under which configurations are compared.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub(crate) struct Price {
    /// False episodes that weigh as much as one failure of which nobody was told.
    pub(crate) miss_cost: f64,
    /// The wanted time from the first alarm to the failure, h.
    pub(crate) lead_h: f64,
    /// How long after an episode a failure still is what it told of, days.
    pub(crate) horizon_days: f64,
}

/// The advice.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Advice {
    /// Other thresholds cost less on machines that had no part in the choice.
    Change,
    /// No other thresholds did.
    Keep,
    /// Too few machines have a known failure.
    CannotSay,
}

/// A configuration on the curve.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct CurvePoint {
    /// The thresholds that differ from the configuration.
    pub(crate) changes: Vec<Change>,
    /// Told episodes without a failure.
    pub(crate) false_episodes: u64,
    /// The same a bearing-year; `None` if the bearing-years are 0.
    pub(crate) false_per_bearing_year: Option<f64>,
    /// Failures before which nobody was told.
    pub(crate) failures_not_told: u64,
    /// The share of the wanted lead time that failures had, 0…1; `None` without a failure.
    pub(crate) lead_share: Option<f64>,
    /// Messages to staff.
    pub(crate) messages: u64,
    /// The cost over all machines.
    pub(crate) cost: f64,
    /// No other point has both fewer false episodes and more of the lead time.
    pub(crate) is_best_of_its_kind: bool,
}

/// A machine that was left out.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct LeftOutRow {
    /// The machine, `site/equipment`.
    pub(crate) machine: String,
    /// What was chosen by the other machines.
    pub(crate) changes: Vec<Change>,
    /// The cost of the configuration on this machine.
    pub(crate) cost: f64,
    /// The cost of the choice on this machine.
    pub(crate) cost_chosen: f64,
}

/// The result of a tuning.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct Tuning {
    schema: &'static str,
    /// The configuration.
    pub(crate) configuration: String,
    /// The terms of the comparison.
    pub(crate) price: Price,
    /// Machines and bearing-years with a known truth.
    pub(crate) machines: usize,
    pub(crate) bearing_years: f64,
    /// Machines with a failure, and failures.
    pub(crate) machines_with_failure: usize,
    pub(crate) failures: u64,
    /// The advice.
    pub(crate) advice: Advice,
    /// The proposed thresholds; empty unless the advice is to change.
    pub(crate) changes: Vec<Change>,
    /// The cost of the configuration over the machines, and that of the choices made without each.
    pub(crate) cost: f64,
    pub(crate) cost_left_out: f64,
    /// Every configuration that was tried; the first is the configuration itself.
    pub(crate) curve: Vec<CurvePoint>,
    /// The place of the proposal in `curve`; 0 unless the advice is to change.
    pub(crate) proposed: usize,
    /// The machines, each left out once.
    pub(crate) left_out: Vec<LeftOutRow>,
    /// Remarks on the input that are no errors.
    pub(crate) remarks: Vec<String>,
}

impl Tuning {
    /// The result over machines in any order. The first of `candidates` is the configuration.
    pub(crate) fn of(
        candidates: &[Candidate],
        mut machines: Vec<MachineCosts>,
        price: Price,
        remarks: Vec<String>,
    ) -> Self {
        machines.sort_by(|one, other| one.machine.cmp(&other.machine));
        let with_failure = machines.iter().filter(|one| one.failures > 0).count();
        let total = sums(candidates.len(), machines.iter());
        let best = cheapest(candidates, &total, &price);
        let left_out = left_out(candidates, &machines, &price);
        let cost = left_out.iter().map(|row| row.cost).sum();
        let cost_left_out = left_out.iter().map(|row| row.cost_chosen).sum();
        let advice = if with_failure < LEAST_MACHINES {
            Advice::CannotSay
        } else if cost_left_out < cost && best > 0 {
            Advice::Change
        } else {
            Advice::Keep
        };
        let proposed = if advice == Advice::Change { best } else { 0 };
        let bearing_years = machines.iter().map(|one| one.bearing_years).sum::<f64>().abs();
        let failures = machines.iter().map(|one| one.failures).sum();
        Self {
            schema: SCHEMA,
            configuration: candidates.first().map_or_else(String::new, |one| one.side.name.clone()),
            price,
            machines: machines.len(),
            bearing_years,
            machines_with_failure: with_failure,
            failures,
            advice,
            changes: candidates.get(proposed).map_or_else(Vec::new, |one| one.changes.clone()),
            cost,
            cost_left_out,
            curve: curve(candidates, &total, bearing_years, failures, &price),
            proposed,
            left_out,
            remarks,
        }
    }
}

fn sums<'a>(candidates: usize, machines: impl Iterator<Item = &'a MachineCosts>) -> Vec<SideCost> {
    let mut total = vec![SideCost::default(); candidates];
    for machine in machines {
        for (sum, side) in total.iter_mut().zip(&machine.sides) {
            *sum = sum.plus(side);
        }
    }
    total
}

/// The place of the cheapest configuration. Of equal ones the one with fewer messages, then the one
/// with fewer changes, then the earlier one.
fn cheapest(candidates: &[Candidate], total: &[SideCost], price: &Price) -> usize {
    let order = |place: usize| {
        let cost = total.get(place).map_or(f64::INFINITY, |one| one.cost(price));
        let messages = total.get(place).map_or(u64::MAX, |one| one.messages);
        let changes = candidates.get(place).map_or(usize::MAX, |one| one.changes.len());
        (cost, messages, changes)
    };
    let places = 0..candidates.len();
    let least = places.min_by(|one, other| {
        let (one, other) = (order(*one), order(*other));
        one.0.total_cmp(&other.0).then(one.1.cmp(&other.1)).then(one.2.cmp(&other.2))
    });
    least.unwrap_or_default()
}

/// Each machine under what the others would have chosen.
fn left_out(candidates: &[Candidate], machines: &[MachineCosts], price: &Price) -> Vec<LeftOutRow> {
    let row = |(place, machine): (usize, &MachineCosts)| {
        let others = machines.iter().enumerate().filter(|(other, _)| *other != place);
        let total = sums(candidates.len(), others.map(|(_, other)| other));
        let chosen = cheapest(candidates, &total, price);
        let cost = |place: usize| machine.sides.get(place).map_or(0.0, |one| one.cost(price));
        LeftOutRow {
            machine: machine.machine.to_string(),
            changes: candidates.get(chosen).map_or_else(Vec::new, |one| one.changes.clone()),
            cost: cost(0),
            cost_chosen: cost(chosen),
        }
    };
    machines.iter().enumerate().map(row).collect()
}

fn curve(
    candidates: &[Candidate],
    total: &[SideCost],
    bearing_years: f64,
    failures: u64,
    price: &Price,
) -> Vec<CurvePoint> {
    let is_beaten = |one: &SideCost| {
        total.iter().any(|other| {
            (other.false_episodes < one.false_episodes && other.short_of_lead <= one.short_of_lead)
                || (other.false_episodes <= one.false_episodes
                    && other.short_of_lead < one.short_of_lead)
        })
    };
    let point = |(candidate, one): (&Candidate, &SideCost)| CurvePoint {
        changes: candidate.changes.clone(),
        false_episodes: one.false_episodes,
        false_per_bearing_year: (bearing_years > 0.0)
            .then(|| one.false_episodes as f64 / bearing_years),
        failures_not_told: one.not_told,
        lead_share: (failures > 0).then(|| 1.0 - one.short_of_lead / failures as f64),
        messages: one.messages,
        cost: one.cost(price),
        is_best_of_its_kind: !is_beaten(one),
    };
    candidates.iter().zip(total).map(point).collect()
}
