//! A second opinion: the conversation of the model with its tools about one event, one step at a
//! time.
//!
//! [`OpinionRun`] is everything that a run knows. The caller stores it after every step and
//! continues a stored one after a crash: calls of tools are made again under the same identity, a
//! question to the model is asked again. The workflow holds the run: at most [`MAX_TOOL_CALLS`]
//! calls, then the model has to conclude, as it has to when its calls are refused turn after turn
//! or the budget nears its end; at least two searches where the degradation accelerates; at most
//! [`MAX_REPAIRS`] repairs; budgets before every question.

use pdm_shared::diagnosis::ToolUse;
use pdm_shared::id::EventId;
use pdm_shared::text::{Language, Text};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::budget::Spent;
use crate::client::ModelError;
use crate::dialect::{Asking, Dialect, Message, ToolCall, Transcript, Turn};
use crate::guard::{Fence, KnownIds, Redactor};
use crate::meter::Meter;
use crate::prompt::{self, Task};
use crate::toolbox::{self, ToolAnswer, Toolbox};
use crate::verdict::{self, CONCLUDE, Verdict, VerdictPlace};

mod case;
mod document;

pub use case::CaseFile;
pub use document::{disagreement, document, held_risk, no_document};

/// The version of a run's form.
pub const RUN_SCHEMA: &str = "pdm.run/2";
/// Most calls of tools (the seed's safety limit).
pub const MAX_TOOL_CALLS: u32 = 10;
/// Most repairs of an answer.
pub const MAX_REPAIRS: u32 = 2;
/// Most turns in which every call was refused. Chosen: a model that has been told twice why its
/// calls are not made repeats them (a 0.5B model did so until its budget was used up, 52 opinions
/// of 52).
const MAX_REFUSED_TURNS: u32 = 2;
/// Questions that the budget keeps beyond the next one: the conclusion, its repairs, and one for
/// the growth of the conversation.
const QUESTIONS_TO_END: u32 = 2 + MAX_REPAIRS;
/// Searches that an accelerating degradation needs at least.
const DEEP_SEARCHES: u32 = 2;
/// Most characters of a tool's answer that the model gets.
const MAX_OBSERVATION: usize = 2000;

/// The state of one run; a checkpoint holds it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct OpinionRun {
    /// Always [`RUN_SCHEMA`].
    pub schema: String,
    /// The event.
    pub event_id: EventId,
    /// The conversation, with the identities of the calls.
    pub transcript: Transcript,
    /// How the model says what it wants.
    pub dialect: Dialect,
    /// The requests, tokens, time and money that were spent.
    pub spent: Spent,
    /// Answers that had to be repaired.
    pub repairs: u32,
    /// Calls of tools that were made.
    pub tool_calls: u32,
    /// Refusals of an early end (deep research).
    pub sent_back: u32,
    /// Turns in which every call was refused.
    #[serde(default)]
    pub refused_turns: u32,
    /// The model has been asked to conclude: no call is made any more.
    #[serde(default)]
    pub must_end: bool,
    /// The server refused the narrower schema of a conclusion: it gets the plain one.
    #[serde(default)]
    pub plain_schema: bool,
    /// Identities that tools may be asked about.
    pub known: KnownIds,
    /// The calls, for the record.
    pub uses: Vec<ToolUse>,
    /// The random word of the data marks.
    pub fence: String,
}

impl OpinionRun {
    /// A run that could not begin.
    pub fn unbegun(event_id: EventId) -> Self {
        Self {
            schema: RUN_SCHEMA.to_owned(),
            event_id,
            transcript: Transcript::default(),
            dialect: Dialect::Native,
            spent: Spent::default(),
            repairs: 0,
            tool_calls: 0,
            sent_back: 0,
            refused_turns: 0,
            must_end: false,
            plain_schema: false,
            known: KnownIds::default(),
            uses: Vec::new(),
            fence: String::new(),
        }
    }
}

/// The result of a step.
#[derive(Debug, Clone, PartialEq)]
pub enum Progressed {
    /// The run goes on; the caller stores it.
    On,
    /// The model has concluded.
    Concluded(Box<Verdict>),
    /// The run ends without an opinion.
    Failed(OpinionFailure),
}

/// Why there is no opinion.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum OpinionFailure {
    /// The model gave no answer.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// The answer stayed invalid.
    #[error("the answer stayed invalid after {MAX_REPAIRS} repairs: {0}")]
    Invalid(String),
    /// The judgement did not wait any longer. An answer may follow.
    #[error("no answer while the judgement waited")]
    NotInTime,
    /// The model was not asked, because too many judgements wait for it.
    #[error("too many judgements wait for the model")]
    QueueFull,
}

impl OpinionFailure {
    /// The failure for people.
    pub fn told(&self) -> Text {
        match self {
            Self::Model(ModelError::Exhausted(_)) => {
                Text::new("예산이 소진되어 모델 의견 없음", "No opinion: the budget is used up")
            }
            Self::Model(_) => {
                Text::new("모델이 응답하지 않아 의견 없음", "No opinion: the model gave no answer")
            }
            Self::NotInTime => Text::new(
                "판정이 기다리는 시간 안에 모델이 답하지 않음",
                "No opinion: the model gave no answer while the judgement waited",
            ),
            Self::QueueFull => Text::new(
                "모델을 기다리는 판정이 많아 모델 의견 없음",
                "No opinion: too many judgements wait for the model",
            ),
            Self::Invalid(_) => Text::new(
                "모델의 답이 형식에 맞지 않아 의견 없음",
                "No opinion: the model's answer was not of the form asked for",
            ),
        }
    }
}

/// Gives second opinions.
#[derive(Debug, Clone, Copy)]
pub struct Opinions<'a> {
    /// The model within its budgets.
    pub meter: Meter<'a>,
    /// The tools.
    pub tools: &'a dyn Toolbox,
    /// Removes from texts what must not be sent to the model.
    pub redactor: &'a Redactor,
    /// Language of the prompts.
    pub language: Language,
    /// Most tokens of one answer.
    pub answer_tokens: u32,
    /// Whether the verdict is part of the judgement.
    pub place: VerdictPlace,
}

impl Opinions<'_> {
    /// Begins the run over a case.
    pub fn begin(&self, case: &CaseFile<'_>, dialect: Dialect) -> OpinionRun {
        let fence = Fence::random();
        let system = prompt::system(Task::Opinion, self.language).to_owned();
        let facts = self.redactor.clean(&case.facts());
        let text =
            case::question(self.language, self.place, &fence.around("event_and_memory", &facts));
        let messages = vec![Message::System { text: system }, Message::User { text }];
        OpinionRun {
            transcript: Transcript { messages },
            dialect,
            known: case.known_ids(),
            fence: fence.word().to_owned(),
            ..OpinionRun::unbegun(case.event.event_id)
        }
    }

    /// The next step: the calls that wait, or a question to the model.
    pub async fn step(&self, run: &mut OpinionRun, case: &CaseFile<'_>) -> Progressed {
        let waiting: Vec<ToolCall> = run.transcript.unanswered().into_iter().cloned().collect();
        if !waiting.is_empty() {
            return self.calls(run, case, &waiting).await;
        }
        let offered = self.tools.tools();
        let ending = verdict::conclude(self.place);
        let enforced = (run.dialect == Dialect::Json && !run.plain_schema)
            .then(|| verdict::enforced(self.place, &case.as_value()));
        let mut asking = Asking {
            model: self.meter.model.name(),
            tools: &offered,
            ending: &ending,
            enforced: enforced.as_ref(),
            must_end: run.must_end || has_searched_enough(run),
            answer_tokens: self.answer_tokens,
        };
        let mut request = run.dialect.request(&run.transcript, &asking);
        if !asking.must_end && !self.meter.has_room(&request, &run.spent, QUESTIONS_TO_END) {
            asking.must_end = true;
            request = run.dialect.request(&run.transcript, &asking);
        }
        run.must_end = asking.must_end;
        let answer = match self.meter.ask(&request, &mut run.spent).await {
            Ok(answer) => answer,
            Err(ModelError::Refused { status: 400 | 422, .. }) if enforced.is_some() => {
                run.plain_schema = true;
                return Progressed::On;
            }
            Err(error) => return Progressed::Failed(error.into()),
        };
        match run.dialect.read(answer) {
            Turn::Calls { text, calls } => {
                run.transcript.said(text, calls);
                Progressed::On
            }
            Turn::Words(words) => {
                run.transcript.said(words.chars().take(MAX_OBSERVATION).collect(), Vec::new());
                let complaint = "the answer calls neither a tool nor conclude";
                repair(run, complaint.to_owned(), |run, text| {
                    run.transcript.messages.push(Message::User { text });
                })
            }
        }
    }

    /// Makes the calls that wait; each gets its one result, unless it ends the run.
    async fn calls(
        &self,
        run: &mut OpinionRun,
        case: &CaseFile<'_>,
        waiting: &[ToolCall],
    ) -> Progressed {
        let mut concluding = None;
        let made_before = run.tool_calls;
        for call in waiting {
            if call.name == CONCLUDE && concluding.is_none() {
                concluding = Some(call);
                continue;
            }
            let text = self.one_call(run, call).await;
            run.transcript.answered(call, text);
        }
        let Some(call) = concluding else { return without_conclusion(run, made_before) };
        let beside_others = waiting.len() > 1;
        conclude(run, case, call, &Concluding { beside_others, place: self.place })
    }

    /// The text of a call's result, inside a mark.
    async fn one_call(&self, run: &mut OpinionRun, call: &ToolCall) -> String {
        let answer = if let Some(reason) = self.refusal(run, call) {
            ToolAnswer::failed(reason)
        } else {
            run.tool_calls += 1;
            let arguments = redacted(call.arguments.clone().unwrap_or_default(), self.redactor);
            let id = format!("{}/{}", run.event_id, call.id);
            toolbox::traced(self.tools, &id, &call.name, arguments).await
        };
        run.known.add_of(&answer.data);
        run.uses.push(used(call, &answer, run.tool_calls));
        let text = self.redactor.clean(&answer.text);
        let text: String = text.chars().take(MAX_OBSERVATION).collect();
        Fence::of(run.fence.clone()).around("tool_result", &text)
    }

    /// Returns why a call is not made.
    fn refusal(&self, run: &OpinionRun, call: &ToolCall) -> Option<String> {
        if !self.tools.tools().iter().any(|tool| tool.name == call.name) {
            return Some("refused: there is no such tool".to_owned());
        }
        if run.must_end || run.tool_calls >= MAX_TOOL_CALLS {
            return Some("refused: no more calls are left, conclude".to_owned());
        }
        match &call.arguments {
            Err(_text) => Some("refused: the arguments are no JSON object".to_owned()),
            Ok(arguments) => {
                let asked = |use_: &ToolUse| {
                    use_.name == call.name && use_.arguments == Value::Object(arguments.clone())
                };
                if run.uses.iter().any(asked) {
                    return Some("refused: the same call was made before".to_owned());
                }
                run.known.check(arguments).err()
            }
        }
    }
}

/// Whether the next turn is the model's last, by what it has called.
const fn has_searched_enough(run: &OpinionRun) -> bool {
    run.tool_calls >= MAX_TOOL_CALLS || run.refused_turns >= MAX_REFUSED_TURNS
}

/// Goes on after calls without a conclusion; where one was asked for, the answer has to be
/// repaired.
fn without_conclusion(run: &mut OpinionRun, made_before: u32) -> Progressed {
    if run.must_end {
        let complaint = "no calls of tools are left".to_owned();
        return repair(run, complaint, |run, text| {
            run.transcript.messages.push(Message::User { text });
        });
    }
    run.refused_turns += u32::from(run.tool_calls == made_before);
    Progressed::On
}

/// How a conclusion came.
struct Concluding {
    /// Whether the conclusion came in one turn with other calls.
    beside_others: bool,
    place: VerdictPlace,
}

/// Reads the conclusion; one that comes too early or does not fit gets a result that says why.
fn conclude(
    run: &mut OpinionRun,
    case: &CaseFile<'_>,
    call: &ToolCall,
    how: &Concluding,
) -> Progressed {
    if let Some(told) = sent_back(run, case, how.beside_others) {
        run.sent_back += 1;
        run.transcript.answered(call, told);
        return Progressed::On;
    }
    let complaints = match &call.arguments {
        Ok(arguments) => {
            let (event, names) = (case.as_value(), case.names());
            match verdict::read_conclusion(arguments, &event, case.judged, &names, how.place) {
                Ok(verdict) => return Progressed::Concluded(Box::new(verdict)),
                Err(complaints) => complaints.join("; "),
            }
        }
        Err(_text) => "the arguments are no JSON object".to_owned(),
    };
    repair(run, complaints, |run, text| run.transcript.answered(call, text))
}

/// Returns why a conclusion comes too early: deep research is mandatory under acceleration, and a
/// model that calls tools has to read their results first. Each is said at most [`DEEP_SEARCHES`]
/// times, so that the run ends.
fn sent_back(run: &OpinionRun, case: &CaseFile<'_>, beside_others: bool) -> Option<String> {
    if run.sent_back >= DEEP_SEARCHES || run.must_end {
        return None;
    }
    if beside_others {
        return Some("read the results of the other calls first, then conclude".to_owned());
    }
    let searches = run.uses.iter().filter(|one| one.failure.is_none()).count() as u32;
    (case.event.trend.acceleration_detected && searches < DEEP_SEARCHES).then(|| {
        format!(
            "the degradation accelerates: at least {DEEP_SEARCHES} searches are needed, \
            {searches} made"
        )
    })
}

/// Asks the model to repair its answer, or ends the run.
fn repair(
    run: &mut OpinionRun,
    complaint: String,
    tell: impl FnOnce(&mut OpinionRun, String),
) -> Progressed {
    if run.repairs >= MAX_REPAIRS {
        return Progressed::Failed(OpinionFailure::Invalid(complaint));
    }
    run.repairs += 1;
    tell(run, format!("invalid: {complaint}. Answer again, with {CONCLUDE}."));
    Progressed::On
}

fn redacted(
    arguments: serde_json::Map<String, Value>,
    redactor: &Redactor,
) -> serde_json::Map<String, Value> {
    let clean = |value: Value| match &value {
        Value::String(text) => Value::String(redactor.clean(text)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => {
            value
        }
    };
    arguments.into_iter().map(|(name, value)| (name, clean(value))).collect()
}

fn used(call: &ToolCall, answer: &ToolAnswer, round: u32) -> ToolUse {
    let documents = answer.data.get("documents").and_then(Value::as_array);
    let ids = documents.into_iter().flatten().filter_map(|document| document.get("id")?.as_str());
    ToolUse {
        name: call.name.clone(),
        arguments: call.arguments.clone().map_or(Value::Null, Value::Object),
        result_ids: ids.map(str::to_owned).collect(),
        round,
        failure: answer.is_error.then(|| answer.text.chars().take(200).collect()),
    }
}

#[cfg(test)]
mod tests;
