//! The request for a capture (`pdm.capture_demand/1`), and the gateway's answer to it in its
//! status.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::bounds::{LINE_PATTERN, MAX_LINE, MAX_WORD};
use crate::time::Timestamp;

/// The value of `schema` in a demand.
pub const CAPTURE_DEMAND_SCHEMA: &str = "pdm.capture_demand/1";

/// A request to the gateway that measures a bearing to capture its waveform.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CaptureDemand {
    /// Always [`CAPTURE_DEMAND_SCHEMA`].
    pub schema: String,
    /// Who asks, for the gateway's log.
    #[schemars(length(max = MAX_LINE), regex(pattern = LINE_PATTERN))]
    pub by: String,
    /// When it was asked, so that a demand that waited for the gateway is known by its age.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub asked_at: Option<Timestamp>,
    /// Identity of the demand, by which the gateway's status answers it and the capture names it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub demand_id: Option<Uuid>,
}

/// Most answers to demands that a status repeats: the newest.
pub const MAX_ANSWERS: usize = 16;

/// The gateway's answer to a demand that has an identity, in its status.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CaptureAnswer {
    /// The demand.
    pub demand_id: Uuid,
    /// When the gateway decided it.
    pub at: Timestamp,
    /// Why nothing is captured; absent where it is captured as soon as its last samples have come.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refusal: Option<CaptureRefusal>,
}

/// Why a gateway does not take a demand.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CaptureRefusal {
    /// In one word: `used` (the captures of the hour), `disk`, `busy`, `late`, `retained`, `form`;
    /// further ones may follow.
    #[schemars(length(max = MAX_WORD), regex(pattern = LINE_PATTERN))]
    pub cause: String,
    /// In words.
    #[schemars(length(max = MAX_LINE), regex(pattern = LINE_PATTERN))]
    pub told: String,
    /// Time until the next demand has a place, s, where that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wait_s: Option<u64>,
}
