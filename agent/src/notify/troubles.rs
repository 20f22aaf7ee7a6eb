//! What gateways say of themselves, and what is missing of them: an alarm for each gateway that cannot measure
//! or keep its events, with its end; a message for events that will never arrive; what health says.
//!
//! The alarm stands under the machine `gateway-trouble` with the gateway's name. What a gateway says is kept
//! in the store, so every replica and every start knows it.

use std::collections::{BTreeMap, BTreeSet};

use pdm_shared::bounds::{MAX_LINE, in_one_line};
use pdm_shared::id::GatewayKey;
use pdm_shared::time::Timestamp;
use pdm_store::gateway_alarm::{silence_alarm, trouble_alarm};
use pdm_store::{EpisodeRecord, GatewayState, StoreError};

use super::silence::Watchdog;
use super::{log, wording};

/// How long a gateway has to be in trouble before staff is told, s. Chosen: a source that is started anew
/// is back within it.
const LASTS_S: f64 = 10.0;
/// How long health tells of two gateways of one name after the last sign of it, s. Chosen: the two take the
/// connection from each other at least every 30 s.
const TWIN_S: f64 = 180.0;
/// The shortest time between two messages about missing events of one gateway, s.
const LOST_AGAIN_S: f64 = 3600.0;

/// What the watch remembers of gateways between two looks.
#[derive(Debug, Default)]
pub(super) struct Heeded {
    /// Gateways whose alarm is known not to stand.
    calm: BTreeSet<GatewayKey>,
    /// When staff was told of missing events.
    lost_told: BTreeMap<GatewayKey, Timestamp>,
}

impl Watchdog {
    /// Tells of gateways in trouble and of missing events; what health says of them.
    pub(super) async fn look_at_troubles(
        &self,
        heeded: &mut Heeded,
        now: Timestamp,
    ) -> Result<Vec<String>, StoreError> {
        let (mut said, mut troubled, mut twins) = (Vec::new(), 0, 0);
        for gateway in self.store.gateways().gateways().await? {
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
            self.look_at_trouble(heeded, &gateway, now).await?;
            self.look_at_lost(heeded, &gateway, now).await?;
        }
        log::troubled_gateways(troubled, twins);
        Ok(said)
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
                if (0.0..LASTS_S).contains(&now.seconds_since(*since)) {
                    return Ok(());
                }
                let words = wording::troubled(&name.gateway, trouble);
                let told = self.policy.silent(&key, self.silence.risk, words, &[], now);
                if let Some(told) = told
                    && self.announce(&key, None, told).await?
                {
                    log::gateway_troubled(name, trouble);
                }
            }
            (None, Some(record)) => {
                let words = wording::untroubled(&name.gateway);
                if let Some(told) = self.policy.heard(&key, &record, words, &[], now) {
                    self.announce(&key, Some(record.version()), told).await?;
                }
            }
            (None, None) => {
                heeded.calm.insert(name.clone());
            }
            (Some(_), Some(_)) => {}
        }
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
