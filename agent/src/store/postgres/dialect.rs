//! PostgreSQL's types, and its side of the few statements that differ.

use std::borrow::Cow;

use pdm_shared::id::BearingKey;
use sqlx::postgres::PgRow;
use sqlx::{PgConnection, PgPool, Postgres, Transaction};

use crate::store::StoreError;
use crate::store::due::due_row;

pub(super) type This = super::PostgresStore;
pub(super) type Pool = PgPool;
pub(super) type Connection = PgConnection;
pub(super) type Row = PgRow;

/// First halves of the keys of advisory locks; "pdm" and a number, so that no other program on the
/// server happens to use them.
pub(super) const TURN: i32 = 0x7064_6d01;
const ALARM: i32 = 0x7064_6d02;
pub(super) const SCHEMA: i32 = 0x7064_6d03;
const LANE: i32 = 0x7064_6d04;

/// Parameters: until, lane, now, limit, replica, created, retry. A topic's rows leave in their order: while
/// another replica holds one of them, the others wait.
pub(super) const CLAIM: &str = concat!(
    "UPDATE outbox SET claimed_until_ms = $1, claimed_by = $5 WHERE id IN (
         SELECT id FROM outbox AS free
         WHERE lane = $2 AND state = 'waiting' AND claimed_until_ms <= $3 AND ",
    due_row!(),
    "
           AND NOT EXISTS (
               SELECT 1 FROM outbox AS held
               WHERE held.lane = $2 AND held.state = 'waiting' AND held.claimed_until_ms > 0
                 AND held.claimed_until_ms > $3 AND held.claimed_by <> $5
                 AND held.topic = free.topic)
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
     SELECT e.site, e.equipment_id, e.bearing_id, 'Normal'
     FROM events_unjudged JOIN events e USING (event_id)
     WHERE e.equipment_id = $1 AND NOT EXISTS (
         SELECT 1 FROM bearings b WHERE b.site = e.site
             AND b.equipment_id = e.equipment_id AND b.bearing_id = e.bearing_id)
     ORDER BY 1, 3";

/// Parameters: site, machine, bearing, until, limit. The payload whole: the server's own JSON takes
/// less than the standard does.
pub(super) const HISTORY: &str = "SELECT e.payload, m.risk_level, m.fault_stage, m.fault_type
     FROM events e LEFT JOIN pdm_agent_memory m ON m.event_id = e.event_id
     WHERE e.site = $1 AND e.equipment_id = $2 AND e.bearing_id = $3 AND e.measured_at_ms <= $4
     ORDER BY e.measured_at_ms DESC, e.arrival DESC LIMIT $5";

/// Not the greatest of the table, which would be a look into every week.
pub(super) const LAST_ARRIVAL: &str = "SELECT last_value FROM arrivals";

pub(super) const LOCK_GATEWAYS_WITH_OLD_GAPS: &str =
    "SELECT gateway_id FROM gateways WHERE gateway_id IN (
         SELECT gateway_id FROM sequence_gaps WHERE NOT lost AND noticed_at_ms < $1)
     ORDER BY gateway_id FOR UPDATE";

pub(super) const BACKLOG: &str = "SELECT (SELECT count(*) FROM events_unjudged),
            (SELECT count(*) FROM outbox WHERE state = 'waiting'),
            (SELECT count(*) FROM outbox WHERE state = 'given_up'),
            (SELECT count(*) FROM dead_letters)";

/// A transaction that writes.
pub(super) async fn begin(pool: &Pool) -> Result<Transaction<'static, Postgres>, sqlx::Error> {
    pool.begin().await
}

/// A transaction that reads one state of everything.
pub(super) async fn begin_snapshot(
    pool: &Pool,
) -> Result<Transaction<'static, Postgres>, sqlx::Error> {
    pool.begin_with("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY").await
}

/// Until the end of the transaction nobody else decides on this alarm.
pub(super) async fn lock_alarm(
    connection: &mut Connection,
    key: &BearingKey,
) -> Result<(), StoreError> {
    lock(connection, ALARM, &key.to_string()).await
}

/// Until the end of the transaction nobody else claims rows of this lane.
pub(super) async fn lock_lane(connection: &mut Connection, lane: &str) -> Result<(), StoreError> {
    lock(connection, LANE, lane).await
}

async fn lock(connection: &mut Connection, class: i32, name: &str) -> Result<(), StoreError> {
    sqlx::query("SELECT pg_advisory_xact_lock($1, hashtext($2))")
        .bind(class)
        .bind(name)
        .execute(connection)
        .await?;
    Ok(())
}

/// Text as this database takes it: without the character zero.
pub(super) fn text(text: &str) -> Cow<'_, str> {
    if text.contains('\0') { text.replace('\0', "\u{fffd}").into() } else { text.into() }
}
