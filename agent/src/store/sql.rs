//! The store in SQL: one file for each role of [`super::roles`], every statement written once.
//!
//! Invariants of the statements: parameters are `$1` and counted, numbers are 64 bits, times are
//! milliseconds, and a column of a conflicting row is named with its table, as PostgreSQL wants it.

use std::path::Path;
use std::sync::{Arc, LazyLock};

use async_trait::async_trait;
use pdm_service::postgres::PostgresSettings;
use pdm_shared::time::Timestamp;

use super::database::{Dialect, Pool, Session, Spelt, Transaction};
use super::outbox::OutboxState;
use super::postgres::Postgres;
use super::sqlite::Sqlite;
use super::{Backlog, LifecycleStore, Pulse, StatusStore, Store, StoreError};
use crate::settings::{StorePlace, StoreSettings};

mod accounts;
pub(super) mod bulk;
mod captures;
mod ceilings;
mod channels;
pub(super) mod days;
mod desk;
mod episodes;
mod follow_ups;
mod gateway_says;
mod gateways;
mod graph;
mod held;
mod history;
mod intake;
pub(super) mod judgements;
mod keys;
mod messages;
mod opinions;
mod outbox;
mod pages;
mod photos;
mod pins;
mod recollection;
mod refusals;
mod removal;
mod retention;
mod room;
mod runs;
mod series;
mod standing;
mod ways;
mod windows;
mod work_reports;

/// The store on a SQLite file or a PostgreSQL server.
#[derive(Debug, Clone)]
pub struct SqlStore {
    database: Database,
}

#[derive(Debug, Clone)]
enum Database {
    Sqlite(Sqlite),
    Postgres(Postgres),
}

/// Opens the configured store and brings its schema up to date.
///
/// # Errors
/// [`StoreError`] if either fails.
pub async fn open(settings: &StoreSettings) -> Result<Arc<dyn Store>, StoreError> {
    let store = connect(settings).await?;
    store.migrate().await?;
    Ok(store)
}

/// Opens the configured store without changing its schema, as another agent may be running on it.
///
/// # Errors
/// [`StoreError`] if the store cannot be opened.
pub async fn connect(settings: &StoreSettings) -> Result<Arc<dyn Store>, StoreError> {
    Ok(Arc::new(match &settings.place {
        StorePlace::Sqlite(path) => SqlStore::open_sqlite(path).await?,
        StorePlace::Postgres(server) => SqlStore::open_postgres(server, &settings.replica).await?,
    }))
}

impl SqlStore {
    /// Opens a SQLite file, creating it and its folder if need be. [`LifecycleStore::migrate`] has to
    /// follow.
    ///
    /// # Errors
    /// [`StoreError::Open`] if the file cannot be opened.
    pub async fn open_sqlite(path: &Path) -> Result<Self, StoreError> {
        Ok(Self::on(Sqlite::open(path).await?))
    }

    /// Connects to a PostgreSQL server under the name of this replica. [`LifecycleStore::migrate`] has
    /// to follow.
    ///
    /// # Errors
    /// [`StoreError::Open`] if the server cannot be reached or refuses, [`StoreError::Way`] if the
    /// settings name a password or certificate that cannot be read.
    pub async fn open_postgres(
        settings: &PostgresSettings,
        replica: &str,
    ) -> Result<Self, StoreError> {
        let database = Database::Postgres(Postgres::open(settings, replica).await?);
        Ok(Self { database })
    }

    /// The store on an open file.
    pub(super) const fn on(file: Sqlite) -> Self {
        Self { database: Database::Sqlite(file) }
    }

    /// Whether the store is a file, for tests that write its tables.
    #[cfg(test)]
    pub(super) const fn is_file(&self) -> bool {
        matches!(self.database, Database::Sqlite(_))
    }

    /// Runs any SQL, for tests that write its tables.
    #[cfg(test)]
    pub(super) async fn raw(&self, sql: &str) {
        let sql = sqlx::AssertSqlSafe(sql.to_owned());
        let done = match &self.database {
            Database::Sqlite(file) => sqlx::raw_sql(sql).execute(file.writer()).await.map(drop),
            Database::Postgres(server) => sqlx::raw_sql(sql).execute(server.pool()).await.map(drop),
        };
        done.expect("SQL of a test");
    }

    /// Installs the schema as it was before a version, for tests of what follows.
    #[cfg(test)]
    pub(super) async fn migrate_before(&self, version: i64) {
        match &self.database {
            Database::Sqlite(file) => file.migrate_before(version).await,
            Database::Postgres(server) => server.migrate_before(version).await,
        }
    }

    /// The server, for tests that look into its tables.
    #[cfg(test)]
    pub(super) fn server(&self) -> &Postgres {
        match &self.database {
            Database::Postgres(server) => server,
            Database::Sqlite(_) => panic!("the store is a file"),
        }
    }

    fn writer(&self) -> Pool<'_> {
        match &self.database {
            Database::Sqlite(file) => Pool::Sqlite(file.writer()),
            Database::Postgres(server) => Pool::Postgres(server.pool()),
        }
    }

    fn reader(&self) -> Pool<'_> {
        match &self.database {
            Database::Sqlite(file) => Pool::Sqlite(file.reader()),
            Database::Postgres(server) => Pool::Postgres(server.pool()),
        }
    }

    /// A connection to read through.
    async fn read(&self) -> Result<Session, StoreError> {
        self.reader().session().await
    }

    /// A transaction to write in.
    async fn write(&self) -> Result<Transaction<'static>, StoreError> {
        self.writer().begin().await
    }

    /// The name under which this agent claims rows of the outbox.
    fn replica(&self) -> &str {
        match &self.database {
            Database::Sqlite(_) => super::sqlite::REPLICA,
            Database::Postgres(server) => server.replica(),
        }
    }
}

#[async_trait]
impl LifecycleStore for SqlStore {
    async fn migrate(&self) -> Result<(), StoreError> {
        match &self.database {
            Database::Sqlite(file) => file.migrate().await,
            Database::Postgres(server) => server.migrate().await,
        }
    }

    async fn take_over(&self) -> Result<(), StoreError> {
        let mut transaction = self.write().await?;
        opinions::free_claims(&mut transaction.connection(), self.replica()).await?;
        transaction.commit().await?;
        outbox::free_claims(self.write().await?, self.replica()).await
    }

    async fn renew_login(&self) -> Result<(), StoreError> {
        match &self.database {
            Database::Sqlite(_) => Ok(()),
            Database::Postgres(server) => server.renew_login(),
        }
    }

    async fn damage(&self) -> Result<Vec<String>, StoreError> {
        match &self.database {
            Database::Sqlite(file) => file.damage().await,
            Database::Postgres(_) => Ok(Vec::new()),
        }
    }

    async fn close(&self) {
        match &self.database {
            Database::Sqlite(file) => file.close().await,
            Database::Postgres(server) => server.close().await,
        }
    }
}

/// Counts of what waits: unjudged events, waiting and given-up rows of the outbox, dead letters.
static BACKLOG: LazyLock<Spelt> = LazyLock::new(|| {
    let (waiting, given_up) = (OutboxState::Waiting, OutboxState::GivenUp);
    Spelt::each(|dialect| {
        let unjudged = dialect.unjudged_events();
        format!(
            "SELECT (SELECT count(*) FROM {unjudged}),
                    (SELECT count(*) FROM outbox WHERE state = '{waiting}'),
                    (SELECT count(*) FROM outbox WHERE state = '{given_up}'),
                    (SELECT count(*) FROM dead_letters)"
        )
    })
});

/// The arrival of the oldest event that waits and may be judged now.
static OLDEST_WAITING: LazyLock<Spelt> = LazyLock::new(|| {
    Spelt::each(|dialect| {
        let waiting = match dialect {
            Dialect::Sqlite => {
                "events AS waiting WHERE judged = 0 AND NOT EXISTS (
                     SELECT 1 FROM second_opinions AS held
                     WHERE held.held_until_ms > 0 AND held.site = waiting.site
                       AND held.equipment_id = waiting.equipment_id
                       AND held.bearing_id = waiting.bearing_id)"
            }
            Dialect::Postgres => {
                "events_unjudged WHERE turn <> ALL (ARRAY(
                     SELECT hashtext(site || '/' || equipment_id || '/' || bearing_id)
                     FROM second_opinions WHERE held_until_ms > 0))"
            }
        };
        format!("SELECT arrival FROM {waiting} ORDER BY arrival LIMIT 1")
    })
});

#[async_trait]
impl StatusStore for SqlStore {
    async fn beat(&self, now: Timestamp) -> Result<Pulse, StoreError> {
        let written = async {
            let mut transaction = self.write().await?;
            let mut connection = transaction.connection();
            let query = connection.query(
                "INSERT INTO heartbeats (replica, at_ms) VALUES ($1, $2)
                 ON CONFLICT (replica) DO UPDATE SET at_ms = excluded.at_ms",
            );
            query.bind(self.replica()).bind(now.unix_ms()).execute().await?;
            transaction.commit().await
        };
        if let Err(error) = written.await {
            return Err(match &self.database {
                Database::Sqlite(_) => error,
                Database::Postgres(server) => server.of_write(error).await,
            });
        }
        if let Database::Sqlite(file) = &self.database {
            file.stands()?;
        }
        let mut reader = self.read().await?;
        let oldest = reader.query(&OLDEST_WAITING).fetch_optional().await?;
        let oldest_waiting = oldest.map(|row| row.get(0)).transpose()?;
        Ok(Pulse { oldest_waiting })
    }

    async fn diagnose(&self) -> Result<(), StoreError> {
        match &self.database {
            Database::Sqlite(_) => self.ping().await,
            Database::Postgres(server) => server.diagnose().await,
        }
    }

    async fn ping(&self) -> Result<(), StoreError> {
        self.read().await?.query("SELECT 1").execute().await?;
        Ok(())
    }

    async fn backlog(&self) -> Result<Backlog, StoreError> {
        let row = self.read().await?.query(&BACKLOG).fetch_one().await?;
        let count = |column: usize| row.get::<i64>(column).map(i64::unsigned_abs);
        Ok(Backlog {
            unjudged: count(0)?,
            unsent: count(1)?,
            given_up: count(2)?,
            dead_letters: count(3)?,
        })
    }
}

#[cfg(test)]
mod tests;
