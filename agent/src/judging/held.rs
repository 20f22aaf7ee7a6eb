//! Judgements that wait for a language model: put aside, taken up again with the answer or without.
//!
//! The wait is a row of the store, not a task of this process: the run is checkpointed, no event of
//! its bearing is read while it waits, and nothing else is held up. The lane of opinions
//! ([`crate::opinions`]) asks the model. A wait ends with the answer, after the configured time,
//! when the agent stops, or when another agent finds that its time is over; then the run goes on
//! where it was.

use std::sync::Arc;

use pdm_reasoner::opinion::{OpinionFailure, no_document};
use pdm_shared::risk::RiskLevel;
use pdm_store::HeldJudgement;
use tokio::sync::Notify;

use super::{Judging, JudgingError, log};
use crate::judging::bearing::Bearing;
use crate::workflow::Run;
use crate::workflow::heard::WaitTerms;

/// Longer than any wait, s: a year.
const LONGER_THAN_ANY_S: f64 = 365.0 * 86_400.0;

/// A language model whose verdict is part of judgements.
#[derive(Debug, Clone)]
pub struct ModelInLoop {
    /// Name of the model.
    pub model: String,
    /// The lowest risk whose news wait.
    pub from: RiskLevel,
    /// The lowest risk that is told at once.
    pub at_once_from: RiskLevel,
    /// Longest wait, s.
    pub wait_s: f64,
    /// Rung when a judgement waits.
    pub asked: Arc<Notify>,
}

impl ModelInLoop {
    pub(super) const fn terms(&self) -> WaitTerms {
        WaitTerms { from: self.from, at_once_from: self.at_once_from }
    }
}

impl Judging {
    /// Puts a run aside until the model has answered. False if it is not to wait: it then goes on
    /// with the reason.
    pub(super) async fn hold(
        &self,
        bearing: &Bearing,
        run: &mut Run,
    ) -> Result<bool, JudgingError> {
        let (Some(model), Some(judgement)) = (&self.in_loop, &run.state.diagnosis_result) else {
            return Ok(false);
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
            return Ok(true);
        }
        let why = OpinionFailure::QueueFull;
        run.state.heard = Some(no_document(event_id, &model.model, self.clock.now(), why));
        Ok(false)
    }

    /// Hands the answer to a run that has waited.
    pub(super) async fn hear(&self, run: &mut Run) -> Result<(), JudgingError> {
        let event_id = run.state.event_payload.event_id;
        let heard = self.store.heard(event_id).await?;
        log::went_on(event_id, heard.as_ref());
        self.look_no_longer(event_id);
        run.state.heard = Some(heard.unwrap_or_else(|| {
            let model = self.in_loop.as_ref().map_or("", |model| model.model.as_str());
            no_document(event_id, model, self.clock.now(), OpinionFailure::NotInTime)
        }));
        Ok(())
    }

    /// Ends the waits whose time is over. A stopping agent ends all whose model it asks: nobody may
    /// start it again soon, and staff has to hear of the rules' judgement. Without a model in the
    /// loop nothing waits any longer.
    pub(super) async fn end_waits(&self, is_stopping: bool) -> Result<(), JudgingError> {
        let now = self.clock.now();
        let ended = if self.in_loop.is_some() {
            self.store.end_waits(now, is_stopping).await?
        } else {
            self.store.end_waits(now.plus_seconds(LONGER_THAN_ANY_S), false).await?
        };
        if ended > 0 {
            log::waits_ended(ended);
        }
        Ok(())
    }
}
