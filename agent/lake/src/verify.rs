//! Whether the archive is what its log and its marks say. Everything is read; nothing is changed.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::path::Path as FilePath;

use futures_util::TryStreamExt as _;
use serde::Serialize;
use serde_json::Value as Json;

use crate::day::Day;
use crate::error::LakeError;
use crate::file::{ReadFile, batches, broken_file, read_back, reader};
use crate::lake::{Foreign, Listing, Table, foreign_commits};
use crate::place::Place;
use crate::record::{DayMark, marks};
use crate::table::{Column, TABLES};
use crate::value::Value;

/// Commits in which foreign writers are looked for.
const COMMITS: u64 = 100_000;
/// Findings of one kind that are listed one by one.
const LISTED: usize = 100;

/// What was found.
#[derive(Debug, Default, Serialize)]
pub struct Verdict {
    /// Files that were read.
    pub files: usize,
    /// Rows that were read.
    pub rows: u64,
    /// What is wrong: the archive is not what was written.
    pub broken: Vec<String>,
    /// What an operator should know.
    pub remarks: Vec<String>,
    /// Files in a table's folder that its log does not name, left by kills; no reader sees them.
    pub orphans: usize,
    /// Their bytes.
    pub orphan_bytes: u64,
}

impl Verdict {
    fn broken(&mut self, told: String) {
        if self.broken.len() < LISTED {
            self.broken.push(told);
        }
    }
}

/// Reads the archive, or one day of it.
///
/// # Errors
/// [`LakeError`] if it cannot be read at all; what is wrong inside is in the verdict.
pub async fn verify(place: &Place, only: Option<Day>) -> Result<Verdict, LakeError> {
    let mut verdict = Verdict::default();
    let marks = marks(place).await?;
    let mut is_archive = false;
    for spec in TABLES {
        let Some(table) = Table::open(place, spec).await? else { continue };
        is_archive = true;
        let listing = table.listing()?;
        table_files(&table, &listing, only, &marks, &mut verdict).await?;
        for commit in foreign_commits(&table, COMMITS).await? {
            verdict.remarks.push(foreign(&table, &commit));
        }
        if only.is_none() {
            for orphan in orphans(place, &table, &listing).await? {
                verdict.orphans += 1;
                verdict.orphan_bytes += orphan.bytes;
            }
            if spec.name == "events" {
                sequences(&table, &listing, &mut verdict).await?;
                holes(&listing, &marks, &mut verdict);
            }
        }
    }
    if !is_archive {
        return Err(LakeError::NoArchive { place: place.name.clone() });
    }
    marks_hold(place, &marks, only, &mut verdict).await?;
    Ok(verdict)
}

/// Each file: there, whole, with the rows that log and mark state, each key once in the table.
async fn table_files(
    table: &Table,
    listing: &Listing,
    only: Option<Day>,
    marks: &BTreeMap<Day, DayMark>,
    verdict: &mut Verdict,
) -> Result<(), LakeError> {
    for (day, files) in &listing.days {
        if only.is_some_and(|only| only != *day) {
            continue;
        }
        let mut keys: HashSet<String> = HashSet::new();
        for file in files {
            let read = match read_back(table, &file.path).await {
                Ok(read) => read,
                Err(LakeError::Content { place, told }) => {
                    verdict.broken(format!("{place}: {told}"));
                    continue;
                }
                Err(error) => return Err(error),
            };
            verdict.files += 1;
            verdict.rows += read.rows;
            let name = format!("{}/{}", table.name, file.path);
            if read.bytes != file.bytes || file.rows.is_some_and(|rows| rows != read.rows) {
                verdict.broken(format!(
                    "{name} has {} rows and {} bytes, the log says {:?} and {}",
                    read.rows, read.bytes, file.rows, file.bytes
                ));
            }
            as_marked(&name, marks.get(day), table.spec.name, &file.path, &read, verdict);
            for key in read.keys {
                if let Some(twice) = keys.replace(key) {
                    verdict.broken(format!("{name}: the row {twice} comes twice"));
                }
            }
        }
    }
    Ok(())
}

fn as_marked(
    name: &str,
    mark: Option<&DayMark>,
    table: &str,
    path: &str,
    read: &ReadFile,
    verdict: &mut Verdict,
) {
    let text = |about: &Json, key: &str| about.get(key).and_then(Json::as_str).map(str::to_owned);
    let files = mark.and_then(|mark| mark.tables.get(table)).map(|table| &table.files);
    let about =
        files.into_iter().flatten().find(|about| text(about, "path").as_deref() == Some(path));
    // a file behind the mark: late rows whose run was killed, or another program's
    let Some(about) = about else { return };
    if text(about, "bytes_sha256").as_deref() != Some(&read.bytes_sha256)
        || text(about, "keys_sha256").as_deref() != Some(&read.keys_sha256)
    {
        verdict.broken(format!("{name} is not the file that was marked: its hash differs"));
    }
}

/// Every file that a mark names is named by the log, unless another program compacted the table.
async fn marks_hold(
    place: &Place,
    marks: &BTreeMap<Day, DayMark>,
    only: Option<Day>,
    verdict: &mut Verdict,
) -> Result<(), LakeError> {
    for spec in TABLES {
        let table = Table::open(place, spec).await?;
        let listing = table.as_ref().map(Table::listing).transpose()?.unwrap_or_default();
        for (day, mark) in marks.iter().filter(|(day, _)| only.is_none_or(|only| only == **day)) {
            let Some(marked) = mark.tables.get(spec.name) else { continue };
            let rows: u64 = listing.of(*day).iter().filter_map(|file| file.rows).sum();
            if rows < marked.rows {
                verdict.broken(format!(
                    "{}/{}: {day} was marked with {} rows, and the log names {rows}",
                    place.name, spec.name, marked.rows
                ));
            }
        }
    }
    Ok(())
}

fn foreign(table: &Table, commit: &Foreign) -> String {
    let rows = if commit.changes_rows { "rows came or went" } else { "no row changed" };
    format!(
        "{}: version {} ({}) was written by {}, not by pdm-lake; {rows}",
        table.name, commit.version, commit.operation, commit.engine
    )
}

/// A file that no log names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Orphan {
    /// Its path below the table.
    pub path: String,
    /// Its length, bytes.
    pub bytes: u64,
    /// When it was written, ms.
    pub written_ms: i64,
}

/// The files in a table's folder that its newest version does not name.
///
/// # Errors
/// [`LakeError`] if the folder cannot be listed.
pub async fn orphans(
    place: &Place,
    table: &Table,
    listing: &Listing,
) -> Result<Vec<Orphan>, LakeError> {
    let named: HashSet<&str> =
        listing.days.values().flatten().map(|file| file.path.as_str()).collect();
    let listed = table.store.list(None).try_collect::<Vec<_>>().await;
    let listed = listed.map_err(|error| LakeError::of(&table.name, "listing", &error))?;
    let mut found: Vec<Orphan> = listed
        .into_iter()
        .map(|object| Orphan {
            path: object.location.to_string(),
            bytes: object.size,
            written_ms: object.last_modified.timestamp_millis(),
        })
        .filter(|orphan| !orphan.path.starts_with('_') && !named.contains(orphan.path.as_str()))
        .collect();
    if let Some(folder) = &place.folder {
        let halves = halves(&folder.join(table.spec.name));
        found.extend(halves.map_err(|error| LakeError::of(&table.name, "listing", &error))?);
    }
    Ok(found)
}

/// Halves of files in a folder (`….parquet#1`), which the listing of the library leaves out.
fn halves(folder: &FilePath) -> std::io::Result<Vec<Orphan>> {
    let mut found = Vec::new();
    for day in std::fs::read_dir(folder)? {
        let day = day?;
        if !day.file_type()?.is_dir() || day.file_name() == "_delta_log" {
            continue;
        }
        for file in std::fs::read_dir(day.path())? {
            let file = file?;
            let name = file.file_name().to_string_lossy().into_owned();
            let about = file.metadata()?;
            if !name.contains(".parquet#") || !about.is_file() {
                continue;
            }
            let written = about.modified()?.duration_since(std::time::UNIX_EPOCH);
            found.push(Orphan {
                path: format!("{}/{name}", day.file_name().to_string_lossy()),
                bytes: about.len(),
                written_ms: written.map_or(0, |since| since.as_millis() as i64),
            });
        }
    }
    Ok(found)
}

/// Days without events between others, and days that are not marked.
fn holes(listing: &Listing, marks: &BTreeMap<Day, DayMark>, verdict: &mut Verdict) {
    let (Some(first), Some(last)) = (listing.days.keys().next(), listing.days.keys().next_back())
    else {
        return;
    };
    let (mut day, mut empty) = (*first, Vec::new());
    while day < *last {
        if !listing.days.contains_key(&day) {
            empty.push(day.to_string());
        }
        day = day.next();
    }
    if !empty.is_empty() {
        verdict.remarks.push(format!(
            "a hole: no events of {}{} between {first} and {last}",
            empty.iter().take(LISTED).cloned().collect::<Vec<_>>().join(", "),
            if empty.len() > LISTED { ", …" } else { "" }
        ));
    }
    for day in listing.days.keys().filter(|day| !marks.contains_key(day)) {
        verdict.remarks.push(format!(
            "{day} has files and no mark: its run was ended in between; export marks it"
        ));
    }
}

/// Numbers that are missing between the first and the last event of each count of a gateway.
async fn sequences(
    table: &Table,
    listing: &Listing,
    verdict: &mut Verdict,
) -> Result<(), LakeError> {
    let names = ["site", "gateway_id", "epoch", "sequence"];
    let columns: Vec<Column> = names
        .iter()
        .filter_map(|name| table.spec.place(name))
        .map(|place| table.spec.columns[place])
        .collect();
    let mut counts: HashMap<(String, String, String), BTreeSet<i64>> = HashMap::new();
    for file in listing.days.values().flatten() {
        let Ok(mut stream) = batches(table, &file.path, &columns).await else { continue };
        while let Some(batch) =
            stream.try_next().await.map_err(|error| broken_file(table, &file.path, &error))?
        {
            let rows = reader(table, &file.path, &columns, &batch)?;
            for row in 0..rows.rows {
                let row = rows.row(row);
                let text = |place: usize| row.get(place).map_or("", Value::as_text).to_owned();
                // without an identity of the count numbers of several counts mingle
                if text(2).is_empty() {
                    continue;
                }
                if let Some(Value::Int(sequence)) = row.get(3) {
                    counts.entry((text(0), text(1), text(2))).or_default().insert(*sequence);
                }
            }
        }
    }
    let mut told: Vec<String> = counts.iter().filter_map(missing_numbers).collect();
    told.sort();
    told.truncate(LISTED);
    verdict.remarks.extend(told);
    Ok(())
}

fn missing_numbers(
    ((site, gateway, epoch), numbers): (&(String, String, String), &BTreeSet<i64>),
) -> Option<String> {
    let (first, last) = (numbers.first()?, numbers.last()?);
    let missing = last - first + 1 - i64::try_from(numbers.len()).unwrap_or(i64::MAX);
    (missing > 0).then(|| {
        format!(
            "gateway {site}/{gateway}, count {epoch}: {missing} of the numbers {first} to {last} \
             are not in the archive (lost before the store, removed there, or of days that are not \
             archived)"
        )
    })
}

/// Removes orphans that are older than `hours`; those that a version of the last `hours` named are
/// kept, because a reader may still read it. The paths.
///
/// # Errors
/// [`LakeError`] if one cannot be removed.
pub async fn vacuum(
    place: &Place,
    hours: u64,
    now_ms: i64,
    dry_run: bool,
) -> Result<Vec<(String, u64)>, LakeError> {
    let mut removed = Vec::new();
    let oldest_ms = now_ms.saturating_sub(
        i64::try_from(hours).unwrap_or(i64::MAX / 3_600_000).saturating_mul(3_600_000),
    );
    for spec in TABLES {
        let Some(table) = Table::open(place, spec).await? else { continue };
        let listing = table.listing()?;
        let left = left_lately(&table, oldest_ms).await?;
        for orphan in orphans(place, &table, &listing).await? {
            if orphan.written_ms > oldest_ms || left.contains(&orphan.path) {
                continue;
            }
            if !dry_run {
                remove(place, spec.name, &orphan.path).await?;
            }
            removed.push((format!("{}/{}", table.name, orphan.path), orphan.bytes));
        }
    }
    Ok(removed)
}

async fn remove(place: &Place, table: &str, path: &str) -> Result<(), LakeError> {
    match &place.folder {
        // the library knows no name with `#`
        Some(folder) if path.contains('#') => {
            let removed = std::fs::remove_file(folder.join(table).join(path));
            removed.map_err(|error| place.failed("removing", &error))
        }
        _ => place.remove(&format!("{table}/{path}")).await,
    }
}

/// Files that commits of lately took out of the table.
async fn left_lately(table: &Table, oldest_ms: i64) -> Result<HashSet<String>, LakeError> {
    let mut left = HashSet::new();
    for removed in crate::lake::removed_files(table, COMMITS).await? {
        if removed.1 > oldest_ms {
            left.insert(removed.0);
        }
    }
    Ok(left)
}
