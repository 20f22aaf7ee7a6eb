//! R-CHAT: sixty questions of technicians to the chat without a language model (`questions.toml`),
//! over HTTP, on the running agent with its own documents, tools and store. What is stored before
//! the start is judged; no broker is needed.
//!
//! A question is right where its answer holds what it must hold and lacks what it must lack.
//! `PDM_PRINT_ANSWERS=1` with `--nocapture` prints every answer.

#[path = "../support/mod.rs"]
mod support;

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use pdm_agent::service::{Agent, Handle, open_store};
use pdm_harness::free_port;
use pdm_knowledge::{Collection, Knowledge, KnowledgeSettings};
use pdm_service::clock::{Clock as _, SystemClock};
use pdm_shared::event::Event;
use pdm_shared::id::{BearingId, EquipmentId};
use pdm_store::Incoming;
use serde::Deserialize;
use serde_json::{Value, json};

use support::{event, healthy, settings};

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Questions {
    question: Vec<Asked>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Asked {
    ask: String,
    #[serde(default)]
    history: Vec<String>,
    holds: Vec<Vec<String>>,
    lacks: Vec<String>,
}

/// Least share of questions that are answered right. Chosen: the aim of the requirement.
const LEAST_RIGHT: f64 = 0.85;

struct Plant {
    agent: Handle,
    url: String,
    client: reqwest::Client,
}

fn of_bearing(mut event: Event, machine: &str) -> Event {
    event.equipment_id = EquipmentId::new(machine).expect("a name");
    event.bearing_id = BearingId::new("DE").expect("a name");
    event
}

/// P-101 in Warning, P-102 and F-301 sound, one gateway, one rota with one person.
async fn plant(folder: &Path) -> Plant {
    let mut settings = settings(free_port(), folder);
    settings.http.listen = "127.0.0.1:0".parse().ok();
    settings.notify = toml::from_str(
        "group_wait_s = 0.0\nrelated_within_min = 0.0\n\
         [[recipient]]\nname = \"kim\"\n\
         [[rota]]\nname = \"line\"\n[[rota.shift]]\nwho = [\"kim\"]\n",
    )
    .expect("settings");
    let store = open_store(&settings.store).await.expect("opens");
    let mut events = vec![event(1)];
    events.push(of_bearing(healthy(2), "P-102"));
    events.push(of_bearing(healthy(3), "F-301"));
    let count = events.len() as u64;
    for mut event in events {
        // a bearing that was measured long ago is told as not measured
        event.measured_at = SystemClock.now().plus_seconds(-60.0);
        let payload = serde_json::to_string(&event).expect("json");
        let incoming = Incoming::Event { event: Box::new(event), payload, proven: false };
        store.intake().store(&[incoming], SystemClock.now(), "dead").await.expect("stored");
    }
    store.close().await;
    let agent = Agent::start(settings, Arc::new(SystemClock)).await.expect("starts");
    let mut progress = agent.progress();
    let judged = progress.wait_for(|now| now.judged == count);
    tokio::time::timeout(Duration::from_mins(1), judged).await.expect("in time").expect("runs");
    let url = format!("http://{}", agent.address().expect("serves"));
    Plant { agent, url, client: reqwest::Client::new() }
}

impl Plant {
    async fn ask(&self, message: &str, history: &[Value]) -> String {
        let body = json!({ "message": message, "history": history });
        let url = format!("{}/api/chat/message", self.url);
        let answer = self.client.post(url).json(&body).send().await.expect("an answer");
        let answer: Value = answer.json().await.expect("json");
        answer["answer"].as_str().unwrap_or_default().to_owned()
    }

    /// The answer to a question after the conversation before it.
    async fn answer(&self, asked: &Asked) -> String {
        let mut history: Vec<Value> = Vec::new();
        for before in &asked.history {
            let answer = self.ask(before, &history).await;
            history.push(json!({ "role": "user", "content": before }));
            history.push(json!({ "role": "assistant", "content": answer }));
        }
        self.ask(&asked.ask, &history).await
    }
}

/// Returns the faults of an answer.
fn wrong(asked: &Asked, answer: &str) -> Vec<String> {
    let misses = asked.holds.iter().filter(|any| !any.iter().any(|one| answer.contains(one)));
    let misses = misses.map(|any| format!("holds none of {any:?}"));
    let holds = asked.lacks.iter().filter(|one| answer.contains(*one));
    misses.chain(holds.map(|one| format!("holds {one:?}"))).collect()
}

/// R-CHAT, R-CHAT-5: what technicians ask is answered from what is known, about the machine that is
/// asked about.
#[tokio::test]
async fn technicians_questions_are_answered_from_what_is_known() {
    let folder = tempfile::tempdir().expect("folder");
    let plant = plant(folder.path()).await;
    let questions: Questions = toml::from_str(include_str!("questions.toml")).expect("questions");
    let prints = std::env::var_os("PDM_PRINT_ANSWERS").is_some();
    let (mut failed, all) = (Vec::new(), questions.question.len());
    for asked in &questions.question {
        let answer = plant.answer(asked).await;
        let wrong = wrong(asked, &answer);
        if prints {
            println!("=== {} {:?}\n{answer}\n{wrong:?}\n", asked.ask, asked.history);
        }
        if !wrong.is_empty() {
            failed.push(format!("{}: {}", asked.ask, wrong.join("; ")));
        }
    }
    plant.agent.stop().await.expect("stops");
    let right = (all - failed.len()) as f64 / all as f64;
    println!("{} of {all} questions right; wrong: {failed:#?}", all - failed.len());
    assert_eq!(all, 60);
    assert!(right >= LEAST_RIGHT, "{failed:#?}");
}

/// R-CHAT: questions about nothing, of any length and in any language are answered as what they
/// are.
#[tokio::test]
async fn bad_questions_are_answered_as_what_they_are() {
    let folder = tempfile::tempdir().expect("folder");
    let plant = plant(folder.path()).await;
    for message in [
        "???",
        "ㅋㅋㅋ",
        "Wie geht es der Pumpe P-999?",
        "泵的状态怎么样",
        "'; DROP TABLE events; --",
        "{{7*7}}",
    ] {
        let answer = plant.ask(message, &[]).await;
        assert!(!answer.is_empty() && !answer.contains("외륜"), "{message}: {answer}");
    }
    let long = "그리스 ".repeat(400);
    assert!(!plant.ask(&long, &[]).await.is_empty());
    plant.agent.stop().await.expect("stops");
}

/// A document of the plant was not found where one of its words asks for records: "교체" was taken
/// for open work alone.
#[tokio::test]
async fn a_document_of_the_plant_answers_beside_the_records_that_share_its_words() {
    let folder = tempfile::tempdir().expect("folder");
    let document = folder.path().join("씰.md");
    std::fs::write(&document, "# 냉각수 펌프 씰\n\n씰은 2년마다 교체한다.\n").expect("written");
    let knowledge = KnowledgeSettings::embedded_in(folder.path());
    let knowledge = Knowledge::open(&knowledge).await.expect("opens");
    let taken = knowledge.ingest(&document, Collection::EquipmentManual).await.expect("ingested");
    assert!(taken.iter().all(|one| one.outcome.is_ok()), "{taken:?}");
    drop(knowledge);
    let plant = plant(folder.path()).await;
    for message in ["씰은 언제 교체하나", "냉각수 펌프 씰 교체 주기"] {
        let answer = plant.ask(message, &[]).await;
        assert!(answer.contains("2년마다 교체한다"), "{message}: {answer}");
    }
    for message in ["P-101 베어링은 언제 교체해야 해?", "열린 작업 목록 보여줘"]
    {
        let answer = plant.ask(message, &[]).await;
        assert!(!answer.contains("2년마다"), "{message}: {answer}");
    }
    plant.agent.stop().await.expect("stops");
}
