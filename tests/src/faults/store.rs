//! What the agent keeps, read beside it and at the end.

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

/// What a judgement came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
pub struct Judged {
    /// Of which event.
    pub event_id: EventId,
    /// With which risk.
    pub risk_level: RiskLevel,
}

/// A notification's row in the outbox's lane of e-mail.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MailDue {
    /// Its idempotency key.
    pub key: Uuid,
    /// Rows of one group may leave together.
    pub group: Option<String>,
}

/// Everything the agent keeps that was promised.
#[derive(Debug, Clone, Default)]
pub struct Kept {
    /// Events, in the order of their arrival.
    pub events: Vec<Stored>,
    /// Judgements in the order in which they were made, with their bearing.
    pub judgements: Vec<(String, Judged)>,
    /// What staff had to be told.
    pub notifications: Vec<Notification>,
    /// Rows of the outbox by state.
    pub outbox: BTreeMap<String, i64>,
    /// What has to leave by e-mail.
    pub mails_due: Vec<MailDue>,
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
pub enum StorePlace {
    /// One file.
    Sqlite(PathBuf),
    /// A server, by its address without the network that fails.
    Postgres(String),
}

impl StorePlace {
    /// How far the agent is.
    ///
    /// # Errors
    /// The store cannot be read now.
    pub async fn level(&self) -> Result<Level, sqlx::Error> {
        match self {
            Self::Sqlite(file) => read::sqlite::level(file).await,
            Self::Postgres(url) => read::postgres::level(url).await,
        }
    }

    /// Everything.
    ///
    /// # Errors
    /// The store cannot be read, or what it holds cannot be understood.
    pub async fn kept(&self) -> anyhow::Result<Kept> {
        match self {
            Self::Sqlite(file) => read::sqlite::kept(file).await,
            Self::Postgres(url) => read::postgres::kept(url).await,
        }
        .context("reading the agent's store")
    }
}
