//! The store on a PostgreSQL server, for one agent or several replicas.
//!
//! A commit is as durable as the server is configured (`synchronous_commit` is left alone).
//! Replicas coordinate through the database alone: a gateway's sequence is followed under the lock of
//! its row, a bearing is judged under its advisory lock (`turns`), a claim of the outbox names its
//! replica. Every statement has a time-out. A lost connection is replaced at the next call, so a caller
//! that gets [`StoreError::Unavailable`] tries again.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use pdm_service::postgres;
use pdm_service::postgres::PostgresSettings;
use pdm_shared::time::Timestamp;
use sqlx::PgPool;
use sqlx::postgres::{PgConnectOptions, PgPoolOptions};
use tokio::sync::Mutex;

use super::sql::days::Reached;
use super::{Incoming, StoreError};

use partitions::{Week, Weeks};
use turns::Turns;

pub(super) mod bulk;
mod partitions;
mod turns;

static MIGRATIONS: sqlx::migrate::Migrator = sqlx::migrate!("migrations/postgres");

/// How long a caller waits for a connection until the store counts as unavailable: as long as one
/// statement may take by default.
const ACQUIRE: Duration = Duration::from_secs(30);

/// One server.
#[derive(Debug, Clone)]
pub(super) struct Postgres {
    pool: PgPool,
    replica: Arc<str>,
    turns: Arc<Mutex<Turns>>,
    weeks: Arc<Weeks>,
}

impl Postgres {
    /// Connects under the name of this replica.
    pub(super) async fn open(
        settings: &PostgresSettings,
        replica: &str,
    ) -> Result<Self, StoreError> {
        let cannot_open = |source| StoreError::Open { place: settings.url.clone(), source };
        let options = options(settings, replica)?;
        let pool = PgPoolOptions::new()
            .max_connections(settings.connections)
            .acquire_timeout(ACQUIRE)
            .connect_with(options)
            .await
            .map_err(cannot_open)?;
        Ok(Self { pool, replica: replica.into(), turns: Arc::default(), weeks: Arc::default() })
    }

    pub(super) fn pool(&self) -> &PgPool {
        &self.pool
    }

    pub(super) fn replica(&self) -> &str {
        &self.replica
    }

    pub(super) async fn migrate(&self) -> Result<(), StoreError> {
        MIGRATIONS.run(&self.pool).await.map_err(StoreError::Migrate)
    }

    /// Installs the schema as it was before a version.
    #[cfg(test)]
    pub(super) async fn migrate_before(&self, version: i64) {
        let earlier = MIGRATIONS.iter().filter(|one| one.version < version).cloned().collect();
        let earlier = sqlx::migrate::Migrator::with_migrations(earlier);
        earlier.run(&self.pool).await.expect("migrated");
    }

    /// Makes the partitions of the weeks that the batch's events belong to.
    pub(super) async fn make_partitions(
        &self,
        batch: &[Incoming],
        now: Timestamp,
    ) -> Result<(), StoreError> {
        let weeks: BTreeSet<Week> = batch
            .iter()
            .filter_map(|incoming| match incoming {
                Incoming::Event { event, .. } => Week::of_event(event.event_id.0, now),
                Incoming::Status { .. }
                | Incoming::Ack { .. }
                | Incoming::Shelve { .. }
                | Incoming::FollowUp { .. }
                | Incoming::Refused(_) => None,
            })
            .collect();
        partitions::make(self, weeks).await
    }

    /// Makes the partitions of the coming weeks and drops those of past weeks up to `reached`; tells
    /// how many events are gone, and whether there may be more.
    pub(super) async fn forget_events(
        &self,
        reached: Option<Reached>,
        limit: u32,
        now: Timestamp,
    ) -> Result<(u64, bool), StoreError> {
        partitions::make_ahead(self, now).await?;
        match reached {
            Some(reached) => partitions::drop_reached(self, &reached, now, limit).await,
            None => Ok((0, false)),
        }
    }

    /// Ends the session that holds the turns first, so that its locks are free at once; then closes the
    /// pool.
    pub(super) async fn close(&self) {
        self.turns.lock().await.end().await;
        self.pool.close().await;
    }
}

fn options(settings: &PostgresSettings, replica: &str) -> Result<PgConnectOptions, StoreError> {
    let options = postgres::options(settings)?;
    let statement_ms = (settings.statement_timeout_s * 1000.0).to_string();
    Ok(options.application_name(&format!("pdm-agent {replica}")).options([
        ("statement_timeout", statement_ms.as_str()),
        ("idle_in_transaction_session_timeout", "60000"),
        // a replica whose machine is gone frees its locks within a minute: 30 s + 3 × 10 s
        ("tcp_keepalives_idle", "30"),
        ("tcp_keepalives_interval", "10"),
        ("tcp_keepalives_count", "3"),
    ]))
}

#[cfg(test)]
mod tests;
