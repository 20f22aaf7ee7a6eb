//! A folder whose files come, go, change names and are odd, read through the source as the service
//! reads it.

use std::sync::Arc;

use pdm_service::clock::{Clock as _, SystemClock};
use pdm_shared::time::Timestamp;

use super::unsettled::CHANGING_LOOKS;
use super::*;

struct Bench {
    folder: tempfile::TempDir,
    /// The committed records.
    memory: BTreeMap<String, Vec<u8>>,
    remarks: Remarks,
}

impl Bench {
    fn new() -> Self {
        let folder = tempfile::tempdir().expect("folder");
        Self { folder, memory: BTreeMap::new(), remarks: Remarks::default() }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Writes a recording whose level is its mark.
    fn write(&self, name: &str, mark: u32) {
        let text = format!("0\n{mark}.01\n").repeat(32);
        std::fs::write(self.path(name), text).expect("writes");
    }

    fn settings(&self) -> FolderSettings {
        FolderSettings {
            name: "press".to_owned(),
            paths: vec![self.folder.path().to_owned()],
            options: RecordingOptions {
                sample_rate: SampleRate::new(1000.0).ok(),
                ..RecordingOptions::default()
            },
            least_channels: 1,
            every: Duration::from_millis(1),
            ends: true,
            inherited: 0,
        }
    }

    /// Reads what is left, commits it, and returns the marks and times that were measured. A `kill`
    /// ends the run after this many blocks, the last of which is not committed.
    fn run(&mut self, kill: Option<usize>) -> Vec<(u32, Timestamp)> {
        self.run_with(self.settings(), kill)
    }

    fn run_with(&mut self, settings: FolderSettings, kill: Option<usize>) -> Vec<(u32, Timestamp)> {
        let (mut source, ledger) =
            watch_folder(settings, &self.memory, Arc::new(SystemClock), self.remarks.clone())
                .expect("opens");
        let mut measured = Vec::new();
        while let Some(block) = source.next_block().expect("never fails") {
            let samples = block.accel_m_s2.ncols();
            if samples > 0 && kill == Some(measured.len()) {
                break;
            }
            let through = block.index + u64::from(samples > 0);
            for (key, value) in ledger.take(through) {
                if value.is_empty() {
                    self.memory.remove(&key);
                } else {
                    self.memory.insert(key, value);
                }
            }
            if samples > 0 {
                let level = block.accel_m_s2[[0, 1]] / pdm_shared::units::M_S2_PER_G;
                measured.push((level.round() as u32, block.started_at.expect("dated")));
            }
        }
        measured
    }

    fn marks(&mut self) -> Vec<u32> {
        self.run(None).into_iter().map(|(mark, _)| mark).collect()
    }
}

#[test]
fn files_that_come_later_are_measured_once_whatever_their_names() {
    let mut bench = Bench::new();
    bench.write("rec_10.csv", 10);
    bench.write("rec_9.csv", 9);
    let touched = std::fs::metadata(bench.path("rec_9.csv")).and_then(|data| data.modified());
    let file = std::fs::File::options().write(true).open(bench.path("rec_10.csv")).expect("opens");
    file.set_modified(touched.expect("time")).expect("touches");
    assert_eq!(bench.marks(), [9, 10], "numbers sort as numbers");
    bench.write("a_first_by_name.csv", 3);
    assert_eq!(bench.marks(), [3]);
    std::fs::remove_file(bench.path("rec_9.csv")).expect("removes");
    std::fs::rename(bench.path("rec_10.csv"), bench.path("zz.csv")).expect("renames");
    bench.write("rec_9.csv.tmp", 7);
    assert!(bench.marks().is_empty());
    std::fs::rename(bench.path("rec_9.csv.tmp"), bench.path("b.csv")).expect("renames");
    assert_eq!(bench.marks(), [7]);
}

/// A file waits for its turn while others are read; meanwhile another may take its place.
#[test]
fn a_file_that_takes_the_place_of_a_waiting_one_is_measured_once() {
    let bench = Bench::new();
    for (name, mark) in [("1.csv", 1), ("2.csv", 2), ("3.csv", 3)] {
        bench.write(name, mark);
        std::thread::sleep(Duration::from_millis(2));
    }
    let (memory, clock) = (&bench.memory, Arc::new(SystemClock));
    let opened = watch_folder(bench.settings(), memory, clock, bench.remarks.clone());
    let (mut source, _ledger) = opened.expect("opens");
    let mut marks = Vec::new();
    while let Some(block) = source.next_block().expect("never fails") {
        if block.accel_m_s2.ncols() == 0 {
            continue;
        }
        let level = block.accel_m_s2[[0, 1]] / pdm_shared::units::M_S2_PER_G;
        marks.push(level.round() as u32);
        if marks == [1] {
            std::fs::rename(bench.path("3.csv"), bench.path("2.csv")).expect("renames");
        }
    }
    assert_eq!(marks, [1, 3], "the second went before it was measured");
}

/// A logger that writes its columns the other way round after an update.
#[test]
fn columns_in_another_order_are_taken_by_name() {
    let mut bench = Bench::new();
    let rows = |first: &str, second: &str, values: &str| {
        format!("{first},{second}\n{}", values.repeat(64))
    };
    let files = [
        ("1.csv", rows("x (g)", "y (g)", "0.25,7.25\n1.01,8.01\n")),
        ("2.csv", rows("y (g)", "x (g)", "7.25,0.25\n8.01,2.01\n")),
        ("3.csv", rows("x (g)", "y (g)", "0.25,7.25\n3.01,8.01\n")),
    ];
    let mut marks = Vec::new();
    for (name, text) in files {
        std::fs::write(bench.path(name), text).expect("writes");
        // each in a run of its own: the names are remembered
        marks.extend(bench.marks());
    }
    assert_eq!(marks, [1, 2, 3]);
    assert!(bench.remarks.lines().is_empty(), "{:?}", bench.remarks.lines());
}

/// Files that are taken away at once, one that is written anew at every look, and a folder a day.
#[test]
fn what_cannot_be_measured_of_a_folder_is_told() {
    let mut bench = Bench::new();
    std::fs::create_dir(bench.path("2026-11-27")).expect("makes");
    assert!(bench.marks().is_empty());
    assert!(bench.remarks.lines().join("").contains("2026-11-27"), "{:?}", bench.remarks.lines());
    bench.write("a.csv", 1);
    let settings = FolderSettings { ends: false, ..bench.settings() };
    let remarks = bench.remarks.clone();
    let (mut source, _ledger) =
        watch_folder(settings, &BTreeMap::new(), Arc::new(SystemClock), remarks).expect("opens");
    let mut look = || source.next_block().expect("never fails").expect("endless");
    assert_eq!(look().accel_m_s2.ncols(), 0, "seen once");
    std::fs::remove_file(bench.path("a.csv")).expect("removes");
    assert_eq!(look().accel_m_s2.ncols(), 0);
    let told = bench.remarks.lines().join("");
    assert!(told.contains("1 file(s) went") && told.contains("a.csv"), "{told}");
    for round in 0..=CHANGING_LOOKS {
        let text = format!("0\n{round}.01\n").repeat(32 + round as usize);
        std::fs::write(bench.path("latest.csv"), text).expect("writes");
        assert_eq!(look().accel_m_s2.ncols(), 0, "never twice the same");
    }
    let told = bench.remarks.lines().join("");
    assert!(told.contains("latest.csv has changed at each of the last"), "{told}");
    while look().accel_m_s2.ncols() == 0 {}
    let told = bench.remarks.lines().join("");
    assert!(!told.contains("has changed"), "{told}");
}

#[test]
fn a_file_is_dated_by_its_name_else_by_its_last_change() {
    let mut bench = Bench::new();
    bench.write("20240102T030405Z.csv", 1);
    bench.write("plain.csv", 2);
    let at = Timestamp::parse("2024-02-03T04:05:06Z").expect("valid");
    let time = std::time::UNIX_EPOCH + Duration::from_millis(at.unix_ms().unsigned_abs());
    let file = std::fs::File::options().write(true).open(bench.path("plain.csv")).expect("opens");
    file.set_modified(time).expect("touches");
    let named = Timestamp::parse("2024-01-02T03:04:05Z").expect("valid");
    assert_eq!(bench.run(None), [(1, named), (2, at)]);
}

/// A day file to which a logger appends: what is new is measured, with its own time.
#[test]
fn of_a_file_that_has_grown_the_new_part_is_measured() {
    let mut bench = Bench::new();
    let name = "20240102T030405Z.csv";
    let part = |mark: u32| format!("0\n{mark}.01\n").repeat(32);
    let write = |bench: &Bench, text: &str| std::fs::write(bench.path(name), text).expect("writes");
    write(&bench, &part(1));
    let begun = Timestamp::parse("2024-01-02T03:04:05Z").expect("valid");
    assert_eq!(bench.run(None), [(1, begun)]);
    // 64 samples at 1 kHz
    write(&bench, &(part(1) + &part(2)));
    assert_eq!(bench.run(None), [(2, begun.plus_seconds(0.064))]);
    write(&bench, &(part(1) + &part(2) + &part(3)));
    assert_eq!(bench.run(None), [(3, begun.plus_seconds(0.128))]);
    assert!(bench.run(None).is_empty());
    // another beginning is another recording
    write(&bench, &part(7).repeat(4));
    assert_eq!(bench.marks(), [7]);
}

#[test]
fn a_recording_that_is_packed_after_it_was_measured_is_measured_once() {
    use std::io::Write as _;

    let mut bench = Bench::new();
    bench.write("a.csv", 1);
    bench.write("b.csv", 2);
    assert_eq!(bench.marks().len(), 2);
    let pack = |bench: &Bench, name: &str, content: &[u8]| {
        let file = std::fs::File::create(bench.path(name)).expect("makes");
        let mut packed = flate2::write::GzEncoder::new(file, flate2::Compression::fast());
        packed.write_all(content).expect("packs");
        packed.finish().expect("writes");
    };
    let content = std::fs::read(bench.path("a.csv")).expect("reads");
    pack(&bench, "a.csv.gz", &content);
    std::fs::remove_file(bench.path("a.csv")).expect("removes");
    assert!(bench.marks().is_empty());
    let other = "0\n9.01\n".repeat(32);
    pack(&bench, "b.csv.gz", other.as_bytes());
    assert_eq!(bench.marks(), [9], "another content");
}

/// A logger of Seoul, a gateway of another zone: the file's times are those of the configured zone.
#[test]
fn times_without_a_zone_are_those_of_the_source_and_a_time_ahead_is_told() {
    let mut bench = Bench::new();
    let rows: String = (0..64)
        .map(|n| format!("2024-01-02 03:04:05.{n:03},{}\n", n % 2 * 3))
        .collect::<Vec<_>>()
        .concat();
    std::fs::write(bench.path("a.csv"), format!("time,acc (g)\n{rows}")).expect("writes");
    bench.write("20240102_040506.csv", 4);
    let zoned = |bench: &Bench, zone: &str| {
        let mut settings = bench.settings();
        settings.options.zone = zone.parse().expect("a zone");
        settings
    };
    let at = |text: &str| Timestamp::parse(text).expect("a time");
    let settings = zoned(&bench, "Asia/Seoul");
    let mut times: Vec<Timestamp> =
        bench.run_with(settings, None).into_iter().map(|(_, at)| at).collect();
    times.sort();
    assert_eq!(times, [at("2024-01-01T18:04:05Z"), at("2024-01-01T19:05:06Z")]);
    assert!(bench.remarks.lines().is_empty());
    // named nine hours ahead
    let ahead = SystemClock.now().plus_seconds(9.0 * 3600.0).date_time();
    bench.write(&format!("p_{}.csv", ahead.format("%Y%m%d_%H%M%S")), 5);
    let settings = zoned(&bench, "UTC");
    assert_eq!(bench.run_with(settings, None).len(), 1);
    let told = bench.remarks.lines().join("");
    assert!(told.contains("ahead of this gateway's clock") && told.contains("zone"), "{told}");
}

#[test]
fn an_odd_file_sets_nothing_for_the_others_and_is_told() {
    let mut bench = Bench::new();
    let two = "0.5,1.25\n2.5,0.25\n1.5,1.25\n".repeat(32);
    std::fs::write(bench.path("0_first.csv"), two).expect("writes");
    std::fs::write(bench.path("1_text.csv"), "this is no recording\n").expect("writes");
    for mark in 2..5 {
        bench.write(&format!("{mark}.csv"), mark);
    }
    assert_eq!(bench.marks(), [2, 3, 4]);
    let told = bench.remarks.lines().join("\n");
    assert!(told.contains("source press: 2 files are set aside"), "{told}");
    // the remark goes with the files
    std::fs::remove_file(bench.path("0_first.csv")).expect("removes");
    std::fs::remove_file(bench.path("1_text.csv")).expect("removes");
    assert!(bench.marks().is_empty());
    assert!(bench.remarks.lines().is_empty(), "{:?}", bench.remarks.lines());
}

#[test]
fn a_form_that_most_files_have_later_is_taken_up_with_what_was_set_aside() {
    let mut bench = Bench::new();
    let two = |n: u32| format!("{n}.5,{n}.25\n").repeat(64);
    std::fs::write(bench.path("0.csv"), two(1)).expect("writes");
    assert_eq!(bench.run(None).len(), 1);
    bench.write("2.csv", 2);
    assert!(bench.marks().is_empty(), "one against one");
    bench.write("3.csv", 3);
    let mut marks = bench.marks();
    marks.sort_unstable();
    assert_eq!(marks, [2, 3]);
}

#[test]
fn a_count_of_an_earlier_version_is_taken_over() {
    let mut bench = Bench::new();
    for mark in 1..5 {
        bench.write(&format!("{mark}.csv"), mark);
    }
    let settings = FolderSettings { inherited: 3, ..bench.settings() };
    let marks: Vec<u32> =
        bench.run_with(settings, None).into_iter().map(|(mark, _)| mark).collect();
    assert_eq!(marks, [4]);
    assert!(bench.marks().is_empty());
}

/// A small generator, so that the failing step of a run can be found by its seed.
fn next(state: &mut u64) -> u64 {
    *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    *state >> 33
}

/// Files are added, renamed and deleted at random while the service is killed again and again.
fn churn(seed: u64, rounds: usize, most_added: u64) {
    let mut bench = Bench::new();
    let mut state = seed;
    let (mut added, mut measured) = (0u32, Vec::new());
    for round in 0..rounds {
        for _ in 0..next(&mut state) % most_added {
            added += 1;
            // names that sort before and after those that are there
            bench.write(&format!("{:05}_{added}.csv", next(&mut state) % 100_000), added);
        }
        let kill = next(&mut state) % (most_added + 1);
        let run = bench.run((round % 3 != 2).then_some(kill as usize));
        measured.extend(run.into_iter().map(|(mark, _)| mark));
        let names: Vec<PathBuf> = super::listing::list(&[bench.folder.path().to_owned()])
            .expect("lists")
            .into_iter()
            .map(|file| file.path)
            .collect();
        for path in names {
            match next(&mut state) % 20 {
                0 => {
                    let name = format!("{:05}_renamed_{}.csv", next(&mut state) % 100_000, round);
                    std::fs::rename(&path, bench.path(&name)).expect("renames");
                }
                // only what was measured may go: a file that is deleted before is lost by its owner
                1 => {
                    let text = std::fs::read_to_string(&path).expect("reads");
                    let mark = text.lines().nth(1).and_then(|line| line.parse::<f64>().ok());
                    let mark = mark.expect("a mark") as u32;
                    if measured.contains(&mark) {
                        std::fs::remove_file(&path).expect("removes");
                    }
                }
                _ => {}
            }
        }
    }
    measured.extend(bench.marks());
    measured.sort_unstable();
    assert_eq!(measured, (1..=added).collect::<Vec<_>>(), "seed {seed}");
}

/// Each file once, over kills, renames and deletions; the long form is the test below.
#[test]
fn every_file_is_measured_once_over_kills_renames_and_deletions() {
    for seed in 1..=3 {
        churn(seed, 12, 20);
    }
}

#[test]
#[ignore = "the long form of the test above: 10,000 files and 200 kills, a few minutes"]
fn every_file_of_ten_thousand_is_measured_once() {
    churn(11, 210, 100);
}
