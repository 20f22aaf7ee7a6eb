//! The oracle: what was promised against what is there. No I/O.
//!
//! It knows the windows from the configuration, the commits from the witness, and computes from the
//! agent's judgements what staff had to be told, by the policy's own words and not by its code.

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
/// in the copy that is sent, are put back.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Digest([u8; 32]);

const MARK: &str = "\"replayed\":";
const PROMPT: &str = "\"replayed\":false,\"delayed_s\":0.0";

impl Digest {
    /// Of a payload's bytes.
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
    /// Of each bearing.
    pub snapshots: u64,
    /// When the first is taken, ms since 1970.
    pub started_at_ms: i64,
    /// From one to the next, ms.
    pub period_ms: i64,
}

impl Windows {
    /// How many there are.
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

/// Everything that was seen of a run.
#[derive(Debug)]
pub struct Evidence {
    /// What had to be measured.
    pub windows: Windows,
    /// What the edges committed.
    pub seen: Seen,
    /// What the agent keeps.
    pub kept: Kept,
    /// What staff got by web hook.
    pub posted: Posted,
    /// What staff got by MQTT.
    pub heard: Heard,
    /// What staff got by e-mail; `None` if there is no mail server.
    pub mailed: Option<Mailed>,
    /// Rows that the spools still hold.
    pub spooled: i64,
    /// Processes killed, by name.
    pub kills: BTreeMap<String, usize>,
    /// How often the database server was restarted by its operator.
    pub restarts: usize,
    /// What ended by itself and may (its disk was full, its database away): with its exit code.
    pub gave_up: Vec<String>,
    /// What must not happen, whatever the oracle finds: panics, exits that are bugs.
    pub mishaps: Vec<String>,
}

impl Evidence {
    /// Notifications that were written and not heard by MQTT.
    pub fn unheard(&self) -> Vec<uuid::Uuid> {
        let written = self.kept.notifications.iter().map(|one| one.notification_id);
        written.filter(|id| !self.heard.taken.contains_key(id)).collect()
    }
}

/// What the oracle found. A run is well if every list of [`Verdict::faults`] is empty.
#[derive(Debug, Clone, Default)]
pub struct Verdict {
    /// Windows without an event, and commits that the agent does not have.
    pub lost: Vec<String>,
    /// Windows, identities, sequence numbers that are there twice; judgements of one event.
    pub duplicated: Vec<String>,
    /// Numbers that are missing in a sequence.
    pub gaps: Vec<String>,
    /// Events whose bytes are not those that were committed.
    pub altered: Vec<String>,
    /// Events without a judgement.
    pub unjudged: Vec<String>,
    /// Changes of risk that nobody was told, and notifications that were not received.
    pub untold: Vec<String>,
    /// Notifications that were made or received twice, or that nothing asked for.
    pub told_twice: Vec<String>,
    /// Everything else that must not be.
    pub mishaps: Vec<String>,
}

impl Verdict {
    /// Each kind with what was found.
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

    /// Nothing is wrong.
    pub fn is_well(&self) -> bool {
        self.faults().iter().all(|(_, found)| found.is_empty())
    }
}

/// Compares; `healed` says what was left when patience ended.
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
    staff::heard(evidence, &mut verdict);
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
