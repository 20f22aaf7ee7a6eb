//! Takes the turn of a bearing: an advisory lock for each bearing, held by the session that judges
//! it.
//!
//! Reading what waits takes the locks and frees those that were held before. Reading and saving go
//! through one connection of their own. If that connection is lost, the server frees the locks and
//! another replica may judge the bearings; what this replica would still save is refused, because
//! its session is gone. An event that two replicas judged all the same is written once. A replica
//! looks only for bearings that no other replica holds.

use std::collections::HashMap;
use std::time::Duration;

use pdm_shared::id::EventId;
use sqlx::{Connection as _, PgConnection};
use uuid::Uuid;

use super::Postgres;
use crate::database::{Connection, Identities, Lock, Row, Transaction, value_of};
use crate::sql::{bulk, judgements};
use crate::{BearingJudged, StoreError, Unjudged, log};

/// Waiting events that are looked at for each one that is asked for, because other replicas may
/// hold the bearings of most of them. With the judging's batch of 256 that is a look at 4,096
/// entries of an index, some milliseconds, and enough for 16 replicas.
const LOOK_FACTOR: i64 = 16;

/// How long a server may take to say that a session lives.
const ANSWER: Duration = Duration::from_secs(2);

/// The session that holds the turns.
#[derive(Debug, Default)]
pub(super) struct Turns {
    session: Option<PgConnection>,
}

impl Turns {
    async fn session(&mut self, store: &Postgres) -> Result<PgConnection, StoreError> {
        match self.session.take() {
            Some(session) => Ok(session),
            None => Ok(PgConnection::connect_with(&store.pool.connect_options()).await?),
        }
    }

    pub(super) async fn end(&mut self) {
        if let Some(session) = self.session.take() {
            // the result does not matter: a session that breaks off frees its locks too
            let _closed = session.close().await;
        }
    }
}

impl Postgres {
    /// The next events to be judged, of bearings whose turn this replica then holds.
    pub(crate) async fn unjudged(&self, limit: u32) -> Result<Vec<Unjudged>, StoreError> {
        let mut turns = self.turns.lock().await;
        // after an error the session is not put back: the server frees its locks
        let mut session = turns.session(self).await?;
        release(&mut session).await?;
        let held = take(&mut session, i64::from(limit)).await?;
        let waiting = if held.is_empty() {
            Vec::new()
        } else {
            read(&mut session, &held, i64::from(limit)).await?
        };
        turns.session = Some(session);
        Ok(waiting)
    }

    /// Writes judgements through the session that holds their bearings' turns.
    pub(crate) async fn save(&self, judged: &[BearingJudged]) -> Result<(), StoreError> {
        let mut turns = self.turns.lock().await;
        let mut session = turns.session.take().ok_or_else(lost)?;
        let saved = save_through(&mut session, judged).await;
        // a session whose server refuses a row still holds its turns, and what is saved one by one
        // afterwards has the server's own reason; of one that is gone another replica may hold them
        // by now
        if saved.is_ok() || lives(&mut session).await {
            turns.session = Some(session);
        }
        saved
    }
}

async fn save_through(
    session: &mut PgConnection,
    judged: &[BearingJudged],
) -> Result<(), StoreError> {
    let mut transaction = Transaction::Postgres(session.begin().await?);
    judgements::save(&mut transaction.connection(), judged).await?;
    transaction.commit().await
}

/// Whether the session's server answers.
async fn lives(session: &mut PgConnection) -> bool {
    tokio::time::timeout(ANSWER, session.ping()).await.is_ok_and(|answer| answer.is_ok())
}

fn lost() -> StoreError {
    let what =
        "the session that held these bearings is lost, the waiting events have to be read again";
    StoreError::Unavailable(sqlx::Error::Io(std::io::Error::other(what)))
}

async fn release(session: &mut PgConnection) -> Result<(), StoreError> {
    sqlx::query("SELECT pg_advisory_unlock_all()").execute(session).await?;
    Ok(())
}

/// The gateways of which events wait; a look at the index for each.
const GATEWAYS: &str = "RECURSIVE gateways (gateway) AS (
         SELECT min(gateway) FROM events_unjudged
         UNION ALL
         SELECT (SELECT min(more.gateway) FROM events_unjudged AS more
                 WHERE more.gateway > gateways.gateway)
         FROM gateways WHERE gateways.gateway IS NOT NULL)";

/// Bearings whose judgement waits for a language model. The array is made once, so that an index on
/// arrival still gives the order.
const HELD: &str = "ARRAY(SELECT hashtext(site || '/' || equipment_id || '/' || bearing_id)
           FROM second_opinions WHERE held_until_ms > 0)";

/// Takes the turns of bearings: of the oldest event of each gateway, of the second of each, and so
/// on; at most as many as events are wanted. Bearings whose judgement waits for a language model
/// are passed over.
async fn take(session: &mut PgConnection, limit: i64) -> Result<Vec<i32>, StoreError> {
    let sql = format!(
        "WITH {GATEWAYS},
         oldest AS (
             SELECT line.turn, line.arrival,
                    row_number() OVER (PARTITION BY line.gateway ORDER BY line.arrival) AS place
             FROM gateways CROSS JOIN LATERAL (
                 SELECT turn, arrival, one.gateway FROM events_unjudged AS one
                 WHERE one.gateway = gateways.gateway AND turn <> ALL ({HELD})
                 ORDER BY arrival LIMIT $1) AS line),
         waiting AS MATERIALIZED (
             SELECT turn, min(place) AS place, min(arrival) AS first FROM oldest
             GROUP BY turn ORDER BY place, first)
         SELECT turn FROM waiting WHERE pg_try_advisory_lock($2, turn) LIMIT $3"
    );
    let rows = sqlx::query(sqlx::AssertSqlSafe(sql))
        .bind(limit.saturating_mul(LOOK_FACTOR))
        .bind(Lock::Turn.class())
        .bind(limit)
        .fetch_all(session)
        .await?;
    rows.iter().map(|row| value_of(row, 0)).collect()
}

/// Reads the waiting events of the bearings whose turn is held, gateways in turn. This has to come
/// after the locks were taken: an event that another replica judged before it freed the lock must
/// not be seen, nor one of a bearing whose judgement that replica has put aside.
async fn read(
    session: &mut PgConnection,
    held: &[i32],
    limit: i64,
) -> Result<Vec<Unjudged>, StoreError> {
    let sql = format!(
        "WITH {GATEWAYS},
         lines AS (
             SELECT line.arrival, line.event_id,
                    row_number() OVER (PARTITION BY line.gateway ORDER BY line.arrival) AS place
             FROM gateways CROSS JOIN LATERAL (
                 SELECT one.arrival, one.event_id, one.gateway FROM events_unjudged AS one
                 WHERE one.gateway = gateways.gateway AND turn = ANY($1) AND turn <> ALL ({HELD})
                 ORDER BY arrival LIMIT $2) AS line)
         SELECT arrival, event_id FROM (
             SELECT arrival, event_id FROM lines ORDER BY place, arrival LIMIT $2) AS taken
         ORDER BY arrival"
    );
    let rows = sqlx::query(sqlx::AssertSqlSafe(sql))
        .bind(held)
        .bind(limit)
        .fetch_all(&mut *session)
        .await?;
    let waiting = rows.iter().map(|row| Ok((value_of(row, 0)?, EventId(value_of(row, 1)?))));
    let waiting = waiting.collect::<Result<Vec<(i64, EventId)>, StoreError>>()?;
    let ids: Identities = waiting.iter().map(|(_, id)| id).collect();
    // by their identities: the server then looks for each event in the partition of its week only
    let rows = Connection::Postgres(&mut *session)
        .query(
            "SELECT event_id, payload, node, state, updated_at_ms
             FROM events LEFT JOIN checkpoints USING (event_id) WHERE event_id = ANY($1)",
        )
        .bind(ids)
        .fetch_all()
        .await?;
    let events = rows.iter().map(|row| Ok((row.get(0)?, row)));
    let events = events.collect::<Result<HashMap<Uuid, &Row>, StoreError>>()?;
    let mut readable = Vec::with_capacity(waiting.len());
    let mut unreadable = Vec::new();
    for (arrival, id) in waiting {
        let row = events.get(&id.0).ok_or_else(|| StoreError::Content {
            what: "an event that waits",
            reason: format!("{id} is gone"),
        });
        match row.and_then(|row| judgements::unjudged_of(arrival, row)) {
            Ok(event) => readable.push(event),
            Err(error) => {
                log::event_unreadable(arrival, &error);
                unreadable.push(arrival);
            }
        }
    }
    if !unreadable.is_empty() {
        bulk::set_aside(&mut Connection::Postgres(session), &unreadable).await?;
    }
    Ok(readable)
}
