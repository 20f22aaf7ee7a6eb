//! The trace of a judgement: what was done to an event, step by step.

use serde::{Deserialize, Serialize};

use crate::time::Timestamp;

/// One step of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TraceStep {
    /// The place of the step in the run, from 1.
    pub number: u32,
    /// The node of the workflow that was done.
    pub node: String,
    /// When the node was done.
    pub at: Timestamp,
    /// The node's own account of what it did.
    pub detail: serde_json::Value,
}
