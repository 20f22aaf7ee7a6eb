//! `[source.simulator]`: the keys as typed, and the simulation that they describe.

use pdm_service::config::ConfigError;
use pdm_shared::fault::Fault;
use pdm_shared::units::SampleRate;
use serde::Deserialize;

use super::super::PointSettings;
use super::super::file::Origin;
use super::SourceTable;
use crate::source::SourceInput;
use crate::source::simulator::{Course, SimulatorSettings};

/// Sampling rate where none is configured, Hz: its band of 5 kHz holds the simulator's resonances
/// of 0.9 and 2.8 kHz.
const DEFAULT_RATE_HZ: f64 = 12_800.0;

/// `[source.simulator]`
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct SimulatorTable {
    fault: Option<Fault>,
    /// A constant severity, 0 to 1. Left out: a run to failure.
    severity: Option<f64>,
    snapshots: Option<u64>,
    snapshot_s: Option<f64>,
    seed: Option<u64>,
}

impl SourceTable {
    pub(super) fn simulated(
        &self,
        origin: Origin<'_>,
        index: usize,
        points: &[PointSettings],
    ) -> Result<SourceInput, ConfigError> {
        if self.files.is_some() {
            let key = format!("source[{index}].files");
            return Err(origin.refuse(&key, "set", "only for kind = \"recording\""));
        }
        let table = self.simulator.clone().unwrap_or_default();
        let Some(first) = points.first() else {
            return Err(origin.refuse(&format!("source[{index}].channel"), "none", "one or more"));
        };
        let default_rate = SampleRate::new(DEFAULT_RATE_HZ).expect("above 0");
        let rate = self.rate(origin, index)?.unwrap_or(default_rate);
        let base = SimulatorSettings::new(rate, first.speed, first.orders);
        let settings = SimulatorSettings {
            // without a key an outer-race fault is simulated: a demonstration shows a fault
            fault: table.fault.or(Some(Fault::OuterRace)),
            course: table
                .severity
                .map_or_else(Course::run_to_failure, |severity| Course::Constant { severity }),
            snapshots: table.snapshots.unwrap_or(base.snapshots),
            snapshot_s: table.snapshot_s.unwrap_or(base.snapshot_s),
            period_s: self.period_s.unwrap_or(base.period_s),
            started_at: self.started_at,
            channels: self.channels(points),
            seed: table.seed.unwrap_or(base.seed),
            ..base
        };
        settings.check().map_err(|error| {
            let key = format!("source[{index}].simulator, {}", error.setting);
            origin.refuse(&key, error.got, error.allowed)
        })?;
        Ok(SourceInput::Simulator(Box::new(settings)))
    }
}
