//! Executor `sql`: one read-only statement over a database that the operator's settings name, or
//! over the tables of the tool's pack.
//!
//! Three independent safeguards, each enough alone: a [`Statement`] is one SELECT without a word
//! that writes (checked when the tool is read); a SQLite file is opened read-only with `query_only`
//! set; a PostgreSQL server runs the statement in a read-only transaction. Time, rows and bytes are
//! limited.

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use pdm_service::postgres::PostgresSettings;
use serde::de::value::MapAccessDeserializer;
use serde::de::{self, Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::{Value, json};
use sqlx::{Arguments as _, SqlitePool};
use tokio::sync::Mutex;

use super::{Failure, Invocation};
use crate::pack::PackData;
use crate::spec::executor::{SqlConfig, SqlPlace, SqlResult};
use crate::spec::statement::Statement;

mod memory;
mod postgres;
mod sqlite;

/// Most bytes of all cells of a result. No data chose it: 10,000 bytes for each of the default
/// limit of 100 rows, a page of text.
const MAX_RESULT_BYTES: usize = 1_000_000;

/// `[tools.databases]`: a SQLite file (`assets = "assets.db"`), or a server
/// (`[tools.databases.cmms]` with the keys of `[store.postgres]`).
#[derive(Debug, Clone, PartialEq)]
pub enum DatabasePlace {
    /// A SQLite file.
    Sqlite(PathBuf),
    /// A PostgreSQL server.
    Postgres(Box<PostgresSettings>),
}

impl DatabasePlace {
    /// Resolves relative paths against `folder`.
    pub(crate) fn root(&mut self, folder: &Path) {
        match self {
            Self::Sqlite(file) => *file = folder.join(&file),
            Self::Postgres(server) => server.root(folder),
        }
    }
}

impl<'de> Deserialize<'de> for DatabasePlace {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct FileOrServer;
        impl<'de> Visitor<'de> for FileOrServer {
            type Value = DatabasePlace;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a SQLite file, or url and password of a PostgreSQL server")
            }

            fn visit_str<E: de::Error>(self, file: &str) -> Result<DatabasePlace, E> {
                Ok(DatabasePlace::Sqlite(file.into()))
            }

            fn visit_map<A: MapAccess<'de>>(self, server: A) -> Result<DatabasePlace, A::Error> {
                PostgresSettings::deserialize(MapAccessDeserializer::new(server))
                    .map(|server| DatabasePlace::Postgres(Box::new(server)))
            }
        }
        deserializer.deserialize_any(FileOrServer)
    }
}

/// The databases that tools may read, by name.
#[derive(Debug, Default)]
pub struct Databases {
    places: BTreeMap<String, DatabasePlace>,
    open: Mutex<BTreeMap<String, Pool>>,
}

#[derive(Debug, Clone)]
enum Pool {
    Sqlite(SqlitePool),
    Postgres(postgres::Server),
}

impl Databases {
    /// Databases from their names and places. A database is opened when a tool first needs it.
    pub fn new(places: BTreeMap<String, DatabasePlace>) -> Self {
        Self { places, open: Mutex::default() }
    }

    async fn pool(&self, name: &str) -> Result<Pool, Failure> {
        let Some(place) = self.places.get(name) else {
            let names = self.places.keys().cloned().collect::<Vec<_>>().join(", ");
            let message = format!("no database {name} in the settings; there are: {names}");
            return Err(Failure::Permanent(message));
        };
        let mut open = self.open.lock().await;
        if let Some(pool) = open.get(name) {
            return Ok(pool.clone());
        }
        let pool = match place {
            DatabasePlace::Sqlite(file) => Pool::Sqlite(sqlite::connect(file).await?),
            DatabasePlace::Postgres(server) => {
                Pool::Postgres(postgres::connect(name, server).await?)
            }
        };
        open.insert(name.to_owned(), pool.clone());
        Ok(pool)
    }

    /// Runs the statement of a tool; `pack` holds the tables of the tool's pack.
    pub(crate) async fn run(
        &self,
        config: &SqlConfig,
        pack: Option<&Arc<PackData>>,
        timeout: Duration,
        invocation: Invocation<'_>,
    ) -> Result<Value, Failure> {
        let pool = match (&config.database, pack) {
            (SqlPlace::Named(name), _) => self.pool(name).await?,
            (SqlPlace::Pack(_), Some(data)) => Pool::Sqlite(memory::connect(data).await?),
            (SqlPlace::Pack(name), None) => {
                return Err(Failure::Permanent(format!("the pack {name} is not turned on")));
            }
        };
        if let Some(refusal) = &config.refuse_if {
            let asked = SqlRequest { statement: refusal, row_limit: 1, timeout };
            let found = pool.run(&asked, invocation).await?;
            if let Some(reason) = found.rows.first().and_then(only_value) {
                let reason = reason.as_str().map_or_else(|| reason.to_string(), str::to_owned);
                return Err(Failure::Permanent(reason));
            }
        }
        let asked =
            SqlRequest { statement: &config.statement, row_limit: config.row_limit, timeout };
        told(pool.run(&asked, invocation).await?, config.result)
    }
}

/// A statement to run once.
struct SqlRequest<'a> {
    statement: &'a Statement,
    row_limit: usize,
    timeout: Duration,
}

impl Pool {
    async fn run(
        &self,
        asked: &SqlRequest<'_>,
        invocation: Invocation<'_>,
    ) -> Result<SqlRows, Failure> {
        match self {
            Self::Sqlite(pool) => sqlite::run(pool, asked, invocation).await,
            Self::Postgres(server) => postgres::run(server, asked, invocation).await,
        }
    }
}

/// The first value of a row.
fn only_value(row: &Value) -> Option<&Value> {
    row.as_object().and_then(|row| row.values().next()).filter(|value| !value.is_null())
}

fn told(found: SqlRows, result: SqlResult) -> Result<Value, Failure> {
    match result {
        SqlResult::Table => Ok(json!({
            "row_count": found.rows.len(),
            "truncated": found.is_cut,
            "rows": found.rows,
        })),
        SqlResult::Rows => Ok(Value::Array(found.rows)),
        SqlResult::Json => {
            let value = found.rows.first().and_then(only_value);
            let text = value.and_then(Value::as_str).unwrap_or("null");
            serde_json::from_str(text)
                .map_err(|error| Failure::Permanent(format!("the statement gave no JSON: {error}")))
        }
    }
}

/// The arguments in the order of the parameters, each with the SQL type of its JSON type; a list is
/// bound as its JSON text.
fn bind<D: sqlx::Database>(
    statement: &Statement,
    invocation: Invocation<'_>,
) -> Result<D::Arguments, Failure>
where
    for<'q> bool: sqlx::Encode<'q, D> + sqlx::Type<D>,
    for<'q> i64: sqlx::Encode<'q, D> + sqlx::Type<D>,
    for<'q> Option<f64>: sqlx::Encode<'q, D> + sqlx::Type<D>,
    for<'q> Option<String>: sqlx::Encode<'q, D> + sqlx::Type<D>,
{
    let mut arguments = D::Arguments::default();
    for name in statement.parameters() {
        let added = match invocation.arguments.get(name) {
            None | Some(Value::Null) => arguments.add(None::<String>),
            Some(Value::Bool(flag)) => arguments.add(*flag),
            Some(Value::String(text)) => arguments.add(Some(text.clone())),
            Some(Value::Number(number)) => match number.as_i64() {
                Some(whole) => arguments.add(whole),
                None => arguments.add(number.as_f64()),
            },
            Some(list @ (Value::Array(_) | Value::Object(_))) => {
                arguments.add(Some(list.to_string()))
            }
        };
        added.map_err(|error| Failure::Permanent(format!("{name}: {error}")))?;
    }
    Ok(arguments)
}

/// Rows of a result, collected up to the limits.
struct SqlRows {
    rows: Vec<Value>,
    bytes: usize,
    row_limit: usize,
    /// More rows were there.
    is_cut: bool,
}

impl SqlRows {
    fn new(row_limit: usize) -> Self {
        Self { rows: Vec::new(), bytes: 0, row_limit, is_cut: false }
    }

    fn is_full(&self) -> bool {
        self.rows.len() == self.row_limit || self.bytes > MAX_RESULT_BYTES
    }

    fn push(&mut self, row: Value, bytes: usize) {
        self.rows.push(row);
        self.bytes += bytes;
    }

    fn cut(self) -> Self {
        Self { is_cut: true, ..self }
    }
}
