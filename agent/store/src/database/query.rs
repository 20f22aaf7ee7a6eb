//! A statement on its way to the database, and the rows that come back.

use std::panic::{AssertUnwindSafe, catch_unwind};

use sqlx::postgres::{PgArguments, PgRow};
use sqlx::sqlite::{SqliteArguments, SqliteRow};
use sqlx::{
    ColumnIndex, Decode, Encode, PgConnection, Postgres, Row as _, Sqlite, SqliteConnection, Type,
};

use super::Statement;
use crate::{StoreError, Unfit, suspicion};

/// A statement with its parameters and the connection it goes to.
#[must_use = "a statement does nothing until it is executed or fetched"]
pub(crate) enum Query<'c> {
    Sqlite(sqlx::query::Query<'static, Sqlite, SqliteArguments>, &'c mut SqliteConnection),
    Postgres(sqlx::query::Query<'static, Postgres, PgArguments>, &'c mut PgConnection),
}

/// A value that both databases take as a parameter.
pub(crate) trait Parameter<'q>:
    Encode<'q, Sqlite> + Type<Sqlite> + Encode<'q, Postgres> + Type<Postgres>
{
}

impl<'q, T> Parameter<'q> for T where
    T: Encode<'q, Sqlite> + Type<Sqlite> + Encode<'q, Postgres> + Type<Postgres>
{
}

/// A value that both databases give as a column.
pub(crate) trait Column<'r>:
    Decode<'r, Sqlite> + Type<Sqlite> + Decode<'r, Postgres> + Type<Postgres>
{
}

impl<'r, T> Column<'r> for T where
    T: Decode<'r, Sqlite> + Type<Sqlite> + Decode<'r, Postgres> + Type<Postgres>
{
}

impl<'c> Query<'c> {
    pub(super) fn sqlite(connection: &'c mut SqliteConnection, statement: Statement) -> Self {
        Self::Sqlite(sqlx::query(statement.sqlite), connection)
    }

    pub(super) fn postgres(connection: &'c mut PgConnection, statement: Statement) -> Self {
        Self::Postgres(sqlx::query(statement.postgres), connection)
    }

    /// Adds the next parameter.
    pub(crate) fn bind<'q>(self, value: impl Parameter<'q>) -> Self {
        match self {
            Self::Sqlite(query, connection) => Self::Sqlite(query.bind(value), connection),
            Self::Postgres(query, connection) => Self::Postgres(query.bind(value), connection),
        }
    }

    /// Runs the statement; tells how many rows it changed.
    pub(crate) async fn execute(self) -> Result<u64, StoreError> {
        Ok(match self {
            Self::Sqlite(query, connection) => query.execute(connection).await?.rows_affected(),
            Self::Postgres(query, connection) => query.execute(connection).await?.rows_affected(),
        })
    }

    pub(crate) async fn fetch_all(self) -> Result<Vec<Row>, StoreError> {
        Ok(match self {
            Self::Sqlite(query, connection) => {
                query.fetch_all(connection).await?.into_iter().map(Row::Sqlite).collect()
            }
            Self::Postgres(query, connection) => {
                query.fetch_all(connection).await?.into_iter().map(Row::Postgres).collect()
            }
        })
    }

    pub(crate) async fn fetch_one(self) -> Result<Row, StoreError> {
        Ok(match self {
            Self::Sqlite(query, connection) => Row::Sqlite(query.fetch_one(connection).await?),
            Self::Postgres(query, connection) => Row::Postgres(query.fetch_one(connection).await?),
        })
    }

    pub(crate) async fn fetch_optional(self) -> Result<Option<Row>, StoreError> {
        Ok(match self {
            Self::Sqlite(query, connection) => {
                query.fetch_optional(connection).await?.map(Row::Sqlite)
            }
            Self::Postgres(query, connection) => {
                query.fetch_optional(connection).await?.map(Row::Postgres)
            }
        })
    }
}

/// One row of an answer.
pub(crate) enum Row {
    Sqlite(SqliteRow),
    Postgres(PgRow),
}

impl Row {
    /// The value of a column, by its place (from 0) or its name.
    ///
    /// # Errors
    /// [`StoreError::Content`] if the column holds another type: another program wrote it.
    pub(crate) fn get<'r, T: Column<'r>>(
        &'r self,
        column: impl ColumnIndex<SqliteRow> + ColumnIndex<PgRow>,
    ) -> Result<T, StoreError> {
        match self {
            Self::Sqlite(row) => row.try_get(column).map_err(|error| unreadable(&error)),
            Self::Postgres(row) => value_of(row, column),
        }
    }
}

fn unreadable(error: &sqlx::Error) -> StoreError {
    StoreError::Content { what: "a column", reason: error.to_string() }
}

/// The value of a column of a server's row. A pooler that was set to transaction mode while the
/// agent runs gives a session the rows of another statement: they have fewer values than columns,
/// on which the driver panics.
pub(crate) fn value_of<'r, T: Decode<'r, Postgres> + Type<Postgres>>(
    row: &'r PgRow,
    column: impl ColumnIndex<PgRow>,
) -> Result<T, StoreError> {
    // nothing is half-made: the row is only read
    let value = catch_unwind(AssertUnwindSafe(|| row.try_get(column)));
    match value {
        Ok(value) => value.map_err(|error| unreadable(&error)),
        Err(_panic) => {
            suspicion::raise();
            let sign = "a session answers with the row of another statement".to_owned();
            Err(StoreError::Unfit { place: "server".to_owned(), unfit: Unfit::Pooler { sign } })
        }
    }
}
