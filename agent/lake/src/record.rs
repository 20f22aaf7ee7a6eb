//! Records of the archive itself under `_pdm`: what it is, and which days are archived.
//!
//! `archive.json` (`pdm.archive/1`) is created once and names the stores whose rows the archive
//! takes. `days/DAY.json` (`pdm.archived-day/1`) is written after the files of the day were
//! committed and read back; it is the mark that a retention may go by.

use std::collections::BTreeMap;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

use crate::day::Day;
use crate::error::LakeError;
use crate::place::Place;

/// The value of `schema` in `archive.json`.
pub const ARCHIVE_SCHEMA: &str = "pdm.archive/1";
/// The value of `schema` in the mark of a day.
pub const DAY_SCHEMA: &str = "pdm.archived-day/1";
const ARCHIVE: &str = "_pdm/archive.json";
const DAYS: &str = "_pdm/days";
const PROBE: &str = "_pdm/created-once";
const README: &str = "README.md";
const README_TEXT: &str = include_str!("../README-archive.md");

/// What the archive is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ArchiveRecord {
    /// Always [`ARCHIVE_SCHEMA`].
    pub schema: String,
    /// Stores whose rows are taken, by identity.
    pub stores: Vec<String>,
}

/// The mark of an archived day.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct DayMark {
    /// Always [`DAY_SCHEMA`].
    pub schema: String,
    /// The day.
    pub day: String,
    /// When it was archived or looked at last, UTC.
    pub marked_at: String,
    /// The tables, by name.
    pub tables: BTreeMap<String, TableMark>,
    /// Rows that each store had of the day when it was marked, with the highest place of the last
    /// one, by store and table: a day whose store says otherwise is looked at anew.
    #[serde(default)]
    pub seen: BTreeMap<String, BTreeMap<String, Seen>>,
}

/// What a store had of a day.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Seen {
    /// Rows.
    pub rows: i64,
    /// The place of the last one in the order of arrival; 0 where a table has none.
    pub last: i64,
}

/// A table in the mark of a day.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct TableMark {
    /// Rows in all files.
    pub rows: u64,
    /// The files, as their commits describe them.
    pub files: Vec<Json>,
}

/// Reads what the archive is; `None` if there is none.
///
/// # Errors
/// [`LakeError::Version`] of an archive of another version, [`LakeError::Content`] of a broken
/// record.
pub async fn archive(place: &Place) -> Result<Option<ArchiveRecord>, LakeError> {
    let Some(bytes) = place.read(ARCHIVE).await? else { return Ok(None) };
    parsed(place, ARCHIVE, &bytes, ARCHIVE_SCHEMA).map(Some)
}

/// Reads what the archive is, and makes it an archive of `store` if it is none.
///
/// # Errors
/// As [`archive`]; [`LakeError::Owned`] if it is one of another store and `adopt` is not set.
pub async fn begin(place: &Place, store: &str, adopt: bool) -> Result<(), LakeError> {
    let own = |stores: Vec<String>| {
        let record = ArchiveRecord { schema: ARCHIVE_SCHEMA.to_owned(), stores };
        serde_json::to_vec_pretty(&record).unwrap_or_default()
    };
    let mut found = archive(place).await?;
    if found.is_none() && !place.create(ARCHIVE, own(vec![store.to_owned()])).await? {
        found = archive(place).await?;
    }
    place.write(README, README_TEXT.as_bytes().to_vec()).await?;
    refuse_overwriting_store(place).await?;
    let Some(record) = found else { return Ok(()) };
    if record.stores.iter().any(|known| known == store) {
        return Ok(());
    }
    if !adopt {
        let told = format!(
            "the archive takes rows of the store {}, not of {store}; --adopt takes them too",
            record.stores.join(", ")
        );
        return Err(LakeError::Version { place: place.name.clone(), told });
    }
    let mut stores = record.stores;
    stores.push(store.to_owned());
    place.write(ARCHIVE, own(stores)).await
}

/// Two archivers, and a kill at the wrong moment, are told apart by an object that is created only
/// once. A store that overwrites it would lose commits without a word.
async fn refuse_overwriting_store(place: &Place) -> Result<(), LakeError> {
    let bytes = b"written once, asked for again at each start".to_vec();
    let is_first = place.create(PROBE, bytes.clone()).await?;
    if is_first && place.create(PROBE, bytes).await? {
        let told =
            "the store overwrites an object that is to be created once (If-None-Match: * is not \
                    kept): commits would be lost, so nothing is archived here"
                .to_owned();
        return Err(LakeError::Version { place: place.name.clone(), told });
    }
    Ok(())
}

/// The mark of a day.
///
/// # Errors
/// As [`archive`].
pub async fn mark(place: &Place, day: Day) -> Result<Option<DayMark>, LakeError> {
    let path = format!("{DAYS}/{day}.json");
    let Some(bytes) = place.read(&path).await? else { return Ok(None) };
    parsed(place, &path, &bytes, DAY_SCHEMA).map(Some)
}

/// All marks by day.
///
/// # Errors
/// As [`archive`].
pub async fn marks(place: &Place) -> Result<BTreeMap<Day, DayMark>, LakeError> {
    let mut marks = BTreeMap::new();
    for object in place.list(DAYS).await? {
        let name = object.location.filename().unwrap_or_default();
        let Some(day) = name.strip_suffix(".json").and_then(|day| day.parse().ok()) else {
            continue;
        };
        if let Some(mark) = mark(place, day).await? {
            marks.insert(day, mark);
        }
    }
    Ok(marks)
}

/// Writes the mark of a day.
///
/// # Errors
/// [`LakeError`] if it cannot be written.
pub async fn put_mark(place: &Place, day: Day, mark: &DayMark) -> Result<(), LakeError> {
    let bytes = serde_json::to_vec(mark).unwrap_or_default();
    place.write(&format!("{DAYS}/{day}.json"), bytes).await
}

/// A record of a schema that this program knows.
fn parsed<T: DeserializeOwned>(
    place: &Place,
    path: &str,
    bytes: &[u8],
    schema: &str,
) -> Result<T, LakeError> {
    let named = format!("{}/{path}", place.name);
    let broken = |error: serde_json::Error| {
        let told = format!("the record cannot be read: {error}. Nothing was changed");
        LakeError::Content { place: named.clone(), told }
    };
    let json: Json = serde_json::from_slice(bytes).map_err(broken)?;
    let found = json.get("schema").and_then(Json::as_str).unwrap_or("nothing");
    if found != schema {
        let told = format!(
            "the record says {found:?}, and this program knows {schema}: another version of \
             pdm-lake wrote it; nothing was changed"
        );
        return Err(LakeError::Version { place: named, told });
    }
    serde_json::from_value(json).map_err(broken)
}
