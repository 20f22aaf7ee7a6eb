//! A watched folder under the real program, which is killed again and again while files come,
//! change their names and places, go and are put back: each file has one event.
//!
//! A file is known by the time in its name, which its event carries, and by the level of its
//! signal. One course is drawn from a seed; `tests/run folder` is the long form.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use pdm_harness::{Child, Mosquitto, Persistence};
use pdm_shared::event::Event;
use pdm_shared::time::Timestamp;
use rand::{RngExt as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;

use crate::agent::Agent;
use crate::stage::GATEWAY;

/// Samples of a file.
const SAMPLES: u32 = 2048;

/// Files that wait to be measured before the writer waits: a kill then meets a queue, and the
/// course goes on.
const MOST_WAITING: usize = 120;

/// Longest wait for the files that are left, s.
const PATIENCE_S: u64 = 600;

/// What is drawn.
struct Course {
    seed: u64,
    files: u32,
    kills: u32,
}

fn configuration(folder: &Path, port: u16) -> PathBuf {
    let text = format!(
        "gateway_id = \"{GATEWAY}\"\nsite = \"s\"\n[broker]\naddresses = [\"127.0.0.1:{port}\"]\n\
         reconnect_min_s = 0.02\nreconnect_max_s = 0.2\n[spool]\npath = \"spool.db\"\n\
         [[source]]\nname = \"folder\"\nkind = \"recording\"\nfiles = [\"in\"]\nwatch_s = 0.05\n\
         rate_hz = 6400.0\n[[source.channel]]\nequipment = \"P\"\nbearing = \"DE\"\n\
         bearing_type = \"6205\"\nrpm = 1797.0\n"
    );
    let path = folder.join("edge.toml");
    std::fs::write(&path, text).expect("writes");
    path
}

fn edge(configuration: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_pdm-edge"));
    command.arg("run").arg("--config").arg(configuration).stderr(Stdio::null());
    command
}

/// The time in a file's name.
fn time_of(id: u32) -> Timestamp {
    Timestamp::parse("2026-01-01T00:00:00Z").expect("a time").plus_seconds(f64::from(id))
}

/// The RMS of a file, g.
fn level_g(id: u32) -> f64 {
    f64::from(id % 4).mul_add(0.01, 0.1)
}

fn samples(id: u32) -> Vec<f32> {
    let raw = |at: u32| {
        let mixed = (at ^ id.rotate_left(16)).wrapping_mul(2_654_435_761);
        f64::from((mixed ^ (mixed >> 15)).wrapping_mul(2_246_822_519) >> 8) / 16_777_216.0 - 0.5
    };
    let raw: Vec<f64> = (0..SAMPLES).map(raw).collect();
    let count = f64::from(SAMPLES);
    let mean = raw.iter().sum::<f64>() / count;
    let power = raw.iter().map(|sample| (sample - mean).powi(2)).sum::<f64>() / count;
    let scale = level_g(id) / power.sqrt();
    raw.iter().map(|sample| ((sample - mean) * scale) as f32).collect()
}

/// The bytes of a file: `.npy`, else text.
fn content(id: u32, is_npy: bool) -> Vec<u8> {
    let samples = samples(id);
    if !is_npy {
        let mut text = String::new();
        for sample in &samples {
            let _infallible = writeln!(text, "{sample:.6}");
        }
        return text.into_bytes();
    }
    let head = format!("{{'descr': '<f4', 'fortran_order': False, 'shape': ({SAMPLES},), }}");
    let mut bytes = b"\x93NUMPY\x01\x00\x76\x00".to_vec();
    bytes.extend_from_slice(format!("{head:<117}\n").as_bytes());
    bytes.extend(samples.iter().flat_map(|sample| sample.to_le_bytes()));
    bytes
}

/// A file that was written.
struct Entry {
    /// Its place; `None` once it is deleted for good.
    path: Option<PathBuf>,
    /// It lies beside the folder and may be put back.
    is_away: bool,
    /// It has been renamed, and its last change is the only stamp that it keeps.
    is_moved: bool,
    /// Its last change was set anew.
    is_touched: bool,
    /// It went before its event was seen.
    went_unseen: bool,
}

/// The folder, and who writes into it.
struct Writer {
    random: ChaCha8Rng,
    root: PathBuf,
    entries: Vec<Entry>,
    /// Events of each file.
    seen: BTreeMap<u32, u32>,
    read_through: u64,
    counts: BTreeMap<&'static str, u32>,
}

impl Writer {
    fn new(root: &Path, seed: u64) -> Self {
        for name in ["in", "away"] {
            std::fs::create_dir(root.join(name)).expect("folder");
        }
        Self {
            random: ChaCha8Rng::seed_from_u64(seed),
            root: root.to_owned(),
            entries: Vec::new(),
            seen: BTreeMap::new(),
            read_through: 0,
            counts: BTreeMap::new(),
        }
    }

    fn one_in(&mut self, count: u32) -> bool {
        self.random.random_range(0..count) == 0
    }

    /// A name with the time of a file that sorts anywhere among the others.
    fn name(&mut self, id: u32, ending: &str) -> PathBuf {
        let first = self.random.random_range(0..100_000_u32);
        let at = time_of(id).to_string();
        let at: String = at.split('.').next().unwrap_or_default().replace(['-', ':'], "");
        self.root.join("in").join(format!("{first}_{at}Z.{ending}"))
    }

    /// Adds a file: renamed into place, or written where it is to lie, in two pieces.
    fn add(&mut self) {
        let id = u32::try_from(self.entries.len()).expect("few");
        let is_npy = !self.one_in(3);
        let path = self.name(id, if is_npy { "npy" } else { "csv" });
        let bytes = content(id, is_npy);
        if is_npy && self.one_in(2) {
            // a piece of it is refused as truncated; the whole is measured
            std::fs::write(&path, &bytes[..bytes.len() / 2]).expect("writes");
            std::thread::sleep(Duration::from_millis(self.random.random_range(0..20)));
            std::fs::write(&path, &bytes).expect("writes");
        } else {
            let part = self.root.join("in").join(format!("{id}.part"));
            std::fs::write(&part, bytes).expect("writes");
            std::fs::rename(part, &path).expect("renames");
        }
        self.entries.push(Entry {
            path: Some(path),
            is_away: false,
            is_moved: false,
            is_touched: false,
            went_unseen: false,
        });
    }

    /// A file in the folder of which this holds, at random.
    fn any(&mut self, holds: impl Fn(&Self, usize) -> bool) -> Option<usize> {
        for _ in 0..40 {
            let at = self.random.random_range(0..self.entries.len());
            if self.entries[at].path.is_some() && holds(self, at) {
                return Some(at);
            }
        }
        None
    }

    fn is_there(&self, at: usize) -> bool {
        !self.entries[at].is_away
    }

    fn is_seen(&self, at: usize) -> bool {
        self.seen.contains_key(&(at as u32))
    }

    fn renamed(&mut self, at: usize) -> Option<(PathBuf, PathBuf)> {
        let from = self.entries[at].path.clone()?;
        let ending = from.extension()?.to_string_lossy().into_owned();
        let to = self.name(at as u32, &ending);
        Some((from, to))
    }

    fn rename(&mut self) -> Option<()> {
        let at = self.any(|all, at| all.is_there(at) && !all.entries[at].is_touched)?;
        self.move_to_new_name(at)
    }

    fn move_to_new_name(&mut self, at: usize) -> Option<()> {
        let (from, to) = self.renamed(at)?;
        std::fs::rename(from, &to).expect("renames");
        let entry = &mut self.entries[at];
        (entry.path, entry.is_moved, entry.is_away) = (Some(to), true, false);
        Some(())
    }

    /// Two files change their names at once, one of them twice.
    fn rename_more(&mut self) -> Option<()> {
        self.rename()?;
        let at = self.any(|all, at| all.is_there(at) && !all.entries[at].is_touched)?;
        self.move_to_new_name(at)?;
        self.move_to_new_name(at)
    }

    fn delete(&mut self) -> Option<()> {
        let any_age = self.one_in(5);
        let at = self.any(|all, at| all.is_there(at) && (any_age || all.is_seen(at)))?;
        let from = self.entries[at].path.clone()?;
        let is_seen = self.is_seen(at);
        let is_kept = !self.entries[at].is_touched && self.one_in(2);
        let away = self.root.join("away").join(from.file_name()?);
        let entry = &mut self.entries[at];
        if is_kept {
            std::fs::rename(from, &away).expect("renames");
            (entry.path, entry.is_away) = (Some(away), true);
        } else {
            std::fs::remove_file(from).expect("removes");
            entry.path = None;
        }
        entry.went_unseen |= !is_seen;
        Some(())
    }

    fn put_back(&mut self) -> Option<()> {
        let at = self.any(|all, at| !all.is_there(at))?;
        self.move_to_new_name(at)
    }

    fn touch(&mut self) -> Option<()> {
        let at = self.any(|all, at| all.is_there(at) && !all.entries[at].is_moved)?;
        let path = self.entries[at].path.clone()?;
        let file = std::fs::File::options().append(true).open(path).expect("opens");
        let before = file.metadata().and_then(|data| data.modified()).expect("a time");
        file.set_modified(before + Duration::from_secs(1)).expect("touches");
        self.entries[at].is_touched = true;
        Some(())
    }

    /// Does one thing to the folder.
    fn act(&mut self) {
        let drawn = self.random.random_range(0..100);
        let (what, done) = match drawn {
            _ if self.entries.len() < 5 => {
                self.add();
                ("added", Some(()))
            }
            0..60 => {
                self.add();
                ("added", Some(()))
            }
            60..74 => ("renamed", self.rename()),
            74..87 => ("deleted", self.delete()),
            87..92 => ("put back", self.put_back()),
            92..96 => ("touched", self.touch()),
            _ => ("renamed again", self.rename_more()),
        };
        if done.is_some() {
            *self.counts.entry(what).or_default() += 1;
        }
    }

    /// Takes the events over that have come.
    fn take(&mut self, agent: &Agent) {
        let from = self.read_through;
        let new: Vec<(u64, Event)> = agent.with(|stored| {
            let new = stored.events.range(from + 1..);
            new.map(|(&at, (_, bytes))| (at, serde_json::from_slice(bytes).expect("an event")))
                .collect()
        });
        for (sequence, event) in new {
            self.read_through = self.read_through.max(sequence);
            let since_s = event.measured_at.seconds_since(time_of(0));
            let id = since_s.round() as u32;
            assert!((since_s - f64::from(id)).abs() < 1e-3, "{event:?}");
            let (rms_g, level_g) = (event.time_domain.rms_g.expect("measured"), level_g(id));
            assert!((rms_g / level_g - 1.0).abs() < 0.04, "file {id}: {rms_g} g, not {level_g} g");
            *self.seen.entry(id).or_default() += 1;
        }
    }

    /// Files in the folder whose event has not come.
    fn waiting(&self) -> Vec<u32> {
        let is_waiting = |(at, entry): (usize, &Entry)| {
            let is_there = entry.path.is_some() && !entry.is_away;
            (is_there && !self.is_seen(at)).then_some(at as u32)
        };
        self.entries.iter().enumerate().filter_map(is_waiting).collect()
    }

    /// Waits until no more than so many files wait.
    async fn catch_up(&mut self, agent: &Agent, most: usize) {
        let until = Instant::now() + Duration::from_secs(PATIENCE_S);
        loop {
            self.take(agent);
            let waiting = self.waiting();
            if waiting.len() <= most {
                return;
            }
            assert!(Instant::now() < until, "not measured: {waiting:?}");
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }

    /// Claims that each file has been measured as often as it has to be.
    fn judge(&self) -> String {
        let twice: Vec<_> = self.seen.iter().filter(|(_, count)| **count > 1).collect();
        assert!(twice.is_empty(), "measured more than once: {twice:?}");
        let never = |at: &u32| !self.seen.contains_key(at);
        let all = 0..self.entries.len() as u32;
        let missing: BTreeSet<u32> =
            all.filter(never).filter(|&at| !self.entries[at as usize].went_unseen).collect();
        assert!(missing.is_empty(), "never measured: {missing:?}");
        let gone = |entry: &&Entry| entry.path.is_none() || entry.is_away;
        let unseen = self.entries.iter().filter(gone).filter(|entry| entry.went_unseen).count();
        let counts: Vec<String> =
            self.counts.iter().map(|(what, count)| format!("{count} {what}")).collect();
        format!(
            "{}; {} measured once, 0 twice, 0 of those that stayed were missed; {unseen} went \
             before their event had come, of which {} are measured",
            counts.join(", "),
            self.seen.len(),
            unseen - (self.entries.len() - self.seen.len())
        )
    }
}

#[expect(clippy::print_stdout, reason = "the figures of a course are what its lane prints")]
async fn run(test: &str, course: &Course) {
    let Some(broker) = Mosquitto::start(test, Persistence::Memory) else { return };
    let begun = Instant::now();
    let folder = tempfile::tempdir().expect("folder");
    let configuration = configuration(folder.path(), broker.port());
    let agent = Agent::listen(broker.port(), true).await;
    let mut writer = Writer::new(folder.path(), course.seed);
    let start = || Child::start(&mut edge(&configuration));
    let mut child = start();
    for kill in 1..=course.kills + 1 {
        let until = u64::from(course.files) * u64::from(kill) / u64::from(course.kills + 1);
        while (writer.entries.len() as u64) < until {
            writer.act();
            let pause_us = writer.random.random_range(0..6000);
            tokio::time::sleep(Duration::from_micros(pause_us)).await;
            if writer.entries.len().is_multiple_of(8) {
                writer.catch_up(&agent, MOST_WAITING).await;
            }
        }
        if kill > course.kills {
            break;
        }
        // often in the midst of the queue, and sometimes while the program begins
        let wait_ms = writer.random.random_range(0..400);
        tokio::time::sleep(Duration::from_millis(wait_ms)).await;
        child.kill();
        for _ in 0..writer.random.random_range(0..12) {
            writer.act();
        }
        child = start();
    }
    child.terminate();
    let mut last = Child::start(edge(&configuration).arg("--until-done"));
    writer.catch_up(&agent, 0).await;
    let ended = tokio::task::spawn_blocking(move || last.wait()).await.expect("waits");
    assert!(ended.success(), "{ended}");
    // what was sent again would have come by now
    tokio::time::sleep(Duration::from_millis(300)).await;
    writer.take(&agent);
    let Course { seed, kills, .. } = course;
    let figures = writer.judge();
    println!(
        "seed {seed}: {} files, {kills} kills, {:.0} s: {figures}",
        writer.entries.len(),
        begun.elapsed().as_secs_f64()
    );
}

/// R-EDGE-1, R-EDGE-10.
#[tokio::test(flavor = "multi_thread")]
async fn files_of_a_folder_have_one_event_each_over_kills() {
    let course = Course { seed: 20_261_128, files: 240, kills: 4 };
    run("files_of_a_folder_have_one_event_each_over_kills", &course).await;
}

/// The long form: `tests/run folder [N] [KILLS] [--seed S]`.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "takes a quarter of an hour: tests/run folder"]
async fn ten_thousand_files_have_one_event_each_over_kills() {
    let number = |name: &str, default: u64| {
        std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
    };
    let course = Course {
        seed: number("PDM_FOLDER_SEED", 1),
        files: number("PDM_FOLDER_FILES", 10_000) as u32,
        kills: number("PDM_FOLDER_KILLS", 50) as u32,
    };
    println!("seed {}", course.seed);
    run("ten_thousand_files_have_one_event_each_over_kills", &course).await;
}
