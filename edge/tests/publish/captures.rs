//! Captured waveforms by the real program and the real pipeline: judged again as live, whole after
//! kills, a full disk beside events that go on, read by SciPy and libsndfile.

use std::io::{Read as _, Write as _};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::Arc;
use std::time::Duration;

use pdm_edge::capture::{CaptureSettings, StoredCapture, list, sha256_of};
use pdm_edge::pipeline::Edge;
use pdm_harness::{Child, PythonPackage, SmallDisk, free_port, until};
use pdm_service::clock::SystemClock;
use pdm_shared::capture::CaptureReason;
use pdm_shared::event::{Event, Method};

use crate::service::{events, settings};

fn captures(folder: &Path) -> CaptureSettings {
    CaptureSettings {
        budget_bytes: 8 << 20,
        folder: folder.to_owned(),
        most_disk_bytes: 64 << 20,
        before_s: 1.0,
        after_s: 1.0,
        per_hour: 60,
        reference_s: 86_400.0,
        upload: None,
    }
}

/// Returns the captures of a folder, each checked against its hash.
pub(crate) fn whole(folder: &Path) -> Vec<StoredCapture> {
    let (captures, unread) = list(folder).expect("lists");
    assert!(unread.is_empty(), "{unread:?}");
    for capture in &captures {
        let hash = sha256_of(&capture.wav()).expect("its file is there");
        assert_eq!(hash, capture.document.file.sha256, "{}", capture.path.display());
    }
    captures
}

pub(crate) fn edge(arguments: &[&str]) -> Output {
    let output = Command::new(env!("CARGO_BIN_EXE_pdm-edge")).args(arguments).output();
    output.expect("runs")
}

pub(crate) fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn near(a: Option<f64>, b: Option<f64>) -> bool {
    match (a, b) {
        (Some(a), Some(b)) => (a - b).abs() <= 1e-6 * a.abs().max(b.abs()),
        (None, None) => true,
        (Some(_), None) | (None, Some(_)) => false,
    }
}

/// Runs a simulated run to failure to its end.
async fn run_to_failure(folder: &Path) -> Vec<Event> {
    let mut settings = settings(folder, free_port(), 120);
    settings.capture = Some(captures(&folder.join("captures")));
    let edge = Edge::start(settings, Arc::new(SystemClock)).await.expect("starts");
    tokio::time::timeout(Duration::from_mins(2), edge.ended()).await.expect("in time");
    let done = edge.stop().await.expect("no part failed");
    assert_eq!(done.spooled, 240);
    events(folder).await
}

/// Issue 39: a capture is read with no option, and gives the figures of the window that triggered.
#[tokio::test(flavor = "multi_thread")]
async fn a_capture_gives_the_figures_of_its_live_window_without_an_option() {
    let folder = tempfile::tempdir().expect("folder");
    let events = run_to_failure(folder.path()).await;
    let captures = whole(&folder.path().join("captures"));
    let of = |reason| captures.iter().find(|capture| capture.document.is_for(reason));
    assert!(of(CaptureReason::Alarm).is_some_and(|capture| capture.document.is_in_alarm));
    assert!(of(CaptureReason::Name).is_some() && of(CaptureReason::Reference).is_some());
    let mut named = 0;
    for capture in &captures {
        let trigger = &capture.document.triggers[0];
        let live = events.iter().find(|event| Some(event.event_id) == trigger.event_id);
        let live = live.expect("its event");
        let wav = capture.wav();
        let output = edge(&["analyze", "--json", wav.to_str().expect("UTF-8")]);
        assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
        assert!(text(&output.stderr).contains("captured from P-101/DE"), "a reading is said");
        let again: Event = serde_json::from_slice(&output.stdout).expect("an event");
        assert_eq!(again.window.samples, live.window.samples);
        assert_eq!(
            (&again.equipment_id, again.measured_at),
            (&live.equipment_id, live.measured_at)
        );
        let (a, b) = (&again.time_domain, &live.time_domain);
        for (name, a, b) in [
            ("rms", a.rms_g, b.rms_g),
            ("peak", a.peak_g, b.peak_g),
            ("kurtosis", a.kurtosis, b.kurtosis),
            ("crest", a.crest_factor, b.crest_factor),
            ("velocity", a.velocity_rms_mm_s, b.velocity_rms_mm_s),
        ] {
            assert!(near(a, b), "{name} of {}: {a:?} {b:?}", wav.display());
        }
        if live.frequency_domain.method == Method::Thorough {
            let (a, b) = (&again.frequency_domain, &live.frequency_domain);
            assert!(near(a.bpfo.frequency_hz, b.bpfo.frequency_hz), "{}", wav.display());
            if b.dominant_fault.is_some() {
                assert_eq!(a.dominant_fault, b.dominant_fault);
                named += 1;
            }
        }
    }
    assert!(named > 0, "no capture of a named fault among {}", captures.len());
    // a file that was changed is not judged as what was captured
    let wav = captures[0].wav();
    let mut bytes = std::fs::read(&wav).expect("reads");
    let last = bytes.len() - 1;
    bytes[last] ^= 1;
    std::fs::write(&wav, bytes).expect("writes");
    let output = edge(&["analyze", "--json", wav.to_str().expect("UTF-8")]);
    assert_eq!(output.status.code(), Some(65), "{}", text(&output.stderr));
    assert!(text(&output.stderr).contains("SHA-256"), "{}", text(&output.stderr));
}

const READ: &str = "
import json, sys, warnings
warnings.simplefilter('error')
import numpy, soundfile
from scipy.io import wavfile
wav, npy, document = sys.argv[1], sys.argv[2], json.load(open(sys.argv[3]))
rate, samples = wavfile.read(wav)
assert samples.dtype == numpy.float32 and samples.shape == (document['samples'],), samples.shape
assert rate == round(document['sampling_rate_hz'])
again = numpy.load(npy)
assert again.dtype == numpy.float32 and (again == samples).all()
with soundfile.SoundFile(wav) as file:
    assert file.subtype == 'FLOAT' and file.samplerate == rate and file.channels == 1
    assert (file.read(dtype='float32') == samples).all()
    found = file.copy_metadata()
assert found['title'].startswith(document['equipment_id']), found
assert 'unit m/s2' in found['comment'] and document['capture_id'] in found['comment'], found
assert found['software'].startswith('pdm-edge') and found['date'] == document['started_at'], found
print('read')
";

/// The file as SciPy and libsndfile (Audacity's library) read it, rate and metadata included.
#[tokio::test(flavor = "multi_thread")]
async fn scipy_and_libsndfile_read_samples_rate_and_metadata() {
    const PACKAGE: PythonPackage<'_> = PythonPackage {
        requirement: "scipy>=1.13 soundfile>=0.13",
        probe: "import scipy.io.wavfile, soundfile",
    };
    let test = "scipy_and_libsndfile_read";
    let Some(python) = PACKAGE.interpreter(test, env!("CARGO_TARGET_TMPDIR"), "wav-venv") else {
        return;
    };
    let folder = tempfile::tempdir().expect("folder");
    run_to_failure(folder.path()).await;
    let config = configuration(folder.path(), free_port());
    let config = config.to_str().expect("UTF-8");
    let out = tempfile::tempdir().expect("folder");
    let captures = whole(&folder.path().join("captures"));
    let id = captures[0].document.capture_id.to_string();
    // a folder that is not there is made
    let made = out.path().join("made");
    let to = made.to_str().expect("UTF-8");
    let export = |format: &str| {
        let arguments =
            ["capture", "export", &id, "--to", to, "--format", format, "--config", config];
        let output = edge(&arguments);
        (output.status.code(), text(&output.stdout).trim().to_owned(), text(&output.stderr))
    };
    let (code, npy, told) = export("npy");
    assert_eq!(code, Some(0), "{told}");
    let python = Command::new(python)
        .args(["-c", READ])
        .args([&captures[0].wav(), Path::new(&npy), &captures[0].path])
        .output()
        .expect("runs");
    assert_eq!(text(&python.stdout).trim(), "read", "{}", text(&python.stderr));
    // what is there is not overwritten, and an exported file is judged with no option too
    assert_eq!(export("npy").0, Some(74));
    let output = edge(&["analyze", "--json", &npy]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
}

/// A simulated machine at thirty times its speed, captures beside the spool.
pub(crate) fn configuration(folder: &Path, admin: u16) -> PathBuf {
    let text = include_str!("../../../config/edge.toml")
        .replace("127.0.0.1:1883", &format!("127.0.0.1:{}", free_port()))
        .replace("127.0.0.1:9101", &format!("127.0.0.1:{admin}"))
        .replace("../var/edge/spool.db", "spool.db")
        .replace("pace = 60.0", "pace = 600.0")
        .replace("snapshots = 300", "snapshots = 100000");
    let text = format!(
        "{text}\n[capture]\nbudget_mb = 4.0\nfolder = \"captures\"\nbefore_s = 3.0\nafter_s = 0.2\n\
         per_hour = 3600\n"
    );
    let path = folder.join("edge.toml");
    std::fs::write(&path, text).expect("writes");
    path
}

pub(crate) fn run(config: &Path) -> Child {
    Child::start(
        Command::new(env!("CARGO_BIN_EXE_pdm-edge"))
            .args(["run", "--config"])
            .arg(config)
            .env("PDM_LOG", "error")
            .stdout(Stdio::null()),
    )
}

pub(crate) fn http(port: u16, request: &str) -> Option<String> {
    let mut socket = TcpStream::connect((Ipv4Addr::LOCALHOST, port)).ok()?;
    let head = format!("Host: 127.0.0.1:{port}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
    write!(socket, "{request} HTTP/1.1\r\n{head}").ok()?;
    let mut answer = String::new();
    socket.read_to_string(&mut answer).ok()?;
    (!answer.is_empty()).then_some(answer)
}

/// Killed twenty times while captures are written: what is listed is whole, nothing is left half
/// written.
#[test]
fn a_kill_leaves_no_capture_half_written() {
    let folder = tempfile::tempdir().expect("folder");
    let admin = free_port();
    let config = configuration(folder.path(), admin);
    let captures = folder.path().join("captures");
    let mut wait = 7_u64;
    for _ in 0..20 {
        let mut child = run(&config);
        until("the edge to take a demand", 20, || {
            http(admin, "POST /capture/P-101/DE").filter(|answer| answer.contains(" 202 "))
        });
        for _ in 0..8 {
            // an answer that does not come is one of the program's states too
            let _answer = http(admin, "POST /capture/P-101/DE");
            // steps that fall on every state of the writing
            wait = (wait * 31 + 11) % 47;
            std::thread::sleep(Duration::from_millis(wait));
        }
        child.kill();
        whole(&captures);
    }
    let mut child = run(&config);
    until("the edge to answer", 20, || http(admin, "GET /healthz"));
    assert_eq!(child.terminate().code(), Some(0));
    let kept = whole(&captures);
    assert!(kept.len() >= 10, "{} captures", kept.len());
    let files = std::fs::read_dir(&captures).expect("reads").flatten().map(|entry| entry.path());
    let files: Vec<PathBuf> = files.collect();
    assert_eq!(files.len(), 2 * kept.len(), "{files:?}");
}

/// A disk that becomes full: told in log, metric and health; every event is spooled, nothing half
/// written.
#[test]
fn a_full_disk_stops_captures_and_no_event() {
    let Some(disk) = SmallDisk::mount("a_full_disk_stops_captures", 4) else { return };
    let folder = tempfile::tempdir().expect("folder");
    let admin = free_port();
    let config = configuration(folder.path(), admin);
    let captures = disk.path().join("captures");
    let text = std::fs::read_to_string(&config).expect("reads");
    let own = format!("folder = \"{}\"", captures.display());
    std::fs::write(&config, text.replace("folder = \"captures\"", &own)).expect("writes");
    let mut child = run(&config);
    let demand = || http(admin, "POST /capture/P-101/DE").filter(|a| a.contains(" 202 "));
    until("a demand to be taken", 20, demand);
    until("a capture", 20, || (!whole(&captures).is_empty()).then_some(()));
    disk.fill();
    let spooled = || {
        let metrics = http(admin, "GET /metrics")?;
        let line = metrics.lines().find(|l| l.starts_with("pdm_edge_spool_waiting_events "))?;
        line.rsplit(' ').next()?.parse::<f64>().ok()
    };
    let before = until("the figures", 20, spooled);
    until("the health to tell", 20, || {
        // refused once a try has failed: a full disk is not written in vain
        let _answer = http(admin, "POST /capture/P-101/DE");
        http(admin, "GET /healthz").filter(|health| health.contains("cannot be written"))
    });
    let metrics = http(admin, "GET /metrics").expect("answers");
    assert!(metrics.contains("pdm_edge_captures_refused_total{cause=\"disk\"}"), "{metrics}");
    let refused = http(admin, "POST /capture/P-101/DE").expect("answers");
    assert!(refused.contains(" 507 ") && refused.contains("cannot be written"), "{refused}");
    until("more events", 20, || spooled().filter(|now| *now > before + 5.0));
    let kept = whole(&captures).len();
    let files = std::fs::read_dir(&captures).expect("reads").count();
    assert!(files <= 2 * kept + 2, "{files} files for {kept} captures");
    assert_eq!(child.terminate().code(), Some(0));
    let files = std::fs::read_dir(&captures).expect("reads").count();
    assert_eq!(files, 2 * whole(&captures).len(), "nothing half written");
}

/// Numbers of a stream in the form that `encoding` names, and what they mean in m/s².
fn encoded(encoding: &str) -> (Vec<u8>, Vec<f64>) {
    let mut state = 1_u32;
    let mut next = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 8).cast_signed() - (1 << 23)
    };
    let (mut bytes, mut accel_m_s2) = (Vec::new(), Vec::new());
    for _ in 0..3 * 3200 {
        let count = next();
        let number = match encoding {
            "i16" => {
                let count = (count >> 8) as i16;
                bytes.extend(count.to_le_bytes());
                f64::from(count)
            }
            "i24" => {
                bytes.extend(&count.to_le_bytes()[..3]);
                f64::from(count)
            }
            _ => {
                let number = (f64::from(count) / 1e5).sin() as f32 * 1e4;
                bytes.extend(number.to_le_bytes());
                f64::from(number)
            }
        };
        accel_m_s2.push(number * 0.001 / 100.0 * 9.806_65);
    }
    (bytes, accel_m_s2)
}

/// Issue 39: the samples before a trigger are bit-equal to the source's in 24 bits; numbers of
/// floating point are within half a step that is at most 2⁻²³ of the largest magnitude.
#[tokio::test(flavor = "multi_thread")]
async fn samples_of_every_encoding_come_back_bit_equal() {
    for encoding in ["i16", "i24", "f32"] {
        let folder = tempfile::tempdir().expect("folder");
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("binds");
        let device = listener.local_addr().expect("bound").port();
        let admin = free_port();
        let text = format!(
            "gateway_id = \"gw\"\nsite = \"s\"\n[broker]\naddresses = [\"127.0.0.1:{}\"]\n\
             [spool]\npath = \"spool.db\"\n[admin]\nlisten = \"127.0.0.1:{admin}\"\n\
             [capture]\nbefore_s = 60.0\nafter_s = 0.0\n\
             [[source]]\nname = \"device\"\nkind = \"stream\"\nrate_hz = 3200.0\nwindow_s = 0.5\n\
             [source.stream]\nencoding = \"{encoding}\"\nblock_s = 0.5\n\
             from = \"tcp://127.0.0.1:{device}\"\n[[source.channel]]\nequipment = \"P\"\n\
             bearing = \"DE\"\nrpm = 1800.0\nbearing_type = \"6205\"\n\
             sensitivity_mv_per_g = 100.0\nscale = 0.001\n",
            free_port()
        );
        let settings = pdm_edge::settings::parse(&folder.path().join("edge.toml"), &text);
        let edge = Edge::start(settings.expect("valid").0, Arc::new(SystemClock)).await;
        let edge = edge.expect("starts");
        let (bytes, accel_m_s2) = encoded(encoding);
        let sending = std::thread::spawn(move || {
            let (mut socket, _) = listener.accept().expect("the edge connects");
            socket.write_all(&bytes).expect("sends");
            // the connection stays until the capture is written
            std::thread::sleep(Duration::from_secs(4));
        });
        let mut progress = edge.progress();
        let all = progress.wait_for(|progress| progress.spooled >= 6);
        tokio::time::timeout(Duration::from_secs(20), all).await.expect("in time").expect("runs");
        let asked = move || {
            until("the demand to be taken", 20, || {
                http(admin, "POST /capture/P/DE").filter(|answer| answer.contains(" 202 "))
            })
        };
        tokio::task::spawn_blocking(asked).await.expect("no panic");
        edge.stop().await.expect("no part failed");
        sending.join().expect("no panic");
        let captures = whole(&folder.path().join("captures"));
        let document = &captures[0].document;
        assert_eq!(document.samples as usize, accel_m_s2.len(), "{encoding}");
        assert_eq!(document.sensor.sensitivity_mv_per_g, Some(100.0));
        assert_eq!(document.steps.is_exact, encoding != "f32", "{encoding}");
        let wav = std::fs::read(captures[0].wav()).expect("reads");
        let samples = &wav[wav.len() - 4 * accel_m_s2.len()..];
        let peak = accel_m_s2.iter().fold(0.0_f64, |peak, sample| peak.max(sample.abs()));
        let steps = &document.steps;
        assert!(steps.is_exact || steps.step_m_s2 <= peak / f64::from(1 << 22), "{encoding}");
        for (at, (bytes, expected)) in samples.chunks_exact(4).zip(&accel_m_s2).enumerate() {
            let taken = f32::from_le_bytes(bytes.try_into().expect("four"));
            if document.steps.is_exact {
                let step = 0.001 / 100.0 * 9.806_65;
                let counts = [f64::from(taken), *expected].map(|sample| (sample / step).round());
                assert_eq!(counts[0] as i64, counts[1] as i64, "{encoding} sample {at}");
            } else {
                // half a step, and the rounding of the file's 32-bit float
                let most =
                    0.5 * document.steps.step_m_s2 + expected.abs() * f64::from(f32::EPSILON);
                assert!((f64::from(taken) - expected).abs() <= most, "sample {at}");
            }
        }
    }
}
