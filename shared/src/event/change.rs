//! A change of the machine or of its mounting that an edge found in the levels.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::bounds::MAX_CHANGED;
use crate::id::BearingId;
use crate::time::Timestamp;

/// A change that is no damage: told once, in the event of the window it was found with.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Change {
    /// What changed.
    pub kind: ChangeKind,
    /// The first window after the change.
    pub since: Timestamp,
    /// The event's bearing: its levels after the change over those of before, the median of them.
    pub level_ratio: f64,
    /// The other bearings concerned: those that changed with this one, or the neighbour whose
    /// levels this channel has now.
    #[serde(default)]
    #[schemars(length(max = MAX_CHANGED))]
    pub bearings: Vec<BearingId>,
}

/// What changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ChangeKind {
    /// All bearings of the machine took a step together: its load, speed or process changed.
    Operating,
    /// The levels of this bearing alone differ since a standstill: it was replaced, repaired or its
    /// sensor was mounted anew.
    Replaced,
    /// This channel and a neighbour have each other's levels: their cables were swapped.
    Swapped,
}
