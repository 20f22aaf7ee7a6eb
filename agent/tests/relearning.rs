//! "Replaced" as one act, with the real programs and a real broker: what a person reports at a page
//! reaches the gateway, which forgets the bearing before, says so on the page, and its answer is
//! waited for while it is away.

use std::fs::{self, File};
use std::process::{Command, Stdio};
use std::time::Duration;

use pdm_harness::{Child, Mosquitto, Persistence, binary, free_port};
use reqwest::{Client, StatusCode};
use serde_json::{Value, json};

/// Longest wait for what has to happen, s.
const PATIENCE: u64 = 120;
const BEARING: &str = "/bearings/ulsan-1/P-101/DE";

/// Broker, agent and edge.
struct Chain {
    folder: tempfile::TempDir,
    port: u16,
    _broker: Mosquitto,
    _agent: Child,
    edge: Child,
}

impl Chain {
    fn start(name: &str) -> Option<Self> {
        let broker = Mosquitto::start(name, Persistence::Memory)?;
        let folder = tempfile::tempdir().expect("folder");
        let port = free_port();
        let agent = format!(
            "[store]\nsqlite = \"agent.db\"\n[broker]\naddresses = [\"127.0.0.1:{}\"]\n\
             [http]\nlisten = \"127.0.0.1:{port}\"\n",
            broker.port()
        );
        fs::write(folder.path().join("agent.toml"), agent).expect("written");
        let edge = include_str!("../../config/edge.toml")
            .replace("127.0.0.1:1883", &format!("127.0.0.1:{}", broker.port()))
            .replace("127.0.0.1:9101", &format!("127.0.0.1:{}", free_port()))
            .replace("../var/edge/spool.db", "spool.db")
            .replace("snapshots = 300", "snapshots = 100000");
        fs::write(folder.path().join("edge.toml"), edge).expect("written");
        let agent = run(&folder, "pdm-agent", "agent.toml");
        let edge = run(&folder, "pdm-edge", "edge.toml");
        Some(Self { port, _broker: broker, _agent: agent, edge, folder })
    }

    fn url(&self, path: &str) -> String {
        format!("http://127.0.0.1:{}{path}", self.port)
    }

    async fn page(&self, path: &str, language: &str) -> String {
        let asked = client().get(self.url(path)).header("accept-language", language);
        asked.send().await.expect("answers").text().await.expect("a page")
    }

    async fn json(&self, path: &str) -> Value {
        let answer = client().get(self.url(&format!("/api/v1{path}"))).send().await;
        match answer {
            Ok(answer) => answer.json().await.unwrap_or_default(),
            Err(_away) => Value::Null,
        }
    }

    /// Sends a form of the bearing's page; where it leads to.
    async fn send(&self, path: &str, fields: &[(&str, &str)]) -> String {
        let page = self.page(BEARING, "en").await;
        let key = page.split("name=\"form_key\" value=\"").nth(1);
        let key = key.and_then(|rest| rest.split('"').next()).expect("a form");
        let all: Vec<(&str, &str)> = [("form_key", key)].iter().chain(fields).copied().collect();
        let sent = client().post(self.url(path)).form(&all).send().await.expect("answers");
        assert_eq!(sent.status(), StatusCode::SEE_OTHER, "{}", sent.text().await.expect("text"));
        sent.headers()["location"].to_str().expect("text").to_owned()
    }

    async fn until<T>(&self, what: &str, found: impl AsyncFn() -> Option<T>) -> T {
        for _ in 0..PATIENCE * 10 {
            if let Some(found) = found().await {
                return found;
            }
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
        let log =
            |name: &str| fs::read_to_string(self.folder.path().join(name)).unwrap_or_default();
        panic!("not {what}; {} {}", log("pdm-agent.log"), log("pdm-edge.log"));
    }

    async fn until_state(&self, state: &str) -> Value {
        let found = async || {
            let row = self.json(&format!("{BEARING}/relearn")).await;
            (row["state"] == state).then_some(row)
        };
        self.until(state, found).await
    }

    /// Waits until the last window's baseline has a number of windows that fits.
    async fn until_learnt(&self, fits: impl Fn(u64) -> bool) {
        let found = async || {
            let windows = self.json(&format!("{BEARING}/windows?limit=1")).await;
            let event = windows["items"].as_array()?.last()?["event_id"].as_str()?.to_owned();
            let event = self.json(&format!("/events/{event}")).await;
            fits(event["anomaly"]["baseline"]["windows"].as_u64()?).then_some(())
        };
        self.until("a baseline", found).await;
    }
}

fn run(folder: &tempfile::TempDir, program: &str, config: &str) -> Child {
    let log = folder.path().join(format!("{program}.log"));
    let log = File::options().create(true).append(true).open(log).expect("a log");
    let mut command = Command::new(binary(program));
    command.arg("run").arg("--config").arg(folder.path().join(config));
    Child::start(command.stdout(Stdio::null()).stderr(log))
}

fn client() -> Client {
    let _installed = rustls::crypto::ring::default_provider().install_default();
    Client::builder().redirect(reqwest::redirect::Policy::none()).build().expect("a client")
}

/// R-UI-1, R-EDGE-10: a technician's "replaced" reaches the gateway, whose answer stands on the
/// page and in the record of acts; while the gateway is away (killed) the page says that it is
/// waited for, and the request is obeyed when it is back.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_bearing_that_is_reported_replaced_is_learnt_anew_by_its_gateway() {
    let name = "a_bearing_that_is_reported_replaced_is_learnt_anew_by_its_gateway";
    let Some(mut chain) = Chain::start(name) else { return };
    chain.until_learnt(|windows| windows >= 10).await;
    assert!(chain.page(BEARING, "ko").await.contains("새 베어링으로 교체함"));
    assert_eq!(chain.json(&format!("{BEARING}/relearn")).await["status"], json!(404));

    let report = [("verdict", "right"), ("relearn", "yes"), ("by", "kim"), ("note", "new 6205")];
    let to = chain.send(&format!("{BEARING}/found"), &report).await;
    let row = chain.until_state("done").await;
    assert_eq!(row["by"], "kim");
    chain.until_learnt(|windows| windows < 10).await;
    for (language, word) in
        [("en", "has forgotten the bearing before"), ("ko", "이전 기준을 지우고")]
    {
        assert!(chain.page(&to, language).await.contains(word), "{language}");
        assert!(chain.page(BEARING, language).await.contains(word), "{language}");
    }
    let acts = chain.json("/audit").await;
    let acts = acts["items"].as_array().expect("acts").clone();
    assert!(acts.iter().any(|act| act["action"] == "ask to relearn" && act["via"] == "page"));

    chain.until_learnt(|windows| windows >= 10).await;
    chain.edge.kill();
    let body = json!({ "by": "lee" });
    let path = chain.url(&format!("/api/v1{BEARING}/relearn"));
    let asked = client().post(&path).json(&body).send().await.expect("answers");
    assert_eq!(asked.status(), StatusCode::ACCEPTED);
    let first: Value = asked.json().await.expect("json");
    assert_eq!(first["state"], "waiting", "{first}");
    let again = client().post(&path).json(&body).send().await.expect("answers");
    let again: Value = again.json().await.expect("json");
    assert_eq!(again["request_id"], first["request_id"], "one waits already");
    let waits = chain.page(BEARING, "en").await;
    assert!(waits.contains("Waiting for the gateway") && !waits.contains("Let the gateway learn"));
    let refused = client().post(&path).json(&json!({ "by": "" })).send().await.expect("answers");
    assert_eq!(refused.status(), StatusCode::UNPROCESSABLE_ENTITY);
    let unknown = chain.url("/api/v1/bearings/ulsan-1/P-999/DE/relearn");
    let unknown = client().post(unknown).json(&body).send().await.expect("answers");
    assert_eq!(unknown.status(), StatusCode::NOT_FOUND);

    chain.edge = run(&chain.folder, "pdm-edge", "edge.toml");
    let row = chain.until_state("done").await;
    assert_eq!(row["request_id"], first["request_id"]);
    chain.until_learnt(|windows| windows < 10).await;
}
