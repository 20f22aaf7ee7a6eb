//! `--list`: a table of recordings with their options.
//!
//! CSV with a header. The column `file` names the recording, the others have the names of the
//! options (`rpm_tolerance` and `rpm-tolerance` are the same); an empty field is an option that is
//! not given. Orders are in quotes, or separated by `;` or spaces. A file that does not exist is
//! also searched for beside the list. Lines that begin with `#` are comments.

use std::path::{Path, PathBuf};
use std::str::FromStr;

use csv::{ReaderBuilder, StringRecord, Trim};
use pdm_service::exit::{Exit, Failure};

use super::super::recording_options::{MachineArgs, RecordingArgs};
use super::Job;

/// The columns that a list may have.
const COLUMNS: [&str; 22] = [
    "file",
    "baseline",
    "baseline_rate",
    "channel",
    "scale",
    "unit",
    "sensitivity",
    "offset",
    "variable",
    "snapshot",
    "start_s",
    "duration_s",
    "prefer",
    "decimal",
    "zone",
    "rate",
    "rpm",
    "rpm_tolerance",
    "bearing",
    "orders",
    "order_tolerance",
    "catalogue",
];

/// The recordings of a list; `line` holds the options of the command line.
pub(super) fn read_jobs(path: &Path, line: &Job) -> anyhow::Result<Vec<Job>> {
    let refused = |exit: Exit, why: String| -> anyhow::Error {
        Failure::new(exit, anyhow::anyhow!("{}: {why}", path.display())).into()
    };
    let content = std::fs::read(path).map_err(|e| {
        let is_missing = e.kind() == std::io::ErrorKind::NotFound;
        refused(if is_missing { Exit::NoInput } else { Exit::Io }, e.to_string())
    })?;
    let mut reader = ReaderBuilder::new()
        .trim(Trim::All)
        .flexible(true)
        .comment(Some(b'#'))
        .from_reader(content.as_slice());
    let bad = |why: String| refused(Exit::BadInput, why);
    let header: Vec<String> = reader
        .headers()
        .map_err(|e| bad(e.to_string()))?
        .iter()
        .map(|name| name.trim_start_matches(['-', '\u{feff}']).replace('-', "_").to_lowercase())
        .collect();
    if let Some(unknown) = header.iter().find(|name| !COLUMNS.contains(&name.as_str())) {
        return Err(bad(format!("unknown column {unknown:?}; allowed are {}", COLUMNS.join(", "))));
    }
    if !header.iter().any(|name| name == "file") {
        return Err(bad("no column \"file\"".to_owned()));
    }
    let mut jobs = Vec::new();
    for record in reader.records() {
        let record = record.map_err(|e| bad(e.to_string()))?;
        let number = record.position().map_or(0, csv::Position::line);
        let row = Row { header: &header, record: &record };
        let job = row.job(path, line).map_err(|why| bad(format!("line {number}: {why}")))?;
        jobs.push(job);
    }
    if jobs.is_empty() {
        return Err(bad("the list has no row".to_owned()));
    }
    Ok(jobs)
}

struct Row<'a> {
    header: &'a [String],
    record: &'a StringRecord,
}

impl Row<'_> {
    fn text(&self, column: &str) -> Option<String> {
        let at = self.header.iter().position(|name| name == column)?;
        self.record.get(at).filter(|field| !field.is_empty()).map(str::to_owned)
    }

    fn value<T: FromStr>(&self, column: &str) -> Result<Option<T>, String>
    where
        T::Err: std::fmt::Display,
    {
        self.text(column)
            .map(|text| text.parse().map_err(|e| format!("{column} is {text:?}: {e}")))
            .transpose()
    }

    fn job(&self, list: &Path, line: &Job) -> Result<Job, String> {
        if self.record.len() > self.header.len() {
            let (got, expected) = (self.record.len(), self.header.len());
            return Err(format!("{got} fields, the header has {expected} (put orders in quotes)"));
        }
        let file = self.text("file").ok_or("no file")?;
        let recording = RecordingArgs {
            channel: self.value("channel")?,
            scale: self.value("scale")?,
            unit: self.value("unit")?,
            sensitivity: self.value("sensitivity")?,
            offset: self.value("offset")?,
            variable: self.text("variable"),
            rate: self.value("rate")?,
            start_s: self.value("start_s")?,
            duration_s: self.value("duration_s")?,
            prefer: self.value("prefer")?,
            decimal: self.value("decimal")?,
            zone: self.value("zone")?,
        };
        let machine = MachineArgs {
            rpm: self.value("rpm")?,
            rpm_tolerance: self.value("rpm_tolerance")?,
            bearing: self.text("bearing"),
            orders: self.text("orders"),
            order_tolerance: self.value("order_tolerance")?,
            catalogue: self.value("catalogue")?,
        };
        Ok(Job {
            path: beside(list, PathBuf::from(file)),
            recording: recording.or(&line.recording),
            snapshot: self.value("snapshot")?.or(line.snapshot),
            machine: machine.or(&line.machine),
            baseline: self
                .text("baseline")
                .map(|file| beside(list, PathBuf::from(file)))
                .or_else(|| line.baseline.clone()),
            baseline_rate: self.value("baseline_rate")?.or(line.baseline_rate),
        })
    }
}

/// `file`, or the file of this name beside the list if only that one exists.
fn beside(list: &Path, file: PathBuf) -> PathBuf {
    let other = list.parent().map(|folder| folder.join(&file));
    match other {
        Some(other) if !file.exists() && other.exists() => other,
        _ => file,
    }
}

#[cfg(test)]
mod tests {
    use pdm_service::exit::exit_of;

    use super::*;

    fn read_text(text: &str) -> anyhow::Result<Vec<Job>> {
        let folder = tempfile::tempdir().expect("folder");
        let path = folder.path().join("list.csv");
        std::fs::write(&path, text).expect("written");
        let line = Job {
            path: PathBuf::new(),
            recording: RecordingArgs { rate: Some(12_000.0), ..RecordingArgs::default() },
            snapshot: None,
            machine: MachineArgs::default(),
            baseline: None,
            baseline_rate: None,
        };
        read_jobs(&path, &line)
    }

    #[test]
    fn a_row_is_a_recording_with_its_options() {
        let text = "file,channel,rpm,orders,rate\na.npy,1,1797,\"3.6,5.4,2.4,0.4\",\nb.npy,,1800,3.6 5.4 2.4 0.4,48000\n";
        let jobs = read_text(text).expect("valid");
        assert_eq!(jobs.len(), 2);
        assert_eq!((jobs[0].recording.channel, jobs[0].recording.rate), (Some(1), Some(12_000.0)));
        assert_eq!((jobs[1].recording.channel, jobs[1].recording.rate), (None, Some(48_000.0)));
        assert!(jobs.iter().all(|job| job.machine.machine().is_ok()));
    }

    #[test]
    fn a_list_that_cannot_be_read_names_line_and_column() {
        for (text, expected) in [
            ("file,speed\na,1\n", "unknown column \"speed\""),
            ("rpm\n1\n", "no column \"file\""),
            ("file,rpm\na,fast\n", "line 2: rpm is \"fast\""),
            ("file,orders\na,1,2,3,4\n", "put orders in quotes"),
            ("file\n", "no row"),
        ] {
            let error = read_text(text).expect_err(text);
            assert!(error.to_string().contains(expected), "{error}");
            assert_eq!(exit_of(&error), Exit::BadInput);
        }
    }
}
