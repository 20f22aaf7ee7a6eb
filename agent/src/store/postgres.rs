//! The store on a PostgreSQL server, for one agent or several replicas.
//!
//! What is committed is durable as the server is configured (`synchronous_commit` is left alone).
//! Replicas meet in the database only: a gateway's sequence is followed under its row's lock, a
//! bearing is judged under its advisory lock (`turns`), a claim of the outbox names its replica. Every
//! statement has a time-out. Connections are made anew as they are needed: whoever calls tries again.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use pdm_service::postgres;
use pdm_service::postgres::PostgresSettings;
use pdm_shared::time::Timestamp;
use sqlx::PgPool;
use sqlx::postgres::{PgConnectOptions, PgPoolOptions};
use tokio::sync::Mutex;

use super::{Forget, Incoming, StoreError};
use turns::Turns;

mod bulk;
mod dialect;
mod partitions;
#[path = "sql/mod.rs"]
#[expect(clippy::duplicate_mod, reason = "the same SQL, compiled for each database's types")]
mod sql;
mod turns;

static MIGRATIONS: sqlx::migrate::Migrator = sqlx::migrate!("migrations/postgres");

/// How long a caller waits for a connection before it is told that the store is away.
const ACQUIRE: Duration = Duration::from_secs(30);

/// The store on a server.
#[derive(Debug, Clone)]
pub struct PostgresStore {
    pool: PgPool,
    replica: Arc<str>,
    turns: Arc<Mutex<Turns>>,
    weeks: Arc<partitions::Weeks>,
}

impl PostgresStore {
    /// Connects under the name of this replica. [`super::Store::migrate`] comes next.
    ///
    /// # Errors
    /// [`StoreError::Open`] if the server cannot be reached or refuses.
    pub async fn open(settings: &PostgresSettings, replica: &str) -> Result<Self, StoreError> {
        let failed = |source| StoreError::Open { place: settings.url.clone(), source };
        let options = options(settings, replica)?;
        let pool = PgPoolOptions::new()
            .max_connections(settings.connections)
            .acquire_timeout(ACQUIRE)
            .connect_with(options)
            .await
            .map_err(failed)?;
        Ok(Self { pool, replica: replica.into(), turns: Arc::default(), weeks: Arc::default() })
    }

    fn writer(&self) -> &PgPool {
        &self.pool
    }

    fn reader(&self) -> &PgPool {
        &self.pool
    }

    fn replica(&self) -> &str {
        &self.replica
    }

    async fn install(&self) -> Result<(), StoreError> {
        MIGRATIONS.run(&self.pool).await.map_err(StoreError::Migrate)
    }

    /// Makes the weeks that the batch's events belong to.
    async fn make_room(&self, batch: &[Incoming], now: Timestamp) -> Result<(), StoreError> {
        let weeks: BTreeSet<partitions::Week> = batch
            .iter()
            .filter_map(|incoming| match incoming {
                Incoming::Event { event, .. } => partitions::Week::of_event(event.event_id.0, now),
                Incoming::Status { .. } | Incoming::Ack { .. } | Incoming::Refused(_) => None,
            })
            .collect();
        partitions::make(self, weeks).await
    }

    /// Makes the weeks to come, drops those that are past.
    async fn forget_events(
        &self,
        forget: &Forget,
        now: Timestamp,
    ) -> Result<(u64, bool), StoreError> {
        partitions::ahead(self, now).await?;
        let mut connection = self.pool.acquire().await?;
        let reached = sql::days::reached(&mut connection, forget.events_days, now).await?;
        drop(connection);
        match reached {
            Some(reached) => partitions::drop_reached(self, &reached, now, forget.limit).await,
            None => Ok((0, false)),
        }
    }

    async fn end(&self) {
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
        // a replica whose machine is gone frees its locks within a minute
        ("tcp_keepalives_idle", "30"),
        ("tcp_keepalives_interval", "10"),
        ("tcp_keepalives_count", "3"),
    ]))
}

#[cfg(test)]
mod tests;
