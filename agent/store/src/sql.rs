//! The store in SQL: one file for each task with its handle, whose methods stand beside their
//! statements. Every statement is written once.
//!
//! Invariants of the statements: parameters are `$1` and counted, numbers are 64 bits, times are
//! milliseconds, and a column of a conflicting row is named with its table, as PostgreSQL wants it.

use crate::StoreError;
use crate::database::{Pool, Session, Transaction};

mod accounts;
pub(crate) mod bulk;
mod capture_demands;
mod captures;
mod ceilings;
mod channels;
pub(crate) mod days;
mod dead_letters;
mod desk;
mod episodes;
mod follow_ups;
mod gateway_says;
mod gateways;
mod graph;
mod held;
mod history;
mod identity;
mod intake;
pub(crate) mod judgements;
mod keys;
mod last_write;
mod messages;
mod opinions;
mod outbox;
mod pages;
mod pauses;
mod photos;
mod pins;
pub(crate) mod postgres;
mod recollection;
mod refusals;
mod relearn_requests;
mod removal;
mod retention;
mod room;
mod runs;
mod series;
pub(crate) mod sqlite;
mod standing;
mod unread;
mod unsent;
mod ways;
mod windows;
mod work_reports;

pub use accounts::StoredAccounts;
pub use capture_demands::CaptureDemandNote;
pub use captures::{CaptureNote, CaptureRoom, CaptureStore};
pub use ceilings::CeilingStore;
pub use desk::DeskStore;
pub use episodes::EpisodeStore;
pub use follow_ups::FollowUpStore;
pub use gateways::GatewayStore;
pub use graph::{GraphStore, ReviseAssets};
pub use history::HistoryStore;
pub use intake::IntakeStore;
pub use judgements::JudgementStore;
pub use messages::MessageStore;
pub use opinions::OpinionStore;
pub use outbox::OutboxStore;
pub use pages::PageStore;
pub use pauses::{BearingPause, HeardBearing};
pub use photos::{PhotoBounds, PhotoNoted, PhotoStore};
use postgres::Postgres;
pub use removal::RemovalStore;
pub use retention::RetentionStore;
pub use series::SeriesStore;
use sqlite::Sqlite;
pub use sqlite::{RecoveredTable, Recovery, recover};
pub use unsent::UnsentAlarm;

/// The database behind every handle.
#[derive(Debug, Clone)]
pub(crate) enum Database {
    Sqlite(Sqlite),
    Postgres(Postgres),
}

impl Database {
    pub(crate) fn writer(&self) -> Pool<'_> {
        match self {
            Self::Sqlite(file) => Pool::Sqlite(file.writer()),
            Self::Postgres(server) => Pool::Postgres(server.pool()),
        }
    }

    pub(crate) fn reader(&self) -> Pool<'_> {
        match self {
            Self::Sqlite(file) => Pool::Sqlite(file.reader()),
            Self::Postgres(server) => Pool::Postgres(server.pool()),
        }
    }

    /// A connection to read through.
    pub(crate) async fn read(&self) -> Result<Session, StoreError> {
        self.reader().session().await
    }

    /// A transaction to write in.
    pub(crate) async fn write(&self) -> Result<Transaction<'static>, StoreError> {
        self.writer().begin().await
    }

    /// The name under which this agent claims rows of the outbox.
    pub(crate) fn replica(&self) -> &str {
        match self {
            Self::Sqlite(_) => crate::sql::sqlite::REPLICA,
            Self::Postgres(server) => server.replica(),
        }
    }
}

/// Frees the claims of an earlier process of the same replica name.
pub(crate) async fn free_claims(database: &Database) -> Result<(), StoreError> {
    let mut transaction = database.write().await?;
    opinions::free_claims(&mut transaction.connection(), database.replica()).await?;
    transaction.commit().await?;
    outbox::free_claims(database.write().await?, database.replica()).await
}

#[cfg(test)]
pub(crate) mod tests;
