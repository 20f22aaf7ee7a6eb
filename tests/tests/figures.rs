//! README's table of figures: every command of it runs in a short form with the tests, so that none
//! is found broken by the one who wants its figure. No time is asserted.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;

use pdm_harness::{binary, data_dir};

/// What runs a command of the table in its short form.
#[derive(Debug, Clone, Copy)]
enum Short {
    /// The program of this name, by a test of this file.
    Here(&'static str),
    /// `tests/lanes`, which knows the arguments of each benchmark.
    Lane(&'static str),
    /// A test in another file.
    Test(&'static str, &'static str),
}

use Short::{Here, Lane, Test};

/// Each row of the table by the commands in its second column, and what runs them.
const ROWS: [(&[&str], &[Short]); 17] = [
    (
        &["cargo run --release -p pdm-tests --bin fit -- alarms --data DIR", "life"],
        &[Here("fit_alarms"), Here("fit_life")],
    ),
    (&["cargo run --release -p pdm-tests --bin benchmark -- --data DIR"], &[Here("benchmark")]),
    (
        &["cargo run --release -p pdm-tests --bin benchmark -- --only speeds --data DIR"],
        &[Here("benchmark_speeds")],
    ),
    (
        &["--only episodes", "cargo build -p pdm-edge --bins", "--only plant"],
        &[Here("benchmark_episodes"), Here("benchmark_plant")],
    ),
    (&["cargo bench -p pdm-dsp"], &[Lane("paths")]),
    (&["cargo bench -p pdm-edge --bench delivery"], &[Lane("delivery")]),
    (
        &["cargo bench -p pdm-agent --bench durable -- --rows 0,1000000 --store sqlite,postgres"],
        &[Lane("durable")],
    ),
    (&["cargo bench -p pdm-edge --bench memory"], &[Lane("memory")]),
    (&["tests/run capture"], &[Lane("memory")]),
    (&["cargo bench -p pdm-tests --bench backlog"], &[Lane("backlog")]),
    (
        &["tests/run faults --long", "--store postgres"],
        &[
            Test("tests/tests/faults.rs", "nothing_is_lost_or_done_twice_whatever_dies"),
            Test(
                "tests/tests/faults.rs",
                "nothing_is_lost_or_done_twice_when_the_database_server_dies",
            ),
        ],
    ),
    (
        &["tests/run courses", "courses N --seed S"],
        &[Test(
            "agent/src/notify/silence/courses.rs",
            "a_critical_that_stands_is_told_whatever_happens_to_the_plant",
        )],
    ),
    (&["cargo bench -p pdm-knowledge --bench search"], &[Lane("search")]),
    (
        &[
            "cargo run --release -p pdm-tests --bin retrieval -- --set main",
            "dev",
            "floor",
            "more",
            "former-blind",
            "second-blind",
            "third-blind",
            "blind",
            "tests/run embed",
        ],
        &[Here("retrieval")],
    ),
    (
        &["tests/run plant"],
        &[Test(
            "agent/src/assets/tests/large_plant.rs",
            "the_calls_that_the_plant_run_measures_are_answered",
        )],
    ),
    (
        &["tests/run speed"],
        &[Test("tests/tests/pages/speed.rs", "the_addresses_that_the_speed_run_measures_answer")],
    ),
    (
        &["tests/run api"],
        &[Test(
            "tests/tests/pages/fuzzed.rs",
            "requests_made_from_the_document_get_what_the_document_says",
        )],
    ),
];

fn read(path: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(path);
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The texts between backquotes in the last column of each row that follows the table's head.
fn rows(readme: &str, head: &str) -> Vec<Vec<String>> {
    let text = read(readme);
    let table = text.lines().skip_while(|line| *line != head).skip(2);
    let rows = table.take_while(|line| line.starts_with('|'));
    rows.map(|row| {
        let cell = row.trim_end_matches(" |").rsplit(" | ").next().unwrap_or_default();
        cell.split('`').skip(1).step_by(2).map(str::to_owned).collect()
    })
    .collect()
}

#[test]
fn every_command_of_the_table_of_figures_has_a_short_form() {
    let known: Vec<&[&str]> = ROWS.iter().map(|(spans, _)| *spans).collect();
    let english = rows("README.md", "| figure | command |");
    assert_eq!(english, known, "a row of README.md without what runs it in ROWS");
    assert_eq!(rows("README.ko.md", "| 무엇 | 명령 |"), known, "README.ko.md");
    let (lanes, own) = (read("tests/lanes"), read("tests/tests/figures.rs"));
    for short in ROWS.iter().flat_map(|(_, short)| *short) {
        let (text, name) = match short {
            Here(name) => (own.clone(), format!("\nfn {name}(")),
            Lane(name) => (lanes.clone(), format!("\n    \"{name}\": [")),
            Test(file, name) => (read(file), format!("fn {name}(")),
        };
        let at = text.find(&name).unwrap_or_else(|| panic!("{short:?} is not there"));
        let before = text[..at].rfind("\n\n").unwrap_or_default();
        assert!(!text[before..at].contains("#[ignore"), "{short:?} is left out of the tests");
    }
}

/// Runs a program of the table; returns what it prints.
fn printed(program: &str, arguments: &[&str], data: Option<&Path>) -> String {
    let mut command = Command::new(binary(program));
    command.args(arguments);
    if let Some(data) = data {
        command.arg("--data").arg(data);
    }
    let done = command.output().unwrap_or_else(|error| panic!("{program}: {error}"));
    let told = String::from_utf8_lossy(&done.stderr);
    assert!(done.status.success(), "{program} {arguments:?}: {told}");
    String::from_utf8_lossy(&done.stdout).into_owned()
}

/// A folder with the shortest run to failure, the feature tables and the few recordings that
/// `files` names, as links: what a command reads in its short form. `None` where there are no
/// recordings.
fn short_data(test: &str, files: &[&str]) -> Option<tempfile::TempDir> {
    let whole = data_dir(test)?;
    let whole = whole.canonicalize().expect("a folder");
    let folder = tempfile::tempdir().expect("a folder");
    let text = fs::read_to_string(whole.join("manifest.json")).expect("the manifest");
    let mut manifest: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    let entries = manifest["files"].as_array_mut().expect("files");
    entries.retain(|entry| entry["file"].as_str().is_some_and(|file| files.contains(&file)));
    assert_eq!(entries.len(), files.len(), "the manifest names {files:?}");
    fs::write(folder.path().join("manifest.json"), manifest.to_string()).expect("written");
    for name in ["cwru", "ims", "mfpt"] {
        symlink(whole.join(name), folder.path().join(name)).expect("a link");
    }
    let femto = folder.path().join("femto");
    fs::create_dir(&femto).expect("a folder");
    for name in ["Bearing3_1_acc.npy.gz", "Bearing3_1_times.csv"] {
        symlink(whole.join("femto").join(name), femto.join(name)).expect("a link");
    }
    Some(folder)
}

const FEW: [&str; 3] = [
    "cwru/normal_0_97_part1.npy",
    "cwru/12k_Drive_End_OR007@6_0_130.npy",
    "cwru/12k_Drive_End_IR007_0_105.npy",
];

#[test]
fn fit_alarms() {
    let Some(data) = short_data("fit_alarms", &[]) else { return };
    let told = printed("fit", &["alarms"], Some(data.path()));
    assert!(!told.trim().is_empty(), "{told}");
}

#[test]
fn fit_life() {
    let Some(data) = short_data("fit_life", &[]) else { return };
    let told = printed("fit", &["life"], Some(data.path()));
    assert!(!told.trim().is_empty(), "{told}");
}

#[test]
fn benchmark() {
    let Some(data) = short_data("benchmark", &FEW) else { return };
    let few = ["--simulated", "2", "--adversaries", "2", "--lives", "2"];
    let few = [&few[..], &["--machines", "2", "--wandering", "2"]].concat();
    let told = printed("benchmark", &few, Some(data.path()));
    assert!(told.starts_with("# Benchmark"), "{told}");
}

#[test]
fn benchmark_speeds() {
    let Some(data) = short_data("benchmark_speeds", &FEW) else { return };
    let told = printed("benchmark", &["--only", "speeds"], Some(data.path()));
    assert!(told.starts_with("# Benchmark"), "{told}");
}

#[test]
fn benchmark_episodes() {
    let Some(data) = short_data("benchmark_episodes", &[]) else { return };
    let told = printed("benchmark", &["--only", "episodes"], Some(data.path()));
    assert!(told.contains("Bearing3_1"), "{told}");
}

#[test]
fn benchmark_plant() {
    let told = printed("benchmark", &["--only", "plant", "--machines", "2"], None);
    assert!(told.starts_with("# Benchmark"), "{told}");
}

/// The sets are the same command; an endpoint for `tests/run embed` comes from the Python registry.
#[test]
fn retrieval() {
    for set in
        ["main", "dev", "floor", "more", "former-blind", "second-blind", "third-blind", "blind"]
    {
        let told = printed("retrieval", &["--set", set], None);
        assert!(!told.trim().is_empty(), "{set}: {told}");
    }
}
