//! A PostgreSQL server. Each statement runs in a read-only transaction that is rolled back.
//!
//! The statement becomes a subquery of `SELECT row_to_json(…)`: there the server allows no
//! statement that changes data, and each type gets its JSON form. Functions with side effects
//! depend on the rights of the role, which should have SELECT only.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures_util::TryStreamExt;
use pdm_service::postgres;
use pdm_service::postgres::{PostgresSettings, WayError};
use pdm_service::secret::{LiveSecret, Secret};
use sqlx::postgres::{PgConnectOptions, PgPoolOptions};
use sqlx::{PgPool, Postgres};

use super::{SqlRequest, SqlRows, bind};
use crate::exec::{Failure, Invocation};

/// Longest wait of a call for a connection.
const ACQUIRE: Duration = Duration::from_secs(5);

/// A server with its connections.
#[derive(Debug, Clone)]
pub(super) struct Server {
    pool: PgPool,
    /// Longest time of a statement, whatever limit the tool sets.
    longest: Duration,
    settings: Arc<PostgresSettings>,
    /// The password, and the one that new connections use.
    password: Option<(LiveSecret, Arc<Mutex<Secret>>)>,
}

fn options(settings: &PostgresSettings) -> Result<PgConnectOptions, WayError> {
    let options = postgres::options(settings)?.application_name("pdm-agent tools");
    Ok(options.options([("default_transaction_read_only", "on")]))
}

pub(super) async fn connect(name: &str, settings: &PostgresSettings) -> Result<Server, Failure> {
    let wrong = |error| Failure::Permanent(format!("tools.databases.{name}.{error}"));
    let password = settings.password.clone().map(LiveSecret::open).transpose();
    let password = password.map_err(|error| wrong(WayError::Password(error)))?;
    let password = password.map(|password| {
        let used = Arc::new(Mutex::new(password.current()));
        (password, used)
    });
    let options = options(settings).map_err(wrong)?;
    let pool = PgPoolOptions::new()
        .max_connections(settings.connections)
        .acquire_timeout(ACQUIRE)
        .connect_with(options)
        .await
        .map_err(|error| Failure::Transient(format!("cannot reach {}: {error}", settings.url)))?;
    let longest = Duration::from_secs_f64(settings.statement_timeout_s);
    Ok(Server { pool, longest, settings: Arc::new(settings.clone()), password })
}

impl Server {
    /// Lets new connections use a password that has changed.
    fn renew(&self) {
        let Some((password, used)) = &self.password else { return };
        let now = password.current();
        let mut used = used.lock().unwrap_or_else(PoisonError::into_inner);
        if *used == now {
            return;
        }
        // what cannot be read at this moment is read again at the next call
        if let Ok(options) = options(&self.settings) {
            self.pool.set_connect_options(options.password(now.expose()));
            *used = now;
        }
    }
}

pub(super) async fn run(
    server: &Server,
    asked: &SqlRequest<'_>,
    invocation: Invocation<'_>,
) -> Result<SqlRows, Failure> {
    let refused = |error| failure(&error);
    server.renew();
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
    let mut found = SqlRows::new(asked.row_limit);
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
