//! The conversation about the plant's bearings, with a model and without one.
//!
//! With a model: a loop of at most [`MAX_STEPS`] steps. In a step the model calls tools that only
//! read, side by side where it asks for several, and gets their answers, or writes a program that
//! calls them ([`programs`]); or it ends with its answer. Without a model the answer is extracted
//! from records and documents, and says so. Every step is told as it is made. An answer that fails
//! falls back to the last observation, and then to a plain apology.
//!
//! Invariants: figures of an answer stand in what was looked up, with their unit and in the
//! document that is named ([`pdm_expert::grounding::Readings`]); the recorded risk of the bearing
//! in question stands beside every answer about it, whatever the model says.

mod alarms;
mod answer;
mod bare;
mod by_records;
mod context;
mod counts;
mod courses;
mod dates;
mod desk;
mod due;
mod entities;
mod escalation;
mod exchange;
mod extract;
mod figures;
mod intent;
mod language;
mod listing;
mod meanings;
mod notified;
mod on_duty;
mod passage;
mod people;
mod planned;
mod planning;
mod plant_documents;
mod plant_records;
mod programs;
mod reader;
mod records;
mod sites;
mod slips;
mod stated;
mod stocks;
mod stopping;
mod suppressed;
mod thresholds;
mod tools;
mod unknown_names;
mod values;
mod verdicts;
mod watching;
mod zone_limits;

use pdm_expert::grounding::Readings;
use pdm_script::{ProgramHost, Session};
use pdm_shared::id::BearingKey;

use serde_json::Value;

use crate::budget::Spent;
use crate::client::ModelError;
use crate::dialect::{Asking, Dialect, ToolCall, ToolDefinition, Transcript, Turn, code};
use crate::guard::{Fence, KnownIds, Redactor, is_foreign};
use crate::meter::Meter;
use crate::toolbox::{self, ToolAnswer, Toolbox};

pub use desk::{
    AlarmRoute, AlarmStep, CoreFields, DUTY_DAYS, DefectLine, Desk, DutyRoster, EarlierGrounds,
    Focus, FocusRecord, GatewayLine, InspectedJudgement, MeasuredLevel, MeasuredWindow, NoteLine,
    Onset, Operation, PAST_DUTY_DAYS, RaisedAlarm, RaisedAlarms, StandingAlarm, ToldLine, Watch,
    WorkLine,
};
pub use exchange::{
    AnswerStep, AnsweredBy, ChatAnswer, Listener, Question, Said, Speaker, StepCall,
};
pub use tools::DeskTools;

use entities::Meant;
use extract::Sources;
use planning::Part;
use programs::ProgramTools;
use reader::Reader;

/// Most steps of an answer.
pub const MAX_STEPS: u32 = 10;
/// Most characters of an observation.
pub const MAX_OBSERVATION: usize = 2000;
/// Most characters of a question.
pub const MAX_QUESTION: usize = 2000;
/// Most messages of a conversation that are taken: fifty turns.
pub const MAX_HISTORY: usize = 100;
/// Calls of tools in one step.
const MAX_CALLS: usize = 6;

/// Answers questions.
#[derive(Debug, Clone, Copy)]
pub struct Chat<'a> {
    /// Records of the plant.
    pub desk: &'a dyn Desk,
    /// Tools that only read, those of the desk among them.
    pub tools: &'a dyn Toolbox,
    /// Removes from texts what must not be sent to the model or told to the reader.
    pub redactor: &'a Redactor,
    /// Most tokens of one answer.
    pub answer_tokens: u32,
    /// Runs the programs of a model that writes them.
    pub programs: &'a ProgramHost,
}

/// The state of an answer that is being made.
struct Making<'a> {
    listener: &'a dyn Listener,
    steps: u32,
    last: Option<String>,
    /// Everything that was read: the sources of the figures.
    read: Readings,
    known: KnownIds,
    fence: Fence,
    spent: Spent,
}

impl<'a> Making<'a> {
    fn new(listener: &'a dyn Listener, fleet: &[CoreFields]) -> Self {
        Self {
            listener,
            steps: 0,
            last: None,
            read: Readings::in_plant(fleet.iter().map(name_of)),
            known: known(fleet),
            fence: Fence::random(),
            spent: Spent::default(),
        }
    }
    /// Tells of a step whose observations are answers of tools.
    fn tell(&mut self, calls: Vec<StepCall>, observations: Option<String>, error: Option<String>) {
        self.tell_of(None, calls, observations, error);
    }

    fn tell_of(
        &mut self,
        code: Option<String>,
        tool_calls: Vec<StepCall>,
        observations: Option<String>,
        error: Option<String>,
    ) {
        self.steps += 1;
        if let Some(observed) = &observations {
            self.last = Some(observed.clone());
        }
        let step_number = self.steps;
        self.listener.step(&AnswerStep { step_number, code, observations, tool_calls, error });
    }
}

impl Chat<'_> {
    /// Answers by the model, or by extraction where there is none or it does not answer at all.
    pub async fn ask(
        &self,
        question: &Question,
        model: Option<(Meter<'_>, Dialect)>,
        listener: &dyn Listener,
    ) -> ChatAnswer {
        let (fleet, gateways) = self.marked_fleet().await;
        let is_away = fleet.is_none();
        let fleet = fleet.unwrap_or_default();
        let (question, slips) = &self.read_question(question, &fleet, model.is_some());
        let meant = if is_away { Meant::default() } else { entities::meant(question, &fleet) };
        // a site in the question restricts every look-up, listings too
        let scope = sites::in_scope(&question.message, &fleet);
        let plan = self.planned(question, &scope, &meant, is_away).await;
        let bearings = bearings_of(&plan, &meant);
        let read = planning::bearings_read(&plan, &bearings, &scope);
        let mut foci = self.foci(&read).await;
        sites::mark(foci.iter_mut().map(|focus| &mut focus.core), sites::all(&fleet).len() > 1);
        watching::mark_silent(foci.iter_mut().map(|focus| &mut focus.core), &gateways);
        // the records of a listing are for extraction alone
        let is_near = |one: &&Focus| bearings.contains(&one.core.key);
        let near: Vec<Focus> = foci.iter().filter(is_near).cloned().collect();
        let mut making = Making::new(listener, &fleet);
        let language = question.language;
        let reader = Reader::at(self.desk, language);
        let asks_model = model.is_some();
        let ended = match model {
            Some(model) => self.by_model(question, &fleet, &near, model, &mut making).await,
            None => Err(None),
        };
        let model_failure =
            ended.as_ref().err().and_then(|error| error.as_ref()).map(ModelError::kind);
        let (answer, by) = match ended {
            Ok(text) => (text, AnsweredBy::Model),
            Err(reason)
                if making.last.is_none() || matches!(reason, Some(ModelError::BareNumber)) =>
            {
                let sources =
                    Sources::of((self.desk, self.tools), (&scope, &foci), &question.message);
                let told = answer::without_model(language, reason.as_ref());
                let asked = (&plan[..], &meant);
                match self.by_extraction(asked, &fleet, reader, &sources, &mut making).await {
                    // without records there is nothing that could be said
                    None if is_away => (answer::apology(language).to_owned(), AnsweredBy::Apology),
                    found => {
                        let found = found.unwrap_or_else(|| plant_records::not_recorded(language));
                        let parts = [Some(told), slips::in_words(slips, language), Some(found)];
                        let parts: Vec<String> = parts.into_iter().flatten().collect();
                        (parts.join("\n\n"), AnsweredBy::Extraction)
                    }
                }
            }
            Err(_) => (making.last.clone().unwrap_or_default(), AnsweredBy::Observation),
        };
        let answer = self.cleaned(&answer, asks_model);
        // a model's words may have led to any answer, so the record stands beside it
        let about = if asks_model { near } else { used(&foci, by, &plan) };
        let answer = answer::with_records(answer, &about, reader);
        ChatAnswer {
            answer,
            by,
            about: spoken_of(&bearings, by, &plan),
            prompt_tokens: making.spent.prompt_tokens,
            completion_tokens: making.spent.completion_tokens,
            cost_usd: making.spent.usd,
            model_failure,
        }
    }

    /// The words for a reader: without what no model may read where one is asked, else without
    /// secrets.
    fn cleaned(&self, answer: &str, asks_model: bool) -> String {
        if asks_model {
            self.redactor.clean(answer)
        } else {
            self.redactor.clean_of_secrets(answer)
        }
    }

    /// The records of bearings; one that cannot be read is left out.
    async fn foci(&self, keys: &[BearingKey]) -> Vec<Focus> {
        let foci = keys.iter().map(|key| async { self.desk.focus(key).await.ok().flatten() });
        futures_util::future::join_all(foci).await.into_iter().flatten().collect()
    }

    /// The loop of the model; `Err` holds why there is no answer.
    async fn by_model(
        &self,
        question: &Question,
        fleet: &[CoreFields],
        foci: &[Focus],
        (meter, dialect): (Meter<'_>, Dialect),
        making: &mut Making<'_>,
    ) -> Result<String, Option<ModelError>> {
        let context = context::build(question, fleet, foci, self.redactor, &making.fence);
        making.read.add_text(&context.read);
        let mut transcript = Transcript { messages: context.messages };
        let (offered, ending) = (self.tools.tools(), answer::final_answer());
        let mut session = self.programs.session();
        for step in 1..=MAX_STEPS {
            let asking = Asking {
                model: meter.model.name(),
                tools: &offered,
                ending: &ending,
                enforced: None,
                must_end: step == MAX_STEPS,
                answer_tokens: self.answer_tokens,
            };
            let request = dialect.request(&transcript, &asking);
            let turn = dialect.read(meter.ask(&request, &mut making.spent).await.map_err(Some)?);
            let (text, calls) = match turn {
                Turn::Words(words) => return self.held(&words, question, making),
                Turn::Calls { text, calls } => (text, calls),
            };
            if let Some(words) = calls.iter().find_map(|call| answer::of_call(call, &ending)) {
                return self.held(&words, question, making);
            }
            transcript.said(text, calls);
            let program =
                transcript.unanswered().into_iter().find(|call| code::of_call(call).is_some());
            if let Some(call) = program.cloned().filter(|_| dialect == Dialect::Code) {
                let ended =
                    self.one_program(&call, &mut transcript, &offered, &mut session, making).await;
                if let Some(words) = ended {
                    return self.held(&words, question, making);
                }
            } else {
                self.one_step(&mut transcript, &offered, making).await;
            }
        }
        Err(None)
    }

    /// Runs the program of one step and tells of it; returns the text of its final answer.
    async fn one_program(
        &self,
        call: &ToolCall,
        transcript: &mut Transcript,
        offered: &[ToolDefinition],
        session: &mut Session<'_>,
        making: &mut Making<'_>,
    ) -> Option<String> {
        let program = code::of_call(call).unwrap_or_default().to_owned();
        let names: Vec<String> = offered.iter().map(|tool| tool.name.clone()).collect();
        let mut tools = ProgramTools::of(making, self.tools, offered, self.redactor);
        let outcome = session.run(&program, &names, &mut tools).await;
        let ProgramTools { known, calls, read, .. } = tools;
        (making.known, making.read) = (known, read);
        let clean = |text: String| cut(&self.redactor.clean(&text));
        let observed = Some(outcome.printed).filter(|text| !text.is_empty()).map(clean);
        let error = outcome.error.map(clean);
        let told = [observed.clone(), error.as_ref().map(|error| format!("Error: {error}"))];
        let told: Vec<String> = told.into_iter().flatten().collect();
        let told =
            if told.is_empty() { "(nothing was printed)".to_owned() } else { told.join("\n") };
        transcript.answered(call, making.fence.around("observation", &told));
        making.tell_of(Some(program), calls, observed, error);
        outcome.answer
    }

    /// Makes the calls of one step side by side, and tells of it.
    async fn one_step(
        &self,
        transcript: &mut Transcript,
        offered: &[ToolDefinition],
        making: &mut Making<'_>,
    ) {
        let calls: Vec<ToolCall> = transcript.unanswered().into_iter().cloned().collect();
        let known = &making.known;
        let answers = calls.iter().enumerate().map(|(at, call)| async move {
            if let Some(reason) = refusal(call, offered, known, at) {
                return ToolAnswer::failed(reason);
            }
            let arguments = call.arguments.clone().unwrap_or_default();
            toolbox::traced(self.tools, &call.id, &call.name, arguments).await
        });
        let answers: Vec<ToolAnswer> = futures_util::future::join_all(answers).await;
        let mut observed = Vec::with_capacity(answers.len());
        let mut errors = Vec::new();
        for (call, answer) in calls.iter().zip(&answers) {
            making.known.add_of(&answer.data);
            if let Ok(arguments) = &call.arguments {
                making.read.add_arguments(&Value::Object(arguments.clone()));
            }
            let text = cut(&self.redactor.clean(&answer.text));
            transcript.answered(call, making.fence.around("tool_result", &text));
            if answer.is_error {
                errors.push(format!("{}: {text}", call.name));
            } else {
                add_answer(&mut making.read, answer, &text);
                observed.push(text);
            }
        }
        let told = calls.iter().map(|call| StepCall {
            name: call.name.clone(),
            arguments: call.arguments.clone().map_or(Value::Null, Value::Object),
        });
        let observations = (!observed.is_empty()).then(|| cut(&observed.join("\n")));
        let error = (!errors.is_empty()).then(|| cut(&errors.join("; ")));
        making.tell(told.collect(), observations, error);
    }

    /// The model's words, held to what was read; no answer if nothing is left, or if they tell what
    /// the program told the model.
    fn held(
        &self,
        words: &str,
        question: &Question,
        making: &Making<'_>,
    ) -> Result<String, Option<ModelError>> {
        // secrets first: with a figure of theirs withheld they would not be recognised
        let words = self.redactor.clean(words);
        if is_foreign(&words) {
            return Err(Some(ModelError::OtherLanguage));
        }
        let held = answer::grounded_words(&words, question, making.read.clone(), &making.fence)
            .ok_or(None)?;
        if bare::is_bare(&held) { Err(Some(ModelError::BareNumber)) } else { Ok(held) }
    }
}

/// The bearing that the conversation goes on with: one that a look-up of the answer is about.
fn spoken_of(bearings: &[BearingKey], by: AnsweredBy, plan: &[Part]) -> Option<BearingKey> {
    let is_spoken_of =
        |key: &&BearingKey| by != AnsweredBy::Extraction || planning::is_used(plan, key);
    bearings.iter().find(is_spoken_of).cloned()
}

/// The bearings that an answer speaks of.
fn used(foci: &[Focus], by: AnsweredBy, plan: &[Part]) -> Vec<Focus> {
    let is_used = |focus: &&Focus| match by {
        AnsweredBy::Apology => false,
        AnsweredBy::Extraction => planning::is_used(plan, &focus.core.key),
        AnsweredBy::Model | AnsweredBy::Observation => true,
    };
    foci.iter().filter(is_used).cloned().collect()
}

/// The bearings whose records an answer needs: those that are meant, and those of the plan.
fn bearings_of(plan: &[Part], meant: &Meant) -> Vec<BearingKey> {
    let mut bearings = meant.keys.clone();
    for key in plan.iter().filter_map(|part| part.about.as_ref()) {
        if !bearings.contains(key) {
            bearings.push(key.clone());
        }
    }
    bearings
}

/// Takes the answer of a tool as a source of figures: its data, or its words where it has none.
fn add_answer(read: &mut Readings, answer: &ToolAnswer, text: &str) {
    if answer.data.is_null() {
        read.add_text(text);
    } else {
        read.add_data(&answer.data);
    }
}

fn cut(text: &str) -> String {
    text.chars().take(MAX_OBSERVATION).collect()
}

fn name_of(core: &CoreFields) -> (String, String) {
    (core.key.equipment.to_string(), core.key.bearing.to_string())
}

/// Identities of the plant that tools may be asked about.
fn known(fleet: &[CoreFields]) -> KnownIds {
    let mut known = KnownIds::default();
    for core in fleet {
        known.add(core.key.site.as_str());
        known.add(core.key.equipment.as_str());
        known.add(core.key.bearing.as_str());
        known.add(core.key.to_string());
        known.add(format!("{}/{}", core.key.equipment, core.key.bearing));
        core.event_id.iter().for_each(|id| known.add(id.to_string()));
    }
    known
}

fn refusal(
    call: &ToolCall,
    offered: &[ToolDefinition],
    known: &KnownIds,
    at: usize,
) -> Option<String> {
    if at >= MAX_CALLS {
        return Some(format!("refused: at most {MAX_CALLS} calls a step"));
    }
    if !offered.iter().any(|tool| tool.name == call.name) {
        return Some("refused: there is no such tool".to_owned());
    }
    match &call.arguments {
        Err(_text) => Some("refused: the arguments are no JSON object".to_owned()),
        Ok(arguments) => known.check(arguments).err(),
    }
}

#[cfg(test)]
mod tests;
