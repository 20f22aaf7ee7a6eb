//! Sequences that the edge made: events of a file, judged by the truth of the run they come from.
//!
//! The expected result follows from the truth alone and is the same for all: as long as the bearing
//! is healthy the risk is Normal; another element than the damaged one is never named; at the end
//! of a run to failure the risk is Warning or worse, the stage 3 or 4 (the damage has spread), and
//! the element has been named on the way; documents were written for it.

use std::path::{Path, PathBuf};

use pdm_service::files::read_regular;
use pdm_shared::diagnosis::Diagnosis;
use pdm_shared::event::Event;
use pdm_shared::fault::Fault;
use pdm_shared::risk::RiskLevel;
use serde::Deserialize;

use super::play::{Files, PlayedEvent};
use super::{Named, ScenarioError};

/// Longest event file, bytes: some thousand events.
const MAX_BYTES: u64 = 64 * 1024 * 1024;
/// The phase before the damage, and the one with it.
const HEALTHY: usize = 1;
const DAMAGED: usize = 2;

/// A sequence that the edge made, and the truth of its run.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Recorded {
    /// The events, one a line, in the scenario's folder.
    events: PathBuf,
    /// The command that made them.
    pub made_by: String,
    /// The element that is damaged; `none` for a healthy run.
    element: Named,
    /// The first event with damage, from 1; absent in a healthy run.
    damaged_from: Option<usize>,
    #[serde(skip)]
    read: Vec<Event>,
}

impl Recorded {
    /// Reads the events.
    pub(super) fn read(&mut self, folder: &Path) -> Result<(), ScenarioError> {
        let path = folder.join(&self.events);
        let bytes = read_regular(&path, MAX_BYTES)
            .and_then(|bytes| bytes.ok_or_else(|| std::io::ErrorKind::FileTooLarge.into()))
            .map_err(|source| ScenarioError::Unreadable { path: path.clone(), source })?;
        let text = String::from_utf8_lossy(&bytes);
        for (at, line) in text.lines().enumerate() {
            let event = serde_json::from_str::<Event>(line).map_err(|error| error.to_string());
            let event = event.and_then(|event| match event.check() {
                Ok(()) => Ok(event),
                Err(error) => Err(error.to_string()),
            });
            let event = event.map_err(|reason| ScenarioError::Event {
                path: path.clone(),
                phase: HEALTHY,
                reason: format!("line {}: {reason}", at + 1),
            })?;
            self.read.push(event);
        }
        Ok(())
    }

    /// The events, each with its phase: 1 healthy, 2 damaged.
    pub(super) fn events(&self) -> impl Iterator<Item = (usize, Event)> + '_ {
        let from = self.damaged_from.unwrap_or(usize::MAX);
        let phase = move |at: usize| if at + 1 < from { HEALTHY } else { DAMAGED };
        self.read.iter().enumerate().map(move |(at, event)| (phase(at), event.clone()))
    }

    /// Whether the bearing is damaged in this phase.
    pub(super) fn is_damaged(&self, phase: usize) -> bool {
        phase == DAMAGED && self.element.fault().is_some()
    }

    /// The differences from the truth, in words.
    pub(super) fn differs(&self, events: &[PlayedEvent]) -> Vec<String> {
        let mut wrong = Vec::new();
        let element = self.element.fault();
        let of = |phase: usize| events.iter().filter(move |event| event.phase == phase);
        if let Some(event) = of(HEALTHY).find(|event| risk(event) > RiskLevel::Normal) {
            wrong.push(format!("phase 1: risk is {} at {} h, healthy", risk(event), event.at_h));
        }
        let other = |event: &&PlayedEvent| {
            let named = event.diagnosis.fault_type;
            named.is_some() && named != element
        };
        if let Some(event) = events.iter().find(other) {
            let named = event.diagnosis.fault_type.map_or("none", Fault::as_str);
            wrong.push(format!("phase {}: fault is {named} at {} h", event.phase, event.at_h));
        }
        let Some(last) = of(DAMAGED).next_back() else { return wrong };
        wrong.extend(at_the_end(&last.diagnosis));
        if !of(DAMAGED).any(|event| event.diagnosis.fault_type == element) {
            wrong.push("phase 2: fault is never named".to_owned());
        }
        if !of(DAMAGED).any(|event| event.documents == Files::WHOLE) {
            wrong.push("phase 2: documents are never written".to_owned());
        }
        wrong
    }
}

fn at_the_end(last: &Diagnosis) -> Vec<String> {
    let mut wrong = Vec::new();
    if last.risk_level < RiskLevel::Warning {
        wrong.push(format!("phase 2: risk is {} at the end", last.risk_level));
    }
    if last.fault_stage < 3 {
        wrong.push(format!("phase 2: stage is {} at the end", last.fault_stage));
    }
    wrong
}

fn risk(event: &PlayedEvent) -> RiskLevel {
    event.diagnosis.risk_level
}
