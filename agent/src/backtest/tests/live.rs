//! Live and back-test, episode by episode: the agent's own judging task, store and watch on the
//! same events and on a clock that shows their time.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use pdm_service::clock::{Clock, SharedClock};
use pdm_shared::delivery::NotificationReason;
use pdm_shared::id::BearingKey;
use pdm_shared::time::Timestamp;
use pdm_shared::topic::Prefix;
use pdm_store::{Incoming, Store};
use rand::{RngExt as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;

use super::*;
use crate::backtest::played::EpisodePlayed;
use crate::judging::Judging;
use crate::notify::policy::Policy;
use crate::notify::silence::Watchdog;
use crate::settings::AgentSettings;
use crate::workflow::{Expert, Workflow};

/// Looks of the watch between two events at which nothing is due, at most.
const IDLE_LOOKS: u32 = 4;

#[derive(Debug)]
struct StageClock(AtomicI64);

impl Clock for StageClock {
    fn now(&self) -> Timestamp {
        Timestamp::from_unix_ms(self.0.load(Ordering::Relaxed)).expect("in range")
    }
}

/// The agent without broker and channels.
struct Agent {
    store: Store,
    clock: Arc<StageClock>,
    judging: Judging,
    watchdog: Watchdog,
    _folder: tempfile::TempDir,
}

impl Agent {
    async fn new(side: &Side, begin: Timestamp) -> Self {
        let folder = tempfile::tempdir().expect("folder");
        let settings = AgentSettings::embedded("127.0.0.1", 1883, folder.path().join("agent.db"));
        let store = pdm_store::open(&settings.store).await.expect("a store");
        let clock = Arc::new(StageClock(AtomicI64::new(begin.unix_ms())));
        let shared: SharedClock = clock.clone();
        let workflow = Workflow::new(Expert::new(side.rules.clone()), Arc::clone(&shared));
        let prefix = Prefix::default();
        let judging =
            Judging::new(store.judging(), Arc::clone(&shared), workflow, &side.notify, &prefix);
        let policy = Policy::new(side.notify.clone(), prefix);
        let watchdog = Watchdog::of_time_alone(store.clone(), shared, policy);
        Self { store, clock, judging, watchdog, _folder: folder }
    }

    async fn look(&self, at: Timestamp) {
        self.clock.0.store(at.unix_ms(), Ordering::Relaxed);
        self.watchdog.look_once().await.expect("looked");
    }

    async fn event(&self, event: &Event, at: Timestamp) {
        self.clock.0.store(at.unix_ms(), Ordering::Relaxed);
        let payload = serde_json::to_string(event).expect("json");
        let batch = [Incoming::Event { event: Box::new(event.clone()), payload, proven: false }];
        self.store.intake().store(&batch, at, "dead-letter").await.expect("stored");
        self.judging.pass().await.expect("judged");
    }

    async fn episodes(&self, key: &BearingKey) -> Vec<EpisodePlayed> {
        let far = Timestamp::from_unix_ms(4_000_000_000_000).expect("in range");
        let all = self.store.episodes().episodes(far, false, 100_000).await.expect("read");
        let mine = all.into_iter().filter(|(of, _)| of == key);
        let mut mine: Vec<EpisodePlayed> = mine.map(|(_, record)| record.episode.into()).collect();
        mine.sort_by_key(|one| (one.opened_at, one.id));
        mine
    }

    /// Returns the messages to staff, without those that quiet hours held back, whose second row
    /// has the first one's name.
    async fn told(&self, key: &BearingKey) -> Vec<(Timestamp, NotificationReason, String)> {
        let far = Timestamp::from_unix_ms(4_000_000_000_000).expect("in range");
        let told = self.store.pages().notifications(Some(key), far, 100_000).await.expect("read");
        let mut told: Vec<_> =
            told.into_iter().map(|one| (one.created_at, one.reason, one.title.en)).collect();
        told.sort_by(|one, other| (one.0, &one.2).cmp(&(other.0, &other.2)));
        told
    }
}

/// Plays events in both and compares them. Says how many episodes and messages there were.
async fn agree(side: Side, events: &[Event]) -> (usize, usize) {
    let terms = Terms { sides: vec![side], acknowledged_after_s: None };
    let ended = |event: &Event| event.measured_at.plus_seconds(event.window.duration_s);
    let agent = Agent::new(&terms.sides[0], ended(&events[0])).await;
    let mut play = MachinePlay::new(&terms, MachineKey::of(&events[0]), Vec::new());
    let mut now = ended(&events[0]);
    for event in events {
        let next = ended(event).max(now);
        // the watch also looks where the back-test finds nothing to do
        let idle_s = next.seconds_since(now) / f64::from(IDLE_LOOKS + 1);
        for look in 1..=IDLE_LOOKS {
            let idle = now.plus_seconds(idle_s * f64::from(look));
            while let Some(due) = play.next_at().filter(|due| *due <= idle) {
                play.pass(due);
                agent.look(due).await;
            }
            agent.look(idle).await;
        }
        while let Some(due) = play.next_at().filter(|due| *due <= next) {
            play.pass(due);
            agent.look(due).await;
        }
        now = next;
        agent.event(event, now).await;
        play.event(event);
    }
    let played = play.end();
    let (mut episodes, mut messages) = (0, 0);
    for bearing in &played.bearings {
        let key = &bearing.bearing;
        let side = &bearing.sides[0];
        let mut mine = side.episodes.clone();
        mine.sort_by_key(|one| (one.opened_at, one.id));
        assert_eq!(agent.episodes(key).await, mine, "episodes of {key}");
        let mut told: Vec<_> =
            side.messages.iter().map(|one| (one.at, one.reason, one.title.en.clone())).collect();
        told.sort_by(|one, other| (one.0, &one.2).cmp(&(other.0, &other.2)));
        told.dedup();
        assert_eq!(agent.told(key).await, told, "messages of {key}");
        (episodes, messages) = (episodes + mine.len(), messages + told.len());
    }
    agent.store.close().await;
    (episodes, messages)
}

/// A second bearing of the machine that follows the first one some minutes later.
fn with_neighbour(events: Vec<Event>, later_s: f64) -> Vec<Event> {
    let of = |event: &Event| {
        let mut other = event.clone();
        other.bearing_id = "NDE".parse().expect("a name");
        other.measured_at = event.measured_at.plus_seconds(later_s);
        other.event_id = EventId(Uuid::from_u128(event.event_id.0.as_u128() ^ (1 << 70)));
        other
    };
    let mut all: Vec<Event> = events.iter().map(of).chain(events.iter().cloned()).collect();
    all.sort_by_key(|event| event.measured_at);
    for (number, event) in (1..).zip(&mut all) {
        event.sequence = number;
    }
    all
}

/// The runs that the edge made, and those written by hand, each with a neighbour.
#[tokio::test(flavor = "multi_thread")]
async fn live_is_the_back_test_episode_by_episode_on_the_runs_at_hand() {
    let folder = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../config/scenarios"));
    let mut scenarios = crate::scenario::read_scenarios(folder).expect("scenarios");
    scenarios.extend(crate::scenario::read_scenarios(&folder.join("edge")).expect("recorded ones"));
    let mut tasks = tokio::task::JoinSet::new();
    for scenario in scenarios {
        let events: Vec<Event> =
            scenario.events().map(|(_, event)| event.expect("an event")).collect();
        let events = with_neighbour(events, 600.0);
        tasks.spawn(async move { (scenario.name, agree(Side::shipped(None), &events).await) });
    }
    let (mut episodes, mut messages) = (0, 0);
    while let Some(agreed) = tasks.join_next().await {
        let (name, (of_episodes, of_messages)) = agreed.expect("live and back-test agree");
        println!("{name}: {of_episodes} episodes, {of_messages} messages");
        (episodes, messages) = (episodes + of_episodes, messages + of_messages);
    }
    assert!(episodes > 30 && messages > 60, "{episodes} episodes, {messages} messages");
}

/// Routes, rotas and quiet hours.
const ROUTES: &str = r#"
[store]
sqlite = "a.db"
[notify]
repeat_after_h = 3.0
zone = "Asia/Seoul"
quiet = [{ from = "22:00", to = "07:00" }]
[notify.email]
host = "localhost"
security = "none"
from_address = "pdm@plant.example"
[[notify.recipient]]
name = "kim"
email = "kim@plant.example"
[[notify.recipient]]
name = "choi"
email = "choi@plant.example"
email_from = "Warning"
[[notify.route]]
name = "pumps"
step = [{ to = ["kim"] }, { after_minutes = 45, to = ["choi"] }]
"#;

/// Bearings that wander around their thresholds, told by routes: courses that nobody wrote.
#[tokio::test(flavor = "multi_thread")]
async fn live_is_the_back_test_on_drawn_courses_by_routes() {
    let settings = AgentSettings::parse(Path::new("/etc/pdm/agent.toml"), ROUTES).expect("valid");
    let mut tasks = tokio::task::JoinSet::new();
    for seed in 0..6 {
        let side = Side::of(format!("seed {seed}"), &settings);
        tasks.spawn(async move {
            let mut random = ChaCha8Rng::seed_from_u64(seed);
            let mut events = Vec::new();
            for bearing in ["DE", "NDE", "X"] {
                let mut level: f64 = 0.3;
                for number in 1..=240 {
                    level += random.random_range(-0.12..0.12) - 0.03 * (level - 0.45);
                    let mut event = window("P-1", bearing, number, level.exp());
                    let drawn_s = random.random_range(0..900);
                    event.measured_at = event.measured_at.plus_seconds(f64::from(drawn_s));
                    events.push(event);
                }
            }
            events.sort_by_key(|event| event.measured_at);
            for (number, event) in (1..).zip(&mut events) {
                event.sequence = number;
            }
            agree(side, &events).await
        });
    }
    let (mut episodes, mut messages) = (0, 0);
    while let Some(agreed) = tasks.join_next().await {
        let (of_episodes, of_messages) = agreed.expect("live and back-test agree");
        (episodes, messages) = (episodes + of_episodes, messages + of_messages);
    }
    println!("{episodes} episodes, {messages} messages");
    assert!(episodes > 15 && messages > 60, "{episodes} episodes, {messages} messages");
}
