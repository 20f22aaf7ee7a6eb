//! R-EDGE-5. Signal quality over the real recordings.

use std::path::Path;

use pdm_edge::quality::{Quality, QualityContext, assess};
use pdm_edge::source::{AccelUnit, Calibration, RecordingOptions, open_recording};
use pdm_harness::data_dir;
use pdm_shared::event::QualityFlag;
use pdm_shared::units::SampleRate;

/// The quality of every channel and, of a run, of every hundredth snapshot.
fn qualities(path: &Path, scale_g: f64, rate_hz: f64) -> Vec<Quality> {
    let options = RecordingOptions {
        sample_rate: SampleRate::new(rate_hz).ok(),
        calibrations: vec![Calibration::new(AccelUnit::G, scale_g, 0.0).expect("valid")],
        ..RecordingOptions::default()
    };
    let mut source = open_recording(path, &options).expect("opens");
    let context = QualityContext::new(source.format().sample_rate);
    let mut qualities = Vec::new();
    while let Some(block) = source.next_block().expect("readable") {
        for channel in block.accel_m_s2.rows() {
            qualities.push(assess(&channel.to_vec(), &context));
        }
        source.skip_blocks(99).expect("readable");
    }
    qualities
}

#[test]
fn no_recording_of_a_running_machine_is_invalid() {
    let Some(data) = data_dir("no_recording_of_a_running_machine_is_invalid") else { return };
    let manifest = std::fs::read_to_string(data.join("manifest.json")).expect("manifest");
    let manifest: serde_json::Value = serde_json::from_str(&manifest).expect("JSON");
    let mut seen = 0;
    for entry in manifest["files"].as_array().expect("files") {
        let file = entry["file"].as_str().expect("name");
        let is_table = Path::new(file).extension().is_some_and(|e| e == "csv");
        if is_table || file.starts_with("original") {
            continue;
        }
        // the scale of the first channel is used for all, since flags do not depend on the scale
        let scale =
            entry["scale_g"][0].as_f64().unwrap_or(if file.contains(".npy") { 0.001 } else { 1.0 });
        let rate = entry["fs_hz"].as_f64().expect("rate");
        for quality in qualities(&data.join(file), scale, rate) {
            assert!(quality.signal.valid && quality.is_running, "{file}: {quality:?}");
            seen += 1;
        }
    }
    assert!(seen > 250, "{seen} channels and snapshots");
}

#[test]
fn record_236_of_cwru_clips_and_can_still_be_judged() {
    let Some(data) = data_dir("record_236_of_cwru_clips_and_can_still_be_judged") else { return };
    let path = data.join("cwru/12k_Drive_End_OR021@6_2_236.npy");
    let drive_end = &qualities(&path, 0.0004, 12_000.0)[0];
    assert!(drive_end.signal.valid);
    assert_eq!(drive_end.signal.flags, [QualityFlag::Clipping]);
}
