//! The tables of a pack as a SQLite database in memory. Each connection fills its own copy and is
//! read-only from then on.

use std::sync::Arc;
use std::time::Duration;

use sqlx::sqlite::{SqliteConnectOptions, SqlitePoolOptions};
use sqlx::{Arguments as _, Connection as _, SqliteConnection, SqlitePool};

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

/// Names of tables and columns are plain words: the reader of packs refuses all others.
async fn fill(
    connection: &mut SqliteConnection,
    name: &str,
    table: &DataTable,
) -> Result<(), sqlx::Error> {
    let columns: Vec<String> = table
        .columns
        .iter()
        .map(|(column, kind)| format!("\"{column}\" {}", kind.name()))
        .collect();
    let places = vec!["?"; columns.len()].join(", ");
    let create = format!("CREATE TABLE \"{name}\" ({}) STRICT", columns.join(", "));
    let insert = format!("INSERT INTO \"{name}\" VALUES ({places})");
    let mut transaction = connection.begin().await?;
    sqlx::query(sqlx::AssertSqlSafe(create)).execute(&mut *transaction).await?;
    for row in &table.rows {
        let mut arguments = sqlx::sqlite::SqliteArguments::default();
        for cell in row {
            let added = match cell {
                Cell::Null => arguments.add(None::<String>),
                Cell::Text(text) => arguments.add(text.clone()),
                Cell::Integer(number) => arguments.add(*number),
                Cell::Real(number) => arguments.add(*number),
            };
            added.map_err(sqlx::Error::Encode)?;
        }
        let text = sqlx::AssertSqlSafe(insert.clone());
        sqlx::query_with(text, arguments).execute(&mut *transaction).await?;
    }
    transaction.commit().await
}
