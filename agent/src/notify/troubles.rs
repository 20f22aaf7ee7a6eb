//! Reads the reports of gateways about themselves, and their missing events: raises an alarm for
//! each gateway that cannot measure or keep its events, and its end; a message for events that will
//! never arrive; lines for health.
//!
//! The alarm stands under the machine `gateway-trouble` with the gateway's name. The report of a
//! gateway is kept in the store, so every replica and every start knows it.

use std::collections::{BTreeMap, BTreeSet};

use pdm_shared::bounds::{MAX_LINE, in_one_line};
use pdm_shared::delivery::Presence;
use pdm_shared::id::{BearingKey, GatewayKey};
use pdm_shared::time::Timestamp;
use pdm_store::gateway_alarm::{silence_alarm, trouble_alarm};
use pdm_store::{EpisodeRecord, GatewayState, OldGaps, StoreError};

use super::silence::Watchdog;
use super::{log, wording};

/// How long a gateway has to be in trouble before staff is told, s. Chosen: a source that is
/// started anew is back within it.
const LASTS_S: f64 = 10.0;
/// The report of a gateway whose events no receipt of the agent covers. After an agent was away,
/// all gateways send it until its first receipts.
const NO_RECEIPT: &str = "no receipt of the agent covers them";
/// How long that has to last, s. Chosen: what has queued in ten minutes is stored within it.
const NO_RECEIPT_LASTS_S: f64 = 180.0;
/// How long health tells of two gateways of one name after the last sign of it, s. Chosen: the two
/// take the connection from each other at least every 30 s.
const TWIN_S: f64 = 180.0;
/// The shortest time between two messages about what has come to one gateway's trouble, s. Chosen:
/// whoever goes there after the first reads the rest at the gateway, and its words may change each
/// second.
const FURTHER_AGAIN_S: f64 = 600.0;
/// Gateways of which no event is stored whose trouble staff is told of; further ones are in the
/// health alone. Chosen: the gateways that a plant adds in an hour.
const STRANGERS: usize = 16;
/// The shortest time between two messages about missing events of one gateway, s.
const LOST_AGAIN_S: f64 = 3600.0;

/// How long events of an online gateway may be missing before staff is told, s. Chosen: a gateway
/// that drains its spool after a day away, or is above its share, is done within it.
const MISSING_LASTS_S: f64 = 3600.0;
/// The time between two looks for what is missing, s: a gateway may leave very many gaps.
const MISSING_LOOK_S: f64 = 60.0;
/// The shortest time between two messages about what is missing of one gateway, s.
const MISSING_AGAIN_S: f64 = 86_400.0;

/// The watch's memory of gateways between two looks.
#[derive(Debug, Default)]
pub(super) struct Heeded {
    /// Gateways whose alarm is known not to stand.
    calm: BTreeSet<GatewayKey>,
    /// The troubles that were told of gateways whose alarm stands, and those that a start found
    /// standing.
    told: BTreeMap<GatewayKey, BTreeSet<String>>,
    /// When staff was told last of what has come to a trouble.
    further_told: BTreeMap<GatewayKey, Timestamp>,
    /// When staff was told of missing events.
    lost_told: BTreeMap<GatewayKey, Timestamp>,
    /// The lines of health on events that are missing for long, and when they were read.
    pub(super) missing: Option<(Timestamp, Vec<String>)>,
    /// When staff was told of events that are missing for long.
    missing_told: BTreeMap<GatewayKey, Timestamp>,
}

/// The troubles that a gateway names, without the figures in them: a count that grows is no further
/// trouble.
fn matters(trouble: &str) -> BTreeSet<String> {
    let without_figures = |one: &str| one.trim().replace(|c: char| c.is_ascii_digit(), "");
    trouble.split(';').map(without_figures).filter(|one| !one.is_empty()).collect()
}

impl Watchdog {
    /// Tells of gateways in trouble and of missing events; returns the lines of health on them.
    pub(super) async fn look_at_troubles(
        &self,
        heeded: &mut Heeded,
        now: Timestamp,
    ) -> Result<Vec<String>, StoreError> {
        let (mut said, mut troubled, mut twins) = (Vec::new(), 0, 0);
        let mut strangers = 0;
        let gateways = self.store.gateways().gateways().await?;
        said.extend(self.look_at_missing(heeded, &gateways, now).await?);
        for gateway in gateways {
            if let Some((trouble, _)) = &gateway.trouble {
                troubled += 1;
                // a gateway's own words, which everybody may read
                let trouble = in_one_line(trouble, MAX_LINE);
                said.push(format!("gateway {}: {trouble}", gateway.gateway));
            }
            if gateway.twin_at.is_some_and(|at| (0.0..TWIN_S).contains(&now.seconds_since(at))) {
                twins += 1;
                said.push(wording::twin(&gateway.gateway));
            }
            let is_stranger = gateway.last_event_at.is_none() && gateway.trouble.is_some();
            strangers += usize::from(is_stranger);
            if !is_stranger || strangers <= STRANGERS {
                self.look_at_trouble(heeded, &gateway, now).await?;
            }
            self.look_at_lost(heeded, &gateway, now).await?;
        }
        log::troubled_gateways(troubled, twins);
        Ok(said)
    }

    /// Tells of events that online gateways have not sent for long although they are asked for;
    /// what health says of them.
    async fn look_at_missing(
        &self,
        heeded: &mut Heeded,
        gateways: &[GatewayState],
        now: Timestamp,
    ) -> Result<Vec<String>, StoreError> {
        let is_fresh = |at: &Timestamp| (0.0..MISSING_LOOK_S).contains(&now.seconds_since(*at));
        if let Some((_, said)) = heeded.missing.as_ref().filter(|(at, _)| is_fresh(at)) {
            return Ok(said.clone());
        }
        let is_online = |key: &GatewayKey| {
            let of = gateways.iter().find(|state| state.gateway == *key);
            let presence = of.and_then(|state| state.presence);
            presence.is_some_and(|(presence, _)| presence == Presence::Online)
        };
        let mut old = self.store.gateways().old_gaps(now.plus_seconds(-MISSING_LASTS_S)).await?;
        old.retain(|gaps| is_online(&gaps.gateway));
        heeded.missing_told.retain(|gateway, at| {
            let stands = old.iter().any(|gaps| gaps.gateway == *gateway);
            stands && (0.0..MISSING_AGAIN_S).contains(&now.seconds_since(*at))
        });
        for OldGaps { gateway, events, .. } in &old {
            if !heeded.missing_told.contains_key(gateway) {
                self.tell_missing(gateway, *events, now).await?;
                heeded.missing_told.insert(gateway.clone(), now);
            }
        }
        let line = |gaps: &OldGaps| wording::missing_line(&gaps.gateway, gaps.events);
        let said: Vec<String> = old.iter().map(line).collect();
        heeded.missing = Some((now, said.clone()));
        Ok(said)
    }

    async fn tell_missing(
        &self,
        gateway: &GatewayKey,
        events: u64,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        let Some(key) = silence_alarm(&gateway.site, &gateway.gateway) else { return Ok(()) };
        let words = wording::events_missing(&gateway.gateway, events);
        let (notification, rows) = self.policy.remark(&key, "events_missing", words, now);
        if self.store.messages().tell(&notification, &rows).await? {
            log::remarked(&key, "events_missing");
            self.reporter.update(|progress| {
                progress.notified += 1;
                progress.unsent += rows.len() as u64;
            });
            self.reporter.notified(notification);
        }
        Ok(())
    }

    /// Raises or ends the alarm of one gateway.
    async fn look_at_trouble(
        &self,
        heeded: &mut Heeded,
        gateway: &GatewayState,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        let name = &gateway.gateway;
        if gateway.trouble.is_none() && heeded.calm.contains(name) {
            return Ok(());
        }
        heeded.calm.remove(name);
        let Some(key) = trouble_alarm(name) else { return Ok(()) };
        let record = self.store.episodes().episode(&key).await?.filter(EpisodeRecord::is_open);
        match (&gateway.trouble, record) {
            (Some((trouble, since)), None) => {
                let lasts_s =
                    if trouble.contains(NO_RECEIPT) { NO_RECEIPT_LASTS_S } else { LASTS_S };
                if (0.0..lasts_s).contains(&now.seconds_since(*since)) {
                    return Ok(());
                }
                heeded.told.insert(name.clone(), matters(trouble));
                let words = wording::troubled(&name.gateway, trouble);
                let told = self.policy.silent(&key, self.silence.risk, words, &[], now);
                if let Some(told) = told
                    && self.announce(&key, None, told).await?
                {
                    log::gateway_troubled(name, trouble);
                }
            }
            (None, Some(record)) => {
                heeded.told.remove(name);
                let words = wording::untroubled(&name.gateway);
                if let Some(told) = self.policy.heard(&key, &record, words, &[], now) {
                    self.announce(&key, Some(record.version()), told).await?;
                }
            }
            (None, None) => {
                heeded.told.remove(name);
                heeded.calm.insert(name.clone());
            }
            (Some((trouble, _)), Some(_)) => {
                self.look_at_further(heeded, &key, name, trouble, now).await?;
            }
        }
        Ok(())
    }

    /// Tells what has come to a trouble whose alarm stands: a disk that is full is another matter
    /// than the configuration that was refused a week before.
    async fn look_at_further(
        &self,
        heeded: &mut Heeded,
        key: &BearingKey,
        gateway: &GatewayKey,
        trouble: &str,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        let matters = matters(trouble);
        let Some(told) = heeded.told.get_mut(gateway) else {
            // a start finds it standing
            heeded.told.insert(gateway.clone(), matters);
            return Ok(());
        };
        let is_further = !matters.is_subset(told);
        // what has ended may come again
        told.retain(|matter| matters.contains(matter));
        let is_soon = |at: &Timestamp| (0.0..FURTHER_AGAIN_S).contains(&now.seconds_since(*at));
        if !is_further || heeded.further_told.get(gateway).is_some_and(is_soon) {
            return Ok(());
        }
        heeded.further_told.insert(gateway.clone(), now);
        let what = format!("trouble {}", matters.iter().cloned().collect::<Vec<_>>().join("; "));
        let words = wording::troubled(&gateway.gateway, trouble);
        let (notification, rows) = self.policy.remark(key, &what, words, now);
        if self.store.messages().tell(&notification, &rows).await? {
            log::gateway_troubled(gateway, trouble);
            self.reporter.update(|progress| {
                progress.notified += 1;
                progress.unsent += rows.len() as u64;
            });
            self.reporter.notified(notification);
        }
        heeded.told.insert(gateway.clone(), matters);
        Ok(())
    }

    /// Tells of events of one gateway that will never arrive, at most once an hour.
    async fn look_at_lost(
        &self,
        heeded: &mut Heeded,
        gateway: &GatewayState,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        let GatewayState { gateway: name, lost_events, lost_told, .. } = gateway;
        if lost_events == lost_told {
            return Ok(());
        }
        let is_soon = |at: &Timestamp| (0.0..LOST_AGAIN_S).contains(&now.seconds_since(*at));
        if *lost_events > *lost_told && heeded.lost_told.get(name).is_some_and(is_soon) {
            return Ok(());
        }
        // written before the message: of two replicas one tells; fewer than before, some have come
        if !self.store.gateways().note_lost_told(name, *lost_told, *lost_events).await? {
            return Ok(());
        }
        if *lost_events < *lost_told {
            return Ok(());
        }
        heeded.lost_told.insert(name.clone(), now);
        let count = lost_events - lost_told;
        let Some(key) = silence_alarm(&name.site, &name.gateway) else { return Ok(()) };
        let what = format!("events_lost {lost_events}");
        let words = wording::events_lost(&name.gateway, count);
        let (notification, rows) = self.policy.remark(&key, &what, words, now);
        match self.store.messages().tell(&notification, &rows).await {
            Ok(true) => {
                log::remarked(&key, "events_lost");
                self.reporter.update(|progress| {
                    progress.notified += 1;
                    progress.unsent += rows.len() as u64;
                });
                self.reporter.notified(notification);
                Ok(())
            }
            Ok(false) => Ok(()),
            Err(error) => {
                // the next look tells
                heeded.lost_told.remove(name);
                self.store.gateways().note_lost_told(name, *lost_events, *lost_told).await?;
                Err(error)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// R-AGENT-10
    #[test]
    fn a_count_that_grows_is_no_further_trouble() {
        let before = matters("source press: silent for 12 s; the spool's disk is full");
        assert_eq!(before.len(), 2);
        assert_eq!(matters("the spool's disk is full; source press: silent for 99 s"), before);
        assert!(!matters("source fan: silent for 12 s").is_subset(&before));
    }
}
