//! The trace of a judgement: the steps that processed an event.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::time::Timestamp;

/// One step of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TraceStep {
    /// Number of the step in the run, from 1.
    pub number: u32,
    /// The node of the workflow that ran.
    pub node: String,
    /// Time of the step.
    pub at: Timestamp,
    /// The node's own account of its work.
    pub detail: serde_json::Value,
}
