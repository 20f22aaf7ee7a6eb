//! The documents of a running agent: on disk where they are due, nowhere else, once, whole after
//! `kill -9`, and the same when they are written again (R-AGENT-3, R-AGENT-8, R-AGENT-11).

mod support;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::Duration;

use pdm_harness::{Child, Mosquitto, Persistence, Postgres};
use pdm_shared::diagnosis::Diagnosis;
use pdm_shared::event::{Event, Rul, TrendDirection};
use pdm_shared::id::BearingId;
use pdm_shared::risk::RiskLevel;

use support::{Client, event, healthy, until};

/// The two documents in their five forms.
const ENDS: [&str; 10] = [
    "report.json",
    "report.ko.html",
    "report.ko.pdf",
    "report.en.html",
    "report.en.pdf",
    "work-order.json",
    "work-order.ko.html",
    "work-order.ko.pdf",
    "work-order.en.html",
    "work-order.en.pdf",
];

/// An agent that writes documents, as it is installed.
struct Plant {
    broker: Mosquitto,
    folder: tempfile::TempDir,
}

impl Plant {
    fn new(test: &str, store: &str) -> Option<Self> {
        let broker = Mosquitto::start(test, Persistence::Memory)?;
        let folder = tempfile::tempdir().expect("folder");
        let text = format!(
            "[store]\n{store}\n[knowledge]\nstore = {{ sqlite = \"knowledge.db\" }}\n\
             [broker]\naddresses = [\"127.0.0.1:{}\"]\n[notify]\ngroup_wait_s = \
             0.0\nrelated_within_min = 0.0\n\
             [reports]\nfolder = \"reports\"\n",
            broker.port()
        );
        std::fs::write(folder.path().join("agent.toml"), text).expect("configuration");
        Some(Self { broker, folder })
    }

    fn command(&self) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_pdm-agent"));
        command.current_dir(self.folder.path()).env("PDM_AGENT_CONFIG", "agent.toml");
        command
    }

    fn run(&self) -> Child {
        Child::start(self.command().arg("run").stdout(Stdio::null()).stderr(Stdio::null()))
    }

    fn reports(&self) -> PathBuf {
        self.folder.path().join("reports")
    }

    /// A client that hears judgements, and the agent's session: it has stored the first window.
    async fn client(&self) -> Client {
        let filters = ["pdm/v1/+/+/+/diagnosis"];
        let mut client = Client::connect(self.broker.port(), "test", &filters).await;
        let first = healthy(1);
        let deadline = tokio::time::Instant::now() + Duration::from_mins(4);
        while judged(&client).is_empty() {
            assert!(tokio::time::Instant::now() < deadline, "the agent does not listen");
            client.send(std::slice::from_ref(&first)).await;
            tokio::time::sleep(Duration::from_millis(200)).await;
        }
        client
    }
}

/// The judgements that were published.
fn judged(client: &Client) -> Vec<Diagnosis> {
    let heard = client.heard_on("/diagnosis");
    heard.iter().map(|text| serde_json::from_str(text).expect("a diagnosis")).collect()
}

fn risk_of(client: &Client, event: &Event) -> Option<RiskLevel> {
    let judged = judged(client);
    judged.iter().find(|one| one.event_id == event.event_id).map(|one| one.risk_level)
}

/// Returns how many files a folder has, while they come and go.
fn count(folder: &Path) -> usize {
    std::fs::read_dir(folder).into_iter().flatten().count()
}

/// Every file of a folder with its bytes, once it is left alone.
fn files(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let named = entries.map(|entry| {
        let name = entry.file_name().to_string_lossy().into_owned();
        (name, std::fs::read(entry.path()).expect("read"))
    });
    named.collect()
}

/// The names of an event's ten files.
fn ten_of(event: &Event) -> Vec<String> {
    let at = event.measured_at.date_time().format("%Y%m%dT%H%M%SZ");
    let stem = format!("{at}-{}", event.event_id);
    let mut names: Vec<String> = ENDS.iter().map(|end| format!("{stem}-{end}")).collect();
    names.sort();
    names
}

/// Whether the ten files of an event are on disk.
fn are_there(plant: &Plant, event: &Event) -> bool {
    ten_of(event).iter().all(|name| plant.reports().join(name).exists())
}

/// A fuller envelope without any line, and a level trend: Watch.
fn doubtful(sequence: u64) -> Event {
    let mut event = healthy(sequence);
    event.anomaly_detected = true;
    event.anomaly.score = Some(0.75);
    event.anomaly.contributors = vec!["envelope_rms_g".to_owned()];
    event.trend.trend_direction = TrendDirection::Stable;
    event.rul = Rul::unknown("no rising trend");
    event
}

fn at_bearing(mut event: Event, bearing: &str) -> Event {
    event.bearing_id = bearing.parse::<BearingId>().expect("an id");
    event
}

fn again(plant: &Plant, event: &Event, folder: &Path) -> Output {
    let mut command = plant.command();
    command.args(["report", &event.event_id.to_string(), "--out"]).arg(folder);
    command.output().expect("runs")
}

/// Normal, Watch, Warning, and Warning still: one set of ten files, of the third; written again
/// from the store they are the same to the byte.
async fn one_set_of_documents(plant: &Plant) {
    let mut agent = plant.run();
    let mut client = plant.client().await;
    let (watch, warning, still) = (doubtful(2), event(3), event(4));
    client.send(&[watch.clone(), warning.clone(), still.clone()]).await;
    until("judgements", 60, || risk_of(&client, &still).is_some()).await;
    assert_eq!(risk_of(&client, &watch), Some(RiskLevel::Watch));
    assert_eq!(risk_of(&client, &warning), Some(RiskLevel::Warning));
    assert_eq!(risk_of(&client, &still), Some(RiskLevel::Warning));
    until("the documents", 60, || are_there(plant, &warning)).await;
    let written = files(&plant.reports());
    assert_eq!(written.keys().cloned().collect::<Vec<_>>(), ten_of(&warning));

    let copies = plant.folder.path().join("again");
    let output = again(plant, &warning, &copies);
    assert!(output.status.success(), "{output:?}");
    let copied = files(&copies);
    assert_eq!(copied.keys().collect::<Vec<_>>(), written.keys().collect::<Vec<_>>());
    for (name, bytes) in &written {
        assert!(copied[name] == *bytes, "{name} is other than the agent's");
    }
    let quiet = plant.folder.path().join("quiet");
    assert!(again(plant, &watch, &quiet).status.success());
    assert_eq!(files(&quiet).len(), 5, "a short status and no work order");
    let unknown = again(plant, &event(99), &quiet);
    assert_eq!(unknown.status.code(), Some(66), "{unknown:?}");
    assert!(agent.terminate().success());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_warning_leaves_report_and_work_order_on_disk_with_sqlite() {
    let name = "a_warning_leaves_report_and_work_order_on_disk_with_sqlite";
    let Some(plant) = Plant::new(name, "sqlite = \"agent.db\"") else { return };
    one_set_of_documents(&plant).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_warning_leaves_report_and_work_order_on_disk_with_postgresql() {
    let name = "a_warning_leaves_report_and_work_order_on_disk_with_postgresql";
    let Some(server) = Postgres::start(name) else { return };
    let store = format!("postgres = {{ url = \"{}\" }}", server.url());
    let Some(plant) = Plant::new(name, &store) else { return };
    one_set_of_documents(&plant).await;
}

/// Guarantee 5: killed while it writes, before and after; what is there in the end is one whole set
/// for each bearing, and no half file.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn documents_are_whole_and_written_once_over_kills() {
    let name = "documents_are_whole_and_written_once_over_kills";
    let Some(plant) = Plant::new(name, "sqlite = \"agent.db\"") else { return };
    let mut agent = plant.run();
    let mut client = plant.client().await;
    let mut wanted: Vec<String> = Vec::new();
    // killed when so many of the ten files are there or begun
    for (sequence, files_at_kill) in (2..).zip([1, 3, 5, 6, 8, 10]) {
        let warning = at_bearing(event(sequence), &format!("B{sequence}"));
        wanted.extend(ten_of(&warning));
        let before = count(&plant.reports());
        client.send(std::slice::from_ref(&warning)).await;
        until("documents on their way", 60, || count(&plant.reports()) >= before + files_at_kill)
            .await;
        agent.kill();
        agent = plant.run();
        until("the judgement", 60, || risk_of(&client, &warning).is_some()).await;
        until("the documents", 60, || are_there(&plant, &warning)).await;
    }
    wanted.sort();
    // what was begun before the last kill is written once more
    let mut whole = files(&plant.reports());
    loop {
        tokio::time::sleep(Duration::from_secs(3)).await;
        let now = files(&plant.reports());
        if now == whole {
            break;
        }
        whole = now;
    }
    assert_eq!(whole.keys().cloned().collect::<Vec<_>>(), wanted);
    for (name, bytes) in &whole {
        let end: &[u8] = match name.rsplit('.').next() {
            Some("pdf") => b"%%EOF",
            Some("html") => b"</html>",
            _ => b"}",
        };
        assert!(bytes.trim_ascii_end().ends_with(end), "{name} is cut off");
    }
    // the same window again, and another like it, write nothing
    let last = at_bearing(event(7), "B7");
    let like_it = at_bearing(event(8), "B7");
    client.send(&[last, like_it.clone()]).await;
    until("the judgement", 60, || risk_of(&client, &like_it).is_some()).await;
    // documents are written after the judgement
    tokio::time::sleep(Duration::from_secs(2)).await;
    assert!(files(&plant.reports()) == whole, "documents were written again");
    assert!(agent.terminate().success());
}
