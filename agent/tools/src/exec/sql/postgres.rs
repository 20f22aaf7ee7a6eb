//! A PostgreSQL server. Each statement runs in a read-only transaction that is rolled back.
//!
//! The statement becomes a subquery of `SELECT row_to_json(…)`: there the server allows no
//! statement that changes data, and each type gets its JSON form. Functions with side effects
//! depend on the rights of the role, which should have SELECT only.

use std::time::Duration;

use futures_util::TryStreamExt;
use pdm_service::postgres;
use pdm_service::postgres::PostgresSettings;
use sqlx::postgres::PgPoolOptions;
use sqlx::{PgPool, Postgres};

use super::{Asked, Found, bind};
use crate::exec::{Failure, Invocation};

/// Longest wait of a call for a connection.
const ACQUIRE: Duration = Duration::from_secs(5);

/// A server with its connections.
#[derive(Debug, Clone)]
pub(super) struct Server {
    pool: PgPool,
    /// Longest time of a statement, whatever limit the tool sets.
    longest: Duration,
}

pub(super) async fn connect(name: &str, settings: &PostgresSettings) -> Result<Server, Failure> {
    let options = postgres::options(settings)
        .map_err(|error| Failure::Permanent(format!("tools.databases.{name}.{error}")))?
        .application_name("pdm-agent tools")
        .options([("default_transaction_read_only", "on")]);
    let pool = PgPoolOptions::new()
        .max_connections(settings.connections)
        .acquire_timeout(ACQUIRE)
        .connect_with(options)
        .await
        .map_err(|error| Failure::Transient(format!("cannot reach {}: {error}", settings.url)))?;
    Ok(Server { pool, longest: Duration::from_secs_f64(settings.statement_timeout_s) })
}

pub(super) async fn run(
    server: &Server,
    asked: &Asked<'_>,
    invocation: Invocation<'_>,
) -> Result<Found, Failure> {
    let refused = |error| failure(&error);
    let mut asking =
        server.pool.begin_with("BEGIN TRANSACTION READ ONLY").await.map_err(refused)?;
    sqlx::query("SELECT set_config('statement_timeout', $1, true)")
        .bind(asked.timeout.min(server.longest).as_millis().max(1).to_string())
        .execute(&mut *asking)
        .await
        .map_err(refused)?;
    let arguments = bind::<Postgres>(asked.statement, invocation)?;
    // `Statement::read` has checked the text: one SELECT, arguments are bound and never inserted
    let text = format!(
        "SELECT row_to_json(asked)::text FROM ({}) AS asked LIMIT {}",
        asked.statement.text('$'),
        asked.row_limit.saturating_add(1)
    );
    let mut found = Found::new(asked.row_limit);
    let mut rows = sqlx::query_scalar_with::<_, String, _>(sqlx::AssertSqlSafe(text), arguments)
        .fetch(&mut *asking);
    while let Some(row) = rows.try_next().await.map_err(refused)? {
        if found.is_full() {
            return Ok(found.cut());
        }
        let value = serde_json::from_str(&row)
            .map_err(|error| Failure::Permanent(format!("a row is no JSON: {error}")))?;
        found.push(value, row.len());
    }
    Ok(found)
}

/// A missing or busy server may answer the next attempt; wrong SQL and a refused write never
/// succeed.
fn failure(error: &sqlx::Error) -> Failure {
    let code = error.as_database_error().and_then(sqlx::error::DatabaseError::code);
    // PostgreSQL error codes, appendix A: classes and conditions
    match code.as_deref() {
        Some("57014") => Failure::Permanent("the statement ran longer than allowed".to_owned()),
        Some("25006") => Failure::Permanent(format!("refused: {error}")),
        Some(code) if !["08", "40", "53", "57"].iter().any(|class| code.starts_with(class)) => {
            Failure::Permanent(error.to_string())
        }
        Some(_) | None => Failure::Transient(error.to_string()),
    }
}
