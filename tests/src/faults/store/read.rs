//! Reads the agent's tables: the same queries for both databases, compiled with the types of each.

/// Counts the rows of the outbox to be sent, with the reason why the first has not been sent.
macro_rules! unsent {
    () => {
        "(SELECT count(*) FROM outbox WHERE state = 'waiting'),
         (SELECT lane || ', ' || attempts || ' tries, due ' || due_at_ms || ', claimed until '
                 || claimed_until_ms || ': ' || coalesce(last_error, 'no error')
          FROM outbox WHERE state = 'waiting' ORDER BY id LIMIT 1)"
    };
}

/// Reads `$place` after `connect`; `$unjudged` and `$identity` differ between the databases.
macro_rules! reader {
    (
        $place:ty, $connection:ty, $connect:path, $unjudged:literal, $identity:literal, $key:literal
    ) => {
        pub(in super::super) async fn level(place: &$place) -> Result<Level, sqlx::Error> {
            let mut connection = $connect(place).await?;
            let row = sqlx::query(concat!(
                "SELECT (SELECT count(*) FROM events), ",
                $unjudged,
                ", ",
                unsent!()
            ))
            .fetch_one(&mut connection)
            .await;
            connection.close().await?;
            let row = row?;
            Ok(Level {
                events: row.try_get(0)?,
                unjudged: row.try_get(1)?,
                unsent: row.try_get(2)?,
                why: row.try_get(3)?,
            })
        }

        pub(in super::super) async fn kept(place: &$place) -> anyhow::Result<Kept> {
            let mut connection = $connect(place).await?;
            let mut kept = Kept { events: events(&mut connection).await?, ..Kept::default() };
            judged_and_told(&mut connection, &mut kept).await?;
            let outbox = sqlx::query("SELECT state, count(*) FROM outbox GROUP BY state");
            for row in outbox.fetch_all(&mut connection).await? {
                kept.outbox.insert(row.try_get(0)?, row.try_get(1)?);
            }
            let mails = sqlx::query(concat!(
                "SELECT ",
                $key,
                ", group_key FROM outbox WHERE lane = 'email' ORDER BY id"
            ));
            for row in mails.fetch_all(&mut connection).await? {
                let key = Uuid::from_slice(row.try_get(0)?).context("an idempotency key")?;
                kept.mails_due.push(MailDue { key, group: row.try_get(1)? });
            }
            let letters = sqlx::query("SELECT reason || ' on ' || topic FROM dead_letters");
            for row in letters.fetch_all(&mut connection).await? {
                kept.dead_letters.push(row.try_get(0)?);
            }
            connection.close().await?;
            Ok(kept)
        }

        async fn events(connection: &mut $connection) -> Result<Vec<Stored>, sqlx::Error> {
            let mut rows = sqlx::query(concat!(
                "SELECT gateway_id, sequence, ",
                $identity,
                ", equipment_id || '/' || bearing_id, measured_at_ms, payload
                 FROM events ORDER BY arrival"
            ))
            .fetch(connection);
            let mut events = Vec::new();
            // row by row, because all payloads together are gigabytes
            while let Some(row) = rows.try_next().await? {
                events.push(Stored {
                    gateway: row.try_get(0)?,
                    sequence: row.try_get(1)?,
                    event_id: row.try_get(2)?,
                    bearing: row.try_get(3)?,
                    measured_at_ms: row.try_get(4)?,
                    digest: Digest::of(row.try_get::<&str, _>(5)?.as_bytes()),
                });
            }
            Ok(events)
        }

        async fn judged_and_told(
            connection: &mut $connection,
            kept: &mut Kept,
        ) -> anyhow::Result<()> {
            let mut judged = sqlx::query(
                "SELECT equipment_id || '/' || bearing_id, diagnosis FROM pdm_agent_memory
                 ORDER BY id",
            )
            .fetch(&mut *connection);
            while let Some(row) = judged.try_next().await? {
                let judged = serde_json::from_str(row.try_get(1)?).context("a diagnosis")?;
                kept.judgements.push((row.try_get(0)?, judged));
            }
            drop(judged);
            let told = sqlx::query("SELECT notification FROM notifications ORDER BY created_at_ms");
            for row in told.fetch_all(&mut *connection).await? {
                let told = serde_json::from_str(row.try_get(0)?).context("a notification")?;
                kept.notifications.push(told);
            }
            Ok(())
        }
    };
}

pub(super) mod sqlite {
    use std::path::Path;

    use anyhow::Context as _;
    use futures_util::TryStreamExt as _;
    use sqlx::{ConnectOptions as _, Connection as _, Row as _, SqliteConnection};

    use uuid::Uuid;

    use super::super::{Kept, Level, MailDue, Stored};
    use crate::faults::oracle::Digest;
    use crate::faults::witness::reading;

    async fn connect(file: &Path) -> Result<SqliteConnection, sqlx::Error> {
        reading(file).connect().await
    }

    reader!(
        Path,
        SqliteConnection,
        connect,
        "(SELECT count(*) FROM events WHERE judged = 0)",
        "event_id",
        "idempotency_key"
    );
}

pub(super) mod postgres {
    use anyhow::Context as _;
    use futures_util::TryStreamExt as _;
    use sqlx::{Connection as _, PgConnection, Row as _};

    use uuid::Uuid;

    use super::super::{Kept, Level, MailDue, Stored};
    use crate::faults::oracle::Digest;

    async fn connect(url: &str) -> Result<PgConnection, sqlx::Error> {
        PgConnection::connect(url).await
    }

    reader!(
        str,
        PgConnection,
        connect,
        "(SELECT count(*) FROM events_unjudged)",
        "uuid_send(event_id)",
        "uuid_send(idempotency_key)"
    );
}
