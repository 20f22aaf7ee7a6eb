//! R-AGENT-3: killed at every single point of a run, the agent goes on where it was: the same
//! diagnosis, the same trace, staff told once.
//!
//! The agent that is killed is this test's own binary, started again for one test that judges what
//! waits in a folder; its observer says where it is and waits to be killed. So the program itself
//! needs no switch for it.

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use pdm_agent::judging::Judging;
use pdm_agent::service::search::SearchedKnowledge;
use pdm_agent::settings::NotifySettings;
use pdm_agent::workflow::documents::{DocumentError, DocumentOutcome, Documents, Written};
use pdm_agent::workflow::{Expert, Node, Observer, Phase, State, Workflow};
use pdm_expert::rules::Rules;
use pdm_knowledge::keeper::Keeper;
use pdm_knowledge::{Knowledge, KnowledgeSettings};
use pdm_report::files::DocumentKind;
use pdm_service::clock::Clock;
use pdm_shared::event::Event;
use pdm_shared::id::EventId;
use pdm_shared::time::Timestamp;
use pdm_shared::topic::Prefix;
use pdm_store::{Incoming, Store};
use pdm_tools::{Catalogue, ExecutorResources, Runtime, mcp};
use serde_json::Value;
use sqlx::Row as _;

/// Folder of the agent that is to be killed.
const FOLDER: &str = "PDM_TEST_FOLDER";
/// Which of the points it comes to is its last, from 1.
const LAST: &str = "PDM_TEST_LAST_POINT";
/// The text that the agent prints when it is at that point.
const THERE: &str = "here I stand";

/// The moment at which everything happens, so that runs can be compared.
#[derive(Debug)]
struct StoppedClock;

impl Clock for StoppedClock {
    fn now(&self) -> Timestamp {
        event().measured_at.plus_seconds(5.0)
    }
}

fn event() -> Event {
    let text = include_str!("../../config/examples/event.json");
    let mut event: Event = serde_json::from_str(text).expect("event");
    event.trend.acceleration_detected = true;
    event
}

/// Writes documents into the folder: the same again replaces itself.
#[derive(Debug)]
struct Folder(PathBuf);

#[async_trait]
impl Documents for Folder {
    fn places(&self, kind: DocumentKind, _state: &State) -> Vec<Written> {
        vec![Written { kind, place: format!("{kind:?}.json") }]
    }

    async fn write(
        &self,
        kind: DocumentKind,
        state: &State,
    ) -> Result<DocumentOutcome, DocumentError> {
        let place = self.0.join(format!("{kind:?}.json"));
        let text = serde_json::to_string(&state.inquiry).expect("json");
        std::fs::write(&place, text).expect("written");
        let written = vec![Written { kind, place: format!("{kind:?}.json") }];
        Ok(DocumentOutcome { written, ungrounded: Vec::new() })
    }
}

/// Counts the points of a run; at the last one it says so and waits to be killed.
#[derive(Debug, Default)]
struct Points {
    last: Option<usize>,
    seen: Mutex<Vec<(Node, Phase)>>,
}

impl Observer for Points {
    fn reached(&self, _: EventId, node: Node, phase: Phase) {
        let mut seen = self.seen.lock().expect("lock");
        seen.push((node, phase));
        if Some(seen.len()) == self.last {
            let mut out = std::io::stdout().lock();
            writeln!(out, "{THERE}").expect("said");
            out.flush().expect("said");
            loop {
                std::thread::park();
            }
        }
    }
}

async fn judging(folder: &Path, points: Arc<Points>) -> (Judging, Store) {
    let store = Store::open_sqlite(&folder.join("agent.db")).await.expect("opens");
    store.migrate().await.expect("migrated");
    let knowledge = Knowledge::open(&KnowledgeSettings::embedded_in(folder)).await.expect("opens");
    let means = ExecutorResources {
        knowledge: Some(Arc::new(SearchedKnowledge(knowledge))),
        ..ExecutorResources::default()
    };
    let (catalogue, problems) = Catalogue::shipped();
    assert!(problems.is_empty(), "{problems:?}");
    let tools = mcp::in_process(Arc::new(Runtime::new(catalogue, means))).await;
    let clock = Arc::new(StoppedClock);
    let workflow = Workflow::new(Expert::new(Rules::default()), clock.clone())
        .with_tools(Arc::new(tools.expect("in this process")))
        .with_documents(Arc::new(Folder(folder.to_owned())))
        .with_observer(points);
    let (notify, prefix) = (NotifySettings::default(), Prefix::default());
    let judging = Judging::new(store.judging(), clock, workflow, &notify, &prefix);
    (judging.with_knowledge(), store)
}

/// Everything that a run leaves, without the identities that are drawn anew.
#[derive(Debug, PartialEq)]
struct Left {
    diagnosis: Value,
    trace: Vec<Value>,
    outbox: Vec<(String, Option<String>, String)>,
    notifications: i64,
    checkpoints: i64,
    report: String,
    work_order: String,
}

async fn left(folder: &Path, store: &Store) -> Left {
    let id = event().event_id;
    let diagnosis = store.history().diagnosis(id).await.expect("read").expect("judged");
    let mut diagnosis = serde_json::to_value(diagnosis).expect("json");
    let drawn = told(&diagnosis);
    let same = |value: &mut Value| {
        if let Some(drawn) = &drawn {
            let text = value.to_string().replace(drawn, "told");
            *value = serde_json::from_str(&text).expect("json");
        }
    };
    same(&mut diagnosis);
    let steps = store.history().trace(id).await.expect("read");
    let mut trace: Vec<Value> =
        steps.iter().map(|step| serde_json::to_value(step).expect("json")).collect();
    trace.iter_mut().for_each(same);
    let url = format!("sqlite://{}", folder.join("agent.db").display());
    let pool = sqlx::SqlitePool::connect(&url).await.expect("opens");
    let count = async |table: &str| {
        let query = sqlx::AssertSqlSafe(format!("SELECT count(*) FROM {table}"));
        sqlx::query(query).fetch_one(&pool).await.expect("counted").get::<i64, _>(0)
    };
    let rows = sqlx::query(
        "SELECT lane, topic, coalesce(diagnosis, payload) AS payload
         FROM outbox LEFT JOIN pdm_agent_memory ON event_id = judgement_of ORDER BY outbox.id",
    );
    let rows = rows.fetch_all(&pool).await.expect("read");
    let outbox = rows.iter().map(|row| {
        let mut payload: Value = serde_json::from_str(row.get("payload")).expect("json");
        same(&mut payload);
        (row.get("lane"), row.get("topic"), payload.to_string())
    });
    let read = |name: &str| std::fs::read_to_string(folder.join(name)).expect("a document");
    let left = Left {
        diagnosis,
        trace,
        outbox: outbox.collect(),
        notifications: count("notifications").await,
        checkpoints: count("checkpoints").await,
        report: read("Report.json"),
        work_order: read("WorkOrder.json"),
    };
    pool.close().await;
    left
}

/// The identity under which staff was told.
fn told(diagnosis: &Value) -> Option<String> {
    diagnosis["notification"]["notification_id"].as_str().map(str::to_owned)
}

/// A folder with an event that waits and a knowledge base that is filled.
async fn prepared(folder: &Path) {
    let settings = KnowledgeSettings::embedded_in(folder);
    let knowledge = Knowledge::open(&settings).await.expect("opens");
    Keeper::new(knowledge, None).fill().await.expect("filled");
    let store = Store::open_sqlite(&folder.join("agent.db")).await.expect("opens");
    store.migrate().await.expect("migrated");
    let event = event();
    let payload = serde_json::to_string(&event).expect("json");
    let batch = [Incoming::Event { event: Box::new(event), payload, proven: false }];
    store.intake().store(&batch, StoppedClock.now(), "dead").await.expect("stored");
    store.close().await;
}

fn copied(from: &Path) -> tempfile::TempDir {
    let to = tempfile::tempdir().expect("folder");
    for entry in std::fs::read_dir(from).expect("folder") {
        let file = entry.expect("entry");
        std::fs::copy(file.path(), to.path().join(file.file_name())).expect("copied");
    }
    to
}

/// The agent that is killed: nothing, unless this binary was started as it.
#[test]
fn agent_that_is_killed() {
    let Some(folder) = std::env::var_os(FOLDER) else { return };
    let last = std::env::var(LAST).ok().and_then(|last| last.parse().ok());
    let points = Arc::new(Points { last, ..Points::default() });
    let tokio = tokio::runtime::Builder::new_current_thread().enable_all().build();
    tokio.expect("runtime").block_on(async {
        let (judging, _) = judging(Path::new(&folder), points).await;
        judging.pass().await.expect("judged");
    });
}

/// Starts the agent in a folder and kills it (SIGKILL) at this point of its run.
fn killed_at(folder: &Path, point: usize) {
    let mut agent = Command::new(std::env::current_exe().expect("this binary"))
        .args(["--exact", "agent_that_is_killed", "--nocapture"])
        .env(FOLDER, folder)
        .env(LAST, point.to_string())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("starts");
    let out = BufReader::new(agent.stdout.take().expect("piped"));
    let came = out.lines().map_while(Result::ok).any(|line| line.ends_with(THERE));
    assert!(came, "it never came to point {point}");
    agent.kill().expect("killed");
    agent.wait().expect("gone");
}

#[tokio::test]
async fn an_agent_killed_at_any_node_goes_on_to_the_same_end() {
    let template = tempfile::tempdir().expect("folder");
    prepared(template.path()).await;
    let undisturbed = copied(template.path());
    let points = Arc::new(Points::default());
    let (agent, store) = judging(undisturbed.path(), points.clone()).await;
    assert_eq!(agent.pass().await.expect("judged"), 1);
    let wanted = left(undisturbed.path(), &store).await;
    // the alarm alone, which says where its documents will be
    assert_eq!((wanted.notifications, wanted.checkpoints), (1, 0));
    let told =
        store.episodes().episode(&event().key()).await.expect("read").and_then(|one| one.alarm);
    let body = told.expect("told").notification.body.en;
    assert!(body.contains("Report: Report.json") && body.contains("WorkOrder.json"), "{body}");
    let points = points.seen.lock().expect("lock").clone();
    for node in Node::ALL {
        assert!(points.iter().any(|(seen, _)| *seen == node), "{node} is part of this run");
    }
    // staff is told before the first document is begun: from then on only documents are left
    let told = points.iter().position(|(node, _)| *node == Node::GenerateReport);
    let told = told.expect("documents are part of this run");
    for (at, point) in points.iter().enumerate() {
        let folder = copied(template.path());
        killed_at(folder.path(), at + 1);
        let (agent, store) = judging(folder.path(), Arc::default()).await;
        let rest = agent.pass().await.expect("judged");
        assert_eq!(rest, usize::from(at < told), "{point:?}");
        assert_eq!(left(folder.path(), &store).await, wanted, "killed at {point:?}");
    }
}

/// Documents that are never finished, as with a disk that hangs.
#[derive(Debug)]
struct Never;

#[async_trait]
impl Documents for Never {
    async fn write(&self, _: DocumentKind, _: &State) -> Result<DocumentOutcome, DocumentError> {
        std::future::pending().await
    }
}

/// Staff is told of every alarm while the documents of the first are still being written.
#[tokio::test]
async fn documents_that_never_end_hold_up_no_alarm() {
    let folder = tempfile::tempdir().expect("folder");
    let store = Store::open_sqlite(&folder.path().join("agent.db")).await.expect("opens");
    store.migrate().await.expect("migrated");
    let clock = Arc::new(StoppedClock);
    let workflow =
        Workflow::new(Expert::new(Rules::default()), clock.clone()).with_documents(Arc::new(Never));
    let (notify, prefix) = (NotifySettings::default(), Prefix::default());
    let judging = Judging::new(store.judging(), clock, workflow, &notify, &prefix);
    let stop = tokio_util::sync::CancellationToken::new();
    let running = tokio::spawn(judging.run(stop));
    for n in 1..=3 {
        let mut event = event();
        event.bearing_id = format!("B{n}").parse().expect("a name");
        event.sequence = n;
        event.event_id = EventId::at(i64::try_from(n).expect("small"));
        let (key, payload) = (event.key(), serde_json::to_string(&event).expect("json"));
        let batch = [Incoming::Event { event: Box::new(event), payload, proven: false }];
        store.intake().store(&batch, StoppedClock.now(), "dead").await.expect("stored");
        let begun = std::time::Instant::now();
        while store.episodes().episode(&key).await.expect("read").is_none() {
            assert!(begun.elapsed().as_secs() < 30, "alarm {n} waits for documents");
            tokio::time::sleep(std::time::Duration::from_millis(20)).await;
        }
    }
    running.abort();
}
