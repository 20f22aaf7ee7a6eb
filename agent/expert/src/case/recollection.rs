//! The memory of a bearing: its last judgements that differ or lie a day apart, and the work that
//! they asked for.
//!
//! Judgements of equal content within a day are one entry, so that five entries reach back over
//! days whatever the interval of the windows (R-AGENT-9). The newest entry ends with the bearing's
//! last judgement.

use pdm_shared::diagnosis::DegradationSpeed;
use pdm_shared::event::Event;
use pdm_shared::fault::Fault;
use pdm_shared::follow_up::{FollowUpState, WorkFound};
use pdm_shared::id::EventId;
use pdm_shared::risk::RiskLevel;
use pdm_shared::text::Text;
use pdm_shared::time::Timestamp;
use serde::{Deserialize, Serialize};

use super::{BearingState, Judgement};

/// How many entries are recalled (the seed's five).
pub const RECALLED: usize = 5;
/// How many pieces of work are recalled. Chosen: two work orders and what was asked for before
/// them.
pub const RECALLED_WORK: usize = 8;
/// The span from which a judgement is an entry of its own although it says the same, s.
const APART_S: f64 = 86_400.0;
/// Most tools and documents that an entry names.
const MAX_NAMES: usize = 6;

/// The memory of a bearing.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Memory {
    /// The last judgements that differ or lie a day apart, newest first, at most [`RECALLED`].
    pub recent: Vec<Remembered>,
    /// The state of the bearing.
    pub state: BearingState,
    /// The work that judgements asked for, newest first, at most [`RECALLED_WORK`].
    #[serde(default)]
    pub work: Vec<Work>,
}

/// Judgements of equal content within a day.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Remembered {
    /// When the last window of the entry was measured.
    pub measured_at: Timestamp,
    /// When its first window was measured; absent where there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub since: Option<Timestamp>,
    /// How many windows it stands for.
    #[serde(default = "one")]
    pub windows: u32,
    /// The event of the last window; absent in entries of earlier versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub event_id: Option<EventId>,
    /// The risk that was judged.
    pub risk: RiskLevel,
    /// The stage that was judged.
    pub stage: u8,
    /// The fault that was named.
    pub fault: Option<Fault>,
    /// The speed of degradation that was judged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub speed: Option<DegradationSpeed>,
    /// The remaining life that was planned with at the last window, h.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rul_hours: Option<f64>,
    /// Whether that was the lower bound and not the median; absent in entries of earlier versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rul_is_lower_bound: Option<bool>,
    /// The recommendation of the last window.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub advice: Option<Text>,
    /// The tools that were called.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tools: Vec<String>,
    /// The documents that were found.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub documents: Vec<String>,
}

const fn one() -> u32 {
    1
}

/// A piece of work that a judgement asked for, and its outcome.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Work {
    /// The event whose judgement asked for it.
    pub event_id: EventId,
    /// When it was asked for.
    pub asked_at: Timestamp,
    /// The work.
    pub action: Text,
    /// The due time, if the judgement set one.
    pub due_at: Option<Timestamp>,
    /// The work order that asks for it, if one was written: its place.
    pub work_order: Option<String>,
    /// The state.
    pub state: FollowUpState,
    /// When the state was set.
    pub at: Option<Timestamp>,
    /// Whether the bearing was repaired or replaced by it.
    pub repaired: bool,
    /// The finding on the machine.
    pub found: Option<WorkFound>,
}

impl Work {
    /// Whether it is open and its time is over.
    pub fn is_overdue(&self, now: Timestamp) -> bool {
        self.state == FollowUpState::Open
            && self.due_at.is_some_and(|due| now.seconds_since(due) > 0.0)
    }
}

impl Memory {
    /// Remembers a judgement: where the bearing stands, and the judgement among the last. One of an
    /// event ahead of the clock is not remembered.
    pub fn recall(&mut self, event: &Event, judgement: &Judgement) {
        if judgement.ahead {
            return;
        }
        remember(&mut self.recent, Remembered::of(event, judgement));
        self.state = judgement.state.clone();
    }
}

/// Adds an entry to entries that stand newest first. A late one takes its place in time.
pub fn remember(recent: &mut Vec<Remembered>, new: Remembered) {
    let place = recent.iter().take_while(|known| known.measured_at > new.measured_at).count();
    match recent.get_mut(place) {
        Some(known) if known.takes(&new) => known.extend(new),
        _ => recent.insert(place, new),
    }
    recent.truncate(RECALLED);
}

impl Remembered {
    /// An entry of one window with nothing but its verdict.
    pub const fn verdict(
        measured_at: Timestamp,
        risk: RiskLevel,
        stage: u8,
        fault: Option<Fault>,
    ) -> Self {
        Self {
            measured_at,
            since: None,
            windows: 1,
            event_id: None,
            risk,
            stage,
            fault,
            speed: None,
            rul_hours: None,
            rul_is_lower_bound: None,
            advice: None,
            tools: Vec::new(),
            documents: Vec::new(),
        }
    }

    /// The entry of one judgement.
    pub fn of(event: &Event, judgement: &Judgement) -> Self {
        let diagnosis = &judgement.diagnosis;
        let (mut tools, mut documents): (Vec<String>, Vec<String>) = (Vec::new(), Vec::new());
        for used in &diagnosis.tools {
            add_name(&mut tools, &used.name);
            for id in &used.result_ids {
                add_name(&mut documents, id);
            }
        }
        Self {
            event_id: Some(event.event_id),
            speed: Some(diagnosis.degradation.speed),
            rul_hours: diagnosis.rul_assessment.hours,
            rul_is_lower_bound: diagnosis
                .rul_assessment
                .hours
                .is_some()
                .then_some(diagnosis.rul_assessment.conservative),
            advice: Some(diagnosis.recommendation.clone()),
            tools,
            documents,
            ..Self::verdict(
                event.measured_at,
                diagnosis.risk_level,
                diagnosis.fault_stage,
                diagnosis.fault_type,
            )
        }
    }

    /// Returns when the first window of the entry was measured.
    pub fn begun(&self) -> Timestamp {
        self.since.unwrap_or(self.measured_at)
    }

    /// Whether a later judgement says the same and is less than a day after the first of this
    /// entry.
    fn takes(&self, new: &Self) -> bool {
        let same = self.risk == new.risk
            && self.stage == new.stage
            && self.fault == new.fault
            && (self.speed.is_none() || self.speed == new.speed);
        same && new.measured_at.seconds_since(self.begun()) < APART_S
    }

    fn extend(&mut self, new: Self) {
        self.since = Some(self.begun());
        self.windows = self.windows.saturating_add(new.windows);
        for name in new.tools {
            add_name(&mut self.tools, &name);
        }
        for name in new.documents {
            add_name(&mut self.documents, &name);
        }
        (self.measured_at, self.event_id) = (new.measured_at, new.event_id);
        (self.speed, self.advice) = (new.speed, new.advice);
        (self.rul_hours, self.rul_is_lower_bound) = (new.rul_hours, new.rul_is_lower_bound);
    }
}

fn add_name(names: &mut Vec<String>, name: &str) {
    if names.len() < MAX_NAMES && !names.iter().any(|known| known == name) {
        names.push(name.to_owned());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(hours: f64, risk: RiskLevel, stage: u8) -> Remembered {
        let epoch = Timestamp::from_unix_ms(1_795_238_000_000).expect("in range");
        Remembered::verdict(epoch.plus_seconds(hours * 3600.0), risk, stage, None)
    }

    /// R-AGENT-9: with a window a minute the memory still reaches back over days.
    #[test]
    fn five_entries_reach_back_over_days() {
        let mut recent = Vec::new();
        for minute in 0..6 * 24 * 60 {
            let risk = if minute < 3 * 24 * 60 { RiskLevel::Normal } else { RiskLevel::Watch };
            remember(&mut recent, at(f64::from(minute) / 60.0, risk, 0));
        }
        assert_eq!(recent.len(), RECALLED);
        let span = recent[0].measured_at.seconds_since(recent[4].begun()) / 86_400.0;
        assert!(span > 4.9, "{span} days");
        assert_eq!(recent.iter().filter(|one| one.risk == RiskLevel::Watch).count(), 3);
        assert_eq!(recent[1].windows, 24 * 60);
    }

    #[test]
    fn a_judgement_that_differs_is_an_entry_of_its_own() {
        let mut recent = Vec::new();
        for (hours, stage) in [(0.0, 1), (1.0, 1), (2.0, 2), (3.0, 1), (4.0, 1)] {
            remember(&mut recent, at(hours, RiskLevel::Watch, stage));
        }
        let stages: Vec<(u8, u32)> = recent.iter().map(|one| (one.stage, one.windows)).collect();
        assert_eq!(stages, [(1, 2), (2, 1), (1, 2)]);
        remember(&mut recent, at(2.5, RiskLevel::Critical, 3));
        assert_eq!(recent[1].stage, 3, "a late judgement takes its place in time");
    }
}
