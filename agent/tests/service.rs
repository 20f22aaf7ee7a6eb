//! The running service as others use it: its tools, its knowledge base, what they may and may not
//! do.

mod support;

use std::path::Path;
use std::sync::Arc;

use pdm_agent::service::{Agent, Handle};
use pdm_agent::settings::AgentSettings;
use pdm_harness::{Mosquitto, Persistence, free_port};
use pdm_knowledge::Collection;
use pdm_service::clock::SystemClock;
use pdm_service::secret::SecretSource;
use pdm_shared::delivery::{Notification, NotificationReason};
use pdm_shared::risk::RiskLevel;
use pdm_tools::client::ToolClient;
use reqwest::StatusCode;
use serde_json::{Map, Value, json};

use support::{Client, healthy, settings, subscribed, until};

async fn start(settings: AgentSettings) -> Handle {
    Agent::start(settings, Arc::new(SystemClock)).await.expect("starts")
}

/// The token of an agent that takes documents, as a header.
const BEARER: (&str, &str) = ("authorization", "Bearer s3cret of sixteen");

/// A file with the token of [`BEARER`].
fn token_in(folder: &Path) -> SecretSource {
    let file = folder.join("token");
    std::fs::write(&file, "s3cret of sixteen\n").expect("written");
    SecretSource::File(file)
}

/// An agent that serves HTTP on loopback; its broker may be away.
async fn served(port: u16, folder: &Path) -> (Handle, String) {
    let mut settings = settings(port, folder);
    settings.http.listen = "127.0.0.1:0".parse().ok();
    let agent = start(settings).await;
    let address = agent.address().expect("an address");
    (agent, format!("http://{address}"))
}

fn arguments(value: &Value) -> Map<String, Value> {
    value.as_object().expect("an object").clone()
}

/// R-TOOL-8, R-KB-2: the documents and tools that come with the program are there without any file.
#[tokio::test]
async fn the_shipped_documents_answer_through_the_shipped_tools_over_mcp() {
    let folder = tempfile::tempdir().expect("folder");
    let (agent, url) = served(free_port(), folder.path()).await;
    let client = ToolClient::http(&format!("{url}/mcp"), None).await.expect("connected");
    for (tool, query, id) in [
        ("search_equipment_manual", "외륜 결함 가이드", "EM-02"),
        ("search_maintenance_history", "NASA IMS 외륜 파손", "MH-01"),
    ] {
        let asked = arguments(&json!({ "query": query }));
        let answer = client.call("c", tool, asked).await.expect("an answer");
        let found = answer.structured.expect("structured").to_string();
        assert!(!answer.is_error && found.contains(id), "{tool}: {found}");
    }
    drop(client);
    agent.stop().await.expect("stops");
}

/// R-AGENT-10: through the outbox, once for one call, about machines that exist.
#[tokio::test]
async fn staff_is_told_once_by_a_tool_about_a_machine_that_was_measured() {
    let name = "staff_is_told_once_by_a_tool_about_a_machine_that_was_measured";
    let Some(broker) = Mosquitto::start(name, Persistence::Memory) else { return };
    let folder = tempfile::tempdir().expect("folder");
    let (agent, url) = served(broker.port(), folder.path()).await;
    let mut progress = subscribed(&agent).await;
    let filters = ["pdm/v1/+/+/+/notification"];
    let mut gateway = Client::connect(broker.port(), "gateway", &filters).await;
    gateway.send(&[healthy(1)]).await;
    progress.wait_for(|progress| progress.judged == 1).await.expect("judged");
    let client = ToolClient::http(&format!("{url}/mcp"), None).await.expect("connected");
    let tell = async |call: &str, machine: &str, risk: &str| {
        let asked =
            json!({"message": "베어링 점검 요망", "risk_level": risk, "equipment_id": machine});
        client.call(call, "notify_maintenance_staff", arguments(&asked)).await.expect("an answer")
    };
    for _ in 0..2 {
        let answer = tell("call-1", "P-101", "Critical").await;
        let structured = answer.structured.expect("structured");
        assert_eq!(structured["status"], "accepted", "{structured}");
        assert_eq!(structured["channels"], json!(["mqtt"]));
    }
    let unknown = tell("call-2", "P-999", "Critical").await;
    assert!(unknown.is_error && unknown.text.contains("no machine P-999"), "{}", unknown.text);
    let quiet = tell("call-3", "ulsan-1/P-101", "Normal").await;
    assert_eq!(quiet.structured.expect("structured")["status"], "not_sent");
    tell("call-4", "P-101", "Watch").await;
    until("both messages", 10, || gateway.heard_on("/notification").len() >= 2).await;
    let told: Vec<Notification> = gateway
        .heard_on("/notification")
        .iter()
        .map(|text| serde_json::from_str(text).expect("a notification"))
        .collect();
    let risks: Vec<_> = told.iter().map(|told| (told.risk_level, told.reason)).collect();
    let message = NotificationReason::Message;
    assert_eq!(risks, [(RiskLevel::Critical, message), (RiskLevel::Watch, message)]);
    let sent = &told[0].body.ko;
    assert!(sent.ends_with(": 베어링 점검 요망") && sent.contains("프로그램이 보낸"), "{sent}");
    drop(client);
    agent.stop().await.expect("stops");
}

async fn post(url: &str, name: &str, body: &str, headers: &[(&str, &str)]) -> (StatusCode, Value) {
    let client = reqwest::Client::new();
    let mut request = client.post(format!("{url}/knowledge?name={name}")).body(body.to_owned());
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    let answer = request.send().await.expect("an answer");
    (answer.status(), answer.json().await.unwrap_or(Value::Null))
}

/// R-KB-7: by API, once.
#[tokio::test]
async fn a_posted_document_is_found_and_the_same_again_changes_nothing() {
    let folder = tempfile::tempdir().expect("folder");
    let mut settings = settings(free_port(), folder.path());
    settings.http.listen = "127.0.0.1:0".parse().ok();
    settings.http.token = Some(token_in(folder.path()));
    let agent = start(settings).await;
    let url = format!("http://{}", agent.address().expect("an address"));
    let text = "# 송풍기 축 정렬\n송풍기 F-7 커플링 정렬 허용치는 도면을 따른다.\n";
    let (status, done) = post(&url, "fan-7.md", text, &[BEARER]).await;
    assert_eq!((status, &done["changed"]), (StatusCode::OK, &json!(true)), "{done}");
    let (_, again) = post(&url, "fan-7.md", text, &[BEARER]).await;
    assert_eq!(again["changed"], json!(false), "{again}");
    let filter = pdm_knowledge::Filter::default();
    let found = agent
        .knowledge()
        .search(Collection::EquipmentManual, "송풍기 커플링 정렬", &filter, 1)
        .await
        .expect("found");
    assert_eq!(found[0].chunk.document, "fan-7");
    // the folder of this test has no program that reads PDFs
    let (status, told) = post(&url, "fan-7.pdf", "%PDF-1.7", &[BEARER]).await;
    assert_eq!(status, StatusCode::NOT_IMPLEMENTED, "{told}");
    assert!(told["error"].as_str().is_some_and(|told| told.contains("install pdm-pdf")), "{told}");
    let (status, told) = post(&url, "fan-7.exe", "MZ", &[BEARER]).await;
    assert_eq!(status, StatusCode::UNPROCESSABLE_ENTITY, "{told}");
    assert!(told["error"].as_str().is_some_and(|told| told.contains(".md, .txt and .pdf")));
    let (status, told) = post(&url, "a.md", &"a".repeat((4 << 20) + 1), &[BEARER]).await;
    assert_eq!(status, StatusCode::PAYLOAD_TOO_LARGE, "{told}");
    assert!(told["error"].as_str().is_some_and(|told| told.contains("4194304")), "{told}");
    agent.stop().await.expect("stops");
}

/// Documents change what a work order says later, so nobody uploads one without a token.
#[tokio::test]
async fn without_a_token_an_upload_is_refused_and_the_key_is_named() {
    let folder = tempfile::tempdir().expect("folder");
    let (agent, url) = served(free_port(), folder.path()).await;
    let answer = reqwest::Client::new().post(format!("{url}/knowledge?name=a.md")).body("# a\nb\n");
    let answer = answer.send().await.expect("an answer");
    assert_eq!(answer.status(), StatusCode::FORBIDDEN);
    let told = answer.text().await.expect("a text");
    assert!(told.contains("http.token") && told.contains("16 characters"), "{told}");
    agent.stop().await.expect("stops");
}

#[tokio::test]
async fn a_short_token_is_no_configuration() {
    let folder = tempfile::tempdir().expect("folder");
    let mut settings = settings(free_port(), folder.path());
    settings.http.listen = "127.0.0.1:0".parse().ok();
    let file = folder.path().join("token");
    std::fs::write(&file, "x\n").expect("written");
    settings.http.token = Some(SecretSource::File(file));
    let Err(error) = Agent::start(settings, Arc::new(SystemClock)).await else {
        panic!("started with a token of one character")
    };
    let told = error.to_string();
    assert!(told.contains("http.token") && told.contains("16 or more"), "{told}");
}

#[tokio::test]
async fn with_a_token_nothing_but_health_is_answered_without_it() {
    let folder = tempfile::tempdir().expect("folder");
    let token = folder.path().join("token");
    token_in(folder.path());
    let config = format!(
        "[store]\nsqlite = \"agent.db\"\n[broker]\naddresses = [\"127.0.0.1:{}\"]\n[http]\nlisten \
         = \"127.0.0.1:0\"\n\
         token = {{ file = \"token\" }}\n",
        free_port()
    )
    .replace("\"token\"", &format!("{:?}", token.display().to_string()));
    let path = folder.path().join("agent.toml");
    let agent = start(AgentSettings::parse(&path, &config).expect("settings")).await;
    let url = format!("http://{}", agent.address().expect("an address"));
    let (status, _) = post(&url, "a.md", "# a\nb\n", &[]).await;
    assert_eq!(status, StatusCode::UNAUTHORIZED);
    let (status, _) = post(&url, "a.md", "# a\nb\n", &[BEARER]).await;
    assert_eq!(status, StatusCode::OK);
    assert!(ToolClient::http(&format!("{url}/mcp"), None).await.is_err());
    let metrics = reqwest::get(format!("{url}/metrics")).await.expect("an answer");
    assert_eq!(metrics.status(), StatusCode::UNAUTHORIZED);
    let health = reqwest::get(format!("{url}/healthz")).await.expect("an answer");
    assert_eq!(health.status(), StatusCode::OK);
    agent.stop().await.expect("stops");
}
