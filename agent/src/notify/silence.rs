//! What time brings about: gateways that went silent raise their own alarm, which clears no other; shelves
//! end; alarms that nobody acknowledged are repeated. One clock looks at all.

use std::sync::Arc;
use std::time::Duration;

use pdm_service::clock::SharedClock;
use pdm_shared::delivery::Presence;
use pdm_shared::id::{BearingId, BearingKey, EquipmentId, GatewayId, SiteId};
use pdm_shared::time::Timestamp;
use pdm_shared::topic::GATEWAY_LEVEL;
use tokio::time::{MissedTickBehavior, interval};
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use super::gateways::Bursts;
use super::policy::{Followed, Policy};
use crate::progress::Reporter;
use crate::settings::SilenceSettings;
use crate::store::{Announcement, EpisodeRecord, EpisodeVersion, GatewayState, Store, StoreError};

/// The interval of the watch: a silent gateway is told at most 2 s later than configured.
const EVERY: Duration = Duration::from_secs(2);
/// Repetitions of one look.
const REPEATS: u32 = 100;
/// Shelves that end with one look.
const SHELVES: u32 = 100;

/// Looks at what time brings about.
#[derive(Debug)]
pub(crate) struct Watchdog {
    pub(crate) store: Arc<dyn Store>,
    pub(crate) clock: SharedClock,
    pub(crate) policy: Policy,
    pub(crate) silence: SilenceSettings,
    pub(crate) reporter: Reporter,
    /// Silence is measured from here at the earliest: an agent that was away has heard nobody.
    pub(crate) started: Timestamp,
}

/// The alarm of a gateway stands where a bearing's would, under the machine `gateway`.
pub(crate) fn key_of(site: &SiteId, gateway: &GatewayId) -> Option<BearingKey> {
    Some(BearingKey {
        site: site.clone(),
        equipment: EquipmentId::new(GATEWAY_LEVEL).ok()?,
        bearing: BearingId::new(gateway.as_str()).ok()?,
    })
}

impl Watchdog {
    pub(crate) async fn run(self, stop: CancellationToken) {
        let mut tick = interval(EVERY);
        tick.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut bursts = Bursts::default();
        loop {
            tokio::select! {
                _ = tick.tick() => {}
                () = stop.cancelled() => return,
            }
            if let Err(error) = self.look(&mut bursts).await {
                tracing::warn!(%error, "cannot look for silent gateways, due repetitions and shelves");
            }
        }
    }

    async fn look(&self, bursts: &mut Bursts) -> Result<(), StoreError> {
        let now = self.clock.now();
        self.look_at_gateways(bursts, now).await?;
        for (key, record) in self.store.suppressions_over(now, SHELVES).await? {
            let followed = self.policy.unsuppressed(&key, &record, now);
            self.follow(&key, Some(record.version()), followed).await?;
        }
        self.free_beside(now).await?;
        for (key, record) in self.store.episodes_to_tell(now, REPEATS).await? {
            let Some(followed) = self.policy.told_on(&key, &record, now) else { continue };
            self.follow(&key, Some(record.version()), followed).await?;
        }
        let Some(every_s) = self.policy.longest_repeat_s() else { return Ok(()) };
        for (key, record) in self.store.episodes_to_repeat(now, every_s, REPEATS).await? {
            let Some(alarm) = &record.alarm else { continue };
            let announcement = self.policy.repeated(&key, &record, alarm, now);
            self.announce(&key, Some(record.version()), announcement).await?;
        }
        Ok(())
    }

    /// Tells the episodes by themselves from now on whose alarm of the same cause is over.
    async fn free_beside(&self, now: Timestamp) -> Result<(), StoreError> {
        // all of them, a page at a time: those that stay must not hide the others
        let mut page = self.store.told_beside(Uuid::nil(), SHELVES).await?;
        while let Some(last) = page.last().map(|(_, record)| record.episode.id) {
            for (key, record) in page {
                if self.is_source_over(&record).await? {
                    let followed = self.policy.unsuppressed(&key, &record, now);
                    self.follow(&key, Some(record.version()), followed).await?;
                }
            }
            page = self.store.told_beside(last, SHELVES).await?;
        }
        Ok(())
    }

    /// Whether the alarm with which an episode is told stands no longer.
    async fn is_source_over(&self, record: &EpisodeRecord) -> Result<bool, StoreError> {
        let Some(beside) = &record.beside else { return Ok(false) };
        let source = self.store.episode(&beside.source).await?;
        Ok(!source.is_some_and(|source| source.is_source()))
    }

    /// Writes what follows, unless the episode has changed meanwhile; then the next look decides anew.
    pub(super) async fn follow(
        &self,
        key: &BearingKey,
        expected: Option<EpisodeVersion>,
        followed: Followed,
    ) -> Result<(), StoreError> {
        match followed {
            Followed::Told(announcement) => self.announce(key, expected, *announcement).await,
            Followed::Quiet(change) => {
                self.store.change(key, expected, &change).await?;
                Ok(())
            }
        }
    }

    pub(super) async fn announce(
        &self,
        key: &BearingKey,
        expected: Option<EpisodeVersion>,
        announcement: Announcement,
    ) -> Result<(), StoreError> {
        if self.store.announce(key, expected, &announcement).await? {
            self.reporter.update(|progress| {
                progress.notified += 1;
                progress.unsent += announcement.rows() as u64;
            });
            self.reporter.notified(announcement.notification);
        }
        Ok(())
    }
}

/// Offline for long enough, or no event for long enough.
pub(super) fn is_silent(
    gateway: &GatewayState,
    settings: &SilenceSettings,
    started: Timestamp,
    now: Timestamp,
) -> bool {
    let since = |at: Timestamp| now.seconds_since(at.max(started));
    let offline = match gateway.presence {
        Some((Presence::Offline, at)) => {
            // events after the goodbye are the backlog of a reconnected edge: it is there again
            let heard_since = gateway.last_event_at.is_some_and(|last| last > at);
            !heard_since && since(at) >= settings.offline_after_s
        }
        Some((Presence::Online, _)) | None => false,
    };
    let last = gateway.last_event_at.unwrap_or(started);
    let quiet = settings.silent_after_s > 0.0 && since(last) >= settings.silent_after_s;
    offline || quiet
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: f64) -> Timestamp {
        Timestamp::from_unix_ms(1_795_238_000_000).expect("in range").plus_seconds(seconds)
    }

    fn gateway(last_event: Option<f64>, presence: Option<(Presence, f64)>) -> GatewayState {
        GatewayState {
            gateway: "s/gw-01".parse().expect("name"),
            highest_sequence: 0,
            proven: false,
            last_event_at: last_event.map(at),
            presence: presence.map(|(presence, seconds)| (presence, at(seconds))),
            lost_events: 0,
        }
    }

    fn silent(state: &GatewayState, now: f64) -> bool {
        let settings = SilenceSettings {
            offline_after_s: 60.0,
            silent_after_s: 600.0,
            ..SilenceSettings::default()
        };
        is_silent(state, &settings, at(0.0), at(now))
    }

    #[test]
    fn a_gateway_is_silent_after_its_last_will_or_without_events() {
        assert!(!silent(&gateway(Some(0.0), None), 599.0));
        assert!(silent(&gateway(Some(0.0), None), 600.0));
        let gone = gateway(Some(5.0), Some((Presence::Offline, 10.0)));
        assert!(!silent(&gone, 69.0));
        assert!(silent(&gone, 70.0));
    }

    #[test]
    fn an_agent_that_was_away_gives_its_gateways_their_time() {
        assert!(!silent(&gateway(Some(-100_000.0), Some((Presence::Offline, -90_000.0))), 59.0));
    }

    #[test]
    fn events_after_the_goodbye_mean_that_it_is_there() {
        let back = gateway(Some(50.0), Some((Presence::Offline, 10.0)));
        assert!(!silent(&back, 300.0));
    }
}
