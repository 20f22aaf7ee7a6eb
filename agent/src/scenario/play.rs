//! Plays a scenario: each event is stored, judged and read back, as in service.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use pdm_expert::rules::Rules;
use pdm_shared::clock::{Clock, SharedClock, Timestamp};
use pdm_shared::diagnosis::Diagnosis;
use pdm_shared::event::Event;
use pdm_shared::topic::Prefix;
use serde::Serialize;

use super::{Expect, Scenario};
use crate::judging::{Judging, JudgingError};
use crate::knowledge::{Knowledge, KnowledgeError};
use crate::mcp::client::{ClientError, ToolClient};
use crate::service::tooling::Tooling;
use crate::service::{StartError, open_store};
use crate::settings::AgentSettings;
use crate::store::{Incoming, Store, StoreError, TraceStep};
use crate::workflow::documents::Documents;
use crate::workflow::{Expert, Workflow};

/// From the end of a window to its judgement in a scenario's own time.
const JUDGED_AFTER_S: f64 = 2.0;

/// A scenario could not be played.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PlayError {
    /// The store.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// Knowledge base or tools.
    #[error(transparent)]
    Start(#[from] StartError),
    /// The tools.
    #[error(transparent)]
    Tools(#[from] ClientError),
    /// The knowledge base.
    #[error(transparent)]
    Knowledge(#[from] KnowledgeError),
    /// The judgement.
    #[error(transparent)]
    Judging(#[from] JudgingError),
    /// An event has no judgement afterwards.
    #[error("event {sequence} has no judgement")]
    NotJudged {
        /// Its place in the sequence.
        sequence: u64,
    },
}

/// What a scenario is played with.
#[derive(Debug, Clone, Default)]
pub struct Cast {
    /// The expert's rules.
    pub rules: Rules,
    /// Who writes documents.
    pub documents: Option<Arc<dyn Documents>>,
}

/// A scenario that was played.
#[derive(Debug, Clone, Serialize)]
pub struct Played {
    /// Its name.
    pub name: String,
    /// Every event.
    pub events: Vec<PlayedEvent>,
    /// What was not as expected, in words.
    pub wrong: Vec<String>,
}

/// One event that was played.
#[derive(Debug, Clone, Serialize)]
pub struct PlayedEvent {
    /// Its phase, from 1.
    pub phase: usize,
    /// Hours since the first.
    pub at_h: f64,
    /// The last event of its phase: risk and stage are held to what is expected.
    pub is_checked: bool,
    /// The judgement.
    pub diagnosis: Diagnosis,
    /// Rounds of research.
    pub research_rounds: u32,
    /// Deep research was due.
    pub research_due: bool,
    /// Figures without a source.
    pub ungrounded: usize,
    /// Documents that were written.
    pub documents: usize,
    /// From stored to judged.
    pub took: Duration,
}

impl PlayedEvent {
    /// Calls of tools that look something up (telling staff is none).
    pub fn look_ups(&self) -> usize {
        self.diagnosis.tools.iter().filter(|tool| tool.round > 0).count()
    }
}

/// A clock that stands where the sequence is.
#[derive(Debug, Default)]
struct StageClock(AtomicI64);

impl Clock for StageClock {
    fn now(&self) -> Timestamp {
        let ms = self.0.load(Ordering::Relaxed);
        Timestamp::from_unix_ms(ms)
            .unwrap_or_else(|| Timestamp::from_unix_ms(0).expect("the epoch is in the calendar"))
    }
}

/// A stage: the agent without broker and outside world, in a folder of its own.
struct Stage {
    store: Arc<dyn Store>,
    knowledge: Knowledge,
    judging: Judging,
    clock: Arc<StageClock>,
}

impl Stage {
    async fn set(folder: &Path, cast: &Cast) -> Result<Self, PlayError> {
        let mut settings = AgentSettings::embedded("127.0.0.1", 1883, folder.join("agent.db"));
        settings.rules = cast.rules.clone();
        let store = open_store(&settings.store).await?;
        let tooling = Tooling::open(&settings, None).await?;
        let client = ToolClient::in_process(tooling.runtime).await?;
        let clock = Arc::new(StageClock::default());
        let shared: SharedClock = clock.clone();
        let expert = Expert::new(settings.rules);
        let mut workflow = Workflow::new(expert, Arc::clone(&shared)).with_tools(Arc::new(client));
        if let Some(documents) = &cast.documents {
            workflow = workflow.with_documents(Arc::clone(documents));
        }
        let prefix = Prefix::default();
        let judging = Judging::new(Arc::clone(&store), shared, workflow, &settings.notify, &prefix);
        Ok(Self { store, knowledge: tooling.knowledge, judging, clock })
    }

    async fn play(&self, event: Event) -> Result<(Diagnosis, Vec<TraceStep>, Duration), PlayError> {
        let (id, sequence) = (event.event_id, event.sequence);
        let end = event.measured_at.plus_seconds(event.window.duration_s + JUDGED_AFTER_S);
        self.clock.0.store(end.unix_ms(), Ordering::Relaxed);
        let payload = serde_json::to_string(&event).unwrap_or_default();
        let batch = [Incoming::Event { event: Box::new(event), payload }];
        self.store.store(&batch, end, "dead-letter").await?;
        let started = std::time::Instant::now();
        self.judging.pass().await?;
        let took = started.elapsed();
        let diagnosis = self.store.diagnosis(id).await?;
        let diagnosis = diagnosis.ok_or(PlayError::NotJudged { sequence })?;
        // the outbox's lane does this in service
        self.knowledge.add_judgements(std::slice::from_ref(&diagnosis)).await?;
        let trace = self.store.trace(id).await?;
        Ok((diagnosis, trace, took))
    }
}

/// Plays a scenario in an empty folder.
///
/// # Errors
/// [`PlayError`] if it cannot be played; what is not as expected stands in [`Played::wrong`].
pub async fn play(scenario: &Scenario, cast: &Cast, folder: &Path) -> Result<Played, PlayError> {
    let stage = Stage::set(folder, cast).await?;
    let mut events: Vec<PlayedEvent> = Vec::new();
    let mut begun: Option<Timestamp> = None;
    let total: Vec<_> = scenario.events().collect();
    for (index, (phase, event)) in total.iter().enumerate() {
        let Ok(event) = event else { continue };
        let at_h =
            event.measured_at.seconds_since(*begun.get_or_insert(event.measured_at)) / 3600.0;
        let is_checked = total.get(index + 1).is_none_or(|(next, _)| next != phase);
        let (diagnosis, trace, took) = stage.play(event.clone()).await?;
        events.push(PlayedEvent {
            phase: *phase,
            at_h,
            is_checked,
            research_rounds: diagnosis.tools.iter().map(|tool| tool.round).max().unwrap_or(0),
            research_due: pdm_expert::research::is_due(&diagnosis),
            ungrounded: counted(&trace, "ungrounded"),
            documents: counted(&trace, "written"),
            diagnosis,
            took,
        });
    }
    stage.store.close().await;
    let wrong = scenario
        .phases
        .iter()
        .enumerate()
        .flat_map(|(at, phase)| differs(at + 1, &phase.expect, &events))
        .collect();
    Ok(Played { name: scenario.name.clone(), events, wrong })
}

/// How many entries the lists of this name have in a trace.
fn counted(trace: &[TraceStep], name: &str) -> usize {
    let lists = trace.iter().filter_map(|step| step.detail.get(name)?.as_array());
    lists.map(Vec::len).sum()
}

/// What of a phase is not as expected.
fn differs(phase: usize, expect: &Expect, events: &[PlayedEvent]) -> Vec<String> {
    let mut wrong = Vec::new();
    let mut hold = |what: &str, is: &dyn std::fmt::Debug, should: &dyn std::fmt::Debug| {
        let (is, should) = (format!("{is:?}"), format!("{should:?}"));
        if is != should {
            wrong.push(format!("phase {phase}: {what} is {is}, expected {should}"));
        }
    };
    let own = || events.iter().filter(|event| event.phase == phase);
    if let Some(last) = own().find(|event| event.is_checked) {
        let diagnosis = &last.diagnosis;
        hold("risk", &diagnosis.risk_level, &expect.risk);
        hold("stage", &diagnosis.fault_stage, &expect.stage);
        if let Some(fault) = expect.fault {
            hold("fault", &diagnosis.fault_type, &fault.fault());
        }
        if let Some(speed) = expect.speed {
            hold("speed", &diagnosis.degradation.speed, &speed);
        }
        if let Some(conservative) = expect.conservative {
            hold("conservative", &diagnosis.rul_assessment.conservative, &conservative);
        }
    }
    for event in own() {
        hold("research due", &event.research_due, &expect.research);
    }
    if let Some(documents) = expect.documents {
        hold("documents", &own().any(|event| event.documents > 0), &documents);
    }
    wrong
}
