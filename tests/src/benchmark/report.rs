//! The diagnosis part of the benchmark's report: Markdown for people, JSON for programs.

use std::collections::BTreeMap;
use std::fmt::{self, Write as _};

use serde::Serialize;

use super::diagnosis::{DiagnosisOutcome, Scored};

/// Counts of one group of records.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Tally {
    /// Records with the damaged part named.
    pub right: usize,
    /// Records with another part named.
    pub wrong: usize,
    /// Records of damaged bearings without a name.
    pub not_sure: usize,
    /// Records of sound bearings without a name.
    pub quiet: usize,
    /// Records of sound bearings with a name.
    pub falsely_named: usize,
    /// Records of damaged bearings that are called damaged, with a name or without.
    pub seen: usize,
    /// Records among these whose damaged part is one of the two that are told.
    pub among_two: usize,
    /// Records of sound bearings that are called damaged, with a name or without.
    pub called_damaged: usize,
}

/// One row of the calibration table.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CalibrationBin {
    /// Lower end of the confidence, included.
    pub from: f64,
    /// Upper end of the confidence, excluded.
    pub below: f64,
    /// Number of names with a confidence in the bin.
    pub names: usize,
    /// Number of right ones among these.
    pub right: usize,
    /// Mean confidence of these.
    pub mean_confidence: f64,
}

/// The part of the report on diagnosis.
#[derive(Debug, Serialize)]
pub struct DiagnosisReport {
    /// Wrong names first, then false ones, then "not sure" on diagnosable records.
    pub failures: Vec<Scored>,
    /// Counts by group.
    pub groups: BTreeMap<String, Tally>,
    /// Calibration table of all names.
    pub calibration: Vec<CalibrationBin>,
}

const BIN_EDGES: [f64; 5] = [0.0, 0.7, 0.8, 0.9, 1.0 + 1e-9];

impl DiagnosisReport {
    /// Sums up scored records.
    pub fn new(scored: &[Scored]) -> Self {
        let mut groups: BTreeMap<String, Tally> = BTreeMap::new();
        for record in scored {
            let tally = groups.entry(record.group.clone()).or_default();
            match record.outcome {
                DiagnosisOutcome::Right => tally.right += 1,
                DiagnosisOutcome::Wrong => tally.wrong += 1,
                DiagnosisOutcome::FalselyNamed => tally.falsely_named += 1,
                DiagnosisOutcome::NotSure => tally.not_sure += 1,
                DiagnosisOutcome::Quiet => tally.quiet += 1,
            }
            if let Some(parts) = record.damaged {
                tally.seen += usize::from(record.truth.is_some());
                tally.among_two += usize::from(record.truth.is_some_and(|t| parts.contains(&t)));
                tally.called_damaged += usize::from(record.truth.is_none());
            }
        }
        let mut failures: Vec<Scored> =
            scored.iter().filter(|record| rank(record) < 4).cloned().collect();
        failures.sort_by_key(rank);
        Self { failures, groups, calibration: calibration(scored) }
    }
}

fn rank(record: &Scored) -> u8 {
    match record.outcome {
        DiagnosisOutcome::Wrong => 0,
        DiagnosisOutcome::FalselyNamed => 1,
        DiagnosisOutcome::Quiet if record.damaged.is_some() => 2,
        DiagnosisOutcome::NotSure if !record.is_undiagnosable && !record.is_simulated => 3,
        DiagnosisOutcome::NotSure | DiagnosisOutcome::Right | DiagnosisOutcome::Quiet => 4,
    }
}

fn calibration(scored: &[Scored]) -> Vec<CalibrationBin> {
    BIN_EDGES
        .windows(2)
        .map(|edges| {
            let (from, below) = (edges[0], edges[1]);
            let inside: Vec<&Scored> = scored
                .iter()
                .filter(|r| r.named.is_some() && r.confidence >= from && r.confidence < below)
                .collect();
            let right = inside.iter().filter(|r| r.outcome == DiagnosisOutcome::Right).count();
            let sum: f64 = inside.iter().map(|r| r.confidence).sum();
            let names = inside.len();
            CalibrationBin { from, below, names, right, mean_confidence: sum / names.max(1) as f64 }
        })
        .filter(|bin| bin.names > 0)
        .collect()
}

impl fmt::Display for DiagnosisReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("## Diagnosis\n\n### Failures\n\n")?;
        if self.failures.is_empty() {
            f.write_str("None.\n")?;
        }
        for record in &self.failures {
            writeln!(f, "{}", failure(record))?;
        }
        f.write_str("\n### By data set\n\n| data set | right | wrong | not sure | ")?;
        f.write_str("sound, no name | sound, falsely named |\n|---|--:|--:|--:|--:|--:|\n")?;
        for (group, t) in &self.groups {
            let Tally { right, wrong, not_sure, quiet, falsely_named, .. } = t;
            writeln!(
                f,
                "| {group} | {right} | {wrong} | {not_sure} | {quiet} | {falsely_named} |"
            )?;
        }
        f.write_str("\n### Damage seen, with a name or without\n\n| data set | damaged | seen | ")?;
        f.write_str("true part among the two told | sound | sound, called damaged |\n")?;
        f.write_str("|---|--:|--:|--:|--:|--:|\n")?;
        for (group, t) in &self.groups {
            let (damaged, sound) = (t.right + t.wrong + t.not_sure, t.quiet + t.falsely_named);
            let Tally { seen, among_two, called_damaged, .. } = t;
            writeln!(
                f,
                "| {group} | {damaged} | {seen} | {among_two} | {sound} | {called_damaged} |"
            )?;
        }
        f.write_str("\n### Calibration of names\n\n| confidence | names | right | share right | ")?;
        f.write_str("mean confidence |\n|---|--:|--:|--:|--:|\n")?;
        for bin in &self.calibration {
            let share = bin.right as f64 / bin.names as f64;
            let (from, below) = (bin.from, bin.below.min(1.0));
            let (names, right, mean) = (bin.names, bin.right, bin.mean_confidence);
            writeln!(f, "| {from:.2}–{below:.2} | {names} | {right} | {share:.3} | {mean:.3} |")?;
        }
        Ok(())
    }
}

fn failure(record: &Scored) -> String {
    let what = match record.outcome {
        DiagnosisOutcome::Wrong => "WRONG",
        DiagnosisOutcome::FalselyNamed => "FALSELY NAMED",
        DiagnosisOutcome::Quiet => "SOUND, CALLED DAMAGED",
        DiagnosisOutcome::NotSure | DiagnosisOutcome::Right => "not sure",
    };
    let mut line = format!("- {what}: {} ({})", record.record, record.group);
    let truth = record.truth.map_or("sound", |t| t.as_str());
    let named = record.named.map_or("no name", |n| n.as_str());
    // Writing to a string cannot fail.
    let _ = write!(line, ": {truth} → {named}, confidence {:.2}", record.confidence);
    if let Some([first, second]) = record.damaged.filter(|_| record.named.is_none()) {
        let _ = write!(line, "; damaged, most likely {first}, else {second}");
    }
    if let Some(why) = &record.undetermined {
        let _ = write!(line, "; {why}");
    }
    line
}
