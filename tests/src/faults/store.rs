//! What the agent keeps, read beside it and at the end.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use pdm_shared::delivery::Notification;
use pdm_shared::diagnosis::Diagnosis;
use sqlx::{ConnectOptions as _, Connection as _, Row as _, SqliteConnection};

use super::oracle::Digest;
use super::witness::reading;

/// An event that the agent stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stored {
    /// Whose.
    pub gateway: String,
    /// Its place in the gateway's sequence.
    pub sequence: i64,
    /// Its identity.
    pub event_id: Vec<u8>,
    /// Machine and bearing.
    pub bearing: String,
    /// When it was measured, ms since 1970.
    pub measured_at_ms: i64,
    /// What its payload is.
    pub digest: Digest,
}

/// Everything the agent keeps that was promised.
#[derive(Debug, Clone, Default)]
pub struct Kept {
    /// Events, in the order of their arrival.
    pub events: Vec<Stored>,
    /// Judgements in the order in which they were made, with their bearing; whether it was late.
    pub judgements: Vec<(String, Diagnosis, bool)>,
    /// What staff had to be told.
    pub notifications: Vec<Notification>,
    /// Rows of the outbox by state.
    pub outbox: BTreeMap<String, i64>,
    /// Refused messages.
    pub dead_letters: Vec<String>,
}

/// How far the agent is.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Level {
    /// Events stored.
    pub events: i64,
    /// Of these, not judged.
    pub unjudged: i64,
    /// Rows that have to leave.
    pub unsent: i64,
    /// Why the first of them has not left.
    pub why: Option<String>,
}

/// Where the agent keeps everything.
#[derive(Debug, Clone)]
pub enum Place {
    /// One file.
    Sqlite(PathBuf),
}

const LEVEL: &str = "SELECT (SELECT count(*) FROM events),
    (SELECT count(*) FROM events WHERE judged = 0),
    (SELECT count(*) FROM outbox WHERE state = 'waiting'),
    (SELECT lane || ', ' || attempts || ' tries, due ' || due_at_ms || ', claimed until '
            || claimed_until_ms || ': ' || coalesce(last_error, 'no error')
     FROM outbox WHERE state = 'waiting' ORDER BY id LIMIT 1)";

impl Place {
    /// How far the agent is.
    ///
    /// # Errors
    /// The store cannot be read now.
    pub async fn level(&self) -> Result<Level, sqlx::Error> {
        match self {
            Self::Sqlite(file) => {
                let mut connection = reading(file).connect().await?;
                let row = sqlx::query(LEVEL).fetch_one(&mut connection).await;
                connection.close().await?;
                let row = row?;
                Ok(Level {
                    events: row.try_get(0)?,
                    unjudged: row.try_get(1)?,
                    unsent: row.try_get(2)?,
                    why: row.try_get(3)?,
                })
            }
        }
    }

    /// Everything.
    ///
    /// # Errors
    /// The store cannot be read, or what it holds cannot be understood.
    pub async fn kept(&self) -> anyhow::Result<Kept> {
        match self {
            Self::Sqlite(file) => sqlite(file).await.context("reading the agent's store"),
        }
    }
}

async fn sqlite(file: &Path) -> anyhow::Result<Kept> {
    let mut connection = reading(file).connect().await?;
    let events = sqlx::query(
        "SELECT gateway_id, sequence, event_id, equipment_id || '/' || bearing_id, measured_at_ms,
                payload
         FROM events ORDER BY arrival",
    )
    .fetch_all(&mut connection)
    .await?
    .iter()
    .map(|row| {
        Ok(Stored {
            gateway: row.try_get(0)?,
            sequence: row.try_get(1)?,
            event_id: row.try_get(2)?,
            bearing: row.try_get(3)?,
            measured_at_ms: row.try_get(4)?,
            digest: Digest::of(row.try_get::<&str, _>(5)?.as_bytes()),
        })
    })
    .collect::<Result<_, sqlx::Error>>()?;
    let kept = Kept { events, ..Kept::default() };
    rest(&mut connection, kept).await
}

async fn rest(connection: &mut SqliteConnection, mut kept: Kept) -> anyhow::Result<Kept> {
    let judged = sqlx::query(
        "SELECT equipment_id || '/' || bearing_id, diagnosis, late FROM pdm_agent_memory
         ORDER BY id",
    );
    for row in judged.fetch_all(&mut *connection).await? {
        let diagnosis = serde_json::from_str(row.try_get(1)?).context("a diagnosis")?;
        kept.judgements.push((row.try_get(0)?, diagnosis, row.try_get(2)?));
    }
    let told = sqlx::query("SELECT notification FROM notifications ORDER BY created_at_ms");
    for row in told.fetch_all(&mut *connection).await? {
        let told = serde_json::from_str(row.try_get(0)?).context("a notification")?;
        kept.notifications.push(told);
    }
    let outbox = sqlx::query("SELECT state, count(*) FROM outbox GROUP BY state");
    for row in outbox.fetch_all(&mut *connection).await? {
        kept.outbox.insert(row.try_get(0)?, row.try_get(1)?);
    }
    let letters = sqlx::query("SELECT reason || ' on ' || topic FROM dead_letters");
    for row in letters.fetch_all(&mut *connection).await? {
        kept.dead_letters.push(row.try_get(0)?);
    }
    Ok(kept)
}
