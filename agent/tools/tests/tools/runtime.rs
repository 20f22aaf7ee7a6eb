//! R-TOOL-7, 8: checked arguments and answers, retries, empty and malformed results, cutting,
//! parallel calls; the four tools with a small knowledge base.

use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use pdm_shared::risk::RiskLevel;
use pdm_tools::exec::builtin::{Accepted, Builtin, Builtins, Notifier, NotifyStaff, StaffMessage};
use pdm_tools::exec::search::{FoundPart, KnowledgeSearch, Question, SearchAnswer};
use pdm_tools::exec::{Failure, Invocation};
use pdm_tools::{Catalogue, ExecutorResources, Runtime, ToolError};
use serde_json::{Value, json};
use tokio::time::Instant;

use super::{call, runtime_of, shipped, tool};

/// A function that fails `failures` times and then answers.
struct Flaky {
    failures: u32,
    failure: Failure,
    answer: Value,
    calls: Arc<AtomicU32>,
}

#[async_trait]
impl Builtin for Flaky {
    async fn call(&self, _invocation: Invocation<'_>) -> Result<Value, Failure> {
        if self.calls.fetch_add(1, Ordering::SeqCst) < self.failures {
            return Err(self.failure.clone());
        }
        Ok(self.answer.clone())
    }
}

fn flaky(failures: u32, failure: Failure, answer: Value) -> (ExecutorResources, Arc<AtomicU32>) {
    let calls = Arc::new(AtomicU32::new(0));
    let flaky = Flaky { failures, failure, answer, calls: Arc::clone(&calls) };
    (
        ExecutorResources {
            builtins: Builtins::default().with("t", flaky),
            ..ExecutorResources::default()
        },
        calls,
    )
}

#[tokio::test(start_paused = true)]
async fn a_failing_tool_is_tried_again_after_1_2_and_4_seconds() {
    let (means, calls) = flaky(3, Failure::Transient("away".into()), json!({"a": 1}));
    let (runtime, _folder) = runtime_of(&tool("t", "ops", ""), means);
    let started = Instant::now();
    let answer = runtime.call(&call("t", json!({}))).await.expect("the fourth attempt");
    assert_eq!((answer.attempts, calls.load(Ordering::SeqCst)), (4, 4));
    assert_eq!(started.elapsed().as_secs(), 7);
}

#[tokio::test(start_paused = true)]
async fn after_three_retries_the_caller_is_told_why() {
    let (means, calls) = flaky(9, Failure::Transient("away".into()), json!({}));
    let (runtime, _folder) = runtime_of(&tool("t", "ops", ""), means);
    let error = runtime.call(&call("t", json!({}))).await.expect_err("given up");
    assert_eq!(error.to_string(), "t: failed 4 times, at last: away");
    assert_eq!(calls.load(Ordering::SeqCst), 4);
}

#[tokio::test(start_paused = true)]
async fn what_would_fail_the_same_way_is_not_tried_again() {
    let (means, calls) = flaky(9, Failure::Permanent("no".into()), json!({}));
    let (runtime, _folder) = runtime_of(&tool("t", "ops", ""), means);
    let error = runtime.call(&call("t", json!({}))).await.expect_err("refused");
    assert!(matches!(error, ToolError::Refused { .. }), "{error}");
    assert_eq!(calls.load(Ordering::SeqCst), 1);
}

#[tokio::test(start_paused = true)]
async fn a_tool_that_hangs_is_cut_off() {
    struct Hangs;
    #[async_trait]
    impl Builtin for Hangs {
        async fn call(&self, _invocation: Invocation<'_>) -> Result<Value, Failure> {
            std::future::pending().await
        }
    }
    let means = ExecutorResources {
        builtins: Builtins::default().with("t", Hangs),
        ..ExecutorResources::default()
    };
    let text = tool("t", "ops", "config: {timeout_s: 2, retries: 1}\n");
    let (runtime, _folder) = runtime_of(&text, means);
    let started = Instant::now();
    let error = runtime.call(&call("t", json!({}))).await.expect_err("cut off");
    assert_eq!(error.to_string(), "t: failed 2 times, at last: no answer within 2 s");
    assert_eq!(started.elapsed(), Duration::from_secs(5));
}

#[tokio::test]
async fn wrong_arguments_are_told_by_name_before_the_tool_sees_them() {
    let (means, calls) = flaky(0, Failure::Permanent(String::new()), json!({}));
    let text = tool("t", "ops", "").replace(
        "query: {type: string}",
        "query: {type: string}\n    top_k: {type: integer, maximum: 5}\n  required: [query]\n  \
         additionalProperties: false",
    );
    let (runtime, _folder) = runtime_of(&text, means);
    let cases = [
        (json!({}), "t: wrong arguments: query: is required and missing"),
        (json!({"query": 3}), "t: wrong arguments: query: 3 is not of type \"string\""),
        (
            json!({"query": "x", "top_k": 9}),
            "t: wrong arguments: top_k: 9 is greater than the maximum of 5",
        ),
        (json!({"query": "x", "k": 9}), "t: wrong arguments: k: unknown, allowed are query, top_k"),
        (json!([1]), "t: wrong arguments: [1] is not of type \"object\""),
    ];
    for (arguments, expected) in cases {
        let error = runtime.call(&call("t", arguments)).await.expect_err("wrong");
        assert_eq!(error.to_string(), expected);
    }
    assert_eq!(calls.load(Ordering::SeqCst), 0);
    runtime.call(&call("t", json!({"query": "x", "top_k": null}))).await.expect("null is absent");
}

#[tokio::test]
async fn an_unknown_tool_is_told_with_those_that_are_there() {
    let (runtime, _folder) = runtime_of(&tool("t", "ops", ""), ExecutorResources::default());
    let error = runtime.call(&call("tt", json!({}))).await.expect_err("unknown");
    assert_eq!(error.to_string(), "there is no tool tt; there are: t");
}

#[tokio::test]
async fn a_malformed_answer_never_reaches_the_caller() {
    let (means, calls) = flaky(0, Failure::Permanent(String::new()), json!({"n": "many"}));
    let text = tool("t", "ops", "").replace("properties: {}", "properties: {n: {type: integer}}");
    let (runtime, _folder) = runtime_of(&text, means);
    let error = runtime.call(&call("t", json!({}))).await.expect_err("malformed");
    assert_eq!(error.to_string(), "t: malformed answer: n: \"many\" is not of type \"integer\"");
    assert_eq!(calls.load(Ordering::SeqCst), 1, "a function of the program answers the same again");
}

#[tokio::test]
async fn an_empty_answer_is_marked_and_a_long_one_is_cut_with_a_note() {
    let (means, _) = flaky(0, Failure::Permanent(String::new()), json!({"rows": []}));
    let (runtime, _folder) = runtime_of(&tool("t", "ops", ""), means);
    let answer = runtime.call(&call("t", json!({}))).await.expect("answer");
    assert!(answer.is_empty && answer.as_untrusted().contains("empty=\"true\""));

    let (means, _) = flaky(0, Failure::Permanent(String::new()), json!({"a": "가".repeat(500)}));
    let (runtime, _folder) = runtime_of(&tool("t", "ops", "config: {max_chars: 100}\n"), means);
    let answer = runtime.call(&call("t", json!({}))).await.expect("answer");
    assert_eq!(answer.cut, 408);
    assert!(answer.text.ends_with("… [cut: 408 of 508 characters left out; ask more narrowly]"));
    assert_eq!(answer.value["a"].as_str().map(str::len), Some(1500), "data stays whole");
}

#[tokio::test(start_paused = true)]
async fn independent_calls_run_side_by_side_and_not_too_many() {
    struct Slow(Arc<(AtomicUsize, AtomicUsize)>);
    #[async_trait]
    impl Builtin for Slow {
        async fn call(&self, _invocation: Invocation<'_>) -> Result<Value, Failure> {
            let running = self.0.0.fetch_add(1, Ordering::SeqCst) + 1;
            self.0.1.fetch_max(running, Ordering::SeqCst);
            tokio::time::sleep(Duration::from_secs(1)).await;
            self.0.0.fetch_sub(1, Ordering::SeqCst);
            Ok(json!({"done": true}))
        }
    }
    let seen = Arc::new((AtomicUsize::new(0), AtomicUsize::new(0)));
    let builtins = Builtins::default().with("t", Slow(Arc::clone(&seen)));
    let (runtime, _folder) = runtime_of(
        &tool("t", "ops", ""),
        ExecutorResources { builtins, ..ExecutorResources::default() },
    );
    let started = Instant::now();
    let answers = runtime.call_all(&vec![call("t", json!({})); 20]).await;
    assert!(answers.iter().all(Result::is_ok));
    assert_eq!(started.elapsed().as_secs(), 3, "20 calls, 8 at a time, a second each");
    assert_eq!(seen.1.load(Ordering::SeqCst), 8);
}

/// A knowledge base of three documents, which it finds by the words of the question.
struct ThreeDocuments;

#[async_trait]
impl KnowledgeSearch for ThreeDocuments {
    async fn search(&self, question: Question) -> Result<SearchAnswer, Failure> {
        if question.collection != "maintenance_history" {
            return Ok(SearchAnswer::default());
        }
        let texts = [
            ("h1", "외륜 결함 outer race", "P-1"),
            ("h2", "내륜 결함 inner race", "P-2"),
            ("h3", "윤활 불량", "P-1"),
        ];
        let wanted = question.filters.get("equipment_id");
        let mut found: Vec<FoundPart> = texts
            .iter()
            .filter(|(_, _, equipment)| wanted.is_none_or(|wanted| wanted == equipment))
            .map(|(id, text, equipment)| {
                let hits = question.query.split_whitespace().filter(|word| text.contains(word));
                FoundPart {
                    id: (*id).to_owned(),
                    title: text.to_string(),
                    text: text.to_string(),
                    source: format!("{equipment}.md"),
                    score: hits.count() as f64,
                    ..FoundPart::default()
                }
            })
            .filter(|found| found.score > 0.0)
            .collect();
        found.sort_by(|a, b| b.score.total_cmp(&a.score));
        found.truncate(question.top_k);
        Ok(SearchAnswer { documents: found, ..SearchAnswer::default() })
    }

    async fn section(&self, document: &str, number: &str) -> Result<SearchAnswer, Failure> {
        let nothing_found = Some(format!("nothing found: {document} {number}"));
        Ok(SearchAnswer { nothing_found, ..SearchAnswer::default() })
    }

    async fn title(&self, _title: &str, _top_k: usize) -> Result<SearchAnswer, Failure> {
        Ok(SearchAnswer::default())
    }
}

/// A notifier that keeps its messages.
#[derive(Default)]
struct Told(Mutex<Vec<StaffMessage>>);

#[async_trait]
impl Notifier for Told {
    async fn notify(&self, message: StaffMessage) -> Result<Accepted, Failure> {
        self.0.lock().expect("lock").push(message);
        Ok(Accepted { notification_id: "n-1".to_owned(), channels: vec!["mqtt".to_owned()] })
    }
}

/// R-TOOL-8
#[tokio::test]
async fn the_four_tools_search_and_tell() {
    let told = Arc::new(Told::default());
    let (catalogue, problems) = Catalogue::open(&shipped());
    assert!(problems.is_empty());
    let notify = NotifyStaff::new(Arc::clone(&told) as Arc<dyn Notifier>);
    let means = ExecutorResources {
        builtins: Builtins::default().with("notify_maintenance_staff", notify),
        knowledge: Some(Arc::new(ThreeDocuments)),
        ..ExecutorResources::default()
    };
    let runtime = Runtime::new(catalogue, means);

    let asked = json!({"query": "외륜 결함", "top_k": 2});
    let found = runtime.call(&call("search_maintenance_history", asked)).await.expect("found");
    assert_eq!(found.value["documents"][0]["id"], "h1");
    assert_eq!(found.value["count"], 2);

    let asked = json!({"query": "결함", "equipment_id": "P-2"});
    let found = runtime.call(&call("search_maintenance_history", asked)).await.expect("found");
    assert_eq!(found.value["documents"][0]["id"], "h2");

    let found = runtime.call(&call("search_equipment_manual", json!({"query": "x"}))).await;
    assert!(found.expect("nothing is no error").is_empty);

    let message = json!({"message": "교체", "risk_level": "Warning", "equipment_id": "P-1"});
    let sent = runtime.call(&call("notify_maintenance_staff", message)).await.expect("told");
    assert_eq!(sent.value["status"], "accepted");
    let told = told.0.lock().expect("lock");
    assert_eq!((told[0].risk_level, told[0].equipment_id.as_str()), (RiskLevel::Warning, "P-1"));
    assert_eq!(told[0].idempotency_key, "call-of-notify_maintenance_staff");
}

#[tokio::test]
async fn a_risk_that_does_not_exist_is_refused_by_name() {
    let (catalogue, _) = Catalogue::open(&shipped());
    let runtime = Runtime::new(catalogue, ExecutorResources::default());
    let message = json!({"message": "x", "risk_level": "High", "equipment_id": "P-1"});
    let error = runtime.call(&call("notify_maintenance_staff", message)).await.expect_err("wrong");
    assert!(error.to_string().contains("risk_level: \"High\" is not one of"), "{error}");
}

#[tokio::test]
async fn without_a_knowledge_base_a_search_says_so() {
    let (catalogue, _) = Catalogue::open(&shipped());
    let runtime = Runtime::new(catalogue, ExecutorResources::default());
    let error = runtime.call(&call("search_analysis_history", json!({"query": "x"}))).await;
    let error = error.expect_err("no knowledge").to_string();
    assert!(error.contains("without a knowledge base"), "{error}");
}
