//! The watch over many gateways, on a real store and a clock of its own.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use pdm_service::clock::JumpWatch;
use pdm_shared::delivery::{GatewayStatus, Notification, NotificationReason};
use pdm_shared::topic::Prefix;
use pdm_store::{Incoming, Store};

use super::*;
use crate::notify::policy::Policy;
use crate::notify::test_clock::{BEGIN_MS, SetClock, since_begin as at};
use crate::progress::Reporter;
use crate::settings::{BearingOwners, NotifySettings, SilenceSettings};

/// A watch over an empty store.
struct Bench {
    _folder: tempfile::TempDir,
    clock: Arc<SetClock>,
    watchdog: Watchdog,
    bursts: Bursts,
}

impl Bench {
    async fn new() -> Self {
        let folder = tempfile::tempdir().expect("folder");
        let store = Store::open_sqlite(&folder.path().join("agent.db")).await.expect("opens");
        store.migrate().await.expect("migrated");
        let clock = Arc::new(SetClock::default());
        let silence = SilenceSettings {
            offline_after_s: 60.0,
            silent_after_s: 0.0,
            ..SilenceSettings::default()
        };
        let watchdog = Watchdog {
            store,
            clock: Arc::clone(&clock) as _,
            policy: Policy::new(NotifySettings::default(), Prefix::default()),
            silence,
            reporter: Reporter::new(),
            owners: BearingOwners::default(),
            jumps: JumpWatch::new(Arc::clone(&clock) as _),
            started: at(-3600.0),
        };
        Self { _folder: folder, clock, watchdog, bursts: Bursts::default() }
    }

    async fn status(&self, n: usize, status: Presence, seconds: f64) {
        let status =
            GatewayStatus::bare(format!("gw-{n:02}").parse().expect("name"), status, at(seconds));
        let site = if n.is_multiple_of(2) { "ulsan-1" } else { "ulsan-2" }.parse().expect("name");
        let batch = [Incoming::Status { site, status }];
        self.watchdog.store.intake().store(&batch, at(seconds), "dead").await.expect("stored");
    }

    /// Looks every two seconds in this time.
    async fn watch(&mut self, from: u32, to: u32) {
        for seconds in (from..to).step_by(2) {
            self.clock.0.store(BEGIN_MS + 1000 * i64::from(seconds), Ordering::Relaxed);
            self.watchdog.look(&mut self.bursts).await.expect("looked");
        }
    }

    async fn told(&self) -> Vec<Notification> {
        let mut told =
            self.watchdog.store.pages().notifications(None, at(1e9), 999).await.expect("read");
        told.reverse();
        told
    }
}

/// R-AGENT-10: fifty gateways on two sites, whose last wills come within 45 s, are told in two
/// messages, and so is their return. The repetition of an unacknowledged loss is one message, too.
#[tokio::test]
async fn fifty_gateways_that_are_lost_together_are_told_in_two_messages() {
    let mut bench = Bench::new().await;
    for n in 0..50 {
        bench.status(n, Presence::Offline, 0.9 * n as f64).await;
    }
    bench.watch(0, 300).await;
    let told = bench.told().await;
    assert!((1..=2).contains(&told.len()), "{} messages", told.len());
    assert!(told.iter().all(|one| one.reason == NotificationReason::Silent));
    let named = told.len() + told.iter().map(|one| one.related.len()).sum::<usize>();
    assert_eq!(named, 50, "every gateway is named once");
    let due = bench.watchdog.store.episodes().episodes_to_repeat(at(40_000.0), 28_800.0, 99).await;
    assert_eq!(due.expect("read").len(), told.len(), "the leaders alone are repeated");
    for n in 0..50 {
        bench.status(n, Presence::Online, 300.0 + 0.9 * n as f64).await;
    }
    bench.watch(346, 600).await;
    let back = bench.told().await.len() - told.len();
    assert!((1..=2).contains(&back), "{back} messages of the return");
    let open = bench.watchdog.store.episodes().episodes(at(1e9), true, 99).await.expect("read");
    assert_eq!(open.len(), 0, "nothing stands");
    println!("50 gateways lost together: {} messages, back: {back}", told.len());
}

/// The gateway that was told for all is back: another one of them stands for those that are not.
#[tokio::test]
async fn gateways_that_stay_silent_keep_a_leader() {
    let mut bench = Bench::new().await;
    for n in 0..5 {
        bench.status(n, Presence::Offline, 0.0).await;
    }
    bench.watch(0, 100).await;
    assert_eq!(bench.told().await.len(), 1);
    let leader = bench.told().await[0].bearing_id.as_str()[3..].parse().expect("a number");
    bench.status(leader, Presence::Online, 100.0).await;
    bench.watch(100, 200).await;
    assert_eq!(bench.told().await.len(), 2, "it is back, and the others were told before");
    let due = bench.watchdog.store.episodes().episodes_to_repeat(at(90_000.0), 28_800.0, 99).await;
    assert_eq!(due.expect("read").len(), 1, "one of the other four is repeated");
}

/// Issue 33, point 3: an agent that is started again tells nothing of a gateway that is still gone,
/// and the acknowledgement of its silence stays.
#[tokio::test]
async fn a_restart_tells_nothing_of_a_gateway_that_is_still_silent() {
    let mut bench = Bench::new().await;
    bench.status(1, Presence::Online, -10.0).await;
    bench.status(1, Presence::Offline, 0.0).await;
    bench.watch(0, 70).await;
    assert_eq!(bench.told().await.len(), 1, "silent");
    for restart in 1..=2_u32 {
        bench.bursts = Bursts::default();
        bench.watchdog.started = at(f64::from(restart) * 100.0);
        bench.watch(restart * 100, restart * 100 + 90).await;
    }
    assert_eq!(bench.told().await.len(), 1, "no return, no second silence");
    bench.status(1, Presence::Online, 300.0).await;
    bench.watch(300, 310).await;
    let told = bench.told().await;
    let reasons: Vec<NotificationReason> = told.iter().map(|one| one.reason).collect();
    assert_eq!(reasons, [NotificationReason::Silent, NotificationReason::Cleared]);
}

/// Issue 33, point 3: a clock that is set from 1970 to now makes no gateway silent.
#[tokio::test]
async fn a_clock_that_is_set_tells_no_silence_of_a_gateway_that_sends() {
    let mut bench = Bench::new().await;
    bench.watchdog.silence.silent_after_s = 7200.0;
    bench.status(1, Presence::Online, 0.0).await;
    bench.watch(0, 10).await;
    // forty years
    bench.watch(1_300_000_000, 1_300_000_100).await;
    assert_eq!(bench.told().await.len(), 0);
}

/// R-AGENT-10: what a clock that was ahead had written is put right, and nobody is told again.
#[tokio::test]
async fn a_clock_that_is_set_back_repeats_no_alarm_before_its_time() {
    const BACK_S: i64 = 2 * 86_400;
    let mut bench = Bench::new().await;
    bench.status(1, Presence::Offline, 0.0).await;
    bench.watch(0, 70).await;
    assert_eq!(bench.told().await.len(), 1, "silent");
    for (seconds, messages) in [(0, 1), (2, 1), (28_000, 1), (28_900, 2), (28_902, 2)] {
        bench.clock.0.store(BEGIN_MS + 1000 * (seconds - BACK_S), Ordering::Relaxed);
        bench.watchdog.look(&mut bench.bursts).await.expect("looked");
        assert_eq!(bench.told().await.len(), messages, "{seconds} s after the clock was set back");
    }
}

/// R-AGENT-10: 54 numbers of an online gateway were missing for up to a week, and health said ok.
#[tokio::test]
async fn what_an_online_gateway_has_not_sent_for_an_hour_is_told_once_and_stands_in_health() {
    let mut bench = Bench::new().await;
    bench.status(1, Presence::Online, 0.0).await;
    let text = include_str!("../../../../config/examples/event.json");
    let event: pdm_shared::event::Event = serde_json::from_str(text).expect("event");
    for (n, sequence) in [(0, 1), (1, 66)] {
        let mut event = event.clone();
        event.site = "ulsan-2".parse().expect("name");
        event.gateway_id = "gw-01".parse().expect("name");
        event.sequence = sequence;
        event.event_id = pdm_shared::id::EventId::at(BEGIN_MS + n);
        let payload = serde_json::to_string(&event).expect("json");
        let batch = [Incoming::Event { event: Box::new(event), payload, proven: false }];
        bench.watchdog.store.intake().store(&batch, at(0.0), "dead").await.expect("stored");
    }
    bench.watch(0, 10).await;
    bench.watch(3500, 3510).await;
    assert_eq!(bench.told().await.len(), 0, "it may still come");
    bench.watch(3700, 3900).await;
    let told = bench.told().await;
    let titles: Vec<&str> = told.iter().map(|one| one.title.en.as_str()).collect();
    assert_eq!(titles, ["[Data] 64 events of gateway gw-01 have not come for an hour"]);
    let said = bench.bursts.heeded.missing.as_ref().map(|(_, said)| said.join("; "));
    assert!(said.is_some_and(|said| said.starts_with("64 events of gateway ulsan-2/gw-01")));
    // one that is away has another alarm, and what it keeps comes with it
    bench.status(1, Presence::Offline, 4000.0).await;
    bench.watch(4000, 4070).await;
    assert_eq!(bench.bursts.heeded.missing.as_ref().map(|(_, said)| said.len()), Some(0));
}

#[test]
fn what_turns_within_a_minute_of_a_message_waits_for_its_end() {
    let at = |s: f64| Timestamp::EPOCH.plus_seconds(s);
    let mut last = None;
    let due: Vec<bool> =
        [100.0, 102.0, 159.0, 160.0, 161.0, 50.0].map(|s| is_due(&mut last, at(s))).to_vec();
    assert_eq!(due, [true, false, false, true, false, true]);
}

/// R-AGENT-10: while the broker is away nobody can be heard, and that is told, not a silence of
/// each gateway.
#[tokio::test]
async fn no_gateway_is_told_to_be_silent_while_the_broker_is_away() {
    let mut bench = Bench::new().await;
    bench.status(1, Presence::Offline, 0.0).await;
    let away = Some(tokio::time::Instant::now());
    bench.watchdog.reporter.update(|progress| progress.broker_away_since = away);
    bench.watch(30, 50).await;
    assert!(bench.told().await.is_empty());
    bench.watchdog.reporter.update(|progress| progress.broker_away_since = None);
    bench.watch(200, 300).await;
    assert_eq!(bench.told().await.len(), 1, "told once it is back");
}
