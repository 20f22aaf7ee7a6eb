//! Traces of a running agent as a collector receives them: OTLP over HTTP, decoded from protobuf
//! (R-AGENT-12).

mod support;

use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::Router;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::HeaderMap;
use axum::routing::post;
use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use opentelemetry_proto::tonic::common::v1::any_value::Value;
use opentelemetry_proto::tonic::common::v1::{AnyValue, KeyValue};
use opentelemetry_proto::tonic::trace::v1::Span;
use pdm_harness::{Child, ModelReply, ModelStandIn, Mosquitto, Persistence, free_port};
use pdm_shared::event::Event;
use prost::Message as _;
use serde_json::json;

use support::{Client, event, healthy, until};

/// The requests that a collector received.
type Received = Arc<Mutex<Vec<ExportTraceServiceRequest>>>;

/// A collector: takes what is posted to its path for traces.
async fn collector() -> (u16, Received) {
    let received = Received::default();
    let take = async |State(received): State<Received>, headers: HeaderMap, body: Bytes| {
        assert_eq!(headers["content-type"], "application/x-protobuf");
        let request = ExportTraceServiceRequest::decode(body).expect("protobuf");
        received.lock().expect("lock").push(request);
    };
    let router = Router::new().route("/v1/traces", post(take)).with_state(Arc::clone(&received));
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let port = listener.local_addr().expect("an address").port();
    tokio::spawn(async move { axum::serve(listener, router).await });
    (port, received)
}

fn told(attributes: &[KeyValue]) -> BTreeMap<String, String> {
    let text = |value: &Option<AnyValue>| match value.as_ref().and_then(|any| any.value.as_ref()) {
        Some(Value::StringValue(text)) => text.clone(),
        Some(other) => format!("{other:?}"),
        None => String::new(),
    };
    attributes.iter().map(|one| (one.key.clone(), text(&one.value))).collect()
}

fn spans(received: &Received) -> Vec<Span> {
    let requests = received.lock().expect("lock");
    let resources = requests.iter().flat_map(|request| &request.resource_spans);
    let scopes = resources.flat_map(|resource| &resource.scope_spans);
    scopes.flat_map(|scope| scope.spans.clone()).collect()
}

fn below<'s>(spans: &'s [Span], parent: &Span) -> Vec<&'s Span> {
    let mut own: Vec<&Span> =
        spans.iter().filter(|span| span.parent_span_id == parent.span_id).collect();
    own.sort_by_key(|span| (span.start_time_unix_nano, span.end_time_unix_nano));
    own
}

/// The agent with this command and a configuration in the folder.
fn agent(command: &str, folder: &Path, port: u16, collector: u16) -> Command {
    let text = format!(
        "[store]\nsqlite = \"agent.db\"\n[broker]\naddresses = [\"127.0.0.1:{port}\"]\n\
         [telemetry]\notlp_endpoint = \"http://127.0.0.1:{collector}\"\n"
    );
    std::fs::write(folder.join("agent.toml"), text).expect("configuration");
    let mut agent = Command::new(env!("CARGO_BIN_EXE_pdm-agent"));
    agent.args([command, "--config"]).arg(folder.join("agent.toml"));
    agent
}

fn run(folder: &Path, port: u16, collector: u16) -> Child {
    let mut agent = agent("run", folder, port, collector);
    Child::start(agent.stdout(Stdio::null()).stderr(Stdio::null()))
}

/// The agent has judged `first`, and `events` once it listens, when this comes back.
async fn judge(port: u16, first: &Event, events: &[Event]) {
    let mut client = Client::connect(port, "test", &["pdm/v1/+/+/+/diagnosis"]).await;
    let deadline = tokio::time::Instant::now() + Duration::from_mins(4);
    while client.heard_on("/diagnosis").is_empty() {
        assert!(tokio::time::Instant::now() < deadline, "the agent does not listen");
        client.send(std::slice::from_ref(first)).await;
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
    client.send(events).await;
    until("judgements", 60, || client.heard_on("/diagnosis").len() > events.len()).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_collector_receives_a_span_for_the_judgement_each_node_and_each_call() {
    let name = "a_collector_receives_a_span_for_the_judgement_each_node_and_each_call";
    let Some(broker) = Mosquitto::start(name, Persistence::Memory) else { return };
    let folder = tempfile::tempdir().expect("folder");
    let (port, received) = collector().await;
    let mut agent = run(folder.path(), broker.port(), port);
    let (well, mut fast) = (healthy(1), event(2));
    fast.trend.acceleration_detected = true;
    judge(broker.port(), &well, std::slice::from_ref(&fast)).await;
    assert!(agent.terminate().success());

    let spans = spans(&received);
    let roots: Vec<&Span> = spans.iter().filter(|span| span.parent_span_id.is_empty()).collect();
    assert_eq!(roots.len(), 2, "one for each judgement");
    let of = |event: &Event| {
        let id = event.event_id.to_string();
        let root = roots.iter().find(|root| told(&root.attributes)["pdm.event_id"] == id);
        *root.expect("the event's")
    };
    let nodes = |root: &Span| -> Vec<String> {
        below(&spans, root).iter().map(|span| span.name.clone()).collect()
    };
    let normal = of(&well);
    assert_eq!(nodes(normal), ["load_memory", "reasoning", "parse_diagnosis", "save_memory"]);
    assert_eq!(told(&normal.attributes)["pdm.risk_level"], "Normal");

    let root = of(&fast);
    let about = told(&root.attributes);
    assert_eq!(root.name, "invoke_agent pdm-agent");
    assert_eq!(about["gen_ai.operation.name"], "invoke_agent");
    assert_eq!(about["pdm.equipment_id"], "P-101");
    assert_eq!(about["pdm.risk_level"], "Warning");
    let nodes = nodes(root);
    assert_eq!(nodes[..3], ["load_memory", "reasoning", "tool_executor"]);
    let ends = ["parse_diagnosis", "generate_report", "generate_work_order", "save_memory"];
    assert_eq!(nodes[nodes.len() - 4..], ends);
    let executors = below(&spans, root).into_iter().filter(|span| span.name == "tool_executor");
    let calls: Vec<&Span> = executors.flat_map(|node| below(&spans, node)).collect();
    assert!(calls.len() >= 2, "two rounds of research: {nodes:?}");
    for call in &calls {
        let about = told(&call.attributes);
        assert_eq!(about["gen_ai.operation.name"], "execute_tool");
        assert_eq!(call.name, format!("execute_tool {}", about["gen_ai.tool.name"]));
        assert!(about["gen_ai.tool.call.id"].starts_with(&fast.event_id.to_string()), "{about:?}");
        assert_eq!(call.trace_id, root.trace_id);
        assert!(call.end_time_unix_nano >= call.start_time_unix_nano);
    }
    let resource = &received.lock().expect("lock")[0].resource_spans[0].resource;
    let service = told(&resource.as_ref().expect("a resource").attributes);
    assert_eq!(service["service.name"], "pdm-agent");
    assert_eq!(service["service.instance.id"], "pdm-agent");
}

/// A collector that is away holds up neither a judgement nor the stop.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn without_its_collector_the_agent_judges_and_stops_as_ever() {
    let name = "without_its_collector_the_agent_judges_and_stops_as_ever";
    let Some(broker) = Mosquitto::start(name, Persistence::Memory) else { return };
    let folder = tempfile::tempdir().expect("folder");
    let mut agent = run(folder.path(), broker.port(), free_port());
    judge(broker.port(), &healthy(1), &[event(2), event(3)]).await;
    assert!(agent.terminate().success());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn check_tells_whether_the_collector_answers() {
    let name = "check_tells_whether_the_collector_answers";
    let Some(broker) = Mosquitto::start(name, Persistence::Memory) else { return };
    let folder = tempfile::tempdir().expect("folder");
    let config = |collector| agent("check", folder.path(), broker.port(), collector);
    // the store is looked at as it is
    let migrated = agent("migrate", folder.path(), broker.port(), 1).status().expect("runs");
    assert!(migrated.success());
    let (port, received) = collector().await;
    let output = config(port).output().expect("runs");
    let told = String::from_utf8_lossy(&output.stdout);
    let line = format!("ok    trace collector http://127.0.0.1:{port}/v1/traces");
    assert!(output.status.success() && told.contains(&line), "{output:?}");
    assert_eq!(spans(&received), [], "no span is made up");
    let output = config(free_port()).output().expect("runs");
    let told = String::from_utf8_lossy(&output.stdout);
    assert_eq!(output.status.code(), Some(69));
    assert!(told.contains("FAIL  trace collector"), "{told}");
}

/// A model of a script: one look-up, then the ending.
fn looks_up_then_ends(request: &serde_json::Value) -> ModelReply {
    let messages = request["messages"].as_array().expect("messages");
    if !messages.iter().any(|message| message["role"] == "tool") {
        let query = json!({ "query": "외륜 결함" });
        return ModelReply::Calls(vec![("search_equipment_manual".to_owned(), query)]);
    }
    if request["tools"].to_string().contains("\"final_answer\"") {
        let answer = json!({ "answer": "P-101 DE는 경고입니다." });
        return ModelReply::Calls(vec![("final_answer".to_owned(), answer)]);
    }
    let thought = |title: &str| json!({ "title": title, "evidence": ["trend.slope"] });
    let titles = ["initial_screening", "pf_stage", "degradation", "rul", "overall_risk"];
    let conclusion = json!({
        "thoughts": titles.map(thought),
        "fault_type": "outer_race", "fault_stage": 2, "degradation_speed": "moderate",
        "rul_basis": "hours", "risk_level": "Warning", "uncertainty_level": "low",
        "reason": { "ko": "외륜 결함선이 뚜렷함", "en": "The outer race line is clear" },
        "recommendation": { "ko": "교체 계획 수립", "en": "Plan the replacement" },
    });
    ModelReply::Calls(vec![("conclude".to_owned(), conclusion)])
}

/// Checks the spans of an opinion or an answer: two questions to the model and one call, with their
/// tokens.
fn is_run_of(spans: &[Span], run: &str, outcome: &str) {
    let name = format!("invoke_agent {run}");
    let names: Vec<&str> = spans.iter().map(|span| span.name.as_str()).collect();
    let root = spans.iter().find(|span| span.name == name);
    let root = root.unwrap_or_else(|| panic!("no {name} among {names:?}"));
    let about = told(&root.attributes);
    assert!(root.parent_span_id.is_empty(), "{about:?}");
    assert_eq!(about["gen_ai.operation.name"], "invoke_agent");
    assert_eq!(about["gen_ai.agent.name"], run);
    assert_eq!(about["gen_ai.request.model"], "gpt-4o");
    assert_eq!(about["pdm.outcome"], outcome);
    let below = below(spans, root);
    let named = |begin: &str| below.iter().filter(|span| span.name.starts_with(begin)).count();
    assert_eq!((named("chat "), named("execute_tool search_equipment_manual")), (2, 1), "{run}");
    let tokens = |span: &Span, name: &str| told(&span.attributes)[name].clone();
    let both = ["gen_ai.usage.input_tokens", "gen_ai.usage.output_tokens"];
    assert_eq!(both.map(|name| tokens(root, name)), ["200", "40"]);
    for chat in below.iter().filter(|span| span.name == "chat gpt-4o") {
        assert_eq!(both.map(|name| tokens(chat, name)), ["100", "20"]);
        assert_eq!(tokens(chat, "gen_ai.response.finish_reasons"), "tool_calls");
        assert_eq!(chat.kind, 3, "a client's");
    }
}

/// R-AGENT-12: an opinion and an answer of the chat are runs of an agent, with their questions to
/// the model, their calls and their tokens, by OpenTelemetry's conventions; cost and time are
/// metrics.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_opinion_and_an_answer_have_spans_with_their_questions_calls_and_tokens() {
    let name = "an_opinion_and_an_answer_have_spans_with_their_questions_calls_and_tokens";
    let Some(broker) = Mosquitto::start(name, Persistence::Memory) else { return };
    let folder = tempfile::tempdir().expect("folder");
    let (port, received) = collector().await;
    let model = ModelStandIn::answering(looks_up_then_ends);
    let mut command = agent("run", folder.path(), broker.port(), port);
    let file = folder.path().join("agent.toml");
    let (http, address) = (free_port(), model.base_url());
    let text = std::fs::read_to_string(&file).expect("read");
    let more = format!(
        "[http]\nlisten = \"127.0.0.1:{http}\"\n[reasoner]\nbase_url = {address:?}\ndialect = \
         \"native\"\n"
    );
    std::fs::write(&file, text + &more).expect("written");
    let mut agent = Child::start(command.stdout(Stdio::null()).stderr(Stdio::null()));
    let fault = event(2);
    judge(broker.port(), &healthy(1), std::slice::from_ref(&fault)).await;
    pdm_agent::service::install_cryptography();
    let (client, root) = (reqwest::Client::new(), format!("http://127.0.0.1:{http}"));
    let get = async |path: &str| {
        client
            .get(format!("{root}{path}"))
            .send()
            .await
            .expect("answers")
            .text()
            .await
            .expect("text")
    };
    let diagnosis = format!("/api/v1/events/{}/diagnosis", fault.event_id);
    for _ in 0..600 {
        let text = get(&diagnosis).await;
        let judged: serde_json::Value = serde_json::from_str(&text).unwrap_or_default();
        if judged["second_opinion"]["stance"] == "agrees" {
            break;
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    let question = json!({ "message": "P-101 DE 상태는?" });
    let answer = client.post(format!("{root}/api/chat/message")).json(&question).send().await;
    let answer: serde_json::Value = answer.expect("answers").json().await.expect("json");
    assert_eq!(answer["by"], "model", "{answer}");
    let metrics = get("/metrics").await;
    assert!(agent.terminate().success());

    let spans = spans(&received);
    is_run_of(&spans, "pdm-opinion", "agrees");
    is_run_of(&spans, "pdm-chat", "model");
    for name in [
        "pdm_agent_model_seconds",
        "pdm_agent_model_tokens_total",
        "pdm_agent_model_cost_micro_usd_total",
        "pdm_agent_opinion_seconds",
        "pdm_agent_opinions_total",
        "pdm_agent_chat_seconds",
        "pdm_agent_chat_answers_total",
    ] {
        assert!(metrics.contains(name), "{name}: {metrics}");
    }
}
