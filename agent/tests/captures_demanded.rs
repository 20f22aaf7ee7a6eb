//! A waveform that a person asks for, from the page and the API to the gateway and back, with the
//! real programs and a real broker; and captures as recordings for `analyze`, `replay` and
//! `backtest`.

use std::fmt::Write as _;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::Duration;

use pdm_harness::{Child, Mosquitto, Persistence, binary, free_port};
use reqwest::{Client, StatusCode};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

/// Longest wait for what has to happen, s.
const PATIENCE: u64 = 120;
const TOKEN: &str = "the token of gw-01, long enough";
const BEARING: &str = "/bearings/ulsan-1/P-101/DE";

/// Broker, agent and edge, which sends its captures.
struct Chain {
    folder: tempfile::TempDir,
    port: u16,
    _broker: Mosquitto,
    _agent: Child,
    _edge: Child,
}

impl Chain {
    fn start(name: &str) -> Option<Self> {
        let broker = Mosquitto::start(name, Persistence::Memory)?;
        let folder = tempfile::tempdir().expect("folder");
        let port = free_port();
        let at = |name: &str| folder.path().join(name);
        fs::write(at("token"), TOKEN).expect("written");
        let agent = format!(
            "[store]\nsqlite = \"agent.db\"\n[broker]\naddresses = [\"127.0.0.1:{}\"]\n\
             [http]\nlisten = \"127.0.0.1:{port}\"\n[captures]\ndir = \"captures\"\n\
             [[gateways]]\nsite = \"ulsan-1\"\ngateway = \"gw-01\"\nbearings = [\"P-101/DE\"]\n\
             token = {{ file = \"token\" }}\n",
            broker.port()
        );
        fs::write(at("agent.toml"), agent).expect("written");
        let edge = include_str!("../../config/edge.toml")
            .replace("127.0.0.1:1883", &format!("127.0.0.1:{}", broker.port()))
            .replace("127.0.0.1:9101", &format!("127.0.0.1:{}", free_port()))
            .replace("../var/edge/spool.db", "spool.db")
            .replace("snapshots = 300", "snapshots = 100000");
        let edge = format!(
            "{edge}\n[capture]\nbudget_mb = 4.0\nfolder = \"edge-captures\"\nbefore_s = 3.0\n\
             after_s = 0.2\nper_hour = 2\nreference_every_h = 0.0\n[capture.upload]\n\
             url = \"http://127.0.0.1:{port}\"\ntoken = {{ file = \"token\" }}\n"
        );
        fs::write(at("edge.toml"), edge).expect("written");
        let run = |program: &str, config: &str| {
            let log = File::create(at(&format!("{program}.log"))).expect("a log");
            let mut command = Command::new(binary(program));
            command.arg("run").arg("--config").arg(at(config));
            Child::start(command.stdout(Stdio::null()).stderr(log))
        };
        let (agent, edge) = (run("pdm-agent", "agent.toml"), run("pdm-edge", "edge.toml"));
        Some(Self { port, _broker: broker, _agent: agent, _edge: edge, folder })
    }

    fn url(&self, path: &str) -> String {
        format!("http://127.0.0.1:{}{path}", self.port)
    }

    async fn get(&self, path: &str, language: &str) -> Option<Vec<u8>> {
        let asked = client().get(self.url(path)).header("accept-language", language);
        let answer = asked.send().await.ok().filter(|answer| answer.status().is_success())?;
        Some(answer.bytes().await.ok()?.to_vec())
    }

    async fn page(&self, path: &str, language: &str) -> String {
        let content = self.get(path, language).await.unwrap_or_else(|| panic!("{path}"));
        String::from_utf8(content).expect("UTF-8")
    }

    async fn json(&self, path: &str) -> Value {
        let content = self.get(&format!("/api/v1{path}"), "en").await.unwrap_or_default();
        serde_json::from_slice(&content).unwrap_or_default()
    }

    async fn ask(&self, path: &str, body: &Value) -> (StatusCode, Value) {
        let answer = client().post(self.url(&format!("/api/v1{path}"))).json(body).send().await;
        let answer = answer.expect("answers");
        (answer.status(), answer.json().await.unwrap_or_default())
    }

    /// Waits until the newest demand stands where it is expected.
    async fn until_state(&self, state: &str) -> Value {
        let path = format!("{BEARING}/captures/demand");
        for _ in 0..PATIENCE * 10 {
            let row = self.json(&path).await;
            if row["state"] == state {
                return row;
            }
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
        let log =
            |name: &str| fs::read_to_string(self.folder.path().join(name)).unwrap_or_default();
        let now = self.json(&path).await;
        panic!("not {state} but {now}; {} {}", log("pdm-agent.log"), log("pdm-edge.log"));
    }
}

fn client() -> Client {
    let _installed = rustls::crypto::ring::default_provider().install_default();
    Client::builder().redirect(reqwest::redirect::Policy::none()).build().expect("a client")
}

fn hex(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().fold(String::new(), |mut text, byte| {
        let _written = write!(text, "{byte:02x}");
        text
    })
}

/// R-UI-1, R-EDGE-10: a person asks for a waveform at the page or by the API; the gateway captures
/// and sends it, or its refusal is told in the reader's language; who asked is in the record of
/// acts.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_waveform_is_asked_for_and_comes_or_is_refused_by_the_gateway() {
    let name = "a_waveform_is_asked_for_and_comes_or_is_refused_by_the_gateway";
    let Some(chain) = Chain::start(name) else { return };
    for _ in 0..PATIENCE * 10 {
        if chain.json(BEARING).await["risk_level"].is_string() {
            break;
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    for (language, word) in [("en", "Keep the waveform now"), ("ko", "지금 파형 저장")] {
        assert!(chain.page(BEARING, language).await.contains(word), "{language}");
    }
    let captures = format!("{BEARING}/captures");
    let unknown = chain.ask("/bearings/ulsan-1/P-999/DE/captures", &json!({ "by": "kim" })).await;
    assert_eq!(unknown.0, StatusCode::NOT_FOUND, "{}", unknown.1);
    for wrong in [json!({ "by": "" }), json!({ "by": "a\nb" }), json!({ "by": "kim", "more": 1 })] {
        assert_eq!(
            chain.ask(&captures, &wrong).await.0,
            StatusCode::UNPROCESSABLE_ENTITY,
            "{wrong}"
        );
    }
    let (status, asked) = chain.ask(&captures, &json!({ "by": "kim" })).await;
    assert_eq!((status, &asked["state"]), (StatusCode::ACCEPTED, &json!("waiting")), "{asked}");
    let (_, again) = chain.ask(&captures, &json!({ "by": "lee" })).await;
    assert_eq!(again["demand_id"], asked["demand_id"], "one waits already");
    let row = chain.until_state("arrived").await;
    assert_eq!((&row["demand_id"], &row["by"]), (&asked["demand_id"], &json!("kim")));
    files_are_the_same_samples(&chain, row["capture_id"].as_str().expect("a capture")).await;
    let page = chain.page(BEARING, "en").await;
    assert!(page.contains("The waveform that was asked for is here"), "{page}");

    // the last capture of the hour is for an alarm: the gateway says so, and the page in the
    // reader's words
    let key =
        page.split("name=\"form_key\" value=\"").nth(1).and_then(|rest| rest.split('"').next());
    let form = [("form_key", key.expect("a form")), ("by", "lee")];
    let sent = client().post(chain.url(&captures)).form(&form).send().await.expect("answers");
    assert_eq!(sent.status(), StatusCode::SEE_OTHER);
    assert_eq!(sent.headers()["location"], format!("{BEARING}#captures"));
    let row = chain.until_state("refused").await;
    assert_eq!((&row["by"], &row["refusal"]["cause"]), (&json!("lee"), &json!("used")), "{row}");
    for (language, word) in [("en", "the captures of the hour are used up"), ("ko", "다 썼습니다")]
    {
        assert!(chain.page(BEARING, language).await.contains(word), "{language}");
    }
    let acts = chain.json("/audit").await;
    let acts: Vec<String> = acts["items"]
        .as_array()
        .expect("acts")
        .iter()
        .filter(|act| act["action"] == "ask for waveform")
        .map(|act| format!("{} {}", act["via"].as_str().unwrap_or("-"), act["what"]))
        .collect();
    assert_eq!(acts.len(), 2, "{acts:?}");
    assert!(acts[0].starts_with("page") && acts[0].contains("lee"), "{acts:?}");
    assert!(acts[1].starts_with("api") && acts[1].contains("kim"), "{acts:?}");
}

/// WAV and NumPy hold the same bits, over page and API, each with a document of its own hash.
async fn files_are_the_same_samples(chain: &Chain, id: &str) {
    let mut seen = Vec::new();
    for base in [format!("/api/v1/captures/{id}"), format!("{BEARING}/captures/{id}")] {
        let file = async |name: &str| {
            chain
                .get(&format!("{base}/{name}"), "en")
                .await
                .unwrap_or_else(|| panic!("{base}/{name}"))
        };
        let (wav, npy) = (file("capture.wav").await, file("capture.npy").await);
        let of_npy: Value = serde_json::from_slice(&file("capture.npy.json").await).expect("json");
        let samples = 4 * of_npy["samples"].as_u64().expect("samples") as usize;
        assert_eq!(wav[wav.len() - samples..], npy[npy.len() - samples..], "bit by bit");
        assert_eq!(&npy[..6], b"\x93NUMPY");
        assert_eq!(of_npy["file"]["sha256"], hex(&npy));
        assert_eq!(of_npy["file"]["bytes"], npy.len());
        assert!(of_npy["file"]["name"].as_str().is_some_and(|name| name.contains(".npy")));
        seen.push((wav, npy));
    }
    assert!(seen[0] == seen[1], "page and API");
    let document = chain.json(&format!("/captures/{id}")).await;
    assert_eq!(document["file"]["sha256"], hex(&seen[0].0));
    let curves =
        chain.page(&format!("{BEARING}/captures/{id}/curves.json?part=window"), "en").await;
    let curves: Value = serde_json::from_str(&curves).expect("json");
    assert_eq!(curves["curves"].as_array().map(Vec::len), Some(5));
    let part = format!("{BEARING}/captures/{id}/curves.json?plot=waveform&from=0.1&to=0.2");
    let part: Value = serde_json::from_str(&chain.page(&part, "en").await).expect("json");
    assert_eq!(part["curves"][0]["range"], json!([0.1, 0.2]));
    let points = part["curves"][0]["points"].as_array().expect("points");
    assert!(points.len() > 1000, "every sample of a tenth of a second: {}", points.len());
}

fn edge(folder: &Path, arguments: &[&str]) -> Output {
    Command::new(binary("pdm-edge")).args(arguments).current_dir(folder).output().expect("runs")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Captures of a bearing: `number` of them, `seconds` long, an hour apart, of the noise of a struck
/// outer race.
fn put_captures(folder: &Path, numbers: std::ops::Range<u32>, bearing: &str) -> Vec<PathBuf> {
    let example = include_str!("../../config/examples/capture.json");
    let example: Value = serde_json::from_str(example).expect("json");
    let rate = 25_600_u32;
    numbers
        .map(|number| {
            let samples = 6 * rate;
            let mut noise = number + 1;
            let mut data = Vec::new();
            for i in 0..samples {
                noise = noise.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                let since = (f64::from(i) / f64::from(rate) * 107.36).fract() / 107.36;
                let ring = 20.0 * (-900.0 * since).exp() * (25_000.0 * since).sin();
                let value = ring + f64::from(noise >> 8) / f64::from(1 << 24) - 0.5;
                data.extend_from_slice(&(value as f32).to_le_bytes());
            }
            let mut file = b"RIFF".to_vec();
            file.extend_from_slice(&(data.len() as u32 + 38).to_le_bytes());
            file.extend_from_slice(b"WAVEfmt ");
            file.extend_from_slice(&18_u32.to_le_bytes());
            file.extend_from_slice(&[3, 0, 1, 0]);
            file.extend_from_slice(&rate.to_le_bytes());
            file.extend_from_slice(&(4 * rate).to_le_bytes());
            file.extend_from_slice(&[4, 0, 32, 0, 0, 0]);
            file.extend_from_slice(b"data");
            file.extend_from_slice(&(data.len() as u32).to_le_bytes());
            file.extend_from_slice(&data);
            let mut document = example.clone();
            let name = format!("{bearing}-{number}.wav");
            document["capture_id"] = json!(format!("019390a3-5b2a-7c31-9f00-{:012}", number));
            document["bearing_id"] = json!(bearing);
            document["started_at"] = json!(format!("2026-11-21T{:02}:10:11.000Z", number));
            document["samples"] = json!(samples);
            document["window"] = json!({ "first_sample": 2 * rate + 500, "samples": rate });
            document["gaps"] = json!([]);
            document["file"] = json!({ "name": name, "bytes": file.len(), "sha256": hex(&file) });
            let path = folder.join(&name);
            fs::write(&path, &file).expect("written");
            let text = serde_json::to_vec(&document).expect("json");
            fs::write(path.with_extension("json"), text).expect("written");
            path
        })
        .collect()
}

/// R-EDGE-10, R-AGENT-11: a folder of captures is judged file by file, replayed in the order of
/// time with rate, unit, speed and bearing of each document, and read by the back-test, with three
/// commands and no option of the samples.
#[test]
fn a_folder_of_captures_is_analysed_replayed_and_back_tested() {
    let folder = tempfile::tempdir().expect("folder");
    let captures = folder.path().join("captures");
    fs::create_dir(&captures).expect("made");
    put_captures(&captures, 0..4, "DE");
    put_captures(&captures, 4..6, "NDE");
    fs::write(captures.join("notes.txt"), "left as it is").expect("written");

    let analysed = edge(folder.path(), &["analyze", "--json", "captures"]);
    assert_eq!(analysed.status.code(), Some(0), "{}", text(&analysed.stderr));
    let events: Vec<Value> = text(&analysed.stdout)
        .lines()
        .map(|line| serde_json::from_str(line).expect("an event"))
        .collect();
    let seen: Vec<(&str, &str)> = events
        .iter()
        .map(|event| {
            (
                event["bearing_id"].as_str().unwrap_or("-"),
                event["measured_at"].as_str().unwrap_or("-"),
            )
        })
        .collect();
    assert_eq!(seen.len(), 6);
    assert!(seen.is_sorted_by_key(|(_, at)| *at), "oldest first: {seen:?}");
    assert_eq!(events[0]["frequency_domain"]["dominant_fault"], "outer_race");

    let replayed = edge(folder.path(), &["replay", "captures", "--jsonl"]);
    assert_eq!(replayed.status.code(), Some(0), "{}", text(&replayed.stderr));
    let events: Vec<Value> = text(&replayed.stdout)
        .lines()
        .map(|line| serde_json::from_str(line).expect("an event"))
        .collect();
    // 6 s from sample 500 on are five windows of 1 s
    assert_eq!(events.len(), 6 * 5);
    assert_eq!(
        (&events[0]["site"], &events[0]["gateway_id"]),
        (&json!("ulsan-1"), &json!("gw-01"))
    );
    fs::write(folder.path().join("events.jsonl"), &replayed.stdout).expect("written");

    let config = "[store]\nsqlite = \"agent.db\"\n";
    fs::write(folder.path().join("agent.toml"), config).expect("written");
    let tested = Command::new(binary("pdm-agent"))
        .args(["backtest", "--from", "events.jsonl", "--config", "agent.toml", "--out", "report"])
        .current_dir(folder.path())
        .output()
        .expect("runs");
    assert_eq!(tested.status.code(), Some(0), "{}", text(&tested.stderr));
    assert!(text(&tested.stdout).contains("30 windows, 2 bearings"), "{}", text(&tested.stdout));
}

/// R-EDGE-10: what is no capture, is another's, or is asked for wrongly is refused by name.
#[test]
fn a_folder_without_captures_and_a_changed_file_are_refused_by_name() {
    let folder = tempfile::tempdir().expect("folder");
    let empty = folder.path().join("empty");
    fs::create_dir(&empty).expect("made");
    let told = |arguments: &[&str]| {
        let output = edge(folder.path(), arguments);
        (output.status.code(), text(&output.stderr))
    };
    let (code, why) = told(&["analyze", "empty"]);
    assert!(code == Some(66) && why.contains("no captures in this folder"), "{code:?} {why}");
    let files = put_captures(folder.path(), 0..1, "DE");
    let (code, why) = told(&["replay", "DE-0.wav", "--period", "10"]);
    assert!(code == Some(64) && why.contains("--period"), "{code:?} {why}");
    let (code, why) = told(&["replay", "empty"]);
    assert!(code == Some(64) && why.contains("--period is missing"), "{code:?} {why}");
    let mut content = fs::read(&files[0]).expect("reads");
    let last = content.len() - 1;
    content[last] ^= 1;
    fs::write(&files[0], content).expect("written");
    for command in ["analyze", "replay"] {
        let (code, why) = told(&[command, "DE-0.wav"]);
        assert!(code == Some(65) && why.contains("SHA-256"), "{command} {code:?} {why}");
    }
    fs::remove_file(&files[0]).expect("removed");
    let (code, why) = told(&["analyze", "."]);
    assert!(code == Some(66) && why.contains("DE-0.wav is not there"), "{code:?} {why}");
}
