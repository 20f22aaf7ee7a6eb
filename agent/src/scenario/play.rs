//! Plays a scenario: each event is stored, judged and read back, as in service.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use pdm_expert::rules::Rules;
use pdm_knowledge::{Knowledge, KnowledgeError};
use pdm_reasoner::settings::ReasonerSettings;
use pdm_reasoner::toolbox::CatalogueTools;
use pdm_report::files::DocumentKind;
use pdm_report::settings::ReportSettings;
use pdm_service::clock::{Clock, SharedClock};
use pdm_shared::diagnosis::Diagnosis;
use pdm_shared::event::Event;
use pdm_shared::time::Timestamp;
use pdm_shared::topic::Prefix;
use pdm_shared::trace::TraceStep;
use pdm_store::{Incoming, Store, StoreError};
use pdm_tools::client::ClientError;
use pdm_tools::{Runtime, mcp};
use serde::{Deserialize as _, Serialize};

use super::Scenario;
use super::expected::differs;
use crate::documents::Writer;
use crate::judging::{Judging, JudgingError, ModelInLoop};
use crate::model::{LanguageModel, OpenModelError};
use crate::notify::policy::Policy;
use crate::opinions::OpinionLane;
use crate::service::StartError;
use crate::service::tooling::Tooling;
use crate::settings::{AgentSettings, JudgingSettings};
use crate::workflow::documents::Written;
use crate::workflow::{Expert, Reasoner, Workflow};

/// The time from the end of a window to its judgement in a scenario's own time, s: that of the edge
/// and the broker in service.
const JUDGED_AFTER_S: f64 = 2.0;

/// A scenario could not be played.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PlayError {
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The knowledge base or the tools cannot be opened.
    #[error(transparent)]
    Start(#[from] StartError),
    /// The tools cannot be called.
    #[error(transparent)]
    Tools(#[from] ClientError),
    /// The knowledge base failed.
    #[error(transparent)]
    Knowledge(#[from] KnowledgeError),
    /// The language model cannot be used.
    #[error(transparent)]
    Model(#[from] OpenModelError),
    /// An event could not be judged.
    #[error(transparent)]
    Judging(#[from] JudgingError),
    /// An event has no judgement afterwards.
    #[error("event {sequence} has no judgement")]
    NotJudged {
        /// The event's place in the sequence.
        sequence: u64,
    },
}

/// The rules, the folder and the language model that a scenario is played with.
#[derive(Debug, Clone, Default)]
pub struct Cast {
    /// The expert's rules.
    pub rules: Rules,
    /// The folder that keeps the documents, one folder below it for each scenario; without it the
    /// documents are deleted with the scenario's store.
    pub documents: Option<PathBuf>,
    /// The language model that gives opinions; `None` without one.
    pub model: Option<ReasonerSettings>,
    /// Whether its verdict is part of the judgements.
    pub judging: JudgingSettings,
}

/// A scenario that was played.
#[derive(Debug, Clone, Serialize)]
pub struct Played {
    /// The scenario's name.
    pub name: String,
    /// The events that were played.
    pub events: Vec<PlayedEvent>,
    /// The differences from what is expected, in words.
    pub wrong: Vec<String>,
}

/// One event that was played.
#[derive(Debug, Clone, Serialize)]
pub struct PlayedEvent {
    /// The event's phase, from 1.
    pub phase: usize,
    /// Hours since the first event.
    pub at_h: f64,
    /// Whether this is the last event of its phase, whose risk and stage are compared.
    pub is_checked: bool,
    /// The judgement.
    pub diagnosis: Diagnosis,
    /// Rounds of research.
    pub research_rounds: u32,
    /// Deep research was due.
    pub research_due: bool,
    /// Figures without a source, in the judgement and in the documents.
    pub ungrounded: usize,
    /// The scenario expects documents of its phase.
    pub documents_due: bool,
    /// Documents that stand on disk because of it.
    pub documents: Files,
    /// The time from stored to judged.
    pub took: Duration,
}

/// Counts of the files of documents.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Files {
    /// Files of the report.
    pub report: usize,
    /// Files of the work order.
    pub work_order: usize,
}

impl Files {
    /// A complete set: of each document the data, and HTML and PDF in each of the two languages.
    pub const WHOLE: Self = Self { report: 5, work_order: 5 };
    /// No file.
    pub const NONE: Self = Self { report: 0, work_order: 0 };

    /// The files that a trace names and that exist and are not empty.
    fn on_disk(trace: &[TraceStep]) -> Self {
        let lists = trace.iter().filter_map(|step| step.detail.get("written"));
        let told = lists.filter_map(|list| Vec::<Written>::deserialize(list).ok()).flatten();
        let there =
            told.filter(|file| std::fs::metadata(&file.place).is_ok_and(|file| file.len() > 0));
        there.fold(Self::NONE, |mut files, file| {
            match file.kind {
                DocumentKind::Report => files.report += 1,
                DocumentKind::WorkOrder => files.work_order += 1,
            }
            files
        })
    }
}

impl PlayedEvent {
    /// Calls of tools that search; a message to staff does not count.
    pub fn look_ups(&self) -> usize {
        self.diagnosis.tools.iter().filter(|tool| tool.round > 0).count()
    }
}

/// A clock that shows the time of the event being played.
#[derive(Debug, Default)]
struct StageClock(AtomicI64);

impl Clock for StageClock {
    fn now(&self) -> Timestamp {
        let ms = self.0.load(Ordering::Relaxed);
        Timestamp::from_unix_ms(ms)
            .unwrap_or_else(|| Timestamp::from_unix_ms(0).expect("the epoch is in the calendar"))
    }
}

/// The agent that plays a scenario: without broker and channels, in a folder of its own.
struct Stage {
    store: Store,
    knowledge: Knowledge,
    judging: Judging,
    opinions: Option<OpinionLane>,
    clock: Arc<StageClock>,
}

impl Stage {
    async fn set(
        folder: &Path,
        cast: &Cast,
        documents: PathBuf,
        reasoner: Arc<dyn Reasoner>,
    ) -> Result<Self, PlayError> {
        let mut settings = AgentSettings::embedded("127.0.0.1", 1883, folder.join("agent.db"));
        settings.rules = cast.rules.clone();
        settings.reasoner.clone_from(&cast.model);
        settings.judging = cast.judging;
        let store = pdm_store::open(&settings.store).await?;
        let tooling = Tooling::open(&settings, None, None).await?;
        let catalogue = Arc::clone(tooling.runtime.catalogue());
        let clock = Arc::new(StageClock::default());
        let shared: SharedClock = clock.clone();
        let opinions = lane(&settings, &store, &shared, &tooling.runtime)?;
        let in_loop = cast.model.as_ref().filter(|_| cast.judging.has_model());
        let in_loop = in_loop.map(|model| ModelInLoop {
            model: model.model.clone(),
            from: model.opinion.from,
            at_once_from: cast.judging.at_once_from,
            wait_s: cast.judging.wait_s,
            asked: Arc::default(),
        });
        let from = cast.model.as_ref().map(|model| model.opinion.from);
        let client = mcp::in_process(tooling.runtime).await?;
        let writer = Writer {
            settings: ReportSettings { folder: Some(documents), ..ReportSettings::default() },
            lead_time: settings.rules.lead_time.clone(),
            store: store.clone(),
            knowledge: tooling.knowledge.clone(),
            captures: None,
            page_url: None,
        };
        let workflow = Workflow::new(Expert::new(settings.rules), Arc::clone(&shared))
            .with_reasoner(reasoner)
            .with_tools(Arc::new(client))
            .with_documents(Arc::new(writer));
        let prefix = Prefix::default();
        let judging = Judging::new(store.judging(), shared, workflow, &settings.notify, &prefix)
            .with_staff_tool(catalogue)
            .with_opinions(from)
            .with_model_in_loop(in_loop);
        Ok(Self { store, knowledge: tooling.knowledge, judging, opinions, clock })
    }

    async fn play(&self, event: Event) -> Result<(Diagnosis, Vec<TraceStep>, Duration), PlayError> {
        let (id, sequence) = (event.event_id, event.sequence);
        let end = event.measured_at.plus_seconds(event.window.duration_s + JUDGED_AFTER_S);
        self.clock.0.store(end.unix_ms(), Ordering::Relaxed);
        let payload = serde_json::to_string(&event).unwrap_or_default();
        let batch = [Incoming::Event { event: Box::new(event), payload, proven: false }];
        self.store.intake().store(&batch, end, "dead-letter").await?;
        let started = std::time::Instant::now();
        self.judging.pass().await?;
        let took = started.elapsed();
        if let Some(opinions) = &self.opinions {
            // time stands still: a judgement waits until the model has answered
            opinions.drain().await?;
            self.judging.pass().await?;
        }
        let diagnosis = self.store.history().diagnosis(id).await?;
        let diagnosis = diagnosis.ok_or(PlayError::NotJudged { sequence })?;
        // in service a lane of the outbox does this
        self.knowledge.add_judgements(std::slice::from_ref(&diagnosis)).await?;
        let trace = self.store.history().trace(id).await?;
        Ok((diagnosis, trace, took))
    }
}

/// The lane of second opinions, if a model is configured.
fn lane(
    settings: &AgentSettings,
    store: &Store,
    clock: &SharedClock,
    runtime: &Arc<Runtime>,
) -> Result<Option<OpinionLane>, OpenModelError> {
    let model = LanguageModel::open(settings, store.opinions(), Arc::clone(clock))?;
    let lane = |model| OpinionLane {
        store: store.clone(),
        clock: Arc::clone(clock),
        model,
        tools: Arc::new(CatalogueTools::new(Arc::clone(runtime))),
        policy: Policy::new(settings.notify.clone(), Prefix::default()),
        place: settings.judging.place(),
        asked: Arc::default(),
        answered: Arc::default(),
        written: Arc::default(),
    };
    Ok(model.map(lane))
}

/// Plays a scenario in an empty folder.
///
/// # Errors
/// [`PlayError`] if it cannot be played; what is not as expected stands in [`Played::wrong`].
pub async fn play(scenario: &Scenario, cast: &Cast, folder: &Path) -> Result<Played, PlayError> {
    let expert = Arc::new(Expert::new(cast.rules.clone()));
    Box::pin(play_by(scenario, cast, folder, expert)).await
}

/// [`play`] with another reasoner.
pub(super) async fn play_by(
    scenario: &Scenario,
    cast: &Cast,
    folder: &Path,
    reasoner: Arc<dyn Reasoner>,
) -> Result<Played, PlayError> {
    let documents = match &cast.documents {
        Some(kept) => kept.join(&scenario.name),
        None => folder.join("documents"),
    };
    let stage = Stage::set(folder, cast, documents, reasoner).await?;
    let mut events: Vec<PlayedEvent> = Vec::new();
    let mut begun: Option<Timestamp> = None;
    let total: Vec<_> = scenario.events().collect();
    for (index, (phase, event)) in total.iter().enumerate() {
        let Ok(event) = event else { continue };
        let at_h =
            event.measured_at.seconds_since(*begun.get_or_insert(event.measured_at)) / 3600.0;
        let is_checked = total.get(index + 1).is_none_or(|(next, _)| next != phase);
        let (diagnosis, trace, took) = Box::pin(stage.play(event.clone())).await?;
        events.push(PlayedEvent {
            phase: *phase,
            at_h,
            is_checked,
            research_rounds: diagnosis.tools.iter().map(|tool| tool.round).max().unwrap_or(0),
            research_due: pdm_expert::research::is_due(&diagnosis),
            ungrounded: counted(&trace, "ungrounded"),
            documents_due: scenario.documents_due(*phase),
            documents: Files::on_disk(&trace),
            diagnosis,
            took,
        });
    }
    stage.store.close().await;
    let mut wrong: Vec<String> = scenario
        .phases
        .iter()
        .enumerate()
        .flat_map(|(at, phase)| differs(at + 1, &phase.expect, &events))
        .collect();
    wrong.extend(scenario.recorded.iter().flat_map(|recorded| recorded.differs(&events)));
    Ok(Played { name: scenario.name.clone(), events, wrong })
}

/// The number of entries in all lists of this name in a trace.
fn counted(trace: &[TraceStep], name: &str) -> usize {
    let lists = trace.iter().filter_map(|step| step.detail.get(name)?.as_array());
    lists.map(Vec::len).sum()
}
