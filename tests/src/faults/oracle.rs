//! The oracle compares the promises with the results. It does no I/O.
//!
//! The expected windows come from the configuration, the commits from the witness. The
//! notifications that staff must get are computed from the agent's judgements by the rules of the
//! policy, not by its code.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Debug;

use sha2::{Digest as _, Sha256};

mod staff;

use super::listener::Heard;
use super::mail::{self, Mailed};
use super::receiver::Posted;
use super::store::Kept;
use super::witness::Seen;

/// SHA-256 of a payload as it was committed: `replayed` and `delayed_s`, which a late delivery sets
/// in the sent copy, are reset first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Digest([u8; 32]);

const MARK: &str = "\"replayed\":";
const PROMPT: &str = "\"replayed\":false,\"delayed_s\":0.0";

impl Digest {
    /// The digest of a payload.
    pub fn of(payload: &[u8]) -> Self {
        let mut sha = Sha256::new();
        let marked = std::str::from_utf8(payload).ok().and_then(|text| {
            let at = text.find(MARK)?;
            // the value of `delayed_s` ends at the next comma but one
            let end = text[at..].match_indices(',').nth(1)?.0 + at;
            Some((at, end))
        });
        match marked {
            Some((at, end)) => {
                sha.update(&payload[..at]);
                sha.update(PROMPT);
                sha.update(&payload[end..]);
            }
            None => sha.update(payload),
        }
        Self(sha.finalize().into())
    }
}

/// The windows that the sources deliver.
#[derive(Debug, Clone)]
pub struct Windows {
    /// Each gateway with its bearings.
    pub gateways: Vec<(String, Vec<String>)>,
    /// Number of snapshots of each bearing.
    pub snapshots: u64,
    /// Time of the first snapshot, ms since 1970.
    pub started_at_ms: i64,
    /// Interval between snapshots, ms.
    pub period_ms: i64,
}

impl Windows {
    /// Number of windows.
    pub fn count(&self) -> u64 {
        let bearings: usize = self.gateways.iter().map(|(_, bearings)| bearings.len()).sum();
        bearings as u64 * self.snapshots
    }

    fn all(&self) -> BTreeSet<(&str, &str, i64)> {
        let times =
            || (0..self.snapshots).map(|n| self.started_at_ms + n.cast_signed() * self.period_ms);
        self.gateways
            .iter()
            .flat_map(|(gateway, bearings)| {
                bearings.iter().map(move |b| (gateway.as_str(), b.as_str()))
            })
            .flat_map(|(gateway, bearing)| times().map(move |at| (gateway, bearing, at)))
            .collect()
    }
}

/// All observations of a run.
#[derive(Debug)]
pub struct Evidence {
    /// The windows to measure.
    pub windows: Windows,
    /// The commits of the edges.
    pub seen: Seen,
    /// The contents of the agent's store.
    pub kept: Kept,
    /// The notifications by web hook.
    pub posted: Posted,
    /// The notifications by MQTT.
    pub heard: Heard,
    /// The notifications by e-mail; `None` without a mail server.
    pub mailed: Option<Mailed>,
    /// Rows that are still in the spools.
    pub spooled: i64,
    /// Processes killed, by name.
    pub kills: BTreeMap<String, usize>,
    /// Number of restarts of the database server by its operator.
    pub restarts: usize,
    /// Programs that ended by themselves for an allowed reason (full disk, missing database), with
    /// exit codes.
    pub gave_up: Vec<String>,
    /// Events that are never allowed: panics, and exits that are bugs.
    pub mishaps: Vec<String>,
}

impl Evidence {
    /// Notifications that were written but did not arrive by MQTT.
    pub fn unheard(&self) -> Vec<uuid::Uuid> {
        let written = self.kept.notifications.iter().map(|one| one.notification_id);
        written.filter(|id| !self.heard.taken.contains_key(id)).collect()
    }
}

/// The result of the oracle. A run is good if every list of [`Verdict::faults`] is empty.
#[derive(Debug, Clone, Default)]
pub struct Verdict {
    /// Windows without an event, and commits that the agent does not have.
    pub lost: Vec<String>,
    /// Repeated windows, identities and sequence numbers; events with two judgements.
    pub duplicated: Vec<String>,
    /// Missing sequence numbers.
    pub gaps: Vec<String>,
    /// Events whose bytes differ from those that were committed.
    pub altered: Vec<String>,
    /// Events without a judgement.
    pub unjudged: Vec<String>,
    /// Changes of risk without a notification, and notifications that were not received.
    pub untold: Vec<String>,
    /// Notifications that were made or received twice, or without a cause.
    pub told_twice: Vec<String>,
    /// All other faults.
    pub mishaps: Vec<String>,
}

impl Verdict {
    /// Each kind of fault with its findings.
    pub fn faults(&self) -> [(&'static str, &[String]); 8] {
        [
            ("lost", &self.lost),
            ("duplicated", &self.duplicated),
            ("gaps", &self.gaps),
            ("altered", &self.altered),
            ("unjudged", &self.unjudged),
            ("notifications lost", &self.untold),
            ("notifications twice", &self.told_twice),
            ("mishaps", &self.mishaps),
        ]
    }

    /// Whether there is no fault.
    pub fn is_well(&self) -> bool {
        self.faults().iter().all(|(_, found)| found.is_empty())
    }
}

/// Compares the evidence with the promises; `healed` has the results that were still missing at the
/// end.
pub fn judge(evidence: &Evidence, healed: Result<(), String>) -> Verdict {
    let mut verdict = Verdict { mishaps: evidence.mishaps.clone(), ..Verdict::default() };
    if let Err(left) = healed {
        verdict.mishaps.push(format!("not healed: {left}"));
    }
    if evidence.spooled != 0 {
        verdict.mishaps.push(format!("{} rows are left in the spools", evidence.spooled));
    }
    for letter in &evidence.kept.dead_letters {
        verdict.mishaps.push(format!("refused: {letter}"));
    }
    windows(evidence, &mut verdict);
    sequences(evidence, &mut verdict);
    witnessed(evidence, &mut verdict);
    staff::judgements(&evidence.kept, &mut verdict);
    staff::due(&evidence.kept, &mut verdict);
    staff::received(&evidence.kept, &evidence.posted, &mut verdict);
    staff::check_heard(evidence, &mut verdict);
    if let Some(mailed) = &evidence.mailed {
        mail::judge(mailed, &evidence.kept.mails_due, &mut verdict);
    }
    verdict
}

fn windows(evidence: &Evidence, verdict: &mut Verdict) {
    let mut wanted = evidence.windows.all();
    let mut ids = BTreeSet::new();
    for event in &evidence.kept.events {
        let window = (event.gateway.as_str(), event.bearing.as_str(), event.measured_at_ms);
        if !wanted.remove(&window) {
            verdict.duplicated.push(format!("window {window:?}, or one that no source has"));
        }
        if !ids.insert(&event.event_id) {
            verdict.duplicated.push(format!("event {:02x?}", event.event_id));
        }
    }
    verdict.lost.extend(wanted.iter().map(|window| format!("window {window:?}")));
}

fn sequences(evidence: &Evidence, verdict: &mut Verdict) {
    for (gateway, _) in &evidence.windows.gateways {
        let of_gateway = evidence.kept.events.iter().filter(|event| event.gateway == *gateway);
        let mut numbers: Vec<i64> = of_gateway.map(|event| event.sequence).collect();
        numbers.sort_unstable();
        let mut next = 1;
        for number in numbers {
            if number < next {
                verdict.duplicated.push(format!("number {number} of {gateway}"));
            } else if number > next {
                verdict.gaps.push(format!("{gateway}: {next} to {}", number - 1));
            }
            next = number + 1;
        }
    }
}

fn witnessed(evidence: &Evidence, verdict: &mut Verdict) {
    let stored: BTreeMap<(&str, i64), _> = evidence
        .kept
        .events
        .iter()
        .map(|event| ((event.gateway.as_str(), event.sequence), event))
        .collect();
    for ((gateway, sequence), row) in &evidence.seen.rows {
        let gateway = evidence.windows.gateways[*gateway].0.as_str();
        match stored.get(&(gateway, *sequence)) {
            None => verdict.lost.push(format!("commit {sequence} of {gateway}")),
            Some(event) if event.event_id != row.event_id => {
                verdict
                    .lost
                    .push(format!("commit {sequence} of {gateway}: another event is there"));
            }
            Some(event) if event.digest != row.digest => {
                verdict.altered.push(format!("commit {sequence} of {gateway}"));
            }
            Some(_) => {}
        }
    }
}

#[cfg(test)]
mod tests;
