//! Whose turn a bearing is: an advisory lock for each bearing, held by the session that judges it.
//!
//! Reading what waits takes the locks and gives back those that were held. Reading and saving go
//! through one connection of their own: if it is lost, the server frees the locks, another replica may judge, and
//! what this one would still save is refused because its session is gone. What was judged twice
//! all the same is written once. A replica finds the bearings that no other holds.

use std::collections::HashMap;

use sqlx::postgres::PgRow;
use sqlx::{Connection as _, PgConnection, Row as _};
use uuid::Uuid;

use super::{PostgresStore, dialect, sql};
use crate::store::encoding::json_of;
use crate::store::{BearingJudged, StoreError, Unjudged};

/// Rows of what waits that are looked at for each one that is asked for: bearings that another
/// replica holds stand among them.
const LOOK_FACTOR: i64 = 16;

/// The session that holds the turns.
#[derive(Debug, Default)]
pub(super) struct Turns {
    session: Option<PgConnection>,
}

impl Turns {
    async fn session(&mut self, store: &PostgresStore) -> Result<PgConnection, StoreError> {
        match self.session.take() {
            Some(session) => Ok(session),
            None => Ok(PgConnection::connect_with(&store.pool.connect_options()).await?),
        }
    }

    pub(super) async fn end(&mut self) {
        if let Some(session) = self.session.take() {
            // the server frees the locks even if it does not hear the goodbye
            let _closed = session.close().await;
        }
    }
}

pub(super) async fn unjudged(
    store: &PostgresStore,
    limit: u32,
) -> Result<Vec<Unjudged>, StoreError> {
    let mut turns = store.turns.lock().await;
    // a session that fails is not put back: its locks end with it
    let mut session = turns.session(store).await?;
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

pub(super) async fn save(
    store: &PostgresStore,
    judged: &[BearingJudged],
) -> Result<(), StoreError> {
    let mut turns = store.turns.lock().await;
    // a session that fails is not put back, and what it held may be another's by now
    let mut session = turns.session.take().ok_or_else(lost)?;
    let mut transaction = session.begin().await?;
    sql::judging::save(&mut transaction, judged).await?;
    transaction.commit().await?;
    turns.session = Some(session);
    Ok(())
}

fn lost() -> StoreError {
    let what = "the session that held these bearings is gone; what waits has to be read again";
    StoreError::Unavailable(sqlx::Error::Io(std::io::Error::other(what)))
}

async fn release(session: &mut PgConnection) -> Result<(), StoreError> {
    sqlx::query("SELECT pg_advisory_unlock_all()").execute(session).await?;
    Ok(())
}

/// Takes the turns of bearings that wait longest, at most as many as events are wanted.
async fn take(session: &mut PgConnection, limit: i64) -> Result<Vec<i32>, StoreError> {
    let rows = sqlx::query(
        "WITH waiting AS MATERIALIZED (
             SELECT turn, min(arrival) AS first
             FROM (SELECT turn, arrival FROM events_unjudged ORDER BY arrival LIMIT $1) AS oldest
             GROUP BY turn ORDER BY first)
         SELECT turn FROM waiting WHERE pg_try_advisory_lock($2, turn) LIMIT $3",
    )
    .bind(limit.saturating_mul(LOOK_FACTOR))
    .bind(dialect::TURN)
    .bind(limit)
    .fetch_all(session)
    .await?;
    Ok(rows.iter().map(|row| row.get(0)).collect())
}

/// Reads what waits of the bearings whose turn is held: after the locks were taken, as what another
/// replica has just judged must not be seen.
async fn read(
    session: &mut PgConnection,
    held: &[i32],
    limit: i64,
) -> Result<Vec<Unjudged>, StoreError> {
    let rows = sqlx::query(
        "SELECT arrival, event_id FROM events_unjudged WHERE turn = ANY($1)
         ORDER BY arrival LIMIT $2",
    )
    .bind(held)
    .bind(limit)
    .fetch_all(&mut *session)
    .await?;
    let waiting: Vec<(i64, Uuid)> = rows.iter().map(|row| (row.get(0), row.get(1))).collect();
    let ids: Vec<Uuid> = waiting.iter().map(|(_, id)| *id).collect();
    // by their identities: so each is looked for in its own week only
    let rows = sqlx::query(
        "SELECT event_id, payload, node, state, updated_at_ms
         FROM events LEFT JOIN checkpoints USING (event_id) WHERE event_id = ANY($1)",
    )
    .bind(&ids)
    .fetch_all(session)
    .await?;
    let events: HashMap<Uuid, &PgRow> = rows.iter().map(|row| (row.get(0), row)).collect();
    waiting
        .into_iter()
        .map(|(arrival, id)| {
            let row = events.get(&id).ok_or_else(|| StoreError::Content {
                what: "an event that waits",
                reason: format!("{id} is gone"),
            })?;
            Ok(Unjudged {
                arrival,
                event: json_of("an event", row.get("payload"))?,
                checkpoint: sql::runs::checkpoint_of(row)?,
            })
        })
        .collect()
}
