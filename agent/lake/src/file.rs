//! One Parquet file of one day: written in order, read back, then fit to be committed.
//!
//! A file that was written and not committed is in no reader's way: the log does not name it.
//! `verify` counts such orphans and `vacuum` removes them.

#![expect(
    deprecated,
    reason = "parquet's own reader of objects; its successor is the same reader written here, \
        which goes with its next release"
)]

use std::collections::BTreeMap;
use std::sync::Arc;

use arrow::array::RecordBatch;
use bytes::Bytes;
use deltalake::kernel::Add;
use futures_util::TryStreamExt as _;
use futures_util::future::BoxFuture;
use object_store::ObjectStoreExt as _;
use object_store::buffered::BufWriter;
use object_store::path::Path;
use parquet::arrow::async_reader::ParquetObjectReader;
use parquet::arrow::async_writer::AsyncFileWriter;
use parquet::arrow::{AsyncArrowWriter, ParquetRecordBatchStreamBuilder, ProjectionMask};
use parquet::basic::{Compression, ZstdLevel};
use parquet::errors::Result as ParquetResult;
use parquet::file::properties::WriterProperties;
use serde_json::{Value as Json, json};
use sha2::{Digest as _, Sha256};
use uuid::Uuid;

use crate::batch::{RowReader, rows_into_batch, schema};
use crate::day::Day;
use crate::error::LakeError;
use crate::lake::{Table, partition};
use crate::table::{Column, DAY, TableSpec};
use crate::value::{Value, text_of_micros};

/// Rows that are turned into Arrow at once.
const BATCH: usize = 4096;
/// Rows of a row group: about 30 MB of events in memory, and what a reader of a whole year holds of
/// each day.
const ROW_GROUP: usize = 32_768;
/// Columns whose least and greatest value the log states, so that readers skip files.
const STATED: &[&str] = &["site", "equipment_id", "bearing_id", "measured_at", "closed_at", "at"];

/// A file that was written.
#[derive(Debug, Clone, PartialEq)]
pub struct WrittenFile {
    /// Its path below the table.
    pub path: String,
    /// Its length, bytes.
    pub bytes: u64,
    /// Its rows.
    pub rows: u64,
    /// SHA-256 of its bytes.
    pub bytes_sha256: String,
    /// SHA-256 of the keys of its rows, one a line, in their order.
    pub keys_sha256: String,
    /// What the log states of it.
    stats: Json,
}

impl WrittenFile {
    /// What a commit and the mark of a day say of the file.
    pub fn about(&self) -> Json {
        json!({
            "path": self.path, "bytes": self.bytes, "rows": self.rows,
            "bytes_sha256": self.bytes_sha256, "keys_sha256": self.keys_sha256,
        })
    }

    /// The entry of the log.
    pub fn add(&self, day: Day, now_ms: i64) -> Add {
        Add {
            path: self.path.clone(),
            partition_values: partition(day),
            size: i64::try_from(self.bytes).unwrap_or(i64::MAX),
            modification_time: now_ms,
            data_change: true,
            stats: Some(self.stats.to_string()),
            tags: None,
            deletion_vector: None,
            base_row_id: None,
            default_row_commit_version: None,
            clustering_provider: None,
        }
    }
}

/// Bytes on their way to the store, counted and hashed.
struct Hashed {
    inner: BufWriter,
    digest: Arc<std::sync::Mutex<(Sha256, u64)>>,
}

impl AsyncFileWriter for Hashed {
    fn write(&mut self, bytes: Bytes) -> BoxFuture<'_, ParquetResult<()>> {
        let mut digest = self.digest.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        digest.0.update(&bytes);
        digest.1 += bytes.len() as u64;
        drop(digest);
        AsyncFileWriter::write(&mut self.inner, bytes)
    }

    fn complete(&mut self) -> BoxFuture<'_, ParquetResult<()>> {
        AsyncFileWriter::complete(&mut self.inner)
    }
}

/// Writes one file.
pub struct FileWriter<'a> {
    table: &'a Table,
    path: String,
    writer: AsyncArrowWriter<Hashed>,
    digest: Arc<std::sync::Mutex<(Sha256, u64)>>,
    keys: Sha256,
    rows: u64,
    waiting: Vec<Vec<Value>>,
    stated: BTreeMap<&'static str, (Json, Json)>,
}

impl std::fmt::Debug for FileWriter<'_> {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("FileWriter").field("path", &self.path).finish_non_exhaustive()
    }
}

impl<'a> FileWriter<'a> {
    /// Begins a file of a day.
    ///
    /// # Errors
    /// [`LakeError`] if the writer refuses its properties: a bug.
    pub fn begin(table: &'a Table, day: Day) -> Result<Self, LakeError> {
        let path = format!("{DAY}={day}/{}.parquet", Uuid::now_v7());
        let digest = Arc::new(std::sync::Mutex::new((Sha256::new(), 0)));
        let inner = BufWriter::new(Arc::clone(&table.store), Path::from(path.as_str()));
        let hashed = Hashed { inner, digest: Arc::clone(&digest) };
        let properties = WriterProperties::builder()
            .set_compression(Compression::ZSTD(ZstdLevel::default()))
            .set_created_by(crate::lake::ENGINE.to_owned())
            .set_max_row_group_row_count(Some(ROW_GROUP))
            .build();
        let writer =
            AsyncArrowWriter::try_new(hashed, schema(table.spec.columns), Some(properties))
                .map_err(|error| LakeError::of(&table.name, "beginning a file", &error))?;
        Ok(Self {
            table,
            path,
            writer,
            digest,
            keys: Sha256::new(),
            rows: 0,
            waiting: Vec::new(),
            stated: BTreeMap::new(),
        })
    }

    /// Appends a row.
    ///
    /// # Errors
    /// [`LakeError`] if the store does not take what is full.
    pub async fn push(&mut self, row: Vec<Value>) -> Result<(), LakeError> {
        self.keys.update(key_of(self.table.spec, &row));
        self.keys.update(b"\n");
        self.rows += 1;
        self.state(&row);
        self.waiting.push(row);
        if self.waiting.len() >= BATCH { self.flush().await } else { Ok(()) }
    }

    /// Notes the least and the greatest value of the stated columns.
    fn state(&mut self, row: &[Value]) {
        for (column, cell) in self.table.spec.columns.iter().zip(row) {
            if !STATED.contains(&column.name) {
                continue;
            }
            let (Some(least), Some(most)) = (stated(cell, 0), stated(cell, 999)) else { continue };
            let range =
                self.stated.entry(column.name).or_insert_with(|| (least.clone(), most.clone()));
            if least.as_str() < range.0.as_str() {
                range.0 = least;
            }
            if most.as_str() > range.1.as_str() {
                range.1 = most;
            }
        }
    }

    async fn flush(&mut self) -> Result<(), LakeError> {
        let rows = std::mem::take(&mut self.waiting);
        let failed = |error: &(dyn std::error::Error + 'static)| {
            LakeError::of(&self.table.name, "writing a file", error)
        };
        let batch = rows_into_batch(self.table.spec.columns, &rows).map_err(|e| failed(&e))?;
        let written = self.writer.write(&batch).await;
        written.map_err(|error| LakeError::of(&self.table.name, "writing a file", &error))
    }

    /// Number of rows so far.
    pub const fn rows(&self) -> u64 {
        self.rows
    }

    /// Ends the file and reads it back. Nothing is committed.
    ///
    /// # Errors
    /// [`LakeError`] if it cannot be written, or if what is read is not what was written.
    pub async fn finish(mut self) -> Result<WrittenFile, LakeError> {
        self.flush().await?;
        let ended = self.writer.finish().await;
        ended.map_err(|error| LakeError::of(&self.table.name, "writing a file", &error))?;
        drop(self.writer);
        let (sha, bytes) = {
            let digest = self.digest.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
            digest.clone()
        };
        let range = |of: fn(&(Json, Json)) -> &Json| {
            let each =
                self.stated.iter().map(|(name, range)| ((*name).to_owned(), of(range).clone()));
            each.collect::<serde_json::Map<_, _>>()
        };
        let stats = json!({
            "numRecords": self.rows,
            "minValues": range(|range| &range.0),
            "maxValues": range(|range| &range.1),
            "nullCount": {},
        });
        let written = WrittenFile {
            path: self.path,
            bytes,
            rows: self.rows,
            bytes_sha256: hex(sha),
            keys_sha256: hex(self.keys),
            stats,
        };
        let read = read_back(self.table, &written.path).await?;
        let is_same = read.bytes == written.bytes
            && read.rows == written.rows
            && read.bytes_sha256 == written.bytes_sha256
            && read.keys_sha256 == written.keys_sha256;
        if is_same {
            return Ok(written);
        }
        let told = format!(
            "{} was read back with {} rows and {} bytes, and {} rows and {} bytes were written (or \
             its hash differs); it was not committed",
            written.path, read.rows, read.bytes, written.rows, written.bytes
        );
        Err(LakeError::Content { place: self.table.name.clone(), told })
    }
}

/// The value of a stated column as the log writes it: instants to the millisecond, which is what
/// readers compare with; `up` microseconds more before the finer part goes.
fn stated(cell: &Value, up: i64) -> Option<Json> {
    if let Value::Time(micros) = cell {
        return text_of_micros((micros + up).div_euclid(1000) * 1000).map(Json::from);
    }
    if let Value::Text(text) = cell { Some(Json::from(text.as_str())) } else { None }
}

/// What was read of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReadFile {
    /// Its length, bytes.
    pub bytes: u64,
    /// Its rows.
    pub rows: u64,
    /// SHA-256 of its bytes.
    pub bytes_sha256: String,
    /// SHA-256 of the keys of its rows.
    pub keys_sha256: String,
    /// The keys of its rows, in their order.
    pub keys: Vec<String>,
}

/// Reads a file whole and hashes it.
///
/// # Errors
/// [`LakeError::Content`] if it is missing, cut, or no Parquet.
pub async fn read_back(table: &Table, path: &str) -> Result<ReadFile, LakeError> {
    let (bytes, bytes_sha256) = hash_bytes(table, path).await?;
    let keys = keys(table, path).await?;
    let mut digest = Sha256::new();
    for key in &keys {
        digest.update(key);
        digest.update(b"\n");
    }
    let rows = keys.len() as u64;
    Ok(ReadFile { bytes, rows, bytes_sha256, keys_sha256: hex(digest), keys })
}

async fn hash_bytes(table: &Table, path: &str) -> Result<(u64, String), LakeError> {
    let got = match table.store.get(&Path::from(path)).await {
        Err(object_store::Error::NotFound { .. }) => {
            let told = format!("{path}: the log names this file, and it is not there");
            return Err(LakeError::Content { place: table.name.clone(), told });
        }
        got => got.map_err(|error| LakeError::of(&table.name, "reading a file", &error))?,
    };
    let mut digest = Sha256::new();
    let mut length = 0;
    let mut stream = got.into_stream();
    loop {
        let next = stream.try_next().await;
        let next = next.map_err(|error| LakeError::of(&table.name, "reading a file", &error))?;
        let Some(part) = next else { return Ok((length, hex(digest))) };
        length += part.len() as u64;
        digest.update(&part);
    }
}

/// The keys of a file's rows, in their order.
///
/// # Errors
/// As [`read_back`].
pub async fn keys(table: &Table, path: &str) -> Result<Vec<String>, LakeError> {
    let spec = table.spec;
    let columns: Vec<Column> = spec
        .key
        .iter()
        .filter_map(|name| spec.place(name))
        .map(|place| spec.columns[place])
        .collect();
    let mut keys = Vec::new();
    let mut batches = batches(table, path, &columns).await?;
    loop {
        let next = batches.try_next().await;
        let Some(batch) = next.map_err(|error| broken_file(table, path, &error))? else {
            return Ok(keys);
        };
        let reader = reader(table, path, &columns, &batch)?;
        keys.extend((0..reader.rows).map(|row| key_text(&reader.row(row))));
    }
}

/// A reader of a file's rows; of `columns` those that the file has.
pub type Batches = parquet::arrow::async_reader::ParquetRecordBatchStream<ParquetObjectReader>;

/// Opens a file for reading.
///
/// # Errors
/// As [`read_back`].
pub async fn batches(table: &Table, path: &str, columns: &[Column]) -> Result<Batches, LakeError> {
    let object = ParquetObjectReader::new(Arc::clone(&table.store), Path::from(path));
    let opened = ParquetRecordBatchStreamBuilder::new(object).await;
    let builder = opened.map_err(|error| broken_file(table, path, &error))?;
    let names = columns.iter().map(|column| column.name);
    let mask = ProjectionMask::columns(builder.parquet_schema(), names);
    let built = builder.with_projection(mask).with_batch_size(1024).build();
    built.map_err(|error| broken_file(table, path, &error))
}

/// Whether this program wrote a file: then its rows are sorted by bearing. A compaction keeps no
/// order.
///
/// # Errors
/// As [`read_back`].
pub async fn is_own(table: &Table, path: &str) -> Result<bool, LakeError> {
    let object = ParquetObjectReader::new(Arc::clone(&table.store), Path::from(path));
    let opened = ParquetRecordBatchStreamBuilder::new(object).await;
    let builder = opened.map_err(|error| broken_file(table, path, &error))?;
    let writer = builder.metadata().file_metadata().created_by();
    Ok(writer.is_some_and(|writer| writer.starts_with("pdm-lake/")))
}

/// The rows of a batch, an error of another type by the file's name.
///
/// # Errors
/// [`LakeError::Content`].
pub fn reader<'b>(
    table: &Table,
    path: &str,
    columns: &[Column],
    batch: &'b RecordBatch,
) -> Result<RowReader<'b>, LakeError> {
    RowReader::new(columns, batch).map_err(|told| LakeError::Content {
        place: table.name.clone(),
        told: format!("{path}: {told}"),
    })
}

/// A file that cannot be decoded is broken, unless the way to it is.
pub fn broken_file(
    table: &Table,
    path: &str,
    error: &(dyn std::error::Error + 'static),
) -> LakeError {
    let known = LakeError::of(&table.name, "reading a file", error);
    let LakeError::Failed { place, told, .. } = known else { return known };
    let told = format!("{path} is cut or no Parquet file: {told}. Nothing was changed");
    LakeError::Content { place, told }
}

/// The key of a row as text: identities without hyphens, instants in milliseconds.
pub fn key_of(spec: &TableSpec, row: &[Value]) -> String {
    let cells: Vec<Value> = spec
        .key
        .iter()
        .filter_map(|name| spec.place(name))
        .filter_map(|place| row.get(place).cloned())
        .collect();
    key_text(&cells)
}

fn key_text(cells: &[Value]) -> String {
    let part = |cell: &Value| match cell {
        Value::Text(text) => text.replace('-', ""),
        Value::Int(number) => number.to_string(),
        Value::Time(micros) => micros.div_euclid(1000).to_string(),
        Value::Null
        | Value::Float(_)
        | Value::Bool(_)
        | Value::Floats(_)
        | Value::Ints(_)
        | Value::Texts(_) => String::new(),
    };
    cells.iter().map(part).collect::<Vec<_>>().join("/")
}

fn hex(digest: Sha256) -> String {
    hexadecimal(&digest.finalize())
}

/// Bytes as hexadecimal digits.
pub fn hexadecimal(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let digit = |half: u8| char::from(DIGITS[usize::from(half & 15)]);
    bytes.iter().flat_map(|byte| [digit(byte >> 4), digit(*byte)]).collect()
}
