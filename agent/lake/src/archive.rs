//! A day into the archive: each table's missing rows in one file and one commit, then the mark.
//!
//! Which rows are missing is not remembered anywhere: the keys that the archive has of the day are
//! read, and what the input has beside them is written. So a run that was killed anywhere goes on
//! without losing or repeating a row, and a day of which late rows came gets one further file with
//! these.

use std::collections::{BTreeMap, HashSet};

use futures_util::TryStreamExt as _;
use futures_util::stream::BoxStream;
use pdm_service::clock::SharedClock;
use tokio_util::sync::CancellationToken;

use crate::day::Day;
use crate::error::LakeError;
use crate::file::{FileWriter, key_of, keys, read_back};
use crate::lake::{Commit, Table, foreign_commits};
use crate::place::Place;
use crate::record::{DAY_SCHEMA, DayMark, Seen, TableMark, mark, put_mark};
use crate::source::Source;
use crate::spill::Spill;
use crate::table::{TABLES, TableSpec};
use crate::turn::Turn;
use crate::value::Value;

/// How often a day is looked at anew when another writer commits in between.
const ATTEMPTS: u32 = 5;
/// Commits in which a foreign writer is looked for before a table is written.
const LOOKED_AT: u64 = 50;

/// Where rows come from.
#[derive(Debug)]
pub enum Input {
    /// An agent's store.
    Store(Source),
    /// Lines that were read and put by day.
    Lines(Spill),
}

impl Input {
    /// The keys of a day's rows.
    async fn keys(&self, spec: &'static TableSpec, day: Day) -> Result<Vec<String>, LakeError> {
        match self {
            Self::Store(source) => source.keys(spec, day).await,
            Self::Lines(spill) => spill.keys(spec, day),
        }
    }

    /// The rows of a day by bearing and time.
    fn rows<'a>(
        &'a self,
        spec: &'static TableSpec,
        day: Day,
    ) -> BoxStream<'a, Result<Vec<Value>, LakeError>> {
        match self {
            Self::Store(source) => source.rows(spec, day),
            Self::Lines(spill) => spill.rows(spec, day),
        }
    }

    /// Whether rows of the table can come from here.
    fn has(&self, spec: &TableSpec) -> bool {
        match self {
            Self::Store(_) => true,
            Self::Lines(_) => matches!(spec.name, "events" | "spectra"),
        }
    }
}

/// What an archiver works with.
#[derive(Debug)]
pub struct Archiver {
    /// The archive.
    pub place: Place,
    /// The clock.
    pub clock: SharedClock,
    /// The right to archive.
    pub turn: Turn,
    /// The input in the log's application transactions and in marks.
    pub app_id: String,
    /// Rows of foreign writers are accepted.
    pub accept_foreign: bool,
    /// The version up to which each table's commits were looked at for foreign ones.
    pub looked: std::sync::Mutex<BTreeMap<&'static str, u64>>,
    /// Cancelled when the program is to end: the table that is being written is ended first.
    pub stop: CancellationToken,
}

/// What was archived of a day.
#[derive(Debug, Clone, Default, PartialEq, Eq, serde::Serialize)]
pub struct DayDone {
    /// The day.
    pub day: String,
    /// Rows that were added, by table.
    pub rows: BTreeMap<&'static str, u64>,
    /// Bytes of the files that were added.
    pub bytes: u64,
    /// Whether the day was marked; not if the program was asked to end in between.
    pub marked: bool,
}

impl Archiver {
    /// Archives what is missing of a day, and marks it. `seen` is what the input said of the day
    /// before.
    ///
    /// # Errors
    /// [`LakeError`]; what was committed stays, and the next run goes on behind it.
    pub async fn archive_day(
        &self,
        input: &Input,
        day: Day,
        seen: &BTreeMap<String, Seen>,
    ) -> Result<DayDone, LakeError> {
        let mut done = DayDone { day: day.to_string(), ..DayDone::default() };
        for spec in TABLES.iter().filter(|spec| input.has(spec)) {
            if self.stop.is_cancelled() {
                return Ok(done);
            }
            let (rows, bytes) = self.archive_table(input, spec, day).await?;
            if rows > 0 {
                done.rows.insert(spec.name, rows);
                done.bytes += bytes;
            }
        }
        self.mark_day(day, seen).await?;
        done.marked = true;
        Ok(done)
    }

    async fn archive_table(
        &self,
        input: &Input,
        spec: &'static TableSpec,
        day: Day,
    ) -> Result<(u64, u64), LakeError> {
        let mut attempt = 1;
        loop {
            match self.try_table(input, spec, day).await {
                Err(LakeError::Conflict { place }) if attempt < ATTEMPTS => {
                    tracing::warn!(table = place, %day, attempt, "another writer committed in \
                        between, the day is looked at anew");
                    attempt += 1;
                }
                done => return done,
            }
        }
    }

    async fn try_table(
        &self,
        input: &Input,
        spec: &'static TableSpec,
        day: Day,
    ) -> Result<(u64, u64), LakeError> {
        self.turn.check().await?;
        let mut table = Table::open_or_make(&self.place, spec).await?;
        self.refuse_foreign(&table).await?;
        let added = table.fit().await?;
        if !added.is_empty() {
            tracing::info!(table = table.name, columns = added.join(", "), "columns were added");
        }
        let mut have = HashSet::new();
        for file in table.listing()?.of(day) {
            have.extend(keys(&table, &file.path).await?);
        }
        if !have.is_empty() {
            let wanted = input.keys(spec, day).await?;
            if wanted.iter().all(|key| have.contains(key)) {
                return Ok((0, 0));
            }
        }
        let mut rows = input.rows(spec, day);
        let mut writer: Option<FileWriter<'_>> = None;
        while let Some(row) = rows.try_next().await? {
            if !have.insert(key_of(spec, &row)) {
                continue;
            }
            let to = match &mut writer {
                Some(to) => to,
                None => writer.insert(FileWriter::begin(&table, day)?),
            };
            to.push(row).await?;
        }
        let Some(writer) = writer else { return Ok((0, 0)) };
        let file = writer.finish().await?;
        self.place.to_disk(&format!("{}/{}", spec.name, file.path))?;
        self.turn.check().await?;
        let commit =
            Commit { app_id: &self.app_id, turn: self.turn.number, day, about: file.about() };
        let version = table.commit(file.add(day, self.clock.now().unix_ms()), &commit).await?;
        self.place.to_disk(&format!("{}/_delta_log/{version:020}.json", spec.name))?;
        tracing::debug!(table = table.name, %day, version, rows = file.rows, bytes = file.bytes,
            "committed");
        Ok((file.rows, file.bytes))
    }

    async fn refuse_foreign(&self, table: &Table) -> Result<(), LakeError> {
        if self.accept_foreign {
            return Ok(());
        }
        let looked = |new: Option<u64>| {
            let mut looked = self.looked.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
            match new {
                Some(version) => looked.insert(table.spec.name, version),
                None => looked.get(table.spec.name).copied(),
            }
        };
        let since = looked(None);
        let limit = since.map_or(LOOKED_AT, |since| table.version().saturating_sub(since));
        let found = foreign_commits(table, limit).await?;
        let Some(writer) = found.iter().find(|commit| commit.changes_rows) else {
            looked(Some(table.version()));
            return Ok(());
        };
        let told = format!(
            "version {} ({}) was written by {}, not by pdm-lake; nothing was written beside it. \
             pdm-lake verify looks for rows that come twice; --accept-foreign goes on",
            writer.version, writer.operation, writer.engine
        );
        Err(LakeError::Content { place: table.name.clone(), told })
    }

    /// Writes the mark of a day: each file that the log names, read back and hashed.
    async fn mark_day(&self, day: Day, seen: &BTreeMap<String, Seen>) -> Result<(), LakeError> {
        let before = mark(&self.place, day).await?;
        let mut tables = BTreeMap::new();
        for spec in TABLES {
            let Some(table) = Table::open(&self.place, spec).await? else { continue };
            let known = before.as_ref().and_then(|mark| mark.tables.get(spec.name));
            let mut of_table = TableMark::default();
            for file in table.listing()?.of(day) {
                let is_it = |about: &&serde_json::Value| {
                    about.get("path").and_then(serde_json::Value::as_str) == Some(&file.path)
                };
                let about = match known.and_then(|known| known.files.iter().find(is_it)) {
                    Some(about) => about.clone(),
                    None => about(&table, &file.path).await?,
                };
                of_table.rows += about.get("rows").and_then(serde_json::Value::as_u64).unwrap_or(0);
                of_table.files.push(about);
            }
            if !of_table.files.is_empty() {
                tables.insert(spec.name.to_owned(), of_table);
            }
        }
        let mut stores = before.map(|mark| mark.seen).unwrap_or_default();
        stores.insert(self.app_id.clone(), seen.clone());
        let mark = DayMark {
            schema: DAY_SCHEMA.to_owned(),
            day: day.to_string(),
            marked_at: self.clock.now().to_string(),
            tables,
            seen: stores,
        };
        put_mark(&self.place, day, &mark).await
    }
}

async fn about(table: &Table, path: &str) -> Result<serde_json::Value, LakeError> {
    let read = read_back(table, path).await?;
    Ok(serde_json::json!({
        "path": path, "bytes": read.bytes, "rows": read.rows,
        "bytes_sha256": read.bytes_sha256, "keys_sha256": read.keys_sha256,
    }))
}

/// What a store has of each day, by table.
pub type SeenDays = BTreeMap<Day, BTreeMap<String, Seen>>;

/// Looks at all days of a store.
///
/// # Errors
/// [`LakeError`] if the store does not answer.
pub async fn seen_days(source: &Source) -> Result<SeenDays, LakeError> {
    let mut days = SeenDays::new();
    // spectra belong to their events
    for spec in TABLES.iter().filter(|spec| spec.name != "spectra") {
        for (day, seen) in source.days(spec).await? {
            days.entry(day).or_default().insert(spec.name.to_owned(), seen);
        }
    }
    Ok(days)
}

/// Whether a day of a store has rows that its mark does not know. Fewer rows are the store's
/// retention.
pub fn is_due(mark: Option<&DayMark>, app_id: &str, seen: &BTreeMap<String, Seen>) -> bool {
    let Some(known) = mark.and_then(|mark| mark.seen.get(app_id)) else { return true };
    seen.iter().any(|(table, now)| {
        known.get(table).is_none_or(|then| now.rows > then.rows || now.last > then.last)
    })
}

/// Whether a day has ended for `settle_s` seconds.
pub fn is_closed(day: Day, now_ms: i64, settle_s: u64) -> bool {
    let settle_ms = i64::try_from(settle_s).unwrap_or(i64::MAX / 2000).saturating_mul(1000);
    day.end_ms().saturating_add(settle_ms) <= now_ms
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_day_is_due_for_new_rows_and_not_for_the_store_s_retention() {
        let seen = |rows, last| BTreeMap::from([("events".to_owned(), Seen { rows, last })]);
        let mark = DayMark {
            schema: DAY_SCHEMA.to_owned(),
            day: "2026-01-01".to_owned(),
            marked_at: String::new(),
            tables: BTreeMap::new(),
            seen: BTreeMap::from([("a".to_owned(), seen(100, 100))]),
        };
        let due = |store: &str, rows, last| is_due(Some(&mark), store, &seen(rows, last));
        assert!(!due("a", 100, 100), "as it was");
        assert!(!due("a", 40, 100), "sixty rows were forgotten");
        assert!(due("a", 101, 101), "a late row");
        assert!(due("a", 41, 207), "a late row of a day that is being forgotten");
        assert!(due("a", 101, 100), "a row of a transaction that ended later than it began");
        assert!(due("b", 100, 100), "another store");
        assert!(is_due(None, "a", &seen(1, 1)), "no mark");
    }

    #[test]
    fn a_day_is_closed_when_it_has_settled() {
        let day: Day = "2026-01-01".parse().expect("a day");
        assert!(!is_closed(day, day.end_ms() - 1, 0));
        assert!(is_closed(day, day.end_ms(), 0));
        assert!(!is_closed(day, day.end_ms(), 3600));
        assert!(!is_closed(day, day.end_ms(), u64::MAX));
    }
}
