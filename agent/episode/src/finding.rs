//! The damage within a level: its stage, the element, and whether its parts are to be hurried.
//! Staff hears when it goes on, since the necessary act depends on it as well as on the level.

use pdm_shared::fault::Fault;
use pdm_shared::time::Timestamp;
use serde::{Deserialize, Serialize};

use crate::hold::{TELLINGS, TELLINGS_S};

/// The finding of damage in a window. Like the level it is that of the bearing: one window alone
/// does not take it back.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Finding {
    /// The stage on the P–F curve, 0–4.
    pub stage: u8,
    /// The element that is named.
    pub fault: Option<Fault>,
    /// The parts are to be hurried: the remaining life may be shorter than the lead time.
    pub is_urgent: bool,
}

/// The damage that staff was told of in this episode.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ToldFinding {
    /// The highest stage.
    pub stage: u8,
    /// The elements, in the order in which they were named.
    pub elements: Vec<Fault>,
    /// The parts were to be hurried.
    pub is_urgent: bool,
    /// The last times at which staff was told of the damage alone, oldest first.
    pub tellings: Vec<Timestamp>,
}

impl ToldFinding {
    /// Whether a finding says more than staff was told: a higher stage, an element that was not
    /// named before, or parts that are to be hurried. Each is told once an episode.
    pub fn is_exceeded_by(&self, finding: &Finding) -> bool {
        finding.stage > self.stage
            || finding.fault.is_some_and(|fault| !self.elements.contains(&fault))
            || (finding.is_urgent && !self.is_urgent)
    }

    pub(crate) fn take(&mut self, finding: Finding) {
        self.stage = self.stage.max(finding.stage);
        self.is_urgent |= finding.is_urgent;
        if let Some(fault) = finding.fault.filter(|fault| !self.elements.contains(fault)) {
            self.elements.push(fault);
        }
    }

    /// Whether staff was told of the damage as often as it may be within the time up to `at`.
    pub(crate) fn is_told_enough(&self, at: Timestamp) -> bool {
        let recent = self.tellings.iter().filter(|told| at.seconds_since(**told) < TELLINGS_S);
        recent.count() >= TELLINGS
    }

    /// Notes that staff is told of the damage alone.
    pub(crate) fn note_telling(&mut self, at: Timestamp) {
        self.tellings.push(at);
        if self.tellings.len() > TELLINGS {
            self.tellings.remove(0);
        }
    }
}
