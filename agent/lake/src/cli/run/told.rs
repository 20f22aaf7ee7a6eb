//! The figures of a running archiver, for a collector of text files (such as that of Prometheus'
//! node exporter).

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::PathBuf;

use pdm_service::clock::{Clock as _, SystemClock};

use crate::archive::DayDone;
use crate::error::LakeError;

/// What has happened since the start.
#[derive(Debug)]
pub(super) struct Told {
    file: Option<PathBuf>,
    rows: BTreeMap<&'static str, u64>,
    bytes: u64,
    days: u64,
    failures: u64,
    last_success_s: Option<i64>,
}

impl Told {
    pub(super) const fn new(file: Option<PathBuf>) -> Self {
        Self { file, rows: BTreeMap::new(), bytes: 0, days: 0, failures: 0, last_success_s: None }
    }

    pub(super) fn note_day(&mut self, done: &DayDone) {
        for (table, rows) in &done.rows {
            *self.rows.entry(table).or_insert(0) += rows;
        }
        self.bytes += done.bytes;
        self.days += u64::from(done.marked);
    }

    pub(super) fn note_success(&mut self) {
        self.last_success_s = Some(SystemClock.now().unix_ms().div_euclid(1000));
    }

    pub(super) const fn note_failure(&mut self) {
        self.failures += 1;
    }

    /// Writes the file whole, so that a collector reads no half of it.
    pub(super) fn write(&self) -> Result<(), LakeError> {
        let Some(file) = &self.file else { return Ok(()) };
        let part = file.with_extension("part");
        let written =
            std::fs::write(&part, self.text()).and_then(|()| std::fs::rename(&part, file));
        written
            .map_err(|error| LakeError::of(file.display().to_string(), "writing metrics", &error))
    }

    fn text(&self) -> String {
        let mut text = String::new();
        let mut line = |name: &str, kind: &str, about: &str, values: Vec<(String, String)>| {
            // writing into a string cannot fail
            let _written = writeln!(text, "# HELP {name} {about}\n# TYPE {name} {kind}");
            for (labels, value) in values {
                let _written = writeln!(text, "{name}{labels} {value}");
            }
        };
        let rows = self
            .rows
            .iter()
            .map(|(table, rows)| (format!("{{table=\"{table}\"}}"), rows.to_string()));
        line("pdm_lake_rows_total", "counter", "Rows archived since the start.", rows.collect());
        let one = |value: u64| vec![(String::new(), value.to_string())];
        line(
            "pdm_lake_bytes_total",
            "counter",
            "Bytes of the files written since the start.",
            one(self.bytes),
        );
        line("pdm_lake_days_total", "counter", "Days marked since the start.", one(self.days));
        line(
            "pdm_lake_failures_total",
            "counter",
            "Looks at the store that failed.",
            one(self.failures),
        );
        if let Some(at) = self.last_success_s {
            let about = "When the last look at the store succeeded, seconds since 1970.";
            line(
                "pdm_lake_last_success_timestamp_seconds",
                "gauge",
                about,
                vec![(String::new(), at.to_string())],
            );
        }
        text
    }
}
