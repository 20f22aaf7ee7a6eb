//! Executor `sql`: one read-only statement over a database that the operator's settings name.
//!
//! Three independent safeguards, each enough alone: a [`Statement`] is one SELECT without a word
//! that writes (checked when the tool is read); a SQLite file is opened read-only with `query_only`
//! set; a PostgreSQL server runs the statement in a read-only transaction. Time, rows and bytes are
//! limited.

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use pdm_service::postgres::PostgresSettings;
use serde::de::value::MapAccessDeserializer;
use serde::de::{self, Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::{Value, json};
use sqlx::{Arguments as _, SqlitePool};
use tokio::sync::Mutex;

use super::{Failure, Invocation};
use crate::spec::executor::SqlConfig;

use crate::spec::statement::Statement;

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

    pub(crate) async fn run(
        &self,
        config: &SqlConfig,
        timeout: Duration,
        invocation: Invocation<'_>,
    ) -> Result<Value, Failure> {
        match self.pool(&config.database).await? {
            Pool::Sqlite(pool) => sqlite::run(&pool, config, timeout, invocation).await,
            Pool::Postgres(server) => postgres::run(&server, config, timeout, invocation).await,
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
struct Found {
    rows: Vec<Value>,
    bytes: usize,
    row_limit: usize,
}

impl Found {
    fn new(row_limit: usize) -> Self {
        Self { rows: Vec::new(), bytes: 0, row_limit }
    }

    fn is_full(&self) -> bool {
        self.rows.len() == self.row_limit || self.bytes > MAX_RESULT_BYTES
    }

    fn push(&mut self, row: Value, bytes: usize) {
        self.rows.push(row);
        self.bytes += bytes;
    }

    fn whole(self) -> Value {
        self.told(false)
    }

    fn cut(self) -> Value {
        self.told(true)
    }

    fn told(self, truncated: bool) -> Value {
        json!({ "row_count": self.rows.len(), "rows": self.rows, "truncated": truncated })
    }
}
