//! Second opinions as the store keeps them: asked for with the judgement, claimed, ended once.

use pdm_expert::case::Memory;
use pdm_shared::delivery::Notification;
use pdm_shared::diagnosis::SecondOpinion;
use pdm_shared::id::EventId;
use pdm_shared::risk::RiskLevel;
use pdm_shared::text::Text;
use pdm_shared::time::Timestamp;
use serde::Serialize;

use super::outbox::Outgoing;

/// Most judgements that wait for an opinion; further ones get none. Chosen: with ten seconds for
/// one opinion the last of a thousand comes after three hours, when nobody waits for it any more.
pub const MAX_WAITING_OPINIONS: i64 = 1000;

/// A judgement that waits for an opinion.
#[derive(Debug, Clone)]
pub struct OpinionAsked {
    /// The event.
    pub event_id: EventId,
    /// The memory of its bearing when the expert judged.
    pub memory: Memory,
    /// The state of the run, if it has begun.
    pub checkpoint: Option<String>,
    /// How often the run was put off because the model did not answer.
    pub attempts: u32,
    /// When the opinion was asked for.
    pub asked_at: Timestamp,
    /// The risk by rules.
    pub judged: RiskLevel,
    /// Whether the judgement waits for the opinion.
    pub is_held: bool,
}

/// The end of an opinion, with everything that is written because of it.
#[derive(Debug, Clone)]
pub struct OpinionEnded {
    /// The event.
    pub event_id: EventId,
    /// The opinion, or its failure.
    pub opinion: SecondOpinion,
    /// The diagnosis's text on a difference between expert and model.
    pub disagreement: Option<Text>,
    /// The message to staff about a higher risk, with its rows of the outbox.
    pub told: Option<(Notification, Vec<Outgoing>)>,
    /// The diagnosis is published again.
    pub publication: Option<Outgoing>,
    /// When it ended.
    pub at: Timestamp,
}

/// Counts of second opinions that are kept.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct OpinionCounts {
    /// Judgements that wait.
    pub waiting: u64,
    /// Opinions of the same risk.
    pub agrees: u64,
    /// Opinions of a higher risk.
    pub raises: u64,
    /// Opinions of a lower risk.
    pub lowers: u64,
    /// Judgements without an opinion, because the model gave none.
    pub failed: u64,
}

impl OpinionCounts {
    /// Returns the share of opinions that agree with the expert, 0…1; `None` while there is no
    /// opinion.
    pub fn agreement(&self) -> Option<f64> {
        let all = self.agrees + self.raises + self.lowers;
        (all > 0).then(|| self.agrees as f64 / all as f64)
    }
}
