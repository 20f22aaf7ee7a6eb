//! What waits on a lane that is busy with a message which its receiver does not answer, on a real
//! store and a clock of its own.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use pdm_shared::id::BearingKey;
use pdm_shared::risk::RiskLevel;
use pdm_shared::text::Text;
use pdm_shared::topic::Prefix;
use pdm_store::{Store, webhook_lane};
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

use super::*;
use crate::notify::elsewhere::Elsewhere;
use crate::notify::policy::Policy;
use crate::notify::test_clock::{BEGIN_MS, SetClock, since_begin as at};
use crate::progress::Reporter;
use crate::settings::AgentSettings;

const ROUTE: &str = r#"
[store]
sqlite = "agent.db"

[broker]
addresses = ["127.0.0.1:1883"]

[[notify.webhook]]
name = "kim"
url = "http://127.0.0.1:9/kim"

[[notify.webhook]]
name = "office"
url = "http://127.0.0.1:9/office"

[[notify.route]]
name = "all"
[[notify.route.step]]
to = ["kim"]
"#;

/// An alarm whose route has one way, on a lane that tries nothing.
struct Bench {
    _folder: tempfile::TempDir,
    store: Store,
    clock: Arc<SetClock>,
    reporter: Reporter,
    lane: Lane,
    told: Uuid,
}

impl Bench {
    async fn new(text: &str) -> Self {
        let folder = tempfile::tempdir().expect("folder");
        let store = Store::open_sqlite(&folder.path().join("agent.db")).await.expect("opens");
        store.migrate().await.expect("migrated");
        let settings = AgentSettings::parse(Path::new("agent.toml"), text).expect("settings");
        let policy = Policy::new(settings.notify, Prefix::default());
        let clock = Arc::new(SetClock::default());
        let key = BearingKey::parse("ulsan-1", "P-101", "DE").expect("names");
        let words = (Text::new("가", "title"), Text::new("나", "body"));
        let alarm = policy.silent(&key, RiskLevel::Critical, words, &[], at(0.0)).expect("told");
        let told = alarm.notification.notification_id;
        assert!(store.episodes().announce(&key, None, &alarm).await.expect("written"));
        let reporter = Reporter::new();
        let clock_of = || Arc::clone(&clock) as pdm_service::clock::SharedClock;
        let elsewhere =
            Arc::new(Elsewhere::new(store.clone(), clock_of(), policy, reporter.clone()));
        let lane = Lane {
            store: store.outbox(),
            clock: clock_of(),
            reporter: reporter.clone(),
            written: Arc::new(Notify::new()),
            give_up_after: Duration::from_hours(24),
            elsewhere,
            stop: CancellationToken::new(),
        };
        Self { _folder: folder, store, clock, reporter, lane, told }
    }

    /// One look so many seconds after the alarm, of a lane that has run for long.
    async fn look(&self, after_s: i64, looks: &mut LateLooks) {
        self.clock.0.store(BEGIN_MS + 1000 * after_s, Ordering::Relaxed);
        let long_ago = Instant::now().checked_sub(Duration::from_mins(5)).expect("in range");
        (looks.begun, looks.looked) = (long_ago, long_ago);
        self.lane.look_at_late(&webhook_lane("kim"), looks).await;
    }

    async fn lanes(&self) -> Vec<String> {
        let ways = self.store.outbox().ways(self.told, at(-1e6)).await.expect("read");
        ways.into_iter().map(|(lane, _)| lane).collect()
    }
}

/// R-AGENT-10.
#[tokio::test]
async fn an_alarm_behind_a_message_without_an_answer_is_told_by_another_way() {
    let bench = Bench::new(ROUTE).await;
    let (kim, office) = (webhook_lane("kim"), webhook_lane("office"));
    let mut looks = LateLooks::new();
    assert_eq!(bench.lanes().await, std::slice::from_ref(&kim));
    bench.look(200, &mut looks).await;
    bench.look(215, &mut looks).await;
    assert_eq!(bench.lanes().await, std::slice::from_ref(&kim), "it has not waited for long");
    bench.look(290, &mut looks).await;
    assert_eq!(bench.lanes().await, std::slice::from_ref(&kim), "the lane may be about to try it");
    bench.look(305, &mut looks).await;
    assert_eq!(bench.lanes().await, [kim, office]);
    assert_eq!(bench.reporter.progress().borrow().untold, 0);
}

/// R-AGENT-10: health said ok while nobody was told.
#[tokio::test]
async fn an_alarm_that_no_other_way_takes_counts_as_told_to_nobody() {
    let text = ROUTE.replace(
        "[[notify.webhook]]\nname = \"office\"\nurl = \"http://127.0.0.1:9/office\"\n\n",
        "",
    );
    let bench = Bench::new(&text).await;
    let mut looks = LateLooks::new();
    bench.look(290, &mut looks).await;
    bench.look(305, &mut looks).await;
    assert_eq!(bench.reporter.progress().borrow().untold, 1);
    bench.lane.elsewhere.have_reached(std::iter::once(bench.told));
    assert_eq!(bench.reporter.progress().borrow().untold, 0);
}
