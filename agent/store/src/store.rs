//! The store as the program opens it: its opening and closing, its health, and a handle for each
//! task.

use std::path::Path;
use std::sync::LazyLock;
use std::time::Duration;

use pdm_service::clock::Clock;
use pdm_service::postgres::PostgresSettings;
use pdm_shared::time::Timestamp;

use crate::database::{Dialect, Spelt};
use crate::encoding::time_of;
use crate::outbox::OutboxState;
use crate::settings::{StorePlace, StoreSettings};
use crate::sql::postgres::Postgres;
use crate::sql::sqlite::Sqlite;
use crate::sql::{Database, free_claims};
use crate::{
    Backlog, CaptureStore, CeilingStore, DeskStore, EpisodeStore, FollowUpStore, GatewayStore,
    GraphStore, HistoryStore, IntakeStore, JudgementStore, MessageStore, MissingRows, OpinionStore,
    OutboxStore, PageStore, PhotoStore, Pulse, RemovalStore, RetentionStore, SeriesStore,
    StoreError, StoredAccounts,
};

/// The store on a SQLite file or a PostgreSQL server. A clone is another handle to the same
/// connections.
#[derive(Debug, Clone)]
pub struct Store {
    database: Database,
}

/// Opens the configured store and brings its schema up to date.
///
/// # Errors
/// [`StoreError`] if either fails.
pub async fn open(settings: &StoreSettings) -> Result<Store, StoreError> {
    let store = opened(settings).await?;
    store.migrate().await?;
    Ok(store)
}

/// Opens the configured store without changing its schema, as another agent may be running on it. A
/// file that is not there is not made: whoever reads an empty one is answered that nothing is
/// known.
///
/// # Errors
/// [`StoreError::Missing`] if there is no such file, else [`StoreError`] if the store cannot be
/// opened.
pub async fn connect(settings: &StoreSettings) -> Result<Store, StoreError> {
    if let StorePlace::Sqlite(path) = &settings.place
        && matches!(path.try_exists(), Ok(false))
    {
        return Err(StoreError::Missing { place: path.display().to_string() });
    }
    opened(settings).await
}

async fn opened(settings: &StoreSettings) -> Result<Store, StoreError> {
    match &settings.place {
        StorePlace::Sqlite(path) => Store::open_sqlite(path).await,
        StorePlace::Postgres(server) => {
            let server = Postgres::open(server, &settings.replica).await?;
            let marked = server.marked_in(settings.marker_folder.as_deref());
            Ok(Store { database: Database::Postgres(marked) })
        }
    }
}

impl Store {
    /// Opens a SQLite file, creating it and its folder if need be. [`Store::migrate`] has to
    /// follow.
    ///
    /// # Errors
    /// [`StoreError::Open`] if the file cannot be opened.
    pub async fn open_sqlite(path: &Path) -> Result<Self, StoreError> {
        Ok(Self::on(Sqlite::open(path).await?))
    }

    /// Connects to a PostgreSQL server under the name of this replica. [`Store::migrate`] has
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
    pub(crate) const fn on(file: Sqlite) -> Self {
        Self { database: Database::Sqlite(file) }
    }

    /// Whether the store is a file, for tests that write its tables.
    #[cfg(test)]
    pub(crate) const fn is_file(&self) -> bool {
        matches!(self.database, Database::Sqlite(_))
    }

    /// Runs any SQL, for tests that write its tables.
    #[cfg(test)]
    pub(crate) async fn raw(&self, sql: &str) {
        let sql = sqlx::AssertSqlSafe(sql.to_owned());
        let done = match &self.database {
            Database::Sqlite(file) => sqlx::raw_sql(sql).execute(file.writer()).await.map(drop),
            Database::Postgres(server) => sqlx::raw_sql(sql).execute(server.pool()).await.map(drop),
        };
        done.expect("SQL of a test");
    }

    /// Installs the schema as it was before a version, for tests of what follows.
    #[cfg(test)]
    pub(crate) async fn migrate_before(&self, version: i64) {
        match &self.database {
            Database::Sqlite(file) => file.migrate_before(version).await,
            Database::Postgres(server) => server.migrate_before(version).await,
        }
    }

    /// The server, for tests that look into its tables.
    #[cfg(test)]
    pub(crate) fn server(&self) -> &Postgres {
        match &self.database {
            Database::Postgres(server) => server,
            Database::Sqlite(_) => panic!("the store is a file"),
        }
    }

    /// The database, for tests that look at its plans.
    #[cfg(test)]
    pub(crate) const fn database(&self) -> &Database {
        &self.database
    }
}

/// A handle for each task. A task that needs one holds that one, so its type says what it may read
/// and write.
impl Store {
    /// Returns the handle that stores incoming messages.
    pub fn intake(&self) -> IntakeStore {
        IntakeStore { database: self.database.clone() }
    }

    /// Returns the handle for gateways, their sequences and their refused messages.
    pub fn gateways(&self) -> GatewayStore {
        GatewayStore { database: self.database.clone() }
    }

    /// Returns the handle for the events that wait for a judgement, the judgements that wait for a
    /// model, and judgements as they are written.
    pub fn judging(&self) -> JudgementStore {
        JudgementStore { database: self.database.clone() }
    }

    /// Returns the handle that reads past events and judgements.
    pub fn history(&self) -> HistoryStore {
        HistoryStore { database: self.database.clone() }
    }

    /// Returns the handle that reads the data of the pages and the API.
    pub fn pages(&self) -> PageStore {
        PageStore { database: self.database.clone() }
    }

    /// Returns the handle for episodes, remarks and work as a person at a page works with them.
    pub fn desk(&self) -> DeskStore {
        DeskStore { database: self.database.clone() }
    }

    /// Returns the handle for captured waveforms.
    pub fn captures(&self) -> CaptureStore {
        CaptureStore { database: self.database.clone() }
    }

    /// Returns the handle for photos of work orders.
    pub fn photos(&self) -> PhotoStore {
        PhotoStore { database: self.database.clone() }
    }

    /// Returns the handle for actions that follow from judgements, and for reports on them.
    pub fn follow_ups(&self) -> FollowUpStore {
        FollowUpStore { database: self.database.clone() }
    }

    /// Returns the handle for episodes.
    pub fn episodes(&self) -> EpisodeStore {
        EpisodeStore { database: self.database.clone() }
    }

    /// Returns the handle for messages to staff that belong to no alarm.
    pub fn messages(&self) -> MessageStore {
        MessageStore { database: self.database.clone() }
    }

    /// Returns the handle for the rows of the outbox, and for the states of the ways to staff.
    pub fn outbox(&self) -> OutboxStore {
        OutboxStore { database: self.database.clone() }
    }

    /// Returns the handle for the deliveries of each lane in an hour.
    pub fn ceilings(&self) -> CeilingStore {
        CeilingStore { database: self.database.clone() }
    }

    /// Returns the handle for second opinions of a language model, and for its cost.
    pub fn opinions(&self) -> OpinionStore {
        OpinionStore { database: self.database.clone() }
    }

    /// Returns the handle that removes and renames bearings and gateways.
    pub fn removal(&self) -> RemovalStore {
        RemovalStore { database: self.database.clone() }
    }

    /// Returns the handle that deletes expired rows and makes room.
    pub fn retention(&self) -> RetentionStore {
        RetentionStore { database: self.database.clone() }
    }

    /// Returns the handle for series of measuring stations and past cases.
    pub fn series(&self) -> SeriesStore {
        SeriesStore { database: self.database.clone() }
    }

    /// Returns the handle for the asset graph.
    pub fn graph(&self) -> GraphStore {
        GraphStore { database: self.database.clone() }
    }

    /// Returns the handle for users, sessions, tokens and the record of acts.
    pub fn accounts(&self) -> StoredAccounts {
        StoredAccounts { database: self.database.clone() }
    }
}

/// Starting and ending, by the program that opens the store.
impl Store {
    /// Installs or updates the schema.
    pub async fn migrate(&self) -> Result<(), StoreError> {
        match &self.database {
            Database::Sqlite(file) => file.migrate().await,
            Database::Postgres(server) => server.migrate().await,
        }
    }

    /// Frees the claims of an earlier process of the same replica name, which has ended.
    pub async fn take_over(&self) -> Result<(), StoreError> {
        free_claims(&self.database).await
    }

    /// Reads the password of the server again, for connections that are made from now on.
    pub fn renew_login(&self) -> Result<(), StoreError> {
        match &self.database {
            Database::Sqlite(_) => Ok(()),
            Database::Postgres(server) => server.renew_login(),
        }
    }

    /// Looks through the file for damage, which takes about a minute for 10 GB; tells what is
    /// damaged. A server checks its pages itself.
    pub async fn damage(&self) -> Result<Vec<String>, StoreError> {
        match &self.database {
            Database::Sqlite(file) => file.damage().await,
            Database::Postgres(_) => Ok(Vec::new()),
        }
    }

    /// Writes what is buffered and closes the connections.
    pub async fn close(&self) {
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

/// Whether the store answers and how much waits, for `/healthz`, `/metrics` and the start.
impl Store {
    /// Writes this agent's row of `heartbeats` and looks at the events that wait. It fails where
    /// any other write would.
    pub async fn beat(&self, now: Timestamp) -> Result<Pulse, StoreError> {
        if let Database::Postgres(server) = &self.database {
            server.examine_again().await?;
        }
        let written = async {
            let mut transaction = self.database.write().await?;
            let mut connection = transaction.connection();
            let found = connection.query("SELECT at_ms FROM heartbeats WHERE replica = $1");
            let found = found.bind(self.database.replica()).fetch_optional().await?;
            let found_ms: Option<i64> = found.map(|row| row.get(0)).transpose()?;
            let query = connection.query(
                "INSERT INTO heartbeats (replica, at_ms) VALUES ($1, $2)
                 ON CONFLICT (replica) DO UPDATE SET at_ms = excluded.at_ms",
            );
            query.bind(self.database.replica()).bind(now.unix_ms()).execute().await?;
            transaction.commit().await?;
            Ok::<_, StoreError>(found_ms)
        };
        let found_ms = match written.await {
            Ok(found_ms) => found_ms,
            Err(error) => {
                return Err(match &self.database {
                    Database::Sqlite(_) => error,
                    Database::Postgres(server) => server.of_write(error).await,
                });
            }
        };
        let missing = match &self.database {
            Database::Sqlite(file) => {
                file.stands()?;
                file.note_write(now.unix_ms());
                None
            }
            Database::Postgres(server) => server.note_write(now.unix_ms(), found_ms),
        };
        let mut reader = self.database.read().await?;
        let oldest = reader.query(&OLDEST_WAITING).fetch_optional().await?;
        let oldest_waiting = oldest.map(|row| row.get(0)).transpose()?;
        Ok(Pulse { oldest_waiting, missing })
    }

    /// Returns the rows that the agent wrote last and that the store does not have, before the
    /// first [`Store::beat`] of a start; `None` if no row is missing, or if there is no record of
    /// the last write.
    pub async fn missing(&self) -> Result<Option<MissingRows>, StoreError> {
        let written_ms = match &self.database {
            Database::Sqlite(file) => file.last_write_ms(),
            Database::Postgres(server) => server.last_write_ms(),
        };
        let Some(written_ms) = written_ms else { return Ok(None) };
        let mut reader = self.database.read().await?;
        let query = reader.query("SELECT at_ms FROM heartbeats WHERE replica = $1");
        let row = query.bind(self.database.replica()).fetch_optional().await?;
        let found_ms: Option<i64> = row.map(|row| row.get(0)).transpose()?;
        Ok(match &self.database {
            Database::Sqlite(file) => file.missing(written_ms, found_ms),
            Database::Postgres(server) => server.missing(written_ms, found_ms),
        })
    }

    /// Lets a clock follow that of the server, which all replicas share. A file has no clock.
    pub async fn lead(&self, clock: &dyn Clock) -> Result<(), StoreError> {
        let Database::Postgres(_) = &self.database else { return Ok(()) };
        let asked = clock.uptime();
        let mut reader = self.database.read().await?;
        let query = reader
            .query("SELECT CAST(extract(epoch FROM clock_timestamp()) * 1000 AS BIGINT) AS now_ms");
        let server = time_of(query.fetch_one().await?.get(0)?)?;
        let took = clock.uptime().saturating_sub(asked);
        // an answer that takes so long says nothing of this moment
        if took < Duration::from_secs(2) {
            clock.follow(server.plus_seconds(took.as_secs_f64() / 2.0));
        }
        Ok(())
    }

    /// Asks over a new connection why the store does not answer. An answer means that it does.
    pub async fn diagnose(&self) -> Result<(), StoreError> {
        match &self.database {
            Database::Sqlite(_) => self.ping().await,
            Database::Postgres(server) => server.diagnose().await,
        }
    }

    /// Succeeds if the store answers.
    pub async fn ping(&self) -> Result<(), StoreError> {
        self.database.read().await?.query("SELECT 1").execute().await?;
        Ok(())
    }

    /// Returns how much waits.
    pub async fn backlog(&self) -> Result<Backlog, StoreError> {
        let row = self.database.read().await?.query(&BACKLOG).fetch_one().await?;
        let count = |column: usize| row.get::<i64>(column).map(i64::unsigned_abs);
        Ok(Backlog {
            unjudged: count(0)?,
            unsent: count(1)?,
            given_up: count(2)?,
            dead_letters: count(3)?,
        })
    }
}
