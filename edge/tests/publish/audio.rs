//! Audio interfaces (ALSA) under the real program, against a stand-in: ALSA's own `file` plugin
//! above its `null` device, which hands out the samples of a file as fast as they are taken. No
//! sound card is here, so overruns, silence and unplugging are played by a scripted device
//! (`source/alsa/capture.rs`).

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use pdm_harness::{Child, Mosquitto, Persistence};
use pdm_shared::event::Event;

use crate::agent::{Agent, Stored};
use crate::stage::GATEWAY;

const RATE: u32 = 8000;

/// Samples of a file: three windows are measured of them.
const SAMPLES: u32 = 20 * RATE;

/// Peak of the signal, as a share of full scale: 1 g at 5 V full scale and 100 mV/g.
const PEAK: f64 = 0.02;

/// Formats as the configuration names them, with the bytes of a sample.
const FORMATS: [(&str, usize); 3] = [("s16", 2), ("s24_3le", 3), ("s32", 4)];

/// One sample of a tone of 400 Hz, in so many bytes.
fn sample(at: u32, bytes: usize) -> Vec<u8> {
    let phase = f64::from(at % RATE) / f64::from(RATE) * 400.0 * std::f64::consts::TAU;
    let number = (phase.sin() * PEAK * 2_147_483_648.0) as i32;
    number.to_le_bytes()[4 - bytes..].to_vec()
}

/// The configurations of ALSA and of the edge.
fn configure(folder: &Path, port: u16) -> PathBuf {
    let mut alsa = String::new();
    let mut edge = format!(
        "gateway_id = \"{GATEWAY}\"\nsite = \"s\"\n[broker]\naddresses = [\"127.0.0.1:{port}\"]\n\
         reconnect_min_s = 0.02\nreconnect_max_s = 0.2\n[spool]\npath = \"spool.db\"\n"
    );
    for (name, bytes) in FORMATS {
        let file = folder.join(name);
        let raw: Vec<u8> = (0..SAMPLES).flat_map(|at| sample(at, bytes)).collect();
        std::fs::write(&file, raw).expect("writes");
        let _infallible = writeln!(
            alsa,
            "pcm.{name} {{ type file slave.pcm {{ type null }} file \"/dev/null\" infile \"{}\" \
             format raw }}",
            file.display()
        );
        let _infallible = write!(
            edge,
            "[[source]]\nname = \"{name}\"\nkind = \"alsa\"\nrate_hz = {RATE}.0\n\
             sensitivity_mv_per_g = 100.0\n[source.alsa]\ndevice = \"{name}\"\nformat = \
             \"{name}\"\n\
             full_scale_v = 5.0\nsilence_s = 1.0\n[[source.channel]]\nequipment = \"{name}\"\n\
             bearing = \"DE\"\nbearing_type = \"6205\"\nrpm = 1797.0\n"
        );
    }
    std::fs::write(folder.join("asound.conf"), alsa).expect("writes");
    let path = folder.join("edge.toml");
    std::fs::write(&path, edge).expect("writes");
    path
}

fn edge(folder: &Path, command: &str) -> Command {
    let mut program = Command::new(env!("CARGO_BIN_EXE_pdm-edge"));
    program.arg(command).arg("--config").arg(folder.join("edge.toml"));
    program.env("ALSA_CONFIG_PATH", folder.join("asound.conf"));
    program
}

/// The RMS of each event of a machine, g.
fn levels(stored: &Stored, machine: &str) -> Vec<f64> {
    let events = stored.events.values();
    let events = events.map(|(_, bytes)| serde_json::from_slice::<Event>(bytes).expect("an event"));
    events
        .filter(|event| event.equipment_id.to_string() == machine)
        .map(|event| event.time_domain.rms_g.expect("measured"))
        .collect()
}

/// R-EDGE-1.
#[tokio::test(flavor = "multi_thread")]
async fn samples_of_an_audio_interface_become_events_in_g() {
    let name = "samples_of_an_audio_interface_become_events_in_g";
    let Some(broker) = Mosquitto::start(name, Persistence::Memory) else { return };
    let folder = tempfile::tempdir().expect("folder");
    configure(folder.path(), broker.port());
    let agent = Agent::listen(broker.port(), true).await;
    let mut command = edge(folder.path(), "run");
    let _edge = Child::start(command.stderr(Stdio::null()));
    let has_three =
        |stored: &Stored| FORMATS.iter().all(|(name, _)| levels(stored, name).len() >= 3);
    agent.until_for(3000, "three windows of each format", has_three).await;
    let all = agent.with(|stored| FORMATS.map(|(name, _)| (name, levels(stored, name))));
    for (name, levels_g) in all {
        for level_g in levels_g {
            assert!((level_g / 0.5_f64.sqrt() - 1.0).abs() < 0.02, "{name}: {level_g} g");
        }
    }
}

/// `check` names the device that is not there, and shows what the others deliver.
#[test]
fn check_looks_at_audio_interfaces() {
    let folder = tempfile::tempdir().expect("folder");
    let config = configure(folder.path(), 1);
    let text = std::fs::read_to_string(&config).expect("reads");
    let text = text.replacen("device = \"s16\"", "device = \"hw:CARD=Nobody\"", 1);
    std::fs::write(&config, text).expect("writes");
    let output = edge(folder.path(), "check").output().expect("starts");
    let printed = String::from_utf8_lossy(&output.stdout);
    assert!(printed.contains("delivers: 1 channels, 8000 samples a block"), "{printed}");
    assert!(printed.contains("alsa hw:CARD=Nobody: No such"), "{printed}");
}
