//! Input from outside is taken or refused; it never causes a panic and never ends the flow: the
//! entry points of `agent/fuzz` with generated input, and hostile payloads through a real broker.

mod support;

use std::path::Path;
use std::sync::{Arc, LazyLock};

use pdm_agent::service::Agent;
use pdm_agent::settings::{AgentSettings, rules};
use pdm_expert::case::{Case, Memory, PastEvent};
use pdm_expert::research;
use pdm_expert::rules::Rules;
use pdm_harness::{Mosquitto, Persistence};
use pdm_knowledge::Collection;
use pdm_knowledge::chunk::cut;
use pdm_knowledge::document::Document;
use pdm_knowledge::words::query_vector;
use pdm_report::settings::ReportSettings;
use pdm_report::{compose, gather, html, report, work_order};
use pdm_service::clock::SystemClock;
use pdm_shared::delivery::{DEAD_LETTER_HEAD_BYTES, DeadLetter};
use pdm_shared::event::Event;
use pdm_shared::text::Language;
use pdm_tools::spec::statement::Statement;
use pdm_tools::spec::template::Address;
use pdm_tools::{Call, Catalogue, ExecutorResources, Runtime, ToolSpec};
use proptest::prelude::*;
use serde_json::{Value, json};

use support::{Client, event, healthy, settings, subscribed, topic, until};

const CONFIG: &str = include_str!("../../config/agent.toml");
const TOOL: &str = include_str!("../../config/tools/notify_maintenance_staff.yaml");
const GUIDE: &str = include_str!("../../config/knowledge/equipment_manual/em-02.md");

const RULES: &str = include_str!("../../config/diagnosis.toml");
const EVENT: &str = include_str!("../../config/examples/event.json");
static TOOLS: LazyLock<Runtime> =
    LazyLock::new(|| Runtime::new(Catalogue::shipped().0, ExecutorResources::default()));

/// Calls every shipped tool with these arguments; waits between attempts take no time.
fn call(arguments: &Value) {
    let mut paused = tokio::runtime::Builder::new_current_thread();
    let paused = paused.enable_time().start_paused(true).build().expect("a runtime");
    paused.block_on(async {
        for tool in TOOLS.catalogue().current().names() {
            let (id, tool, arguments) = ("1".to_owned(), tool.clone(), arguments.clone());
            let _answer = TOOLS.call(&Call { id, tool, arguments }).await;
        }
    });
}

/// Judges an event and writes it up in both languages.
fn judged(event: Event) {
    let (rules, memory, now) = (Rules::default(), Memory::default(), event.measured_at);
    let case = Case { event: &event, memory: &memory, now };
    let diagnosis = pdm_expert::judge(&case, &rules).diagnosis;
    let past = [PastEvent { event: event.clone(), judged: None }];
    let settings = ReportSettings::default();
    let case = gather::fresh(event, diagnosis, &past, &settings, &rules.lead_time);
    let (report, order) = (report(&case), work_order::work_order(&case));
    for language in [Language::Ko, Language::En] {
        html::html(&compose::document(&report, language)).expect("a page");
        if let Some(order) = &order {
            html::html(&work_order::document(order, language)).expect("a page");
        }
    }
}

/// The nested, long and false inputs of a fuzz target, by their names.
fn hostile(target: &str) -> Vec<(String, Vec<u8>)> {
    let folder = format!("{}/fuzz/hostile/{target}", env!("CARGO_MANIFEST_DIR"));
    let files = std::fs::read_dir(folder).expect("seeds").map(|file| file.expect("entry").path());
    files.map(|file| (file.display().to_string(), std::fs::read(&file).expect("a seed"))).collect()
}

/// The nested, long and false inputs of `agent/fuzz/hostile`.
#[test]
fn every_hostile_seed_is_read_or_refused() {
    let texts = |target: &str| {
        let files = hostile(target).into_iter();
        files.map(|(_, bytes)| String::from_utf8_lossy(&bytes).into_owned()).collect::<Vec<_>>()
    };
    for text in texts("configuration") {
        let _read = AgentSettings::parse(Path::new("agent.toml"), &text);
        let _read = rules::parse(Path::new("diagnosis.toml"), &text);
    }
    for text in texts("tool") {
        let _read = ToolSpec::parse(Path::new("tool.yaml"), &text);
    }
    for text in texts("document") {
        document(&text);
    }
    for text in texts("call") {
        asked(&text);
        if let Ok(arguments) = serde_json::from_str(&text) {
            call(&arguments);
        }
    }
    for text in texts("judge") {
        if let Ok(event) = serde_json::from_str::<Event>(&text)
            && event.check().is_ok()
        {
            judged(event);
        }
    }
}

/// Reads any text as a document, and as a question.
fn document(text: &str) {
    let _words = query_vector(text);
    if let Ok(read) = Document::parse(Path::new("a.md"), text, Collection::EquipmentManual) {
        for chunk in cut(&read) {
            let (id, source) = (chunk.id.clone(), chunk.citation());
            let document =
                research::Document { id, title: chunk.head(), text: chunk.body(), source };
            for learnt in research::facts_of(&document) {
                assert!(document.text.contains(&learnt.quote), "{learnt:?}");
            }
        }
    }
}

/// Reads any text as a statement, as an address, and as a part of an address.
fn asked(text: &str) {
    let _statement = Statement::read(text);
    let _address = Address::read(text);
    let arguments = json!({ "id": text });
    let fixed = Address::read("https://plant.local/api/{id}?q={id}").expect("an address");
    if let Ok(url) = fixed.fill(arguments.as_object().expect("a mapping")) {
        assert_eq!(url.host_str(), Some("plant.local"));
        assert!(url.path().starts_with("/api/"), "{url}");
    }
}

/// `text` with one piece in the place of another.
fn damaged(text: &str, at: usize, length: usize, with: &str) -> String {
    let letters: Vec<char> = text.chars().collect();
    let at = at % (letters.len() + 1);
    let end = (at + length).min(letters.len());
    letters[..at].iter().chain(&with.chars().collect::<Vec<_>>()).chain(&letters[end..]).collect()
}

fn piece() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec![
        "",
        "-1",
        "1e999",
        "\"\"",
        "[",
        "{",
        "=",
        "\n[",
        "가",
        "0.0.0.0:1",
        "&a",
    ])
}

proptest! {
    #[test]
    fn any_text_is_a_configuration_or_an_error(text in "\\PC{0,300}") {
        let _read = AgentSettings::parse(Path::new("agent.toml"), &text);
    }

    #[test]
    fn a_damaged_configuration_is_read_or_refused(at in 0usize..9000, length in 0usize..12, with in piece()) {
        let shown = CONFIG.replace("\n# ", "\n");
        for text in [CONFIG, &shown] {
            let _read = AgentSettings::parse(Path::new("agent.toml"), &damaged(text, at, length, with));
        }
    }

    #[test]
    fn a_damaged_tool_is_read_or_refused(at in 0usize..2000, length in 0usize..12, with in piece()) {
        let _read = ToolSpec::parse(Path::new("tool.yaml"), &damaged(TOOL, at, length, with));
    }

    #[test]
    fn a_damaged_document_is_cut_or_refused(at in 0usize..4000, length in 0usize..40, with in piece()) {
        document(&damaged(GUIDE, at, length, with));
    }

    #[test]
    fn damaged_rules_are_read_or_refused(at in 0usize..9000, length in 0usize..12, with in piece()) {
        let _read = rules::parse(Path::new("diagnosis.toml"), &damaged(RULES, at, length, with));
    }

    #[test]
    fn any_arguments_are_answered_or_refused(
        text in "\\PC{0,30}", number in any::<f64>(), whole in any::<i64>(), depth in 0usize..60,
    ) {
        let deep = (0..depth).fold(json!(text), |inside, _| json!([inside]));
        for value in [json!(text), json!(number), json!(whole), deep, Value::Null] {
            call(&value);
            call(&json!({ "query": value, "top_k": value, "message": value, "x": value }));
        }
    }

    #[test]
    fn no_argument_moves_an_address_and_any_statement_is_read_or_refused(text in "\\PC{0,60}") {
        asked(&text);
    }

    #[test]
    fn any_valid_event_is_judged_and_written_up(which in 0usize..200, number in prop::num::f64::ANY) {
        let places: Vec<usize> = EVENT.match_indices(": ").map(|(at, _)| at + 2).collect();
        let at = places[which % places.len()];
        let end = EVENT[at..].find([',', '\n']).map_or(EVENT.len(), |end| at + end);
        for with in [json!(number).to_string(), json!(number.abs() % 1.0).to_string(), "null".into()] {
            let text = format!("{}{with}{}", &EVENT[..at], &EVENT[end..]);
            if let Ok(event) = serde_json::from_str::<Event>(&text)
                && event.check().is_ok()
            {
                judged(event);
            }
        }
    }
}

/// R-AGENT-1: each is in the dead letters with topic, reason and its first 4 KiB, and the events
/// after it are judged. What is larger than the agent takes is left out by the broker.
#[tokio::test(flavor = "multi_thread")]
async fn hostile_payloads_end_in_the_dead_letters_and_the_flow_goes_on() {
    let name = "hostile_payloads_end_in_the_dead_letters_and_the_flow_goes_on";
    let Some(broker) = Mosquitto::start(name, Persistence::Memory) else { return };
    let folder = tempfile::tempdir().expect("folder");
    let mut client = Client::connect(broker.port(), "test", &["pdm/v1/dead-letter"]).await;
    let agent = Agent::start(settings(broker.port(), folder.path()), Arc::new(SystemClock))
        .await
        .expect("starts");
    let progress = subscribed(&agent).await;
    let right = serde_json::to_string(&event(7)).expect("JSON");
    let hostile: Vec<(&str, Vec<u8>)> = vec![
        ("allowed are at most 131072", b"[".repeat(300_000)),
        ("not an event", b"[".repeat(130_000)),
        ("not an event", format!("{{\"zz\":{}", "{\"a\":".repeat(20_000)).into_bytes()),
        ("not UTF-8", [right.as_bytes(), &[0xff, 0xc0, 0x80]].concat()),
        (
            "not an event",
            right.replacen("\"samples\":", "\"samples\":1e999,\"s\":", 1).into_bytes(),
        ),
        ("not an event", right.replacen("\"sequence\":7", "\"sequence\":1e40", 1).into_bytes()),
        ("allowed are at most 131072", b"x".repeat(900_000)),
        ("not an event", Vec::new()),
    ];
    let count = hostile.len();
    let at = topic(&event(7));
    client.publish(hostile.iter().map(|(_, payload)| (at.clone(), payload.clone()))).await;
    client.publish([(at.clone(), vec![b'y'; 2 << 20])]).await;
    client.send(&[healthy(1)]).await;
    until("the event behind them", 30, || progress.borrow().judged == 1).await;
    until("the letters", 30, || client.heard_on("dead-letter").len() >= count).await;
    let letters: Vec<DeadLetter> = client
        .heard_on("dead-letter")
        .iter()
        .map(|text| serde_json::from_str(text).expect("a letter"))
        .collect();
    assert_eq!(letters.len(), count);
    // senders are served in turn, and what names no gateway is a sender by itself
    for (reason, payload) in &hostile {
        let of_payload = |letter: &&DeadLetter| {
            letter.payload_bytes == payload.len() as u64 && letter.reason.contains(reason)
        };
        let told = || panic!("no letter of {} bytes: {reason}", payload.len());
        let letter = letters.iter().find(of_payload).unwrap_or_else(told);
        assert_eq!(letter.topic, at);
        // an invalid byte becomes one letter of three bytes
        assert!(
            letter.payload_head.len() <= DEAD_LETTER_HEAD_BYTES + 2,
            "{}",
            letter.payload_head.len()
        );
        if payload.len() > DEAD_LETTER_HEAD_BYTES {
            assert_eq!(letter.payload_head.len(), DEAD_LETTER_HEAD_BYTES);
        }
    }
    let end = agent.stop().await.expect("no part failed");
    assert_eq!((end.stored, end.dead_letters), (1, count as u64));
}
