//! Captures of the other kinds of sources: blocks with a header (`pdm.frames/1`), JSON over MQTT,
//! files of a watched folder. What was measured comes back count for count.

use std::io::Write as _;
use std::net::{Ipv4Addr, TcpListener};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use pdm_edge::pipeline::{Edge, Handle};
use pdm_harness::{Mosquitto, Persistence, free_port, until};
use pdm_service::clock::SystemClock;
use rumqttc::{Client, MqttOptions, QoS};

use crate::captures::{http, whole};

const RATE_HZ: u32 = 3200;
const SAMPLES: usize = 3 * RATE_HZ as usize;
/// The value of one count, g.
const SCALE: f64 = 0.001;
/// The settings of a channel whose source states no unit.
const OWN_UNIT: &str = "unit = \"g\"\nscale = 0.001";

/// Returns counts of a converter of `bits` bits, the extremes among them.
fn counts(bits: u32) -> Vec<i32> {
    let most = (1_i32 << (bits - 1)) - 1;
    let mut state = 1_u32;
    let next = |_| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        state.cast_signed() >> (32 - bits)
    };
    [most, -most, 0, 1, -1].into_iter().chain((5..SAMPLES).map(next)).collect()
}

/// CRC-32 of ISO 3309, by its definition.
fn crc32(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(u32::MAX, |crc, byte| {
        (0..8).fold(crc ^ u32::from(*byte), |crc, _| {
            (crc >> 1) ^ (0xEDB8_8320 & (0_u32.wrapping_sub(crc & 1)))
        })
    })
}

/// The counts as blocks of `pdm.frames/1` of one channel, 24 bits, g.
fn framed(counts: &[i32]) -> Vec<u8> {
    let mut stream = Vec::new();
    for (number, block) in counts.chunks(320).enumerate() {
        let mut body = Vec::new();
        for value in [SCALE as f32, 0.0, 0.0] {
            body.extend_from_slice(&value.to_le_bytes());
        }
        for count in block {
            body.extend_from_slice(&count.to_le_bytes()[..3]);
        }
        let mut head = b"PDMF".to_vec();
        head.extend_from_slice(&[1, 2, 1, 0, 1, 0, 0, 0]);
        head.extend_from_slice(&(block.len() as u32).to_le_bytes());
        head.extend_from_slice(&(number as u32).to_le_bytes());
        head.extend_from_slice(&[0; 4]);
        head.extend_from_slice(&7_u64.to_le_bytes());
        head.extend_from_slice(&(number as u64 * 320).to_le_bytes());
        head.extend_from_slice(&f64::from(RATE_HZ).to_le_bytes());
        head.extend_from_slice(&0_i64.to_le_bytes());
        head.extend_from_slice(&crc32(&body).to_le_bytes());
        let of_head = crc32(&head);
        head.extend_from_slice(&of_head.to_le_bytes());
        stream.extend(head);
        stream.extend(body);
    }
    stream
}

/// A WAV file of 16-bit counts.
fn wav(counts: &[i32]) -> Vec<u8> {
    let mut file = std::io::Cursor::new(Vec::new());
    let form = hound::WavSpec {
        channels: 1,
        sample_rate: RATE_HZ,
        bits_per_sample: 16,
        sample_format: hound::SampleFormat::Int,
    };
    let mut writer = hound::WavWriter::new(&mut file, form).expect("a head");
    for &count in counts {
        writer.write_sample(count as i16).expect("a sample");
    }
    writer.finalize().expect("whole");
    file.into_inner()
}

/// Runs the edge on a source until its six windows are measured, asks for a capture, and holds its
/// last samples against the counts. `scale`: what one count is in the file of the capture, m/s².
async fn captured(
    folder: &Path,
    (source, channel): (&str, &str),
    counts: &[i32],
    scale_m_s2: f64,
    send: impl AsyncFnOnce(&Handle),
) {
    let admin = free_port();
    let text = format!(
        "gateway_id = \"gw\"\nsite = \"s\"\n[broker]\naddresses = [\"127.0.0.1:{}\"]\n\
         [spool]\npath = \"spool.db\"\n[admin]\nlisten = \"127.0.0.1:{admin}\"\n\
         [capture]\nbefore_s = 60.0\nafter_s = 0.0\n[[source]]\nname = \"device\"\n{source}\n\
         [[source.channel]]\nequipment = \"P\"\nbearing = \"DE\"\nrpm = 1800.0\n\
         bearing_type = \"6205\"\n{channel}\n",
        free_port()
    );
    let settings = pdm_edge::settings::parse(&folder.join("edge.toml"), &text);
    let edge =
        Edge::start(settings.expect("valid").0, Arc::new(SystemClock)).await.expect("starts");
    send(&edge).await;
    let mut progress = edge.progress();
    let all = progress.wait_for(|progress| progress.spooled >= 6);
    tokio::time::timeout(Duration::from_secs(30), all).await.expect("in time").expect("runs");
    let asked = move || {
        until("the demand to be taken", 20, || {
            http(admin, "POST /capture/P/DE").filter(|answer| answer.contains(" 202 "))
        })
    };
    tokio::task::spawn_blocking(asked).await.expect("no panic");
    edge.stop().await.expect("no part failed");
    let captures = whole(&folder.join("captures"));
    let document = &captures[0].document;
    assert!(document.steps.is_exact && document.gaps.is_empty(), "{document:?}");
    assert!(document.samples as usize >= counts.len(), "{}", document.samples);
    let wav = std::fs::read(captures[0].wav()).expect("reads");
    let samples = &wav[wav.len() - 4 * counts.len()..];
    for (at, (bytes, count)) in samples.chunks_exact(4).zip(counts).enumerate() {
        let taken = f32::from_le_bytes(bytes.try_into().expect("four"));
        assert_eq!((f64::from(taken) / scale_m_s2).round() as i32, *count, "sample {at}");
        // the 32-bit float nearest to the sample of the source
        let expected = f64::from(*count) * scale_m_s2;
        let reach = expected.abs() * f64::from(f32::EPSILON);
        assert!((f64::from(taken) - expected).abs() <= reach, "sample {at}: {taken} {expected}");
    }
}

/// R-EDGE-10: blocks with a header come back count for count in 24 bits.
#[tokio::test(flavor = "multi_thread")]
async fn samples_of_framed_blocks_come_back_bit_equal() {
    let folder = tempfile::tempdir().expect("folder");
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("binds");
    let port = listener.local_addr().expect("bound").port();
    let source = format!(
        "kind = \"stream\"\nrate_hz = {RATE_HZ}.0\nwindow_s = 0.5\n[source.stream]\n\
         format = \"pdm.frames/1\"\nfrom = \"tcp://127.0.0.1:{port}\""
    );
    let counts = counts(24);
    let stream = framed(&counts);
    let scale = f64::from(SCALE as f32) * 9.806_65;
    let mut sending = None;
    captured(folder.path(), (&source, ""), &counts, scale, async |_edge| {
        sending = Some(std::thread::spawn(move || {
            let (mut socket, _) = listener.accept().expect("the edge connects");
            socket.write_all(&stream).expect("sends");
            // the connection stays until the capture is written
            std::thread::sleep(Duration::from_secs(4));
        }));
    })
    .await;
    sending.expect("begun").join().expect("no panic");
}

/// R-EDGE-10: a burst in JSON over a real broker comes back count for count.
#[tokio::test(flavor = "multi_thread")]
async fn samples_of_bursts_in_json_come_back_bit_equal() {
    let name = "samples_of_bursts_in_json_come_back_bit_equal";
    let Some(broker) = Mosquitto::start(name, Persistence::Memory) else { return };
    let folder = tempfile::tempdir().expect("folder");
    let source = format!(
        "kind = \"stream\"\nrate_hz = {RATE_HZ}.0\nwindow_s = 0.5\n[source.stream]\n\
         from = \"mqtt://127.0.0.1:{}/plant/json\"\n[source.stream.json]\nsamples = \"/x\"\n\
         rate = \"/odr\"",
        broker.port()
    );
    let counts = counts(16);
    let message = format!("{{\"x\": {counts:?}, \"odr\": {RATE_HZ}.0}}");
    let port = broker.port();
    captured(folder.path(), (&source, OWN_UNIT), &counts, SCALE * 9.806_65, async move |edge| {
        let mut options = MqttOptions::new("node", "127.0.0.1", port);
        // the burst is larger than what the client sends unasked
        options.set_max_packet_size(1 << 20, 1 << 20);
        let (client, mut connection) = Client::new(options, 8);
        std::thread::spawn(
            move || while connection.iter().next().is_some_and(|one| one.is_ok()) {},
        );
        let mut progress = edge.progress();
        for _ in 0..15 {
            client.publish("plant/json", QoS::AtLeastOnce, false, message.clone()).expect("queued");
            let all = progress.wait_for(|progress| progress.spooled >= 6);
            if tokio::time::timeout(Duration::from_secs(2), all).await.is_ok() {
                return;
            }
        }
    })
    .await;
}

/// R-EDGE-10: files of a watched folder come back count for count.
#[tokio::test(flavor = "multi_thread")]
async fn samples_of_files_come_back_bit_equal() {
    let folder = tempfile::tempdir().expect("folder");
    let snapshots = folder.path().join("snapshots");
    std::fs::create_dir(&snapshots).expect("made");
    let counts = counts(16);
    std::fs::write(snapshots.join("a.wav"), wav(&counts)).expect("written");
    let source = "kind = \"recording\"\nfiles = [\"snapshots/\"]\nwatch_s = 0.2\nwindow_s = 0.5";
    captured(folder.path(), (source, OWN_UNIT), &counts, SCALE * 9.806_65, async |_edge| {}).await;
}
