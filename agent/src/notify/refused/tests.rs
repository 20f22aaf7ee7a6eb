//! Gateways whose events cannot be read, on a real store.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use pdm_service::clock::Clock;
use pdm_shared::delivery::DeadLetter;
use pdm_shared::event::Event;
use pdm_shared::id::EventId;
use pdm_shared::topic::Prefix;
use pdm_store::{Incoming, RefusedMessage, Store, UnreadEvent};

use super::*;
use crate::notify::policy::Policy;
use crate::notify::test_clock::SetClock;
use crate::settings::NotifySettings;

const EVENT: &str = include_str!("../../../../config/examples/event.json");

struct Bench {
    _folder: tempfile::TempDir,
    clock: Arc<SetClock>,
    watchdog: Watchdog,
}

impl Bench {
    async fn new() -> Self {
        let folder = tempfile::tempdir().expect("folder");
        let store = Store::open_sqlite(&folder.path().join("agent.db")).await.expect("opens");
        store.migrate().await.expect("migrated");
        let clock = Arc::new(SetClock::default());
        let policy = Policy::new(NotifySettings::default(), Prefix::default());
        let watchdog = Watchdog::of_time_alone(store, Arc::clone(&clock) as _, policy);
        Self { _folder: folder, clock, watchdog }
    }

    /// So many messages under the topic of a bearing that are no events.
    async fn unread(&self, count: u32, of_text: Option<&str>) {
        let event: Event = serde_json::from_str(EVENT).expect("event");
        let reason = "not an event: schema is \"pdm.event/2\", expected \"pdm.event/1\"";
        for number in 0..count {
            let payload = format!("{number}");
            let now = self.clock.now();
            let letter = DeadLetter::of("topic", payload.as_bytes(), reason.to_owned(), now);
            let of_text = of_text.map(|name| name.parse().expect("a name"));
            let event_of = Some(UnreadEvent { bearing: event.key(), of_topic: None, of_text });
            self.store(Incoming::Refused(RefusedMessage { letter, event_of })).await;
        }
    }

    async fn read(&self, sequence: u64) {
        let mut event: Event = serde_json::from_str(EVENT).expect("event");
        event.measured_at = event.measured_at.plus_seconds(60.0 * sequence as f64);
        event.event_id = EventId::at(event.measured_at.unix_ms());
        event.sequence = sequence;
        let payload = serde_json::to_string(&event).expect("json");
        self.store(Incoming::Event { event: Box::new(event), payload, proven: false }).await;
    }

    async fn store(&self, incoming: Incoming) {
        let intake = self.watchdog.store.intake();
        intake.store(&[incoming], self.clock.now(), "dead").await.expect("stored");
    }

    async fn look(&self) -> Vec<String> {
        self.clock.0.fetch_add(2000, Ordering::Relaxed);
        self.watchdog.look_at_refused(self.clock.now()).await.expect("looked")
    }

    async fn titles(&self) -> Vec<String> {
        let now = self.clock.now();
        let told = self.watchdog.store.pages().notifications(None, now.plus_seconds(9.0), 99).await;
        let titles = told.expect("read").into_iter().map(|one| one.title.en);
        titles.collect::<Vec<_>>().into_iter().rev().collect()
    }
}

/// R-AGENT-10: a gateway that was updated before the agent sent eight Criticals into the dead
/// letters, with health "ok".
#[tokio::test]
async fn a_gateway_whose_events_cannot_be_read_is_told_and_its_end_too() {
    let bench = Bench::new().await;
    bench.read(1).await;
    bench.unread(2, None).await;
    assert!(bench.look().await.is_empty(), "two damaged messages are no gateway at fault");
    bench.unread(1, None).await;
    let said = bench.look().await;
    assert!(said[0].contains("gw-01") && said[0].contains("pdm.event/2"), "{said:?}");
    assert_eq!(bench.titles().await, ["[Refused] events of gateway gw-01 are refused"]);
    bench.unread(5, None).await;
    assert_eq!(bench.look().await.len(), 1);
    assert_eq!(bench.titles().await.len(), 1, "told once");
    for sequence in 2..6 {
        bench.read(sequence).await;
    }
    assert!(bench.look().await.is_empty());
    let titles = bench.titles().await;
    assert_eq!(
        titles.last().expect("told"),
        "[Cleared] events of gateway gw-01 are refused no more"
    );
}

/// One damaged message now and then among many good ones is no alarm; most of them are one.
#[tokio::test]
async fn damaged_messages_now_and_then_are_no_alarm_and_most_of_them_are_one() {
    let bench = Bench::new().await;
    for sequence in 1..10 {
        bench.read(sequence).await;
        bench.unread(1, None).await;
        assert!(bench.look().await.is_empty(), "{sequence}");
    }
    for sequence in 10..14 {
        bench.read(sequence).await;
        bench.unread(6, None).await;
        bench.look().await;
    }
    assert_eq!(bench.titles().await, ["[Refused] events of gateway gw-01 are refused"]);
}

/// Of a gateway that has never sent an event that could be read, its name in the text has to do; of
/// text without one, too.
#[tokio::test]
async fn a_gateway_that_is_not_known_yet_is_told_by_the_name_in_its_messages() {
    for (of_text, told) in [(Some("gw-77"), "gw-77"), (None, "unnamed")] {
        let bench = Bench::new().await;
        bench.unread(3, of_text).await;
        assert!(bench.look().await[0].contains(told));
        assert_eq!(
            bench.titles().await,
            [format!("[Refused] events of gateway {told} are refused")]
        );
    }
}
