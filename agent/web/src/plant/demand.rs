//! A demand of a person for the waveform of a bearing, and where it stands.

use pdm_shared::capture::CaptureRefusal;
use pdm_shared::id::BearingKey;
use pdm_shared::time::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;
use uuid::Uuid;

/// How long the broker keeps a demand for a gateway that is away, s. Chosen: after ten minutes the
/// waveform shows another state than that which the person asked about.
pub const DEMAND_LIFE_S: f64 = 600.0;
/// The age from which a demand without an answer waits no longer, s: its life, and as long again as
/// a gateway may take to tell its answer behind a busy line. While one waits, no other of the
/// bearing is sent.
pub const DEMAND_PATIENCE_S: f64 = DEMAND_LIFE_S + 300.0;

/// Where a demand stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum DemandState {
    /// The gateway has not answered yet.
    Waiting,
    /// The gateway captures it; the file follows when no event waits at the gateway.
    Taken,
    /// The capture is here.
    Arrived,
    /// The gateway refuses it.
    Refused,
    /// No answer came within 15 minutes.
    Lapsed,
}

/// The newest demand for the waveform of a bearing.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct CaptureDemandRow {
    /// The demand.
    pub demand_id: Uuid,
    /// Site, machine and bearing.
    #[serde(flatten)]
    pub key: BearingKey,
    /// Who asked.
    pub by: String,
    /// When.
    pub asked_at: Timestamp,
    /// Where it stands.
    pub state: DemandState,
    /// When the gateway answered, by its clock.
    pub answered_at: Option<Timestamp>,
    /// Why the gateway refuses it.
    pub refusal: Option<CaptureRefusal>,
    /// The capture.
    pub capture_id: Option<Uuid>,
}

impl CaptureDemandRow {
    /// A demand that nobody has answered.
    pub const fn new(demand_id: Uuid, key: BearingKey, by: String, asked_at: Timestamp) -> Self {
        let (state, answered_at, refusal, capture_id) = (DemandState::Waiting, None, None, None);
        Self { demand_id, key, by, asked_at, state, answered_at, refusal, capture_id }
    }

    /// The row with its state at this time.
    #[must_use]
    pub fn at(mut self, now: Timestamp) -> Self {
        self.state = if self.capture_id.is_some() {
            DemandState::Arrived
        } else if self.refusal.is_some() {
            DemandState::Refused
        } else if self.answered_at.is_some() {
            DemandState::Taken
        } else if now.seconds_since(self.asked_at) > DEMAND_PATIENCE_S {
            DemandState::Lapsed
        } else {
            DemandState::Waiting
        };
        self
    }

    /// Whether another demand of the bearing would ask for the same.
    pub fn holds_off(&self, now: Timestamp) -> bool {
        match self.state {
            DemandState::Waiting => true,
            DemandState::Taken => now.seconds_since(self.asked_at) <= DEMAND_PATIENCE_S,
            DemandState::Arrived | DemandState::Refused | DemandState::Lapsed => false,
        }
    }
}

/// The outcome of the wish for a waveform.
#[derive(Debug, Clone, PartialEq)]
pub enum CaptureDemanded {
    /// The gateway is asked.
    Asked(CaptureDemandRow),
    /// An earlier demand still waits: nothing more is sent.
    Waits(CaptureDemandRow),
    /// The agent takes no captures.
    NoPlace,
    /// The bearing was never judged.
    Unknown,
}

#[cfg(test)]
mod tests {
    use super::*;

    /// R-UI-1: a demand is said to wait no longer than it can, and one that was refused can be made
    /// again.
    #[test]
    fn a_demand_waits_is_answered_and_lapses() {
        let at = |s: f64| Timestamp::from_unix_ms((s * 1000.0) as i64).expect("in range");
        let key = BearingKey::parse("ulsan-1", "P-101", "DE").expect("names");
        let row = CaptureDemandRow::new(Uuid::nil(), key, "kim".to_owned(), at(0.0));
        let state = |row: &CaptureDemandRow, s: f64| {
            let row = row.clone().at(at(s));
            (row.state, row.holds_off(at(s)))
        };
        assert_eq!(state(&row, 899.0), (DemandState::Waiting, true));
        assert_eq!(state(&row, 901.0), (DemandState::Lapsed, false));
        let taken = CaptureDemandRow { answered_at: Some(at(3.0)), ..row.clone() };
        assert_eq!(state(&taken, 10.0), (DemandState::Taken, true));
        assert_eq!(state(&taken, 901.0), (DemandState::Taken, false), "a gateway that never sends");
        let refusal = CaptureRefusal {
            cause: "used".to_owned(),
            told: "the captures of the hour are used up".to_owned(),
            wait_s: Some(60),
        };
        let refused = CaptureDemandRow { refusal: Some(refusal), ..taken.clone() };
        assert_eq!(state(&refused, 10.0), (DemandState::Refused, false));
        let arrived = CaptureDemandRow { capture_id: Some(Uuid::nil()), ..taken };
        assert_eq!(state(&arrived, 10.0), (DemandState::Arrived, false));
    }
}
