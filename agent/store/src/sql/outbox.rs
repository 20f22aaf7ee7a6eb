//! Rows that have to leave: claimed for sending, then settled. `bulk` inserts them.
//!
//! The words of [`OutboxState`] stand in the text of these statements, not in parameters: the
//! partial index on waiting rows serves only a statement whose text names its condition (PostgreSQL
//! plans a prepared statement without its parameters).

use std::sync::LazyLock;

use pdm_shared::time::Timestamp;
use uuid::Uuid;

use super::{Database, bulk, ways};
use crate::database::{Connection, Dialect, Lock, Numbers, Row, Spelt, Transaction};
use crate::due::DueRow;
use crate::encoding::{count_of, time_of};
use crate::outbox::OutboxState;
use crate::{Claimed, MQTT_LANE, Outgoing, SendOutcome, StoreError, WayState};

/// Parameters: until, lane, now, limit, replica, created, retry ([`DueRow::SQL`]). What tells staff
/// something goes first, the worst risk before the others; publications, which may wait in tens of
/// thousands, follow in the order of their writing, and nothing is looked up for them. The rows of
/// one topic leave in their order: on a server, where replicas share the outbox, a row waits while
/// another replica holds a row of its topic.
static CLAIM: LazyLock<Spelt> = LazyLock::new(|| {
    let (waiting, due) = (OutboxState::Waiting, DueRow::SQL);
    Spelt::each(|dialect| {
        let topic_is_free = match dialect {
            Dialect::Sqlite => String::new(),
            Dialect::Postgres => format!(
                "AND NOT EXISTS (
                   SELECT 1 FROM outbox AS held
                   WHERE held.lane = $2 AND held.state = '{waiting}' AND held.claimed_until_ms > 0
                     AND held.claimed_until_ms > $3 AND held.claimed_by <> $5
                     AND held.topic = free.topic)"
            ),
        };
        let order = ways::by_risk();
        format!(
            "UPDATE outbox SET claimed_until_ms = $1, claimed_by = $5 WHERE id IN (
                 SELECT id FROM (
                     SELECT id, 0 AS turn FROM (
                         SELECT id FROM outbox AS free
                         WHERE lane = $2 AND state = '{waiting}' AND notification_id IS NOT NULL
                           AND claimed_until_ms <= $3 AND {due} {topic_is_free}
                         ORDER BY {order}, id LIMIT $4) AS telling
                     UNION ALL
                     SELECT id, 1 AS turn FROM (
                         SELECT id FROM outbox AS free
                         WHERE lane = $2 AND state = '{waiting}' AND notification_id IS NULL
                           AND claimed_until_ms <= $3 AND {due} {topic_is_free}
                         ORDER BY id LIMIT $4) AS publishing) AS free
                 ORDER BY turn LIMIT $4)
             RETURNING id, idempotency_key, topic, retain, group_key, attempts, created_at_ms,
                       CASE WHEN judgement_of IS NULL THEN payload
                            ELSE (SELECT diagnosis FROM pdm_agent_memory
                                  WHERE event_id = outbox.judgement_of) END AS payload"
        )
    })
});

/// Parameter: replica.
static FREE_CLAIMS: LazyLock<Spelt> = LazyLock::new(|| Spelt::each(|_| free_claims_of("")));

/// Parameters: replica, lane.
static FREE_CLAIMS_OF_LANE: LazyLock<Spelt> =
    LazyLock::new(|| Spelt::each(|_| free_claims_of("lane = $2 AND")));

fn free_claims_of(lane: &str) -> String {
    let waiting = OutboxState::Waiting;
    format!(
        "UPDATE outbox SET claimed_until_ms = 0
         WHERE {lane} state = '{waiting}' AND claimed_until_ms > 0 AND claimed_by = $1"
    )
}

/// Parameters: lane, now.
static TRY_AT_ONCE: LazyLock<Spelt> = LazyLock::new(|| {
    let waiting = OutboxState::Waiting;
    Spelt::each(|_| {
        format!(
            "UPDATE outbox SET due_at_ms = $2
             WHERE lane = $1 AND state = '{waiting}' AND attempts > 0 AND due_at_ms > $2"
        )
    })
});

/// Parameters: lane, the broker's lane, limit.
static GIVEN_UP_ALARMS: LazyLock<Spelt> = LazyLock::new(|| {
    let (given_up, delivered) = (OutboxState::GivenUp, OutboxState::Delivered);
    Spelt::each(|_| {
        format!(
            "SELECT gone.id FROM outbox AS gone
             WHERE gone.lane = $1 AND gone.state = '{given_up}' AND gone.notification_id IN (
                     SELECT notification_id FROM episodes
                     WHERE closed_at_ms IS NULL AND state = 'unacknowledged_active')
               AND NOT EXISTS (
                     SELECT 1 FROM outbox AS told
                     WHERE told.notification_id = gone.notification_id AND told.lane <> $2
                       AND told.state = '{delivered}')
             ORDER BY gone.id LIMIT $3"
        )
    })
});

/// Parameters: rows, now, state. A row that was put right meanwhile stays.
static REVIVE: LazyLock<Spelt> = LazyLock::new(|| {
    let given_up = OutboxState::GivenUp;
    Spelt::each(|dialect| {
        let these = dialect.in_numbers("$1");
        format!(
            "UPDATE outbox SET state = $3, due_at_ms = $2, claimed_until_ms = 0, settled_at_ms = \
             NULL
             WHERE id {these} AND state = '{given_up}'"
        )
    })
});

/// Parameter: rows. A publication that was delivered leaves no trace.
static DROP_PUBLICATIONS: LazyLock<Spelt> = LazyLock::new(|| {
    Spelt::each(|dialect| {
        let these = dialect.in_numbers("$1");
        format!("DELETE FROM outbox WHERE id {these} AND notification_id IS NULL")
    })
});

/// Parameters: rows, now, state. That a notification was delivered is kept.
static SETTLE_DELIVERED: LazyLock<Spelt> = LazyLock::new(|| {
    Spelt::each(|dialect| {
        let these = dialect.in_numbers("$1");
        format!(
            "UPDATE outbox SET state = $3, attempts = attempts + 1, settled_at_ms = $2,
                               last_error = NULL
             WHERE id {these}"
        )
    })
});

/// Rows that have to leave; used by the lanes of the outbox.
#[derive(Debug, Clone)]
pub struct OutboxStore {
    pub(crate) database: Database,
}

impl OutboxStore {
    /// Puts rows into the outbox that belong to no judgement and no message to staff.
    pub async fn put(&self, rows: &[Outgoing], now: Timestamp) -> Result<(), StoreError> {
        let rows: Vec<_> = rows.iter().map(|row| (row, now)).collect();
        let mut transaction = self.database.write().await?;
        bulk::insert_outbox(&mut transaction.connection(), &rows).await?;
        transaction.commit().await
    }

    /// Claims due rows of a lane in their order, at most `limit`. A claim ends by
    /// [`OutboxStore::settle`] or at `until`.
    pub async fn claim(
        &self,
        lane: &str,
        now: Timestamp,
        until: Timestamp,
        limit: u32,
    ) -> Result<Vec<Claimed>, StoreError> {
        let mut transaction = self.database.write().await?;
        let mut connection = transaction.connection();
        connection.lock(Lock::Lane, lane).await?;
        let due = DueRow::at(now);
        let rows = connection
            .query(&CLAIM)
            .bind(until.unix_ms())
            .bind(lane)
            .bind(due.now.unix_ms())
            .bind(i64::from(limit))
            .bind(self.database.replica())
            .bind(due.created.unix_ms())
            .bind(due.retry.unix_ms())
            .fetch_all()
            .await?;
        let mut claimed = Vec::with_capacity(rows.len());
        for row in &rows {
            match row.get::<Option<String>>("payload")? {
                Some(payload) => claimed.push(claimed_of(row, payload)?),
                // deleted by hand, as retention keeps what waits: the lane must not stop for it
                None => {
                    give_up(&mut connection, row.get("id")?, "its judgement is gone", now).await?;
                }
            }
        }
        transaction.commit().await?;
        // neither database promises an order of RETURNING
        claimed.sort_by_key(|row| row.id);
        Ok(claimed)
    }

    /// Returns how far a notification has come on each lane of people that it has a row on. A lane
    /// that has not tried what was due before `late` counts as failing.
    pub async fn ways(
        &self,
        notification_id: Uuid,
        late: Timestamp,
    ) -> Result<Vec<(String, WayState)>, StoreError> {
        ways::of_notification(self.database.read().await?, notification_id, late).await
    }

    /// Writes rows of a notification that is stored, for lanes that it has no row on; tells how
    /// many.
    pub async fn spread(
        &self,
        notification_id: Uuid,
        rows: &[Outgoing],
        now: Timestamp,
    ) -> Result<u64, StoreError> {
        ways::spread(self.database.write().await?, notification_id, rows, now).await
    }

    /// Frees this replica's claims of a lane. For a claim that failed: the database may have
    /// committed it although the answer was lost.
    pub async fn let_go(&self, lane: &str) -> Result<(), StoreError> {
        let mut transaction = self.database.write().await?;
        let mut connection = transaction.connection();
        connection
            .query(&FREE_CLAIMS_OF_LANE)
            .bind(self.database.replica())
            .bind(lane)
            .execute()
            .await?;
        transaction.commit().await
    }

    /// Makes what failed on a lane and waits for another try due now.
    pub async fn try_at_once(&self, lane: &str, now: Timestamp) -> Result<(), StoreError> {
        let mut transaction = self.database.write().await?;
        let mut connection = transaction.connection();
        connection.query(&TRY_AT_ONCE).bind(lane).bind(now.unix_ms()).execute().await?;
        transaction.commit().await
    }

    /// Makes rows of a lane that were given up due now, at most `limit`: those of alarms that
    /// stand, that nobody has acknowledged and that no way has delivered. Tells how many.
    pub async fn revive(&self, lane: &str, now: Timestamp, limit: u32) -> Result<u64, StoreError> {
        let mut reader = self.database.read().await?;
        let query = reader.query(&GIVEN_UP_ALARMS).bind(lane).bind(MQTT_LANE);
        let rows = query.bind(i64::from(limit)).fetch_all().await?;
        drop(reader);
        if rows.is_empty() {
            return Ok(0);
        }
        let ids = rows.iter().map(|row| row.get(0)).collect::<Result<Vec<i64>, StoreError>>()?;
        let ids: Numbers = ids.into_iter().collect();
        let mut transaction = self.database.write().await?;
        let mut connection = transaction.connection();
        let query = connection.query(&REVIVE).bind(ids).bind(now.unix_ms());
        let count = query.bind(OutboxState::Waiting.as_str()).execute().await?;
        transaction.commit().await?;
        Ok(count)
    }

    /// Writes what became of claimed rows.
    pub async fn settle(
        &self,
        outcomes: &[(i64, SendOutcome)],
        now: Timestamp,
    ) -> Result<(), StoreError> {
        let mut transaction = self.database.write().await?;
        let mut connection = transaction.connection();
        let delivered: Vec<i64> = outcomes
            .iter()
            .filter(|(_, outcome)| {
                matches!(outcome, SendOutcome::Delivered | SendOutcome::Partly { .. })
            })
            .map(|(id, _)| *id)
            .collect();
        settle_delivered(&mut connection, &delivered, now).await?;
        for (id, outcome) in outcomes {
            match outcome {
                SendOutcome::Delivered => {}
                SendOutcome::Partly { error } => {
                    ways::copy_given_up(&mut connection, *id, error, now).await?;
                }
                SendOutcome::Held => hold(&mut connection, *id, now).await?,
                SendOutcome::Retry { at, error } => {
                    put_off(&mut connection, *id, *at, error).await?;
                }
                SendOutcome::GivenUp { error } => {
                    give_up(&mut connection, *id, error, now).await?;
                }
            }
        }
        transaction.commit().await
    }
}

/// Frees every claim of a replica.
pub(super) async fn free_claims(
    mut transaction: Transaction<'_>,
    replica: &str,
) -> Result<(), StoreError> {
    transaction.connection().query(&FREE_CLAIMS).bind(replica).execute().await?;
    transaction.commit().await
}

fn claimed_of(row: &Row, payload: String) -> Result<Claimed, StoreError> {
    Ok(Claimed {
        id: row.get("id")?,
        key: row.get("idempotency_key")?,
        topic: row.get("topic")?,
        retain: row.get("retain")?,
        group: row.get("group_key")?,
        payload,
        attempts: count_of(row.get("attempts")?),
        created_at: time_of(row.get("created_at_ms")?)?,
    })
}

async fn settle_delivered(
    connection: &mut Connection<'_>,
    ids: &[i64],
    now: Timestamp,
) -> Result<(), StoreError> {
    if ids.is_empty() {
        return Ok(());
    }
    let numbers = || -> Numbers { ids.iter().copied().collect() };
    let gone = connection.query(&DROP_PUBLICATIONS).bind(numbers()).execute().await?;
    if gone < ids.len() as u64 {
        connection
            .query(&SETTLE_DELIVERED)
            .bind(numbers())
            .bind(now.unix_ms())
            .bind(OutboxState::Delivered.as_str())
            .execute()
            .await?;
    }
    Ok(())
}

async fn put_off(
    connection: &mut Connection<'_>,
    id: i64,
    at: Timestamp,
    error: &str,
) -> Result<(), StoreError> {
    let error = connection.dialect().text(error);
    connection
        .query(
            "UPDATE outbox SET attempts = attempts + 1, due_at_ms = $1, claimed_until_ms = 0,
                               last_error = $2
             WHERE id = $3",
        )
        .bind(at.unix_ms())
        .bind(error)
        .bind(id)
        .execute()
        .await?;
    Ok(())
}

async fn hold(connection: &mut Connection<'_>, id: i64, now: Timestamp) -> Result<(), StoreError> {
    connection
        .query(
            "UPDATE outbox SET state = $1, settled_at_ms = $2, claimed_until_ms = 0 WHERE id = $3",
        )
        .bind(OutboxState::Held.as_str())
        .bind(now.unix_ms())
        .bind(id)
        .execute()
        .await?;
    Ok(())
}

async fn give_up(
    connection: &mut Connection<'_>,
    id: i64,
    error: &str,
    now: Timestamp,
) -> Result<(), StoreError> {
    let error = connection.dialect().text(error);
    connection
        .query(
            "UPDATE outbox SET state = $1, attempts = attempts + 1, settled_at_ms = $2,
                               last_error = $3
             WHERE id = $4",
        )
        .bind(OutboxState::GivenUp.as_str())
        .bind(now.unix_ms())
        .bind(error)
        .bind(id)
        .execute()
        .await?;
    Ok(())
}
