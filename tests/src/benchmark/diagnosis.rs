//! Names against truth: right, wrong, not sure; and whether confidence means what it says.

use std::path::Path;

use anyhow::Context;
use pdm_dsp::{Request, diagnose};
use pdm_edge::quality::{QualityContext, assess};
use pdm_shared::fault::Fault;
use serde::Serialize;

use super::labels::{self, Label};
use super::{recordings, simulated};

/// What became of one record.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// The damaged part was named.
    Right,
    /// Another part was named.
    Wrong,
    /// A part of a sound bearing was named.
    FalselyNamed,
    /// Damaged, and no name.
    NotSure,
    /// Sound, and no name.
    Quiet,
}

/// One scored record.
#[derive(Debug, Clone, Serialize)]
pub struct Scored {
    /// File and channel, or what was simulated.
    pub record: String,
    /// Data set and grade.
    pub group: String,
    /// The truth.
    pub truth: Option<Fault>,
    /// The name given.
    pub named: Option<Fault>,
    /// Its confidence.
    pub confidence: f64,
    /// Why there is no name, where that is told.
    pub undetermined: Option<String>,
    /// What became of it.
    pub outcome: Outcome,
    /// No published method names it: not counted as a failure.
    pub is_undiagnosable: bool,
    /// True for simulated records.
    pub is_simulated: bool,
}

struct Verdict {
    named: Option<Fault>,
    confidence: f64,
    undetermined: Option<String>,
}

fn verdict(accel_m_s2: &[f64], request: &Request) -> Verdict {
    let context =
        QualityContext { speed: Some(request.speed), ..QualityContext::new(request.rate) };
    let quality = assess(accel_m_s2, &context);
    if !quality.signal.valid {
        let flags = format!("signal quality: {:?}", quality.signal.flags);
        return Verdict { named: None, confidence: 0.0, undetermined: Some(flags) };
    }
    match diagnose(accel_m_s2, request) {
        Ok(found) => Verdict {
            named: found.dominant,
            confidence: found.confidence,
            undetermined: found.undetermined.map(|why| why.to_string()),
        },
        Err(error) => {
            Verdict { named: None, confidence: 0.0, undetermined: Some(error.to_string()) }
        }
    }
}

fn score(record: String, verdict: Verdict, label: Label, is_simulated: bool) -> Scored {
    let outcome = match (label.truth, verdict.named) {
        (None, None) => Outcome::Quiet,
        (None, Some(_)) => Outcome::FalselyNamed,
        (Some(_), None) => Outcome::NotSure,
        (Some(truth), Some(named)) if truth == named => Outcome::Right,
        (Some(_), Some(_)) => Outcome::Wrong,
    };
    Scored {
        record,
        group: label.group,
        truth: label.truth,
        named: verdict.named,
        confidence: verdict.confidence,
        undetermined: verdict.undetermined,
        outcome,
        is_undiagnosable: label.is_undiagnosable,
        is_simulated,
    }
}

/// Judges and scores every recording of the data folder.
///
/// # Errors
/// The folder or one of its files cannot be read.
pub fn recordings(data: &Path) -> anyhow::Result<Vec<Scored>> {
    let mut judged = Vec::new();
    for recording in recordings::list(data)? {
        let name = format!("{} channel {}", recording.file, recording.channel);
        let (accel_m_s2, request) = recording.read().with_context(|| name.clone())?;
        judged.push((recording.file, name, verdict(&accel_m_s2, &request)));
    }
    // Only now, with all verdicts given, is the truth opened.
    let labels = labels::read(data)?;
    judged
        .into_iter()
        .map(|(file, name, verdict)| {
            let label = labels.get(&file).cloned().with_context(|| format!("no label: {file}"))?;
            Ok(score(name, verdict, label, false))
        })
        .collect()
}

/// Judges and scores `count` simulated records from `first_seed` on.
///
/// # Errors
/// A drawn setting is refused by the simulator, which is a bug.
pub fn simulated(first_seed: u64, count: u64) -> anyhow::Result<Vec<Scored>> {
    (first_seed..first_seed + count)
        .map(|seed| {
            let record = simulated::record(seed)?;
            let verdict = verdict(&record.accel_m_s2, &record.request);
            let group = match record.truth {
                Some(fault) => format!("simulated, {fault}"),
                None => "simulated, sound".to_owned(),
            };
            let label = Label { group, truth: record.truth, is_undiagnosable: false };
            Ok(score(record.name, verdict, label, true))
        })
        .collect()
}
