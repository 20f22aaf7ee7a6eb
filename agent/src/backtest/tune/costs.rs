//! The result of each configuration on one machine.

use crate::backtest::MachinePlayed;
use crate::backtest::figures;
use crate::backtest::names::MachineKey;
use crate::backtest::truth::Truth;

use super::Price;

/// A machine whose truth is known, under each configuration.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct MachineCosts {
    /// The machine.
    pub(crate) machine: MachineKey,
    /// Years of its bearings whose truth is known.
    pub(crate) bearing_years: f64,
    /// Failures of them within the events.
    pub(crate) failures: u64,
    /// The result under each configuration.
    pub(super) sides: Vec<SideCost>,
}

/// A machine under one configuration.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct SideCost {
    /// Told episodes without a failure.
    pub(super) false_episodes: u64,
    /// Failures before which nobody was told.
    pub(super) not_told: u64,
    /// The missing shares of the wanted lead time, over all failures.
    pub(super) short_of_lead: f64,
    /// Messages to staff.
    pub(super) messages: u64,
}

impl SideCost {
    /// The cost in false episodes.
    pub(super) fn cost(&self, price: &Price) -> f64 {
        self.false_episodes as f64 + price.miss_cost * self.short_of_lead
    }

    /// The sum of two machines.
    pub(super) fn plus(self, other: &Self) -> Self {
        Self {
            false_episodes: self.false_episodes + other.false_episodes,
            not_told: self.not_told + other.not_told,
            short_of_lead: self.short_of_lead + other.short_of_lead,
            messages: self.messages + other.messages,
        }
    }
}

impl MachineCosts {
    /// The costs of a machine under `sides` configurations; `None` if the truth of none of its
    /// bearings is known.
    pub(crate) fn of(
        played: &MachinePlayed,
        sides: usize,
        truth: &Truth,
        price: &Price,
    ) -> Option<Self> {
        let horizon_s = 86_400.0 * price.horizon_days;
        let one = std::slice::from_ref(played);
        let rows = figures::failures(sides, one, truth, horizon_s);
        let mut bearing_years = 0.0;
        // what the events do not reach is counted under no configuration, told or not
        let within = || rows.iter().filter(|row| row.is_within_events);
        let mut costs = Vec::with_capacity(sides);
        for place in 0..sides {
            let figures = figures::of_truth(place, one, truth, horizon_s)?;
            bearing_years = figures.bearing_years;
            let leads_h = || within().map(|row| row.lead_h.get(place).copied().flatten());
            let short_of =
                |lead_h: Option<f64>| 1.0 - (lead_h.unwrap_or(0.0) / price.lead_h).clamp(0.0, 1.0);
            let known = played.bearings.iter().filter(|one| truth.0.contains_key(&one.bearing));
            let messages = known.filter_map(|one| one.sides.get(place));
            costs.push(SideCost {
                false_episodes: figures.false_episodes,
                not_told: leads_h().filter(Option::is_none).count() as u64,
                short_of_lead: leads_h().map(short_of).sum::<f64>().abs(),
                messages: messages.map(|side| side.messages.len() as u64).sum(),
            });
        }
        Some(Self {
            machine: played.machine.clone(),
            bearing_years,
            failures: within().count() as u64,
            sides: costs,
        })
    }
}
