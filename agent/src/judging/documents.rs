//! The rest of a run after its judgement was saved: `generate_report`, `generate_work_order`, and
//! `save_memory`, which tells staff of documents that could not be written.
//!
//! The alarm has left by then, with the places of the documents. The runs that wait stand in the
//! store as checkpoints of judged events, those of this process also in memory, with the span of
//! their run. A run of another process is continued when it has not moved for [`ABANDONED_S`]; a
//! file has one agent, so there every run is its own. What two replicas would tell of one run has
//! one identity and is told once.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{MutexGuard, PoisonError};

use futures_util::StreamExt as _;
use pdm_shared::delivery::Notification;
use pdm_shared::id::EventId;
use pdm_store::{Checkpoint, Finished, Outgoing};
use serde_json::json;
use tokio_util::sync::CancellationToken;

use super::{Judging, JudgingError, LOOK, PARALLEL, RETRY, WAIT, log};
use crate::workflow::documents::Written;
use crate::workflow::{Node, Phase, Run};

/// Runs that are taken up at once.
const BATCH: u32 = 32;
/// Runs that are kept in memory beside the store: with a state of some 100 KB a few megabytes.
const KEPT: usize = 64;
/// How long a run of another replica may stand still, s. Chosen: a document takes a second, and its
/// look-ups half a second each.
const ABANDONED_S: f64 = 30.0;

/// Runs of this process whose documents are left.
#[derive(Debug, Default)]
pub(super) struct Unwritten {
    /// Events whose judgement is being saved.
    saving: BTreeSet<EventId>,
    /// Runs whose judgement is saved.
    runs: BTreeMap<EventId, Run>,
}

impl Judging {
    /// Writes documents until every event is judged and no run waits. After a failure then it
    /// returns at once: the next start goes on.
    pub(super) async fn write_documents(&self, all_judged: &CancellationToken) {
        loop {
            self.reporter.intake_first(WAIT).await;
            match self.documents().await {
                Ok(0) if all_judged.is_cancelled() => return,
                Ok(0) => {
                    tokio::select! {
                        () = self.judged.notified() => {}
                        () = tokio::time::sleep(LOOK) => {}
                        () = all_judged.cancelled() => {}
                    }
                }
                Ok(_) => {}
                Err(error) => {
                    log::documents_failed(&error);
                    if all_judged.is_cancelled() {
                        return;
                    }
                    tokio::time::sleep(RETRY).await;
                }
            }
        }
    }

    /// The judgement of this event is about to be saved with a checkpoint, which is no other
    /// process's.
    pub(super) fn is_saving(&self, event_id: EventId) {
        self.locked().saving.insert(event_id);
    }

    /// The judgement was saved, and its run waits for its documents; or it was not saved.
    pub(super) fn is_saved(&self, event_id: EventId, run: Option<Run>) {
        let mut unwritten = self.locked();
        unwritten.saving.remove(&event_id);
        if unwritten.runs.len() < KEPT {
            unwritten.runs.extend(run.map(|run| (event_id, run)));
        }
        drop(unwritten);
        self.judged.notify_one();
    }

    fn locked(&self) -> MutexGuard<'_, Unwritten> {
        self.unwritten.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Writes the documents of the next runs; returns how many runs that were.
    pub(super) async fn documents(&self) -> Result<usize, JudgingError> {
        let mut own = std::mem::take(&mut self.locked().runs);
        let ids: Vec<EventId> = own.keys().copied().collect();
        let idle_since = self.clock.now().plus_seconds(-ABANDONED_S);
        let waiting = self.store.unwritten(&ids, idle_since, BATCH).await?;
        let waiting_for_more = waiting.len() >= BATCH as usize;
        let mut runs = Vec::with_capacity(waiting.len());
        for (event_id, checkpoint) in waiting {
            match own.remove(&event_id) {
                Some(run) => runs.push(run),
                None if self.locked().saving.contains(&event_id) => {}
                None => runs.extend(self.left(event_id, &checkpoint).await?),
            }
        }
        if waiting_for_more {
            // what was not listed this time; otherwise another replica has ended it
            self.locked().runs.extend(own);
        }
        let count = runs.len();
        // a bearing's documents are told of in the order of its judgements
        let runs = runs.into_iter().map(|run| self.document(run));
        let mut done = futures_util::stream::iter(runs).buffered(PARALLEL);
        let mut failure = None;
        while let Some(outcome) = done.next().await {
            failure = outcome.err().or(failure);
        }
        failure.map_or(Ok(count), Err)
    }

    /// Returns a run that an earlier process or another replica left; `None` if another version
    /// wrote it, whose documents are not written then.
    async fn left(
        &self,
        event_id: EventId,
        checkpoint: &Checkpoint,
    ) -> Result<Option<Run>, JudgingError> {
        match Run::resumed(checkpoint, self.store.noted_steps(event_id).await?, &self.workflow) {
            Ok(run) => {
                log::run_resumed(event_id, run.node);
                Ok(Some(run))
            }
            Err(error) => {
                log::documents_given_up(event_id, &error);
                self.store.finish(&Finished { event_id, steps: Vec::new(), missing: None }).await?;
                Ok(None)
            }
        }
    }

    /// Takes a run to its end.
    async fn document(&self, mut run: Run) -> Result<(), JudgingError> {
        while run.node != Node::SaveMemory {
            let node = run.node;
            self.workflow.step(&mut run).await;
            self.note(&mut run).await?;
            self.workflow.reached(&run, node, Phase::Noted);
        }
        self.workflow.reached(&run, Node::SaveMemory, Phase::Entered);
        let span = run.node_span(Node::SaveMemory);
        let missing = span.in_scope(|| self.missing(&mut run));
        self.workflow.reached(&run, Node::SaveMemory, Phase::Done);
        let event_id = run.state.event_payload.event_id;
        let finished = Finished { event_id, steps: std::mem::take(&mut run.steps), missing };
        let is_told = self.store.finish(&finished).await?;
        if let Some((notification, outgoing)) = finished.missing.filter(|_| is_told) {
            log::missing_documents_told();
            self.reporter.update(|progress| {
                progress.notified += 1;
                progress.unsent += outgoing.len() as u64;
            });
            self.reporter.notified(notification);
            self.wake_lanes();
        }
        self.workflow.reached(&run, Node::SaveMemory, Phase::Noted);
        Ok(())
    }

    /// Notes the last step, and says what staff is told of documents that are missing.
    fn missing(&self, run: &mut Run) -> Option<(Notification, Vec<Outgoing>)> {
        let mut detail = run.state.saved.take().unwrap_or_default();
        let state = &run.state;
        let promised = self.workflow.promised(state);
        let is_missing = |one: &Written| !state.documents.contains(one);
        let missing: Vec<Written> = promised.into_iter().filter(is_missing).collect();
        let told = state.diagnosis_result.as_ref().and_then(|judgement| {
            let key = state.event_payload.key();
            self.policy.not_written(&key, &judgement.diagnosis, &missing, self.clock.now())
        });
        if let Some((notification, _)) = &told {
            detail["missing"] = json!({ "id": notification.notification_id, "documents": missing });
        }
        run.note(Node::SaveMemory, self.clock.now(), detail);
        told
    }
}
