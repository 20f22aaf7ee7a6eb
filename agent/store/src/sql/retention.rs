//! Deleting what is no longer kept, in bounded amounts. `turns`, checkpoints and gaps of sequences
//! stand in tables of their own, so nothing else needs an old event.

use std::sync::LazyLock;

use pdm_shared::id::{EventId, GatewayKey};
use pdm_shared::time::Timestamp;

use super::days::{self, Reached};
use super::{Database, room};
use crate::database::{Connection, Identities, Spelt};
use crate::outbox::OutboxState;
use crate::{Forget, Forgotten, GatewayPart, RoomMade, RoomStage, StoreError, StoreSize};

/// Parameters: last judgement, last row of the outbox, limit. A judgement that a waiting row of the
/// outbox carries stays.
static DROP_JUDGEMENTS: LazyLock<Spelt> = LazyLock::new(|| {
    let waiting = OutboxState::Waiting;
    Spelt::each(|_| {
        format!(
            "DELETE FROM pdm_agent_memory WHERE id IN (
                 SELECT id FROM pdm_agent_memory
                 WHERE id <= $1 AND event_id NOT IN (
                     SELECT judgement_of FROM outbox
                     WHERE state = '{waiting}' AND judgement_of IS NOT NULL AND id <= $2)
                 ORDER BY id LIMIT $3)
             RETURNING event_id"
        )
    })
});

/// Parameter: events.
static DROP_STEPS: LazyLock<Spelt> = LazyLock::new(|| {
    Spelt::each(|dialect| {
        format!("DELETE FROM trace_steps WHERE event_id {}", dialect.in_identities("$1"))
    })
});

/// Parameter: events.
static DROP_OPINIONS: LazyLock<Spelt> = LazyLock::new(|| {
    Spelt::each(|dialect| {
        format!("DELETE FROM second_opinions WHERE event_id {}", dialect.in_identities("$1"))
    })
});

/// Parameter: events.
static DROP_LAST: LazyLock<Spelt> = LazyLock::new(|| {
    Spelt::each(|dialect| {
        let gone = dialect.in_identities("$1");
        format!("UPDATE bearings SET last_event_id = NULL WHERE last_event_id {gone}")
    })
});

/// Parameter: events. Work that waits and what was found stay: the one is still to be done, the
/// other counts.
static DROP_WORK: LazyLock<Spelt> = LazyLock::new(|| {
    Spelt::each(|dialect| {
        format!(
            "DELETE FROM follow_ups WHERE state <> 'open' AND verdict IS NULL AND event_id {}",
            dialect.in_identities("$1")
        )
    })
});

/// Deleting what is no longer kept; used by the retention task.
#[derive(Debug, Clone)]
pub struct RetentionStore {
    pub(crate) database: Database,
}

impl RetentionStore {
    /// Deletes what is older than it is kept, a bounded amount at a time, and prepares the
    /// partitions of the coming weeks.
    pub async fn forget(&self, forget: &Forget, now: Timestamp) -> Result<Forgotten, StoreError> {
        let mut gone = Forgotten::default();
        let most = u64::from(forget.limit);
        let mut transaction = self.database.write().await?;
        let mut connection = transaction.connection();
        days::note(&mut connection, now).await?;
        if let Some(reached) = days::reached(&mut connection, forget.judgements_days, now).await? {
            gone.judgements = judgements(&mut connection, &reached, forget.limit).await?;
        }
        if let Some(reached) = days::reached(&mut connection, forget.told_days, now).await? {
            gone.told = told(&mut connection, &reached, forget.limit).await?;
        }
        if let Some(reached) = days::reached(&mut connection, forget.refused_days, now).await? {
            gone.refused = refused(&mut connection, &reached).await?;
        }
        let reached = days::reached(&mut connection, forget.events_days, now).await?;
        transaction.commit().await?;
        let (events, more_events) = self.forget_events(reached, forget.limit, now).await?;
        gone.events = events;
        gone.has_more = gone.judgements >= most || gone.told >= most || more_events;
        Ok(gone)
    }

    /// Returns how much room the store takes.
    pub async fn size(&self) -> Result<StoreSize, StoreError> {
        room::size(&mut self.database.read().await?).await
    }

    /// Returns how much the windows of each gateway take, the one with the most bytes first.
    pub async fn parts(&self) -> Result<Vec<GatewayPart>, StoreError> {
        room::parts(&mut self.database.read().await?).await
    }

    /// Deletes one amount of a gateway's windows, of a stage. What waits for a judgement, has still
    /// to leave, is the last window of a bearing, or has a run or a document under way stays; so do
    /// episodes, notifications, open work and users. For spectra the look begins behind `after`.
    pub async fn make_room(
        &self,
        stage: RoomStage,
        gateway: &GatewayKey,
        after: Option<EventId>,
        limit: u32,
    ) -> Result<RoomMade, StoreError> {
        let mut transaction = self.database.write().await?;
        let mut connection = transaction.connection();
        let made = match stage {
            RoomStage::Spectra => {
                room::drop_spectra(&mut connection, gateway, after, limit).await?
            }
            RoomStage::NormalWindows => {
                room::drop_windows(&mut connection, true, gateway, limit).await?
            }
            RoomStage::OtherWindows => {
                room::drop_windows(&mut connection, false, gateway, limit).await?
            }
        };
        transaction.commit().await?;
        Ok(made)
    }

    /// Gives the room of deleted rows to new ones, which a server does by itself only in time.
    pub async fn reuse_room(&self) -> Result<(), StoreError> {
        match &self.database {
            // deleted pages are on the free list at once
            Database::Sqlite(_) => Ok(()),
            Database::Postgres(_) => {
                for statement in ["VACUUM events", "VACUUM pdm_agent_memory", "VACUUM trace_steps"]
                {
                    self.database.read().await?.query(statement).execute().await?;
                }
                Ok(())
            }
        }
    }
}

impl RetentionStore {
    /// Deletes judged events up to `reached`; tells how many, and whether there may be more. In a
    /// file rows are deleted, on a server whole partitions are dropped.
    async fn forget_events(
        &self,
        reached: Option<Reached>,
        limit: u32,
        now: Timestamp,
    ) -> Result<(u64, bool), StoreError> {
        match &self.database {
            Database::Sqlite(_) => match reached {
                Some(reached) => self.delete_events(&reached, limit).await,
                None => Ok((0, false)),
            },
            Database::Postgres(server) => server.forget_events(reached, limit, now).await,
        }
    }

    async fn delete_events(
        &self,
        reached: &Reached,
        limit: u32,
    ) -> Result<(u64, bool), StoreError> {
        let mut transaction = self.database.write().await?;
        let gone = transaction
            .connection()
            .query(
                "DELETE FROM events WHERE arrival IN (
                     SELECT arrival FROM events WHERE arrival <= $1 AND judged = 1
                     ORDER BY arrival LIMIT $2)",
            )
            .bind(reached.arrival)
            .bind(i64::from(limit))
            .execute()
            .await?;
        transaction.commit().await?;
        Ok((gone, gone >= u64::from(limit)))
    }
}

async fn judgements(
    connection: &mut Connection<'_>,
    reached: &Reached,
    limit: u32,
) -> Result<u64, StoreError> {
    let rows = connection
        .query(&DROP_JUDGEMENTS)
        .bind(reached.judgement)
        .bind(reached.outbox_next_day)
        .bind(i64::from(limit))
        .fetch_all()
        .await?;
    let events = rows.iter().map(|row| row.get(0).map(EventId));
    let events = events.collect::<Result<Vec<EventId>, StoreError>>()?;
    drop_what_hangs_on(connection, &events).await?;
    Ok(events.len() as u64)
}

/// Deletes what hangs on judgements that are gone.
pub(super) async fn drop_what_hangs_on(
    connection: &mut Connection<'_>,
    events: &[EventId],
) -> Result<(), StoreError> {
    for drop in [&DROP_STEPS, &DROP_WORK, &DROP_OPINIONS, &DROP_LAST] {
        let of_events: Identities = events.iter().collect();
        connection.query(drop).bind(of_events).execute().await?;
    }
    Ok(())
}

/// Deletes settled rows of the outbox, acknowledgements, closed episodes and notifications; tells
/// how many notifications. The notification of an open episode stays.
async fn told(
    connection: &mut Connection<'_>,
    reached: &Reached,
    limit: u32,
) -> Result<u64, StoreError> {
    let limit = i64::from(limit);
    connection
        .query(
            "DELETE FROM outbox WHERE id IN (
                 SELECT id FROM outbox WHERE state NOT IN ($1, $4) AND id <= $2
                 ORDER BY id LIMIT $3)",
        )
        .bind(OutboxState::Waiting.as_str())
        .bind(reached.outbox)
        .bind(limit)
        .bind(OutboxState::Held.as_str())
        .execute()
        .await?;
    connection
        .query(
            "DELETE FROM acknowledgements WHERE id IN (
                 SELECT id FROM acknowledgements WHERE id <= $1 ORDER BY id LIMIT $2)",
        )
        .bind(reached.acknowledgement)
        .bind(limit)
        .execute()
        .await?;
    connection
        .query(
            "DELETE FROM episodes WHERE episode_id IN (
                 SELECT episode_id FROM episodes
                 WHERE closed_at_ms IS NOT NULL AND changed_at_ms < $1 LIMIT $2)",
        )
        .bind(reached.before_ms)
        .bind(limit)
        .execute()
        .await?;
    // a notification stays for as long as its rows of the outbox, whatever time its clock wrote
    connection
        .query(
            "DELETE FROM notifications WHERE notification_id IN (
                 SELECT told.notification_id FROM notifications told
                 WHERE told.created_at_ms < $1
                   AND NOT EXISTS (SELECT 1 FROM episodes
                                   WHERE episodes.notification_id = told.notification_id
                                     AND episodes.closed_at_ms IS NULL)
                   AND NOT EXISTS (SELECT 1 FROM outbox
                                   WHERE outbox.notification_id = told.notification_id)
                 LIMIT $2)",
        )
        .bind(reached.before_ms)
        .bind(limit)
        .execute()
        .await
}

async fn refused(connection: &mut Connection<'_>, reached: &Reached) -> Result<u64, StoreError> {
    let query = connection.query("DELETE FROM dead_letters WHERE last_at_ms < $1");
    query.bind(reached.before_ms).execute().await
}
