//! One bearing and one search: enough for an opinion and a question.

use async_trait::async_trait;
use pdm_expert::case::Memory;
use pdm_reasoner::budget::{Limits, Prices, Spent};
use pdm_reasoner::chat::{
    AnswerStep, Chat, ChatAnswer, CoreFields, Desk, Focus, Listener, Question, Said, Speaker,
};
use pdm_reasoner::client::Model;
use pdm_reasoner::dialect::{Asking, Dialect, Message, ToolDefinition, Transcript};
use pdm_reasoner::guard::Redactor;
use pdm_reasoner::meter::{Ledger, Meter};
use pdm_reasoner::opinion::{CaseFile, Opinions, Progressed, document};
use pdm_reasoner::toolbox::{ToolAnswer, Toolbox};
use pdm_reasoner::wire::ChatRequest;
use pdm_script::ProgramHost;
use pdm_shared::diagnosis::SecondOpinion;
use pdm_shared::event::Event;
use pdm_shared::id::BearingKey;
use pdm_shared::risk::RiskLevel;
use pdm_shared::text::Language;
use serde_json::{Map, Value, json};

/// The tool.
pub(crate) const SEARCH: &str = "search_equipment_manual";

/// A question without tools but the ending, which llmock answers with words.
pub(crate) fn question(model: &str) -> ChatRequest {
    let text = "How is the bearing?".to_owned();
    let ending = ToolDefinition {
        name: "end".to_owned(),
        description: "Ends.".to_owned(),
        parameters: json!({ "type": "object", "properties": {} }),
    };
    let transcript = Transcript { messages: vec![Message::User { text }] };
    let (tools, must_end, answer_tokens) = (&[][..], false, 100);
    let asking = Asking { model, tools, ending: &ending, enforced: None, must_end, answer_tokens };
    let mut request = Dialect::Native.request(&transcript, &asking);
    request.tools.clear();
    request.tool_choice = None;
    request
}

#[derive(Debug)]
struct Manuals;

#[async_trait]
impl Toolbox for Manuals {
    fn tools(&self) -> Vec<ToolDefinition> {
        vec![ToolDefinition {
            name: SEARCH.to_owned(),
            description: "Searches manuals and procedures".to_owned(),
            parameters: json!({
                "type": "object",
                "properties": { "query": { "type": "string" } },
                "required": ["query"],
                "additionalProperties": false,
            }),
        }]
    }

    async fn call(&self, _id: &str, _name: &str, _arguments: Map<String, Value>) -> ToolAnswer {
        let data = json!({ "documents": [{ "id": "EM-02#1", "text": "외륜을 교체한다" }] });
        ToolAnswer { text: data.to_string(), data, is_error: false }
    }
}

#[derive(Debug)]
struct OneBearing;

#[async_trait]
impl Desk for OneBearing {
    async fn fleet(&self) -> Result<Vec<CoreFields>, String> {
        Ok(vec![CoreFields {
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
        }])
    }

    async fn focus(&self, _key: &BearingKey) -> Result<Option<Focus>, String> {
        Ok(None)
    }
}

#[derive(Debug)]
struct NoBook;

#[async_trait]
impl Ledger for NoBook {
    async fn today(&self) -> Result<Spent, String> {
        Ok(Spent::default())
    }

    async fn add(&self, _purpose: &'static str, _spent: &Spent) -> Result<(), String> {
        Ok(())
    }
}

struct Silent;

impl Listener for Silent {
    fn step(&self, _step: &AnswerStep) {}
}

fn meter(model: &dyn Model) -> Meter<'_> {
    Meter {
        model,
        ledger: &NoBook,
        prices: Prices::default(),
        per_event: Limits::of_event(),
        per_day: Limits::of_day(),
        purpose: "test",
    }
}

/// A conclusion that agrees.
pub(crate) fn conclusion() -> Value {
    let thought = |title: &str| json!({ "title": title, "evidence": ["trend.slope"] });
    let titles = ["initial_screening", "pf_stage", "degradation", "rul", "overall_risk"];
    json!({
        "thoughts": titles.map(thought),
        "fault_type": "outer_race", "fault_stage": 2, "degradation_speed": "moderate",
        "rul_basis": "hours", "risk_level": "Warning", "uncertainty_level": "low",
        "reason": { "ko": "외륜 결함선이 뚜렷함", "en": "The outer race line is clear" },
        "recommendation": { "ko": "교체 계획 수립", "en": "Plan the replacement" },
    })
}

/// A second opinion on the contract's example.
pub(crate) async fn opinion(model: &dyn Model, dialect: Dialect) -> SecondOpinion {
    let example = include_str!("../../../../config/examples/event.json");
    let event: Event = serde_json::from_str(example).expect("event");
    let (memory, redactor) = (Memory::default(), Redactor::default());
    let (judged, now) = (RiskLevel::Warning, event.measured_at);
    let case = CaseFile { event: &event, memory: &memory, judged, now };
    let opinions = Opinions {
        meter: meter(model),
        tools: &Manuals,
        redactor: &redactor,
        language: Language::Ko,
        answer_tokens: 1000,
        place: pdm_reasoner::verdict::VerdictPlace::Beside,
    };
    let mut run = opinions.begin(&case, dialect);
    let ended = loop {
        match opinions.step(&mut run, &case).await {
            Progressed::On => {}
            Progressed::Concluded(verdict) => break Ok(*verdict),
            Progressed::Failed(failure) => break Err(failure),
        }
    };
    document(&run, model.name(), now, ended)
}

/// A turn of a conversation.
pub(crate) fn turn(question: &str, answer: &str) -> Vec<Said> {
    let said = |role, content: &str| Said { role, content: content.to_owned() };
    vec![said(Speaker::User, question), said(Speaker::Assistant, answer)]
}

/// The answer to a question, with the turns before it.
pub(crate) async fn answer(
    model: &dyn Model,
    dialect: Dialect,
    (message, history): (&str, Vec<Said>),
) -> ChatAnswer {
    let (programs, redactor) = (&ProgramHost::own_program(), &Redactor::default());
    let chat = Chat { desk: &OneBearing, tools: &Manuals, redactor, answer_tokens: 300, programs };
    let message = message.to_owned();
    let question = Question { message, history, about: None, language: Language::Ko };
    chat.ask(&question, Some((meter(model), dialect)), &Silent).await
}
