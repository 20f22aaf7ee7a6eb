//! Two databases behind one set of types, so that the SQL of `super::sql` is written and compiled
//! once.
//!
//! [`Pool`] gives a [`Session`] to read or a [`Transaction`] to write; both lend a [`Connection`],
//! which takes a statement ([`Query`]) and gives [`Row`]s. Each type is an enum with one variant a
//! database; a call costs one `match`. [`Statement`] holds the text of a statement that the two
//! databases spell differently. Bulk writes, whose form decides their speed, stand with their
//! database (`super::sql::sqlite::bulk`, `super::sql::postgres::bulk`).

use std::borrow::Cow;

use sqlx::pool::PoolConnection;
use sqlx::{PgConnection, PgPool, Postgres, Sqlite, SqliteConnection, SqlitePool};

use super::StoreError;

mod list;
mod query;
mod statement;

pub(super) use list::{Identities, Numbers};
pub(super) use query::{Query, Row, value_of};
pub(super) use statement::{Spelt, Statement};

/// First halves of the keys of PostgreSQL's advisory locks: "pdm" in ASCII and a number, so that
/// another program on the same server does not use the same keys by chance.
const LOCK_CLASSES: i32 = 0x7064_6d00;

/// Which database a statement goes to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Dialect {
    Sqlite,
    Postgres,
}

impl Dialect {
    /// Text as this database takes it. PostgreSQL refuses the character U+0000 in a text, JSON and
    /// MQTT messages may hold it: it is replaced by U+FFFD.
    pub(super) fn text(self, text: &str) -> Cow<'_, str> {
        match self {
            Self::Postgres if text.contains('\0') => text.replace('\0', "\u{fffd}").into(),
            Self::Sqlite | Self::Postgres => text.into(),
        }
    }
}

/// The purpose of an advisory lock. SQLite has one writer and needs none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Lock {
    /// The turn of a bearing to be judged.
    Turn = 1,
    /// The decision on the alarm of one bearing.
    Alarm = 2,
    /// Changes of the partitions of `events`.
    Partitions = 3,
    /// The claims of one lane of the outbox.
    Lane = 4,
    /// Adding a user, of whom the first is special.
    Users = 9,
    /// Reports on the work of one bearing.
    Work = 10,
    /// Photos of work orders, which are counted together.
    Photos = 11,
    /// Captured waveforms, which are counted together.
    Captures = 13,
    /// Taking out and renaming parts of the plant and gateways.
    Plant = 12,
}

impl Lock {
    /// The first half of the lock's key.
    pub(super) const fn class(self) -> i32 {
        LOCK_CLASSES + self as i32
    }
}

/// Connections to one database.
#[derive(Debug, Clone, Copy)]
pub(super) enum Pool<'a> {
    Sqlite(&'a SqlitePool),
    Postgres(&'a PgPool),
}

impl Pool<'_> {
    /// A connection for single statements.
    pub(super) async fn session(self) -> Result<Session, StoreError> {
        Ok(match self {
            Self::Sqlite(pool) => Session::Sqlite(pool.acquire().await?),
            Self::Postgres(pool) => Session::Postgres(pool.acquire().await?),
        })
    }

    /// A transaction that writes. SQLite takes the write lock at once: a transaction that read
    /// first could fail at its first write because another process has written in between.
    pub(super) async fn begin(self) -> Result<Transaction<'static>, StoreError> {
        Ok(match self {
            Self::Sqlite(pool) => Transaction::Sqlite(pool.begin_with("BEGIN IMMEDIATE").await?),
            Self::Postgres(pool) => Transaction::Postgres(pool.begin().await?),
        })
    }

    /// A transaction whose statements all read the same state of the database.
    pub(super) async fn begin_snapshot(self) -> Result<Transaction<'static>, StoreError> {
        const SNAPSHOT: &str = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY";
        Ok(match self {
            Self::Sqlite(pool) => Transaction::Sqlite(pool.begin().await?),
            Self::Postgres(pool) => Transaction::Postgres(pool.begin_with(SNAPSHOT).await?),
        })
    }
}

/// A connection out of a pool; dropping it gives it back.
#[derive(Debug)]
pub(super) enum Session {
    Sqlite(PoolConnection<Sqlite>),
    Postgres(PoolConnection<Postgres>),
}

impl Session {
    pub(super) fn connection(&mut self) -> Connection<'_> {
        match self {
            Self::Sqlite(connection) => Connection::Sqlite(connection),
            Self::Postgres(connection) => Connection::Postgres(connection),
        }
    }

    /// Begins a statement.
    pub(super) fn query(&mut self, statement: impl Into<Statement>) -> Query<'_> {
        match self {
            Self::Sqlite(connection) => Query::sqlite(connection, statement.into()),
            Self::Postgres(connection) => Query::postgres(connection, statement.into()),
        }
    }
}

/// A transaction; dropping it without [`Transaction::commit`] rolls it back.
#[derive(Debug)]
pub(super) enum Transaction<'c> {
    Sqlite(sqlx::Transaction<'c, Sqlite>),
    Postgres(sqlx::Transaction<'c, Postgres>),
}

impl Transaction<'_> {
    pub(super) fn connection(&mut self) -> Connection<'_> {
        match self {
            Self::Sqlite(transaction) => Connection::Sqlite(transaction),
            Self::Postgres(transaction) => Connection::Postgres(transaction),
        }
    }

    pub(super) async fn commit(self) -> Result<(), StoreError> {
        match self {
            Self::Sqlite(transaction) => transaction.commit().await?,
            Self::Postgres(transaction) => transaction.commit().await?,
        }
        Ok(())
    }
}

/// A borrowed connection, inside a transaction or not.
#[derive(Debug)]
pub(super) enum Connection<'c> {
    Sqlite(&'c mut SqliteConnection),
    Postgres(&'c mut PgConnection),
}

impl Connection<'_> {
    pub(super) const fn dialect(&self) -> Dialect {
        match self {
            Self::Sqlite(_) => Dialect::Sqlite,
            Self::Postgres(_) => Dialect::Postgres,
        }
    }

    /// Begins a statement.
    pub(super) fn query(&mut self, statement: impl Into<Statement>) -> Query<'_> {
        match self {
            Self::Sqlite(connection) => Query::sqlite(connection, statement.into()),
            Self::Postgres(connection) => Query::postgres(connection, statement.into()),
        }
    }

    /// Takes a lock until the end of the transaction, waiting for other replicas.
    pub(super) async fn lock(&mut self, lock: Lock, name: &str) -> Result<(), StoreError> {
        if let Self::Postgres(connection) = self {
            sqlx::query("SELECT pg_advisory_xact_lock($1, hashtext($2))")
                .bind(lock.class())
                .bind(name)
                .execute(&mut **connection)
                .await?;
        }
        Ok(())
    }
}
