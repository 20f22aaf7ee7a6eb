//! The results of the runs as Markdown, failures first.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::score::{RulScore, ToldLife, by_bearing, phm_2012};
use super::{RunOutcome, Runs, Verdict, calibration};

impl Runs {
    /// The results as Markdown.
    pub fn markdown(&self) -> String {
        let mut text = String::from("## Runs to failure\n\n");
        // writing to a string cannot fail
        let _ = self.write(&mut text);
        text
    }

    fn write(&self, text: &mut String) -> std::fmt::Result {
        self.write_failures(text)?;
        write_verdicts(text, &self.verdicts)?;
        write_bearings(text, &self.real)?;
        writeln!(text, "By measuring point:\n")?;
        writeln!(text, "| run | windows | alarms | lead | told | covered | RUL asked |")?;
        writeln!(text, "|---|---|---|---|---|---|---|")?;
        for outcome in &self.real {
            write_row(text, outcome)?;
        }
        writeln!(text)?;
        calibration::write(text, &self.real)?;
        summary(text, "real", &self.real)?;
        summary(text, "simulated", &self.simulated)
    }

    fn write_failures(&self, text: &mut String) -> std::fmt::Result {
        for outcome in self.real.iter().chain(&self.simulated).filter(|outcome| outcome.failed()) {
            let missed = if outcome.fails && outcome.lead_h.is_none() { ", missed" } else { "" };
            writeln!(
                text,
                "- **{}**: {} cleared, {} before damage{missed}; alarms {:?} of {}",
                outcome.name,
                outcome.cleared(),
                outcome.false_alarms,
                outcome.alarms,
                outcome.windows
            )?;
        }
        writeln!(text)
    }
}

/// The alarms of each run against what its signal shows, failures first.
fn write_verdicts(text: &mut String, verdicts: &[Verdict]) -> std::fmt::Result {
    if verdicts.is_empty() {
        return Ok(());
    }
    writeln!(text, "Alarms against what the signal shows in hindsight:\n")?;
    writeln!(
        text,
        "| run | snapshots | onset | alarms | groundless | early | delay | at the end |"
    )?;
    writeln!(text, "|---|--:|--:|--:|--:|--:|--:|---|")?;
    let (failed, fine): (Vec<&Verdict>, Vec<&Verdict>) = verdicts.iter().partition(|v| v.failed());
    for verdict in failed.into_iter().chain(fine) {
        let delay = verdict.delay.map_or("-".to_owned(), |delay| format!("{delay:.2}"));
        let end = if verdict.on_at_end { "on" } else { "OFF" };
        writeln!(
            text,
            "| {} | {} | {} | {} | {:.1} % | {} | {delay} | {end} |",
            verdict.run,
            verdict.windows,
            verdict.onset,
            verdict.alarms,
            100.0 * verdict.groundless,
            verdict.early
        )?;
    }
    let mut delays: Vec<f64> = verdicts.iter().map(|v| v.delay.unwrap_or(f64::INFINITY)).collect();
    delays.sort_by(f64::total_cmp);
    let groundless: f64 = verdicts.iter().map(|verdict| verdict.groundless).sum();
    writeln!(
        text,
        "\ngroundless {:.2} % of the time before onset, {} early, median delay {:.2} of what is \
         left\n",
        100.0 * groundless / verdicts.len() as f64,
        verdicts.iter().map(|verdict| verdict.early).sum::<usize>(),
        delays[delays.len() / 2]
    )
}

/// The remaining life asked for of each bearing, by the point with the earliest lower bound.
fn write_bearings(text: &mut String, outcomes: &[RunOutcome]) -> std::fmt::Result {
    for (bearing, rul) in by_bearing(outcomes) {
        writeln!(text, "- {bearing}, remaining life asked: {}", asked(rul))?;
    }
    writeln!(text)
}

fn asked(rul: RulScore) -> String {
    let told = rul.told_h.map_or("unknown".to_owned(), |told| format!("{told:.3} h"));
    format!("{told} of {:.3} h: {:.2} (0.2 × age: {:.2})", rul.left_h, rul.score, rul.naive)
}

fn write_row(text: &mut String, outcome: &RunOutcome) -> std::fmt::Result {
    let lead = outcome.lead_h.map_or("-".to_owned(), |hours| format!("{hours:.2} h"));
    let asked = outcome.rul.map_or(String::new(), asked);
    writeln!(
        text,
        "| {} | {} | {:?} | {lead} | {} | {} | {asked} |",
        outcome.name, outcome.windows, outcome.alarms, outcome.told, outcome.covered
    )
}

fn summary(text: &mut String, name: &str, outcomes: &[RunOutcome]) -> std::fmt::Result {
    let count = |of: &dyn Fn(&RunOutcome) -> usize| outcomes.iter().map(of).sum::<usize>();
    let (told, covered) = (count(&|o| o.told), count(&|o| o.covered));
    writeln!(
        text,
        "{name}: {} runs, {} with an alarm at the end, {} cleared alarms, {} alarms before damage; \
         80 % intervals hold the truth in {covered} of {told} windows ({:.1} %)",
        outcomes.len(),
        count(&|o| usize::from(o.lead_h.is_some())),
        count(&RunOutcome::cleared),
        count(&|o| o.false_alarms),
        100.0 * covered as f64 / told.max(1) as f64
    )?;
    let asked: Vec<RulScore> = by_bearing(outcomes).into_values().collect();
    let part = |of: &dyn Fn(&RulScore) -> bool| -> Vec<RulScore> {
        asked.iter().copied().filter(|rul| of(rul)).collect()
    };
    let told = part(&|rul| rul.told_h.is_some());
    let damaged = part(&|rul| rul.damaged);
    for (which, scores) in [
        ("all asked (unknown = 0)", &asked),
        ("asked after damage had begun (unknown = 0)", &damaged),
        ("where told", &told),
    ] {
        if scores.is_empty() {
            continue;
        }
        let mean = |of: &dyn Fn(&RulScore) -> f64| {
            scores.iter().map(of).sum::<f64>() / scores.len() as f64
        };
        writeln!(
            text,
            "- PHM 2012 score by bearing, {which}: {} asked, {:.3}, \"0.2 × age\" {:.3}",
            scores.len(),
            mean(&|rul| rul.score),
            mean(&|rul| rul.naive)
        )?;
    }
    write_every_window(text, outcomes)?;
    writeln!(text)
}

/// The score over all windows that were told a life: one truncation a run says little.
fn write_every_window(text: &mut String, outcomes: &[RunOutcome]) -> std::fmt::Result {
    let mut bearings: BTreeMap<&str, Vec<ToldLife>> = BTreeMap::new();
    for outcome in outcomes.iter().filter(|outcome| !outcome.lives.is_empty()) {
        bearings.entry(&outcome.bearing).or_default().extend(&outcome.lives);
    }
    if bearings.is_empty() {
        return Ok(());
    }
    let mean = |of: &dyn Fn(&ToldLife) -> f64| {
        let one = |lives: &Vec<ToldLife>| lives.iter().map(of).sum::<f64>() / lives.len() as f64;
        bearings.values().map(one).sum::<f64>() / bearings.len() as f64
    };
    writeln!(
        text,
        "- PHM 2012 score of every window that is told a life, {} bearings of the same weight: \
         {:.3}, \"0.2 × age\" {:.3}",
        bearings.len(),
        mean(&|life| phm_2012(life.left_h, life.told_h[1])),
        mean(&|life| phm_2012(life.left_h, 0.2 * life.age_h))
    )
}
