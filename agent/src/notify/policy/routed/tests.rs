//! The steps of a route over a clock that is wrong and a gateway that is gone, on a real store.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use pdm_episode::{Observation, follow};
use pdm_shared::delivery::{GatewayStatus, Presence, STATUS_SCHEMA};
use pdm_shared::event::Event;
use pdm_shared::id::GatewayKey;
use pdm_shared::risk::RiskLevel;
use pdm_shared::text::Text;
use pdm_shared::topic::Prefix;
use pdm_store::{Incoming, Store};

use super::*;
use crate::notify::silence::Watchdog;
use crate::notify::test_clock::{SetClock, since_begin as at};
use crate::settings::{AgentSettings, SilenceSettings};

const ROUTE: &str = r#"
[store]
sqlite = "agent.db"

[broker]
addresses = ["127.0.0.1:1883"]

[[notify.webhook]]
name = "kim"
url = "http://127.0.0.1:9/kim"

[[notify.webhook]]
name = "lead"
url = "http://127.0.0.1:9/lead"

[[notify.route]]
name = "pumps"
[[notify.route.step]]
to = ["kim"]
[[notify.route.step]]
after_minutes = 1
to = ["lead"]
"#;

/// A bearing of gateway gw-01 whose Critical was told to the first step of a route.
struct Routed {
    _folder: tempfile::TempDir,
    clock: Arc<SetClock>,
    watchdog: Watchdog,
    key: BearingKey,
}

impl Routed {
    /// The alarm is told by a clock that is ahead by so much.
    async fn told(ahead_s: f64) -> Self {
        let folder = tempfile::tempdir().expect("folder");
        let store = Store::open_sqlite(&folder.path().join("agent.db")).await.expect("opens");
        store.migrate().await.expect("migrated");
        let settings = AgentSettings::parse(Path::new("agent.toml"), ROUTE).expect("settings");
        let policy = Policy::new(settings.notify, Prefix::default());
        let clock = Arc::new(SetClock::default());
        let watchdog = Watchdog::of_time_alone(store, Arc::clone(&clock) as _, policy);
        let silence =
            SilenceSettings { offline_after_s: 5.0, silent_after_s: 0.0, ..watchdog.silence };
        let watchdog = Watchdog { silence, started: at(-3600.0), ..watchdog };
        let payload = include_str!("../../../../../config/examples/event.json").to_owned();
        let event: Event = serde_json::from_str(&payload).expect("event");
        let (key, gateway) = (event.key(), event.gateway());
        let incoming = Incoming::Event { event: Box::new(event), payload, proven: false };
        let intake = watchdog.store.intake();
        intake.store(&[incoming], at(0.0), "dead").await.expect("stored");
        let routed = Self { _folder: folder, clock, watchdog, key };
        routed.status(&gateway, Presence::Online, 0.0).await;
        routed.raise(ahead_s).await;
        routed
    }

    async fn raise(&self, ahead_s: f64) {
        let (level, now) = (RiskLevel::Critical, at(ahead_s));
        let window = Observation {
            at: now,
            now,
            level,
            finding: pdm_episode::Finding::default(),
            frozen: None,
            is_out_of_order: false,
            is_replayed: false,
            ended: None,
        };
        let policy = &self.watchdog.policy;
        let rules = policy.settings.episodes();
        let step = follow(None, &window, &rules, new_id(now)).expect("raised");
        let subject = Subject {
            key: &self.key,
            event_id: None,
            risk: level,
            loudness: level,
            reason: NotificationReason::Raised,
            title: Text::new("[위험] P-101", "[Critical] P-101"),
            body: Text::new("가", "a"),
        };
        let told = policy.told(&subject, None, step, now);
        let episodes = self.watchdog.store.episodes();
        assert!(episodes.announce(&self.key, None, &told).await.expect("written"));
    }

    async fn status(&self, gateway: &GatewayKey, presence: Presence, seconds: f64) {
        let text = format!(
            r#"{{"schema":"{STATUS_SCHEMA}","gateway_id":"{}","status":"online",
                "at":"2026-11-21T05:10:21Z"}}"#,
            gateway.gateway
        );
        let status: GatewayStatus = serde_json::from_str(&text).expect("status");
        let status = GatewayStatus { status: presence, ..status };
        let batch = [Incoming::Status { site: gateway.site.clone(), status }];
        self.watchdog.store.intake().store(&batch, at(seconds), "dead").await.expect("stored");
    }

    async fn look(&self, seconds: f64) {
        self.clock.0.store(at(seconds).unix_ms(), Ordering::Relaxed);
        self.watchdog.look_once().await.expect("looked");
    }

    async fn record(&self) -> EpisodeRecord {
        let record = self.watchdog.store.episodes().episode(&self.key).await.expect("read");
        record.expect("stands")
    }

    /// Messages of the bearing on the way of a step.
    async fn on_the_way_of(&self, hook: &str) -> usize {
        let lane = format!("webhook:{hook}");
        let (now, until) = (at(1e8), at(1e8));
        let rows =
            self.watchdog.store.outbox().claim(&lane, now, until, 99).await.expect("claimed");
        let of_bearing = |row: &&pdm_store::Claimed| row.payload.contains("[Critical] P-101");
        rows.iter().filter(of_bearing).count()
    }
}

/// R-AGENT-10: a machine that breaks takes its gateway with it, and the Critical stayed with the
/// one person who did not answer.
#[tokio::test]
async fn the_next_step_and_the_repetition_of_an_unanswered_alarm_come_while_its_gateway_is_offline()
{
    let routed = Routed::told(0.0).await;
    let gateway: GatewayKey = "ulsan-1/gw-01".parse().expect("name");
    routed.status(&gateway, Presence::Offline, 10.0).await;
    routed.look(20.0).await;
    let silence = pdm_store::gateway_alarm::silence_alarm(&gateway.site, &gateway.gateway);
    let silence = routed.watchdog.store.episodes().episode(&silence.expect("name")).await;
    assert!(silence.expect("read").is_some_and(|one| one.is_open()), "the gateway is told");
    assert_eq!(routed.on_the_way_of("lead").await, 0);
    routed.look(62.0).await;
    assert_eq!(routed.on_the_way_of("lead").await, 1, "the next step");
    routed.look(8.0 * 3600.0 + 100.0).await;
    assert_eq!(routed.on_the_way_of("lead").await, 2, "and the repetition");
}

/// R-AGENT-10: what an earlier version had suppressed goes on after the update.
#[tokio::test]
async fn an_unanswered_alarm_that_an_earlier_version_suppressed_for_its_gateway_goes_on() {
    let routed = Routed::told(0.0).await;
    let gateway: GatewayKey = "ulsan-1/gw-01".parse().expect("name");
    routed.status(&gateway, Presence::Offline, 1.0).await;
    routed.look(10.0).await;
    let record = routed.record().await;
    let policy = &routed.watchdog.policy;
    let reason = "gateway ulsan-1/gw-01 is silent".to_owned();
    let change = policy.suppressed_by_design(&routed.key, &record, reason, at(11.0));
    let version = Some(record.version());
    let episodes = routed.watchdog.store.episodes();
    assert!(episodes.change(&routed.key, version, &change).await.expect("written"));
    for seconds in [62.0, 64.0] {
        routed.look(seconds).await;
    }
    assert_eq!(routed.on_the_way_of("lead").await, 1);
}

/// R-AGENT-10: told by a clock that was hours ahead, the next step came hours late.
#[tokio::test]
async fn the_pause_to_the_next_step_of_an_alarm_told_by_a_clock_that_was_ahead_begins_when_it_is_right()
 {
    for ahead_s in [120.0, 7200.0, 20.0 * 86_400.0] {
        let routed = Routed::told(ahead_s).await;
        routed.look(5.0).await;
        let alarm = routed.record().await.alarm.expect("told");
        let next = alarm.telling.and_then(|telling| telling.next).expect("a further step");
        assert!(next <= at(65.0), "{ahead_s}: {next}");
        let repeat_at = alarm.repeat_at.expect("repeated");
        assert!(repeat_at <= at(5.0 + 8.0 * 3600.0), "{ahead_s}: {repeat_at}");
        let sequence = routed.record().await.episode.sequence;
        routed.look(7.0).await;
        assert_eq!(routed.record().await.episode.sequence, sequence, "put right once");
        routed.look(66.0).await;
        assert_eq!(routed.on_the_way_of("lead").await, 1, "{ahead_s}");
    }
}

/// R-AGENT-10: an alarm that was given up while its only way failed was told never, although the
/// way worked again.
#[tokio::test]
async fn a_given_up_alarm_that_stands_and_that_nobody_was_told_of_is_tried_again() {
    let routed = Routed::told(0.0).await;
    let outbox = routed.watchdog.store.outbox();
    let lane = "webhook:kim";
    let claim = async || outbox.claim(lane, at(1e8), at(1e8), 9).await.expect("claimed");
    let given_up = || pdm_store::SendOutcome::GivenUp { error: "500".to_owned() };
    let row = claim().await[0].id;
    outbox.settle(&[(row, given_up())], at(1.0)).await.expect("settled");
    assert_eq!(claim().await.len(), 0);
    assert_eq!(outbox.revive(lane, at(2.0), 1).await.expect("revived"), 1);
    assert_eq!(claim().await[0].id, row, "the same row, and the same key for its receiver");
    outbox.settle(&[(row, pdm_store::SendOutcome::Delivered)], at(3.0)).await.expect("settled");
    assert_eq!(outbox.revive(lane, at(4.0), 9).await.expect("revived"), 0, "it is told");
    outbox.settle(&[(row, given_up())], at(5.0)).await.expect("settled");
    let ack = r#"{"schema":"pdm.ack/1","by":"kim","at":"2027-01-01T00:00:00Z"}"#;
    let ack = serde_json::from_str(ack).expect("ack");
    let topic = "episode".to_owned();
    let incoming = Incoming::Ack { key: routed.key.clone(), ack, topic };
    let intake = routed.watchdog.store.intake();
    intake.store(&[incoming], at(6.0), "dead").await.expect("stored");
    assert_eq!(outbox.revive(lane, at(7.0), 9).await.expect("revived"), 0, "somebody knows");
}
