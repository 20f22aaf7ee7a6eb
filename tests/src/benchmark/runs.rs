//! Runs to failure: when the alarm comes, whether it stays, and whether the life told was true.
//!
//! FEMTO runs from their samples, IMS test 2 from its feature table, simulated lives from a
//! generator. When a run failed is known to the scorer alone; no judgement sees it.

use std::path::PathBuf;

use serde::Serialize;

mod femto;
mod ims;
mod report;
mod score;
mod simulated;

pub use score::{Life, Outcome, RulScore, phm_2012};

/// The results of all runs.
#[derive(Debug, Clone, Serialize)]
pub struct Runs {
    /// Runs of real bearings.
    pub real: Vec<Outcome>,
    /// Simulated lives.
    pub simulated: Vec<Outcome>,
}

/// Runs everything there is.
///
/// # Errors
/// A recording or table that is there but cannot be read. Absent ones are left out.
pub fn evaluate(data: &[PathBuf], lives: u64) -> anyhow::Result<Runs> {
    let mut real = Vec::new();
    for folder in data {
        real.extend(femto::outcomes(&folder.join("femto"))?);
        real.extend(ims::outcomes(&folder.join("ims"))?);
    }
    let simulated = (0..lives).map(simulated::outcome).collect();
    Ok(Runs { real, simulated })
}

#[cfg(test)]
mod tests;
