//! Gateways that go silent or come back together are told together.
//!
//! A switch, a broker or a power supply takes many gateways with it, each at its own second: the last
//! wills come within one and a half times the keep-alive. So the first is told at once, and those of the
//! next minute in one message. One gateway leads each message; the others' episodes are suppressed by
//! design, as are the episodes of the bearings that a silent gateway measures.

use std::collections::BTreeMap;

use pdm_shared::delivery::Presence;
use pdm_shared::episode::Suppression;
use pdm_shared::id::{BearingKey, GatewayKey};
use pdm_shared::time::Timestamp;

use super::silence::{Watchdog, is_silent, key_of};
use super::wording;
use crate::store::{EpisodeRecord, GatewayState, StoreError};

/// How long a message waits for the others after one was told, s. Chosen: one and a half times a
/// keep-alive of 30 s, after which brokers publish the last will, and a look of the watch.
const BURST_S: f64 = 60.0;
/// Most open episodes that are looked through for the bearings of a silent gateway.
const MOST: u32 = 20_000;

/// When staff was last told of gateways.
#[derive(Debug, Default)]
pub(super) struct Bursts {
    lost: Option<Timestamp>,
    back: Option<Timestamp>,
}

/// Whether the time has come to tell; it begins a burst.
fn is_due(last: &mut Option<Timestamp>, now: Timestamp) -> bool {
    // a clock that was set back begins anew
    let is_within = last.is_some_and(|last| (0.0..BURST_S).contains(&now.seconds_since(last)));
    if !is_within {
        *last = Some(now);
    }
    !is_within
}

/// A gateway whose state has changed, with its episode.
struct Turned {
    key: BearingKey,
    gateway: GatewayState,
    record: Option<EpisodeRecord>,
}

impl Watchdog {
    /// Tells of gateways that went silent or are back.
    pub(super) async fn look_at_gateways(
        &self,
        bursts: &mut Bursts,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        let (mut lost, mut back) = (Vec::new(), Vec::new());
        for gateway in self.store.gateways().await? {
            let GatewayKey { site, gateway: name } = &gateway.gateway;
            let Some(key) = key_of(site, name) else { continue };
            let record = self.store.episode(&key).await?.filter(EpisodeRecord::is_open);
            let is_lost = is_silent(&gateway, &self.silence, self.started, now);
            let turned = Turned { key, gateway, record };
            match (is_lost, turned.record.is_some()) {
                (true, false) => lost.push(turned),
                (false, true) => back.push(turned),
                (true, true) | (false, false) => {}
            }
        }
        if !lost.is_empty() && is_due(&mut bursts.lost, now) {
            self.lost(&lost, now).await?;
        }
        if !back.is_empty() && is_due(&mut bursts.back, now) {
            self.back(&back, now).await?;
        }
        Ok(())
    }

    async fn lost(&self, lost: &[Turned], now: Timestamp) -> Result<(), StoreError> {
        let Some((first, others)) = lost.split_first() else { return Ok(()) };
        let presence = first.gateway.presence.map(|(presence, _): (Presence, _)| presence);
        let name = &first.gateway.gateway.gateway;
        let words = wording::silent(name, first.gateway.last_event_at, presence);
        let words = wording::with_others(words, &keys(others));
        let told = self.policy.silent(&first.key, self.silence.risk, words, &keys(others), now);
        if let Some(told) = told {
            self.announce(&first.key, None, told).await?;
        }
        for other in others {
            let reason = format!("told with {}", first.key);
            let change = self.policy.silent_beside(&other.key, self.silence.risk, reason, now);
            if let Some(change) = change {
                self.store.change(&other.key, None, &change).await?;
            }
        }
        self.suppress_bearings(lost, now).await
    }

    async fn back(&self, back: &[Turned], now: Timestamp) -> Result<(), StoreError> {
        // one that was told leads, so that its message ends what it began
        let leader = back
            .iter()
            .position(|one| one.record.as_ref().is_some_and(|record| record.alarm.is_some()));
        let leader = leader.unwrap_or(0);
        let others: Vec<&Turned> =
            back.iter().enumerate().filter(|(n, _)| *n != leader).map(|(_, one)| one).collect();
        let other_keys: Vec<BearingKey> = others.iter().map(|one| one.key.clone()).collect();
        if let Some(Turned { key, gateway, record: Some(record) }) = back.get(leader) {
            let words = wording::heard(&gateway.gateway.gateway);
            let words = wording::with_others(words, &other_keys);
            if let Some(told) = self.policy.heard(key, record, words, &other_keys, now) {
                self.announce(key, Some(record.version()), told).await?;
            }
        }
        for other in others {
            let Some(record) = &other.record else { continue };
            if let Some(change) = self.policy.heard_beside(&other.key, record, now) {
                self.store.change(&other.key, Some(record.version()), &change).await?;
            }
        }
        self.lead_on(now).await?;
        self.unsuppress_bearings(back, now).await
    }

    /// Gives the gateways that are still silent a leader whose alarm is repeated, where theirs is back.
    async fn lead_on(&self, now: Timestamp) -> Result<(), StoreError> {
        let open = self.open_episodes(now).await?;
        let mut leaders: BTreeMap<String, BearingKey> = BTreeMap::new();
        for (key, record) in &open {
            let Suppression::ByDesign { reason } = &record.episode.suppression else { continue };
            let Some(leader) = reason.strip_prefix("told with ") else { continue };
            if open.iter().any(|(key, _)| key.to_string() == leader) {
                continue;
            }
            let change = if let Some(next) = leaders.get(leader) {
                let reason = format!("told with {next}");
                self.policy.suppressed_by_design(key, record, reason, now)
            } else {
                leaders.insert(leader.to_owned(), key.clone());
                self.policy.leads(key, record, self.silence.risk, now)
            };
            self.store.change(key, Some(record.version()), &change).await?;
        }
        Ok(())
    }

    async fn open_episodes(
        &self,
        now: Timestamp,
    ) -> Result<Vec<(BearingKey, EpisodeRecord)>, StoreError> {
        // changes of a clock that was ahead are looked at too
        self.store.episodes(now.plus_seconds(10.0 * 365.25 * 86_400.0), true, MOST).await
    }

    /// The open episodes of the bearings of these gateways, with their gateway.
    async fn of_bearings(
        &self,
        gateways: &[Turned],
        now: Timestamp,
    ) -> Result<Vec<(BearingKey, EpisodeRecord, GatewayKey)>, StoreError> {
        let owners: BTreeMap<BearingKey, GatewayKey> =
            self.store.bearing_owners().await?.into_iter().collect();
        let open = self.open_episodes(now).await?.into_iter();
        let owned = open.filter_map(|(key, record)| {
            let owner = owners.get(&key)?;
            let is_one = gateways.iter().any(|one| one.gateway.gateway == *owner);
            is_one.then(|| (key, record, owner.clone()))
        });
        Ok(owned.collect())
    }

    async fn suppress_bearings(&self, lost: &[Turned], now: Timestamp) -> Result<(), StoreError> {
        for (key, record, gateway) in self.of_bearings(lost, now).await? {
            if record.episode.suppression == Suppression::None {
                let reason = silent_reason(&gateway);
                let change = self.policy.suppressed_by_design(&key, &record, reason, now);
                self.store.change(&key, Some(record.version()), &change).await?;
            }
        }
        Ok(())
    }

    async fn unsuppress_bearings(&self, back: &[Turned], now: Timestamp) -> Result<(), StoreError> {
        for (key, record, gateway) in self.of_bearings(back, now).await? {
            let reason = silent_reason(&gateway);
            if record.episode.suppression == (Suppression::ByDesign { reason }) {
                let followed = self.policy.unsuppressed(&key, &record, now);
                self.follow(&key, Some(record.version()), followed).await?;
            }
        }
        Ok(())
    }
}

fn keys(turned: &[Turned]) -> Vec<BearingKey> {
    turned.iter().map(|one| one.key.clone()).collect()
}

fn silent_reason(gateway: &GatewayKey) -> String {
    format!("gateway {gateway} is silent")
}

#[cfg(test)]
mod tests;
