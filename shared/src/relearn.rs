//! The request that a gateway learns a bearing anew (`pdm.relearn/1`), after the bearing was
//! replaced, and the gateway's answer to it in its status.
//!
//! A request has an identity: however often it is delivered, the gateway forgets what it had
//! learnt once.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::bounds::{LINE_PATTERN, MAX_LINE, MAX_WORD};
use crate::time::Timestamp;

/// The value of `schema` in a request.
pub const RELEARN_SCHEMA: &str = "pdm.relearn/1";

/// The age up to which a request is obeyed, s: 30 days. Chosen: a machine that is repaired may
/// stand, and its gateway be off, for weeks; a request that a broker kept for longer may be of a
/// bearing before the present one.
pub const RELEARN_LIFE_S: f64 = 30.0 * 86_400.0;

/// Most answers to requests that a status repeats: the newest.
pub const MAX_RELEARN_ANSWERS: usize = 16;

/// A request to the gateway that measures a bearing to forget what it has learnt of it and to learn
/// the bearing that is there now.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RelearnRequest {
    /// Always [`RELEARN_SCHEMA`].
    pub schema: String,
    /// Identity of the request, by which the gateway's status answers it.
    pub request_id: Uuid,
    /// Who asks, for the gateway's log.
    #[schemars(length(max = MAX_LINE), regex(pattern = LINE_PATTERN))]
    pub by: String,
    /// When it was asked.
    pub asked_at: Timestamp,
}

/// Where a request stands at the gateway.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RelearnStep {
    /// It is taken, and done with the next measurement of the bearing.
    Taken,
    /// What was learnt is forgotten, on disk.
    Done,
    /// It is refused.
    Refused,
}

/// The gateway's answer to a request, in its status.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RelearnAnswer {
    /// The request.
    pub request_id: Uuid,
    /// When the gateway came to this answer.
    pub at: Timestamp,
    /// Where the request stands.
    pub step: RelearnStep,
    /// Why it is refused.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refusal: Option<RelearnRefusal>,
}

/// Why a gateway does not learn a bearing anew.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RelearnRefusal {
    /// In one word: `retained`, `old`, `ahead`; further ones may follow.
    #[schemars(length(max = MAX_WORD), regex(pattern = LINE_PATTERN))]
    pub cause: String,
    /// In words.
    #[schemars(length(max = MAX_LINE), regex(pattern = LINE_PATTERN))]
    pub told: String,
}
