//! Gateways that go silent or come back together are told together.
//!
//! A switch, a broker or a power supply takes many gateways with it, each at its own second: the
//! last wills come within one and a half times the keep-alive. So the first is told at once, and
//! those of the next minute in one message. One gateway leads each message; the others' episodes
//! are suppressed by design, as are the episodes of the bearings that a silent gateway measures:
//! those of its own at present, for as long as it is silent. A bearing that was released or that
//! another gateway measures is told again. What staff was told of and nobody has acknowledged is
//! never suppressed so: a machine that breaks may take its gateway with it, and the next person of
//! the route has to hear of it all the same.

use std::collections::{BTreeMap, BTreeSet};

use pdm_shared::delivery::Presence;
use pdm_shared::episode::Suppression;
use pdm_shared::id::{BearingKey, GatewayKey, SiteId};
use pdm_shared::time::Timestamp;
use pdm_store::gateway_alarm::silence_alarm;
use pdm_store::{EpisodeRecord, GatewayState, StoreError};
use uuid::Uuid;

use super::failing_ways::FailingWays;
use super::no_data::NoData;
use super::silence::{Hearing, PAGE, Watchdog, is_heard_since, is_silent};
use super::troubles::Heeded;
use super::unmeasured::Unmeasured;
use super::wording;
use super::wording::Ended;

/// How long a message waits for the others after one was told, s. Chosen: one and a half times a
/// keep-alive of 30 s, after which brokers publish the last will, and a look of the watch.
const BURST_S: f64 = 60.0;
/// How the reason of a gateway begins whose silence is told with another's.
const TOLD_WITH: &str = "told with ";
/// Most open episodes that are looked through for the bearings of a silent gateway.
const MOST: u32 = 20_000;

/// When staff was last told of gateways.
#[derive(Debug, Default)]
pub(super) struct Bursts {
    lost: Option<Timestamp>,
    back: Option<Timestamp>,
    /// The time since which gateways could be heard.
    pub(super) hearing: Hearing,
    /// The remembered reports of gateways about themselves.
    pub(super) heeded: Heeded,
    /// Bearings that their gateways no longer measure.
    pub(super) unmeasured: Unmeasured,
    /// Bearings of which nothing comes while their gateways go on.
    pub(super) no_data: NoData,
    /// Ways to staff that deliver nothing.
    pub(super) ways: FailingWays,
    /// When messages whose rows are gone were looked for last.
    pub(super) lost_rows: Option<Timestamp>,
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
        let gateways = self.store.gateways().gateways().await?;
        let known = gateways.iter().filter(|one| one.presence.is_some()).count();
        if self.reporter.progress().borrow().gateways != known {
            self.reporter.update(|progress| progress.gateways = known);
        }
        let sites: BTreeSet<&SiteId> = gateways.iter().map(|one| &one.gateway.site).collect();
        if self.reporter.progress().borrow().sites != sites.len() {
            self.reporter.update(|progress| progress.sites = sites.len());
        }
        let hearing = bursts.hearing.at(self, now);
        for gateway in gateways {
            let GatewayKey { site, gateway: name } = &gateway.gateway;
            let Some(key) = silence_alarm(site, name) else { continue };
            let record = self.store.episodes().episode(&key).await?.filter(EpisodeRecord::is_open);
            let is_known =
                record.as_ref().is_some_and(|one| !is_heard_since(&gateway, one, hearing, now));
            let is_lost = is_known || is_silent(&gateway, &self.silence, hearing, now);
            let turned = Turned { key, gateway, record };
            match (is_lost, turned.record.is_some()) {
                (true, false) => lost.push(turned),
                (false, true) => back.push(turned),
                (true, true) | (false, false) => {}
            }
        }
        // while the broker is away nobody can be heard: that is told, and no gateway's silence
        let is_broker_away = self.reporter.progress().borrow().broker_away_since.is_some();
        if !lost.is_empty() && !is_broker_away && is_due(&mut bursts.lost, now) {
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
        let words =
            wording::silent(name, first.gateway.last_event_at, presence, self.policy.zone());
        let words = wording::with_others(words, &keys(others));
        let told = self.policy.silent(&first.key, self.silence.risk, words, &keys(others), now);
        if let Some(told) = told {
            self.announce(&first.key, None, told).await?;
        }
        for other in others {
            let reason = format!("{TOLD_WITH}{}", first.key);
            let change = self.policy.silent_beside(&other.key, self.silence.risk, reason, now);
            if let Some(change) = change {
                self.store.episodes().change(&other.key, None, &change).await?;
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
            let words = wording::words_of_return(&gateway.gateway.gateway);
            let words = wording::with_others(words, &other_keys);
            if let Some(told) = self.policy.heard(key, record, words, &other_keys, now) {
                self.announce(key, Some(record.version()), told).await?;
            }
        }
        for other in others {
            let Some(record) = &other.record else { continue };
            if let Some(change) = self.policy.heard_beside(&other.key, record, now) {
                self.store.episodes().change(&other.key, Some(record.version()), &change).await?;
            }
        }
        Ok(())
    }

    /// Gives the gateways that are still silent a leader whose alarm is repeated, where theirs is
    /// back or gone.
    async fn lead_on(
        &self,
        told_with: &[(BearingKey, EpisodeRecord)],
        now: Timestamp,
    ) -> Result<(), StoreError> {
        let mut leaders: BTreeMap<String, BearingKey> = BTreeMap::new();
        let mut standing: BTreeMap<String, bool> = BTreeMap::new();
        for (key, record) in told_with {
            let Suppression::ByDesign { reason } = &record.episode.suppression else { continue };
            let Some(leader) = reason.strip_prefix(TOLD_WITH) else { continue };
            if !standing.contains_key(leader) {
                standing.insert(leader.to_owned(), self.stands(leader).await?);
            }
            if standing.get(leader) == Some(&true) {
                continue;
            }
            let change = if let Some(next) = leaders.get(leader) {
                let reason = format!("{TOLD_WITH}{next}");
                self.policy.suppressed_by_design(key, record, reason, now)
            } else {
                leaders.insert(leader.to_owned(), key.clone());
                self.policy.leads(key, record, self.silence.risk, now)
            };
            self.store.episodes().change(key, Some(record.version()), &change).await?;
        }
        Ok(())
    }

    /// Whether the episode of this name stands.
    async fn stands(&self, name: &str) -> Result<bool, StoreError> {
        let mut parts = name.splitn(3, '/');
        let mut part = || parts.next().unwrap_or_default();
        let Ok(key) = BearingKey::parse(part(), part(), part()) else { return Ok(false) };
        Ok(self.store.episodes().episode(&key).await?.is_some_and(|one| one.is_open()))
    }

    /// Looks at what is suppressed: whether its cause still is one. All of it, a page at a time:
    /// what stays must not hide the others.
    pub(super) async fn look_at_suppressed(&self, now: Timestamp) -> Result<(), StoreError> {
        let mut after = Uuid::nil();
        let mut beside = Vec::new();
        let mut of_gateways = Vec::new();
        loop {
            let page = self.store.episodes().suppressed(after, PAGE).await?;
            let Some(last) = page.last().map(|(_, record)| record.episode.id) else { break };
            after = last;
            for (key, record) in page {
                if record.beside.is_some() {
                    beside.push((key, record));
                } else if is_told_with_another(&record) {
                    of_gateways.push((key, record));
                } else if record.episode.owes_a_rise() {
                    let followed = self.policy.unsuppressed(&key, &record, now);
                    self.follow(&key, Some(record.version()), followed).await?;
                } else if matches!(record.episode.suppression, Suppression::ByDesign { .. }) {
                    of_gateways.push((key, record));
                }
            }
        }
        self.look_at_beside(beside, now).await?;
        self.lead_on(&of_gateways, now).await?;
        self.free_of_gateways(&of_gateways, now).await
    }

    /// Tells of the bearings again that a silent gateway measured, where it is not silent any more
    /// or another one measures them now.
    async fn free_of_gateways(
        &self,
        of_gateways: &[(BearingKey, EpisodeRecord)],
        now: Timestamp,
    ) -> Result<(), StoreError> {
        let silent_ones = of_gateways.iter().filter_map(|(key, record)| {
            let Suppression::ByDesign { reason } = &record.episode.suppression else { return None };
            Some((key, record, silent_gateway(reason)?))
        });
        let silent_ones: Vec<_> = silent_ones.collect();
        if silent_ones.is_empty() {
            return Ok(());
        }
        let owners = self.bearing_owners().await?;
        let mut standing: BTreeMap<GatewayKey, bool> = BTreeMap::new();
        for (key, record, gateway) in silent_ones {
            if !standing.contains_key(&gateway) {
                let own = silence_alarm(&gateway.site, &gateway.gateway);
                let is_silent = match own {
                    Some(own) => {
                        self.store.episodes().episode(&own).await?.is_some_and(|one| one.is_open())
                    }
                    None => false,
                };
                standing.insert(gateway.clone(), is_silent);
            }
            let is_its_own = self.owner_of(&owners, key).is_some_and(|owner| owner == gateway);
            let is_frozen = is_its_own && standing.get(&gateway) == Some(&true);
            if is_frozen && !record.is_unanswered() {
                continue;
            }
            let ended = if is_its_own { Ended::GatewayLost } else { Ended::GatewayReplaced };
            let followed = self.policy.freed(key, record, ended, now);
            self.follow(key, Some(record.version()), followed).await?;
        }
        Ok(())
    }

    /// The gateways of the bearings that no configuration names.
    pub(super) async fn bearing_owners(
        &self,
    ) -> Result<BTreeMap<BearingKey, GatewayKey>, StoreError> {
        Ok(self.store.gateways().bearing_owners().await?.into_iter().collect())
    }

    /// The gateway that measures a bearing: the configured one, else that of its first event.
    pub(super) fn owner_of(
        &self,
        owners: &BTreeMap<BearingKey, GatewayKey>,
        key: &BearingKey,
    ) -> Option<GatewayKey> {
        self.owners.of(key).or_else(|| owners.get(key).cloned())
    }

    async fn open_episodes(
        &self,
        now: Timestamp,
    ) -> Result<Vec<(BearingKey, EpisodeRecord)>, StoreError> {
        // changes of a clock that was ahead are looked at too
        self.store.episodes().episodes(now.ten_years_on(), true, MOST).await
    }

    /// The open episodes of the bearings of these gateways, with their gateway.
    async fn of_bearings(
        &self,
        gateways: &[Turned],
        now: Timestamp,
    ) -> Result<Vec<(BearingKey, EpisodeRecord, GatewayKey)>, StoreError> {
        let owners = self.bearing_owners().await?;
        let open = self.open_episodes(now).await?.into_iter();
        let owned = open.filter_map(|(key, record)| {
            let owner = self.owner_of(&owners, &key)?;
            let is_one = gateways.iter().any(|one| one.gateway.gateway == owner);
            is_one.then_some((key, record, owner))
        });
        Ok(owned.collect())
    }

    async fn suppress_bearings(&self, lost: &[Turned], now: Timestamp) -> Result<(), StoreError> {
        for (key, record, gateway) in self.of_bearings(lost, now).await? {
            if record.episode.suppression == Suppression::None && !record.is_unanswered() {
                let reason = silent_reason(&gateway);
                let change = self.policy.suppressed_by_design(&key, &record, reason, now);
                self.store.episodes().change(&key, Some(record.version()), &change).await?;
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

/// Whether the silence of a gateway is told with that of another one.
fn is_told_with_another(record: &EpisodeRecord) -> bool {
    let Suppression::ByDesign { reason } = &record.episode.suppression else { return false };
    reason.starts_with(TOLD_WITH)
}

/// The gateway whose silence is the reason of a suppression, if one is.
fn silent_gateway(reason: &str) -> Option<GatewayKey> {
    reason.strip_prefix("gateway ")?.strip_suffix(" is silent")?.parse().ok()
}

#[cfg(test)]
mod tests;
