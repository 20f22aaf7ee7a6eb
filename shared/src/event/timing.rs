//! A change of the times at which windows are measured, as an edge noticed it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::time::Timestamp;

/// A change of the gateway's clock, or of the time from window to window: told once, in the event
/// of the window it was found with.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Timing {
    /// By how much the gateway's clock was moved against the time that really passed, s: above 0
    /// ahead, below 0 back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clock_moved_s: Option<f64>,
    /// The time from window to window changed for good.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub period: Option<PeriodChange>,
}

/// Another time from window to window.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PeriodChange {
    /// Time from window to window before, s.
    pub before_s: f64,
    /// Time from window to window now, s.
    pub after_s: f64,
    /// The last window before the change.
    pub since: Timestamp,
}
