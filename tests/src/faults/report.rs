//! The result of a run as Markdown.

use std::fmt;
use std::time::Duration;

use super::Options;
use super::oracle::{Evidence, Verdict};
use super::plan::Plan;

/// Most findings of each kind that are printed.
const SHOWN: usize = 10;

/// The figures and the faults of a run.
#[derive(Debug)]
pub struct Report {
    rows: Vec<(&'static str, String)>,
    verdict: Verdict,
    seed: u64,
}

impl Report {
    pub(super) fn new(
        options: &Options,
        plan: &Plan,
        evidence: &Evidence,
        verdict: Verdict,
        took: Duration,
    ) -> Self {
        let total: usize = evidence.kills.values().sum();
        let each: Vec<String> =
            evidence.kills.iter().map(|(name, count)| format!("{name} {count}")).collect();
        let witnessed = evidence.seen.rows.len();
        let posts = evidence.posted.taken.len() as u64 + evidence.posted.repeated;
        let rows = vec![
            ("store", options.store.to_string()),
            ("seed", options.seed.to_string()),
            ("kills", format!("{total} ({})", each.join(", "))),
            ("restarts of the database", evidence.restarts.to_string()),
            ("steps", plan.steps.len().to_string()),
            ("ended by themselves, started again", evidence.gave_up.len().to_string()),
            ("windows", evidence.windows.count().to_string()),
            ("events stored", evidence.kept.events.len().to_string()),
            ("commits witnessed", witnessed.to_string()),
            ("notifications", evidence.kept.notifications.len().to_string()),
            ("posts, repetitions included", posts.to_string()),
            ("by MQTT, repetitions included", evidence.heard.messages.to_string()),
            ("of these forgotten by a killed broker", evidence.unheard().len().to_string()),
            ("mails, repetitions included", mails(evidence)),
            ("seconds", took.as_secs().to_string()),
        ];
        Self { rows, verdict, seed: options.seed }
    }

    /// The result of the oracle.
    pub const fn verdict(&self) -> &Verdict {
        &self.verdict
    }
}

fn mails(evidence: &Evidence) -> String {
    evidence.mailed.as_ref().map_or_else(
        || "no mail server".to_owned(),
        |mailed| {
            let each: usize = mailed.keys.values().sum();
            format!("{each}, of them {} again", each - mailed.keys.len())
        },
    )
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "| faults | |\n|---|---|")?;
        for (name, value) in &self.rows {
            writeln!(f, "| {name} | {value} |")?;
        }
        for (name, found) in self.verdict.faults() {
            writeln!(f, "| **{name}** | **{}** |", found.len())?;
        }
        for (name, found) in self.verdict.faults() {
            for one in found.iter().take(SHOWN) {
                writeln!(f, "- {name}: {one}")?;
            }
        }
        if !self.verdict.is_well() {
            writeln!(f, "\nThe same schedule again: --seed {}", self.seed)?;
        }
        Ok(())
    }
}
