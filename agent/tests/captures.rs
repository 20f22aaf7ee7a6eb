//! Captured waveforms from the gateway to the page, with the real programs: killed in between, of a
//! foreign gateway, beyond the room, and looked at.

use std::fmt::Write as _;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use pdm_harness::{Child, SmallDisk, binary, free_port};
use pdm_shared::capture::CaptureDocument;
use pdm_shared::id::EventId;
use pdm_shared::time::Timestamp;
use reqwest::header::CONTENT_RANGE;
use reqwest::{Client, Response, StatusCode};
use serde_json::Value;
use sha2::{Digest as _, Sha256};
use sqlx::{Connection as _, Row as _, SqliteConnection};

/// Longest wait for what has to happen, s.
const PATIENCE: u64 = 120;
const OWN: &str = "the token of gw-01, long enough";
const FOREIGN: &str = "the token of gw-02, long enough";
const BEARING: &str = "ulsan-1/P-101/DE";

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        let _written = write!(text, "{byte:02x}");
        text
    })
}

/// Returns a capture of `samples` samples of a struck outer race: its document and its WAV file.
fn capture(number: u128, samples: u64) -> (CaptureDocument, Vec<u8>) {
    let example = include_str!("../../config/examples/capture.json");
    let mut document: CaptureDocument = serde_json::from_str(example).expect("a document");
    document.capture_id =
        EventId(uuid::Uuid::from_u128(0x0193_90a3_5b2a_7c31_9f00_0000_0000_0000 + number));
    document.samples = samples;
    document.window.first_sample = samples / 2;
    document.window.samples = document.window.samples.min(samples / 2);
    let mut file = b"RIFF\0\0\0\0WAVEfmt ".to_vec();
    file.extend_from_slice(&18_u32.to_le_bytes());
    for part in [3_u16, 1] {
        file.extend_from_slice(&part.to_le_bytes());
    }
    file.extend_from_slice(&25_600_u32.to_le_bytes());
    file.extend_from_slice(&102_400_u32.to_le_bytes());
    for part in [4_u16, 32, 0] {
        file.extend_from_slice(&part.to_le_bytes());
    }
    file.extend_from_slice(b"data");
    file.extend_from_slice(&(4 * samples as u32).to_le_bytes());
    let mut noise = number as u32;
    for i in 0..samples {
        noise = noise.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        let since = (i as f64 / 25_600.0 * 107.36).fract() / 107.36;
        let ring = 20.0 * (-900.0 * since).exp() * (25_000.0 * since).sin();
        let value = ring + f64::from(noise >> 8) / f64::from(1 << 24) - 0.5;
        file.extend_from_slice(&(value as f32).to_le_bytes());
    }
    document.file.bytes = file.len() as u64;
    document.file.sha256 = hex(&Sha256::digest(&file));
    document.file.name = format!("P-101_DE_20261121T051011Z_alarm_{number:08x}.wav");
    (document, file)
}

/// An agent that takes captures of two gateways, of which the first has the bearing.
struct Plant {
    folder: tempfile::TempDir,
    port: u16,
    agent: Option<Child>,
}

impl Plant {
    fn with(max_mb: f64, dir: Option<&Path>) -> Self {
        let folder = tempfile::tempdir().expect("folder");
        let port = free_port();
        let at = |name: &str| folder.path().join(name);
        fs::write(at("own"), OWN).expect("written");
        fs::write(at("foreign"), FOREIGN).expect("written");
        let dir = dir.map_or_else(|| at("captures"), Path::to_owned);
        let text = format!(
            "[store]\nsqlite = \"agent.db\"\n[broker]\naddresses = [\"127.0.0.1:{}\"]\n\
             [http]\nlisten = \"127.0.0.1:{port}\"\n\
             [captures]\ndir = \"{}\"\nmax_mb = {max_mb}\nmax_file_mb = {}\n\
             [[gateways]]\nsite = \"ulsan-1\"\ngateway = \"gw-01\"\nbearings = [\"P-101/DE\"]\n\
             token = {{ file = \"own\" }}\n\
             [[gateways]]\nsite = \"ulsan-1\"\ngateway = \"gw-02\"\ntoken = {{ file = \"foreign\" \
             }}\n",
            free_port(),
            dir.display(),
            f64::min(max_mb, 64.0),
        );
        fs::write(at("agent.toml"), text).expect("written");
        let mut plant = Self { folder, port, agent: None };
        plant.start_agent();
        plant
    }

    fn at(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn log(&self, name: &str) -> File {
        File::options().append(true).create(true).open(self.at(name)).expect("a log")
    }

    fn start_agent(&mut self) {
        let mut command = Command::new(binary("pdm-agent"));
        command.arg("run").arg("--config").arg(self.at("agent.toml"));
        command.stdout(Stdio::null()).stderr(self.log("agent.log"));
        self.agent = Some(Child::start(&mut command));
    }

    fn start_edge(&self) -> Child {
        let mut command = Command::new(binary("pdm-edge"));
        command.arg("run").arg("--config").arg(self.at("edge.toml"));
        command.stdout(Stdio::null()).stderr(self.log("edge.log"));
        Child::start(&mut command)
    }

    fn logs(&self) -> String {
        ["agent.log", "edge.log"]
            .map(|name| fs::read_to_string(self.at(name)).unwrap_or_default())
            .concat()
    }

    async fn until(&self, what: &str, mut is_so: impl AsyncFnMut() -> bool) {
        for _ in 0..PATIENCE * 20 {
            if is_so().await {
                return;
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        panic!("{what} did not come; {}", self.logs());
    }

    async fn until_served(&self) {
        self.until("the agent", async || self.get("/livez").await.is_some()).await;
    }

    fn url(&self, path: &str) -> String {
        format!("http://127.0.0.1:{}{path}", self.port)
    }

    async fn get(&self, path: &str) -> Option<Response> {
        client().get(self.url(path)).send().await.ok().filter(|answer| answer.status().is_success())
    }

    async fn text(&self, path: &str, language: &str) -> String {
        let asked = client().get(self.url(path)).header("accept-language", language);
        let answer = asked.send().await.expect("answers");
        assert_eq!(answer.status(), StatusCode::OK, "{path}");
        answer.text().await.expect("text")
    }

    /// Sends a document, or a part of a file where a range is given.
    async fn put(
        &self,
        token: &str,
        id: EventId,
        body: Vec<u8>,
        range: Option<String>,
    ) -> (u16, Value) {
        let mut request =
            client().put(self.url(&format!("/api/v1/captures/{id}"))).bearer_auth(token);
        if let Some(range) = range {
            request = request.header(CONTENT_RANGE, range);
        }
        let answer = request.body(body).send().await.expect("answers");
        let status = answer.status().as_u16();
        (status, answer.json().await.unwrap_or_default())
    }

    /// Sends a capture whole: the last answer.
    async fn send(&self, token: &str, document: &CaptureDocument, file: &[u8]) -> (u16, Value) {
        let text = serde_json::to_vec(document).expect("json");
        let begun = self.put(token, document.capture_id, text, None).await;
        if begun.0 != 202 {
            return begun;
        }
        let total = file.len();
        let range = format!("bytes 0-{}/{total}", total - 1);
        self.put(token, document.capture_id, file.to_vec(), Some(range)).await
    }

    async fn rows(&self) -> i64 {
        let url = format!("sqlite:{}?mode=ro", self.at("agent.db").display());
        let mut database = SqliteConnection::connect(&url).await.expect("opens");
        let row = sqlx::query("SELECT count(*) FROM captures").fetch_one(&mut database).await;
        row.expect("counted").get(0)
    }
}

fn client() -> Client {
    let _installed = rustls::crypto::ring::default_provider().install_default();
    Client::new()
}

/// Bytes that have come of the upload that is under way.
fn come(captures: &Path) -> u64 {
    let below = |path: PathBuf| {
        fs::read_dir(path).into_iter().flatten().filter_map(|entry| Some(entry.ok()?.path()))
    };
    let parts = below(captures.join("incoming")).flat_map(below);
    let parts = parts.filter(|path| path.extension().is_some_and(|ending| ending == "part"));
    parts.filter_map(|path| Some(fs::metadata(path).ok()?.len())).sum()
}

fn kept(captures: &Path) -> Vec<PathBuf> {
    let entries =
        fs::read_dir(captures).into_iter().flatten().filter_map(|entry| Some(entry.ok()?.path()));
    entries.filter(|path| path.is_file()).collect()
}

/// Issue 39: an upload that is killed twenty times, gateway and agent in turn, ends as one object
/// with the right hash, and the gateway knows it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_upload_that_is_killed_twenty_times_is_one_object_with_its_hash() {
    let mut plant = Plant::with(512.0, None);
    let (document, file) = capture(1, 15_000_000);
    let waiting = plant.at("edge-captures");
    fs::create_dir(&waiting).expect("made");
    fs::write(waiting.join(&document.file.name), &file).expect("written");
    let json = waiting.join(document.file.name.replace(".wav", ".json"));
    fs::write(&json, serde_json::to_vec(&document).expect("json")).expect("written");
    let edge = format!(
        "gateway_id = \"gw-01\"\nsite = \"ulsan-1\"\n[broker]\naddresses = [\"127.0.0.1:{}\"]\n\
         [spool]\npath = \"spool.db\"\n[capture]\nfolder = {waiting:?}\n\
         [capture.upload]\nurl = \"http://127.0.0.1:{}\"\ntoken = {{ file = \"own\" }}\n",
        free_port(),
        plant.port
    );
    fs::write(plant.at("edge.toml"), edge).expect("written");
    plant.until_served().await;
    let captures = plant.at("captures");
    let mut edge = plant.start_edge();
    let mut in_between = 0;
    for kill in 1..=20_u64 {
        let wanted = file.len() as u64 * kill / 21;
        plant
            .until("the next part", async || {
                come(&captures) >= wanted || !kept(&captures).is_empty()
            })
            .await;
        in_between += u32::from(kept(&captures).is_empty());
        if kill % 2 == 0 {
            plant.agent.take().expect("runs").kill();
            plant.start_agent();
        } else {
            edge.kill();
            edge = plant.start_edge();
        }
    }
    assert!(in_between >= 15, "killed within the upload {in_between} times of 20");
    let mark = json.with_extension("sent");
    plant
        .until("the mark", async || fs::read_to_string(&mark).is_ok_and(|text| text == "sent"))
        .await;
    drop(edge);
    let there = kept(&captures);
    assert_eq!(there, [captures.join(format!("{}.wav", document.capture_id))], "one object");
    assert_eq!(hex(&Sha256::digest(fs::read(&there[0]).expect("read"))), document.file.sha256);
    assert_eq!((plant.rows().await, come(&captures)), (1, 0));
}

/// Issue 39: a token is of one gateway, and a gateway sends captures of its own bearings alone;
/// what does not fit its document is refused by name and nothing of it is kept.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_not_the_gateways_or_not_what_it_says_is_refused_by_name() {
    let plant = Plant::with(512.0, None);
    plant.until_served().await;
    let (document, file) = capture(1, 20_000);
    let told = |(status, said): (u16, Value)| {
        format!(
            "{status} {} {}",
            said["cause"].as_str().unwrap_or("-"),
            said["error"].as_str().unwrap_or("-")
        )
    };
    let foreign = told(plant.send(FOREIGN, &document, &file).await);
    assert!(foreign.starts_with("403 owner the document names gateway ulsan-1/gw-01"), "{foreign}");
    let mut in_its_name = document.clone();
    in_its_name.gateway_id = "gw-02".parse().expect("a name");
    let foreign = told(plant.send(FOREIGN, &in_its_name, &file).await);
    assert!(
        foreign.starts_with("403 owner bearing ulsan-1/P-101/DE belongs to another"),
        "{foreign}"
    );
    let mut unknown = in_its_name.clone();
    unknown.bearing_id = "NDE".parse().expect("a name");
    let unknown = told(plant.send(FOREIGN, &unknown, &file).await);
    assert!(unknown.starts_with("403 owner no event of bearing"), "{unknown}");
    for token in ["", "no token of anybody at all"] {
        assert_eq!(plant.send(token, &document, &file).await.0, 401);
    }
    let mut other_rate = document.clone();
    other_rate.sampling_rate_hz = 12_800.0;
    let refused = told(plant.send(OWN, &other_rate, &file).await);
    assert!(refused.starts_with("422 unfit the file has 25600 samples a second"), "{refused}");
    let mut broken = file.clone();
    broken[5000] ^= 1;
    let refused = told(plant.send(OWN, &document, &broken).await);
    assert!(refused.starts_with("422 hash"), "{refused}");
    let range = |first: usize, last: usize| Some(format!("bytes {first}-{last}/{}", file.len()));
    let text = serde_json::to_vec(&document).expect("json");
    let early = plant.put(OWN, document.capture_id, file[..10].to_vec(), range(0, 9)).await;
    assert!(told(early).starts_with("409 unknown"), "the document comes first");
    assert_eq!(plant.put(OWN, document.capture_id, text, None).await.0, 202);
    let hole = plant.put(OWN, document.capture_id, file[10..20].to_vec(), range(10, 19)).await;
    assert!(hole.0 == 409 && hole.1["have"] == 0, "{hole:?}");
    assert_eq!((plant.rows().await, kept(&plant.at("captures")).len()), (0, 0));
    // the same again is the same object, and nobody else gets its identity
    for _ in 0..2 {
        let (status, said) = plant.send(OWN, &document, &file).await;
        assert!(status == 201 && said["complete"] == true, "{status} {said}");
    }
    assert_eq!((plant.rows().await, kept(&plant.at("captures")).len()), (1, 1));
    let (mut taken, file) = capture(2, 20_000);
    taken.capture_id = document.capture_id;
    assert!(told(plant.send(OWN, &taken, &file).await).starts_with("403 identity"));
    let metrics = plant.text("/metrics", "en").await;
    assert!(metrics.contains("pdm_agent_captures_refused_total{cause=\"owner\"} 3"), "{metrics}");
}

/// Issue 39: the oldest captures leave for new ones; what is larger than one may be, and a full
/// disk, are told.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_room_is_bounded_and_a_full_disk_is_told() {
    let plant = Plant::with(1.0, None);
    plant.until_served().await;
    for number in 1..=5 {
        let (document, file) = capture(number, 100_000);
        assert_eq!(plant.send(OWN, &document, &file).await.0, 201, "{number}");
    }
    // 0.4 MB each: two fit into one
    assert_eq!((plant.rows().await, kept(&plant.at("captures")).len()), (2, 2));
    let (document, file) = capture(6, 260_000);
    let (status, said) = plant.send(OWN, &document, &file).await;
    assert_eq!((status, &said["cause"]), (413, &Value::from("large")));

    let name = "the_room_is_bounded_and_a_full_disk_is_told";
    let Some(disk) = SmallDisk::mount(name, 8) else { return };
    let plant = Plant::with(512.0, Some(disk.path()));
    plant.until_served().await;
    let (document, file) = capture(7, 1_000_000);
    let text = serde_json::to_vec(&document).expect("json");
    assert_eq!(plant.put(OWN, document.capture_id, text, None).await.0, 202);
    disk.fill();
    let range = format!("bytes 0-{}/{}", file.len() - 1, file.len());
    let full = plant.put(OWN, document.capture_id, file.clone(), Some(range)).await;
    assert_eq!((full.0, &full.1["cause"]), (507, &Value::from("room")), "{full:?}");
    disk.make_room();
    let (_, state) = plant
        .put(OWN, document.capture_id, serde_json::to_vec(&document).expect("json"), None)
        .await;
    let have = state["have"].as_u64().expect("a state") as usize;
    let range = format!("bytes {have}-{}/{}", file.len() - 1, file.len());
    let done = plant.put(OWN, document.capture_id, file[have..].to_vec(), Some(range)).await;
    assert_eq!(done.0, 201, "{done:?}");
}

/// Issue 39, 36.5: the page shows the five pictures in both languages, one capture over another,
/// sound and files.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_capture_is_looked_at_and_listened_to() {
    let plant = Plant::with(512.0, None);
    plant.until_served().await;
    let (document, file) = capture(1, 332_800);
    let (mut reference, quiet) = capture(2, 332_800);
    reference.triggers.truncate(1);
    reference.triggers[0].reason = pdm_shared::capture::CaptureReason::Reference;
    reference.started_at = Timestamp::parse("2026-11-20T05:10:11.000Z").expect("a time");
    assert_eq!(plant.send(OWN, &document, &file).await.0, 201);
    assert_eq!(plant.send(OWN, &reference, &quiet).await.0, 201);
    let page = format!("/bearings/{BEARING}/captures/{}", document.capture_id);
    for (language, words) in [
        ("ko", ["포락선 스펙트럼", "켑스트럼", "정상 기준과 겹쳐 보기"]),
        ("en", ["Envelope spectrum", "Cepstrum", "Compare with the sound reference"]),
    ] {
        let text = plant.text(&page, language).await;
        assert_eq!(text.matches("<path class=\"own\" d=\"M").count(), 5, "five pictures");
        for word in words {
            assert!(text.contains(word), "{language}: {word}");
        }
        assert!(text.contains("BPFO") && !text.contains("<path class=\"over\""));
    }
    let over = plant.text(&format!("{page}?over={}&part=all", reference.capture_id), "en").await;
    assert_eq!(over.matches("<path class=\"over\" d=\"M").count(), 5, "over each other");
    let wav = plant.get(&format!("{page}/capture.wav")).await.expect("served");
    assert_eq!(wav.bytes().await.expect("bytes"), file, "bit by bit");
    let json: CaptureDocument =
        serde_json::from_str(&plant.text(&format!("{page}/capture.json"), "en").await)
            .expect("json");
    assert_eq!(json, document);
    for part in ["band", "all"] {
        let sound = plant.get(&format!("{page}/sound.wav?part={part}")).await.expect("served");
        assert_eq!(sound.headers()["content-type"], "audio/wav");
        let sound = sound.bytes().await.expect("bytes");
        assert_eq!((sound.len(), sound[34]), (44 + 2 * 332_800, 16), "16 bits");
    }
    let listed = plant.text(&format!("/api/v1/bearings/{BEARING}/captures"), "en").await;
    let listed: Value = serde_json::from_str(&listed).expect("json");
    assert_eq!(listed["items"].as_array().map(Vec::len), Some(2));
    assert_eq!(listed["items"][0]["capture_id"], document.capture_id.to_string());
    let document_again =
        plant.text(&format!("/api/v1/captures/{}", document.capture_id), "en").await;
    assert!(document_again.contains("pdm.capture/1"));
    let elsewhere = page.replace("P-101", "P-102");
    assert!(plant.get(&elsewhere).await.is_none(), "a capture stands under its own bearing");
}
