//! The text of a statement, where need be in one spelling for each database.

use std::sync::LazyLock;

use super::Dialect;

/// The text of a statement. Both spellings take the same parameters (`$1`, `$2`, … in their order)
/// and give the same columns.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Statement {
    pub(crate) sqlite: &'static str,
    pub(crate) postgres: &'static str,
}

impl From<&'static str> for Statement {
    fn from(text: &'static str) -> Self {
        Self { sqlite: text, postgres: text }
    }
}

impl From<&'static LazyLock<Spelt>> for Statement {
    fn from(spelt: &'static LazyLock<Spelt>) -> Self {
        Self { sqlite: &spelt.sqlite, postgres: &spelt.postgres }
    }
}

/// A statement put together once, of parts that differ by database or come from an enum.
#[derive(Debug)]
pub(crate) struct Spelt {
    sqlite: String,
    postgres: String,
}

impl Spelt {
    /// Puts the text together for each database.
    pub(crate) fn each(text: impl Fn(Dialect) -> String) -> Self {
        Self { sqlite: text(Dialect::Sqlite), postgres: text(Dialect::Postgres) }
    }
}

impl Dialect {
    /// A table of the events that wait for a judgement, with `arrival` and `event_id`: SQLite marks
    /// them in `events`, PostgreSQL lists them beside it, as its partitions are only ever added to.
    pub(crate) const fn unjudged_events(self) -> &'static str {
        match self {
            Self::Sqlite => "(SELECT arrival, event_id FROM events WHERE judged = 0)",
            Self::Postgres => "events_unjudged",
        }
    }

    /// A condition: the column is one of the numbers of a [`super::Numbers`] parameter.
    pub(crate) fn in_numbers(self, parameter: &str) -> String {
        match self {
            Self::Sqlite => format!("IN (SELECT value FROM json_each({parameter}))"),
            Self::Postgres => format!("= ANY({parameter})"),
        }
    }

    /// A condition: the column is one of the identities of a [`super::Identities`] parameter.
    pub(crate) fn in_identities(self, parameter: &str) -> String {
        match self {
            Self::Sqlite => format!("IN (SELECT unhex(value) FROM json_each({parameter}))"),
            Self::Postgres => format!("= ANY({parameter})"),
        }
    }
}
