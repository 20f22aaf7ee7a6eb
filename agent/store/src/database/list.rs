//! Lists as one parameter of a statement: an array in PostgreSQL, JSON in SQLite, which has no
//! arrays. One statement with one parameter stays prepared whatever the length of the list.

use pdm_shared::id::EventId;
use sqlx::encode::IsNull;
use sqlx::error::BoxDynError;
use sqlx::postgres::{PgArgumentBuffer, PgTypeInfo};
use sqlx::sqlite::{SqliteArgumentsBuffer, SqliteTypeInfo};
use sqlx::{Encode, Postgres, Sqlite, Type};
use uuid::Uuid;

/// Numbers of rows, for [`super::Dialect::in_numbers`].
#[derive(Debug)]
pub(crate) struct Numbers(Vec<i64>);

impl FromIterator<i64> for Numbers {
    fn from_iter<I: IntoIterator<Item = i64>>(numbers: I) -> Self {
        Self(numbers.into_iter().collect())
    }
}

/// Identities of events, for [`super::Dialect::in_identities`].
#[derive(Debug)]
pub(crate) struct Identities(Vec<Uuid>);

impl<'a> FromIterator<&'a EventId> for Identities {
    fn from_iter<I: IntoIterator<Item = &'a EventId>>(events: I) -> Self {
        Self(events.into_iter().map(|event| event.0).collect())
    }
}

fn json_array(items: impl Iterator<Item = String>) -> String {
    format!("[{}]", items.collect::<Vec<_>>().join(","))
}

impl Type<Sqlite> for Numbers {
    fn type_info() -> SqliteTypeInfo {
        <String as Type<Sqlite>>::type_info()
    }
}

impl Encode<'_, Sqlite> for Numbers {
    fn encode_by_ref(&self, buffer: &mut SqliteArgumentsBuffer) -> Result<IsNull, BoxDynError> {
        let json = json_array(self.0.iter().map(i64::to_string));
        Encode::<Sqlite>::encode(json, buffer)
    }
}

impl Type<Postgres> for Numbers {
    fn type_info() -> PgTypeInfo {
        <Vec<i64> as Type<Postgres>>::type_info()
    }
}

impl Encode<'_, Postgres> for Numbers {
    fn encode_by_ref(&self, buffer: &mut PgArgumentBuffer) -> Result<IsNull, BoxDynError> {
        Encode::<Postgres>::encode_by_ref(&self.0, buffer)
    }
}

impl Type<Sqlite> for Identities {
    fn type_info() -> SqliteTypeInfo {
        <String as Type<Sqlite>>::type_info()
    }
}

impl Encode<'_, Sqlite> for Identities {
    fn encode_by_ref(&self, buffer: &mut SqliteArgumentsBuffer) -> Result<IsNull, BoxDynError> {
        // the 16 bytes as 32 hexadecimal digits, which `unhex` reads
        let json = json_array(self.0.iter().map(|id| format!("\"{}\"", id.simple())));
        Encode::<Sqlite>::encode(json, buffer)
    }
}

impl Type<Postgres> for Identities {
    fn type_info() -> PgTypeInfo {
        <Vec<Uuid> as Type<Postgres>>::type_info()
    }
}

impl Encode<'_, Postgres> for Identities {
    fn encode_by_ref(&self, buffer: &mut PgArgumentBuffer) -> Result<IsNull, BoxDynError> {
        Encode::<Postgres>::encode_by_ref(&self.0, buffer)
    }
}
