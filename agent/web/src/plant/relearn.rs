//! A request of a person that the gateway of a bearing learns it anew, and where it stands.

use pdm_shared::id::BearingKey;
use pdm_shared::relearn::{RELEARN_LIFE_S, RelearnRefusal, RelearnStep};
use pdm_shared::time::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;
use uuid::Uuid;

/// Where a request stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RelearnState {
    /// The gateway has not answered; it is sent again when the gateway connects.
    Waiting,
    /// The gateway has it, and does it with the next measurement.
    Taken,
    /// The gateway has forgotten what it had learnt, and learns the bearing anew.
    Done,
    /// The gateway refuses it.
    Refused,
    /// No answer came within 30 days.
    Lapsed,
}

/// The newest request to learn a bearing anew.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct RelearnRow {
    /// The request.
    pub request_id: Uuid,
    /// Site, machine and bearing.
    #[serde(flatten)]
    pub key: BearingKey,
    /// Who asked.
    pub by: String,
    /// When.
    pub asked_at: Timestamp,
    /// Where it stands.
    pub state: RelearnState,
    /// When the gateway answered, by its clock.
    pub answered_at: Option<Timestamp>,
    /// Why the gateway refuses it.
    pub refusal: Option<RelearnRefusal>,
}

impl RelearnRow {
    /// A request that nobody has answered.
    pub const fn new(request_id: Uuid, key: BearingKey, by: String, asked_at: Timestamp) -> Self {
        let (state, answered_at, refusal) = (RelearnState::Waiting, None, None);
        Self { request_id, key, by, asked_at, state, answered_at, refusal }
    }

    /// The row with the state that the gateway's last step makes at this time.
    #[must_use]
    pub fn at(mut self, step: Option<RelearnStep>, now: Timestamp) -> Self {
        let is_old = now.seconds_since(self.asked_at) > RELEARN_LIFE_S;
        self.state = match step {
            Some(RelearnStep::Done) => RelearnState::Done,
            Some(RelearnStep::Refused) => RelearnState::Refused,
            Some(RelearnStep::Taken) | None if is_old => RelearnState::Lapsed,
            Some(RelearnStep::Taken) => RelearnState::Taken,
            None => RelearnState::Waiting,
        };
        self
    }

    /// Whether another request for the bearing would ask for the same.
    pub const fn holds_off(&self) -> bool {
        matches!(self.state, RelearnState::Waiting | RelearnState::Taken)
    }
}

/// The outcome of the wish that a bearing is learnt anew.
#[derive(Debug, Clone, PartialEq)]
pub enum RelearnAsked {
    /// The gateway is asked.
    Sent(RelearnRow),
    /// An earlier request still waits: nothing more is sent.
    Waits(RelearnRow),
    /// The bearing was never judged.
    Unknown,
}

#[cfg(test)]
mod tests {
    use super::*;

    /// R-UI-1: a request waits for as long as the gateway obeys it, and a gateway that has it holds
    /// another one off.
    #[test]
    fn a_request_waits_as_long_as_a_gateway_obeys_it() {
        let at =
            |days: f64| Timestamp::from_unix_ms((days * 86_400_000.0) as i64).expect("in range");
        let key = BearingKey::parse("ulsan-1", "P-101", "DE").expect("names");
        let row = RelearnRow::new(Uuid::nil(), key, "kim".to_owned(), at(0.0));
        let state = |step, days| {
            let row = row.clone().at(step, at(days));
            (row.state, row.holds_off())
        };
        assert_eq!(state(None, 29.0), (RelearnState::Waiting, true));
        assert_eq!(state(Some(RelearnStep::Taken), 29.0), (RelearnState::Taken, true));
        assert_eq!(state(Some(RelearnStep::Taken), 31.0), (RelearnState::Lapsed, false));
        assert_eq!(state(None, 31.0), (RelearnState::Lapsed, false));
        assert_eq!(state(Some(RelearnStep::Done), 99.0), (RelearnState::Done, false));
        assert_eq!(state(Some(RelearnStep::Refused), 1.0), (RelearnState::Refused, false));
    }
}
