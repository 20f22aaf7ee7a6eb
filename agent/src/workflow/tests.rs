//! Runs through the nodes with reasoners and tools made for the purpose.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use async_trait::async_trait;
use pdm_expert::research::{HISTORY, MANUAL, Question};
use pdm_expert::rules::Rules;
use pdm_service::clock::SystemClock;
use pdm_shared::event::TrendDirection;
use pdm_tools::client::{CallAnswer, ClientError};
use serde_json::{Map, json};

use super::state::STATE_SCHEMA;
use super::*;

fn event() -> Event {
    serde_json::from_str(include_str!("../../../config/examples/event.json")).expect("event")
}

fn accelerating() -> Event {
    let mut event = event();
    event.trend.trend_direction = TrendDirection::Rising;
    event.trend.acceleration_detected = true;
    event
}

fn workflow() -> Workflow {
    Workflow::new(Expert::new(Rules::default()), Arc::new(SystemClock))
}

async fn ran(workflow: &Workflow, event: Event) -> Run {
    let mut run = workflow.begin(event, Memory::default());
    while run.node != Node::SaveMemory {
        workflow.step(&mut run).await;
    }
    run
}

fn nodes(run: &Run) -> Vec<&str> {
    run.steps.iter().map(|step| step.node.as_str()).collect()
}

fn question(query: &str) -> Question {
    Question {
        round: 1,
        tool: HISTORY.to_owned(),
        arguments: Map::from_iter([("query".to_owned(), query.into())]),
        why: Text::new("까닭", "why"),
        rule: "TEST".to_owned(),
        drawn_from: None,
    }
}

/// Wants the same thing for ever.
#[derive(Debug)]
struct Stubborn(Want);

#[async_trait]
impl Reasoner for Stubborn {
    async fn reason(&self, _: &State, _: bool) -> Result<Turn, WorkflowError> {
        Ok(Turn { thought: "again".to_owned(), want: self.0.clone() })
    }
}

/// Fails.
#[derive(Debug)]
struct Broken;

#[async_trait]
impl Reasoner for Broken {
    async fn reason(&self, _: &State, _: bool) -> Result<Turn, WorkflowError> {
        Err(WorkflowError::Reasoner("the model is away".to_owned()))
    }
}

/// Answers each tool with one document, and counts.
#[derive(Debug, Default)]
struct Shelf {
    texts: BTreeMap<&'static str, &'static str>,
    calls: Mutex<Vec<String>>,
}

impl Shelf {
    fn calls(&self) -> Vec<String> {
        self.calls.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

#[async_trait]
impl Tools for Shelf {
    async fn call(
        &self,
        call_id: &str,
        tool: &str,
        _: Map<String, Value>,
    ) -> Result<CallAnswer, ClientError> {
        self.calls.lock().unwrap_or_else(PoisonError::into_inner).push(call_id.to_owned());
        let Some(text) = self.texts.get(tool) else {
            return Err(ClientError::Unreachable("no such shelf".to_owned()));
        };
        let hit = json!({ "id": format!("D-{tool}"), "title": "t", "text": text, "source": "s",
            "score": 1.0 });
        let structured = Some(json!({ "documents": [hit], "count": 1 }));
        Ok(CallAnswer { is_error: false, failure: None, text: String::new(), structured })
    }
}

fn shelf() -> Arc<Shelf> {
    let texts = BTreeMap::from([
        (HISTORY, "4 근본 원인 (Root cause)\n- 커플링 편심 0.18 mm. 정렬 불량"),
        (MANUAL, "4 급속 열화 조건\n과부하와 윤활 부족."),
    ]);
    Arc::new(Shelf { texts, ..Shelf::default() })
}

/// R-AGENT-3: normal ends early and asks nobody.
#[tokio::test]
async fn a_normal_event_ends_early_without_a_tool() {
    let mut event = event();
    event.anomaly_detected = false;
    event.frequency_domain.dominant_fault = None;
    event.time_domain.kurtosis = Some(3.0);
    let shelf = shelf();
    let run = ran(&workflow().with_tools(shelf.clone()), event).await;
    assert_eq!(nodes(&run), ["load_memory", "reasoning", "parse_diagnosis"]);
    assert_eq!((run.state.next_action, shelf.calls().len()), (NextAction::End, 0));
}

#[tokio::test]
async fn a_reasoner_that_never_concludes_is_stopped() {
    let workflow = workflow().with_reasoner(Arc::new(Stubborn(Want::Continue)));
    let run = ran(&workflow, event()).await;
    let rounds = nodes(&run).iter().filter(|node| **node == "reasoning").count();
    assert_eq!(rounds, node::MAX_ROUNDS as usize);
    let judgement = run.state.diagnosis_result.expect("the expert's");
    assert_eq!(judgement.diagnosis.thoughts.len(), 5);
    assert!(judgement.diagnosis.uncertainty.causes.iter().any(|cause| cause.en.contains("rules")));
}

/// R-AGENT-3: `tool_calls_count > 10` forces `parse_diagnosis`; the same call again is refused.
#[tokio::test]
async fn the_same_call_again_is_refused_and_the_eleventh_ends_the_run() {
    let shelf = shelf();
    let workflow = workflow()
        .with_tools(shelf.clone())
        .with_reasoner(Arc::new(Stubborn(Want::Call(vec![question("외륜")]))));
    let run = ran(&workflow, event()).await;
    assert_eq!(shelf.calls().len(), 1, "one call, nine refusals");
    assert_eq!(run.state.tool_calls_count, 11);
    let refused = run.state.inquiry.answered.iter().filter(|one| one.failure.is_some());
    assert_eq!(refused.count(), 9);
    assert!(nodes(&run).contains(&"parse_diagnosis"));
    let told = run.steps.iter().any(|step| step.detail.to_string().contains("made before"));
    assert!(told, "the trace says so");
}

#[tokio::test]
async fn a_reasoner_that_fails_leaves_the_experts_judgement() {
    let run = ran(&workflow().with_reasoner(Arc::new(Broken)), event()).await;
    let diagnosis = run.state.diagnosis_result.expect("the expert's").diagnosis;
    assert_eq!(diagnosis.risk_level, RiskLevel::Warning);
    assert!(diagnosis.uncertainty.causes.iter().any(|cause| cause.en.contains("by rules")));
}

/// R-AGENT-6: search, reading, a question drawn from what was found, search again.
#[tokio::test]
async fn acceleration_is_researched_in_rounds_that_build_on_each_other() {
    let run = ran(&workflow().with_tools(shelf()), accelerating()).await;
    let inquiry = &run.state.inquiry;
    assert!(inquiry.round() >= 2);
    let second: Vec<_> = inquiry.of_round(2).map(|answered| &answered.question).collect();
    assert!(second.iter().any(|question| {
        let query = question.arguments["query"].as_str().unwrap_or_default();
        query.contains("축정렬 불량")
            && !query.contains("커플링")
            && question.drawn_from.as_deref() == Some("D-search_maintenance_history")
    }));
    let diagnosis = run.state.diagnosis_result.expect("judged").diagnosis;
    assert!(diagnosis.rul_assessment.conservative);
    assert_eq!(diagnosis.tools.len(), inquiry.answered.len());
    let cited = diagnosis.thoughts[2].evidence.iter().filter(|fact| fact.source.is_some()).count();
    // the manual; a case that is not like this one is read and is no evidence of it
    assert!(cited >= 1, "{:#?}", diagnosis.thoughts[2]);
}

/// R-AGENT-6: a planted case that speaks against the hypothesis is told, and stands in the trace.
#[tokio::test]
async fn what_research_changed_stands_in_the_trace() {
    let planted = "2 고장 개요 (Failure)\n- 교체했으나 뺀 베어링은 멀쩡했다.\n3 진행 경과 (Course)\n\
                   - 9일 전: BPFO 결함선 18 dB, 고조파 2개, 첨도 5.5.\n4 근본 원인 (Root cause)\n\
                   - 이웃 베어링의 진동.";
    let texts = BTreeMap::from([(HISTORY, planted), (MANUAL, "4 급속 열화 조건\n과부하.")]);
    let shelf = Arc::new(Shelf { texts, ..Shelf::default() });
    let run = ran(&workflow().with_tools(shelf), accelerating()).await;
    let step = run.steps.iter().find(|step| step.node == "parse_diagnosis").expect("a step");
    let changes = step.detail["research"]["changes"].as_array().expect("a list");
    assert!(changes.iter().any(|change| change["effect"] == "contradiction"), "{changes:#?}");
    assert_eq!(step.detail["ungrounded"], json!([]));
    let diagnosis = run.state.diagnosis_result.expect("judged").diagnosis;
    let told = diagnosis.thoughts[4].conclusion.en.contains("is a case to the contrary");
    assert!(told, "{:#?}", diagnosis.thoughts[4]);
}

#[tokio::test]
async fn tools_that_are_away_leave_a_judgement_that_says_so() {
    let away = Arc::new(Shelf::default());
    let workflow = workflow().with_tools(away.clone());
    let run = ran(&workflow, accelerating()).await;
    let first = away.calls().len();
    let diagnosis = run.state.diagnosis_result.expect("judged").diagnosis;
    assert!(diagnosis.tools.iter().all(|tool| tool.failure.is_some()));
    assert!(diagnosis.uncertainty.causes.iter().any(|cause| cause.en.contains("looked up")));
    assert!(run.state.inquiry.round() >= 2, "asked again, more broadly");
    // and the next event does not wait for them
    ran(&workflow, accelerating()).await;
    assert_eq!(away.calls().len(), first);
}

/// A run that is written down after any node and read back goes on to the same end.
#[tokio::test]
async fn a_run_resumed_from_any_checkpoint_ends_the_same() {
    let whole = ran(&workflow().with_tools(shelf()), accelerating()).await;
    for stop in 1..whole.steps.len() {
        let workflow = workflow().with_tools(shelf());
        let mut run = workflow.begin(accelerating(), Memory::default());
        run.state.now = whole.state.now;
        for _ in 0..stop {
            workflow.step(&mut run).await;
        }
        let checkpoint = run.checkpoint(run.state.now).expect("written");
        let noted = u32::try_from(run.steps.len()).expect("few");
        let mut again = Run::resumed(&checkpoint, noted, &workflow).expect("read back");
        while again.node != Node::SaveMemory {
            workflow.step(&mut again).await;
        }
        // how long the calls took is of this run alone
        again.state.looked_up_ms = whole.state.looked_up_ms;
        assert_eq!(again.state, whole.state, "stopped after {stop} steps");
        let numbers: Vec<u32> = run.steps.iter().chain(&again.steps).map(|s| s.number).collect();
        assert_eq!(numbers, whole.steps.iter().map(|step| step.number).collect::<Vec<_>>());
    }
}

#[test]
fn a_checkpoint_of_another_version_is_not_resumed() {
    let workflow = workflow();
    let run = workflow.begin(event(), Memory::default());
    let mut checkpoint = run.checkpoint(run.state.now).expect("written");
    checkpoint.state = checkpoint.state.replace(STATE_SCHEMA, "pdm.run/0");
    assert!(Run::resumed(&checkpoint, 0, &workflow).is_err());
    checkpoint.state = "{".to_owned();
    assert!(Run::resumed(&checkpoint, 0, &workflow).is_err());
}

/// The first edges of the drawing in the head of `run`.
#[tokio::test]
async fn a_run_leaves_the_fast_path_before_its_first_call_and_goes_on_after_its_checkpoint() {
    let workflow = workflow().with_tools(shelf());
    let mut run = workflow.begin(accelerating(), Memory::default());
    assert_eq!(run.run_state, RunState::Fast);
    workflow.run_ahead(&mut run).await;
    assert_eq!((run.run_state, run.node), (RunState::Leaving, Node::ToolExecutor));
    let checkpoint = run.checkpoint(run.state.now).expect("written");
    let again = Run::resumed(&checkpoint, 0, &workflow).expect("read back");
    assert_eq!(again.run_state, RunState::Acting);
    // without tools nothing acts outside
    let bare = Workflow { caller: None, ..workflow };
    let mut run = bare.begin(accelerating(), Memory::default());
    bare.run_ahead(&mut run).await;
    assert_eq!((run.run_state, run.node), (RunState::Batched, Node::SaveMemory));
}

/// A judgement is held once, and comes back with its answer to be taken in.
#[tokio::test]
async fn a_judgement_is_held_once_and_returns_from_its_checkpoint() {
    let terms = HoldTerms { from: RiskLevel::Watch, at_once_from: RiskLevel::Critical };
    let workflow = workflow().with_holds(Some(terms));
    let mut run = workflow.begin(accelerating(), Memory::default());
    workflow.run_ahead(&mut run).await;
    assert_eq!((run.run_state, run.node), (RunState::Holding, Node::ParseDiagnosis));
    run.state.held = true;
    let checkpoint = run.checkpoint(run.state.now).expect("written");
    let again = Run::resumed(&checkpoint, 0, &workflow).expect("read back");
    assert_eq!(again.run_state, RunState::Returned);
}
