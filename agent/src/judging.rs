//! Judges stored events: takes each through the [`Workflow`] and saves the judgements of a batch in
//! one transaction.
//!
//! After a crash the store still lists the events without a judgement, and a run that had begun to
//! act outside has a checkpoint to continue from. The events of one bearing are judged one after
//! the other in the order of arrival, because each judgement remembers the one before; bearings are
//! judged side by side: in turn by gateway, for a second at a time, so that no gateway's alarm
//! waits for all of another's. A run that leaves the fast path is checkpointed after every node and
//! saved by itself, after the earlier events of its bearing in the batch. An event that cannot be
//! judged holds up its own bearing only. With a language model in the loop a judgement by rules may
//! be held until it has answered ([`held`]); its bearing waits with it, others do not. While events
//! come in faster than they are stored, judging waits for the intake.
//!
//! Documents are written after staff was told, in a loop of their own ([`documents`]): what they
//! are looked up in may hang, and the next alarm does not wait for it.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures_util::StreamExt as _;
use pdm_expert::rules::Rules;
use pdm_routes::ToldLately;
use pdm_service::clock::SharedClock;
use pdm_shared::event::Event;
use pdm_shared::id::BearingKey;
use pdm_shared::risk::RiskLevel;
use pdm_shared::time::Timestamp;
use pdm_shared::topic::Prefix;
use pdm_store::{BearingJudged, Checkpoint, JudgementStore, Recall, StoreError, Unjudged};
use pdm_tools::Catalogue;
use tokio::sync::Notify;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use tracing::Instrument as _;

use crate::notify::policy::Policy;
use crate::notify::staff_tool::StaffTool;
use crate::progress::Reporter;
use crate::settings::NotifySettings;
use crate::vitals::Writer;
use crate::workflow::{Node, Phase, Run, RunState, Workflow, WorkflowError};

mod apart;
mod bearing;
mod documents;
mod held;
mod log;
mod near;
mod outcome;
mod save;

use apart::Apart;
use bearing::Bearing;
use documents::Unwritten;
use held::Looked;
pub use held::ModelInLoop;

/// Events of one transaction.
const BATCH: u32 = 256;
/// Bearings that are judged at once, so that a run that waits for tools (up to 10 s a call) does
/// not hold up the others; two cores are busy with far fewer.
const PARALLEL: usize = 8;
/// Longest time in which bearings of a batch are begun, chosen: an event that comes in meanwhile is
/// in the next batch, and a batch of Criticals with their look-ups took a minute of two busy cores.
/// What was not begun is read again.
const TURN: Duration = Duration::from_secs(1);
/// The longest time between two looks at the store, for events that another replica stored.
const LOOK: Duration = Duration::from_secs(1);
/// Longest wait for the intake while it has more to store than fits into a batch. In an endless
/// flood two batches a second, 512 events, are still judged.
const WAIT: Duration = Duration::from_millis(500);
/// Pause after a failure: two attempts a second do not load a store that is away.
const RETRY: Duration = Duration::from_millis(500);

/// The judging task.
#[derive(Debug)]
pub struct Judging {
    store: JudgementStore,
    clock: SharedClock,
    workflow: Workflow,
    policy: Policy,
    /// `[intake] ahead_s`.
    ahead_s: f64,
    reporter: Reporter,
    /// Every judgement goes into the knowledge base too.
    remembers: bool,
    /// The messages of this agent within the last hour, for alarms of the same cause. The store
    /// holds them too, except those of gateways and frequencies, and those that wait to be saved.
    lately: Mutex<Vec<ToldLately>>,
    /// Runs whose documents are left. The store holds them too.
    unwritten: Mutex<Unwritten>,
    /// Notified when a run waits for its documents.
    judged: Notify,
    /// The lowest risk whose news a language model is asked about; `None` without a model.
    opinions_from: Option<RiskLevel>,
    /// The language model whose verdict is part of judgements.
    in_loop: Option<ModelInLoop>,
    /// How far the windows after held judgements were looked at.
    looked: Mutex<Looked>,
    /// Bearings that are judged by themselves, and those that rest.
    apart: Apart,
    /// Calls the tool by which staff is told; without it nothing records a call.
    staff_tool: Option<Arc<StaffTool>>,
    /// Notified when something was stored.
    stored: Arc<Notify>,
    /// Notified when something has to leave: one for each lane of the outbox.
    written: Arc<Vec<Arc<Notify>>>,
}

/// Whether the time of a batch is over.
fn is_over(turn_ends: Option<Instant>) -> bool {
    turn_ends.is_some_and(|end| Instant::now() >= end)
}

/// An event could not be judged. The caller tries again: the event still waits in the store.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum JudgingError {
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The state of a run cannot be written as JSON.
    #[error(transparent)]
    Workflow(#[from] WorkflowError),
}

impl Judging {
    /// A task that judges the events of this store by this workflow, and tells staff as `notify`
    /// says under the topics of `prefix`.
    pub fn new(
        store: JudgementStore,
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
            ahead_s: Rules::default().ahead_s,
            reporter: Reporter::new(),
            remembers: false,
            lately: Mutex::default(),
            unwritten: Mutex::default(),
            judged: Notify::new(),
            opinions_from: None,
            in_loop: None,
            looked: Mutex::default(),
            apart: Apart::default(),
            staff_tool: None,
            stored: Arc::default(),
            written: Arc::default(),
        }
    }

    /// Returns the same task, for windows that may lie `ahead_s` seconds ahead of the clock.
    #[must_use]
    pub(crate) fn with_ahead_s(self, ahead_s: f64) -> Self {
        Self { ahead_s, ..self }
    }

    /// Returns the same task, with its progress reported there.
    #[must_use]
    pub(crate) fn with_reporter(self, reporter: Reporter) -> Self {
        Self { reporter, ..self }
    }

    /// Returns the same task, woken by `stored`; it notifies `written` when something has to leave.
    #[must_use]
    pub(crate) fn with_wakes(self, stored: Arc<Notify>, written: Arc<Vec<Arc<Notify>>>) -> Self {
        Self { stored, written, ..self }
    }

    /// Returns the same task, with every judgement sent to the knowledge base by the outbox.
    #[must_use]
    pub fn with_knowledge(self) -> Self {
        Self { remembers: true, ..self }
    }

    /// Returns the same task, asking for a second opinion on news of this risk or above.
    #[must_use]
    pub fn with_opinions(self, from: Option<RiskLevel>) -> Self {
        Self { opinions_from: from, ..self }
    }

    /// Returns the same task, whose judgements are held for a language model.
    #[must_use]
    pub fn with_model_in_loop(self, in_loop: Option<ModelInLoop>) -> Self {
        let holds = in_loop.as_ref().map(ModelInLoop::terms);
        Self { workflow: self.workflow.with_holds(holds), in_loop, ..self }
    }

    /// Returns the same task, which tells staff through the tool of this catalogue.
    #[must_use]
    pub(crate) fn with_staff_tool(self, catalogue: Arc<Catalogue>) -> Self {
        Self { staff_tool: Some(Arc::new(StaffTool::new(catalogue))), ..self }
    }

    /// Judges until `stop`, then goes on until no event waits and every document is written. The
    /// intake has ended by then, so the rest is bounded. After a failure during the stop it returns
    /// at once: what waits is judged at the next start.
    pub async fn run(self, stop: CancellationToken) {
        let all_judged = CancellationToken::new();
        let judging = async {
            self.judge(&stop).await;
            all_judged.cancel();
        };
        tokio::join!(judging, self.write_documents(&all_judged));
    }

    async fn judge(&self, stop: &CancellationToken) {
        loop {
            self.reporter.intake_first(WAIT).await;
            // the order of these two: what the stop sets free has to be judged before it returns
            let is_stopping = stop.is_cancelled();
            let turn_ends = Some(Instant::now() + TURN);
            let judged = self.next_batch(is_stopping, turn_ends).await;
            if judged.is_ok() {
                self.reporter.vitals().worked(Writer::Judging);
            }
            match judged {
                Ok(0) if is_stopping => return,
                Ok(0) => {
                    tokio::select! {
                        () = self.stored.notified() => {}
                        () = tokio::time::sleep(LOOK) => {}
                        () = stop.cancelled() => {}
                    }
                }
                Ok(_) => {}
                Err(error) => {
                    log::failed(&error);
                    if let JudgingError::Store(error) = &error {
                        self.reporter.vitals().failed(Writer::Judging, error);
                    }
                    if stop.is_cancelled() {
                        return;
                    }
                    tokio::time::sleep(RETRY).await;
                }
            }
        }
    }

    /// Judges the next batch and writes the documents that are left; returns how many events it
    /// held.
    ///
    /// # Errors
    /// [`JudgingError`] if an event could not be judged; the judgements of the others are saved.
    pub async fn pass(&self) -> Result<usize, JudgingError> {
        let count = self.next_batch(false, None).await?;
        while self.documents().await? > 0 {}
        Ok(count)
    }

    /// Judges the next batch, after the holds whose time is over have ended.
    async fn next_batch(
        &self,
        is_stopping: bool,
        turn_ends: Option<Instant>,
    ) -> Result<usize, JudgingError> {
        self.end_holds(is_stopping).await?;
        self.look_after_held().await?;
        self.batch(turn_ends).await
    }

    /// Judges the next batch; returns how many events it held. What is not begun at the end of the
    /// turn waits for the next one; something of it is judged in any case.
    async fn batch(&self, turn_ends: Option<Instant>) -> Result<usize, JudgingError> {
        let by_bearing = self.next_events().await?;
        let count = by_bearing.iter().map(|(_, events)| events.len()).sum::<usize>();
        self.reporter.behind(count >= BATCH as usize);
        if count == 0 {
            // the intake wakes this task after refused messages too, and their dead letters may
            // leave
            self.wake_lanes();
            return Ok(0);
        }
        let is_begun = |place: usize| place < PARALLEL || !is_over(turn_ends);
        let bearings =
            by_bearing.into_iter().enumerate().take_while(|(place, _)| is_begun(*place)).map(
                |(_, (key, events))| async move {
                    (key.clone(), self.bearing(key, events, turn_ends).await)
                },
            );
        let outcomes: Vec<_> =
            futures_util::stream::iter(bearings).buffered(PARALLEL).collect().await;
        let (mut judged, mut failure) = (Vec::new(), None);
        for (key, outcome) in outcomes {
            match outcome {
                Ok(bearing) => judged.push(bearing),
                Err(error) => {
                    if let JudgingError::Store(error) = &error {
                        self.set_apart(&[key], error);
                    }
                    failure = Some(error);
                }
            }
        }
        failure = self.save_all(judged).await?.or(failure);
        failure.map_or(Ok(count), Err)
    }

    /// Saves the judgements of a batch in one transaction. Where the database refuses a row of it,
    /// each bearing is saved by itself, so that the others do not wait for it; returns the last
    /// failure then.
    async fn save_all(
        &self,
        judged: Vec<BearingJudged>,
    ) -> Result<Option<JudgingError>, JudgingError> {
        match self.store.save(&judged).await {
            Ok(()) => {
                self.report(judged);
                return Ok(None);
            }
            Err(error) => {
                let keys: Vec<BearingKey> = judged.iter().map(|one| one.key.clone()).collect();
                self.set_apart(&keys, &error);
                if keys.len() < 2 || !matches!(error, StoreError::Content { .. }) {
                    return Err(error.into());
                }
                log::failed(&error.into());
            }
        }
        let mut failure = None;
        for bearing in judged {
            let bearing = vec![bearing];
            match self.store.save(&bearing).await {
                Ok(()) => self.report(bearing),
                Err(error) => {
                    log::bearing_not_saved(&bearing, &error);
                    if let [one] = bearing.as_slice() {
                        self.set_apart(std::slice::from_ref(&one.key), &error);
                    }
                    failure = Some(error.into());
                }
            }
        }
        Ok(failure)
    }

    /// The latest time that a window's clock may have told.
    fn latest(&self) -> Timestamp {
        self.clock.now().plus_seconds(self.ahead_s)
    }

    /// Judges the events of one bearing; returns the judgements that are not saved yet.
    async fn bearing(
        &self,
        key: BearingKey,
        events: Vec<Unjudged>,
        turn_ends: Option<Instant>,
    ) -> Result<BearingJudged, JudgingError> {
        let Recall { memory, episode } = self.store.recall(&key, self.latest()).await?;
        let mut bearing = Bearing { key, memory, episode, waiting: Vec::new() };
        for unjudged in events {
            let ended = Box::pin(self.judge_event(&mut bearing, unjudged)).await?;
            if ended == RunState::Held || is_over(turn_ends) {
                // the events behind it are judged after it, in their turn
                break;
            }
        }
        Ok(bearing.taken())
    }

    /// Takes the run of one event from state to state ([`RunState`]) until it is saved, waits in
    /// `bearing` to be saved with the batch, or is held; returns in which state it ends.
    async fn judge_event(
        &self,
        bearing: &mut Bearing,
        unjudged: Unjudged,
    ) -> Result<RunState, JudgingError> {
        let Unjudged { arrival, event, checkpoint } = unjudged;
        let resumed = match checkpoint {
            Some(checkpoint) => self.resume(&event, &checkpoint).await?,
            None => None,
        };
        let mut run = resumed.unwrap_or_else(|| self.workflow.begin(event, bearing.memory.clone()));
        loop {
            if run.run_state.is_off_the_fast_path() {
                // judgements are saved in the order of their events
                self.flush(bearing).await?;
            }
            match run.run_state {
                RunState::Fast => self.workflow.run_ahead(&mut run).await,
                RunState::Leaving => {
                    // before the first action, so that a crash in it is continued and not begun
                    // again
                    self.note(&mut run).await?;
                    run.run_state = run.after_node(&self.workflow);
                }
                RunState::Acting => self.act(&mut run).await?,
                RunState::Holding => self.hold(bearing, &mut run).await?,
                RunState::Returned => self.take_answer(&mut run).await?,
                RunState::Held => {
                    self.look_from(arrival);
                    return Ok(RunState::Held);
                }
                RunState::Unwritten => return self.save_unwritten(bearing, run, arrival).await,
                RunState::Batched | RunState::Decided => {
                    return self.save_decided(bearing, run, arrival).await;
                }
            }
        }
    }

    /// Does the next node of a run that acts outside, with a checkpoint behind it.
    async fn act(&self, run: &mut Run) -> Result<(), JudgingError> {
        let node = run.node;
        self.workflow.step(run).await;
        self.note(run).await?;
        self.workflow.reached(run, node, Phase::Noted);
        run.run_state = run.after_node(&self.workflow);
        Ok(())
    }

    /// Saves a judgement at once, with the checkpoint from which its documents are written.
    async fn save_unwritten(
        &self,
        bearing: &mut Bearing,
        mut run: Run,
        arrival: i64,
    ) -> Result<RunState, JudgingError> {
        let judged = self.judged_unwritten(bearing, &mut run, arrival).await?;
        bearing.waiting.extend(judged);
        let event_id = run.state.event_payload.event_id;
        self.is_saving(event_id);
        let saved = self.flush(bearing).await;
        self.is_saved(event_id, saved.is_ok().then_some(run));
        saved.map(|()| RunState::Unwritten)
    }

    /// Makes the last node of a run without documents: its judgement waits in `bearing` to be saved
    /// with the batch, or is saved at once where the run has acted outside.
    async fn save_decided(
        &self,
        bearing: &mut Bearing,
        mut run: Run,
        arrival: i64,
    ) -> Result<RunState, JudgingError> {
        self.workflow.reached(&run, Node::SaveMemory, Phase::Entered);
        let span = run.node_span(Node::SaveMemory);
        let judged = self.judged(bearing, &mut run, arrival).instrument(span).await;
        bearing.waiting.extend(judged);
        if run.run_state == RunState::Decided {
            self.workflow.reached(&run, Node::SaveMemory, Phase::Done);
            self.flush(bearing).await?;
            self.workflow.reached(&run, Node::SaveMemory, Phase::Noted);
        }
        Ok(run.run_state)
    }

    /// Returns the run of a checkpoint; `None` if another version wrote the checkpoint and the run
    /// has to begin again.
    async fn resume(
        &self,
        event: &Event,
        checkpoint: &Checkpoint,
    ) -> Result<Option<Run>, JudgingError> {
        let noted = self.store.noted_steps(event.event_id).await?;
        match Run::resumed(checkpoint, noted, &self.workflow) {
            Ok(run) => {
                log::run_resumed(event.event_id, run.node);
                Ok(Some(run))
            }
            Err(error) => {
                log::run_begun_again(event.event_id, &error);
                Ok(None)
            }
        }
    }

    /// Writes the run's checkpoint with the steps that are not stored yet.
    async fn note(&self, run: &mut Run) -> Result<(), JudgingError> {
        let checkpoint = run.checkpoint(self.clock.now())?;
        let event_id = run.state.event_payload.event_id;
        self.store.checkpoint(event_id, &checkpoint, &run.steps).await?;
        run.steps.clear();
        Ok(())
    }

    /// Saves the judgements of a bearing that are not saved yet.
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
