//! Remembers which refusals have been told, so that a hostile gateway fills no log.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use pdm_expert::case::{Case, Memory};
use pdm_expert::rules::Rules;
use pdm_shared::event::Event;
use pdm_shared::id::{BearingKey, EventId, GatewayKey};
use pdm_shared::risk::RiskLevel;
use pdm_shared::time::Timestamp;
use pdm_store::{Incoming, Refusal, RefusalCause};
use tokio::time::Instant;

use super::log;

/// Refusals that are remembered, some 300 bytes each; then all are forgotten and told once more.
const REMEMBERED: usize = 4096;

/// Bearings of one gateway that are looked at; further ones are in the alarm of refused events
/// alone.
const LOOKED_AT: usize = 500;
/// Gateways whose refused bearings are looked at.
const GATEWAYS: usize = 100;
/// The shortest time between two messages about one gateway. Chosen: as for the alarm of refused
/// events.
const AGAIN: Duration = Duration::from_mins(5);

/// New bearings that are refused because their gateway has brought too many, judged by the rules
/// alone: a Critical among them is no less one.
#[derive(Debug, Default)]
pub(super) struct RefusedAlarms(BTreeMap<GatewayKey, OfGateway>);

#[derive(Debug, Default)]
struct OfGateway {
    memories: BTreeMap<BearingKey, Memory>,
    /// Critical and not told.
    waiting: BTreeSet<BearingKey>,
    told: BTreeSet<BearingKey>,
    told_at: Option<Instant>,
}

impl RefusedAlarms {
    /// Judges the refused events of a batch; the gateways whose Critical bearings staff is to hear
    /// of now.
    pub(super) fn note(
        &mut self,
        batch: &[Incoming],
        refusals: &[Refusal],
        rules: &Rules,
        (now, at): (Timestamp, Instant),
    ) -> Vec<(GatewayKey, Vec<BearingKey>)> {
        let events: BTreeMap<EventId, &Event> = batch.iter().filter_map(event_of).collect();
        for refusal in refusals.iter().filter(|one| one.cause == RefusalCause::NewBearing) {
            let Some(event) = events.get(&refusal.event_id) else { continue };
            if self.0.len() >= GATEWAYS && !self.0.contains_key(&refusal.gateway) {
                continue;
            }
            self.0.entry(refusal.gateway.clone()).or_default().judge(event, rules, now);
        }
        let due = self.0.iter_mut().filter_map(|(gateway, of)| {
            let is_soon = of.told_at.is_some_and(|told| at.duration_since(told) < AGAIN);
            if of.waiting.is_empty() || is_soon {
                return None;
            }
            of.told_at = Some(at);
            let waiting = std::mem::take(&mut of.waiting);
            of.told.extend(waiting.iter().cloned());
            Some((gateway.clone(), waiting.into_iter().collect()))
        });
        due.collect()
    }
}

fn event_of(incoming: &Incoming) -> Option<(EventId, &Event)> {
    match incoming {
        Incoming::Event { event, .. } => Some((event.event_id, event.as_ref())),
        Incoming::Status { .. }
        | Incoming::Ack { .. }
        | Incoming::Shelve { .. }
        | Incoming::FollowUp { .. }
        | Incoming::Refused(_) => None,
    }
}

impl OfGateway {
    fn judge(&mut self, event: &Event, rules: &Rules, now: Timestamp) {
        let key = event.key();
        if self.told.contains(&key)
            || (self.memories.len() >= LOOKED_AT && !self.memories.contains_key(&key))
        {
            return;
        }
        let memory = self.memories.entry(key.clone()).or_default();
        let judgement = pdm_expert::judge(&Case { event, memory, now }, rules);
        memory.recall(event, &judgement);
        if judgement.diagnosis.risk_level >= RiskLevel::Critical {
            self.waiting.insert(key);
        }
    }
}

/// The refusals that have been told since the start.
#[derive(Debug, Default)]
pub(super) struct ToldRefusals {
    events: BTreeSet<(RefusalCause, GatewayKey, BearingKey)>,
    /// Topics of other messages that were refused.
    topics: BTreeSet<String>,
}

impl ToldRefusals {
    /// Logs those that have not been told.
    pub(super) fn tell(&mut self, refusals: &[Refusal]) {
        for refusal in refusals {
            if self.events.len() >= REMEMBERED {
                self.events.clear();
            }
            let one = (refusal.cause, refusal.gateway.clone(), refusal.bearing.clone());
            if self.events.insert(one) {
                log::event_refused(refusal);
            }
        }
    }

    /// Logs refused messages that were to be no event, by their topic.
    pub(super) fn tell_others(&mut self, batch: &[Incoming]) {
        for message in batch {
            let Incoming::Refused(refused) = message else { continue };
            if refused.event_of.is_some() {
                continue;
            }
            if self.topics.len() >= REMEMBERED {
                self.topics.clear();
            }
            if self.topics.insert(refused.letter.topic.clone()) {
                log::message_refused(&refused.letter);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// R-AGENT-10: in the first hour of a plant 120 of 220 bearings were refused, all Critical, and
    /// nobody heard.
    #[test]
    fn a_critical_among_refused_new_bearings_is_told_once_and_by_name() {
        let text = include_str!("../../../config/examples/event.json");
        let event: Event = serde_json::from_str(text).expect("event");
        let critical = |bearing: &str, n: u64| {
            let mut event = event.clone();
            event.bearing_id = bearing.parse().expect("name");
            event.sequence = n;
            event.measured_at = event.measured_at.plus_seconds(n as f64 * 10.0);
            event.event_id = EventId::at(event.measured_at.unix_ms());
            event.rul.hours = Some(20.0);
            event.rul.ci_low_hours = Some(5.0);
            event.rul.ci_high_hours = Some(30.0);
            event.trend.acceleration_detected = true;
            event
        };
        let refusal = |event: &Event, cause| Refusal {
            cause,
            gateway: event.gateway(),
            bearing: event.key(),
            event_id: event.event_id,
            reason: String::new(),
        };
        let incoming = |event: &Event| Incoming::Event {
            event: Box::new(event.clone()),
            payload: String::new(),
            proven: false,
        };
        let (rules, begun) = (Rules::default(), Instant::now());
        let mut alarms = RefusedAlarms::default();
        let mut note = |bearing: &str, cause, after_s| {
            let mut told = Vec::new();
            for n in 1..=3 {
                let event = critical(bearing, n);
                let at = begun + Duration::from_secs(after_s);
                let now = event.measured_at.plus_seconds(1.0);
                let (batch, refusals) = ([incoming(&event)], [refusal(&event, cause)]);
                told.extend(alarms.note(&batch, &refusals, &rules, (now, at)));
            }
            told.into_iter().flat_map(|(_, bearings)| bearings).collect::<Vec<_>>()
        };
        let names = |told: Vec<BearingKey>| -> Vec<String> {
            told.iter().map(|key| key.bearing.to_string()).collect()
        };
        // what another gateway says of a bearing that is not its own alarms nobody
        assert!(note("X", RefusalCause::Owner, 0).is_empty());
        assert_eq!(names(note("A", RefusalCause::NewBearing, 0)), ["A"]);
        assert!(note("B", RefusalCause::NewBearing, 10).is_empty(), "soon after the first");
        assert_eq!(names(note("C", RefusalCause::NewBearing, 400)), ["B", "C"]);
        assert!(note("A", RefusalCause::NewBearing, 900).is_empty(), "told once");
    }
}
