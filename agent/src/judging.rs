//! Judges what is stored: drives each event's run through the [`Workflow`] and writes what comes of
//! it, a batch in one transaction.
//!
//! What was stored but not judged when the process died is found again by its mark, and a run that
//! had begun to act by its checkpoint. A bearing's events are judged one after the other, in the
//! order of arrival, each remembering the one before; bearings side by side. A run that leaves the
//! fast path is checkpointed after every node and saved by itself, after what its bearing had before
//! it in the batch. An event that cannot be judged holds up its own bearing only. While more events
//! come in than can be stored at once, storing them goes first.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt as _;
use pdm_service::clock::SharedClock;
use pdm_shared::event::Event;
use pdm_shared::id::BearingKey;
use pdm_shared::topic::Prefix;
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

use crate::notify::policy::Policy;
use crate::progress::Reporter;
use crate::settings::NotifySettings;
use crate::store::{BearingJudged, JudgementStore, Recall, StoreError, Unjudged};
use crate::workflow::{Node, Phase, Run, Workflow, WorkflowError};

mod bearing;
mod outcome;
mod save;

use bearing::Bearing;

/// Events of one transaction.
const BATCH: u32 = 256;
/// Bearings that are judged at once. Chosen: what waits for tools should not hold up the others.
const PARALLEL: usize = 8;
/// Looks at least this often, should a ring be missed.
const LOOK: Duration = Duration::from_secs(1);
/// Longest wait for the intake, should it have more to store than fits into a batch. Chosen: also in
/// an endless flood two batches a second are judged.
const WAIT: Duration = Duration::from_millis(500);
/// Pause after a failure.
const RETRY: Duration = Duration::from_millis(500);

/// The judging task.
#[derive(Debug)]
pub struct Judging {
    store: Arc<dyn JudgementStore>,
    clock: SharedClock,
    workflow: Workflow,
    policy: Policy,
    reporter: Reporter,
    /// Every judgement goes into the knowledge base too.
    remembers: bool,
    /// Rung when something was stored.
    stored: Arc<Notify>,
    /// Rung when something has to leave.
    written: Arc<Vec<Arc<Notify>>>,
}

/// An event could not be judged; it is tried again.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum JudgingError {
    /// The store did not do it.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The run cannot be written down.
    #[error(transparent)]
    Workflow(#[from] WorkflowError),
}

impl Judging {
    /// Over this store, through this workflow, telling staff as `notify` says under `prefix`.
    pub fn new(
        store: Arc<dyn JudgementStore>,
        clock: SharedClock,
        workflow: Workflow,
        notify: &NotifySettings,
        prefix: &Prefix,
    ) -> Self {
        Self {
            store,
            clock,
            workflow,
            policy: Policy::new(notify.clone(), prefix.clone()),
            reporter: Reporter::new(),
            remembers: false,
            stored: Arc::default(),
            written: Arc::default(),
        }
    }

    /// Told to this reporter.
    #[must_use]
    pub(crate) fn with_reporter(self, reporter: Reporter) -> Self {
        Self { reporter, ..self }
    }

    /// With the bells: `stored` is heard, `written` are rung.
    #[must_use]
    pub(crate) fn with_bells(self, stored: Arc<Notify>, written: Arc<Vec<Arc<Notify>>>) -> Self {
        Self { stored, written, ..self }
    }

    /// Every judgement goes into the knowledge base too, by the outbox's lane for it.
    #[must_use]
    pub fn with_knowledge(self) -> Self {
        Self { remembers: true, ..self }
    }

    /// Judges until `stop`, and then what is left.
    pub async fn run(self, stop: CancellationToken) {
        loop {
            self.reporter.intake_first(WAIT).await;
            match self.pass().await {
                Ok(0) if stop.is_cancelled() => return,
                Ok(0) => {
                    tokio::select! {
                        () = self.stored.notified() => {}
                        () = tokio::time::sleep(LOOK) => {}
                        () = stop.cancelled() => {}
                    }
                }
                Ok(_) => {}
                Err(error) => {
                    metrics::counter!("pdm_agent_judging_errors_total").increment(1);
                    tracing::error!(%error, cause = ?std::error::Error::source(&error), "cannot judge, trying on");
                    if stop.is_cancelled() {
                        return;
                    }
                    tokio::time::sleep(RETRY).await;
                }
            }
        }
    }

    /// Judges the next batch; tells how many events were in it.
    ///
    /// # Errors
    /// [`JudgingError`] if one could not be judged; what could be is saved.
    pub async fn pass(&self) -> Result<usize, JudgingError> {
        let events = self.store.unjudged(BATCH).await?;
        let count = events.len();
        self.reporter.behind(count >= BATCH as usize);
        if count == 0 {
            // a dead letter may wait to leave
            self.ring();
            return Ok(0);
        }
        let mut by_bearing: BTreeMap<BearingKey, Vec<Unjudged>> = BTreeMap::new();
        for event in events {
            by_bearing.entry(event.event.key()).or_default().push(event);
        }
        let bearings = by_bearing.into_iter().map(|(key, events)| self.bearing(key, events));
        let outcomes: Vec<_> =
            futures_util::stream::iter(bearings).buffered(PARALLEL).collect().await;
        let (mut judged, mut failure) = (Vec::new(), None);
        for outcome in outcomes {
            match outcome {
                Ok(bearing) => judged.push(bearing),
                Err(error) => failure = Some(error),
            }
        }
        self.store.save(&judged).await?;
        self.report(judged);
        failure.map_or(Ok(count), Err)
    }

    /// Judges a bearing's events; what is not saved yet comes back.
    async fn bearing(
        &self,
        key: BearingKey,
        events: Vec<Unjudged>,
    ) -> Result<BearingJudged, JudgingError> {
        let Recall { memory, alarm } = self.store.recall(&key).await?;
        let mut bearing = Bearing { key, memory, alarm, waiting: Vec::new() };
        for unjudged in events {
            self.event(&mut bearing, unjudged).await?;
        }
        Ok(bearing.taken())
    }

    async fn event(&self, bearing: &mut Bearing, unjudged: Unjudged) -> Result<(), JudgingError> {
        let Unjudged { arrival, event, checkpoint } = unjudged;
        let resumed = match checkpoint {
            Some(checkpoint) => self.resume(&event, &checkpoint).await?,
            None => None,
        };
        let is_resumed = resumed.is_some();
        let mut run = resumed.unwrap_or_else(|| self.workflow.begin(event, bearing.memory.clone()));
        let acts = is_resumed || !self.workflow.ahead(&mut run).await;
        if acts {
            self.flush(bearing).await?;
            self.acting(&mut run, is_resumed).await?;
        }
        self.workflow.reached(&run, Node::SaveMemory, Phase::Entered);
        let span = run.node_span(Node::SaveMemory);
        let judged = span.in_scope(|| self.judged(bearing, &mut run, arrival));
        bearing.waiting.extend(judged);
        if acts {
            self.workflow.reached(&run, Node::SaveMemory, Phase::Done);
            self.flush(bearing).await?;
            self.workflow.reached(&run, Node::SaveMemory, Phase::Noted);
        }
        Ok(())
    }

    /// A run where an earlier process left it; none if it has to begin anew.
    async fn resume(
        &self,
        event: &Event,
        checkpoint: &crate::store::Checkpoint,
    ) -> Result<Option<Run>, JudgingError> {
        let noted = self.store.noted_steps(event.event_id).await?;
        match Run::resumed(checkpoint, noted) {
            Ok(run) => {
                tracing::info!(event_id = %event.event_id, node = run.node.as_str(), "Goes on where an earlier process stopped.");
                metrics::counter!("pdm_agent_runs_resumed_total").increment(1);
                Ok(Some(run))
            }
            Err(error) => {
                tracing::warn!(%error, event_id = %event.event_id, "Judged anew.");
                Ok(None)
            }
        }
    }

    /// Goes on with a run that acts, noting where it stands after every node.
    async fn acting(&self, run: &mut Run, is_noted: bool) -> Result<(), JudgingError> {
        if !is_noted {
            self.note(run).await?;
        }
        while run.node != Node::SaveMemory {
            let node = run.node;
            self.workflow.step(run).await;
            self.note(run).await?;
            self.workflow.reached(run, node, Phase::Noted);
        }
        Ok(())
    }

    async fn note(&self, run: &mut Run) -> Result<(), JudgingError> {
        let checkpoint = run.checkpoint(self.clock.now())?;
        let event_id = run.state.event_payload.event_id;
        self.store.checkpoint(event_id, &checkpoint, &run.steps).await?;
        run.steps.clear();
        Ok(())
    }

    /// Writes what waits of a bearing.
    async fn flush(&self, bearing: &mut Bearing) -> Result<(), JudgingError> {
        if bearing.waiting.is_empty() {
            return Ok(());
        }
        let judged = vec![bearing.taken()];
        self.store.save(&judged).await?;
        self.report(judged);
        Ok(())
    }
}
