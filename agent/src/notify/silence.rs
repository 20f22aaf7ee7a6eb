//! Acts on the passing of time: gateways that went silent raise their own alarm, which clears no
//! other; shelves end; alarms that nobody acknowledged are repeated. One clock looks at all.
//!
//! **A gateway that the store knows as silent stays silent until an event or a status comes**, over
//! restarts too. The silence of any other gateway is measured from the time since which this agent
//! could hear: its start, the end of an outage of its store, or the setting of its clock.

use std::time::Duration;

use pdm_service::clock::{JumpWatch, SharedClock};
use pdm_shared::delivery::Presence;
use pdm_shared::id::BearingKey;
use pdm_shared::time::Timestamp;
use pdm_store::{Announcement, EpisodeRecord, EpisodeVersion, GatewayState, Store, StoreError};
use tokio::time::{Instant, MissedTickBehavior, interval};
use tokio_util::sync::CancellationToken;

use super::gateways::Bursts;
use super::policy::{Followed, Policy};
use super::wording;
use crate::progress::Reporter;
use crate::settings::{BearingOwners, SilenceSettings};
use crate::vitals::Teller;

/// The interval of the watch: a silent gateway is told at most 2 s later than configured.
const EVERY: Duration = Duration::from_secs(2);
/// Repetitions of one look.
const REPEATS: u32 = 100;
/// Suppressed episodes of one page of a look.
pub(super) const PAGE: u32 = 100;
/// The time for which looks at the store have to fail to mean that nobody was heard meanwhile, s:
/// as long as a jump of the clock, below which no age is doubted.
const OUTAGE_S: f64 = pdm_service::clock::JUMP_S;

/// Looks at what time brings about.
#[derive(Debug)]
pub(crate) struct Watchdog {
    pub(crate) store: Store,
    pub(crate) clock: SharedClock,
    pub(crate) policy: Policy,
    pub(crate) silence: SilenceSettings,
    pub(crate) reporter: Reporter,
    /// The configured gateways of bearings.
    pub(crate) owners: BearingOwners,
    /// Notices that the clock was set.
    pub(crate) jumps: JumpWatch,
    /// Silence is measured from here at the earliest: an agent that was away has heard nobody.
    pub(crate) started: Timestamp,
}

impl Watchdog {
    pub(crate) async fn run(self, stop: CancellationToken) {
        let mut tick = interval(EVERY);
        tick.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut bursts = Bursts::default();
        let mut looked = Instant::now();
        loop {
            tokio::select! {
                _ = tick.tick() => {}
                () = stop.cancelled() => return,
            }
            // a process that was stopped has heard nobody meanwhile
            if looked.elapsed().as_secs_f64() > OUTAGE_S {
                bursts.hearing.failed();
            }
            looked = Instant::now();
            match self.look(&mut bursts).await {
                Ok(()) => self.reporter.vitals().teller_worked(&Teller::Watch),
                Err(error) => {
                    bursts.hearing.failed();
                    self.reporter.vitals().teller_failed(Teller::Watch, &error);
                    tracing::warn!(
                        %error,
                        "cannot look for silent gateways, due repetitions and shelves"
                    );
                }
            }
        }
    }

    /// One look at all that time brings about. A step that fails does not keep the others from
    /// telling staff; the first failure is returned.
    pub(super) async fn look(&self, bursts: &mut Bursts) -> Result<(), StoreError> {
        let now = self.clock.now();
        let gateways = self.look_at_gateways(bursts, now).await;
        let suppressed = self.look_at_suppressions(now).await;
        let troubles = self.look_at_degraded(bursts, now).await;
        let told = self.tell_on(now).await;
        let repeated = self.repeat(now).await;
        let lost = self.look_at_lost_rows(&mut bursts.lost_rows, now).await;
        gateways.and(suppressed).and(troubles).and(told).and(repeated).and(lost)
    }

    async fn look_at_suppressions(&self, now: Timestamp) -> Result<(), StoreError> {
        for (key, record) in self.store.episodes().suppressions_over(now, PAGE).await? {
            let followed = self.policy.unsuppressed(&key, &record, now);
            self.follow(&key, Some(record.version()), followed).await?;
        }
        self.look_at_suppressed(now).await
    }

    async fn look_at_degraded(
        &self,
        bursts: &mut Bursts,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        let mut degraded = self.look_at_refused(now).await?;
        degraded.extend(self.look_at_troubles(&mut bursts.heeded, now).await?);
        let ahead = self.reporter.ahead();
        degraded.extend(ahead.iter().map(|(gateway, by_s)| wording::ahead_line(gateway, *by_s)));
        let behind = self.reporter.behind_clock();
        degraded.extend(behind.iter().map(|(gateway, by_s)| wording::behind_line(gateway, *by_s)));
        degraded.extend(self.look_at_unmeasured(&mut bursts.unmeasured, now).await?);
        let hearing = bursts.hearing.since(self);
        degraded.extend(self.look_at_no_data(&mut bursts.no_data, hearing, now).await?);
        degraded.extend(self.look_at_ways(&mut bursts.ways, now).await);
        self.reporter.degrades(wording::first_lines(degraded));
        Ok(())
    }

    /// Tells the next step of what nobody has acknowledged.
    async fn tell_on(&self, now: Timestamp) -> Result<(), StoreError> {
        for (key, record) in self.store.episodes().episodes_to_tell(now, REPEATS).await? {
            let Some(followed) = self.policy.told_on(&key, &record, now) else { continue };
            self.follow(&key, Some(record.version()), followed).await?;
        }
        Ok(())
    }

    async fn repeat(&self, now: Timestamp) -> Result<(), StoreError> {
        let Some(every_s) = self.policy.longest_repeat_s() else { return Ok(()) };
        for (key, record) in self.store.episodes().episodes_to_repeat(now, every_s, REPEATS).await?
        {
            let Some(alarm) = &record.alarm else { continue };
            if let Some(change) = self.policy.put_right(&key, &record, alarm, now) {
                self.store.episodes().change(&key, Some(record.version()), &change).await?;
                continue;
            }
            if alarm.repeat_at.is_some_and(|at| at > now) {
                continue;
            }
            let announcement = self.policy.repeated(&key, &record, alarm, now);
            self.announce(&key, Some(record.version()), announcement).await?;
        }
        Ok(())
    }

    /// Writes what follows, unless the episode has changed meanwhile; then the next look decides
    /// anew.
    pub(super) async fn follow(
        &self,
        key: &BearingKey,
        expected: Option<EpisodeVersion>,
        followed: Followed,
    ) -> Result<(), StoreError> {
        match followed {
            Followed::Told(announcement) => {
                self.announce(key, expected, *announcement).await?;
                Ok(())
            }
            Followed::Quiet(change) => {
                self.store.episodes().change(key, expected, &change).await?;
                Ok(())
            }
        }
    }

    /// Writes an announcement under the same condition; true if it was written.
    pub(super) async fn announce(
        &self,
        key: &BearingKey,
        expected: Option<EpisodeVersion>,
        announcement: Announcement,
    ) -> Result<bool, StoreError> {
        let is_written = self.store.episodes().announce(key, expected, &announcement).await?;
        if is_written {
            self.reporter.update(|progress| {
                progress.notified += 1;
                progress.unsent += announcement.rows() as u64;
            });
            self.reporter.notified(announcement.notification);
        }
        Ok(is_written)
    }
}

/// The time since which this agent could hear its gateways: it ran, and was connected to store and
/// broker.
#[derive(Debug, Default)]
pub(super) struct Hearing {
    since: Option<Timestamp>,
    looked: Option<Timestamp>,
    /// A look has failed since the last one that reached the store.
    has_failed: bool,
}

impl Hearing {
    /// A look did not reach the store, in which nothing of the gateways was kept meanwhile.
    pub(super) fn failed(&mut self) {
        self.has_failed = true;
    }

    /// The time since which the agent could hear, at the last look that has reached the store.
    pub(super) fn since(&self, watchdog: &Watchdog) -> Timestamp {
        self.since.unwrap_or(watchdog.started)
    }

    /// The time since which the agent could hear, at a look that has reached the store.
    pub(super) fn at(&mut self, watchdog: &Watchdog, now: Timestamp) -> Timestamp {
        let is_long = self.looked.is_some_and(|looked| now.seconds_since(looked) > OUTAGE_S);
        let is_gap = std::mem::take(&mut self.has_failed) && is_long;
        let is_moved = watchdog.jumps.moved_s().is_some();
        let away_since = watchdog.reporter.progress().borrow().broker_away_since;
        let is_away = away_since.is_some_and(|since| since.elapsed().as_secs_f64() > OUTAGE_S);
        self.looked = Some(now);
        let since = self.since.get_or_insert(watchdog.started);
        if is_gap || is_moved || is_away || *since > now {
            *since = now;
        }
        *since
    }
}

/// Offline for long enough, or no event for long enough.
pub(super) fn is_silent(
    gateway: &GatewayState,
    settings: &SilenceSettings,
    hearing: Timestamp,
    now: Timestamp,
) -> bool {
    // a time of a clock that was ahead says nothing
    let since = |at: Timestamp| {
        let from = if at > now { hearing } else { at.max(hearing) };
        now.seconds_since(from)
    };
    let offline = match gateway.presence {
        Some((Presence::Offline, at)) => {
            // events after the goodbye are the backlog of a reconnected edge: it is there again
            let heard_since = gateway.last_event_at.is_some_and(|last| last > at);
            !heard_since && since(at) >= settings.offline_after_s
        }
        Some((Presence::Online, _)) | None => false,
    };
    let last = gateway.last_event_at.unwrap_or(hearing);
    let quiet = settings.silent_after_s > 0.0 && since(last) >= settings.silent_after_s;
    offline || quiet
}

/// Whether an event or a status has come from a gateway since staff was told that it is silent.
pub(super) fn is_heard_since(
    gateway: &GatewayState,
    told: &EpisodeRecord,
    hearing: Timestamp,
    now: Timestamp,
) -> bool {
    let opened_at = told.episode.opened_at;
    // told by a clock that was ahead: what came since the clock was set counts
    let after = if opened_at > now { hearing } else { opened_at };
    let is_there =
        matches!(gateway.presence, Some((Presence::Online, at)) if at > after && at <= now);
    is_there || gateway.last_event_at.is_some_and(|at| at > after && at <= now)
}

#[cfg(test)]
mod courses;

#[cfg(test)]
impl Watchdog {
    /// A watch of no silence, for tests of what time brings about.
    pub(crate) fn of_time_alone(store: Store, clock: SharedClock, policy: Policy) -> Self {
        let started = clock.now();
        let silence = SilenceSettings { silent_after_s: 0.0, ..SilenceSettings::default() };
        let jumps = JumpWatch::new(clock.clone());
        let (reporter, owners) = (Reporter::new(), BearingOwners::default());
        Self { store, clock, policy, silence, reporter, owners, jumps, started }
    }

    /// One look.
    pub(crate) async fn look_once(&self) -> Result<(), StoreError> {
        self.look(&mut Bursts::default()).await
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: f64) -> Timestamp {
        Timestamp::from_unix_ms(1_795_238_000_000).expect("in range").plus_seconds(seconds)
    }

    /// Issue 33: a clock that is set from 1970 tells no silence.
    #[test]
    fn a_time_of_a_clock_that_was_ahead_makes_nobody_speak_for_ever() {
        let ahead = gateway(Some(172_800.0), Some((Presence::Offline, 172_800.0)));
        assert!(!silent(&ahead, 59.0));
        assert!(silent(&ahead, 600.0));
    }

    fn gateway(last_event: Option<f64>, presence: Option<(Presence, f64)>) -> GatewayState {
        GatewayState {
            gateway: "s/gw-01".parse().expect("name"),
            highest_sequence: 0,
            proven: false,
            last_event_at: last_event.map(at),
            presence: presence.map(|(presence, seconds)| (presence, at(seconds))),
            lost_events: 0,
            lost_told: 0,
            trouble: None,
            twin_at: None,
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
