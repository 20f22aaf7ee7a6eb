//! The agent's store, read: a SQLite file or a PostgreSQL server.
//!
//! The rows are read here and not by `pdm-store`: its handles give typed events and leave out rows
//! that they cannot read, where an archive takes every row as it is; opening a store there brings
//! its tables up to the program's version, which an archiver must never do; and it brings the
//! pages, the language model's client and the graph into the build. The statements name columns of
//! the migrations in `agent/store/migrations`; the lane runs them on tables that `pdm-agent
//! migrate` made, in both databases (`test_export.py`, `test_postgres.py`).
//!
//! Invariant: nothing is written to a store.

use std::collections::BTreeMap;
use std::path::Path;

use futures_util::TryStreamExt as _;
use futures_util::stream::BoxStream;
use pdm_service::postgres::{PostgresSettings, options};
use pdm_service::secret::SecretSource;
use pdm_shared::event::EVENT_SCHEMA;
use sha2::{Digest as _, Sha256};
use sqlx::postgres::{PgPool, PgPoolOptions};
use sqlx::sqlite::{SqliteConnectOptions, SqlitePool, SqlitePoolOptions};
use sqlx::{AssertSqlSafe, Row as _};

use crate::day::{DAY_MS, Day};
use crate::error::LakeError;
use crate::event;
use crate::file::hexadecimal;
use crate::record::Seen;
use crate::table::{RowSource, TableSpec};
use crate::value::{ColumnKind, Value};

/// An agent's store.
#[derive(Debug, Clone)]
pub struct Source {
    /// The store as messages name it, without a password.
    pub name: String,
    database: Database,
}

#[derive(Debug, Clone)]
enum Database {
    Sqlite(SqlitePool),
    Postgres(PgPool),
}

/// A row of a table, and the place of it in the order of arrival.
pub type SourceRow = Vec<Value>;

impl Source {
    /// Opens a store: `sqlite://FILE`, a file, or `postgres://…`.
    ///
    /// # Errors
    /// [`LakeError`]: no such file, a server that does not answer or refuses the login.
    pub async fn open(address: &str, password: Option<&Path>) -> Result<Self, LakeError> {
        let is_server = address.starts_with("postgres://") || address.starts_with("postgresql://");
        if is_server {
            return Self::server(address, password).await;
        }
        let file = address.strip_prefix("sqlite://").unwrap_or(address);
        if let Some((scheme, _)) = file.split_once("://") {
            let told =
                format!("{scheme}:// is no store; sqlite://FILE or postgres://USER@HOST/DATABASE");
            return Err(LakeError::Version { place: address.to_owned(), told });
        }
        if !Path::new(file).is_file() {
            let told = "there is no such file".to_owned();
            return Err(LakeError::Failed {
                place: address.to_owned(),
                doing: "opening the store",
                told,
            });
        }
        let options = SqliteConnectOptions::new().filename(file).read_only(true);
        let pool = SqlitePoolOptions::new().max_connections(2).connect_with(options).await;
        let pool = pool.map_err(|error| LakeError::of(file, "opening the store", &error))?;
        let source = Self { name: file.to_owned(), database: Database::Sqlite(pool) };
        source.is_store().await?;
        Ok(source)
    }

    async fn server(address: &str, password: Option<&Path>) -> Result<Self, LakeError> {
        let mut settings = PostgresSettings::at(address);
        settings.password = password.map(|file| SecretSource::File(file.to_owned()));
        let without = url::Url::parse(address).map_or_else(
            |_no_address| "postgres://…".to_owned(),
            |mut url| {
                // an address without a user takes no password either
                let _none = url.set_password(None);
                url.to_string()
            },
        );
        let options = options(&settings).map_err(|error| LakeError::Version {
            place: without.clone(),
            told: error.to_string(),
        })?;
        let pool = PgPoolOptions::new().max_connections(2).connect_with(options).await;
        let pool = pool.map_err(|error| LakeError::of(&without, "opening the store", &error))?;
        let source = Self { name: without, database: Database::Postgres(pool) };
        source.is_store().await?;
        Ok(source)
    }

    async fn is_store(&self) -> Result<(), LakeError> {
        self.identity().await.map(|_identity| ())
    }

    /// What the store is known by, wherever its file lies: when its tables were made, and how long
    /// that took, to the nanosecond, as its list of migrations says.
    ///
    /// # Errors
    /// [`LakeError::Content`] if it is no store of an agent.
    pub async fn identity(&self) -> Result<String, LakeError> {
        let sql = "SELECT CAST(installed_on AS TEXT) || '/' || CAST(execution_time AS TEXT) AS made
                   FROM _sqlx_migrations ORDER BY version LIMIT 1";
        let made: Result<Option<String>, sqlx::Error> = match &self.database {
            Database::Sqlite(pool) => sqlx::query_scalar(sql).fetch_optional(pool).await,
            Database::Postgres(pool) => sqlx::query_scalar(sql).fetch_optional(pool).await,
        };
        match made {
            Ok(Some(made)) => {
                let digest = Sha256::digest(made.as_bytes());
                Ok(hexadecimal(digest.get(..8).unwrap_or_default()))
            }
            Ok(None) => Err(self.no_store("its list of migrations is empty")),
            Err(sqlx::Error::Database(error)) if is_no_store(error.message()) => {
                Err(self.no_store(error.message()))
            }
            Err(error) => Err(self.failed(&error)),
        }
    }

    fn no_store(&self, told: &str) -> LakeError {
        let told = format!("not a store of pdm-agent: {told}");
        LakeError::Content { place: self.name.clone(), told }
    }

    fn failed(&self, error: &sqlx::Error) -> LakeError {
        let doing = "reading the store";
        let sqlx::Error::Database(of_database) = error else {
            return LakeError::of(&self.name, doing, error);
        };
        let (place, told) = (self.name.clone(), of_database.message());
        if told.contains("readonly database") || told.contains("unable to open") {
            let told = format!(
                "{told}; SQLite notes its readers in the store's folder, so run pdm-lake as the \
                 agent's user"
            );
            return LakeError::Denied { place, doing, told };
        }
        let is_other = ["no such column", "no such table", "does not exist"];
        let told = if is_other.iter().any(|word| told.contains(word)) {
            format!("{told}: the store is of another version of pdm-agent than this pdm-lake knows")
        } else {
            told.to_owned()
        };
        LakeError::Failed { place, doing, told }
    }

    const fn dialect(&self) -> Dialect {
        match self.database {
            Database::Sqlite(_) => Dialect::Sqlite,
            Database::Postgres(_) => Dialect::Postgres,
        }
    }

    /// What the store has of each day, of the rows that are final.
    ///
    /// # Errors
    /// [`LakeError`] if the store does not answer.
    pub async fn days(&self, spec: &TableSpec) -> Result<BTreeMap<Day, Seen>, LakeError> {
        let (at, last) = (spec.sql_at_ms, spec.sql_last);
        let from = spec.sql_from;
        let sql = format!(
            "SELECT CAST({at} / {DAY_MS} AS BIGINT) AS day, CAST(COUNT(*) AS BIGINT) AS many,
                    CAST(MAX({last}) AS BIGINT) AS last {from} GROUP BY 1 ORDER BY 1"
        );
        let rows: Result<Vec<(i64, i64, i64)>, sqlx::Error> = match &self.database {
            Database::Sqlite(pool) => sqlx::query_as(AssertSqlSafe(sql)).fetch_all(pool).await,
            Database::Postgres(pool) => sqlx::query_as(AssertSqlSafe(sql)).fetch_all(pool).await,
        };
        let rows = rows.map_err(|error| self.failed(&error))?;
        let seen = |(day, rows, last)| Some((Day::of_number(day)?, Seen { rows, last }));
        Ok(rows.into_iter().filter_map(seen).collect())
    }

    /// The keys of a day's final rows.
    ///
    /// # Errors
    /// [`LakeError`] if the store does not answer.
    pub async fn keys(&self, spec: &TableSpec, day: Day) -> Result<Vec<String>, LakeError> {
        let key = self.dialect().key(spec);
        let sql = format!("SELECT {key} AS k {}", within(spec));
        let (from, to) = (day.begin_ms(), day.end_ms());
        let sql = AssertSqlSafe(sql);
        let keys: Result<Vec<String>, sqlx::Error> = match &self.database {
            Database::Sqlite(pool) => {
                sqlx::query_scalar(sql).bind(from).bind(to).fetch_all(pool).await
            }
            Database::Postgres(pool) => {
                sqlx::query_scalar(sql).bind(from).bind(to).fetch_all(pool).await
            }
        };
        keys.map_err(|error| self.failed(&error))
    }

    /// The final rows of a day, by bearing and time, as cells of the table. An event that has no
    /// spectra is none of theirs.
    pub fn rows<'a>(
        &'a self,
        spec: &'static TableSpec,
        day: Day,
    ) -> BoxStream<'a, Result<SourceRow, LakeError>> {
        let dialect = self.dialect();
        let columns = match spec.source {
            RowSource::Events | RowSource::Spectra => "payload".to_owned(),
            RowSource::Columns => {
                let each = spec.columns.iter().map(|column| dialect.cell(column.kind, column.from));
                each.collect::<Vec<_>>().join(", ")
            }
        };
        let sql = AssertSqlSafe(format!(
            "SELECT {columns} {} ORDER BY site, equipment_id, bearing_id, {}",
            within(spec),
            spec.sql_order
        ));
        let (from, to) = (day.begin_ms(), day.end_ms());
        let failed = |error| self.failed(&error);
        let cells = move |cells: Result<Vec<Value>, sqlx::Error>| cells.map_err(failed);
        match &self.database {
            Database::Sqlite(pool) => Box::pin(
                sqlx::query(sql)
                    .bind(from)
                    .bind(to)
                    .fetch(pool)
                    .map_err(failed)
                    .and_then(move |row| std::future::ready(cells(sqlite_cells(spec, &row))))
                    .try_filter_map(move |row| std::future::ready(self.made(spec, row))),
            ),
            Database::Postgres(pool) => Box::pin(
                sqlx::query(sql)
                    .bind(from)
                    .bind(to)
                    .fetch(pool)
                    .map_err(failed)
                    .and_then(move |row| std::future::ready(cells(postgres_cells(spec, &row))))
                    .try_filter_map(move |row| std::future::ready(self.made(spec, row))),
            ),
        }
    }

    /// The cells of the table from those of the statement.
    fn made(&self, spec: &TableSpec, row: Vec<Value>) -> Result<Option<Vec<Value>>, LakeError> {
        if spec.source == RowSource::Columns {
            return Ok(Some(row));
        }
        let payload = row.first().map_or("", Value::as_text);
        event_row(spec, payload)
            .map_err(|told| LakeError::Content { place: self.name.clone(), told })
    }
}

/// Whether a database says that it has no tables of an agent.
fn is_no_store(told: &str) -> bool {
    ["no such table", "not a database", "does not exist"].iter().any(|word| told.contains(word))
}

/// The row of an event's JSON; `None` of an event without spectra in their table.
///
/// # Errors
/// Why the text is no event.
pub fn event_row(spec: &TableSpec, payload: &str) -> Result<Option<Vec<Value>>, String> {
    let mut json: serde_json::Value = serde_json::from_str(payload)
        .map_err(|error| format!("an event is no JSON ({error}); it is left where it is"))?;
    if !json.is_object() {
        return Err("an event is no JSON object; it is left where it is".to_owned());
    }
    if spec.source == RowSource::Events {
        // the same in every row, and put back by who reads
        if json.get("schema").and_then(serde_json::Value::as_str) == Some(EVENT_SCHEMA) {
            json["schema"] = serde_json::Value::Null;
        }
        if let Some(spectra) = json.get_mut("spectra") {
            *spectra = serde_json::Value::Null;
        }
        return Ok(Some(event::cells(spec.columns, json)));
    }
    let Some(spectra) =
        json.get_mut("spectra").map(serde_json::Value::take).filter(serde_json::Value::is_object)
    else {
        return Ok(None);
    };
    let mut only = serde_json::Map::new();
    for name in ["site", "equipment_id", "bearing_id", "measured_at", "event_id"] {
        only.insert(name.to_owned(), json.get(name).cloned().unwrap_or_default());
    }
    only.insert("spectra".to_owned(), spectra);
    Ok(Some(event::cells(spec.columns, serde_json::Value::Object(only))))
}

/// FROM and WHERE of a day; parameters: from, to, ms.
fn within(spec: &TableSpec) -> String {
    let joined = if spec.sql_from.contains(" WHERE ") { "AND" } else { "WHERE" };
    format!("{} {joined} {at} >= $1 AND {at} < $2", spec.sql_from, at = spec.sql_at_ms)
}

/// How the databases spell things.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Dialect {
    Sqlite,
    Postgres,
}

impl Dialect {
    /// An identity as 32 hexadecimal digits.
    fn id(self, column: &str) -> String {
        match self {
            Self::Sqlite => format!("lower(hex({column}))"),
            Self::Postgres => format!("replace(CAST({column} AS TEXT), '-', '')"),
        }
    }

    fn text(self, from: &str) -> String {
        match from.strip_prefix("ID ") {
            Some(column) => self.id(column),
            None => format!("CAST({from} AS TEXT)"),
        }
    }

    fn key(self, spec: &TableSpec) -> String {
        let parts: Vec<String> = spec.sql_key.iter().map(|part| self.text(part)).collect();
        parts.join(" || '/' || ")
    }

    fn cell(self, kind: ColumnKind, from: &str) -> String {
        match kind {
            ColumnKind::Int | ColumnKind::Time => format!("CAST({from} AS BIGINT)"),
            ColumnKind::Float => format!("CAST({from} AS DOUBLE PRECISION)"),
            // a boolean is no whole number in PostgreSQL until it is one of 32 bits
            ColumnKind::Bool => format!("CAST(CAST({from} AS INTEGER) AS BIGINT)"),
            ColumnKind::Text | ColumnKind::Floats | ColumnKind::Ints | ColumnKind::Texts => {
                self.text(from)
            }
        }
    }
}

macro_rules! cells_of {
    ($name:ident, $row:ty) => {
        fn $name(spec: &TableSpec, row: &$row) -> Result<Vec<Value>, sqlx::Error> {
            if spec.source != RowSource::Columns {
                return Ok(vec![Value::Text(row.try_get(0)?)]);
            }
            let mut cells = Vec::with_capacity(spec.columns.len());
            for (place, column) in spec.columns.iter().enumerate() {
                let number = || row.try_get::<Option<i64>, _>(place);
                let cell = match column.kind {
                    ColumnKind::Int => number()?.map(Value::Int),
                    ColumnKind::Time => number()?.map(|ms| Value::Time(ms.saturating_mul(1000))),
                    ColumnKind::Bool => number()?.map(|is| Value::Bool(is != 0)),
                    ColumnKind::Float => row.try_get::<Option<f64>, _>(place)?.map(Value::Float),
                    _ => row
                        .try_get::<Option<String>, _>(place)?
                        .map(|text| Value::Text(hyphened(column.from, text))),
                };
                cells.push(cell.unwrap_or(Value::Null));
            }
            Ok(cells)
        }
    };
}
cells_of!(sqlite_cells, sqlx::sqlite::SqliteRow);
cells_of!(postgres_cells, sqlx::postgres::PgRow);

/// An identity in the form of events; other texts as they are.
fn hyphened(from: &str, text: String) -> String {
    if !from.starts_with("ID ") {
        return text;
    }
    uuid::Uuid::parse_str(&text).map_or(text, |id| id.to_string())
}
