//! Bearings of which nothing comes while their gateway goes on: a sensor, its battery or its radio
//! has failed, a program stopped writing its files, and nothing is silent as a whole.
//!
//! How long a bearing may say nothing is decided by its own pauses ([`bound`]), measured beside its
//! gateway: a time in which the gateway said nothing, or in which the agent could not hear, is
//! nobody's pause. Those of one gateway are told together under the machine `no-data` with the
//! gateway's name, once; the alarm names more where more join, and ends where all of them are
//! measured again or no longer expected. Not told are bearings whose machine stands by their last
//! window, that are shelved or out of service, that their gateway's configuration names no more
//! (that is told already), and those of a gateway that is silent.

use std::collections::{BTreeMap, BTreeSet};

use pdm_shared::delivery::Presence;
use pdm_shared::episode::Suppression;
use pdm_shared::id::{BearingKey, GatewayKey};
use pdm_shared::risk::RiskLevel;
use pdm_shared::text::Text;
use pdm_shared::time::Timestamp;
use pdm_store::gateway_alarm::no_data_alarm;
use pdm_store::{BearingPause, EpisodeRecord, GatewayState, HeardBearing, StoreError};
use pdm_web::plant::{BearingRow, Blind};

use super::log;
use super::silence::Watchdog;
use super::wording::{self, Unheard};
use bound::Past;

mod bound;

/// How often the bearings are looked at, s: the look reads every bearing.
const EVERY_S: f64 = 10.0;
/// The shortest time between two messages about one gateway, s. Chosen as for refused events: the
/// bearings of one radio fall silent one after another, by their own beats.
const AGAIN_S: f64 = 300.0;
/// How often a gateway has to go on without a bearing until its own pauses no longer excuse it.
const RESUMED: usize = 3;
/// Bearings of a gateway that health names.
const SHOWN: usize = 3;

/// The state of the watch over bearings, and the result of its last look.
#[derive(Debug, Default)]
pub(super) struct NoData {
    looked_at: Option<Timestamp>,
    said: Vec<String>,
    /// When each bearing was heard last, as of the last look.
    heard: BTreeMap<BearingKey, Timestamp>,
    /// How each gateway goes on.
    gateways: BTreeMap<GatewayKey, Going>,
}

/// A gateway as the last look saw it.
#[derive(Debug, Clone)]
struct Going {
    /// Its last event.
    last_at: Timestamp,
    /// The time since which the agent could hear.
    hearing: Timestamp,
    /// The ends of its last longer pauses, the newest last.
    resumed: Vec<Timestamp>,
    is_offline: bool,
}

impl Going {
    /// The gateway at the next look.
    fn next(before: Option<&Self>, state: &GatewayState, pause_s: f64, hearing: Timestamp) -> Self {
        let last_at = state.last_event_at.unwrap_or(hearing);
        let is_offline = state.presence.is_some_and(|(presence, at): (Presence, _)| {
            presence == Presence::Offline && at >= last_at
        });
        let mut resumed = before.map(|before| before.resumed.clone()).unwrap_or_default();
        let has_resumed = before.is_some_and(|before| {
            let has_paused = last_at.seconds_since(before.last_at) > pause_s;
            has_paused || (before.is_offline && !is_offline)
        });
        if has_resumed {
            resumed.push(last_at);
            let old = resumed.len().saturating_sub(RESUMED);
            resumed.drain(..old);
        }
        Self { last_at, hearing, resumed, is_offline }
    }

    /// The time from which on a bearing that was heard last at `last` has said nothing beside its
    /// gateway. What the gateway kept while it was away comes now, one bearing after the other, so
    /// that the silence of each is measured anew; not where the gateway pauses by its nature and
    /// has gone on [`RESUMED`] times without the bearing.
    fn silence_of(&self, last: Timestamp) -> Timestamp {
        let missed = self.resumed.iter().filter(|at| **at > last).count();
        let resumed = self.resumed.last().filter(|_| missed < RESUMED);
        let from = resumed.map_or(last, |resumed| last.max(*resumed));
        from.max(self.hearing)
    }
}

impl Watchdog {
    /// Tells of bearings of which nothing comes while their gateway goes on, looked at from time to
    /// time; `hearing` is the time since which the agent could hear. Returns the lines of health.
    pub(super) async fn look_at_no_data(
        &self,
        found: &mut NoData,
        hearing: Timestamp,
        now: Timestamp,
    ) -> Result<Vec<String>, StoreError> {
        let is_fresh = |at: Timestamp| (0.0..EVERY_S).contains(&now.seconds_since(at));
        if !found.looked_at.is_some_and(is_fresh) {
            found.said = self.tell_all_without_data(found, hearing, now).await?;
            found.looked_at = Some(now);
        }
        Ok(found.said.clone())
    }

    async fn tell_all_without_data(
        &self,
        found: &mut NoData,
        hearing: Timestamp,
        now: Timestamp,
    ) -> Result<Vec<String>, StoreError> {
        let gateways = self.store.gateways().gateways().await?;
        self.follow_gateways(found, &gateways, hearing);
        let heard = self.store.gateways().heard_bearings().await?;
        let owners = self.bearing_owners().await?;
        self.note_pauses(found, &heard, &owners).await?;
        let mut of_gateways: BTreeMap<GatewayKey, Vec<HeardBearing>> = BTreeMap::new();
        for one in heard {
            if let Some(owner) = self.owner_of(&owners, &one.key) {
                of_gateways.entry(owner).or_default().push(one);
            }
        }
        let (mut said, mut count) = (Vec::new(), 0);
        for state in &gateways {
            let gateway = &state.gateway;
            let Some(going) = found.gateways.get(gateway).cloned() else { continue };
            let bearings = of_gateways.remove(gateway).unwrap_or_default();
            let silent = self.tell_without_data((state, &going), &bearings, now).await?;
            count += silent.len();
            if !silent.is_empty() {
                said.push(wording::no_data_line(gateway, &silent, SHOWN));
            }
        }
        log::bearings_without_data(count);
        Ok(said)
    }

    fn follow_gateways(&self, found: &mut NoData, states: &[GatewayState], hearing: Timestamp) {
        let pause_s = bound::kept_from_s(self.silence.bearing_after_s);
        let next = states.iter().map(|state| {
            let before = found.gateways.get(&state.gateway);
            (state.gateway.clone(), Going::next(before, state, pause_s, hearing))
        });
        found.gateways = next.collect();
    }

    /// Keeps the longer pauses of the bearings that were heard since the last look.
    async fn note_pauses(
        &self,
        found: &mut NoData,
        heard: &[HeardBearing],
        owners: &BTreeMap<BearingKey, GatewayKey>,
    ) -> Result<(), StoreError> {
        let after_s = self.silence.bearing_after_s;
        let least_s = bound::kept_from_s(after_s);
        let mut now_heard = BTreeMap::new();
        if after_s <= 0.0 {
            found.heard = now_heard;
            return Ok(());
        }
        for one in heard {
            now_heard.insert(one.key.clone(), one.last_at);
            let Some(before) = found.heard.get(&one.key).copied() else { continue };
            let owner = self.owner_of(owners, &one.key);
            let going = owner.and_then(|owner| found.gateways.get(&owner));
            let Some(going) = going else { continue };
            let from = going.silence_of(before);
            if one.last_at.seconds_since(from) <= least_s {
                continue;
            }
            let pauses = self.store.gateways().pauses_of(&one.key).await?;
            let past = Past { since: one.since, pauses: &pauses };
            let pause = BearingPause { from, to: one.last_at, is_exceptional: false };
            let is_exceptional =
                pause.seconds() > past.bound_s(after_s) && past.is_regular(before, after_s);
            let pause = BearingPause { is_exceptional, ..pause };
            self.store.gateways().note_pause(&one.key, &pause).await?;
        }
        found.heard = now_heard;
        Ok(())
    }

    /// Tells of the bearings of one gateway; returns those of which nothing comes.
    async fn tell_without_data(
        &self,
        (state, going): (&GatewayState, &Going),
        bearings: &[HeardBearing],
        now: Timestamp,
    ) -> Result<Vec<Unheard>, StoreError> {
        let gateway = &state.gateway;
        let Some(key) = no_data_alarm(gateway) else { return Ok(Vec::new()) };
        let record = self.store.episodes().episode(&key).await?.filter(EpisodeRecord::is_open);
        let told = record.as_ref().and_then(|record| record.alarm.as_ref());
        let told_at = told.map(|alarm| alarm.notification.created_at);
        let named = told.map(|alarm| &alarm.notification.related).into_iter().flatten();
        let named: BTreeSet<&str> = named.map(String::as_str).collect();
        let mut silent = Vec::new();
        for one in bearings {
            let is_named = named.contains(one.key.to_string().as_str())
                && told_at.is_some_and(|at| one.last_at <= at);
            if (is_named && self.silence.bearing_after_s > 0.0)
                || self.is_overdue(one, going, now).await?
            {
                silent.extend(self.unheard(one, gateway).await?);
            }
        }
        self.announce_without_data(&key, (state, record), (bearings, &silent), now).await?;
        Ok(silent)
    }

    /// Whether nothing of a bearing has come for longer than its past lets expect, while its
    /// gateway went on.
    async fn is_overdue(
        &self,
        one: &HeardBearing,
        going: &Going,
        now: Timestamp,
    ) -> Result<bool, StoreError> {
        let after_s = self.silence.bearing_after_s;
        let gone_s = going.last_at.min(now).seconds_since(going.silence_of(one.last_at));
        let is_gateway_quiet = now.seconds_since(going.last_at) > after_s;
        if after_s <= 0.0 || going.is_offline || is_gateway_quiet || gone_s <= after_s {
            return Ok(false);
        }
        let pauses = self.store.gateways().pauses_of(&one.key).await?;
        let past = Past { since: one.since, pauses: &pauses };
        let bound_s = past.bound_s(after_s);
        // old files that were played are no measurement that stops
        let is_live = one.measured_at.is_some_and(|at| one.last_at.seconds_since(at) <= bound_s);
        Ok(gone_s > bound_s && is_live && past.is_regular(one.last_at, after_s))
    }

    /// The bearing as it is told, unless it is expected to say nothing.
    async fn unheard(
        &self,
        one: &HeardBearing,
        gateway: &GatewayKey,
    ) -> Result<Option<Unheard>, StoreError> {
        let births = self.reporter.measured();
        let is_unmeasured = births
            .get(gateway)
            .is_some_and(|(measured, _)| !measured.contains(&one.key.within_site()));
        let row = self.store.pages().standing(&one.key).await?;
        let Some(row) = row.filter(|row| !is_unmeasured && is_expected(row)) else {
            return Ok(None);
        };
        let alarm = row.alarm.as_ref().filter(|alarm| alarm.risk_level > RiskLevel::Normal);
        Ok(Some(Unheard {
            key: one.key.clone(),
            last_at: one.last_at,
            stands: alarm.map(|alarm| (alarm.risk_level, alarm.acknowledged_at.is_some())),
        }))
    }

    async fn announce_without_data(
        &self,
        key: &BearingKey,
        (state, record): (&GatewayState, Option<EpisodeRecord>),
        (bearings, silent): (&[HeardBearing], &[Unheard]),
        now: Timestamp,
    ) -> Result<(), StoreError> {
        let gateway = &state.gateway;
        let keys: Vec<BearingKey> = silent.iter().map(|one| one.key.clone()).collect();
        let trouble = state.trouble.as_ref().map(|(text, _)| text.as_str());
        let words = || wording::no_data(&gateway.gateway, silent, trouble, self.policy.zone());
        let risk = self.risk_without_data(silent);
        let announcement = match &record {
            None if silent.is_empty() => return Ok(()),
            None => self.policy.silent(key, risk, words(), &keys, now),
            Some(record) if silent.is_empty() => {
                let ended = ended_words(record, bearings);
                self.policy.heard(key, record, ended, &[], now)
            }
            Some(record) => {
                let Some(alarm) = &record.alarm else { return Ok(()) };
                let told: BTreeSet<&str> =
                    alarm.notification.related.iter().map(String::as_str).collect();
                let is_new = |one: &BearingKey| !told.contains(one.to_string().as_str());
                if keys.iter().any(is_new) {
                    let told_at = alarm.notification.created_at;
                    // a Critical that can no longer be watched does not wait
                    let has_risen = risk > alarm.notification.risk_level;
                    if !has_risen && (0.0..AGAIN_S).contains(&now.seconds_since(told_at)) {
                        return Ok(());
                    }
                    Some(self.policy.told_again_at(risk, key, record, words(), &keys, now))
                } else {
                    if keys.len() < told.len() {
                        let change = self.policy.names_fewer(key, record, alarm, &keys, now);
                        let expected = Some(record.version());
                        self.store.episodes().change(key, expected, &change).await?;
                    }
                    return Ok(());
                }
            }
        };
        let Some(announcement) = announcement else { return Ok(()) };
        let version = record.as_ref().map(EpisodeRecord::version);
        if self.announce(key, version, announcement).await? && !silent.is_empty() {
            log::no_data_told(gateway, silent.len());
        }
        Ok(())
    }

    /// The level that is told: Critical where a Critical that nobody has acknowledged can no longer
    /// be watched.
    fn risk_without_data(&self, silent: &[Unheard]) -> RiskLevel {
        let open = |one: &Unheard| one.stands == Some((RiskLevel::Critical, false));
        if silent.iter().any(open) { RiskLevel::Critical } else { self.silence.risk }
    }
}

/// Whether windows of a bearing are expected: its machine runs by the last one, and nobody has
/// shelved it or taken it out of service.
fn is_expected(row: &BearingRow) -> bool {
    let is_put_off = row.episode.as_ref().is_some_and(|episode| match episode.suppression {
        Suppression::OutOfService { .. } | Suppression::Shelved { .. } => true,
        Suppression::ByDesign { .. } | Suppression::None => false,
    });
    row.blind != Some(Blind::Standing) && !is_put_off
}

/// The words of the end: all of them were heard since they were told, or some are expected no more.
fn ended_words(record: &EpisodeRecord, bearings: &[HeardBearing]) -> (Text, Text) {
    let Some(alarm) = &record.alarm else { return wording::words_of_data(&[]) };
    let told_at = alarm.notification.created_at;
    let named = &alarm.notification.related;
    let is_heard = |name: &&String| {
        let mut those = bearings.iter().filter(|one| one.key.to_string() == **name);
        those.any(|one| one.last_at > told_at)
    };
    let heard: Vec<&String> = named.iter().filter(is_heard).collect();
    if heard.len() == named.len() {
        wording::words_of_data(named)
    } else {
        wording::no_longer_watched(named)
    }
}
