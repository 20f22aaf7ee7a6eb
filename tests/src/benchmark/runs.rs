//! Runs to failure: the time of the alarm, its persistence, and the truth of the stated remaining
//! life.
//!
//! FEMTO runs are judged from their samples, IMS test 2 from its feature table, simulated lives
//! from a generator. Only the scorer knows the time of failure; no judgement reads it.

use std::path::PathBuf;

use serde::Serialize;

mod calibration;
mod femto;
mod ims;
mod report;
mod score;
mod simulated;
mod variants;
mod yardstick;

pub(crate) use calibration::factor as interval_factor;
pub use femto::{Measured, RUNS as FEMTO_RUNS};
pub(crate) use femto::{
    level_of as femto_level, measured as femto_measured, recorded as femto_recorded,
};
pub(crate) use score::stray;
pub use score::{Life, RulScore, RunOutcome, phm_2012};
pub(crate) use simulated::judged as simulated_life;
pub use variants::Variant;
pub(crate) use yardstick::hold_critical;
pub use yardstick::{FirstCritical, Verdict};

/// The results of all runs.
#[derive(Debug, Clone, Serialize)]
pub struct Runs {
    /// Runs of real bearings.
    pub real: Vec<RunOutcome>,
    /// Alarms of the real runs against what their signals show.
    pub verdicts: Vec<Verdict>,
    /// Simulated lives.
    pub simulated: Vec<RunOutcome>,
}

/// Evaluates all runs.
///
/// # Errors
/// A recording or table exists but cannot be read. Missing ones are left out.
pub fn evaluate(data: &[PathBuf], lives: u64) -> anyhow::Result<Runs> {
    let (mut real, mut verdicts) = (Vec::new(), Vec::new());
    for folder in data {
        let (lives, told) = femto::outcomes(&folder.join("femto"))?;
        real.extend(lives);
        verdicts.extend(told);
        real.extend(ims::outcomes(&folder.join("ims"))?);
    }
    let simulated = (0..lives).map(simulated::outcome).collect();
    Ok(Runs { real, verdicts, simulated })
}

#[cfg(test)]
mod tests;
