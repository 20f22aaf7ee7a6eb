//! Judgements by rules that are held for a language model, as the store keeps them.

use pdm_expert::case::Memory;
use pdm_shared::diagnosis::SecondOpinion;
use pdm_shared::event::Event;
use pdm_shared::id::EventId;
use pdm_shared::risk::RiskLevel;
use pdm_shared::time::Timestamp;
use pdm_shared::trace::TraceStep;

use super::judgement::Checkpoint;

/// A judgement by rules that is held for a language model.
#[derive(Debug, Clone)]
pub struct HeldJudgement {
    /// The event.
    pub event_id: EventId,
    /// The risk by rules.
    pub judged: RiskLevel,
    /// The memory of its bearing when the expert judged.
    pub memory: Memory,
    /// When the model was asked.
    pub asked_at: Timestamp,
    /// The latest time until which the judgement is held.
    pub until: Timestamp,
    /// The rest of its run.
    pub checkpoint: Checkpoint,
    /// Steps of the run that are not stored yet.
    pub steps: Vec<TraceStep>,
}

/// An event that waits after a held judgement of its bearing.
#[derive(Debug, Clone)]
pub struct EventAfterHeld {
    /// The event whose judgement is held.
    pub held: EventId,
    /// The waiting event's place in the order of arrival.
    pub arrival: i64,
    /// The waiting event.
    pub event: Event,
}

/// An answer to a held judgement.
#[derive(Debug, Clone)]
pub struct HeldAnswer {
    /// The event.
    pub event_id: EventId,
    /// The opinion, or why there is none.
    pub opinion: SecondOpinion,
    /// When the model is asked again, for an opinion after the judgement; `None` if this was its
    /// answer.
    pub again_at: Option<Timestamp>,
    /// When it was given.
    pub at: Timestamp,
}
