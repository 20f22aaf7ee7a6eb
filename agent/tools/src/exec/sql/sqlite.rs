//! A SQLite file, opened read-only. Rows are read and counted one by one, and SQLite interrupts a
//! statement that runs too long.

use std::path::Path;
use std::time::{Duration, Instant};

use futures_util::{Stream, TryStreamExt};
use serde_json::{Map, Value};
use sqlx::sqlite::{SqliteConnectOptions, SqlitePoolOptions, SqliteRow};
use sqlx::{Column, Row, Sqlite, SqlitePool, TypeInfo, ValueRef};

use super::{SqlRequest, SqlRows, bind};
use crate::exec::{Failure, Invocation};

/// Virtual-machine steps between two checks of the clock: a fraction of a millisecond.
const STEPS_BETWEEN_LOOKS: i32 = 1_000;
/// Connections to one file.
const MAX_CONNECTIONS: u32 = 2;

pub(super) async fn connect(file: &Path) -> Result<SqlitePool, Failure> {
    let options = SqliteConnectOptions::new()
        .filename(file)
        .read_only(true)
        .create_if_missing(false)
        .pragma("query_only", "ON")
        .pragma("trusted_schema", "OFF");
    SqlitePoolOptions::new()
        .max_connections(MAX_CONNECTIONS)
        .acquire_timeout(Duration::from_secs(5))
        .connect_with(options)
        .await
        .map_err(|error| Failure::Transient(format!("cannot open {}: {error}", file.display())))
}

pub(super) async fn run(
    pool: &SqlitePool,
    asked: &SqlRequest<'_>,
    invocation: Invocation<'_>,
) -> Result<SqlRows, Failure> {
    let mut connection = pool.acquire().await.map_err(|error| failure(&error))?;
    let deadline = Instant::now() + asked.timeout;
    connection
        .lock_handle()
        .await
        .map_err(|error| failure(&error))?
        .set_progress_handler(STEPS_BETWEEN_LOOKS, move || Instant::now() < deadline);
    let arguments = bind::<Sqlite>(asked.statement, invocation)?;
    // `Statement::read` has checked the text: one SELECT, arguments are bound and never inserted
    let text = sqlx::AssertSqlSafe(asked.statement.text('?'));
    let mut rows = sqlx::query_with(text, arguments).fetch(&mut *connection);
    collect(&mut rows, asked.row_limit).await
}

async fn collect(
    rows: &mut (impl Stream<Item = Result<SqliteRow, sqlx::Error>> + Unpin),
    row_limit: usize,
) -> Result<SqlRows, Failure> {
    let mut found = SqlRows::new(row_limit);
    while let Some(row) = rows.try_next().await.map_err(|error| failure(&error))? {
        if found.is_full() {
            return Ok(found.cut());
        }
        let (row, bytes) = as_object(&row)?;
        found.push(Value::Object(row), bytes);
    }
    Ok(found)
}

fn as_object(row: &SqliteRow) -> Result<(Map<String, Value>, usize), Failure> {
    let mut object = Map::new();
    let mut bytes = 0;
    for (index, column) in row.columns().iter().enumerate() {
        let kind = {
            let raw = row.try_get_raw(index).map_err(|error| failure(&error))?;
            if raw.is_null() { "NULL".to_owned() } else { raw.type_info().name().to_owned() }
        };
        let value = match kind.as_str() {
            "NULL" => Value::Null,
            "INTEGER" | "BOOLEAN" => {
                row.try_get_unchecked::<i64, _>(index).map_err(|error| failure(&error))?.into()
            }
            "REAL" => {
                row.try_get_unchecked::<f64, _>(index).map_err(|error| failure(&error))?.into()
            }
            "BLOB" => {
                let blob: Vec<u8> =
                    row.try_get_unchecked(index).map_err(|error| failure(&error))?;
                format!("(binary, {} bytes)", blob.len()).into()
            }
            _ => row.try_get_unchecked::<String, _>(index).map_err(|error| failure(&error))?.into(),
        };
        bytes += value.as_str().map_or(8, str::len);
        object.insert(column.name().to_owned(), value);
    }
    Ok((object, bytes))
}

/// A locked database and an interrupted statement may succeed at the next attempt; wrong SQL and a
/// refused write never do.
fn failure(error: &sqlx::Error) -> Failure {
    let code = error.as_database_error().and_then(sqlx::error::DatabaseError::code);
    let primary = code.as_deref().and_then(|code| code.parse::<u32>().ok()).map(|code| code & 0xff);
    // SQLite result codes: 5 BUSY, 6 LOCKED, 8 READONLY, 9 INTERRUPT
    match primary {
        Some(9) => Failure::Permanent("the statement ran longer than allowed".to_owned()),
        Some(8) => Failure::Permanent("refused: the database is open for reading only".to_owned()),
        Some(5 | 6) | None => Failure::Transient(error.to_string()),
        Some(_) => Failure::Permanent(error.to_string()),
    }
}
