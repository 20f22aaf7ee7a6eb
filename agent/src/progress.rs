//! The progress of a running agent, for the program that runs it: counters, standing risks,
//! notifications.
//!
//! Counters count from the start of this process. The live channel is bounded: a slow watcher loses
//! the oldest entries and is told how many, and the agent never waits for a watcher.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use pdm_shared::bounds::MAX_BEARINGS;
use pdm_shared::delivery::{GatewayStatus, Notification, Presence};
use pdm_shared::fault::Fault;
use pdm_shared::id::{BearingKey, GatewayKey};
use pdm_shared::risk::RiskLevel;
use pdm_shared::time::Timestamp;
use tokio::sync::{broadcast, watch};
use tokio::time::Instant;

use crate::vitals::Vitals;

/// Entries of the live channel that are kept for a slow watcher: at a hundred changes a second, ten
/// seconds.
const LIVE_CAPACITY: usize = 1024;

/// How long after its last event ahead of the clock a gateway counts as ahead. Chosen: the slowest
/// usual period of windows is an hour.
const AHEAD_LASTS: Duration = Duration::from_hours(2);
/// The time for which live events of a gateway have to lie behind the clock before it is told.
/// Chosen: the events that a broker has kept while the agent was away are stored within it.
const BEHIND_FROM: Duration = Duration::from_mins(10);

/// A gateway whose live events lie behind the clock.
#[derive(Debug, Clone, Copy)]
struct BehindClock {
    since: Instant,
    last: Instant,
    by_s: f64,
    is_told: bool,
}

/// The length from which a connection to the broker counts as sound. Chosen: a client that takes
/// the name away waits up to its longest pause of 30 s before it comes back.
pub(crate) const SOUND: Duration = Duration::from_mins(1);

/// The counters of the agent. `stored == judged` and `unsent == 0` mean that nothing waits.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Progress {
    /// Events stored, each once.
    pub stored: u64,
    /// Events that came again and changed nothing.
    pub duplicates: u64,
    /// Events judged.
    pub judged: u64,
    /// Notifications decided, each once whatever its channels.
    pub notified: u64,
    /// Notifications delivered, one for each channel.
    pub delivered: u64,
    /// Messages refused.
    pub dead_letters: u64,
    /// Events stored but not judged yet, earlier runs included.
    pub unjudged: u64,
    /// Publications and notifications waiting in the outbox, earlier runs included.
    pub unsent: u64,
    /// Alarms that no way to staff takes.
    pub untold: u64,
    /// The configuration names no way to staff at all.
    pub has_no_way: bool,
    /// The time since which there is no connection to the broker that brings events.
    pub broker_away_since: Option<Instant>,
    /// The time since which there is no connection to the broker by which the agent publishes.
    pub publishing_away_since: Option<Instant>,
    /// Gateways that the store knows by their status.
    pub gateways: usize,
    /// Sites of the gateways that the store knows.
    pub sites: usize,
    /// The feature that the broker lacked when it was last asked.
    pub broker_lacks: Option<BrokerLack>,
    /// When the broker last ended a connection that it has ended again and again.
    pub thrown_out_at: Option<Instant>,
    /// When events were last put off because their gateway sends more than its share.
    pub put_off_at: Option<Instant>,
    /// How full the store is, percent of `[store] max_bytes`, where staff is to know.
    pub store_full_percent: Option<u64>,
    /// The broker has confirmed the subscriptions: from now on it keeps events for the agent.
    pub subscribed: bool,
}

/// A feature that a broker lacks and that agent and gateways cannot do without. Whether the broker
/// takes the agent's connection or refuses it, no measurement leads to an alarm.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BrokerLack {
    /// MQTT 5.
    Version5,
    /// Messages that it retains: it refuses the connections of gateways, whose last will is one.
    Retained,
    /// Delivery at least once: it refuses the connections of gateways.
    Qos1,
    /// The agent's right to read: it takes the subscriptions and delivers nothing, not even what it
    /// retains.
    Rights,
}

impl BrokerLack {
    /// Returns the text for log, health, `check` and staff.
    pub(crate) const fn told(self) -> &'static str {
        match self {
            Self::Version5 => {
                "the broker speaks MQTT 3.1.1 alone, and the agent needs MQTT 5: use Mosquitto 1.6 \
                 or newer or another broker with MQTT 5, or allow version 5 there \
                 (accept_protocol_versions)"
            }
            Self::Retained => {
                "the broker takes no retained messages, which gateways and agent need: allow them \
                 there (Mosquitto: retain_available true)"
            }
            Self::Qos1 => {
                "the broker takes QoS 0 alone, and gateways and agent need QoS 1: allow it there \
                 (Mosquitto: max_qos 2)"
            }
            Self::Rights => {
                "nothing has come from the broker since it took the agent's subscriptions two \
                 minutes ago, though gateways are known: give the agent the right to read (access \
                 rules of the broker), or look whether the gateways reach this broker"
            }
        }
    }
}

/// A broker that is away for less is not told: it was started anew.
const AWAY: Duration = Duration::from_secs(30);

impl Progress {
    /// Returns the line of health on a broker that is away; the agent works on with the data that
    /// it has.
    pub(crate) fn broker_away(&self) -> Option<String> {
        if let Some(lack) = self.broker_lacks {
            return Some(format!("no measurement arrives: {}", lack.told()));
        }
        let lasts = |since: &Instant| since.elapsed() >= AWAY;
        if let (None, Some(since)) =
            (self.broker_away_since, self.publishing_away_since.filter(lasts))
        {
            return Some(format!(
                "no connection to the broker for publishing for {} s: receipts, judgements and the \
                 messages on its topics wait (its limit of connections, or its access rules, may \
                 refuse the second one)",
                since.elapsed().as_secs()
            ));
        }
        let since = self.broker_away_since.filter(lasts)?;
        Some(format!(
            "no connection to the broker for {} s: no measurement arrives",
            since.elapsed().as_secs()
        ))
    }

    /// Returns the line of health on what keeps events or alarms from their way; `None` if all is
    /// well.
    pub(crate) fn trouble(&self) -> Option<String> {
        if self.untold > 0 {
            let untold = self.untold;
            return Some(format!(
                "{untold} alarms have reached nobody: every way to staff refuses them or fails, \
                 see /notifications"
            ));
        }
        if self.has_no_way {
            return Some(
                "nobody can be told of an alarm: the configuration names no way to staff, see \
                 [notify]"
                    .to_owned(),
            );
        }
        let is_thrown_out = self.thrown_out_at.is_some_and(|at| at.elapsed() < SOUND);
        if let (false, Some(percent)) = (is_thrown_out, self.store_full_percent) {
            return Some(format!(
                "the store is at {percent} % of [store] max_bytes: at 100 % the oldest spectra and \
                 normal windows are deleted"
            ));
        }
        if !is_thrown_out && self.put_off_at.is_some_and(|at| at.elapsed() < SOUND) {
            return Some(
                "a gateway sends more than its share: its events are put off and asked for again, \
                 see pdm_agent_events_put_off_total and the log"
                    .to_owned(),
            );
        }
        is_thrown_out.then(|| {
            "the broker ends the agent's connection again and again: another client uses its \
             client id, or the access rules refuse it"
                .to_owned()
        })
    }
}

/// The state of a bearing after its last judgement.
#[derive(Debug, Clone, PartialEq)]
pub struct Standing {
    /// When the judged window was measured.
    pub at: Timestamp,
    /// Risk.
    pub risk: RiskLevel,
    /// P–F stage, 0–4.
    pub stage: u8,
    /// Named fault.
    pub fault: Option<Fault>,
}

/// An entry of the live channel.
#[derive(Debug, Clone)]
pub enum Live {
    /// The risk of a bearing changed.
    Risk {
        /// Which bearing.
        bearing: BearingKey,
        /// The level before.
        before: RiskLevel,
        /// The state now.
        now: Standing,
    },
    /// A notification to staff.
    Notified(Box<Notification>),
}

/// Takes the progress from the agent's tasks.
#[derive(Debug, Clone)]
pub(crate) struct Reporter {
    progress: watch::Sender<Progress>,
    standings: watch::Sender<BTreeMap<BearingKey, Standing>>,
    live: broadcast::Sender<Live>,
    /// More events wait to be stored than fit into a batch.
    flooded: watch::Sender<bool>,
    /// More events wait to be judged than fit into a batch.
    behind: watch::Sender<bool>,
    /// Faults of an agent that still works, for the health.
    degraded: watch::Sender<Vec<String>>,
    vitals: Vitals,
    measured: watch::Sender<Births>,
    /// Gateways whose events lie ahead of the clock, by how many seconds, and when the last one
    /// came.
    ahead: watch::Sender<BTreeMap<GatewayKey, (f64, Instant)>>,
    /// Gateways whose live events lie behind the clock.
    behind_clock: watch::Sender<BTreeMap<GatewayKey, BehindClock>>,
}

/// The measurements that online gateways report, as `equipment/bearing`, and since when the report
/// is the same.
pub(crate) type Births = BTreeMap<GatewayKey, (BTreeSet<String>, Instant)>;

impl Reporter {
    pub(crate) fn new() -> Self {
        Self {
            progress: watch::Sender::new(Progress::default()),
            standings: watch::Sender::new(BTreeMap::new()),
            live: broadcast::Sender::new(LIVE_CAPACITY),
            flooded: watch::Sender::new(false),
            behind: watch::Sender::new(false),
            degraded: watch::Sender::new(Vec::new()),
            vitals: Vitals::default(),
            measured: watch::Sender::new(Births::new()),
            ahead: watch::Sender::new(BTreeMap::new()),
            behind_clock: watch::Sender::new(BTreeMap::new()),
        }
    }

    /// Notes an event that lies ahead of the clock; returns whether its gateway has sent none for a
    /// while.
    pub(crate) fn lies_ahead(&self, gateway: &GatewayKey, by_s: f64) -> bool {
        let now = Instant::now();
        let mut is_new = false;
        self.ahead.send_modify(|ahead| {
            ahead.retain(|_, (_, at)| now.duration_since(*at) < AHEAD_LASTS);
            is_new = ahead.insert(gateway.clone(), (by_s, now)).is_none();
        });
        is_new
    }

    /// Notes a live event that lies behind the clock. Returns whether all events of its gateway
    /// have lain behind for long enough to tell staff; a backlog that a broker had kept is over
    /// sooner.
    pub(crate) fn lies_behind(&self, gateway: &GatewayKey, by_s: f64) -> bool {
        let now = Instant::now();
        let mut is_new = false;
        self.behind_clock.send_modify(|behind| {
            behind.retain(|_, one| now.duration_since(one.last) < AHEAD_LASTS);
            let one = behind.entry(gateway.clone());
            let one = one.or_insert(BehindClock { since: now, last: now, by_s, is_told: false });
            (one.last, one.by_s) = (now, by_s);
            if !one.is_told && now.duration_since(one.since) >= BEHIND_FROM {
                (one.is_told, is_new) = (true, true);
            }
        });
        is_new
    }

    /// Notes a live event of about now: its gateway's clock is right.
    pub(crate) fn keeps_time(&self, gateway: &GatewayKey) {
        self.behind_clock.send_if_modified(|behind| behind.remove(gateway).is_some());
    }

    /// Gateways whose live events lie behind the clock, and by how many seconds.
    pub(crate) fn behind_clock(&self) -> Vec<(GatewayKey, f64)> {
        let behind = self.behind_clock.borrow();
        let lasting =
            behind.iter().filter(|(_, one)| one.is_told && one.last.elapsed() < AHEAD_LASTS);
        lasting.map(|(gateway, one)| (gateway.clone(), one.by_s)).collect()
    }

    /// Gateways whose events lie ahead of the clock, and by how many seconds.
    pub(crate) fn ahead(&self) -> Vec<(GatewayKey, f64)> {
        let ahead = self.ahead.borrow();
        let lasting = ahead.iter().filter(|(_, (_, at))| at.elapsed() < AHEAD_LASTS);
        lasting.map(|(gateway, (by_s, _))| (gateway.clone(), *by_s)).collect()
    }

    /// Notes the measurements that an online gateway reports. A gateway of a version that does not
    /// report them, or one that measures more than its document holds, gives no evidence on what it
    /// does not measure.
    pub(crate) fn measures(&self, gateway: GatewayKey, status: &GatewayStatus) {
        let bearings = &status.bearings;
        let says_all = (1..MAX_BEARINGS).contains(&bearings.len());
        if status.status != Presence::Online || !says_all {
            return;
        }
        let now: BTreeSet<String> = bearings.iter().cloned().collect();
        self.measured.send_if_modified(|births| {
            let is_known = births.get(&gateway).is_some_and(|(known, _)| *known == now);
            if !is_known {
                births.insert(gateway, (now, Instant::now()));
            }
            !is_known
        });
    }

    /// Returns the measurements that gateways last reported, since the start.
    pub(crate) fn measured(&self) -> Births {
        self.measured.borrow().clone()
    }

    pub(crate) fn progress(&self) -> watch::Receiver<Progress> {
        self.progress.subscribe()
    }

    /// Returns the faults of an agent that still works.
    pub(crate) fn degraded(&self) -> watch::Receiver<Vec<String>> {
        self.degraded.subscribe()
    }

    /// Says what is wrong although the agent works.
    pub(crate) fn degrades(&self, said: Vec<String>) {
        self.degraded.send_if_modified(|was| {
            let is_new = *was != said;
            *was = said;
            is_new
        });
    }

    /// Whether the agent works.
    pub(crate) const fn vitals(&self) -> &Vitals {
        &self.vitals
    }

    pub(crate) fn standings(&self) -> watch::Receiver<BTreeMap<BearingKey, Standing>> {
        self.standings.subscribe()
    }

    pub(crate) fn live(&self) -> broadcast::Sender<Live> {
        self.live.clone()
    }

    /// Says whether more events wait to be stored than fit into a batch.
    pub(crate) fn flooded(&self, is_flooded: bool) {
        set(&self.flooded, is_flooded);
    }

    /// Says whether more events wait to be judged than fit into a batch.
    pub(crate) fn behind(&self, is_behind: bool) {
        set(&self.behind, is_behind);
    }

    /// Waits while events come in faster than they are stored, at most `at_most`. Storing comes
    /// first, because the broker has to hold what is not stored.
    pub(crate) async fn intake_first(&self, at_most: Duration) {
        over(&self.flooded, at_most).await;
    }

    /// Waits while judging is behind, at most `at_most`.
    pub(crate) async fn judging_first(&self, at_most: Duration) {
        over(&self.behind, at_most).await;
    }

    pub(crate) fn update(&self, change: impl FnOnce(&mut Progress)) {
        self.progress.send_modify(change);
    }

    pub(crate) fn stands(&self, bearing: &BearingKey, now: Standing) {
        let mut before = RiskLevel::Normal;
        self.standings.send_modify(|standings| {
            if let Some(standing) = standings.insert(bearing.clone(), now.clone()) {
                before = standing.risk;
            }
        });
        if before != now.risk {
            // an error means that nobody is watching
            let _watchers = self.live.send(Live::Risk { bearing: bearing.clone(), before, now });
        }
    }

    pub(crate) fn notified(&self, notification: Notification) {
        let _watchers = self.live.send(Live::Notified(Box::new(notification)));
    }
}

fn set(state: &watch::Sender<bool>, is: bool) {
    state.send_if_modified(|was| std::mem::replace(was, is) != is);
}

/// Waits until the state is false, at most `at_most`.
async fn over(state: &watch::Sender<bool>, at_most: Duration) {
    let mut state = state.subscribe();
    let over = state.wait_for(|is| !is);
    let _over_or_late = tokio::time::timeout(at_most, over).await;
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Less urgent work waits, but not for ever.
    #[tokio::test(start_paused = true)]
    async fn what_can_wait_waits_until_it_is_over_or_has_lasted() {
        let reporter = Reporter::new();
        let limit = Duration::from_secs(10);
        let begun = tokio::time::Instant::now();
        reporter.judging_first(limit).await;
        assert_eq!(begun.elapsed(), Duration::ZERO, "nothing to wait for");
        reporter.behind(true);
        reporter.judging_first(limit).await;
        assert_eq!(begun.elapsed(), limit, "longer is not waited");
        let other = reporter.clone();
        tokio::spawn(async move {
            tokio::time::sleep(Duration::from_secs(3)).await;
            other.behind(false);
        });
        reporter.judging_first(limit).await;
        assert_eq!(begun.elapsed(), limit + Duration::from_secs(3));
    }

    /// R-EDGE-6: live events of a gateway whose clock was 20 h behind were judged without a word.
    #[tokio::test(start_paused = true)]
    async fn a_clock_behind_is_told_after_ten_minutes_and_a_backlog_is_not() {
        let reporter = Reporter::new();
        let gateway: GatewayKey = "s/gw-01".parse().expect("a gateway");
        assert!(!reporter.lies_behind(&gateway, 72_000.0), "it may be what a broker had kept");
        tokio::time::advance(Duration::from_mins(9)).await;
        reporter.keeps_time(&gateway);
        assert!(!reporter.lies_behind(&gateway, 72_000.0), "one of about now ends it");
        tokio::time::advance(BEHIND_FROM).await;
        assert!(reporter.behind_clock().is_empty());
        assert!(reporter.lies_behind(&gateway, 72_000.0));
        assert!(!reporter.lies_behind(&gateway, 72_010.0), "once");
        assert_eq!(reporter.behind_clock(), [(gateway.clone(), 72_010.0)], "health says it");
        reporter.keeps_time(&gateway);
        assert!(reporter.behind_clock().is_empty(), "set right");
    }
}
