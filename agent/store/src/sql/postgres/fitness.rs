//! Checks whether a server can hold the store as it is set up: its encoding, its role in a pair,
//! and whether a pooler stands before it. It is asked over separate connections before the pool is
//! made.
//!
//! Every question goes by the simple protocol, which takes no prepared statement, so that a pooler
//! in transaction mode answers it too.

use std::time::Duration;

use sqlx::postgres::PgConnectOptions;
use sqlx::{ConnectOptions as _, Connection as _, PgConnection, Row as _};
use tokio::time::timeout;

use crate::{StoreError, StoreTrouble, Unfit, log};

/// How long a server may take to let a connection in and to answer. Chosen: a server in the same
/// plant answers in milliseconds.
const ANSWER: Duration = Duration::from_secs(10);

/// Encoding, whether the server is in recovery, whether a store is there already.
const STATE: &str = "SELECT current_setting('server_encoding'), pg_is_in_recovery(), \
                     to_regclass('_sqlx_migrations') IS NOT NULL";

/// Examines the server behind `options`; `place` is told in errors.
pub(super) async fn examine(options: &PgConnectOptions, place: &str) -> Result<(), StoreError> {
    let opened = |source| StoreError::Open { place: place.to_owned(), source };
    let asked = timeout(ANSWER, answers(options)).await;
    let asked = asked.map_err(|_elapsed| opened(sqlx::Error::PoolTimedOut))?;
    let state = asked.map_err(|source| match opened(source) {
        error if StoreTrouble::from(&error) == StoreTrouble::Pooler => {
            let sign = pdm_service::error_chain::error_chain(&error);
            StoreError::Unfit { place: place.to_owned(), unfit: Unfit::Pooler { sign } }
        }
        error => error,
    })?;
    let unfit = |unfit| Err(StoreError::Unfit { place: place.to_owned(), unfit });
    if let Some(sign) = state.pooled {
        return unfit(Unfit::Pooler { sign });
    }
    match state.encoding.as_str() {
        "UTF8" => {}
        // the server takes any byte and this program sends UTF-8 only, so a store that is there
        // goes on
        "SQL_ASCII" if state.is_installed => log::encoding_not_checked(),
        _ => return unfit(Unfit::Encoding { found: state.encoding }),
    }
    if state.is_standby { unfit(Unfit::Standby) } else { Ok(()) }
}

/// The server's answers to the questions of fitness.
struct State {
    encoding: String,
    is_standby: bool,
    is_installed: bool,
    pooled: Option<String>,
}

async fn answers(options: &PgConnectOptions) -> Result<State, sqlx::Error> {
    let mut one = options.connect().await?;
    let row = sqlx::raw_sql(STATE).fetch_one(&mut one).await?;
    let mut state = State {
        encoding: row.try_get(0)?,
        is_standby: row.try_get(1)?,
        is_installed: row.try_get(2)?,
        pooled: None,
    };
    // where the server has no second place the first answer has to do
    if let Ok(mut other) = options.connect().await {
        state.pooled = pooled(&mut one, &mut other).await?;
        // the result does not matter: nothing depends on the connection any more
        let _closed = other.close().await;
    }
    let _closed = one.close().await;
    Ok(state)
}

/// Returns the sign that two connections do not have a session each; `None` if they do. A pooler in
/// transaction mode lends a session for a question: the same to both, or another one for the next
/// question. The third question of the first connection breaks the pattern of a pool that lends its
/// sessions in turn.
async fn pooled(
    one: &mut PgConnection,
    other: &mut PgConnection,
) -> Result<Option<String>, sqlx::Error> {
    let own = session(one).await?;
    let others = session(other).await?;
    if own == others {
        return Ok(Some(format!("two connections share the session {own}")));
    }
    for _ in 0..2 {
        let now = session(one).await?;
        if now != own {
            return Ok(Some(format!("one connection changed its session from {own} to {now}")));
        }
    }
    Ok(None)
}

async fn session(connection: &mut PgConnection) -> Result<i32, sqlx::Error> {
    let row = sqlx::raw_sql("SELECT pg_backend_pid()").fetch_one(connection).await?;
    row.try_get(0)
}

/// Whether the server refuses to write because it is a standby; asked after a write has failed.
pub(super) async fn is_standby(options: &PgConnectOptions) -> bool {
    let asked = async {
        let mut connection = options.connect().await?;
        let question = "SELECT pg_is_in_recovery()";
        let row = sqlx::raw_sql(question).fetch_one(&mut connection).await?;
        let _closed = connection.close().await;
        row.try_get::<bool, _>(0)
    };
    matches!(timeout(ANSWER, asked).await, Ok(Ok(true)))
}
