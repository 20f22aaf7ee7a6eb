//! The store on a PostgreSQL server, for one agent or several replicas.
//!
//! A commit is as durable as the server is configured (`synchronous_commit` is left alone).
//! Replicas coordinate through the database alone: a gateway's sequence is followed under the lock
//! of its row, a bearing is judged under its advisory lock (`turns`), a claim of the outbox names
//! its replica. Every statement has a time-out. A lost connection is replaced at the next call, so
//! a caller that gets [`StoreError::Unavailable`] tries again.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex as StdMutex, PoisonError};
use std::time::{Duration, Instant};

use pdm_service::postgres::{self, PostgresSettings, WayError};
use pdm_service::secret::Secret;
use pdm_shared::time::Timestamp;
use sqlx::migrate::Migrator;
use sqlx::postgres::{PgConnectOptions, PgPoolOptions};
use sqlx::{ConnectOptions as _, Connection as _, PgPool};
use tokio::sync::Mutex;

use super::days::Reached;
use super::last_write::LastWrite;
use crate::suspicion;
use crate::{Incoming, MissingRows, StoreError, StoreTrouble, Unfit, log};

use partitions::{Week, Weeks};
use turns::Turns;

pub(crate) mod bulk;
mod fitness;
mod partitions;
mod sequences;
mod turns;

static MIGRATIONS: Migrator = sqlx::migrate!("migrations/postgres");

/// How long a caller waits for a connection until the store counts as unavailable: as long as one
/// statement may take by default.
const ACQUIRE: Duration = Duration::from_secs(30);

/// One server.
#[derive(Debug, Clone)]
pub(crate) struct Postgres {
    pool: PgPool,
    settings: Arc<PostgresSettings>,
    /// The password that new connections use.
    password: Arc<StdMutex<Option<Secret>>>,
    replica: Arc<str>,
    turns: Arc<Mutex<Turns>>,
    weeks: Arc<Weeks>,
    /// Where the agent has a folder of its own.
    marker: Option<Arc<LastWrite>>,
    /// The time of the last row of `heartbeats` of this run, ms; `i64::MIN` before the first one.
    beaten_ms: Arc<AtomicI64>,
    /// Sessions that were opened before this are closed and not used again.
    renewed_at: Arc<StdMutex<Option<Instant>>>,
}

impl Postgres {
    /// Connects under the name of this replica.
    pub(crate) async fn open(
        settings: &PostgresSettings,
        replica: &str,
    ) -> Result<Self, StoreError> {
        let cannot_open = |source| StoreError::Open { place: settings.url.clone(), source };
        let password = password(settings)?;
        let options = options(settings, replica)?;
        fitness::examine(&options, &settings.url).await?;
        let renewed_at: Arc<StdMutex<Option<Instant>>> = Arc::default();
        let known = Arc::clone(&renewed_at);
        let pool = PgPoolOptions::new()
            .max_connections(settings.connections)
            .acquire_timeout(ACQUIRE)
            .before_acquire(move |_connection, meta| {
                let renewed_at = *known.lock().unwrap_or_else(PoisonError::into_inner);
                let is_old = renewed_at.is_some_and(|at| at.elapsed() <= meta.age);
                let is_sound = !is_old && !suspicion::is_raised();
                Box::pin(async move { Ok(is_sound) })
            })
            .connect_with(options)
            .await
            .map_err(cannot_open)?;
        Ok(Self {
            pool,
            settings: Arc::new(settings.clone()),
            password: Arc::new(StdMutex::new(password)),
            replica: replica.into(),
            turns: Arc::default(),
            weeks: Arc::default(),
            marker: None,
            beaten_ms: Arc::new(AtomicI64::new(i64::MIN)),
            renewed_at,
        })
    }

    /// Returns the server with the marker of the last write in this folder.
    pub(crate) fn marked_in(mut self, folder: Option<&Path>) -> Self {
        let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '-';
        let name = self.replica.replace(|c| !is_plain(c), "_");
        let beside = folder.map(|folder| folder.join(format!("store-{name}")));
        self.marker = beside.map(|path| Arc::new(LastWrite::beside(&path)));
        self
    }

    /// Returns when the agent last wrote into the database, as its marker tells.
    pub(crate) fn last_write_ms(&self) -> Option<i64> {
        self.marker.as_ref()?.read_ms()
    }

    /// Notes that a row of this time is in the database; what the row that was there before says is
    /// missing of this run.
    pub(crate) fn note_write(&self, at_ms: i64, found_ms: Option<i64>) -> Option<MissingRows> {
        if let Some(marker) = &self.marker {
            marker.note(at_ms);
        }
        let beaten_ms = self.beaten_ms.swap(at_ms, Ordering::Relaxed);
        if beaten_ms == i64::MIN { None } else { self.missing(beaten_ms, found_ms) }
    }

    /// Returns the missing rows, if the newest row was written at `found_ms` and the agent last
    /// wrote at `written_ms`; `None` if none are missing.
    pub(crate) fn missing(&self, written_ms: i64, found_ms: Option<i64>) -> Option<MissingRows> {
        // a row that was confirmed is there: a replica that takes over, or a server that crashes
        // with `synchronous_commit = off`, lacks it, and with it the events of the same seconds
        if found_ms.is_some_and(|found_ms| found_ms >= written_ms) {
            return None;
        }
        Some(MissingRows {
            place: self.settings.url.clone(),
            is_server: true,
            written_at: Timestamp::from_unix_ms(written_ms)?,
            found_at: found_ms.and_then(Timestamp::from_unix_ms),
        })
    }

    /// Reads the password again; new connections use it.
    pub(crate) fn renew_login(&self) -> Result<(), StoreError> {
        let now = password(&self.settings)?;
        let mut known = self.password.lock().unwrap_or_else(PoisonError::into_inner);
        if *known != now {
            self.pool.set_connect_options(options(&self.settings, &self.replica)?);
            *known = now;
            log::login_renewed();
        }
        Ok(())
    }

    /// Where a session has given the answer of another one, asks for the pooler's mode before
    /// anything else; the sessions of before are not used again.
    pub(crate) async fn examine_again(&self) -> Result<(), StoreError> {
        if !suspicion::is_raised() {
            return Ok(());
        }
        self.renew_sessions();
        let options = options(&self.settings, &self.replica)?;
        fitness::examine(&options, &self.settings.url).await?;
        self.renew_sessions();
        suspicion::end();
        Ok(())
    }

    /// Sessions that are open now are closed before they are used again.
    fn renew_sessions(&self) {
        let mut renewed_at = self.renewed_at.lock().unwrap_or_else(PoisonError::into_inner);
        *renewed_at = Some(Instant::now());
    }

    /// Asks over a new connection why the server does not answer.
    pub(crate) async fn diagnose(&self) -> Result<(), StoreError> {
        let mut connection = self.pool.connect_options().connect().await?;
        sqlx::raw_sql("SELECT 1").execute(&mut connection).await?;
        // the result does not matter: nothing depends on the connection any more
        let _closed = connection.close().await;
        Ok(())
    }

    /// The error of a write, with the server's role where the server only says that it may not be
    /// written.
    pub(crate) async fn of_write(&self, error: StoreError) -> StoreError {
        let is_read_only = StoreTrouble::from(&error) == StoreTrouble::ReadOnly;
        if is_read_only {
            // a session keeps the `default_transaction_read_only` of its login: one of today may
            // write again
            self.renew_sessions();
        }
        if is_read_only && fitness::is_standby(&self.pool.connect_options()).await {
            return StoreError::Unfit { place: self.settings.url.clone(), unfit: Unfit::Standby };
        }
        error
    }

    pub(crate) fn pool(&self) -> &PgPool {
        &self.pool
    }

    pub(crate) fn replica(&self) -> &str {
        &self.replica
    }

    pub(crate) async fn migrate(&self) -> Result<(), StoreError> {
        MIGRATIONS
            .run(&self.pool)
            .await
            .map_err(|error| StoreError::of_migration(error, &MIGRATIONS))?;
        match sequences::mend(&self.pool).await {
            // a role that may not look at them may still write rows, and what is behind is told
            // then
            Err(error) if StoreTrouble::from(&error) == StoreTrouble::Rights => {
                log::sequences_not_looked_at(&error);
                Ok(())
            }
            mended => mended,
        }
    }

    /// Installs the schema as it was before a version.
    #[cfg(test)]
    pub(crate) async fn migrate_before(&self, version: i64) {
        let earlier = MIGRATIONS.iter().filter(|one| one.version < version).cloned().collect();
        let earlier = sqlx::migrate::Migrator::with_migrations(earlier);
        earlier.run(&self.pool).await.expect("migrated");
    }

    /// Makes the partitions of the weeks that the batch's events belong to.
    pub(crate) async fn make_partitions(
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

    /// Makes the partitions of the coming weeks and drops those of past weeks up to `reached`;
    /// tells how many events are gone, and whether there may be more.
    pub(crate) async fn forget_events(
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

    /// Ends the session that holds the turns first, so that its locks are free at once; then closes
    /// the pool.
    pub(crate) async fn close(&self) {
        self.turns.lock().await.end().await;
        self.pool.close().await;
    }
}

fn password(settings: &PostgresSettings) -> Result<Option<Secret>, StoreError> {
    let password =
        settings.password.as_ref().map(pdm_service::secret::SecretSource::fetch).transpose();
    password.map_err(|error| StoreError::Way(WayError::Password(error)))
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
