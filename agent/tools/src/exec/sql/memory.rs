//! The tables of a pack as a SQLite database in memory. Each connection fills its own copy and is
//! read-only from then on.

use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;
use sqlx::sqlite::{SqliteConnectOptions, SqlitePoolOptions};
use sqlx::{SqliteConnection, SqlitePool};

use crate::exec::Failure;
use crate::pack::{Cell, DataTable, PackData};

/// Connections, each with a copy of the tables.
const MAX_CONNECTIONS: u32 = 2;

/// The database of a pack's tables.
pub(super) async fn connect(data: &Arc<PackData>) -> Result<SqlitePool, Failure> {
    let opened = data.database.get_or_try_init(|| open(data)).await;
    opened.cloned().map_err(|error| {
        Failure::Permanent(format!("the data of the pack {} cannot be loaded: {error}", data.pack))
    })
}

async fn open(data: &Arc<PackData>) -> Result<SqlitePool, sqlx::Error> {
    let options = SqliteConnectOptions::new().in_memory(true).pragma("trusted_schema", "OFF");
    // no cycle: the tables are copied, the pool does not hold the pack that holds it
    let tables = Arc::new(data.tables.clone());
    SqlitePoolOptions::new()
        .max_connections(MAX_CONNECTIONS)
        .min_connections(0)
        .idle_timeout(None)
        .max_lifetime(None)
        .acquire_timeout(Duration::from_secs(5))
        .after_connect(move |connection, _| {
            let tables = Arc::clone(&tables);
            Box::pin(async move {
                for (name, table) in tables.iter() {
                    fill(connection, name, table).await?;
                }
                sqlx::query("PRAGMA query_only = ON").execute(connection).await?;
                Ok(())
            })
        })
        .connect_with(options)
        .await
}

/// Names of tables and columns are plain words: the reader of packs refuses all others. The rows go
/// in with one statement as JSON, because a statement a row takes seconds for thousands of rows.
async fn fill(
    connection: &mut SqliteConnection,
    name: &str,
    table: &DataTable,
) -> Result<(), sqlx::Error> {
    let columns: Vec<String> = table
        .columns
        .iter()
        .map(|(column, kind)| format!("\"{column}\" {}", kind.in_sqlite()))
        .collect();
    let create = format!("CREATE TABLE \"{name}\" ({}) STRICT", columns.join(", "));
    sqlx::query(sqlx::AssertSqlSafe(create)).execute(&mut *connection).await?;
    let values: Vec<String> = (0..columns.len()).map(|at| format!("value ->> {at}")).collect();
    let insert = format!("INSERT INTO \"{name}\" SELECT {} FROM json_each(?)", values.join(", "));
    let rows: Value =
        table.rows.iter().map(|row| row.iter().map(json).collect::<Value>()).collect();
    sqlx::query(sqlx::AssertSqlSafe(insert)).bind(rows.to_string()).execute(connection).await?;
    Ok(())
}

fn json(cell: &Cell) -> Value {
    match cell {
        Cell::Null => Value::Null,
        Cell::Text(text) => text.as_str().into(),
        Cell::Integer(number) => (*number).into(),
        Cell::Real(number) => (*number).into(),
        Cell::Boolean(is) => u8::from(*is).into(),
    }
}
