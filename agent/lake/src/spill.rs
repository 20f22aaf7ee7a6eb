//! Lines of events, put by day into files of their own, so that a history of any length is archived
//! a day at a time.

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::PathBuf;

use futures_util::stream::{self, BoxStream};

use crate::day::Day;
use crate::error::LakeError;
use crate::file::key_of;
use crate::source::event_row;
use crate::table::TableSpec;
use crate::value::Value;

/// Text that waits in memory before it goes to the files.
const WAITING: usize = 64 << 20;

/// Lines by day.
#[derive(Debug)]
pub struct Spill {
    folder: tempfile::TempDir,
    waiting: BTreeMap<Day, String>,
    bytes: usize,
    days: BTreeMap<Day, u64>,
}

impl Spill {
    /// Begins in the system's folder for files that do not stay (`TMPDIR`).
    ///
    /// # Errors
    /// [`LakeError`] if there is no room.
    pub fn new() -> Result<Self, LakeError> {
        let folder = tempfile::tempdir()
            .map_err(|error| LakeError::of("TMPDIR", "making a folder", &error))?;
        Ok(Self { folder, waiting: BTreeMap::new(), bytes: 0, days: BTreeMap::new() })
    }

    /// Takes a line of a day.
    ///
    /// # Errors
    /// [`LakeError`] if there is no room.
    pub fn put(&mut self, day: Day, line: &str) -> Result<(), LakeError> {
        let waiting = self.waiting.entry(day).or_default();
        waiting.push_str(line.trim_end());
        waiting.push('\n');
        *self.days.entry(day).or_insert(0) += 1;
        self.bytes += line.len() + 1;
        if self.bytes > WAITING { self.flush() } else { Ok(()) }
    }

    /// Brings everything into the files.
    ///
    /// # Errors
    /// [`LakeError`] if there is no room.
    pub fn flush(&mut self) -> Result<(), LakeError> {
        for (day, text) in std::mem::take(&mut self.waiting) {
            let path = self.path(day);
            let written = OpenOptions::new()
                .create(true)
                .append(true)
                .open(&path)
                .and_then(|mut file| file.write_all(text.as_bytes()));
            written.map_err(|error| self.failed(&error))?;
        }
        self.bytes = 0;
        Ok(())
    }

    /// The days and the number of their lines.
    pub const fn days(&self) -> &BTreeMap<Day, u64> {
        &self.days
    }

    fn path(&self, day: Day) -> PathBuf {
        self.folder.path().join(format!("{day}.jsonl"))
    }

    fn failed(&self, error: &std::io::Error) -> LakeError {
        let place = self.folder.path().display().to_string();
        LakeError::of(place, "keeping lines by day", error)
    }

    /// The rows of a day.
    fn sorted(&self, spec: &'static TableSpec, day: Day) -> Result<Vec<Vec<Value>>, LakeError> {
        let file = match File::open(self.path(day)) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
            file => file.map_err(|error| self.failed(&error))?,
        };
        let mut rows = Vec::new();
        for line in BufReader::new(file).lines() {
            let line = line.map_err(|error| self.failed(&error))?;
            let row = event_row(spec, &line)
                .map_err(|told| LakeError::Content { place: "the input".to_owned(), told })?;
            rows.extend(row);
        }
        rows.sort_by(|one, other| order(one).cmp(&order(other)));
        Ok(rows)
    }

    /// The keys of a day's rows.
    ///
    /// # Errors
    /// [`LakeError`] if the files cannot be read.
    pub fn keys(&self, spec: &'static TableSpec, day: Day) -> Result<Vec<String>, LakeError> {
        Ok(self.sorted(spec, day)?.iter().map(|row| key_of(spec, row)).collect())
    }

    /// The rows of a day by bearing and time.
    pub fn rows<'a>(
        &'a self,
        spec: &'static TableSpec,
        day: Day,
    ) -> BoxStream<'a, Result<Vec<Value>, LakeError>> {
        match self.sorted(spec, day) {
            Ok(rows) => Box::pin(stream::iter(rows.into_iter().map(Ok))),
            Err(error) => Box::pin(stream::iter([Err(error)])),
        }
    }
}

/// Site, machine, bearing, time: the first four columns of events and spectra.
fn order(row: &[Value]) -> (&str, &str, &str, i64) {
    let text = |place: usize| row.get(place).map_or("", Value::as_text);
    let at = match row.get(3) {
        Some(Value::Time(micros)) => *micros,
        _ => 0,
    };
    (text(0), text(1), text(2), at)
}
