//! The sequences of row numbers, which a logical replication and some restores leave behind their
//! tables: the next row then gets a number that another one has, and the server refuses it.
//!
//! They are set forward at every start and by `pdm-agent migrate`, never back: another replica may
//! be ahead.

use sqlx::{AssertSqlSafe, PgConnection, PgPool, Row as _};

use crate::{StoreError, log};

/// Each table with a numbered column, and the sequence of that. `arrivals` belongs to no column.
const SEQUENCES: &str = "SELECT c.table_name::text, c.column_name::text,
            pg_get_serial_sequence(quote_ident(c.table_name), c.column_name)
     FROM information_schema.columns AS c
     WHERE c.table_schema = current_schema() AND c.is_identity = 'YES'
     ORDER BY 1, 2";

/// Sets sequences forward that are behind their tables.
pub(super) async fn mend(pool: &PgPool) -> Result<(), StoreError> {
    let mut connection = pool.acquire().await?;
    let rows = sqlx::query(SEQUENCES).fetch_all(&mut *connection).await?;
    for row in rows {
        let (table, column): (String, String) = (row.try_get(0)?, row.try_get(1)?);
        let Some(sequence) = row.try_get::<Option<String>, _>(2)? else { continue };
        let highest = format!("SELECT max({column}) FROM {table}");
        set_forward(&mut connection, &sequence, &highest).await?;
    }
    // the newest event has one of the highest arrivals; all of them are looked through only where
    // it is ahead
    let newest = "SELECT arrival FROM events ORDER BY event_id DESC LIMIT 1";
    if is_behind(&mut connection, "arrivals", newest).await? {
        let highest = "SELECT greatest((SELECT max(arrival) FROM events),
                                       (SELECT max(arrival) FROM events_unjudged))";
        set_forward(&mut connection, "arrivals", highest).await?;
    }
    Ok(())
}

/// Whether a sequence has not reached what `highest` selects. The names are those of the schema.
async fn is_behind(
    connection: &mut PgConnection,
    sequence: &str,
    highest: &str,
) -> Result<bool, StoreError> {
    let sql = format!(
        "SELECT coalesce(({highest}) > last_value OR (({highest}) = last_value AND NOT is_called), \
         false)
         FROM {sequence}"
    );
    let row = sqlx::query(AssertSqlSafe(sql)).fetch_one(connection).await?;
    Ok(row.try_get(0)?)
}

async fn set_forward(
    connection: &mut PgConnection,
    sequence: &str,
    highest: &str,
) -> Result<(), StoreError> {
    if !is_behind(connection, sequence, highest).await? {
        return Ok(());
    }
    let sql = format!("SELECT setval('{sequence}', ({highest}))");
    let row = sqlx::query(AssertSqlSafe(sql)).fetch_one(connection).await?;
    log::sequence_set_forward(sequence, row.try_get(0)?);
    Ok(())
}
