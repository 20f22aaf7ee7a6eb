//! A dialogue of twenty turns by the script of aimock (`@copilotkit/aimock` of the registry of
//! npm), which answers only what its script has.

use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::Duration;

use pdm_harness::{Child, free_port, not_run, program};
use pdm_reasoner::chat::{AnsweredBy, Said};
use pdm_reasoner::client::Client;
use pdm_reasoner::dialect::Dialect;
use pdm_reasoner::settings::ReasonerSettings;
use serde_json::{Value, json};

use crate::plant;

/// Turns of the dialogue; each third one looks something up.
const TURNS: usize = 20;

fn question(turn: usize) -> String {
    format!("질문 {turn}호: 교체 절차는?")
}

fn answer(turn: usize) -> String {
    format!("{turn}호의 답: 외륜을 교체합니다.")
}

fn looks_up(turn: usize) -> bool {
    turn.is_multiple_of(3)
}

/// The script: what follows a look-up comes first, because the question still stands before it.
fn script() -> Value {
    let call = |id: String, name: &str, arguments: Value| json!({ "toolCalls": [{ "id": id, "name": name, "arguments": arguments }] });
    let ends = |turn: usize| {
        call(format!("end_{turn}"), "final_answer", json!({ "answer": answer(turn) }))
    };
    let mut fixtures = Vec::new();
    for turn in (1..=TURNS).filter(|turn| looks_up(*turn)) {
        let follows = json!({ "toolCallId": format!("search_{turn}") });
        fixtures.push(json!({ "match": follows, "response": ends(turn) }));
    }
    for turn in 1..=TURNS {
        let search = call(format!("search_{turn}"), plant::SEARCH, json!({ "query": "교체" }));
        let response = if looks_up(turn) { search } else { ends(turn) };
        fixtures.push(json!({ "match": { "userMessage": question(turn) }, "response": response }));
    }
    json!({ "fixtures": fixtures })
}

/// aimock, which the test command fetches.
fn start(test: &str, folder: &std::path::Path) -> Option<(Child, String)> {
    let node = program(test, "node")?;
    let place = std::env::var_os("PDM_AIMOCK").map(PathBuf::from);
    let Some(place) = place.filter(|place| place.join("dist/cli.js").is_file()) else {
        not_run(test, "aimock is not there (tests/run fetches it)");
        return None;
    };
    let fixtures = folder.join("script.json");
    std::fs::write(&fixtures, script().to_string()).expect("written");
    let port = free_port();
    let mut command = Command::new(node);
    command.arg(place.join("dist/cli.js")).args(["--strict", "--log-level", "silent"]);
    command.args(["--port", &port.to_string(), "--fixtures"]).arg(&fixtures);
    let process = Child::start(command.stdout(Stdio::null()).stderr(Stdio::null()));
    Some((process, format!("http://127.0.0.1:{port}")))
}

/// R-CHAT
#[tokio::test]
async fn a_dialogue_of_twenty_turns_by_a_script_is_answered_turn_by_turn() {
    let name = "a_dialogue_of_twenty_turns_by_a_script_is_answered_turn_by_turn";
    let folder = tempfile::tempdir().expect("folder");
    let Some((_process, root)) = start(name, folder.path()) else { return };
    let _there = rustls::crypto::ring::default_provider().install_default();
    let http = reqwest::Client::new();
    let requests = async || -> Option<Value> {
        http.get(format!("{root}/v1/_requests")).send().await.ok()?.json().await.ok()
    };
    for _ in 0..300 {
        if requests().await.is_some() {
            break;
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    let settings =
        ReasonerSettings { base_url: format!("{root}/v1"), ..ReasonerSettings::default() };
    let client = Client::new(&settings, None).expect("a client");
    let mut history: Vec<Said> = Vec::new();
    for turn in 1..=TURNS {
        let asked = question(turn);
        let told = plant::answer(&client, Dialect::Native, (&asked, history.clone())).await;
        assert_eq!((told.by, told.answer.as_str()), (AnsweredBy::Model, answer(turn).as_str()));
        assert!(told.prompt_tokens > 0, "the usage at the end of the stream is read");
        history.extend(plant::turn(&asked, &told.answer));
    }
    let seen = requests().await.expect("answers").as_array().map_or(0, Vec::len);
    assert_eq!(seen, TURNS + TURNS / 3, "a look-up is one question more");
    // what the script does not have is an error of the server, and the chat answers from records
    let other = plant::answer(&client, Dialect::Native, ("날씨는?", Vec::new())).await;
    assert_ne!(other.by, AnsweredBy::Model, "{other:?}");
    let seen = requests().await.expect("answers");
    let seen = seen.as_array().expect("a list");
    for request in seen {
        let mut body = request["body"].clone();
        // aimock's own note on the route, which no client sends
        body.as_object_mut().expect("a request").remove("_endpointType");
        assert_eq!(pdm_harness::request_violations(&body), Vec::<String>::new());
    }
}
