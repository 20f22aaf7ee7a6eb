//! Checks whether the files of a sequence are snapshots of one measuring point: names of channels,
//! copies, times.
//!
//! Used by the sequence of files. Invariants: a file of another axis is refused by its name; a copy
//! that its name says to be one is refused, other files of equal bytes are told; times that
//! contradict the period are told once.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hasher as _};
use std::io::Read as _;
use std::path::{Path, PathBuf};

use pdm_shared::time::Timestamp;

use super::meaning::duration_words;
use crate::source::Interpretation;

/// Words that tell axes and places of a machine apart, in lower case.
const AXES: [&str; 37] = [
    "accx",
    "accy",
    "accz",
    "x",
    "y",
    "z",
    "h",
    "v",
    "a",
    "r",
    "t",
    "hor",
    "ver",
    "vert",
    "ax",
    "ay",
    "az",
    "horizontal",
    "vertical",
    "axial",
    "radial",
    "tangential",
    "de",
    "nde",
    "fe",
    "ba",
    "ds",
    "nds",
    "inner",
    "outer",
    "left",
    "right",
    "front",
    "rear",
    "inboard",
    "outboard",
    "motor",
];

/// Words behind which a number is that of a channel.
const BEFORE_NUMBERS: [&str; 8] = ["ch", "channel", "sensor", "axis", "ai", "kanal", "acc", "in"];

/// Words in the name of a file by which it is a copy of another one, in lower case.
const COPY_WORDS: [&str; 7] = ["copy", "kopie", "copie", "copia", "복사본", "사본", "副本"];

/// Bytes at the beginning of a file by which one with the same length may be its copy.
const START_BYTES: usize = 64 << 10;

/// How far the time from file to file may be from the period, ratio.
const AGREEMENT: f64 = 0.1;

/// How the names of a file's channels differ from those of the first file; in words.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum NameChange {
    /// Other axes or another order: samples of another place.
    OtherAxes(String),
    /// Other names, of the same place as far as they say.
    OtherNames(String),
}

/// The state that is known of the earlier files.
#[derive(Debug)]
pub(super) struct Likeness {
    names: Vec<Option<String>>,
    /// Length and hash of the first bytes of each file.
    files: HashMap<(u64, u64), Vec<PathBuf>>,
    last_start: Option<Timestamp>,
    /// Nothing states the unit of the first file.
    is_assumed: bool,
    is_names_told: bool,
    is_times_told: bool,
}

impl Likeness {
    /// Begins with the first file.
    pub(super) fn new(first: &Interpretation, path: &Path) -> Self {
        let mut own = Self {
            names: names_of(first),
            files: HashMap::new(),
            last_start: None,
            is_assumed: first.is_unit_assumed(),
            is_names_told: false,
            is_times_told: false,
        };
        own.refused_copy(path);
        own
    }

    /// Returns why a file is refused whose content is that of an earlier one, where its name or
    /// that of the other says that one is a copy; a file of equal bytes and another name is told. A
    /// file that cannot be read is no copy.
    pub(super) fn refused_copy(&mut self, path: &Path) -> Option<String> {
        let key = start_of(path)?;
        let before = self.files.entry(key).or_default();
        let same = before.iter().find(|other| is_same(path, other)).cloned();
        before.push(path.to_owned());
        let same = same?;
        let other = same.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let what = format!("the file has the same bytes as {other}");
        if says_copy(path) || says_copy(&same) {
            return Some(format!("{what}: it is a copy"));
        }
        tracing::warn!(
            file = %path.display(),
            "{what}: a copy, or the sensor stands still; it is measured again"
        );
        None
    }

    /// Returns how the names of a file's channels differ from those of the first file. Other names
    /// of one place are told once.
    pub(super) fn change_of_names(&mut self, next: &Interpretation) -> Option<NameChange> {
        let names = names_of(next);
        let pairs = || self.names.iter().flatten().zip(names.iter().flatten());
        let is_known = self.names.iter().all(Option::is_some) && names.iter().all(Option::is_some);
        if !is_known || names.len() != self.names.len() || pairs().all(|(own, other)| own == other)
        {
            return None;
        }
        let listed = |names: &[Option<String>]| {
            let all: Vec<String> = names.iter().flatten().map(|name| format!("{name:?}")).collect();
            all.join(", ")
        };
        let what = format!(
            "its channels are {}, those of the files before {}",
            listed(&names),
            listed(&self.names)
        );
        if pairs().any(|(own, other)| is_other_axis(own, other)) {
            let what = format!(
                "{what}: another axis or another order of the columns; put the files of each into \
                 a folder of its own"
            );
            return Some(NameChange::OtherAxes(what));
        }
        let is_told = std::mem::replace(&mut self.is_names_told, true);
        (!is_told).then(|| NameChange::OtherNames(format!("{what}; they are taken for the same")))
    }

    /// Why a file is refused whose unit is stated where that of the first is not, or the other way
    /// round: its numbers would be taken for another unit than those before.
    pub(super) fn change_of_unit(&self, next: &Interpretation) -> Option<String> {
        match (self.is_assumed, next.is_unit_assumed()) {
            (false, true) => Some(
                "nothing states its unit, and the files before state theirs: state the unit of all \
                 (--unit)"
                    .to_owned(),
            ),
            (true, false) => Some(
                "it states a unit, and the files before do not, which were read as g: state the \
                 unit of all (--unit)"
                    .to_owned(),
            ),
            _ => None,
        }
    }

    /// What the times that the files state say against the period, once.
    pub(super) fn follow_start(
        &mut self,
        start: Option<Timestamp>,
        period_s: Option<f64>,
    ) -> Option<String> {
        let before = std::mem::replace(&mut self.last_start, start)?;
        let (since, period_s) = (start?.seconds_since(before), period_s?);
        if (since / period_s - 1.0).abs() <= AGREEMENT || self.is_times_told {
            return None;
        }
        self.is_times_told = true;
        Some(format!(
            "the files state times {} apart, --period says {}: the events are dated by --period \
             and --start, not by the files",
            duration_words(since),
            duration_words(period_s)
        ))
    }
}

fn names_of(input: &Interpretation) -> Vec<Option<String>> {
    input.channels.iter().map(|channel| channel.name.clone()).collect()
}

/// Whether two names differ in a word for an axis or a place, or in the number of a channel.
fn is_other_axis(own: &str, other: &str) -> bool {
    let (own, other) = (words_of(own), words_of(other));
    if own.len() != other.len() {
        return false;
    }
    let is_axis = |word: &String| AXES.contains(&word.as_str());
    let is_number = |word: &String| word.chars().all(|c| c.is_ascii_digit());
    own.iter().zip(&other).enumerate().filter(|(_, (a, b))| a != b).any(|(at, (a, b))| {
        let before = at.checked_sub(1).and_then(|before| own.get(before));
        let is_channel = before.is_some_and(|word| BEFORE_NUMBERS.contains(&word.as_str()));
        (is_axis(a) && is_axis(b)) || (is_channel && is_number(a) && is_number(b))
    })
}

/// Words and numbers of a name in lower case.
fn words_of(name: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let mut kind = 0;
    for letter in name.chars() {
        let own = if letter.is_ascii_digit() { 1 } else { 2 * i32::from(letter.is_alphabetic()) };
        if own > 0 && own != kind {
            words.push(String::new());
        }
        if let Some(word) = words.last_mut().filter(|_| own > 0) {
            word.extend(letter.to_lowercase());
        }
        kind = own;
    }
    words
}

/// Length of a file and the hash of its first bytes.
fn start_of(path: &Path) -> Option<(u64, u64)> {
    let mut file = std::fs::File::open(path).ok()?;
    let length = file.metadata().ok()?.len();
    let mut start = Vec::new();
    file.by_ref().take(START_BYTES as u64).read_to_end(&mut start).ok()?;
    let mut hasher = DefaultHasher::new();
    hasher.write(&start);
    Some((length, hasher.finish()))
}

/// Whether two files of one length have the same bytes.
fn is_same(path: &Path, other: &Path) -> bool {
    let (Ok(mut a), Ok(mut b)) = (std::fs::File::open(path), std::fs::File::open(other)) else {
        return false;
    };
    let (mut of_a, mut of_b) = (Vec::new(), Vec::new());
    loop {
        of_a.clear();
        of_b.clear();
        let a = a.by_ref().take(START_BYTES as u64).read_to_end(&mut of_a);
        let b = b.by_ref().take(START_BYTES as u64).read_to_end(&mut of_b);
        match (a, b) {
            (Ok(0), Ok(0)) => return true,
            (Ok(_), Ok(_)) if of_a == of_b => {}
            _ => return false,
        }
    }
}

/// Whether the name of a file says that it is a copy: `c05 - Copy.csv`, `c03 (1).csv`.
fn says_copy(path: &Path) -> bool {
    let stem = path.file_stem().unwrap_or_default().to_string_lossy().to_lowercase();
    let number = stem.strip_suffix(')').and_then(|rest| rest.rsplit_once('('));
    let is_numbered = number.is_some_and(|(front, digits)| {
        !front.is_empty() && !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit())
    });
    is_numbered || COPY_WORDS.iter().any(|word| stem.contains(word))
}

#[cfg(test)]
mod tests {
    use crate::source::recording::{RecordingOptions, open_content, open_sequence};
    use pdm_shared::units::SampleRate;

    use super::*;

    #[test]
    fn names_of_another_axis_are_told_from_names_of_another_run() {
        for (own, other) in [
            ("Acc X (g)", "Acc Y (g)"),
            ("acc_DE", "acc_NDE"),
            ("ch1", "ch2"),
            ("Channel 1", "Channel 2"),
            ("vib_horizontal", "vib_vertical"),
        ] {
            assert!(is_other_axis(own, other), "{own} {other}");
        }
        for (own, other) in [
            ("X097_DE_time", "X098_DE_time"),
            ("run1", "run2"),
            ("vib", "vibration"),
            ("mar", "apr"),
        ] {
            assert!(!is_other_axis(own, other), "{own} {other}");
        }
    }

    fn table(name: &str, seed: usize) -> String {
        let row = |n: usize| format!("{:.5}\n", ((n + seed) as f64 * 0.7).sin());
        format!("{name}\n{}", (0..400).map(row).collect::<String>())
    }

    fn blocks(files: &[(&str, String)]) -> usize {
        let folder = tempfile::tempdir().expect("a folder");
        for (name, text) in files {
            std::fs::write(folder.path().join(name), text).expect("written");
        }
        let options = RecordingOptions {
            sample_rate: Some(SampleRate::new(2560.0).expect("a rate")),
            ..RecordingOptions::default()
        };
        let mut source = open_sequence(&[folder.path().to_owned()], &options).expect("opens");
        let mut count = 0;
        while source.next_block().expect("reads").is_some() {
            count += 1;
        }
        count
    }

    /// R-EDGE-4: two axes in turn, and copies, were snapshots of one bearing.
    #[test]
    fn files_of_another_axis_and_copies_are_set_aside() {
        let (x, y) = ("Acc X (g)", "Acc Y (g)");
        let turn = [
            ("0800_1.csv", table(x, 1)),
            ("0800_2.csv", table(y, 2)),
            ("0810_1.csv", table(x, 3)),
            ("0810_2.csv", table(y, 4)),
        ];
        assert_eq!(blocks(&turn), 2);
        let copies = [
            ("c1.csv", table(x, 1)),
            ("c2 (1).csv", table(x, 2)),
            ("c2.csv", table(x, 2)),
            ("c3.csv", table(x, 3)),
            ("c3 - Copy.csv", table(x, 3)),
        ];
        assert_eq!(blocks(&copies), 3);
        let units = [
            ("u1.csv", table("Acc (m/s²)", 1)),
            ("u2.csv", table("Acc", 2)),
            ("u3.csv", table("Acc (m/s²)", 3)),
        ];
        assert_eq!(blocks(&units), 2, "a unit that is not stated any more");
        let standing = [("d1.csv", table(x, 1)), ("d2.csv", table(x, 1))];
        assert_eq!(blocks(&standing), 2, "a sensor that stands still is measured");
    }

    #[test]
    fn times_that_contradict_the_period_are_told_once() {
        let at = |text: &str| Timestamp::parse(text).ok();
        let content = table("acc (g)", 1).into_bytes();
        let options = RecordingOptions {
            sample_rate: Some(SampleRate::new(2560.0).expect("a rate")),
            ..RecordingOptions::default()
        };
        let source = open_content(Path::new("t.csv"), content, &options).expect("opens");
        let input = source.interpretation().expect("a file");
        let mut own = Likeness::new(input, Path::new("none"));
        assert_eq!(own.follow_start(at("2026-05-01T00:00:00Z"), Some(600.0)), None);
        assert_eq!(own.follow_start(at("2026-05-01T00:10:00Z"), Some(600.0)), None);
        let told = own.follow_start(at("2026-05-02T00:10:00Z"), Some(600.0)).expect("told");
        assert!(told.contains("24.0 h apart") && told.contains("10 min"), "{told}");
        assert_eq!(own.follow_start(at("2026-05-04T00:10:00Z"), Some(600.0)), None, "once");
    }
}
