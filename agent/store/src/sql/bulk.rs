//! Many rows of one table at once, in the form that is fast in each database: arrays of columns in
//! PostgreSQL, rows of parameters in SQLite.

use std::collections::HashSet;
use std::sync::LazyLock;

use pdm_shared::event::Event;
use pdm_shared::id::{BearingKey, EventId};
use pdm_shared::time::Timestamp;
use pdm_shared::trace::TraceStep;

use crate::database::{Connection, Dialect, Numbers, Spelt};
use crate::encoding::MemoryRow;
use crate::sql::postgres::bulk as postgres;
use crate::sql::sqlite::bulk as sqlite;
use crate::{Judged, Outgoing, StoreError};

/// Parameter: arrivals.
static SET_ASIDE: LazyLock<Spelt> = LazyLock::new(|| {
    Spelt::each(|dialect| {
        let these = dialect.in_numbers("$1");
        match dialect {
            Dialect::Sqlite => format!("UPDATE events SET judged = 1 WHERE arrival {these}"),
            Dialect::Postgres => format!("DELETE FROM events_unjudged WHERE arrival {these}"),
        }
    })
});

/// Inserts events; tells of each whether it is new.
pub(super) async fn insert_events(
    connection: &mut Connection<'_>,
    events: &[(&Event, &str)],
    now: Timestamp,
) -> Result<Vec<bool>, StoreError> {
    match connection {
        Connection::Sqlite(file) => sqlite::insert_events(file, events, now).await,
        Connection::Postgres(server) => postgres::insert_events(server, events, now).await,
    }
}

/// Takes events off the list of those that wait for a judgement.
pub(super) async fn mark_judged(
    connection: &mut Connection<'_>,
    judged: &[(&BearingKey, &Judged)],
) -> Result<(), StoreError> {
    match connection {
        Connection::Sqlite(file) => sqlite::mark_judged(file, judged).await,
        Connection::Postgres(server) => postgres::mark_judged(server, judged).await,
    }
}

/// Takes events that cannot be read off the list of those that wait for a judgement.
pub(crate) async fn set_aside(
    connection: &mut Connection<'_>,
    arrivals: &[i64],
) -> Result<(), StoreError> {
    let these: Numbers = arrivals.iter().copied().collect();
    connection.query(&SET_ASIDE).bind(these).execute().await?;
    Ok(())
}

/// Inserts judgements; tells which are the first of their event.
pub(super) async fn insert_judgements(
    connection: &mut Connection<'_>,
    rows: &[MemoryRow<'_>],
) -> Result<HashSet<EventId>, StoreError> {
    match connection {
        Connection::Sqlite(file) => sqlite::insert_judgements(file, rows).await,
        Connection::Postgres(server) => postgres::insert_judgements(server, rows).await,
    }
}

/// Inserts steps of runs; a step that is stored stays as it is.
pub(super) async fn insert_steps(
    connection: &mut Connection<'_>,
    steps: &[(EventId, &TraceStep)],
) -> Result<(), StoreError> {
    match connection {
        Connection::Sqlite(file) => sqlite::insert_steps(file, steps).await,
        Connection::Postgres(server) => postgres::insert_steps(server, steps).await,
    }
}

/// Inserts rows of the outbox in their order; the same idempotency key again changes nothing.
pub(super) async fn insert_outbox(
    connection: &mut Connection<'_>,
    rows: &[(&Outgoing, Timestamp)],
) -> Result<(), StoreError> {
    match connection {
        Connection::Sqlite(file) => sqlite::insert_outbox(file, rows).await,
        Connection::Postgres(server) => postgres::insert_outbox(server, rows).await,
    }
}
