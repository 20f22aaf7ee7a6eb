//! A gateway whose events are refused is an alarm of its own: nothing of its bearings is judged,
//! and nobody would hear of it. The alarm names the bearings, and the command that admits their
//! events.
//!
//! It stands under the machine `refused-events` with the gateway's name, is repeated and
//! acknowledged as every alarm, is told again where another bearing joins, and ends when the events
//! are taken or come no more.

use std::collections::BTreeMap;

use pdm_shared::id::{BearingKey, GatewayKey};
use pdm_shared::time::Timestamp;
use pdm_store::gateway_alarm::refusals_alarm;
use pdm_store::{EpisodeRecord, RefusalCause, RefusedEvents, StoreError};

use super::silence::Watchdog;
use super::{log, wording};

/// Refused events of one bearing and cause from which staff is told: one is a slip of whoever tries
/// something out, three are a gateway at work.
const MANY: u64 = 3;
/// The shortest time between two messages about one gateway, s. Chosen: as long as the first
/// bearings of a gateway that was moved need to send, so that most stand in the first message.
const AGAIN_S: f64 = 300.0;
/// The time after which refused events that staff was told of and that came no more are over, s, or
/// three times their usual interval where that is longer. Chosen: the slowest usual period of wired
/// sensors is an hour, and a gateway sends again what its receipt asks for.
const OVER_S: f64 = 2.0 * 3600.0;
/// The time for which refused events that staff was not told of are remembered, s: a wireless
/// sensor may measure once a day, and three of its events have to come together.
const REMEMBERED_S: f64 = 8.0 * 86_400.0;
/// Bearings of a gateway that health names.
const SHOWN: usize = 3;

/// Seconds after its last event from which on a row of refused events is over.
fn over_after_s(one: &RefusedEvents) -> f64 {
    if one.told_at.is_none() {
        return REMEMBERED_S;
    }
    let intervals = one.count.saturating_sub(1).max(1) as f64;
    let usual_s = one.last_at.seconds_since(one.first_at) / intervals;
    (3.0 * usual_s).clamp(OVER_S, REMEMBERED_S)
}

impl Watchdog {
    /// Tells of gateways whose events are refused, and of those whose are taken again; returns the
    /// lines of health on them.
    pub(super) async fn look_at_refused(&self, now: Timestamp) -> Result<Vec<String>, StoreError> {
        let refused = self.store.gateways().refused().await?;
        if refused.is_empty() {
            log::refused_gateways(0);
            return Ok(Vec::new());
        }
        let owners = self.bearing_owners().await?;
        let (mut over, mut stand) = (Vec::new(), BTreeMap::<GatewayKey, Vec<RefusedEvents>>::new());
        for one in refused {
            let is_admitted = one.cause == RefusalCause::Owner
                && self.owner_of(&owners, &one.bearing).is_none_or(|owner| owner == one.gateway);
            if is_admitted || !(0.0..over_after_s(&one)).contains(&now.seconds_since(one.last_at)) {
                over.push(one);
            } else {
                stand.entry(one.gateway.clone()).or_default().push(one);
            }
        }
        stand.retain(|_, events| events.iter().any(|one| one.count >= MANY));
        log::refused_gateways(stand.len());
        for (gateway, events) in &stand {
            self.tell_refused(gateway, events, now).await?;
        }
        let is_over = |gateway: &&GatewayKey| !stand.contains_key(*gateway);
        let gateways: std::collections::BTreeSet<&GatewayKey> =
            over.iter().map(|one| &one.gateway).filter(is_over).collect();
        for gateway in gateways {
            self.tell_admitted(gateway, now).await?;
        }
        if !over.is_empty() {
            self.store.gateways().forget_refused(&over).await?;
        }
        let shown = |events: &Vec<RefusedEvents>| -> Vec<String> {
            let line = |one| wording::refused_line(one, &self.owners).en;
            events.iter().take(SHOWN).map(line).collect()
        };
        let said = |(gateway, events)| {
            format!("events of gateway {gateway} are refused: {}", shown(events).join("; "))
        };
        Ok(stand.iter().map(said).collect())
    }

    async fn tell_refused(
        &self,
        gateway: &GatewayKey,
        events: &[RefusedEvents],
        now: Timestamp,
    ) -> Result<(), StoreError> {
        let Some(key) = refusals_alarm(gateway) else { return Ok(()) };
        let record = self.store.episodes().episode(&key).await?.filter(EpisodeRecord::is_open);
        let told_at = events.iter().filter_map(|one| one.told_at).max();
        let is_soon = told_at.is_some_and(|at| (0.0..AGAIN_S).contains(&now.seconds_since(at)));
        let is_new = events.iter().any(|one| one.told_at.is_none() && one.count >= MANY);
        if record.is_some() && (is_soon || !is_new) {
            return Ok(());
        }
        let words = wording::refused(gateway, events, &self.owners);
        let others: Vec<BearingKey> = events.iter().map(|one| one.bearing.clone()).collect();
        let risk = self.silence.risk;
        let announcement = match &record {
            None => self.policy.silent(&key, risk, words, &others, now),
            Some(record) => Some(self.policy.told_again(&key, record, words, &others, now)),
        };
        let Some(announcement) = announcement else { return Ok(()) };
        let version = record.as_ref().map(EpisodeRecord::version);
        if self.announce(&key, version, announcement).await? {
            self.store.gateways().note_refusals_told(events, now).await?;
            log::events_refused(gateway, events.len());
        }
        Ok(())
    }

    async fn tell_admitted(&self, gateway: &GatewayKey, now: Timestamp) -> Result<(), StoreError> {
        let Some(key) = refusals_alarm(gateway) else { return Ok(()) };
        let Some(record) =
            self.store.episodes().episode(&key).await?.filter(EpisodeRecord::is_open)
        else {
            return Ok(());
        };
        let words = wording::admitted(gateway);
        if let Some(told) = self.policy.heard(&key, &record, words, &[], now) {
            self.announce(&key, Some(record.version()), told).await?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
