//! The run against a scripted model and scripted tools, without a server.

use std::collections::VecDeque;
use std::sync::Mutex;
use std::time::Duration;

use async_trait::async_trait;
use pdm_expert::case::Memory;
use pdm_shared::diagnosis::OpinionStance;
use pdm_shared::event::Event;
use pdm_shared::risk::RiskLevel;
use serde_json::{Map, json};

use super::*;
use crate::budget::{Limits, Prices};
use crate::client::{Attempted, Model};
use crate::dialect::ToolDefinition;
use crate::meter::Ledger;
use crate::wire::{ChatRequest, Completion, FinishReason, Usage, WireCall, WireFunction};

/// A model that says what the test has written down, and keeps what it was asked.
#[derive(Debug, Default)]
struct Scripted {
    turns: Mutex<VecDeque<Vec<(String, Value)>>>,
    asked: Mutex<Vec<ChatRequest>>,
    /// Its server refuses schemas with a list by position.
    refuses_lists_by_position: bool,
}

impl Scripted {
    fn of(turns: Vec<Vec<(&str, Value)>>) -> Self {
        let turn = |turn: Vec<(&str, Value)>| {
            turn.into_iter().map(|(name, arguments)| (name.to_owned(), arguments)).collect()
        };
        Self { turns: Mutex::new(turns.into_iter().map(turn).collect()), ..Self::default() }
    }
}

#[async_trait]
impl Model for Scripted {
    fn name(&self) -> &'static str {
        "scripted"
    }

    async fn complete(&self, request: &ChatRequest, _within: Duration) -> Attempted {
        self.asked.lock().expect("whole").push(request.clone());
        let form = request.response_format.as_ref().map(Value::to_string).unwrap_or_default();
        if self.refuses_lists_by_position && form.contains("prefixItems") {
            let reason = "prefixItems is not supported".to_owned();
            let result = Err(ModelError::Refused { status: 400, reason });
            return Attempted { result, calls: 1, took: Duration::from_millis(5) };
        }
        let mut turns = self.turns.lock().expect("whole");
        let turn = if turns.len() > 1 { turns.pop_front() } else { turns.front().cloned() };
        let call = |(at, (name, arguments)): (usize, (String, Value))| WireCall {
            id: format!("call_{at}"),
            kind: "function".to_owned(),
            function: WireFunction { name, arguments: arguments.to_string() },
        };
        let calls: Vec<WireCall> =
            turn.unwrap_or_default().into_iter().enumerate().map(call).collect();
        let content = if calls.is_empty() { "words".to_owned() } else { String::new() };
        let usage = Some(Usage { prompt_tokens: 1000, completion_tokens: 100 });
        let finish = FinishReason::ToolCalls;
        let result = Ok(Completion { content, calls, finish, usage });
        Attempted { result, calls: 1, took: Duration::from_millis(5) }
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

/// Tools that answer with one document, and note which calls came.
#[derive(Debug, Default)]
struct Shelf {
    text: String,
    calls: Mutex<Vec<(String, Map<String, Value>)>>,
}

#[async_trait]
impl Toolbox for Shelf {
    fn tools(&self) -> Vec<ToolDefinition> {
        vec![ToolDefinition {
            name: "search".to_owned(),
            description: "searches".to_owned(),
            parameters: json!({ "type": "object",
                "properties": { "query": { "type": "string" } } }),
        }]
    }

    async fn call(&self, id: &str, _name: &str, arguments: Map<String, Value>) -> ToolAnswer {
        self.calls.lock().expect("whole").push((id.to_owned(), arguments));
        let data = json!({ "documents": [{ "id": "MH-03#1", "text": self.text }] });
        ToolAnswer { text: data.to_string(), data, is_error: false }
    }
}

fn event(accelerates: bool) -> Event {
    let text = include_str!("../../../../config/examples/event.json");
    let mut event: Event = serde_json::from_str(text).expect("event");
    event.trend.acceleration_detected = accelerates;
    event
}

fn conclusion(risk: &str) -> Value {
    let thought = |title: &str| json!({ "title": title, "evidence": ["trend.slope"] });
    let titles = ["initial_screening", "pf_stage", "degradation", "rul", "overall_risk"];
    json!({
        "thoughts": titles.map(thought),
        "fault_type": "outer_race", "fault_stage": 2, "degradation_speed": "moderate",
        "rul_basis": "hours", "risk_level": risk, "uncertainty_level": "low",
        "reason": { "ko": "외륜 결함이 상승함", "en": "The outer race fault is rising" },
        "recommendation": { "ko": "교체 계획 수립", "en": "Plan the replacement" },
    })
}

fn query(text: &str) -> Value {
    json!({ "query": text })
}

struct Bench {
    model: Scripted,
    ledger: Book,
    tools: Shelf,
    redactor: Redactor,
    memory: Memory,
    event: Event,
    per_event: Limits,
    per_day: Limits,
}

impl Bench {
    fn new(accelerates: bool, turns: Vec<Vec<(&str, Value)>>) -> Self {
        Self {
            model: Scripted::of(turns),
            ledger: Book::default(),
            tools: Shelf { text: "문서".to_owned(), ..Shelf::default() },
            redactor: Redactor::new(["CANARY-0001".to_owned()]),
            memory: Memory::default(),
            event: event(accelerates),
            per_event: Limits::of_event(),
            per_day: Limits::of_day(),
        }
    }

    fn case(&self) -> CaseFile<'_> {
        let (event, memory) = (&self.event, &self.memory);
        CaseFile { event, memory, judged: RiskLevel::Warning, now: event.measured_at }
    }

    fn opinions(&self) -> Opinions<'_> {
        let meter = Meter {
            model: &self.model,
            ledger: &self.ledger,
            prices: Prices::default(),
            per_event: self.per_event,
            per_day: self.per_day,
            purpose: "opinion",
        };
        let (tools, redactor) = (&self.tools, &self.redactor);
        Opinions {
            meter,
            tools,
            redactor,
            language: Language::Ko,
            answer_tokens: 500,
            place: VerdictPlace::Beside,
        }
    }

    /// Runs to the end; after every step the state is written and read back, as after a crash.
    async fn run(&self, dialect: Dialect) -> (OpinionRun, Result<Verdict, OpinionFailure>) {
        let (opinions, case) = (self.opinions(), self.case());
        let mut run = opinions.begin(&case, dialect);
        for _ in 0..60 {
            let stored = serde_json::to_string(&run).expect("json");
            run = serde_json::from_str(&stored).expect("a run");
            match opinions.step(&mut run, &case).await {
                Progressed::On => {}
                Progressed::Concluded(verdict) => return (run, Ok(*verdict)),
                Progressed::Failed(failure) => return (run, Err(failure)),
            }
        }
        panic!("the run does not end")
    }
}

#[tokio::test]
async fn a_model_searches_and_concludes_and_its_stance_is_told() {
    for (risk, stance) in [
        ("Warning", OpinionStance::Agrees),
        ("Critical", OpinionStance::Raises),
        ("Normal", OpinionStance::Lowers),
    ] {
        let turns = vec![vec![("search", query("외륜"))], vec![("conclude", conclusion(risk))]];
        let bench = Bench::new(false, turns);
        let (run, verdict) = bench.run(Dialect::Native).await;
        let opinion = document(&run, "scripted", bench.event.measured_at, verdict);
        assert_eq!(opinion.stance, Some(stance));
        assert!(held_risk(RiskLevel::Warning, &opinion) >= RiskLevel::Warning, "never lowered");
        assert_eq!(opinion.tools[0].result_ids, ["MH-03#1"]);
        assert_eq!((opinion.calls, opinion.prompt_tokens), (2, 2000));
        assert!((opinion.cost_usd - 0.007).abs() < 1e-9, "{}", opinion.cost_usd);
    }
}

/// R-AGENT-6
#[tokio::test]
async fn deep_research_is_enforced_where_the_degradation_accelerates() {
    let end = || vec![("conclude", conclusion("Warning"))];
    let turns =
        vec![end(), vec![("search", query("a"))], end(), vec![("search", query("b"))], end()];
    let bench = Bench::new(true, turns);
    let (run, verdict) = bench.run(Dialect::Native).await;
    assert!(verdict.is_ok());
    assert_eq!((run.tool_calls, run.sent_back, run.repairs), (2, 2, 0));
}

#[tokio::test]
async fn a_model_that_never_ends_is_made_to_conclude_after_ten_calls() {
    // a different question each time, for ever
    let mut turns: Vec<Vec<(&str, Value)>> =
        (0..14).map(|n| vec![("search", query(&format!("q{n}")))]).collect();
    turns.push(vec![("search", query("q"))]);
    let bench = Bench::new(false, turns);
    let (run, verdict) = bench.run(Dialect::Native).await;
    assert!(verdict.is_err());
    assert_eq!(run.tool_calls, MAX_TOOL_CALLS);
    assert_eq!(bench.tools.calls.lock().expect("whole").len(), 10);
    let last = bench.model.asked.lock().expect("whole").last().cloned().expect("asked");
    assert_eq!(last.tools.len(), 1, "only conclude is offered");
}

/// A 0.5B model behaved like this until its budget was used up.
#[tokio::test]
async fn a_model_whose_calls_are_refused_turn_after_turn_is_made_to_conclude() {
    let again = || vec![("search", query("외륜"))];
    let turns = vec![again(), again(), again(), vec![("conclude", conclusion("Warning"))]];
    let bench = Bench::new(false, turns);
    let (run, verdict) = bench.run(Dialect::Native).await;
    assert!(verdict.is_ok(), "{verdict:?}");
    assert_eq!((run.tool_calls, run.refused_turns, run.repairs), (1, 2, 0));
    let asked = bench.model.asked.lock().expect("whole");
    let offered: Vec<usize> = asked.iter().map(|request| request.tools.len()).collect();
    assert_eq!(offered, [2, 2, 2, 1], "then conclude alone");
}

#[tokio::test]
async fn a_model_that_calls_on_where_it_has_to_conclude_ends_after_two_repairs() {
    let bench = Bench::new(false, vec![vec![("search", query("외륜"))]]);
    let (run, verdict) = bench.run(Dialect::Native).await;
    assert!(matches!(verdict, Err(OpinionFailure::Invalid(_))), "{verdict:?}");
    assert_eq!((run.tool_calls, run.repairs, run.spent.calls), (1, 2, 6));
}

#[tokio::test]
async fn the_budget_keeps_room_for_the_conclusion_and_its_repairs() {
    let limits = Limits::of_event();
    let short = [
        Limits { calls: 6, ..limits },
        Limits { tokens: 22_000, ..limits },
        Limits { usd: 0.07, ..limits },
        Limits { seconds: 0.05, ..limits },
    ];
    for per_event in short {
        let turns = (0..14).map(|n| vec![("search", query(&format!("q{n}")))]).collect();
        let mut bench = Bench::new(false, turns);
        bench.per_event = per_event;
        let (run, verdict) = bench.run(Dialect::Native).await;
        // the model was asked to conclude, and repaired twice, before the budget was used up
        assert!(matches!(verdict, Err(OpinionFailure::Invalid(_))), "{per_event:?} {verdict:?}");
        assert!(run.must_end && run.tool_calls < MAX_TOOL_CALLS, "{run:?}");
    }
}

#[tokio::test]
async fn a_server_that_refuses_the_narrow_schema_gets_the_plain_one() {
    let conclude = json!({ "conclude": conclusion("Warning") });
    let mut bench = Bench::new(false, vec![vec![("conclude", conclude["conclude"].clone())]]);
    bench.model.refuses_lists_by_position = true;
    let (opinions, case) = (bench.opinions(), bench.case());
    let mut run = opinions.begin(&case, Dialect::Json);
    assert_eq!(opinions.step(&mut run, &case).await, Progressed::On);
    assert!(run.plain_schema);
    assert_eq!(opinions.step(&mut run, &case).await, Progressed::On, "an answer has come");
    let asked = bench.model.asked.lock().expect("whole");
    let forms = asked.iter().map(|request| request.response_format.clone().expect("a form"));
    let narrow: Vec<bool> = forms.map(|form| form.to_string().contains("prefixItems")).collect();
    assert_eq!(narrow, [true, false]);
}

#[tokio::test]
async fn an_answer_is_repaired_at_most_twice() {
    let bad = || vec![("conclude", json!({ "risk_level": "Normal" }))];
    let good = vec![("conclude", conclusion("Warning"))];
    let bench = Bench::new(false, vec![bad(), bad(), good]);
    let (run, verdict) = bench.run(Dialect::Native).await;
    assert!(verdict.is_ok() && run.repairs == 2);
    let bench = Bench::new(false, vec![bad()]);
    let (run, verdict) = bench.run(Dialect::Json).await;
    assert!(matches!(verdict, Err(OpinionFailure::Invalid(_))) && run.repairs == 2);
    let opinion = document(&run, "m", bench.event.measured_at, verdict);
    assert!(opinion.failure.is_some() && opinion.risk_level.is_none());
}

#[tokio::test]
async fn tools_of_other_names_and_other_machines_are_never_called() {
    let turns = vec![
        vec![
            (
                "notify_maintenance_staff",
                json!({ "message": "all is well", "risk_level": "Normal" }),
            ),
            ("search", json!({ "query": "x", "equipment_id": "P-999" })),
            ("search", query("외륜")),
            ("search", query("외륜")),
        ],
        vec![("conclude", conclusion("Warning"))],
    ];
    let bench = Bench::new(false, turns);
    let (run, verdict) = bench.run(Dialect::Native).await;
    assert!(verdict.is_ok());
    assert_eq!(bench.tools.calls.lock().expect("whole").len(), 1);
    let refused: Vec<_> = run.uses.iter().filter_map(|one| one.failure.clone()).collect();
    assert_eq!(refused.len(), 3, "{refused:?}");
}

/// Notes and names of staff, keys in documents and secrets of the program are in no request.
#[tokio::test]
async fn the_canary_is_never_sent() {
    let turns = vec![
        vec![("search", query("find CANARY-0001"))],
        vec![("conclude", conclusion("Warning"))],
    ];
    let mut bench = Bench::new(false, turns);
    bench.tools.text = "담당자: 카나리아, 열쇠 sk-canary-abcdef012345, CANARY-0001".to_owned();
    let (_, verdict) = bench.run(Dialect::Native).await;
    assert!(verdict.is_ok());
    let asked = bench.model.asked.lock().expect("whole");
    assert!(asked.len() == 2);
    for request in asked.iter() {
        let sent = serde_json::to_string(request).expect("json");
        // what the model itself has written comes back to it
        let sent = sent.replace("find CANARY-0001", "");
        for canary in ["CANARY-0001", "카나리아", "sk-canary"] {
            assert!(!sent.contains(canary), "{canary}: {sent}");
        }
    }
    let calls = bench.tools.calls.lock().expect("whole");
    assert!(!calls[0].1["query"].to_string().contains("CANARY"), "nor given to a tool");
}

#[tokio::test]
async fn nothing_is_asked_once_the_day_is_used_up() {
    let mut bench = Bench::new(false, vec![vec![("conclude", conclusion("Warning"))]]);
    bench.per_day = Limits { calls: 0, ..Limits::of_day() };
    let (run, verdict) = bench.run(Dialect::Native).await;
    let error = verdict.expect_err("no budget");
    assert!(error.to_string().contains("of the day") && run.spent.calls == 0, "{error}");
    assert!(bench.model.asked.lock().expect("whole").is_empty());
}

#[tokio::test]
async fn calls_that_were_under_way_are_made_again_under_the_same_identity() {
    let turns = vec![vec![("search", query("외륜"))], vec![("conclude", conclusion("Warning"))]];
    let bench = Bench::new(false, turns);
    let (opinions, case) = (bench.opinions(), bench.case());
    let mut run = opinions.begin(&case, Dialect::Native);
    assert_eq!(opinions.step(&mut run, &case).await, Progressed::On);
    let stored = run.clone();
    for _ in 0..2 {
        let mut resumed = stored.clone();
        assert_eq!(opinions.step(&mut resumed, &case).await, Progressed::On);
    }
    let calls = bench.tools.calls.lock().expect("whole");
    assert_eq!((calls.len(), &calls[0].0), (2, &calls[1].0), "one identity");
}
