//! The store in one SQLite file, for one agent.
//!
//! WAL with `synchronous = FULL`: what is committed survives a power cut. One connection writes, so
//! that writers queue in this process and never meet `SQLITE_BUSY`; a few others read beside it.

use std::path::Path;
use std::str::FromStr;
use std::time::Duration;

use async_trait::async_trait;
use pdm_shared::clock::Timestamp;
use pdm_shared::delivery::{Notification, Receipt};
use pdm_shared::diagnosis::Diagnosis;
use pdm_shared::event::Event;
use pdm_shared::fault::Fault;
use pdm_shared::id::{EquipmentId, EventId, GatewayId, SiteId};
use pdm_shared::risk::RiskLevel;
use serde::Serialize;
use serde::de::DeserializeOwned;
use sqlx::sqlite::{SqliteConnectOptions, SqliteJournalMode, SqlitePoolOptions, SqliteSynchronous};
use sqlx::{Row, SqlitePool};
use uuid::Uuid;

use super::{
    Alarm, Announcement, Backlog, BearingJudged, Checkpoint, Claimed, FollowUp, GatewayState,
    Incoming, Outcome, Outgoing, PastEvent, Recall, Store, StoreError, Stored, TraceStep, Unjudged,
};
use crate::progress::BearingKey;

mod alarms;
mod gateways;
mod history;
mod intake;
mod judging;
mod outbox;
mod runs;
mod telling;

static MIGRATIONS: sqlx::migrate::Migrator = sqlx::migrate!("migrations/sqlite");

/// Connections that read.
const READERS: u32 = 3;
/// How long a writer waits for another process that holds the file.
const BUSY: Duration = Duration::from_secs(10);
/// How long a caller waits for a connection before it is told that the store is away.
const ACQUIRE: Duration = Duration::from_secs(30);

/// The store in one file.
#[derive(Debug, Clone)]
pub struct SqliteStore {
    writer: SqlitePool,
    reader: SqlitePool,
}

impl SqliteStore {
    /// Opens the file, creating it and its folder if need be. [`Store::migrate`] comes next.
    ///
    /// # Errors
    /// [`StoreError::Open`] if it cannot be opened.
    pub async fn open(path: &Path) -> Result<Self, StoreError> {
        let failed =
            |source: sqlx::Error| StoreError::Open { place: path.display().to_string(), source };
        if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
            std::fs::create_dir_all(folder).map_err(|error| failed(error.into()))?;
        }
        let options = SqliteConnectOptions::new()
            .filename(path)
            .create_if_missing(true)
            .journal_mode(SqliteJournalMode::Wal)
            .synchronous(SqliteSynchronous::Full)
            .foreign_keys(true)
            .busy_timeout(BUSY);
        let writer = SqlitePoolOptions::new()
            .max_connections(1)
            .acquire_timeout(ACQUIRE)
            .connect_with(options.clone())
            .await
            .map_err(failed)?;
        let reader = SqlitePoolOptions::new()
            .max_connections(READERS)
            .acquire_timeout(ACQUIRE)
            .connect_with(options)
            .await
            .map_err(failed)?;
        Ok(Self { writer, reader })
    }
}

#[async_trait]
impl Store for SqliteStore {
    async fn migrate(&self) -> Result<(), StoreError> {
        MIGRATIONS.run(&self.writer).await.map_err(StoreError::Migrate)?;
        // claims of a process that is gone: this file has one agent
        sqlx::query("UPDATE outbox SET claimed_until_ms = 0 WHERE state = 'waiting'")
            .execute(&self.writer)
            .await?;
        Ok(())
    }

    async fn ping(&self) -> Result<(), StoreError> {
        sqlx::query("SELECT 1").execute(&self.reader).await?;
        Ok(())
    }

    async fn store(
        &self,
        batch: &[Incoming],
        now: Timestamp,
        dead_letter_topic: &str,
    ) -> Result<Stored, StoreError> {
        intake::store(&self.writer, batch, now, dead_letter_topic).await
    }

    async fn receipts(
        &self,
        gateways: &[GatewayId],
        now: Timestamp,
    ) -> Result<Vec<(SiteId, Receipt)>, StoreError> {
        gateways::receipts(&self.reader, gateways, now).await
    }

    async fn lose_gaps(&self, before: Timestamp) -> Result<u64, StoreError> {
        gateways::lose_gaps(&self.writer, before).await
    }

    async fn gateways(&self) -> Result<Vec<GatewayState>, StoreError> {
        gateways::list(&self.reader).await
    }

    async fn unjudged(&self, limit: u32) -> Result<Vec<Unjudged>, StoreError> {
        judging::unjudged(&self.reader, limit).await
    }

    async fn recall(&self, key: &BearingKey) -> Result<Recall, StoreError> {
        judging::recall(&self.reader, key).await
    }

    async fn save(&self, judged: &[BearingJudged]) -> Result<(), StoreError> {
        judging::save(&self.writer, judged).await
    }

    async fn diagnosis(&self, event_id: EventId) -> Result<Option<Diagnosis>, StoreError> {
        judging::diagnosis(&self.reader, event_id).await
    }

    async fn event(&self, event_id: EventId) -> Result<Option<Event>, StoreError> {
        history::event(&self.reader, event_id).await
    }

    async fn history(
        &self,
        key: &BearingKey,
        until: Timestamp,
        limit: u32,
    ) -> Result<Vec<PastEvent>, StoreError> {
        history::history(&self.reader, key, until, limit).await
    }

    async fn checkpoint(
        &self,
        event_id: EventId,
        checkpoint: &Checkpoint,
        steps: &[TraceStep],
    ) -> Result<(), StoreError> {
        runs::checkpoint(&self.writer, event_id, checkpoint, steps).await
    }

    async fn trace(&self, event_id: EventId) -> Result<Vec<TraceStep>, StoreError> {
        runs::trace(&self.reader, event_id).await
    }

    async fn follow_up(&self, event_id: EventId) -> Result<Vec<FollowUp>, StoreError> {
        runs::follow_up(&self.reader, event_id).await
    }

    async fn follow(&self, event_id: EventId, actions: &[FollowUp]) -> Result<bool, StoreError> {
        runs::follow(&self.writer, event_id, actions).await
    }

    async fn alarms_to_repeat(
        &self,
        now: Timestamp,
        limit: u32,
    ) -> Result<Vec<(BearingKey, Alarm)>, StoreError> {
        alarms::to_repeat(&self.reader, now, limit).await
    }

    async fn alarm(&self, key: &BearingKey) -> Result<Option<Alarm>, StoreError> {
        let mut connection = self.reader.acquire().await?;
        alarms::read(&mut connection, key).await
    }

    async fn announce(
        &self,
        key: &BearingKey,
        expected: Option<Uuid>,
        announcement: &Announcement,
    ) -> Result<bool, StoreError> {
        alarms::announce(&self.writer, key, expected, announcement).await
    }

    async fn bearings_of(
        &self,
        equipment: &EquipmentId,
    ) -> Result<Vec<(BearingKey, RiskLevel)>, StoreError> {
        telling::bearings_of(&self.reader, equipment).await
    }

    async fn tell(
        &self,
        notification: &Notification,
        outgoing: &[Outgoing],
    ) -> Result<bool, StoreError> {
        telling::tell(&self.writer, notification, outgoing).await
    }

    async fn claim(
        &self,
        lane: &str,
        now: Timestamp,
        until: Timestamp,
        limit: u32,
    ) -> Result<Vec<Claimed>, StoreError> {
        outbox::claim(&self.writer, lane, now, until, limit).await
    }

    async fn settle(&self, outcomes: &[(i64, Outcome)], now: Timestamp) -> Result<(), StoreError> {
        outbox::settle(&self.writer, outcomes, now).await
    }

    async fn backlog(&self) -> Result<Backlog, StoreError> {
        let row = sqlx::query(
            "SELECT (SELECT count(*) FROM events WHERE judged = 0),
                    (SELECT count(*) FROM outbox WHERE state = 'waiting'),
                    (SELECT count(*) FROM outbox WHERE state = 'given_up'),
                    (SELECT count(*) FROM dead_letters)",
        )
        .fetch_one(&self.reader)
        .await?;
        let count = |index: usize| row.get::<i64, _>(index).unsigned_abs();
        Ok(Backlog {
            unjudged: count(0),
            unsent: count(1),
            given_up: count(2),
            dead_letters: count(3),
        })
    }

    async fn close(&self) {
        self.reader.close().await;
        self.writer.close().await;
    }
}

fn uuid_of(bytes: &[u8]) -> Result<Uuid, StoreError> {
    Uuid::from_slice(bytes)
        .map_err(|error| StoreError::Content { what: "an identity", reason: error.to_string() })
}

fn time_of(ms: i64) -> Result<Timestamp, StoreError> {
    Timestamp::from_unix_ms(ms)
        .ok_or_else(|| StoreError::Content { what: "a time", reason: format!("{ms} ms") })
}

fn word_of<T: FromStr>(what: &'static str, word: &str) -> Result<T, StoreError>
where
    T::Err: std::fmt::Display,
{
    word.parse().map_err(|error: T::Err| StoreError::Content { what, reason: error.to_string() })
}

fn fault_of(word: &str) -> Result<Fault, StoreError> {
    json_of("a fault", &format!("\"{word}\""))
}

fn json_of<T: DeserializeOwned>(what: &'static str, text: &str) -> Result<T, StoreError> {
    serde_json::from_str(text)
        .map_err(|error| StoreError::Content { what, reason: error.to_string() })
}

fn to_json<T: Serialize>(what: &'static str, value: &T) -> Result<String, StoreError> {
    serde_json::to_string(value)
        .map_err(|error| StoreError::Content { what, reason: error.to_string() })
}

/// The word of a value that serialises to a string.
fn to_word<T: Serialize>(what: &'static str, value: &T) -> Result<String, StoreError> {
    Ok(to_json(what, value)?.trim_matches('"').to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn sqlite_does_what_every_store_must_do() {
        let folder = tempfile::tempdir().expect("folder");
        let count = std::sync::atomic::AtomicU32::new(0);
        crate::store::conformance::suite(async || {
            let number = count.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
            let path = folder.path().join(format!("{number}/agent.db"));
            SqliteStore::open(&path).await.expect("opens")
        })
        .await;
    }

    #[tokio::test]
    async fn a_file_that_is_no_database_is_named_in_the_error() {
        let folder = tempfile::tempdir().expect("folder");
        let path = folder.path().join("agent.db");
        std::fs::write(&path, "not a database, certainly not".repeat(100)).expect("write");
        let opened = SqliteStore::open(&path).await;
        let error = match opened {
            Ok(store) => store.migrate().await.expect_err("no database"),
            Err(error) => error,
        };
        assert!(error.to_string().contains("store"), "{error}");
    }

    #[tokio::test]
    async fn a_restarted_agent_sends_what_its_predecessor_had_claimed() {
        let folder = tempfile::tempdir().expect("folder");
        let path = folder.path().join("agent.db");
        let store = SqliteStore::open(&path).await.expect("opens");
        store.migrate().await.expect("migrated");
        let now = Timestamp::from_unix_ms(1_000_000).expect("in range");
        let letter = pdm_shared::delivery::DeadLetter::of("t", b"x", "r".to_owned(), now);
        store.store(&[Incoming::Refused(letter)], now, "dead").await.expect("stored");
        let later = now.plus_seconds(1e6);
        assert_eq!(store.claim("mqtt", now, later, 9).await.expect("claimed").len(), 1);
        store.close().await;
        let store = SqliteStore::open(&path).await.expect("opens");
        store.migrate().await.expect("migrated");
        assert_eq!(store.claim("mqtt", now, later, 9).await.expect("claimed").len(), 1);
    }
}
