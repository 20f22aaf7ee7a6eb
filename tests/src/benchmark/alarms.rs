//! The alarms' constants, chosen on all runs but the one that they are judged on.
//!
//! A small grid around the shipped constants: from which multiple of its baseline a level counts,
//! how many windows of how many must lie beyond, and how long an alarm outlasts its evidence. Every
//! run is judged once by every choice, so the choice of a fold is a sum over the other runs. The
//! shipped constants are then judged on the same runs as another installation would have recorded
//! them.

use std::fmt::Write as _;
use std::path::PathBuf;

use pdm_edge::condition::{MonitorSettings, Rule};

use super::runs::{Measured, Variant, Verdict, femto_recorded};

mod ims;

use ims::{ImsTest, Leads};

/// A choice of the constants.
#[derive(Debug, Clone)]
struct Choice {
    name: String,
    settings: MonitorSettings,
}

/// The result of a run with a choice.
#[derive(Debug, Clone)]
enum Figures {
    Femto(Verdict),
    Ims(Leads),
}

/// Chooses the constants on every run but one, for each run, and tries the shipped ones on
/// variants.
///
/// # Errors
/// A recording or table exists but cannot be read.
pub fn report(data: &[PathBuf]) -> anyhow::Result<String> {
    let (mut runs, mut variants, mut tests) = (Vec::new(), Vec::new(), Vec::new());
    for folder in data {
        for (recorded, samples) in femto_recorded(&folder.join("femto"))? {
            let run = recorded.measure(&samples)?;
            for variant in Variant::ALL {
                variants.push(recorded.measure_as(variant, &samples, &run)?);
            }
            runs.push(run);
        }
        tests.extend(ims::tests(&folder.join("ims"))?);
    }
    let mut text = String::from("# Alarms\n\n");
    // writing to a string cannot fail
    let _ = write_folds(&mut text, &runs, &tests);
    let _ = write_variants(&mut text, &variants);
    Ok(text)
}

/// The choices, the shipped one first: where two are equally good the first is taken. One constant
/// differs at a time.
fn grid() -> Vec<Choice> {
    let shipped = MonitorSettings::default();
    let mut choices = vec![Choice { name: "as shipped".to_owned(), settings: shipped.clone() }];
    for level_ratio in [1.2, 1.4] {
        let settings = MonitorSettings { level_ratio, ..shipped.clone() };
        choices.push(Choice { name: format!("levels from {level_ratio} on"), settings });
    }
    for (name, share) in [("rules a third shorter", 2.0 / 3.0), ("rules half as long again", 1.5)] {
        let scaled = |n: u32| ((f64::from(n) * share).round() as u32).max(1);
        let longer = |rule: &Rule| Rule { k: scaled(rule.k), n: scaled(rule.n), ..*rule };
        let rules = shipped.rules.iter().map(longer).collect();
        let shape_rule = longer(&shipped.shape_rule);
        let settings = MonitorSettings { rules, shape_rule, ..shipped.clone() };
        choices.push(Choice { name: name.to_owned(), settings });
    }
    for clear_windows in [8, 30] {
        let settings = MonitorSettings { clear_windows, ..shipped.clone() };
        choices.push(Choice { name: format!("held for {clear_windows} windows"), settings });
    }
    choices
}

impl Figures {
    /// Returns the cost of a choice on a run. An end that nobody is told, an early alarm and a
    /// sound bearing that alarms weigh ten; a hundredth of the time alarmed without ground weighs
    /// one, as does a delay as long as the time that is left.
    fn cost(&self) -> f64 {
        match self {
            Self::Femto(verdict) => {
                10.0 * (verdict.early as f64 + f64::from(u8::from(!verdict.on_at_end)))
                    + 100.0 * verdict.groundless
                    + verdict.delay.unwrap_or(1.0)
            }
            Self::Ims(leads) => leads.cost(),
        }
    }
}

fn write_folds(text: &mut String, runs: &[Measured], tests: &[ImsTest]) -> std::fmt::Result {
    let choices = grid();
    let judged: Vec<Vec<Figures>> = choices
        .iter()
        .map(|choice| {
            let femto =
                runs.iter().map(|run| Figures::Femto(run.verdict(&run.judged(&choice.settings))));
            let ims = tests.iter().map(|test| Figures::Ims(test.leads(&choice.settings)));
            femto.chain(ims).collect()
        })
        .collect();
    let count = runs.len() + tests.len();
    let best = |left_out: Option<usize>| {
        let cost = |choice: &Vec<Figures>| -> f64 {
            let others = choice.iter().enumerate().filter(|(run, _)| Some(*run) != left_out);
            others.map(|(_, figures)| figures.cost()).sum()
        };
        // the first of the best
        let costs = judged.iter().map(cost).enumerate();
        costs.min_by(|a, b| a.1.total_cmp(&b.1)).unwrap_or((0, 0.0))
    };
    writeln!(
        text,
        "{} choices, one constant each beside the shipped ones: {}.\n",
        choices.len(),
        choices.iter().map(|choice| choice.name.as_str()).collect::<Vec<_>>().join("; ")
    )?;
    writeln!(text, "| run left out | chosen by the others | on it |\n|---|---|---|")?;
    for (run, chosen) in (0..count).map(|run| (run, best(Some(run)).0)) {
        writeln!(text, "| {} |", judged[chosen][run].row(&choices[chosen].name))?;
    }
    let (all, cost) = best(None);
    writeln!(text, "\nAll runs together choose: {} (cost {cost:.2})\n", choices[all].name)?;
    writeln!(text, "| choice | cost on all runs |\n|---|--:|")?;
    for (choice, figures) in choices.iter().zip(&judged) {
        let cost: f64 = figures.iter().map(Figures::cost).sum();
        writeln!(text, "| {} | {cost:.2} |", choice.name)?;
    }
    writeln!(text)
}

impl Figures {
    /// Name, choice and figures as cells of a table.
    fn row(&self, choice: &str) -> String {
        match self {
            Self::Femto(verdict) => format!("{} | {choice} | {}", verdict.run, told(verdict)),
            Self::Ims(leads) => format!("{} | {choice} | {leads}", leads.name),
        }
    }
}

/// The figures of a run in words.
fn told(verdict: &Verdict) -> String {
    let delay = verdict.delay.map_or("never".to_owned(), |delay| format!("{delay:.2}"));
    format!(
        "groundless {:.1} %, early {}, delay {delay}, at the end {}",
        100.0 * verdict.groundless,
        verdict.early,
        if verdict.on_at_end { "on" } else { "OFF" }
    )
}

/// The shipped constants on runs as another installation would have recorded them, failures first.
fn write_variants(text: &mut String, variants: &[Measured]) -> std::fmt::Result {
    let settings = MonitorSettings::default();
    let mut verdicts: Vec<Verdict> =
        variants.iter().map(|run| run.verdict(&run.judged(&settings))).collect();
    verdicts.sort_by_key(|verdict| !verdict.failed());
    writeln!(text, "The shipped constants on variants of the runs, failures first:\n")?;
    writeln!(text, "| run | snapshots | onset | alarms |  |\n|---|--:|--:|--:|---|")?;
    for verdict in &verdicts {
        let Verdict { run, windows, onset, alarms, .. } = verdict;
        writeln!(text, "| {run} | {windows} | {onset} | {alarms} | {} |", told(verdict))?;
    }
    let failed = verdicts.iter().filter(|verdict| verdict.failed()).count();
    writeln!(text, "\n{failed} of {} variants fail\n", verdicts.len())
}
