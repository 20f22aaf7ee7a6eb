//! R-TOOL-9: one call decides about a series. The whole way is real: the program `pdm-agent` over
//! MCP, its store, and `pdm-edge mcp` as its child.
//!
//! The series come from a generator that knows nothing of the code that judges
//! ([`pdm_harness::planted_set`]); the seed of the claims chose no threshold.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use pdm_harness::{Child, Planted, PlantedSeries, binary, free_port, planted_set, until};
use pdm_tools::client::{CallAnswer, ToolClient};
use serde_json::{Map, Value, json};
use tempfile::TempDir;

/// The seed of the series of which the claims are made.
const BLIND: u64 = 20_261_123;
/// The seed of the past cases.
const PAST: u64 = 4_711;
/// The first hour of the series that are judged, days since 2026-01-01.
const NOW_DAY: usize = 280;

/// An hour after a day of 2026, as it is written.
fn instant(day: usize, hour: usize) -> String {
    let start = chrono::NaiveDate::from_ymd_opt(2026, 1, 1).expect("a day");
    let at = start.and_hms_opt(0, 0, 0).expect("midnight");
    let at = at + chrono::TimeDelta::hours(i64::try_from(day * 24 + hour).expect("few"));
    at.format("%Y-%m-%d %H:%M:%S").to_string()
}

fn rows(station: usize, series: &PlantedSeries, day: usize, into: &mut String) {
    for (hour, value) in series.values.iter().enumerate() {
        let value = value.map(|value| value.to_string()).unwrap_or_default();
        writeln!(into, "{station},{},{},{value}", series.element, instant(day, hour))
            .expect("text");
    }
}

fn typed(arguments: &[&str]) -> (i32, String, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_pdm-agent"))
        .args(arguments)
        .env_remove("PDM_AGENT_CONFIG")
        .output()
        .expect("the program runs");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (output.status.code().unwrap_or(-1), text(&output.stdout), text(&output.stderr))
}

/// A plant with an `agent.toml` that names the edge's program.
fn plant() -> (TempDir, PathBuf) {
    let folder = TempDir::new().expect("a folder");
    let config = folder.path().join("agent.toml");
    let edge = binary("pdm-edge");
    let text = format!(
        "[store]\nsqlite = \"agent.db\"\n[tools.servers.edge]\nprogram = {:?}\narguments = \
         [\"mcp\"]\n",
        edge.display().to_string()
    );
    std::fs::write(&config, text).expect("written");
    let (code, _, error) = typed(&["migrate", "--config", &config.display().to_string()]);
    assert_eq!(code, 0, "{error}");
    (folder, config)
}

fn stored(config: &Path, kind: &str, text: &str) {
    let file = config.with_file_name(format!("{kind}.csv"));
    std::fs::write(&file, text).expect("written");
    let (config, file) = (config.display().to_string(), file.display().to_string());
    let (code, _, error) = typed(&["series", kind, &file, "--config", &config]);
    assert_eq!(code, 0, "{error}");
}

async fn client(arguments: &[&str]) -> ToolClient {
    let arguments: Vec<String> = arguments.iter().map(|one| (*one).to_owned()).collect();
    let program = env!("CARGO_BIN_EXE_pdm-agent");
    ToolClient::child(program, &arguments, &BTreeMap::new()).await.expect("a server")
}

async fn decided(
    client: &ToolClient,
    station: usize,
    element: &str,
    from: &str,
    to: &str,
) -> CallAnswer {
    let arguments = json!({
        "station_id": station, "element": element, "start_time": from, "end_time": to,
    });
    let arguments: Map<String, Value> = arguments.as_object().expect("an object").clone();
    client.call("c", "abnormal_decision", arguments).await.expect("an answer")
}

/// The word of the verdict in the English half of an answer.
fn verdict(answer: &CallAnswer) -> String {
    let text = answer.structured.as_ref().and_then(|value| value["answer"].as_str());
    let text = text.unwrap_or_else(|| panic!("{}", answer.text));
    let line = text.lines().find_map(|line| line.strip_prefix("## Verdict: ")).expect("a verdict");
    line.split(" — ").next().expect("a word").replace("drop-out", "dropout")
}

/// The faults of the English half.
fn faults(answer: &CallAnswer) -> Vec<String> {
    let text = answer.structured.as_ref().and_then(|value| value["answer"].as_str()).expect("text");
    let english = text.split("\n---\n").nth(1).expect("an English half");
    let named = english.lines().filter_map(|line| line.strip_prefix("- **"));
    let mut named: Vec<String> = named
        .map(|line| line.split("**").next().expect("a word").replace("drop-out", "dropout"))
        .collect();
    named.sort();
    named.dedup();
    named
}

/// The case that is told first.
fn nearest(answer: &CallAnswer) -> String {
    let text = answer.structured.as_ref().and_then(|value| value["answer"].as_str()).expect("text");
    let line = text.lines().find_map(|line| line.strip_prefix("1. ")).expect("a case");
    line.split(' ').next().expect("a name").replace('\\', "")
}

#[tokio::test(flavor = "multi_thread")]
async fn planted_series_are_named_with_the_nearest_past_case_and_sound_ones_stay_sound() {
    let (_folder, config) = plant();
    let faults_of =
        planted_set(BLIND, &[(Planted::Spike, 7), (Planted::Drift, 7), (Planted::Dropout, 6)]);
    let sound = planted_set(BLIND, &[(Planted::Sound, 10)]);
    let past = planted_set(
        PAST,
        &[(Planted::Sound, 8), (Planted::Spike, 8), (Planted::Drift, 8), (Planted::Dropout, 8)],
    );
    let mut values = "station_id,element,at,value\n".to_owned();
    let mut cases =
        "id,station_id,element,from_at,to_at,what_ko,what_en,outcome_ko,outcome_en\n".to_owned();
    for (number, series) in past.iter().enumerate() {
        let (station, day) = (500 + number, number % 10 * 20);
        rows(station, series, day, &mut values);
        let (from, to) = (instant(day, 0), instant(day, series.values.len() - 1));
        let id = format!("{}-{number}", series.truth.word());
        writeln!(
            cases,
            "{id},{station},{},{from},{to},가,a,나,what became of {id}",
            series.element
        )
        .expect("text");
    }
    for (number, series) in faults_of.iter().chain(&sound).enumerate() {
        rows(100 + number, series, NOW_DAY, &mut values);
    }
    stored(&config, "import", &values);
    stored(&config, "cases", &cases);

    let client = client(&["mcp", "--config", &config.display().to_string()]).await;
    let (from, to) = (instant(NOW_DAY, 0), instant(NOW_DAY + 14, 0));
    let (mut named, mut near, mut stayed) = (0, 0, 0);
    let mut slowest = Duration::ZERO;
    for (number, series) in faults_of.iter().chain(&sound).enumerate() {
        let started = Instant::now();
        let answer = decided(&client, 100 + number, series.element, &from, &to).await;
        slowest = slowest.max(started.elapsed());
        assert!(!answer.is_error, "{}", answer.text);
        if series.truth == Planted::Sound {
            stayed += usize::from(verdict(&answer) == "sound" && faults(&answer).is_empty());
        } else {
            let is_right = faults(&answer) == [series.truth.word()];
            named += usize::from(is_right && verdict(&answer) == series.truth.word());
            near += usize::from(nearest(&answer).starts_with(series.truth.word()));
        }
    }
    println!(
        "named right {named} of 20, sound {stayed} of 10, nearest past case right {near} of 20, \
         slowest call {slowest:?}"
    );
    assert!(named >= 18 && stayed == 10 && near >= 16, "{named} {stayed} {near}");
    assert!(slowest < Duration::from_secs(3), "{slowest:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_sample_of_the_pack_is_decided_with_picture_cases_and_both_languages() {
    let (_folder, config) = plant();
    let config = config.display().to_string();
    let client = client(&["mcp", "--packs", "air-quality", "--config", &config]).await;
    let (from, to) = ("2026-11-09 00:00:00", "2026-11-15 23:00:00");
    for (station, element, expected) in [
        (101, "SO2", "spike"),
        (101, "PM10", "dropout"),
        (102, "O3", "drift"),
        (103, "NO2", "dropout"),
        (101, "NO2", "sound"),
    ] {
        let answer = decided(&client, station, element, from, to).await;
        assert!(!answer.is_error, "{}", answer.text);
        assert_eq!(verdict(&answer), expected, "{station} {element}: {}", answer.text);
        let value = answer.structured.expect("data");
        let text = value["answer"].as_str().expect("text");
        for part in [
            "## 판정: ",
            "### 비슷한 과거 사례",
            "AQ-",
            "→ 결과: ",
            "→ outcome: ",
            "### What to do",
        ] {
            assert!(text.contains(part), "{part}: {text}");
        }
        let image = &value["graph_image"];
        assert_eq!((&image["type"], &image["mimeType"]), (&json!("image"), &json!("image/png")));
        let url = image["url"].as_str().expect("a picture");
        assert!(url.starts_with("data:image/png;base64,iVBORw0KGgo"), "{}", &url[..40]);
    }
    let spike = decided(&client, 101, "SO2", from, to).await;
    assert_eq!(spike.structured, decided(&client, 101, "SO2", from, to).await.structured, "again");
}

#[tokio::test(flavor = "multi_thread")]
async fn wrong_arguments_are_told_which() {
    let (_folder, config) = plant();
    let config = config.display().to_string();
    let client = client(&["mcp", "--packs", "air-quality", "--config", &config]).await;
    let right = json!({
        "station_id": 101, "element": "SO2", "start_time": "2026-11-09 00:00:00",
        "end_time": "2026-11-15 23:00:00",
    });
    for (key, value, told) in [
        ("station_id", json!("101"), "station_id: \"101\" is not of type \"integer\""),
        ("station_id", Value::Null, "station_id: is required and missing"),
        ("station_id", json!(999), "station 999 has no value of SO2"),
        ("element", json!("Rn"), "there are series of: 101 NO2"),
        ("start_time", json!("2026-11-09"), "start_time: "),
        (
            "start_time",
            json!("2026-11-31 00:00:00"),
            "start_time: is \"2026-11-31 00:00:00\", expected YYYY-MM-DD HH:MM:SS",
        ),
        ("end_time", json!("2026-11-08 00:00:00"), "end_time: is not after start_time"),
    ] {
        let mut arguments = right.as_object().expect("an object").clone();
        arguments.insert(key.to_owned(), value);
        let answer = client.call("c", "abnormal_decision", arguments).await.expect("an answer");
        assert!(answer.is_error && answer.text.contains(told), "{key}: {}", answer.text);
    }
}

#[test]
fn a_wrong_line_changes_nothing() {
    let (_folder, config) = plant();
    let file = config.with_file_name("values.csv");
    let text = "station_id,element,at,value\n101,SO2,2026-11-01 00:00:00,1\n101,SO2,yesterday,1\n";
    std::fs::write(&file, text).expect("written");
    let (config, file) = (config.display().to_string(), file.display().to_string());
    let (code, _, error) = typed(&["series", "import", &file, "--config", &config]);
    assert_eq!(code, 65);
    assert!(error.contains("values.csv: line 3: at is \"yesterday\""), "{error}");
    let (code, listed, _) = typed(&["series", "list", "--config", &config]);
    assert_eq!((code, listed.as_str()), (0, ""));
}

/// Values of other programs: with the token alone, all or none, and a wrong one is named.
#[tokio::test(flavor = "multi_thread")]
async fn values_are_taken_over_http_with_the_token_and_whole() {
    let (_folder, config) = plant();
    let _installed = rustls::crypto::ring::default_provider().install_default();
    let (address, token) = (format!("127.0.0.1:{}", free_port()), "0123456789abcdef-series");
    let settings = std::fs::read_to_string(&config).expect("settings");
    let http = format!("[http]\nlisten = \"{address}\"\ntoken = {{ env = \"PDM_TEST_TOKEN\" }}\n");
    let text = format!("{settings}{http}[broker]\naddresses = [\"127.0.0.1:1\"]\n");
    std::fs::write(&config, text).expect("settings");
    let _service = Child::start(
        Command::new(env!("CARGO_BIN_EXE_pdm-agent"))
            .args(["run", "--config", &config.display().to_string()])
            .env("PDM_TEST_TOKEN", token),
    );
    until("the service", 30, || std::net::TcpStream::connect(&address).ok());
    let posted = async |token: Option<&str>, body: Value| {
        let client = reqwest::Client::new();
        let mut request = client.post(format!("http://{address}/series")).json(&body);
        if let Some(token) = token {
            request = request.bearer_auth(token);
        }
        let answer = request.send().await.expect("an answer");
        (answer.status().as_u16(), answer.text().await.expect("a text"))
    };
    let one = |at: &str, value: Value| json!({"station_id": 5, "element": "NO2", "at": at, "value": value});
    let right = json!({"values": [one("2026-11-01 00:00:00", json!(0.5)), one("2026-11-01 \
        01:00:00", Value::Null)]});
    assert_eq!(posted(None, right.clone()).await.0, 401);
    let wrong = json!({"values": [one("2026-11-01 02:00:00", json!(1)), one("today", json!(1))]});
    let (status, told) = posted(Some(token), wrong).await;
    assert!(status == 400 && told.contains("values.1.at is \\\"today\\\""), "{status} {told}");
    let taken = posted(Some(token), right.clone()).await;
    assert_eq!(taken, (200, "{\"changed\":2,\"read\":2}".to_owned()));
    assert_eq!(posted(Some(token), right).await.1, "{\"changed\":0,\"read\":2}");
    // the wrong request has stored nothing
    let (code, listed, error) =
        typed_with_token(&["series", "list", "--config", &config.display().to_string()], token);
    assert_eq!((code, listed.trim()), (0, "5  NO2"), "{error}");
}

fn typed_with_token(arguments: &[&str], token: &str) -> (i32, String, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_pdm-agent"))
        .args(arguments)
        .env("PDM_TEST_TOKEN", token)
        .output()
        .expect("the program runs");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (output.status.code().unwrap_or(-1), text(&output.stdout), text(&output.stderr))
}
