//! Named faults against the truth: right, wrong, not sure; and the calibration of the confidence.

use std::path::Path;

use anyhow::Context;
use pdm_dsp::Request;
use pdm_dsp::diagnose::{Against, diagnose_against};
use pdm_edge::quality::{QualityContext, assess};
use pdm_shared::fault::Fault;
use serde::Serialize;

use super::labels::{self, Label};
use super::{adversary, recordings, simulated};

/// The score of one record.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum DiagnosisOutcome {
    /// The damaged part was named.
    Right,
    /// Another part was named.
    Wrong,
    /// A part of a sound bearing was named.
    FalselyNamed,
    /// A damaged part was not named.
    NotSure,
    /// A sound bearing was not named.
    Quiet,
}

impl DiagnosisOutcome {
    /// Compares a name with the truth.
    pub fn of(truth: Option<Fault>, named: Option<Fault>) -> Self {
        match (truth, named) {
            (None, None) => Self::Quiet,
            (None, Some(_)) => Self::FalselyNamed,
            (Some(_), None) => Self::NotSure,
            (Some(truth), Some(named)) if truth == named => Self::Right,
            (Some(_), Some(_)) => Self::Wrong,
        }
    }
}

/// One scored record.
#[derive(Debug, Clone, Serialize)]
pub struct Scored {
    /// File and channel, or a description of the simulation.
    pub record: String,
    /// Data set and grade.
    pub group: String,
    /// The truth.
    pub truth: Option<Fault>,
    /// The named fault.
    pub named: Option<Fault>,
    /// Confidence in the named fault.
    pub confidence: f64,
    /// The two parts of which damage is told to be, where it is: a name is both.
    pub damaged: Option<[Fault; 2]>,
    /// The reason why no fault is named, if the edge gave one.
    pub undetermined: Option<String>,
    /// The score.
    pub outcome: DiagnosisOutcome,
    /// Whether no published method names this fault, so that it does not count as a failure.
    pub is_undiagnosable: bool,
    /// Whether the record is simulated.
    pub is_simulated: bool,
}

/// The edge's verdict on a record.
#[derive(Debug, Clone)]
pub(super) struct Verdict {
    pub(super) named: Option<Fault>,
    pub(super) confidence: f64,
    pub(super) damaged: Option<[Fault; 2]>,
    undetermined: Option<String>,
}

pub(super) fn verdict(accel_m_s2: &[f64], request: &Request) -> Verdict {
    verdict_against(accel_m_s2, request, Against::Nothing)
}

/// Returns the verdict on a record that is compared with the earlier lines of its measuring point.
pub(super) fn verdict_against(
    accel_m_s2: &[f64],
    request: &Request,
    against: Against<'_>,
) -> Verdict {
    let context =
        QualityContext { speed: Some(request.speed), ..QualityContext::new(request.rate) };
    let quality = assess(accel_m_s2, &context);
    if !quality.signal.valid {
        let flags = format!("signal quality: {:?}", quality.signal.flags);
        return not_judged(flags);
    }
    match diagnose_against(accel_m_s2, request, against) {
        Ok((found, _shown)) => Verdict {
            named: found.dominant,
            confidence: found.confidence,
            damaged: (found.dominant.map(|named| [named; 2]))
                .or_else(|| found.damaged.map(|(most_likely, or_else)| [most_likely, or_else])),
            undetermined: found.undetermined.map(|why| why.to_string()),
        },
        Err(error) => not_judged(error.to_string()),
    }
}

fn not_judged(why: String) -> Verdict {
    Verdict { named: None, confidence: 0.0, damaged: None, undetermined: Some(why) }
}

fn score(record: String, verdict: Verdict, label: Label, is_simulated: bool) -> Scored {
    let outcome = DiagnosisOutcome::of(label.truth, verdict.named);
    Scored {
        record,
        group: label.group,
        truth: label.truth,
        named: verdict.named,
        confidence: verdict.confidence,
        damaged: verdict.damaged,
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
    some_recordings(data, |_| true)
}

/// Judges and scores the recordings whose file `wanted` accepts.
///
/// # Errors
/// The folder or one of its files cannot be read.
pub fn some_recordings(
    data: &Path,
    is_wanted: impl Fn(&str) -> bool,
) -> anyhow::Result<Vec<Scored>> {
    let mut judged = Vec::new();
    let listed = recordings::list(data)?;
    for recording in listed.into_iter().filter(|recording| is_wanted(&recording.file)) {
        let name = format!("{} channel {}", recording.file, recording.channel);
        let (accel_m_s2, request) = recording.read().with_context(|| name.clone())?;
        judged.push((recording.file, name, verdict(&accel_m_s2, &request)));
    }
    // The truth is read only now, when all verdicts exist.
    let labels = labels::read_labels(data)?;
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
/// A drawn setting is refused by the simulator, which is a bug of the generator.
pub fn simulated(first_seed: u64, count: u64) -> anyhow::Result<Vec<Scored>> {
    (first_seed..first_seed + count)
        .map(|seed| {
            let record = simulated::record(seed)?;
            let verdict = verdict(&record.accel_m_s2, &record.request);
            let group = match record.truth {
                Some(fault) => format!("simulated, {fault}"),
                None => "simulated, sound".to_owned(),
            };
            let label = Label::generated(group, record.truth);
            Ok(score(record.name, verdict, label, true))
        })
        .collect()
}

/// Judges and scores `count` sound machines that look damaged, from `first_seed` on.
///
/// # Errors
/// A drawn value is refused, which is a bug of the generator.
pub fn adversaries(first_seed: u64, count: u64) -> anyhow::Result<Vec<Scored>> {
    (first_seed..first_seed + count)
        .map(|seed| {
            let record = adversary::record(seed)?;
            let verdict = verdict(&record.accel_m_s2, &record.request);
            let group = "adversary, sound".to_owned();
            let label = Label::generated(group, None);
            Ok(score(record.name, verdict, label, true))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outcomes(test: &str, is_wanted: impl Fn(&str) -> bool) -> Option<Vec<Scored>> {
        let data = pdm_harness::data_dir(test)?;
        Some(some_recordings(&data, is_wanted).expect("the recordings can be read"))
    }

    fn assert_all(scored: &[Scored], wanted: DiagnosisOutcome, count: usize) {
        assert_eq!(scored.len(), count);
        for record in scored {
            assert_eq!(record.outcome, wanted, "{record:?}");
        }
    }

    /// R-EDGE-4, on five outer-race and five inner-race records.
    #[test]
    fn every_mfpt_fault_is_named() {
        let test = "every_mfpt_fault_is_named";
        if let Some(scored) = outcomes(test, |file| file.starts_with("mfpt/")) {
            assert_all(&scored, DiagnosisOutcome::Right, 10);
        }
    }

    /// R-EDGE-4, on the textbook records and inner race 105 of CWRU's drive end.
    #[test]
    fn textbook_faults_are_named_in_cwru() {
        let test = "textbook_faults_are_named_in_cwru";
        let wanted = ["_105.npy", "_130.npy", "_132.npy", "_209.npy", "_211.npy"];
        if let Some(scored) = outcomes(test, |file| wanted.iter().any(|end| file.ends_with(end))) {
            assert_all(&scored, DiagnosisOutcome::Right, 5);
        }
    }

    /// R-EDGE-4, on CWRU normal at both ends, HIT-SM's rig with its 100 Hz tone, IMS test 2's
    /// start.
    #[test]
    fn sound_bearings_are_not_named() {
        let test = "sound_bearings_are_not_named";
        let wanted = ["normal_0", "Normal_900", "ims/test2"];
        if let Some(scored) = outcomes(test, |file| wanted.iter().any(|part| file.contains(part))) {
            assert_all(&scored, DiagnosisOutcome::Quiet, 7);
        }
    }

    /// R-EDGE-4: a rolling element that strikes both races is not named as a race fault.
    #[test]
    fn two_families_of_race_lines_are_no_verdict() {
        let test = "two_families_of_race_lines_are_no_verdict";
        if let Some(scored) = outcomes(test, |file| file.ends_with("_224.npy")) {
            assert_all(&scored, DiagnosisOutcome::NotSure, 1);
        }
    }

    /// Issue 35, point 4: damage is told where its part is open, on a record that shows lines of an
    /// inner race and is a ball's; a sound one is not called damaged.
    #[test]
    fn damage_whose_part_is_open_is_seen_in_cwru_224() {
        let test = "damage_whose_part_is_open_is_seen_in_cwru_224";
        let wanted = ["_224.npy", "normal_0_97_part1.npy"];
        let Some(scored) = outcomes(test, |file| wanted.iter().any(|end| file.ends_with(end)))
        else {
            return;
        };
        for record in scored {
            assert_eq!(record.named, None, "{record:?}");
            assert_eq!(record.damaged.is_some(), record.truth.is_some(), "{record:?}");
        }
    }

    /// R-EDGE-4: a rolling element is named by the lines of its spin beside the cage's.
    #[test]
    fn a_rolling_element_is_named_by_its_spin() {
        let test = "a_rolling_element_is_named_by_its_spin";
        if let Some(scored) = outcomes(test, |file| file.ends_with("_288.npy")) {
            assert_all(&scored, DiagnosisOutcome::Right, 1);
        }
    }

    /// R-EDGE-4, on two records of each kind; the benchmark has many more.
    #[test]
    fn sound_machines_that_look_damaged_are_not_named() {
        for record in adversaries(0, 2 * adversary::Adversary::ALL.len() as u64)
            .expect("what is drawn is allowed")
        {
            assert_eq!(record.outcome, DiagnosisOutcome::Quiet, "{record:?}");
        }
    }

    /// The confidence is calibrated: of the faults named with 0.9 or more, 97 % are right.
    #[test]
    fn confident_names_are_right_on_machines_never_seen() {
        let scored = simulated(10_000, 160).expect("the simulator accepts what is drawn");
        let confident: Vec<&Scored> =
            scored.iter().filter(|r| r.named.is_some() && r.confidence >= 0.9).collect();
        let right = confident.iter().filter(|r| r.outcome == DiagnosisOutcome::Right).count();
        assert!(confident.len() >= 10, "only {} names", confident.len());
        assert!(right as f64 >= 0.97 * confident.len() as f64, "{right} of {}", confident.len());
    }
}
