//! R-EDGE-1. The readers on files exactly as their publishers ship them.

use std::path::Path;

use ndarray::Array2;
use pdm_edge::source::{
    AccelUnit, Calibration, RecordingOptions, Source, open_recording, open_sequence,
};
use pdm_harness::data_dir;
use pdm_shared::units::SampleRate;

fn options(scale: f64) -> RecordingOptions {
    RecordingOptions {
        sample_rate: Some(SampleRate::new(12_000.0).expect("valid")),
        // the files are compared sample by sample; their own rates do not matter here
        prefer: Some(pdm_edge::source::Preferred::Option),
        calibrations: vec![Calibration::new(AccelUnit::G, scale, 0.0).expect("valid")],
        ..RecordingOptions::default()
    }
}

fn blocks(mut source: Box<dyn Source>) -> Vec<Array2<f64>> {
    let mut blocks = Vec::new();
    while let Some(block) = source.next_block().expect("readable") {
        blocks.push(block.accel_m_s2);
    }
    blocks
}

fn first(path: &Path, options: &RecordingOptions) -> Array2<f64> {
    blocks(open_recording(path, options).expect("opens")).remove(0)
}

fn assert_equal(a: &Array2<f64>, b: &Array2<f64>, tolerance_m_s2: f64) {
    assert_eq!(a.dim(), b.dim());
    let worst = a.iter().zip(b).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
    assert!(worst <= tolerance_m_s2, "they differ by {worst} m/s²");
}

#[test]
fn the_mat_file_of_cwru_130_equals_its_npy() {
    let Some(data) = data_dir("the_mat_file_of_cwru_130_equals_its_npy") else { return };
    // the manifest's g per count of the drive-end channel
    let manifest = std::fs::read_to_string(data.join("manifest.json")).expect("manifest");
    let manifest: serde_json::Value = serde_json::from_str(&manifest).expect("JSON");
    let entry = manifest["files"]
        .as_array()
        .expect("files")
        .iter()
        .find(|f| f["file"] == "cwru/12k_Drive_End_OR007@6_0_130.npy")
        .expect("listed");
    let mat = data.join("original/12k_Drive_End_OR007@6_0_130.mat");
    for (channel, name) in ["X130_DE_time", "X130_FE_time", "X130_BA_time"].iter().enumerate() {
        let scale = entry["scale_g"][channel].as_f64().expect("number");
        let npy = first(
            &data.join("cwru/12k_Drive_End_OR007@6_0_130.npy"),
            &RecordingOptions { channels: vec![channel], ..options(scale) },
        );
        let variable = Some((*name).to_owned());
        let original = first(&mat, &RecordingOptions { variable, ..options(1.0) });
        // half a count
        assert_equal(&original, &npy, scale * 9.80665 / 2.0);
        if channel == 0 {
            // all three are channels, in the order of the file
            let of_file = RecordingOptions { channels: vec![0], ..options(1.0) };
            assert_equal(&first(&mat, &of_file), &original, 0.0);
        }
    }
}

#[test]
fn the_ascii_file_of_ims_equals_its_npy() {
    let Some(data) = data_dir("the_ascii_file_of_ims_equals_its_npy") else { return };
    let ascii = first(&data.join("original/2003.10.22.12.06.24"), &options(1.0));
    let npy = first(&data.join("ims/test1_2003.10.22.12.06.24.npy"), &options(0.001));
    assert_eq!(ascii.dim(), (8, 20_480));
    assert_equal(&ascii, &npy, 1e-9);
}

#[test]
fn the_csv_files_of_femto_equal_the_first_snapshots_of_the_run() {
    let test = "the_csv_files_of_femto_equal_the_first_snapshots_of_the_run";
    let Some(data) = data_dir(test) else { return };
    let path = data.join("femto/Bearing1_1_acc.npy.gz");
    let mut run = open_recording(&path, &options(0.001)).expect("opens");
    assert_eq!((run.expected_blocks(), run.format().channels), (Some(2803), 2));
    let csv = (1..=3).map(|n| data.join(format!("original/femto_Bearing1_1_acc_0000{n}.csv")));
    let csv = open_sequence(&csv.collect::<Vec<_>>(), &options(1.0)).expect("opens");
    for original in blocks(csv) {
        let snapshot = run.next_block().expect("readable").expect("there").accel_m_s2;
        assert_equal(&original, &snapshot, 1e-9);
    }
    let third = RecordingOptions { snapshot: Some(2), ..options(0.001) };
    let csv = first(&data.join("original/femto_Bearing1_1_acc_00003.csv"), &options(1.0));
    assert_equal(&first(&path, &third), &csv, 1e-9);
    let mut run = open_recording(&path, &options(0.001)).expect("opens");
    assert_eq!(run.skip_blocks(2).expect("readable"), 2);
    let third = run.next_block().expect("readable").expect("there");
    assert_eq!(third.index, 2);
    assert_equal(&third.accel_m_s2, &csv, 1e-9);
    assert_eq!(run.skip_blocks(9999).expect("readable"), 2800);
    assert!(run.next_block().expect("readable").is_none());
    let semicolons = first(&data.join("original/femto_Bearing1_4_acc_00001.csv"), &options(1.0));
    assert_eq!(semicolons.dim(), (2, 2560));
}

#[test]
fn the_mat_files_of_mfpt_uestc_and_hitsm_are_read_without_a_name() {
    let test = "the_mat_files_of_mfpt_uestc_and_hitsm_are_read_without_a_name";
    let Some(data) = data_dir(test) else { return };
    let no_rate = RecordingOptions::default();
    let mfpt =
        open_recording(&data.join("mfpt/InnerRaceFault_vload_1.mat"), &no_rate).expect("opens");
    assert!((mfpt.format().sample_rate.get() - 48_828.0).abs() < 1e-9);
    assert_eq!(mfpt.format().block_samples, Some(146_484));
    let uestc = open_recording(&data.join("uestc/B_1000_1.mat"), &no_rate).expect("opens");
    assert!((uestc.format().sample_rate.get() - 20_000.0).abs() < 1e-9);
    let hitsm = first(&data.join("hitsm/MFS_IR2_900.mat"), &options(1.0));
    assert_eq!(hitsm.dim(), (1, 262_144));
}
