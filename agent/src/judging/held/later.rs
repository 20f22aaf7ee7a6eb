//! Checks the windows after a held judgement: one that the rules would tell at once ends the hold.
//!
//! The events of a bearing are judged in their order, so a Critical after a Watch that is held for
//! a model would wait too. Each batch therefore looks at the windows that have come in after held
//! judgements, by rules alone and without effect; the real judgement follows in its turn.

use std::collections::BTreeMap;
use std::sync::{MutexGuard, PoisonError};

use pdm_expert::case::{Case, Memory};
use pdm_shared::id::EventId;
use pdm_store::EventAfterHeld;

use super::super::{BATCH, Judging, JudgingError, log};
use super::ModelInLoop;
use crate::workflow::Run;

/// Most bearings whose memory is kept between two looks; more are read again.
const KEPT: usize = 1000;

/// How far the windows after held judgements were looked at.
#[derive(Debug, Default)]
pub(in crate::judging) struct Looked {
    /// The place in the order of arrival up to which all were. On a server that several agents
    /// write to an event may become visible behind it; that one waits as long as the judgement
    /// before it.
    arrival: i64,
    /// The memory of a bearing after the windows that were looked at, by the event that is held.
    memory: BTreeMap<EventId, Memory>,
}

impl Judging {
    /// Ends the holds after which a window waits that is told at once.
    pub(in crate::judging) async fn look_after_held(&self) -> Result<(), JudgingError> {
        let Some(model) = &self.in_loop else { return Ok(()) };
        let after = self.looked().arrival;
        let (events, looked_to) = self.store.events_after_held(after, BATCH).await?;
        for waiting in events {
            let arrival = waiting.arrival;
            self.look_at(model, waiting).await?;
            self.looked().arrival = arrival;
        }
        self.looked().arrival = looked_to;
        Ok(())
    }

    async fn look_at(
        &self,
        model: &ModelInLoop,
        waiting: EventAfterHeld,
    ) -> Result<(), JudgingError> {
        let kept = self.looked().memory.remove(&waiting.held);
        let Some(mut memory) = (match kept {
            Some(memory) => Some(memory),
            None => self.memory_after(waiting.held).await?,
        }) else {
            return Ok(());
        };
        let case = Case { event: &waiting.event, memory: &memory, now: self.clock.now() };
        let judgement = pdm_expert::judge(&case, self.workflow.rules());
        if judgement.diagnosis.risk_level >= model.at_once_from {
            log::hold_cut_short(waiting.held, waiting.event.event_id);
            return Ok(self.store.end_hold(waiting.held).await?);
        }
        memory.recall(&waiting.event, &judgement);
        let mut looked = self.looked();
        if looked.memory.len() < KEPT {
            looked.memory.insert(waiting.held, memory);
        }
        Ok(())
    }

    /// Returns the memory of a bearing after the judgement that is held; `None` if another version
    /// wrote the run.
    async fn memory_after(&self, held: EventId) -> Result<Option<Memory>, JudgingError> {
        let Some(checkpoint) = self.store.held_run(held).await? else { return Ok(None) };
        let Ok(run) = Run::resumed(&checkpoint, 0, &self.workflow) else { return Ok(None) };
        let mut memory = run.state.memory_context.clone();
        if let Some(judgement) = &run.state.diagnosis_result {
            memory.recall(&run.state.event_payload, judgement);
        }
        Ok(Some(memory))
    }

    /// Notes that a judgement is held: events after it are looked at from its place on.
    pub(in crate::judging) fn look_from(&self, arrival: i64) {
        let mut looked = self.looked();
        looked.arrival = looked.arrival.min(arrival);
    }

    /// A judgement goes on: nothing waits after it any longer.
    pub(super) fn look_no_longer(&self, held: EventId) {
        self.looked().memory.remove(&held);
    }

    fn looked(&self) -> MutexGuard<'_, Looked> {
        self.looked.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
