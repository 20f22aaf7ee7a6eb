//! `pdm-edge series` as people and scripts call it: the real binary on the IMS tables of test 2.
//!
//! Bearing 1 of that run fails by its outer race at the end of 984 snapshots ten minutes apart
//! (NASA/IMS readme). Labels appear only here.

use std::path::PathBuf;
use std::process::{Command, Output};

const RUN: usize = 984;
const PERIOD_H: f64 = 1.0 / 6.0;

fn series(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_pdm-edge"))
        .arg("series")
        .args(arguments)
        .output()
        .expect("pdm-edge starts")
}

/// The data folder; `None`, with a line on the terminal, if the folder is absent and not required.
#[expect(clippy::print_stdout, reason = "a test that did not run is named in the summary")]
fn ims(name: &str, test: &str) -> Option<String> {
    let folder = std::env::var_os("PDM_DATA_DIR").map_or_else(
        || PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../shared/data"),
        PathBuf::from,
    );
    let file = folder.join("ims").join(name);
    if file.exists() {
        return Some(file.display().to_string());
    }
    let why = format!("{} is absent", file.display());
    assert!(std::env::var_os("PDM_REQUIRE_ALL").is_none_or(|v| v != "1"), "{test}: {why}");
    println!("NOT RUN: {test}: {why}");
    None
}

/// The rows in which each column is alarmed.
fn alarmed_rows(file: &str, time: &str, columns: &[String]) -> Vec<Vec<usize>> {
    let value = columns.join(",");
    let output = series(&[file, "--time", time, "--value", &value, "--period", "600", "--jsonl"]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).expect("UTF-8");
    assert_eq!(text.lines().count(), RUN * columns.len());
    let mut rows = vec![Vec::new(); columns.len()];
    for line in text.lines() {
        let line: serde_json::Value = serde_json::from_str(line).expect("JSON");
        for block in ["time", "column", "value", "anomaly_detected", "anomaly", "trend", "rul"] {
            assert!(!line[block].is_null(), "{block} in {line}");
        }
        if line["anomaly_detected"] == true {
            let place = columns.iter().position(|column| line["column"] == **column);
            let row = line["row"].as_u64().expect("row") as usize;
            rows[place.expect("a column asked for")].push(row);
        }
    }
    rows
}

/// One column over the four bearings: bearing 1 is alarmed at least 74 h before its end and stays
/// alarmed, before the others, and no bearing is alarmed in the first 40 %.
fn bearing_one_is_told_first(file: &str, time: &str, feature: &str) {
    let columns: Vec<String> = (1..=4).map(|n| format!("Bearing{n}_ch1_{feature}")).collect();
    let rows = alarmed_rows(file, time, &columns);
    let first: Vec<usize> = rows.iter().map(|rows| *rows.first().unwrap_or(&RUN)).collect();
    assert!((RUN - 1 - first[0]) as f64 * PERIOD_H >= 74.0, "{feature}: row {}", first[0]);
    assert_eq!(rows[0].len(), RUN - first[0], "{feature}: the alarm of bearing 1 cleared");
    assert!(first[1..].iter().all(|other| *other > first[0]), "{feature}: {first:?}");
    assert!(first.iter().all(|row| *row >= RUN * 4 / 10), "{feature}: {first:?}");
}

/// R-EDGE-6.
#[test]
fn the_level_tells_bearing_one_of_ims_test_2_seventy_four_hours_ahead() {
    let test = "the_level_tells_bearing_one_of_ims_test_2_seventy_four_hours_ahead";
    if let Some(file) = ims("features_test2_raw.csv", test) {
        bearing_one_is_told_first(&file, "timestamp", "rms");
    }
}

/// R-EDGE-6. The time column of this table counts files.
#[test]
fn the_outer_race_line_tells_bearing_one_of_ims_test_2_seventy_four_hours_ahead() {
    let test = "the_outer_race_line_tells_bearing_one_of_ims_test_2_seventy_four_hours_ahead";
    if let Some(file) = ims("features_test2_spectral.csv", test) {
        for feature in ["env_bpfo_energy", "energy", "mean_abs"] {
            bearing_one_is_told_first(&file, "file_index", feature);
        }
    }
}

#[test]
fn without_jsonl_a_person_reads_curve_alarm_trend_and_remaining_life() {
    let test = "without_jsonl_a_person_reads_curve_alarm_trend_and_remaining_life";
    let Some(file) = ims("features_test2_raw.csv", test) else { return };
    let value = "Bearing1_ch1_rms,Bearing4_ch1_kurt";
    let output = series(&[&file, "--time", "timestamp", "--value", value, "--period", "600"]);
    let text = String::from_utf8(output.stdout).expect("UTF-8");
    for word in ["Bearing1_ch1_rms: 984 rows", "alarm from 2004-02-1", "▁", "no alarm", "trend"] {
        assert!(text.contains(word), "{word} is missing in\n{text}");
    }
}

#[test]
fn bad_input_is_told_with_its_place_and_a_code_of_its_own() {
    let folder = tempfile::tempdir().expect("folder");
    let file = folder.path().join("table.csv");
    let told = |content: &str, value: &str, period: &str| {
        std::fs::write(&file, content).expect("writes");
        let path = file.display().to_string();
        let output = series(&[&path, "--time", "t", "--value", value, "--period", period]);
        (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
    };
    let (code, text) = told("t,a\n0,1\n1,one\n", "a", "10");
    assert!(code == Some(65) && text.contains("line 3") && text.contains("table.csv"), "{text}");
    let (code, text) = told("t,a\n0,1\n", "b", "10");
    assert!(code == Some(64) && text.contains("there are: t, a"), "{text}");
    let (code, text) = told("t,a\n0,1\n", "a", "0");
    assert!(code == Some(64) && text.contains("above 0"), "{text}");
    std::fs::remove_file(&file).expect("removes");
    let path = file.display().to_string();
    let output = series(&[&path, "--time", "t", "--value", "a", "--period", "1"]);
    assert_eq!(output.status.code(), Some(66));
}
