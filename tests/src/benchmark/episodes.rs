//! The messages that staff would get of recorded runs to failure: the events of the real `pdm-edge
//! replay` through the expert, the episodes and the policy of telling.
//!
//! Nobody acknowledges, so repetitions count.

use std::fmt::Write as _;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context as _, ensure};
use pdm_agent::preview::Preview;
use pdm_agent::settings::NotifySettings;
use pdm_expert::rules::Rules;
use pdm_shared::delivery::NotificationReason;
use pdm_shared::event::Event;
use pdm_shared::risk::RiskLevel;
use serde::Serialize;

use super::runs::{FEMTO_RUNS, FirstCritical, femto_level, hold_critical};

/// The messages that staff would get of a run.
#[derive(Debug, Clone, Serialize)]
pub struct ToldRun {
    /// The run.
    pub name: String,
    /// Events of its channels.
    pub events: usize,
    /// The worst risk.
    pub worst: RiskLevel,
    /// Episodes that began.
    pub episodes: usize,
    /// Messages, repetitions among them.
    pub messages: usize,
    /// The most times that one level was raised.
    pub activations: usize,
    /// The first Critical, held to the signal in hindsight.
    pub critical: Option<FirstCritical>,
    /// Titles, in their order.
    pub titles: Vec<String>,
}

/// Plays the FEMTO runs that are in `folder` with the program `edge`.
///
/// # Errors
/// The program cannot be started, or its events cannot be read.
pub fn femto(folder: &Path, edge: &Path) -> anyhow::Result<Vec<ToldRun>> {
    let mut runs = Vec::new();
    for (name, rpm, _) in FEMTO_RUNS {
        let path = folder.join(format!("{name}_acc.npy.gz"));
        if path.exists() {
            runs.push(replayed(name, &path, rpm, edge).with_context(|| name.to_owned())?);
        }
    }
    Ok(runs)
}

fn replayed(name: &str, path: &Path, rpm: f64, edge: &Path) -> anyhow::Result<ToldRun> {
    let mut child = Command::new(edge)
        .arg("replay")
        .arg(path)
        .args(["--period", "10", "--scale", "0.001", "--rate", "25600", "--jsonl"])
        .args(["--rpm", &rpm.to_string(), "--orders", "5.611,7.389,3.589,0.4316"])
        .stdout(Stdio::piped())
        .spawn()
        .with_context(|| edge.display().to_string())?;
    let output = child.stdout.take().context("the program has an output")?;
    let mut preview = Preview::new(NotifySettings::default(), Rules::default());
    let (mut events, mut worst) = (0, RiskLevel::Normal);
    let (level, period_s) = femto_level(path)?;
    let mut critical = vec![false; level.len()];
    let mut first_ms = None;
    for line in BufReader::new(output).lines() {
        let event: Event = serde_json::from_str(&line?)?;
        let risk = preview.play(&event);
        let at_ms = event.measured_at.unix_ms();
        let since_s = (at_ms - *first_ms.get_or_insert(at_ms)) as f64 / 1000.0;
        if let Some(told) = critical.get_mut((since_s / period_s).round() as usize) {
            *told |= risk == RiskLevel::Critical;
        }
        worst = worst.max(risk);
        events += 1;
    }
    let ended = child.wait()?;
    ensure!(ended.success(), "pdm-edge replay ended with {ended}");
    let raised = |level: RiskLevel| {
        let told = preview.told().iter();
        told.filter(|one| one.reason == NotificationReason::Raised && one.risk_level == level)
            .count()
    };
    Ok(ToldRun {
        name: name.to_owned(),
        events,
        worst,
        episodes: preview.episodes(),
        messages: preview.told().len(),
        activations: RiskLevel::ALL.into_iter().map(raised).max().unwrap_or(0),
        critical: hold_critical(&level, &critical),
        titles: preview.told().iter().map(|told| told.title.en.clone()).collect(),
    })
}

/// The runs as Markdown.
pub fn markdown(runs: &[ToldRun]) -> String {
    let mut text = String::from(
        "## What staff is told of runs to failure\n\n\
         A Critical is too early before half of the time from onset to end, unless the level is \
         twice the \
         settled one.\n\n\
         | run | events | worst | episodes | messages | most of one level | first Critical | \
         snapshots with one too early |\n\
         |---|---|---|---|---|---|---|---|\n",
    );
    for run in runs {
        let (first, too_early) = match &run.critical {
            None => ("none".to_owned(), 0),
            Some(critical) => {
                let FirstCritical { snapshot, share, level, too_early } = critical;
                let share = 100.0 * share;
                (format!("snapshot {snapshot}, at {share:.0} %, level {level:.2}"), *too_early)
            }
        };
        // writing to a string cannot fail
        let _ = writeln!(
            text,
            "| {} | {} | {} | {} | {} | {} | {first} | {too_early} |",
            run.name, run.events, run.worst, run.episodes, run.messages, run.activations
        );
    }
    text
}

/// The program `pdm-edge` beside this one.
///
/// # Errors
/// It was not built.
pub fn edge_beside() -> anyhow::Result<PathBuf> {
    let own = std::env::current_exe()?;
    let edge = own.with_file_name("pdm-edge");
    ensure!(edge.exists(), "{} is missing: cargo build -p pdm-edge --bins", edge.display());
    Ok(edge)
}
