//! The partitions of `events`, one a week: made ahead, or when an event of that week comes; dropped
//! whole.
//!
//! Invariant: an event always finds a partition. The default partition takes the events of a week
//! that has none yet and those whose time cannot be true; when a week's partition is made, its rows
//! move there.

use std::collections::BTreeSet;

use pdm_shared::time::Timestamp;
use sqlx::{AssertSqlSafe, PgConnection};
use tokio::sync::Mutex;
use uuid::Uuid;

use super::Postgres;
use crate::database::{Lock, value_of};
use crate::sql::days::Reached;
use crate::{StoreError, log};

/// One partition is one week: the 90 days kept by default are 13 partitions, and an event is kept
/// for at most a week too long.
const WEEK_MS: i64 = 7 * 24 * 3600 * 1000;
/// Weeks made ahead of the present one, so that a gateway whose clock is days ahead still finds the
/// partition of its events.
const AHEAD: i64 = 2;
/// 2020-01-01. An earlier time cannot be true: it is before the first version of this program.
const EARLIEST_MS: i64 = 1_577_836_800_000;

/// A week since 1970-01-01.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Week(i64);

impl Week {
    pub(super) fn of(at: Timestamp) -> Self {
        Self(at.unix_ms().div_euclid(WEEK_MS))
    }

    /// The week of an event; `None` if the time in its identity cannot be true.
    pub(super) fn of_event(id: Uuid, now: Timestamp) -> Option<Self> {
        let ms = i64::try_from(id.as_u128() >> 80).ok()?;
        let week = Self(ms.div_euclid(WEEK_MS));
        (ms >= EARLIEST_MS && week.0 <= Self::of(now).0 + AHEAD).then_some(week)
    }

    /// The week whose partition has this name.
    fn named(table: &str) -> Option<Self> {
        let day = table.strip_prefix("events_")?.replace('_', "-");
        let at = Timestamp::parse(&format!("{day}T00:00:00Z")).ok()?;
        Some(Self::of(at)).filter(|week| week.table() == table)
    }

    fn start(self) -> Uuid {
        let ms = u128::try_from(self.0 * WEEK_MS).unwrap_or(0);
        Uuid::from_u128(ms << 80)
    }

    fn end(self) -> Uuid {
        Self(self.0 + 1).start()
    }

    /// The partition's name: the day the week begins.
    fn table(self) -> String {
        let day = Timestamp::from_unix_ms(self.0 * WEEK_MS)
            .map_or_else(|| self.0.to_string(), |at| at.to_string().chars().take(10).collect());
        format!("events_{}", day.replace('-', "_"))
    }
}

/// Weeks whose partitions are known to exist.
#[derive(Debug, Default)]
pub(super) struct Weeks(Mutex<BTreeSet<Week>>);

/// Makes the partitions of the present week and those after it.
pub(super) async fn make_ahead(store: &Postgres, now: Timestamp) -> Result<(), StoreError> {
    let Week(present) = Week::of(now);
    make(store, (present..=present + AHEAD).map(Week).collect()).await
}

/// Makes the partitions of these weeks that do not exist.
pub(super) async fn make(store: &Postgres, weeks: BTreeSet<Week>) -> Result<(), StoreError> {
    let mut known = store.weeks.0.lock().await;
    for week in weeks {
        if !known.contains(&week) {
            let mut transaction = store.pool.begin().await?;
            make_one(&mut transaction, week).await?;
            transaction.commit().await?;
            known.insert(week);
        }
    }
    Ok(())
}

async fn make_one(connection: &mut PgConnection, week: Week) -> Result<(), StoreError> {
    one_at_a_time(connection).await?;
    let table = week.table();
    if is_there(connection, &table).await? {
        return Ok(());
    }
    let (start, end) = (week.start(), week.end());
    // not CREATE … PARTITION OF, which locks `events` against every reader and writer
    for statement in [
        format!("CREATE TABLE {table} (LIKE events INCLUDING ALL)"),
        format!(
            "WITH moved AS (DELETE FROM events_default
                            WHERE event_id >= '{start}' AND event_id < '{end}' RETURNING *)
             INSERT INTO {table} SELECT * FROM moved"
        ),
        format!(
            "ALTER TABLE events ATTACH PARTITION {table} FOR VALUES FROM ('{start}') TO ('{end}')"
        ),
    ] {
        // the text holds a table's name made of a date, and two UUIDs: nothing that came in
        sqlx::raw_sql(AssertSqlSafe(statement)).execute(&mut *connection).await?;
    }
    log::partition_made(&table);
    Ok(())
}

/// Drops the partitions of past weeks whose events all arrived up to `reached` and are judged;
/// deletes such rows of the default partition. Tells how many rows are gone, and whether there may
/// be more.
pub(super) async fn drop_reached(
    store: &Postgres,
    reached: &Reached,
    now: Timestamp,
    limit: u32,
) -> Result<(u64, bool), StoreError> {
    let rows = sqlx::query(
        "SELECT child.relname::text FROM pg_inherits
         JOIN pg_class child ON child.oid = inhrelid
         WHERE inhparent = to_regclass('events') AND child.relname <> 'events_default'
         ORDER BY 1",
    )
    .fetch_all(&store.pool)
    .await?;
    let mut gone = 0;
    for row in &rows {
        if let Some(week) = Week::named(value_of(row, 0)?).filter(|week| *week < Week::of(now)) {
            // checked without a lock first and again under it, so that a partition that stays costs
            // readers and writers no wait
            let mut connection = store.pool.acquire().await?;
            let may_go = may_go(&mut connection, week, reached).await?;
            drop(connection);
            if may_go {
                gone += drop_one(store, week, reached).await?;
            }
        }
    }
    let strays = sqlx::query(
        "DELETE FROM events_default WHERE event_id IN (
             SELECT event_id FROM events_default stray WHERE arrival <= $1
               AND NOT EXISTS (SELECT 1 FROM events_unjudged waiting
                               WHERE waiting.event_id = stray.event_id)
             LIMIT $2)",
    )
    .bind(reached.arrival)
    .bind(i64::from(limit))
    .execute(&store.pool)
    .await?
    .rows_affected();
    Ok((gone + strays, strays >= u64::from(limit)))
}

/// Whether no event of this week arrived later than `reached` or waits for its judgement. The
/// gateway's clock decides the week of an event, so the partition of a week long past may hold a
/// recent one.
async fn may_go(
    connection: &mut PgConnection,
    week: Week,
    reached: &Reached,
) -> Result<bool, StoreError> {
    // the text holds a table's name made of a date
    let statement = format!(
        "SELECT NOT EXISTS (SELECT 1 FROM {} WHERE arrival > $1)
            AND NOT EXISTS (SELECT 1 FROM events_unjudged WHERE event_id >= $2 AND event_id < $3)",
        week.table()
    );
    let query = sqlx::query(AssertSqlSafe(statement)).bind(reached.arrival);
    let row = query.bind(week.start()).bind(week.end()).fetch_one(connection).await?;
    value_of(&row, 0)
}

async fn drop_one(store: &Postgres, week: Week, reached: &Reached) -> Result<u64, StoreError> {
    let table = week.table();
    // held until the partition is gone: `make` must not find the week among the known ones
    // meanwhile
    let mut known = store.weeks.0.lock().await;
    let mut transaction = store.pool.begin().await?;
    one_at_a_time(&mut transaction).await?;
    // after 2 s the lock is given up, as readers and writers queue behind it; the next look, an
    // hour later, tries again
    sqlx::raw_sql("SET LOCAL lock_timeout = '2s'; LOCK TABLE events IN ACCESS EXCLUSIVE MODE")
        .execute(&mut *transaction)
        .await?;
    if !is_there(&mut transaction, &table).await?
        || !may_go(&mut transaction, week, reached).await?
    {
        return Ok(0);
    }
    let query = sqlx::query(
        "SELECT greatest(reltuples, 0)::bigint FROM pg_class WHERE oid = to_regclass($1)",
    );
    let rows: i64 = value_of(&query.bind(&table).fetch_one(&mut *transaction).await?, 0)?;
    // the text holds a table's name made of a date
    sqlx::raw_sql(AssertSqlSafe(format!("DROP TABLE {table}"))).execute(&mut *transaction).await?;
    transaction.commit().await?;
    known.remove(&week);
    log::partition_dropped(&table, rows);
    Ok(rows.unsigned_abs())
}

async fn one_at_a_time(connection: &mut PgConnection) -> Result<(), StoreError> {
    sqlx::query("SELECT pg_advisory_xact_lock($1, 0)")
        .bind(Lock::Partitions.class())
        .execute(connection)
        .await?;
    Ok(())
}

async fn is_there(connection: &mut PgConnection, table: &str) -> Result<bool, StoreError> {
    let query = sqlx::query("SELECT to_regclass($1) IS NOT NULL");
    value_of(&query.bind(table).fetch_one(connection).await?, 0)
}

#[cfg(test)]
mod tests {
    use pdm_shared::id::EventId;

    use super::*;

    fn at(ms: i64) -> Timestamp {
        Timestamp::from_unix_ms(ms).expect("in range")
    }

    #[test]
    fn an_events_identity_lies_in_the_bounds_of_its_week() {
        let now = at(1_795_238_000_000);
        for ms in [now.unix_ms(), now.unix_ms() / WEEK_MS * WEEK_MS, EARLIEST_MS] {
            let id = EventId::at(ms).0;
            let week = Week::of_event(id, now).expect("a time that can be true");
            assert!(week.start() <= id && id < week.end(), "{ms}");
            assert_eq!(week, Week::of(at(ms)));
        }
        assert_eq!(Week::of(now).table(), "events_2026_11_19");
        assert_eq!(Week::named("events_2026_11_19"), Some(Week::of(now)));
        assert_eq!(Week::named("events_2026_11_20"), None, "no week begins then");
        assert_eq!(Week::named("events_default"), None);
    }

    #[test]
    fn a_time_that_cannot_be_true_has_no_week() {
        let now = at(1_795_238_000_000);
        assert_eq!(Week::of_event(EventId::at(0).0, now), None);
        assert_eq!(Week::of_event(EventId::at(now.unix_ms() + 30 * WEEK_MS).0, now), None);
        assert_eq!(Week::of_event(Uuid::max(), now), None);
    }
}
