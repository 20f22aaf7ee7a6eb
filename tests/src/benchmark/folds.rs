//! Names on what the rule has not seen: one rig, or one bearing, left out at a time.
//!
//! Figures of every record are measured once; for each fold the rule is fitted without what it is
//! then asked about. Invariant: no weight, threshold or calibration has seen the
//! record that it judges.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};

use anyhow::Context;
use pdm_dsp::diagnose::rule::Rule;
use pdm_dsp::diagnose::{Against, weigh_against};
use pdm_dsp::{Evidence, Part, Request};
use pdm_edge::quality::{QualityContext, assess};

use super::diagnosis::{DiagnosisOutcome, Scored};
use super::fit::{Sample, fit};
use super::labels::{self, Label};
use super::recordings::{self, Recording};
use super::{adversary, simulated};

pub mod asked;
pub mod windows;

/// Seeds of the generated records that every fit sees beside the recordings: no seed of the
/// benchmark.
const FIRST_SEED: u64 = 20_000;
/// Sound machines that look damaged: sixteen of each kind.
const ADVERSARIES: u64 = 304;
/// Simulated records.
const SIMULATED: u64 = 300;
/// Parts into which the generated records are split, each a rig of its own.
const PARTS: u64 = 4;

/// One recording, measured.
#[derive(Debug, Clone)]
pub struct Measured {
    /// File and channel.
    pub name: String,
    /// The truth.
    pub label: Label,
    /// The sample that the rule weighs.
    pub sample: Sample,
}

/// The recordings that are left out at a time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Fold {
    /// All recordings of one rig.
    Rig,
    /// All recordings of one bearing.
    Bearing,
}

impl Fold {
    /// Returns the name of the part that is left out, for a person.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Rig => "rig",
            Self::Bearing => "bearing",
        }
    }

    fn key(self, label: &Label) -> &str {
        match self {
            Self::Rig => &label.rig,
            Self::Bearing => &label.bearing,
        }
    }
}

/// Measures every recording of the folders.
///
/// # Errors
/// A folder or one of its files cannot be read.
pub fn measured(folders: &[PathBuf]) -> anyhow::Result<Vec<Measured>> {
    let listed = listed(folders)?;
    let evidence = in_parallel(listed.len(), |i| {
        let (accel_m_s2, request) = listed[i].0.read()?;
        Ok(figures(&accel_m_s2, &request))
    })?;
    let one = |((recording, label), evidence): ((Recording, Label), Evidence)| {
        let truth = label.truth.and_then(Part::of);
        let sample = Sample { evidence, truth, rig: label.rig.clone() };
        Measured {
            name: format!("{} channel {}", recording.file, recording.channel),
            label,
            sample,
        }
    };
    Ok(listed.into_iter().zip(evidence).map(one).collect())
}

/// Every recording of the folders with its truth.
fn listed(folders: &[PathBuf]) -> anyhow::Result<Vec<(Recording, Label)>> {
    let mut all = Vec::new();
    for folder in folders {
        let labels = labels::read_labels(folder)?;
        for recording in recordings::list(folder)? {
            let file = &recording.file;
            let label = labels.get(file).cloned().with_context(|| format!("no label: {file}"))?;
            all.push((recording, label));
        }
    }
    Ok(all)
}

/// Draws the generated records that every fit sees. A damaged cage is not among the rule's parts,
/// so its records are left out.
///
/// # Errors
/// A drawn value is refused, which is a bug.
pub fn generated() -> anyhow::Result<Vec<Sample>> {
    generated_by(figures)
}

/// The generated records by these figures of each.
fn generated_by(
    figures: impl Fn(&[f64], &Request) -> Evidence + Sync,
) -> anyhow::Result<Vec<Sample>> {
    let mut samples = in_parallel(ADVERSARIES as usize, |i| {
        let seed = FIRST_SEED + i as u64;
        let record = adversary::record(seed)?;
        let evidence = figures(&record.accel_m_s2, &record.request);
        Ok(Sample { evidence, truth: None, rig: part_of(seed, "adversary") })
    })?;
    let simulated = in_parallel(SIMULATED as usize, |i| {
        let seed = FIRST_SEED + i as u64;
        let record = simulated::record(seed)?;
        let truth = record.truth.and_then(Part::of);
        let is_asked = truth.is_some() == record.truth.is_some();
        let evidence = figures(&record.accel_m_s2, &record.request);
        Ok(is_asked.then(|| Sample { evidence, truth, rig: part_of(seed, "simulated") }))
    })?;
    samples.extend(simulated.into_iter().flatten());
    Ok(samples)
}

/// The rig of a generated record: its kind, in parts of seeds.
fn part_of(seed: u64, kind: &str) -> String {
    format!("{kind} {}", seed / 19 % PARTS)
}

/// Returns the evidence that the rule weighs of a record; the default if its signal is not fit to
/// be judged.
fn figures(accel_m_s2: &[f64], request: &Request) -> Evidence {
    figures_against(accel_m_s2, request, Against::Nothing)
}

/// Returns the same for a record that is compared with a past.
fn figures_against(accel_m_s2: &[f64], request: &Request, against: Against<'_>) -> Evidence {
    let context =
        QualityContext { speed: Some(request.speed), ..QualityContext::new(request.rate) };
    if !assess(accel_m_s2, &context).signal.valid {
        return Evidence::default();
    }
    weigh_against(accel_m_s2, request, against).map(|(evidence, _)| evidence).unwrap_or_default()
}

/// Names every recording by a rule that was fitted without its rig or bearing.
pub fn judged(measured: &[Measured], generated: &[Sample], fold: Fold) -> Vec<Scored> {
    let keys: BTreeSet<&str> = measured.iter().map(|m| fold.key(&m.label)).collect();
    let mut scored: BTreeMap<usize, Scored> = BTreeMap::new();
    for key in keys {
        let is_out = |m: &&Measured| fold.key(&m.label) == key;
        let seen: Vec<&Sample> =
            measured.iter().filter(|m| !is_out(m)).map(|m| &m.sample).chain(generated).collect();
        let rule = fit(&seen);
        for (i, one) in measured.iter().enumerate().filter(|(_, m)| is_out(m)) {
            scored.insert(i, score(one, &rule));
        }
    }
    scored.into_values().chain(judged_generated(measured, generated)).collect()
}

/// The generated records by a rule that has seen recordings alone: one more rig.
fn judged_generated(measured: &[Measured], generated: &[Sample]) -> Vec<Scored> {
    let rule = fit(&measured.iter().map(|m| &m.sample).collect::<Vec<_>>());
    let one = |(i, sample): (usize, &Sample)| {
        let truth = sample.truth.map(Part::fault);
        let group = if truth.is_some() { "generated, damaged" } else { "generated, sound" };
        let label = Label::generated(group.to_owned(), truth);
        let name = format!("{} of the generated records, {}", i + 1, sample.rig);
        let one = Measured { name, label, sample: sample.clone() };
        Scored { is_simulated: true, ..score(&one, &rule) }
    };
    generated.iter().enumerate().map(one).collect()
}

fn score(one: &Measured, rule: &Rule) -> Scored {
    let (label, evidence) = (&one.label, &one.sample.evidence);
    let name = rule.name(evidence);
    let named = name.map(|(part, _)| part.fault());
    Scored {
        record: one.name.clone(),
        group: label.rig.clone(),
        truth: label.truth,
        named,
        confidence: name.map_or(0.0, |(_, confidence)| confidence),
        damaged: (named.map(|named| [named; 2]))
            .or_else(|| rule.damaged(evidence).map(|parts| parts.map(Part::fault))),
        undetermined: None,
        outcome: DiagnosisOutcome::of(label.truth, named),
        is_undiagnosable: label.is_undiagnosable,
        is_simulated: false,
    }
}

/// The results of `one` for 0…`count`, from as many threads as the machine has cores.
fn in_parallel<T: Send>(
    count: usize,
    one: impl Fn(usize) -> anyhow::Result<T> + Sync,
) -> anyhow::Result<Vec<T>> {
    let next = AtomicUsize::new(0);
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let work = || {
        let mut done = Vec::new();
        loop {
            let i = next.fetch_add(1, Ordering::Relaxed);
            if i >= count {
                return done;
            }
            done.push((i, one(i)));
        }
    };
    let mut results: Vec<(usize, anyhow::Result<T>)> = std::thread::scope(|scope| {
        let handles: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        handles.into_iter().flat_map(|handle| handle.join().expect("a worker panicked")).collect()
    });
    results.sort_by_key(|(i, _)| *i);
    results.into_iter().map(|(_, result)| result).collect()
}
