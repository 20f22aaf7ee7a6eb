//! Judgements that are held for a language model: put aside, taken up again with the answer or
//! without.
//!
//! A hold is a row of the store, not a task of this process: the run is checkpointed, no event of
//! its bearing is read while it is held, and nothing else waits. The lane of opinions
//! ([`crate::opinions`]) asks the model. A hold ends with the answer, after the configured time,
//! when the agent stops, when a window after it is told at once ([`later`]), or when another agent
//! finds that its time is over; then the run goes on where it was. [`crate::workflow::held`] says
//! which judgements are held, and takes the answer in.

use std::sync::Arc;

use pdm_reasoner::opinion::{OpinionFailure, no_document};
use pdm_shared::risk::RiskLevel;
use pdm_store::HeldJudgement;
use tokio::sync::Notify;

use super::bearing::Bearing;
use super::{Judging, JudgingError, log};
use crate::workflow::held::HoldTerms;
use crate::workflow::{Run, RunState};

mod later;

pub(super) use later::Looked;

/// A language model whose verdict is part of judgements.
#[derive(Debug, Clone)]
pub struct ModelInLoop {
    /// Name of the model.
    pub model: String,
    /// The lowest risk whose news are held.
    pub from: RiskLevel,
    /// The lowest risk that is told at once.
    pub at_once_from: RiskLevel,
    /// Longest hold, s.
    pub wait_s: f64,
    /// Notified when a judgement is held.
    pub asked: Arc<Notify>,
}

impl ModelInLoop {
    pub(super) const fn terms(&self) -> HoldTerms {
        HoldTerms { from: self.from, at_once_from: self.at_once_from }
    }
}

impl Judging {
    /// Puts a run aside until the model has answered. Where the store does not hold it, the run
    /// goes on with the reason.
    pub(super) async fn hold(&self, bearing: &Bearing, run: &mut Run) -> Result<(), JudgingError> {
        run.run_state = RunState::Acting;
        let (Some(model), Some(judgement)) = (&self.in_loop, &run.state.diagnosis_result) else {
            return Ok(());
        };
        let judged = judgement.diagnosis.risk_level;
        let (event_id, asked_at) = (run.state.event_payload.event_id, run.state.now);
        run.state.held = true;
        let held = HeldJudgement {
            event_id,
            judged,
            memory: run.state.memory_context.clone(),
            asked_at,
            until: self.clock.now().plus_seconds(model.wait_s),
            checkpoint: run.checkpoint(self.clock.now())?,
            steps: run.steps.clone(),
        };
        if self.store.hold(&bearing.key, &held).await? {
            log::log_held(event_id, judged);
            model.asked.notify_one();
            run.run_state = RunState::Held;
            return Ok(());
        }
        let why = OpinionFailure::QueueFull;
        run.state.held_answer = Some(no_document(event_id, &model.model, self.clock.now(), why));
        Ok(())
    }

    /// Hands the answer to a run that was held.
    pub(super) async fn take_answer(&self, run: &mut Run) -> Result<(), JudgingError> {
        let event_id = run.state.event_payload.event_id;
        let answer = self.store.held_answer(event_id).await?;
        log::hold_ended(event_id, answer.as_ref());
        self.look_no_longer(event_id);
        run.state.held_answer = Some(answer.unwrap_or_else(|| {
            let model = self.in_loop.as_ref().map_or("", |model| model.model.as_str());
            no_document(event_id, model, self.clock.now(), OpinionFailure::NotInTime)
        }));
        run.run_state = RunState::Acting;
        Ok(())
    }

    /// Ends the holds whose time is over. A stopping agent ends all whose model it asks: nobody may
    /// start it again soon, and staff has to hear of the rules' judgement. Without a model in the
    /// loop nothing is held any longer.
    pub(super) async fn end_holds(&self, is_stopping: bool) -> Result<(), JudgingError> {
        let now = self.clock.now();
        let ended = if self.in_loop.is_some() {
            self.store.end_holds(now, is_stopping).await?
        } else {
            self.store.end_holds(now.ten_years_on(), false).await?
        };
        if ended > 0 {
            log::holds_over(ended);
        }
        Ok(())
    }
}
