//! The conversation of [`pdm_reasoner::chat`] on the agent's store, as pages and command line use
//! it.
//!
//! Few questions are answered at once: a question costs a model's time, and pages must stay quick.

use std::sync::Arc;
use std::time::Instant;

use async_trait::async_trait;
use pdm_expert::rules::Rules;
use pdm_reasoner::budget::Spent;
use pdm_reasoner::chat::{
    AlarmRoute, AnswerStep, AnsweredBy, Chat, ChatAnswer, CoreFields, Desk, DeskTools, DutyRoster,
    EarlierGrounds, Focus, FocusRecord, GatewayLine, InspectedJudgement, Listener, MeasuredWindow,
    Onset, Question, RaisedAlarms, Said, Speaker, StandingAlarm, ToldLine, Watch, WorkLine,
};
use pdm_reasoner::dialect::Dialect;
use pdm_reasoner::guard::Redactor;
use pdm_reasoner::settings::ChatActions;
use pdm_reasoner::spans;
use pdm_reasoner::toolbox::CatalogueTools;
use pdm_reasoner::trouble::Trouble;
use pdm_report::settings::ReportSettings;
use pdm_routes::{RouteTable, Zone};
use pdm_script::ProgramHost;
use pdm_service::clock::SharedClock;
use pdm_shared::delivery::{NotificationReason, Presence};
use pdm_shared::episode::Suppression;
use pdm_shared::id::{BearingKey, EventId};
use pdm_shared::risk::RiskLevel;
use pdm_shared::text::Text;
use pdm_shared::time::Timestamp;
use pdm_store::{EpisodeRecord, Store, StoreError};
use pdm_tools::Runtime;
use pdm_web::plant::BearingRow;
use pdm_web::talk::{Busy, Talk, TalkAnswer, TalkQuestion, TalkRole, TalkStep};
use tokio::sync::mpsc;
use tracing::Instrument as _;
use uuid::Uuid;

use crate::assets::machines::designation_in_graph;
use crate::model::LanguageModel;
use places::QuestionPlaces;
use record::{levels_of, lines_of, notes_of, onset_of, operation_of, told_to_of};

mod duty;
mod measured;
mod places;
mod raised;
mod record;
mod staff;
mod watch;

/// Notifications of a bearing that are read.
const TOLD: u32 = 10;
/// Notifications of the whole plant that are read.
const TOLD_OF_PLANT: u32 = 120;
/// Episodes of a bearing that are read.
const EPISODES: u32 = 50;
/// Notes on a bearing that are read.
const NOTES: u32 = 10;
/// Tokens of an answer where no model is configured: unused.
const NO_TOKENS: u32 = 1;

/// Answers questions about the plant.
#[derive(Debug)]
pub(crate) struct Conversation {
    desk: Arc<StoreDesk>,
    tools: DeskTools,
    model: Option<Arc<LanguageModel>>,
    /// Whether the model is part of judgements.
    judges: bool,
    no_secrets: Redactor,
    places: QuestionPlaces,
    programs: ProgramHost,
}

impl Conversation {
    pub(crate) fn new(
        store: Store,
        clock: SharedClock,
        runtime: Arc<Runtime>,
        model: Option<Arc<LanguageModel>>,
        routes: RouteTable,
        judged_by: (ReportSettings, Rules),
    ) -> Self {
        let (reports, rules) = judged_by;
        let desk = Arc::new(StoreDesk { store, clock, routes, reports, rules });
        let catalogue = Arc::new(CatalogueTools::new(runtime));
        let tools = DeskTools::new(Arc::<StoreDesk>::clone(&desk), catalogue);
        let programs = ProgramHost::own_program();
        Self {
            desk,
            tools,
            model,
            judges: false,
            no_secrets: Redactor::default(),
            places: QuestionPlaces::default(),
            programs,
        }
    }

    /// Returns the same conversation, whose model is part of judgements or not.
    pub(crate) fn with_judging(self, judges: bool) -> Self {
        Self { judges, ..self }
    }

    /// Answers a question; by extraction where the model cannot be asked.
    pub(crate) async fn answer(&self, question: &Question, listener: &dyn Listener) -> ChatAnswer {
        let model = match &self.model {
            Some(model) if model.settings().chat.actions == ChatActions::Programs => {
                Some((model.meter("chat"), Dialect::Code))
            }
            Some(model) => match model.dialect().await {
                Ok(dialect) => Some((model.meter("chat"), dialect)),
                Err(error) => {
                    tracing::warn!(%error, "the chat answers without the language model");
                    None
                }
            },
            None => None,
        };
        let (redactor, answer_tokens) = match &self.model {
            Some(model) => (model.redactor(), model.settings().answer_tokens),
            None => (&self.no_secrets, NO_TOKENS),
        };
        let desk = self.desk.as_ref();
        let programs = &self.programs;
        let chat = Chat { desk, tools: &self.tools, redactor, answer_tokens, programs };
        let name = model.is_some().then(|| self.model.as_ref().map(|model| model.name())).flatten();
        let about = question.about.as_ref().map(ToString::to_string).unwrap_or_default();
        let (span, begun) = (spans::of_agent("pdm-chat", name, &about), Instant::now());
        let answer = chat.ask(question, model, listener).instrument(span.clone()).await;
        if let (Some(model), Some("other_language")) = (&self.model, answer.model_failure) {
            model.note(Some(Trouble::OtherLanguage));
        }
        let by = word(answer.by);
        let spent = Spent {
            prompt_tokens: answer.prompt_tokens,
            completion_tokens: answer.completion_tokens,
            usd: answer.cost_usd,
            ..Spent::default()
        };
        spans::conclude(&span, &spent, by, answer.by == AnsweredBy::Apology);
        metrics::counter!("pdm_agent_chat_answers_total", "by" => by).increment(1);
        let seconds = begun.elapsed().as_secs_f64();
        metrics::histogram!("pdm_agent_chat_seconds", "by" => by).record(seconds);
        answer
    }
}

/// The word of an answer's source.
pub(crate) const fn word(by: AnsweredBy) -> &'static str {
    match by {
        AnsweredBy::Model => "model",
        AnsweredBy::Extraction => "extraction",
        AnsweredBy::Observation => "observation",
        AnsweredBy::Apology => "apology",
    }
}

/// Sends steps to a page.
struct Steps(mpsc::Sender<TalkStep>);

impl Listener for Steps {
    fn step(&self, step: &AnswerStep) {
        let calls = step.tool_calls.iter().filter_map(|call| serde_json::to_value(call).ok());
        // the queue holds more steps than an answer has; a reader that has gone wants none
        let _gone = self.0.try_send(TalkStep {
            step_number: step.step_number,
            code: step.code.clone(),
            observations: step.observations.clone(),
            tool_calls: calls.collect(),
            error: step.error.clone(),
        });
    }
}

#[async_trait]
impl Talk for Conversation {
    fn has_model(&self) -> bool {
        self.model.is_some()
    }

    fn trouble(&self) -> Option<&'static str> {
        self.model.as_ref()?.trouble().map(Trouble::as_str)
    }

    fn judges(&self) -> bool {
        self.judges
    }

    async fn ask(
        &self,
        question: TalkQuestion,
        steps: mpsc::Sender<TalkStep>,
    ) -> Result<TalkAnswer, Busy> {
        let _place = self.places.take(&question.asker)?;
        let said = question.history.into_iter().map(|said| Said {
            role: match said.role {
                TalkRole::User => Speaker::User,
                TalkRole::Assistant => Speaker::Assistant,
            },
            content: said.content,
        });
        let question = Question {
            message: question.message,
            history: said.collect(),
            about: question.about,
            language: question.language,
        };
        let answer = self.answer(&question, &Steps(steps)).await;
        Ok(TalkAnswer {
            answer: answer.answer,
            by: word(answer.by).to_owned(),
            about: answer.about,
            prompt_tokens: answer.prompt_tokens,
            completion_tokens: answer.completion_tokens,
            cost_usd: answer.cost_usd,
        })
    }
}

/// Records of the plant out of the store.
#[derive(Debug)]
struct StoreDesk {
    store: Store,
    clock: SharedClock,
    /// Rotas, groups and names of people and channels.
    routes: RouteTable,
    /// Names of machines and bearings.
    reports: ReportSettings,
    /// The rules by which bearings are judged.
    rules: Rules,
}

fn told(error: StoreError) -> String {
    // the reason may name hosts and files: it is for the log alone
    tracing::warn!(%error, "the chat cannot read the store");
    "the store does not answer at the moment".to_owned()
}

fn core_of(row: BearingRow, reports: &ReportSettings) -> CoreFields {
    let title = row.standing_title();
    let asset = reports.asset_of_bearing(&row.key);
    CoreFields {
        abnormal_since: None,
        risen: Vec::new(),
        watch: Watch::Judged,
        is_of_many_sites: false,
        machine_name: asset.equipment,
        location: asset.location,
        suppression: row.episode.map_or(Suppression::None, |episode| episode.suppression),
        key: row.key,
        risk: row.risk_level,
        stage: row.fault_stage,
        fault: row.fault_type,
        rul_hours: row.rul_hours,
        event_id: row.event_id,
        measured_at: row.measured_at,
        alarm: row.alarm.map(|alarm| StandingAlarm {
            title,
            since: alarm.since,
            acknowledged_by: alarm.acknowledged_at.and(alarm.acknowledged_by),
        }),
    }
}

#[async_trait]
impl Desk for StoreDesk {
    async fn fleet(&self) -> Result<Vec<CoreFields>, String> {
        let rows = self.store.pages().fleet().await.map_err(told)?;
        let cores = rows.into_iter().map(|row| self.core(row));
        futures_util::future::try_join_all(cores).await
    }

    fn site_name(&self, key: &BearingKey) -> Option<Text> {
        self.reports.asset_of_bearing(key).site
    }

    async fn focus(&self, key: &BearingKey) -> Result<Option<Focus>, String> {
        let Some(row) = self.store.pages().standing(key).await.map_err(told)? else {
            return Ok(None);
        };
        let Some(event_id) = row.event_id else { return Ok(None) };
        let Some(diagnosis) = self.store.history().diagnosis(event_id).await.map_err(told)? else {
            return Ok(None);
        };
        // far enough ahead for a gateway's fast clock
        let until = self.clock.now().ten_years_on();
        let work = self.store.judging().recall(key, until).await.map_err(told)?.memory.work;
        let list = self.store.pages().notifications(Some(key), until, TOLD).await.map_err(told)?;
        let lead_time_h = diagnosis.lead_time_h();
        Ok(Some(Focus {
            core: self.core(row).await?,
            grounds: diagnosis.thoughts.into_iter().map(|thought| thought.conclusion).collect(),
            advice: diagnosis.recommendation,
            memory: diagnosis.memory.summary,
            doubts: diagnosis.uncertainty.causes,
            disagreement: diagnosis.disagreement,
            work: work
                .into_iter()
                .map(|work| WorkLine {
                    action: work.action,
                    state: work.state,
                    due_at: work.due_at,
                    work_order: work.work_order,
                })
                .collect(),
            record: FocusRecord {
                told_to: self.told_to(list.first().map(|newest| newest.notification_id)).await?,
                lead_time_h,
                ..self.record(key, event_id).await?
            },
            told: list.into_iter().map(|told| (told.created_at, told.title)).collect(),
        }))
    }

    fn zone(&self) -> Zone {
        self.routes.zone
    }

    fn now(&self) -> Option<Timestamp> {
        Some(self.clock.now())
    }

    async fn told_lately(&self) -> Result<Vec<ToldLine>, String> {
        let until = self.clock.now().ten_years_on();
        let list =
            self.store.pages().notifications(None, until, TOLD_OF_PLANT).await.map_err(told)?;
        let mut lines = Vec::with_capacity(list.len());
        for one in list {
            // a reminder goes where the first message went
            let is_first = one.reason != NotificationReason::Repeated;
            let told_to = self.told_to(is_first.then_some(one.notification_id)).await?;
            let key =
                BearingKey { site: one.site, equipment: one.equipment_id, bearing: one.bearing_id };
            let (at, reason, title) = (one.created_at, one.reason, one.title);
            lines.push(ToldLine { at, key, reason, title, told_to });
        }
        Ok(lines)
    }

    async fn alarms_since(&self, since: Timestamp) -> Result<Option<RaisedAlarms>, String> {
        raised::alarms_since(&self.store, since).await.map(Some).map_err(told)
    }

    async fn inspected(&self) -> Result<Option<Vec<InspectedJudgement>>, String> {
        measured::inspected(&self.store).await.map(Some).map_err(told)
    }

    fn rules(&self) -> Rules {
        self.rules.clone()
    }

    async fn windows(
        &self,
        key: &BearingKey,
        until: Timestamp,
        limit: u32,
    ) -> Result<Option<Vec<MeasuredWindow>>, String> {
        let rows = self.store.pages().windows(key, until, limit).await.map_err(told)?;
        Ok(Some(rows.iter().map(watch::window_of).collect()))
    }

    async fn earlier_grounds(
        &self,
        key: &BearingKey,
        least: RiskLevel,
    ) -> Result<Option<EarlierGrounds>, String> {
        let now = self.clock.now();
        watch::earlier_grounds(&self.store, key, least, now).await.map_err(told)
    }

    async fn abnormalities(&self, key: &BearingKey) -> Result<Vec<Onset>, String> {
        let all = self.store.episodes().episodes_of_bearing(key, EPISODES).await.map_err(told)?;
        let all: Vec<Onset> = all.into_iter().filter_map(onset_of).collect();
        measured::by_windows(&self.store, key, all).await.map_err(told)
    }

    async fn gateways(&self) -> Result<Vec<GatewayLine>, String> {
        let all = self.store.gateways().gateways().await.map_err(told)?;
        let line = |state: pdm_store::GatewayState| GatewayLine {
            name: state.gateway.to_string(),
            is_online: state.presence.map(|(presence, _)| presence == Presence::Online),
            since: state.presence.map(|(_, since)| since),
            last_event_at: state.last_event_at,
            bearings: Vec::new(),
        };
        let mut lines: Vec<GatewayLine> = all.into_iter().map(line).collect();
        for (bearing, gateway) in self.store.gateways().bearing_owners().await.map_err(told)? {
            let gateway = gateway.to_string();
            if let Some(line) = lines.iter_mut().find(|line| line.name == gateway) {
                line.bearings.push(format!("{} · {}", bearing.equipment, bearing.bearing));
            }
        }
        Ok(lines)
    }

    async fn duty(&self) -> Result<Option<DutyRoster>, String> {
        Ok(Some(duty::roster(&self.routes, self.clock.now())))
    }

    async fn people(&self) -> Result<Vec<String>, String> {
        staff::people(&self.store, &self.routes).await.map_err(told)
    }

    async fn routes(
        &self,
        of: Option<(&BearingKey, RiskLevel)>,
    ) -> Result<Vec<AlarmRoute>, String> {
        Ok(staff::routes(&self.routes, of, self.clock.now()))
    }
}

impl StoreDesk {
    /// A bearing with what its last windows are worth, and since when it is abnormal.
    async fn core(&self, row: BearingRow) -> Result<CoreFields, String> {
        let (key, has_episode) = (row.key.clone(), row.episode.is_some());
        let now = self.clock.now();
        let watch = if row.is_silent(now) {
            Watch::Silent { since: row.measured_at, gateway: None }
        } else {
            watch::watch_of(&self.store, &key, now).await.map_err(told)?
        };
        let episode = if has_episode {
            self.store.episodes().episode(&key).await.map_err(told)?
        } else {
            None
        };
        let standing = episode.filter(EpisodeRecord::is_open);
        let abnormal_since = standing.as_ref().map(watch::began_at);
        let risen = standing.as_ref().map(watch::levels_reached).unwrap_or_default();
        Ok(CoreFields { watch, abnormal_since, risen, ..core_of(row, &self.reports) })
    }

    /// The last abnormality of a bearing, and the figures of its last judged window.
    async fn record(&self, key: &BearingKey, event_id: EventId) -> Result<FocusRecord, String> {
        let episode = self.store.episodes().episode(key).await.map_err(told)?;
        let event = self.store.history().event(event_id).await.map_err(told)?;
        let asset = self.reports.asset_of_bearing(key);
        let reports = self.store.desk().reports_of(key, NOTES).await.map_err(told)?;
        let opened_at = episode.as_ref().map(|record| record.episode.opened_at);
        let remarks = match opened_at {
            Some(opened_at) => self.store.desk().remarks(key, opened_at).await.map_err(told)?,
            None => Vec::new(),
        };
        Ok(FocusRecord {
            onset: episode.and_then(onset_of),
            levels: event.as_ref().map(levels_of).unwrap_or_default(),
            temperature_c: event.as_ref().and_then(|event| event.operating.temperature_c),
            lines: event.as_ref().map(lines_of).unwrap_or_default(),
            operation: event.as_ref().map(operation_of),
            designation: match asset.designation {
                Some(designation) => Some(designation),
                None => designation_in_graph(&self.store, key).await.map_err(told)?,
            },
            told_to: Vec::new(),
            notes: notes_of(remarks, reports),
            lead_time_h: None,
        })
    }

    /// Returns where a message to staff went; not the lanes that no person reads.
    async fn told_to(&self, message: Option<Uuid>) -> Result<Vec<Text>, String> {
        let Some(message) = message else { return Ok(Vec::new()) };
        let deliveries = self.store.history().deliveries(message).await.map_err(told)?;
        Ok(deliveries.iter().filter_map(told_to_of).collect())
    }
}
