//! The agent's store, read during the run and at its end.

use std::collections::BTreeMap;
use std::path::PathBuf;

use anyhow::Context as _;
use pdm_shared::delivery::Notification;
use pdm_shared::id::EventId;
use pdm_shared::risk::RiskLevel;
use serde::Deserialize;
use uuid::Uuid;

use super::oracle::Digest;

mod read;

/// An event that the agent stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stored {
    /// The gateway of the event.
    pub gateway: String,
    /// Sequence number of the event at its gateway.
    pub sequence: i64,
    /// Identity of the event.
    pub event_id: Vec<u8>,
    /// Machine and bearing.
    pub bearing: String,
    /// Start of the window, ms since 1970.
    pub measured_at_ms: i64,
    /// Digest of the payload.
    pub digest: Digest,
}

/// The result of a judgement.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
pub struct Judged {
    /// The judged event.
    pub event_id: EventId,
    /// The risk level.
    pub risk_level: RiskLevel,
}

/// A row of the outbox to be sent by e-mail.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MailDue {
    /// Idempotency key of the row.
    pub key: Uuid,
    /// Group whose rows may be sent together.
    pub group: Option<String>,
}

/// The contents of the store that the promises concern.
#[derive(Debug, Clone, Default)]
pub struct Kept {
    /// Events, in the order of their arrival.
    pub events: Vec<Stored>,
    /// Judgements in the order in which they were made, with their bearing.
    pub judgements: Vec<(String, Judged)>,
    /// Notifications due to staff.
    pub notifications: Vec<Notification>,
    /// Rows of the outbox by state.
    pub outbox: BTreeMap<String, i64>,
    /// Rows due by e-mail.
    pub mails_due: Vec<MailDue>,
    /// Refused messages.
    pub dead_letters: Vec<String>,
}

/// The progress of the agent.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Level {
    /// Number of events stored.
    pub events: i64,
    /// Number of these events without a judgement.
    pub unjudged: i64,
    /// Number of rows to send.
    pub unsent: i64,
    /// The reason why the first of these rows has not been sent.
    pub why: Option<String>,
}

/// The location of the agent's store.
#[derive(Debug, Clone)]
pub enum StorePlace {
    /// A SQLite file.
    Sqlite(PathBuf),
    /// A PostgreSQL server, by its address without the failing network.
    Postgres(String),
}

impl StorePlace {
    /// The progress of the agent.
    ///
    /// # Errors
    /// The store cannot be read at this time.
    pub async fn level(&self) -> Result<Level, sqlx::Error> {
        match self {
            Self::Sqlite(file) => read::sqlite::level(file).await,
            Self::Postgres(url) => read::postgres::level(url).await,
        }
    }

    /// The whole contents.
    ///
    /// # Errors
    /// The store cannot be read, or its contents cannot be parsed.
    pub async fn kept(&self) -> anyhow::Result<Kept> {
        match self {
            Self::Sqlite(file) => read::sqlite::kept(file).await,
            Self::Postgres(url) => read::postgres::kept(url).await,
        }
        .context("reading the agent's store")
    }
}
