//! The files that a table's log names, by day.

use std::collections::BTreeMap;

use deltalake::kernel::Version;

use super::Table;
use crate::day::Day;
use crate::error::LakeError;
use crate::table::DAY;

/// A file that the log names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DayFile {
    /// Its path below the table.
    pub path: String,
    /// Its length as the log states it, bytes.
    pub bytes: u64,
    /// Its rows as the log states them.
    pub rows: Option<u64>,
}

/// The files of a table, by day.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Listing {
    /// Files by day.
    pub days: BTreeMap<Day, Vec<DayFile>>,
}

impl Listing {
    /// The files of a day.
    pub fn of(&self, day: Day) -> &[DayFile] {
        self.days.get(&day).map_or(&[], Vec::as_slice)
    }

    /// Number of files.
    pub fn files(&self) -> usize {
        self.days.values().map(Vec::len).sum()
    }

    /// Bytes of all files.
    pub fn bytes(&self) -> u64 {
        self.days.values().flatten().map(|file| file.bytes).sum()
    }

    /// Rows of all files, as the log states them.
    pub fn rows(&self) -> u64 {
        self.days.values().flatten().filter_map(|file| file.rows).sum()
    }
}

impl Table {
    /// The files that the version names.
    ///
    /// # Errors
    /// [`LakeError::Content`] if a file names no day: a foreign writer's.
    pub fn listing(&self) -> Result<Listing, LakeError> {
        let mut listing = Listing::default();
        for file in self.snapshot()?.log_data() {
            let path = file.object_store_path().to_string();
            let day = file.partition_values_map().remove(DAY).flatten();
            let day = day.as_deref().and_then(|day| day.parse().ok()).ok_or_else(|| {
                let told = format!("the file {path} names no day; pdm-lake writes none without");
                LakeError::Content { place: self.name.clone(), told }
            })?;
            let rows = file.num_records().map(|rows| rows as u64);
            let bytes = u64::try_from(file.size()).unwrap_or(0);
            listing.days.entry(day).or_default().push(DayFile { path, bytes, rows });
        }
        for files in listing.days.values_mut() {
            files.sort_by(|one, other| one.path.cmp(&other.path));
        }
        Ok(listing)
    }

    /// The highest version in the log now.
    ///
    /// # Errors
    /// [`LakeError`] if the log cannot be read.
    pub async fn newest(&self) -> Result<Version, LakeError> {
        super::read(&self.name, self.delta().get_latest_version().await)
    }
}
