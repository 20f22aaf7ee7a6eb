//! The documents against the programs: what the READMEs show is what the programs print, their
//! commands run as they are written, and every command that a document names is one.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use pdm_harness::binary;
use serde_json::Value;

/// Each README and the language of the demo that it shows.
const READMES: [(&str, &str); 2] = [("README.md", "en"), ("README.ko.md", "ko")];

/// Commands of the READMEs that run apart from here, and what runs them.
const APART: [(&str, &str); 3] = [
    ("cargo run --release -- demo --exit", "`demo.rs` runs the program that this builds"),
    ("./tests/run", "it is the command that runs this test"),
    (
        "cargo build --release && export PATH=\"$PWD/target/release:$PATH\"",
        "the programs are built",
    ),
];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn read(path: &str) -> String {
    fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// The lines of the fenced blocks of a document with this mark.
fn blocks<'t>(text: &'t str, mark: &str) -> Vec<Vec<&'t str>> {
    let fence = format!("```{mark}");
    let mut lines = text.lines();
    let mut found = Vec::new();
    while lines.by_ref().any(|line| line == fence) {
        found.push(lines.by_ref().take_while(|line| *line != "```").collect());
    }
    found
}

/// A line without what differs from run to run: dates and times of the day, numbers of work orders,
/// folders.
fn lasting(line: &str) -> String {
    let word = |word: &str| {
        let is_time = word.len() == 5 && word.as_bytes()[2] == b':';
        let is_date = word.len() == 10 && word.as_bytes()[4] == b'-' && word.as_bytes()[7] == b'-';
        match word {
            _ if is_time || is_date => "TIME".to_owned(),
            _ if word.starts_with("WO-") => "ORDER".to_owned(),
            _ if word.starts_with("/tmp/pdm-demo-reports-") => {
                let kind = word.find("-report.").or_else(|| word.find("-work-order."));
                format!("FOLDER{}", kind.map_or("", |at| &word[at..]))
            }
            _ => word.to_owned(),
        }
    };
    line.trim_end().split(' ').map(word).collect::<Vec<_>>().join(" ")
}

/// Whether a printed line is the shown one, in which `…` stands for what was left out.
fn shows(shown: &str, printed: &str) -> bool {
    let mut pieces = shown.split('…');
    let first = pieces.next().unwrap_or_default().trim_end();
    let Some(mut rest) = printed.strip_prefix(first) else { return false };
    for piece in pieces.map(str::trim) {
        let Some(at) = rest.find(piece) else { return false };
        rest = &rest[at + piece.len()..];
    }
    shown.ends_with('…') || rest.is_empty()
}

#[test]
fn the_readmes_show_what_the_demo_prints() {
    for (readme, language) in READMES {
        let output = Command::new(binary("pdm"))
            .args(["demo", "--exit", "--lang", language])
            .output()
            .expect("pdm starts");
        let printed = String::from_utf8_lossy(&output.stdout);
        let mut rest = printed.lines().map(lasting);
        let text = read(readme);
        let shown = blocks(&text, "text").into_iter().next().expect("the demo's output");
        assert!(shown.len() > 15, "{readme} shows {} lines", shown.len());
        for line in shown.into_iter().filter(|line| *line != "…") {
            let line_lasting = lasting(line);
            assert!(
                rest.any(|printed| shows(&line_lasting, &printed)),
                "{readme} shows a line that the demo does not print there:\n{line}\n\n{printed}"
            );
        }
    }
}

/// The commands of a README's console blocks, without their comments.
fn commands(text: &str) -> Vec<String> {
    let lines = blocks(text, "console").into_iter().flatten();
    let commands = lines.filter_map(|line| line.strip_prefix("$ "));
    commands.map(|line| line.split("  #").next().unwrap_or(line).trim().to_owned()).collect()
}

#[test]
fn the_commands_of_the_readmes_run_as_they_are_written() {
    let programs = binary("pdm-edge").parent().expect("a folder").to_owned();
    let path = format!("{}:{}", programs.display(), std::env::var("PATH").expect("PATH"));
    let [english, korean] = READMES.map(|(readme, _)| commands(&read(readme)));
    assert_eq!(english, korean, "both languages show the same commands");
    let folder = tempfile::tempdir().expect("a folder");
    let mut run = 0;
    for command in english {
        if APART.iter().any(|(apart, _)| *apart == command) {
            continue;
        }
        let done = Command::new("sh")
            .args(["-c", &command])
            .env("PATH", &path)
            .current_dir(folder.path())
            .output()
            .expect("a shell");
        let told = String::from_utf8_lossy(&done.stderr);
        assert!(done.status.success(), "$ {command}\n{told}");
        let words: Vec<&str> = command.split(' ').collect();
        for pair in words.windows(2).filter(|pair| ["--out", "--plot"].contains(&pair[0])) {
            assert!(folder.path().join(pair[1]).is_file(), "$ {command}\nno {}", pair[1]);
        }
        run += 1;
    }
    assert!(run >= 2, "{run} commands were run");
}

/// Every document of the project.
fn documents() -> Vec<(String, String)> {
    let folders = ["", "docs", "deploy"].into_iter();
    let files = folders.flat_map(|folder| fs::read_dir(root().join(folder)).expect("a folder"));
    files
        .map(|entry| entry.expect("an entry").path())
        // the history of changes names commands that are gone
        .filter(|path| {
            path.extension().is_some_and(|e| e == "md") && !path.ends_with("CHANGELOG.md")
        })
        .map(|path| (path.display().to_string(), fs::read_to_string(&path).expect("a document")))
        .collect()
}

/// Returns the texts between single backquotes, each with its document.
fn spans() -> Vec<(String, String)> {
    let mut found = Vec::new();
    for (document, text) in documents() {
        for line in text.lines().filter(|line| !line.starts_with("```")) {
            let spans = line.split('`').skip(1).step_by(2);
            found.extend(spans.map(|span| (document.clone(), span.to_owned())));
        }
    }
    found
}

/// Returns the help of a command; `None` if there is no such command.
fn help(program: &str, words: &[&str]) -> Option<String> {
    let done = Command::new(binary(program)).args(words).arg("--help").output().expect("it starts");
    done.status.success().then(|| String::from_utf8_lossy(&done.stdout).into_owned())
}

#[test]
fn every_command_that_a_document_names_is_one_with_its_options() {
    let mut seen = BTreeSet::new();
    for (document, span) in spans() {
        let mut words = span.split_whitespace();
        let Some(program) = words.next().filter(|w| ["pdm", "pdm-edge", "pdm-agent"].contains(w))
        else {
            continue;
        };
        if !seen.insert(span.clone()) {
            continue;
        }
        // names of commands are lower case; what follows are values and options
        let is_name = |word: &&str| {
            !word.starts_with('-')
                && word.chars().all(|c| c.is_ascii_lowercase() || c == '-' || c == '|')
        };
        let (all, mut before): (Vec<&str>, Vec<&str>) = (words.clone().collect(), Vec::new());
        before.extend(words.take_while(is_name));
        // `user add|list` names two commands
        let last = before.pop().unwrap_or_default();
        for one in last.split('|') {
            let mut words = before.clone();
            words.extend(Some(one).filter(|one| !one.is_empty()));
            let text = help(program, &words);
            let text = text.unwrap_or_else(|| panic!("{document}: `{span}` is no command"));
            for option in all.iter().filter(|word| word.starts_with("--")) {
                let option = option.trim_end_matches([',', '.', ')']);
                assert!(text.contains(option), "{document}: `{span}` has no {option}:\n{text}");
            }
        }
    }
    assert!(seen.len() > 40, "{} commands are named", seen.len());
}

/// The names of the workspace's programs, tests and benchmarks, each with its kind.
fn targets() -> BTreeSet<(String, String)> {
    let done = Command::new(env!("CARGO"))
        .args(["metadata", "--no-deps", "--offline", "--format-version", "1"])
        .current_dir(root())
        .output()
        .expect("cargo starts");
    let metadata: Value = serde_json::from_slice(&done.stdout).expect("JSON");
    let packages = metadata["packages"].as_array().expect("packages").iter();
    let targets = packages.flat_map(|package| package["targets"].as_array().expect("targets"));
    let named = |target: &Value| {
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        (text(&target["kind"][0]), text(&target["name"]))
    };
    targets.map(named).collect()
}

#[test]
fn every_program_test_and_benchmark_that_a_document_names_exists() {
    let targets = targets();
    let forms = read("tests/run");
    let mut checked = 0;
    for (document, span) in spans() {
        let words: Vec<&str> = span.split_whitespace().collect();
        for pair in words.windows(2) {
            let name = pair[1].to_owned();
            match pair[0] {
                "--bin" | "--test" | "--bench" => {
                    let target = (pair[0][2..].to_owned(), name);
                    assert!(targets.contains(&target), "{document}: `{span}`: no {target:?}");
                    checked += 1;
                }
                "tests/run" | "./tests/run" => {
                    let form = name.trim_end_matches([',', '.']);
                    assert!(
                        forms.contains(&format!("\n#   tests/run {form} ")),
                        "{document}: `{span}`"
                    );
                    checked += 1;
                }
                _ => {}
            }
        }
    }
    assert!(checked > 15, "{checked} were checked");
}
