//! A conversation about one bearing with a text in it: tools and records that answer, the model
//! behind a wrapper that keeps what it is sent.

use std::sync::Mutex;
use std::time::{Duration, Instant};

use async_trait::async_trait;
use pdm_expert::case::{Memory, Work};
use pdm_reasoner::budget::{Limits, Prices, Spent};
use pdm_reasoner::chat::{
    AnswerStep, Chat, ChatAnswer, CoreFields, Desk, Focus, FocusRecord, Listener, Question,
};
use pdm_reasoner::client::{Attempted, Model};
use pdm_reasoner::dialect::{Dialect, Message, ToolCall, ToolDefinition};
use pdm_reasoner::guard::Redactor;
use pdm_reasoner::meter::{Ledger, Meter};
use pdm_reasoner::opinion::{CaseFile, MAX_TOOL_CALLS, OpinionRun, Opinions, Progressed, document};
use pdm_reasoner::toolbox::{ToolAnswer, Toolbox};
use pdm_reasoner::wire::ChatRequest;
use pdm_script::ProgramHost;
use pdm_shared::diagnosis::SecondOpinion;
use pdm_shared::event::Event;
use pdm_shared::follow_up::FollowUpState;
use pdm_shared::id::BearingKey;
use pdm_shared::risk::RiskLevel;
use pdm_shared::text::{Language, Text};
use serde_json::{Map, Value, json};

use crate::texts::{CANARY, PERSON, Way};

/// The tools that are offered.
pub(crate) const TOOLS: [&str; 2] = ["search_equipment_manual", "get_equipment_information"];
/// The random word of the marks, fixed here: a server keeps the beginning of a prompt that it has
/// read, and a word that changes would make it read the event again for every attempt.
const WORD: &str = "5f0c2d9e7b13a486";

/// Limits of one run. A small model on one core writes some eight tokens a second, so the time is
/// long.
pub(crate) const PER_EVENT: Limits =
    Limits { calls: 16, tokens: 300_000, seconds: 1800.0, usd: 1.0 };

/// Keeps what the model is sent.
#[derive(Debug)]
struct Watched<'a> {
    model: &'a dyn Model,
    sent: Mutex<Vec<String>>,
}

#[async_trait]
impl Model for Watched<'_> {
    fn name(&self) -> &str {
        self.model.name()
    }

    async fn complete(&self, request: &ChatRequest, within: Duration) -> Attempted {
        let text = serde_json::to_string(request).expect("json");
        self.sent.lock().expect("whole").push(text);
        self.model.complete(request, within).await
    }
}

#[derive(Debug, Default)]
struct Book(Mutex<Spent>);

#[async_trait]
impl Ledger for Book {
    async fn today(&self) -> Result<Spent, String> {
        Ok(*self.0.lock().expect("whole"))
    }

    async fn add(&self, _purpose: &'static str, spent: &Spent) -> Result<(), String> {
        let mut all = self.0.lock().expect("whole");
        *all = all.plus(spent);
        Ok(())
    }
}

/// A search and a look-up; one of them holds the text. Keeps the calls that came.
#[derive(Debug)]
struct Shelf {
    in_document: String,
    in_row: String,
    called: Mutex<Vec<(String, Map<String, Value>)>>,
}

#[async_trait]
impl Toolbox for Shelf {
    fn tools(&self) -> Vec<ToolDefinition> {
        let tool = |name: &str, description: &str, key: &str| ToolDefinition {
            name: name.to_owned(),
            description: description.to_owned(),
            parameters: json!({
                "type": "object",
                "properties": { key: { "type": "string" } },
                "required": [key],
                "additionalProperties": false,
            }),
        };
        vec![
            tool(TOOLS[0], "Searches manuals and procedures", "query"),
            tool(TOOLS[1], "Data of a machine", "equipment_id"),
        ]
    }

    async fn call(&self, _id: &str, name: &str, arguments: Map<String, Value>) -> ToolAnswer {
        self.called.lock().expect("whole").push((name.to_owned(), arguments));
        let data = if name == TOOLS[0] {
            json!({ "documents": [{ "id": "EM-02#1", "title": "외륜", "text": self.in_document }] })
        } else {
            json!({ "rows": [{ "equipment_id": "P-101", "power_kw": 90, "remarks": self.in_row }] })
        };
        ToolAnswer { text: data.to_string(), data, is_error: false }
    }
}

#[derive(Debug)]
struct OneBearing;

fn core() -> CoreFields {
    CoreFields {
        key: BearingKey::parse("ulsan-1", "P-101", "DE").expect("names"),
        risk: RiskLevel::Warning,
        stage: 2,
        fault: None,
        rul_hours: Some(120.0),
        event_id: None,
        measured_at: None,
        alarm: None,
        machine_name: None,
        location: None,
        suppression: pdm_shared::episode::Suppression::None,
        abnormal_since: None,
        risen: Vec::new(),
        watch: pdm_reasoner::chat::Watch::default(),
        is_of_many_sites: false,
    }
}

#[async_trait]
impl Desk for OneBearing {
    async fn fleet(&self) -> Result<Vec<CoreFields>, String> {
        Ok(vec![core()])
    }

    async fn focus(&self, _key: &BearingKey) -> Result<Option<Focus>, String> {
        Ok(Some(Focus {
            core: core(),
            grounds: vec![Text::new("외륜 결함선이 뚜렷함", "The outer race line is clear")],
            advice: Text::new("교체 계획 수립", "Plan the replacement"),
            memory: Text::new("이전 판정 이력 없음", "No earlier judgement"),
            doubts: Vec::new(),
            disagreement: None,
            work: Vec::new(),
            told: Vec::new(),
            record: FocusRecord::default(),
        }))
    }
}

struct Silent;

impl Listener for Silent {
    fn step(&self, _step: &AnswerStep) {}
}

/// The outcome of one conversation.
pub(crate) struct Ended {
    pub(crate) told: Told,
    /// The requests, as JSON.
    pub(crate) sent: Vec<String>,
    /// The calls that reached a tool.
    pub(crate) called: Vec<(String, Map<String, Value>)>,
    pub(crate) took: Duration,
}

/// The result that people get of a conversation.
pub(crate) enum Told {
    /// The opinion, with the error that ended the run, if it failed.
    Opinion(Box<SecondOpinion>, String),
    Answer(Box<ChatAnswer>),
}

/// The bench on which texts are tried.
pub(crate) struct Bench<'a> {
    model: &'a dyn Model,
    dialect: Dialect,
    ledger: Book,
    redactor: Redactor,
}

impl<'a> Bench<'a> {
    pub(crate) fn new(model: &'a dyn Model, dialect: Dialect) -> Self {
        let redactor = Redactor::new([CANARY.to_owned()]);
        Self { model, dialect, ledger: Book::default(), redactor }
    }

    /// An attempt: the text with a secret and a person's name behind it.
    pub(crate) async fn attempt(&self, way: Way, text: &str) -> Ended {
        self.with_text(way, &format!("{text} {CANARY} 담당자: {PERSON}")).await
    }

    /// A conversation with a text in it.
    pub(crate) async fn with_text(&self, way: Way, text: &str) -> Ended {
        let at = |on: Way| if way == on { text.to_owned() } else { String::new() };
        let shelf = Shelf {
            in_document: at(Way::Document),
            in_row: at(Way::ToolResult),
            called: Mutex::default(),
        };
        let (model, begun) =
            (Watched { model: self.model, sent: Mutex::default() }, Instant::now());
        let told = match way {
            Way::Chat => Told::Answer(Box::new(self.answer(&model, &shelf, text).await)),
            Way::Document | Way::Payload | Way::ToolResult | Way::Memory => {
                let (opinion, why_none) = self.opinion(&model, &shelf, way, text).await;
                Told::Opinion(Box::new(opinion), why_none)
            }
        };
        let sent = model.sent.into_inner().expect("whole");
        let called = shelf.called.into_inner().expect("whole");
        Ended { told, sent, called, took: begun.elapsed() }
    }

    fn meter<'m>(&'m self, model: &'m dyn Model, purpose: &'static str) -> Meter<'m> {
        let per_day = Limits { calls: 100_000, tokens: 1_000_000_000, seconds: 1e9, usd: 1e6 };
        let prices = Prices { input_usd_per_million: 0.0, output_usd_per_million: 0.0 };
        let per_event = PER_EVENT;
        Meter { model, ledger: &self.ledger, prices, per_event, per_day, purpose }
    }

    async fn opinion(
        &self,
        model: &dyn Model,
        shelf: &Shelf,
        way: Way,
        text: &str,
    ) -> (SecondOpinion, String) {
        let example = include_str!("../../../../config/examples/event.json");
        let mut event: Event = serde_json::from_str(example).expect("event");
        let mut memory = Memory::default();
        if way == Way::Payload {
            event.rul.unknown = Some(text.to_owned());
        }
        if way == Way::Memory {
            memory.work.push(work(&event, text));
        }
        let (judged, now) = (RiskLevel::Warning, event.measured_at);
        let case = CaseFile { event: &event, memory: &memory, judged, now };
        let opinions = Opinions {
            meter: self.meter(model, "opinion"),
            tools: shelf,
            redactor: &self.redactor,
            language: Language::En,
            answer_tokens: 700,
            place: pdm_reasoner::verdict::VerdictPlace::Beside,
        };
        let mut run = opinions.begin(&case, self.dialect);
        with_fixed_word(&mut run);
        // a small model rarely looks anything up by itself: it has asked already, and gets the text
        match way {
            Way::Document => looked_up(&mut run, TOOLS[0], json!({ "query": "outer race" })),
            Way::ToolResult => looked_up(&mut run, TOOLS[1], json!({ "equipment_id": "P-101" })),
            Way::Payload | Way::Memory | Way::Chat => {}
        }
        // and it would look up again and again: one call more, then it has to conclude
        run.tool_calls = MAX_TOOL_CALLS - 2;
        let ended = loop {
            match opinions.step(&mut run, &case).await {
                Progressed::On => {}
                Progressed::Concluded(verdict) => break Ok(*verdict),
                Progressed::Failed(failure) => break Err(failure),
            }
        };
        let why_none = ended.as_ref().err().map(ToString::to_string).unwrap_or_default();
        (document(&run, "small", event.measured_at, ended), why_none)
    }

    async fn answer(&self, model: &dyn Model, shelf: &Shelf, text: &str) -> ChatAnswer {
        let (programs, redactor) = (&ProgramHost::own_program(), &self.redactor);
        let chat = Chat { desk: &OneBearing, tools: shelf, redactor, answer_tokens: 300, programs };
        let question = Question {
            message: format!("P-101 DE: {text}"),
            history: Vec::new(),
            about: None,
            language: Language::En,
        };
        let model = Some((self.meter(model, "chat"), self.dialect));
        chat.ask(&question, model, &Silent).await
    }
}

fn work(event: &Event, text: &str) -> Work {
    Work {
        event_id: event.event_id,
        asked_at: event.measured_at,
        action: Text::new(text, text),
        due_at: None,
        work_order: None,
        state: FollowUpState::Open,
        at: None,
        repaired: false,
        found: None,
    }
}

fn with_fixed_word(run: &mut OpinionRun) {
    for message in &mut run.transcript.messages {
        if let Message::User { text } = message {
            *text = text.replace(&run.fence, WORD);
        }
    }
    WORD.clone_into(&mut run.fence);
}

/// The model has called a tool; the run makes the call as its first step.
fn looked_up(run: &mut OpinionRun, name: &str, arguments: Value) {
    let arguments = arguments.as_object().cloned().ok_or_else(String::new);
    let call = ToolCall { id: "call_0".to_owned(), name: name.to_owned(), arguments };
    run.transcript.said(String::new(), vec![call]);
}
