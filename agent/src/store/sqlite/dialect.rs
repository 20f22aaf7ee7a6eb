//! SQLite's types, and its side of the few statements that differ.

use std::future::{Ready, ready};

use pdm_shared::id::BearingKey;
use sqlx::sqlite::SqliteRow;
use sqlx::{Sqlite, SqliteConnection, SqlitePool, Transaction};

use crate::store::StoreError;
use crate::store::due::due_row;

pub(super) type This = super::SqliteStore;
pub(super) type Pool = SqlitePool;
pub(super) type Connection = SqliteConnection;
pub(super) type Row = SqliteRow;

/// Parameters: until, lane, now, limit, replica, created, retry.
pub(super) const CLAIM: &str = concat!(
    "UPDATE outbox SET claimed_until_ms = $1, claimed_by = $5 WHERE id IN (
         SELECT id FROM outbox
         WHERE lane = $2 AND state = 'waiting' AND claimed_until_ms <= $3 AND ",
    due_row!(),
    "
         ORDER BY id LIMIT $4)
     RETURNING id, idempotency_key, topic, retain, group_key, attempts, created_at_ms,
               CASE WHEN judgement_of IS NULL THEN payload
                    ELSE (SELECT diagnosis FROM pdm_agent_memory
                          WHERE event_id = outbox.judgement_of) END AS payload"
);

/// Parameter: machine. A bearing whose first event is being judged stands in no other table yet.
pub(super) const BEARINGS_OF: &str =
    "SELECT site, equipment_id, bearing_id, risk_level FROM bearings WHERE equipment_id = $1
     UNION
     SELECT e.site, e.equipment_id, e.bearing_id, 'Normal' FROM events e
     WHERE e.judged = 0 AND e.equipment_id = $1 AND NOT EXISTS (
         SELECT 1 FROM bearings b WHERE b.site = e.site
             AND b.equipment_id = e.equipment_id AND b.bearing_id = e.bearing_id)
     ORDER BY 1, 3";

/// Parameters: site, machine, bearing, until, limit. Spectra are nine tenths of a payload: they are
/// left behind.
pub(super) const HISTORY: &str =
    "SELECT json_remove(e.payload, '$.spectra'), m.risk_level, m.fault_stage, m.fault_type
     FROM events e LEFT JOIN pdm_agent_memory m ON m.event_id = e.event_id
     WHERE e.site = $1 AND e.equipment_id = $2 AND e.bearing_id = $3 AND e.measured_at_ms <= $4
     ORDER BY e.measured_at_ms DESC, e.arrival DESC LIMIT $5";

/// There is one writer: nothing to lock.
pub(super) const LOCK_GATEWAYS_WITH_OLD_GAPS: &str = "SELECT 1 WHERE $1 IS NULL";

pub(super) const LAST_ARRIVAL: &str = "SELECT max(arrival) FROM events";

pub(super) const BACKLOG: &str = "SELECT (SELECT count(*) FROM events WHERE judged = 0),
            (SELECT count(*) FROM outbox WHERE state = 'waiting'),
            (SELECT count(*) FROM outbox WHERE state = 'given_up'),
            (SELECT count(*) FROM dead_letters)";

/// A transaction that writes.
pub(super) async fn begin(pool: &Pool) -> Result<Transaction<'static, Sqlite>, sqlx::Error> {
    pool.begin_with("BEGIN IMMEDIATE").await
}

/// A transaction that reads one state of everything.
pub(super) async fn begin_snapshot(
    pool: &Pool,
) -> Result<Transaction<'static, Sqlite>, sqlx::Error> {
    pool.begin().await
}

/// There is one writer: nothing to lock.
pub(super) fn lock_alarm(
    _connection: &mut Connection,
    _key: &BearingKey,
) -> Ready<Result<(), StoreError>> {
    ready(Ok(()))
}

/// There is one writer: nothing to lock.
pub(super) fn lock_lane(
    _connection: &mut Connection,
    _lane: &str,
) -> Ready<Result<(), StoreError>> {
    ready(Ok(()))
}

/// Text as this database takes it: any.
pub(super) fn text(text: &str) -> std::borrow::Cow<'_, str> {
    text.into()
}
