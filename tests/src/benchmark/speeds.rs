//! Names where the stated speed is off, and where a sound record of the same point is at hand.
//!
//! Invariant: as in [`diagnosis`](super::diagnosis), the truth is read when all verdicts exist.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::PathBuf;

use anyhow::Context;
use pdm_dsp::diagnose::{Against, Past, past_of};
use pdm_shared::fault::Fault;
use pdm_shared::units::Rpm;
use serde::Serialize;

use super::diagnosis::{DiagnosisOutcome, Scored, Verdict, verdict, verdict_against};
use super::labels::{self, Label};
use super::pasts::{self, PastOf};
use super::recordings::{self, Recording};

/// Stated speeds as multiples of the right one: a synchronous speed typed in is 2 to 5 % high.
pub const FACTORS: [f64; 7] = [0.90, 0.95, 0.97, 1.00, 1.03, 1.05, 1.10];

/// Names in all recordings, judged one way.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct NameTally {
    /// How they were judged.
    pub judged: String,
    /// Damaged parts named.
    pub right: usize,
    /// Other parts named.
    pub wrong: usize,
    /// Damaged parts without a name.
    pub not_named: usize,
    /// Sound bearings with a name.
    pub falsely_named: usize,
    /// Sound bearings without.
    pub quiet: usize,
    /// Damaged rolling elements named.
    pub balls_right: usize,
    /// Damaged rolling elements.
    pub balls: usize,
    /// Names with a confidence of 0.9 and more, and how many of them are right.
    pub confident: (usize, usize),
    /// Damaged bearings that are called damaged, with a name or without, and how many of them with
    /// the damaged part as one of the two that are told.
    pub seen: (usize, usize),
    /// Sound bearings that are called damaged, with a name or without.
    pub called_damaged: usize,
    /// Wrong and false names and sound bearings called damaged: record, truth and what is told.
    pub failures: Vec<String>,
}

impl NameTally {
    fn of(judged: String, scored: impl Iterator<Item = (String, Label, Verdict)>) -> Self {
        let mut tally = Self { judged, ..Self::default() };
        for (record, label, verdict) in scored {
            let Verdict { named, confidence, damaged, .. } = verdict;
            tally.take(&record, label.truth, (named, confidence, damaged));
        }
        tally
    }

    /// Tallies records that were scored already.
    pub(super) fn of_scored(judged: String, scored: Vec<Scored>) -> Self {
        let mut tally = Self { judged, ..Self::default() };
        for one in scored {
            tally.take(&one.record, one.truth, (one.named, one.confidence, one.damaged));
        }
        tally
    }

    /// Counts one record: its name with the confidence, and the two parts of which damage is told
    /// to be.
    fn take(
        &mut self,
        record: &str,
        truth: Option<Fault>,
        (named, confidence, damaged): (Option<Fault>, f64, Option<[Fault; 2]>),
    ) {
        let outcome = DiagnosisOutcome::of(truth, named);
        *match outcome {
            DiagnosisOutcome::Right => &mut self.right,
            DiagnosisOutcome::Wrong => &mut self.wrong,
            DiagnosisOutcome::NotSure => &mut self.not_named,
            DiagnosisOutcome::FalselyNamed => &mut self.falsely_named,
            DiagnosisOutcome::Quiet => &mut self.quiet,
        } += 1;
        let is_right = outcome == DiagnosisOutcome::Right;
        if truth == Some(Fault::Ball) {
            self.balls += 1;
            self.balls_right += usize::from(is_right);
        }
        if named.is_some() && confidence >= 0.9 {
            self.confident.0 += 1;
            self.confident.1 += usize::from(is_right);
        }
        if let Some(parts) = damaged {
            if let Some(truth) = truth {
                self.seen.0 += 1;
                self.seen.1 += usize::from(parts.contains(&truth));
            } else {
                self.called_damaged += 1;
                self.failures.push(format!("{record}: sound, called damaged: {parts:?}"));
            }
        }
        if matches!(outcome, DiagnosisOutcome::Wrong | DiagnosisOutcome::FalselyNamed) {
            self.failures.push(format!("{record}: {named:?}, in truth {truth:?}"));
        }
    }
}

/// Every recording of the folders, once for each stated speed, then once against its past.
///
/// # Errors
/// A folder or a file cannot be read.
pub fn evaluate(folders: &[PathBuf]) -> anyhow::Result<Vec<NameTally>> {
    let mut all = Vec::new();
    let mut truth = BTreeMap::new();
    for (number, folder) in folders.iter().enumerate() {
        all.extend(recordings::list(folder)?.into_iter().map(|one| (number, one)));
        truth.insert(number, folder);
    }
    let mut judged = Vec::new();
    for factor in FACTORS {
        let verdicts = in_parallel(&all, |(_, one)| at_speed(one, factor))?;
        judged.push((format!("stated speed × {factor:.2}"), verdicts));
    }
    let verdicts = in_parallel(&all, |(_, one)| against_past(one, &all))?;
    judged.push(("against a sound record of the point".to_owned(), verdicts));
    let mut labels = BTreeMap::new();
    for (number, folder) in truth {
        labels.insert(number, labels::read_labels(folder)?);
    }
    let tally = |(how, verdicts): (String, Vec<Option<Verdict>>)| {
        let scored = all.iter().zip(verdicts).filter_map(|((number, one), verdict)| {
            let label = labels.get(number)?.get(&one.file)?.clone();
            Some((format!("{} channel {}", one.file, one.channel), label, verdict?))
        });
        NameTally::of(how, scored)
    };
    Ok(judged.into_iter().map(tally).collect())
}

fn at_speed(recording: &Recording, factor: f64) -> anyhow::Result<Option<Verdict>> {
    let (accel_m_s2, mut request) = recording.read()?;
    request.speed = Rpm::new(request.speed.get() * factor)?;
    Ok(Some(verdict(&accel_m_s2, &request)))
}

/// Returns the verdict against the past of a sound record of the point; `None` where there is no
/// such record.
fn against_past(
    recording: &Recording,
    all: &[(usize, Recording)],
) -> anyhow::Result<Option<Verdict>> {
    let files: Vec<&str> = all.iter().map(|(_, one)| one.file.as_str()).collect();
    let (accel_m_s2, request) = recording.read()?;
    let (judged, learnt) = match pasts::past_of(&recording.file, recording.channel, &files) {
        None => return Ok(None),
        Some(PastOf::OwnHalf) => {
            let (first, second) = accel_m_s2.split_at(accel_m_s2.len() / 2);
            (second.to_vec(), (first.to_vec(), request.rate))
        }
        Some(PastOf::Recording(file, channel)) => {
            let of_point =
                |(_, one): &&(usize, Recording)| one.file == file && one.channel == channel;
            let Some((_, sound)) = all.iter().find(of_point) else { return Ok(None) };
            let (sound_m_s2, sound_request) = sound.read()?;
            (accel_m_s2, (sound_m_s2, sound_request.rate))
        }
    };
    let (sound_m_s2, rate) = learnt;
    let past: Option<Past> = past_of(&sound_m_s2, rate, &request)
        .ok()
        .and_then(|(named, past)| past.filter(|_| named.dominant.is_none()));
    let against = past.as_ref().map_or(Against::Nothing, Against::Past);
    Ok(Some(verdict_against(&judged, &request, against)))
}

/// Applies `judge` to each recording, on all cores; results in their order.
fn in_parallel<T: Sync>(
    all: &[T],
    judge: impl Fn(&T) -> anyhow::Result<Option<Verdict>> + Sync,
) -> anyhow::Result<Vec<Option<Verdict>>> {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let each = all.len().div_ceil(cores).max(1);
    let judge = &judge;
    std::thread::scope(|scope| {
        let parts: Vec<_> = all
            .chunks(each)
            .map(|part| scope.spawn(move || part.iter().map(judge).collect::<Vec<_>>()))
            .collect();
        let mut verdicts = Vec::new();
        for part in parts {
            let part = part.join().map_err(|_| anyhow::anyhow!("a judgement panicked"))?;
            verdicts.extend(part.into_iter().collect::<anyhow::Result<Vec<_>>>()?);
        }
        anyhow::Ok(verdicts)
    })
    .context("a recording cannot be judged")
}

/// The tables, failures first.
pub fn markdown(tallies: &[NameTally]) -> String {
    let mut text = String::from("## Names by stated speed and by a past\n\n");
    // writing to a String cannot fail
    for tally in tallies {
        for failure in &tally.failures {
            let _infallible = writeln!(text, "- {}: {failure}", tally.judged);
        }
    }
    text += "\n| judged | right | wrong | not named | rolling elements right | sound, named | \
             sound, quiet | ≥ 0.9 right | damage seen | part among the two told | sound, called \
             damaged |\n\
             |---|---|---|---|---|---|---|---|---|---|---|\n";
    for one in tallies {
        let _infallible = writeln!(
            text,
            "| {} | {} | {} | {} | {} of {} | {} | {} | {} of {} | {} | {} | {} |",
            one.judged,
            one.right,
            one.wrong,
            one.not_named,
            one.balls_right,
            one.balls,
            one.falsely_named,
            one.quiet,
            one.confident.1,
            one.confident.0,
            one.seen.0,
            one.seen.1,
            one.called_damaged
        );
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Issue 35, point 1, on ten records of one rig; `--only speeds` has all.
    #[test]
    fn a_speed_three_percent_high_names_nothing_wrong_in_mfpt() {
        let test = "a_speed_three_percent_high_names_nothing_wrong_in_mfpt";
        let Some(data) = pdm_harness::data_dir(test) else { return };
        let listed = recordings::list(&data).expect("the manifest");
        let mfpt: Vec<_> = listed.into_iter().filter(|one| one.file.starts_with("mfpt/")).collect();
        let labels = labels::read_labels(&data).expect("labels");
        let verdicts = in_parallel(&mfpt, |one| at_speed(one, 1.03)).expect("judged");
        let scored = mfpt.iter().zip(verdicts).map(|(one, verdict)| {
            (one.file.clone(), labels[&one.file].clone(), verdict.expect("judged"))
        });
        let tally = NameTally::of("× 1.03".to_owned(), scored);
        assert_eq!((tally.wrong, tally.falsely_named), (0, 0), "{tally:?}");
        assert!(tally.right >= 5, "{tally:?}");
    }
}
