//! R-AGENT-5: with a language model in the loop an agent that is killed (SIGKILL) while a judgement waits goes on
//! with it: at every question to the model, and a moment after every answer. Nothing is lost, and nothing is
//! told twice. The model is a stand-in that answers as scripted; what is stored before the start is judged,
//! so no broker is needed.

mod support;

use std::path::Path;
use std::time::Duration;

use pdm_agent::service::{connect_store, open_store};
use pdm_agent::store::{Incoming, OpinionCounts, Store};
use pdm_harness::{ModelReply, ModelStandIn, free_port};
use pdm_service::clock::{Clock as _, SystemClock};
use pdm_shared::delivery::NotificationReason;
use pdm_shared::diagnosis::{Diagnosis, OpinionStance, Reasoner};
use pdm_shared::event::Event;
use pdm_shared::id::EventId;
use pdm_shared::time::Timestamp;
use serde_json::{Value, json};

use support::{event, settings, start, until};

fn conclusion() -> ModelReply {
    let thought =
        |title: &str| json!({ "title": title, "evidence": ["frequency_domain.bpfo.snr_db"] });
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

/// Two searches and a conclusion, by what the request holds.
fn scripted(request: &Value) -> ModelReply {
    let search = |query: &str| {
        ModelReply::Calls(vec![("search_equipment_manual".to_owned(), json!({ "query": query }))])
    };
    match request["messages"].as_array().map_or(0, Vec::len) {
        0..=2 => search("외륜 결함"),
        3..=4 => search("베어링 교체 절차"),
        _ => conclusion(),
    }
}

/// A store in the folder with one event that waits to be judged.
async fn waiting_event(folder: &Path) -> Event {
    let mut fault = event(1);
    fault.measured_at = SystemClock.now().plus_seconds(-60.0);
    fault.event_id = EventId::at(fault.measured_at.unix_ms());
    let store = open_store(&settings(free_port(), folder).store).await.expect("opens");
    let payload = serde_json::to_string(&fault).expect("json");
    let incoming = Incoming::Event { event: Box::new(fault.clone()), payload, proven: false };
    store.store(&[incoming], SystemClock.now(), "dead").await.expect("stored");
    store.close().await;
    fault
}

fn configured(folder: &Path, model: &ModelStandIn) -> std::path::PathBuf {
    let config = folder.join("agent.toml");
    let text = format!(
        "[broker]\naddresses = [\"127.0.0.1:{}\"]\n[store]\nsqlite = \"agent.db\"\n\
         [judging]\nreasoner = \"llm\"\nwait_s = 600.0\n\
         [reasoner]\nbase_url = {:?}\nmodel = \"stand-in\"\ndialect = \"native\"\n",
        free_port(),
        model.base_url()
    );
    std::fs::write(&config, text).expect("written");
    config
}

async fn judged(store: &dyn Store, event: &Event) -> Diagnosis {
    for _ in 0..3000 {
        if let Some(diagnosis) = store.diagnosis(event.event_id).await.expect("read") {
            return diagnosis;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    panic!("no judgement in a minute")
}

/// How often staff was told of an alarm.
async fn alarms(store: &dyn Store) -> usize {
    let end = Timestamp::parse("2100-01-01T00:00:00Z").expect("a time");
    let told = store.notifications(None, end, 100).await.expect("read");
    told.iter().filter(|one| one.reason == NotificationReason::Raised).count()
}

#[tokio::test]
async fn a_killed_agent_goes_on_with_the_judgement_that_waits_at_every_step() {
    // after so many answers of the model it is killed: at the next question, or so many ms after an answer;
    // the last answer makes the judgement
    let at_questions = (0..3).map(|answers| (answers, None));
    let after_answers = (1..=3).flat_map(|answers| [0, 5, 20, 60].map(|ms| (answers, Some(ms))));
    for (answers, pause_ms) in at_questions.chain(after_answers) {
        let folder = tempfile::tempdir().expect("folder");
        let fault = waiting_event(folder.path()).await;
        let mut asked = 0;
        let model = ModelStandIn::answering(move |request| {
            asked += 1;
            if asked > answers && pause_ms.is_none() {
                ModelReply::Hangs
            } else {
                scripted(request)
            }
        });
        let mut agent = start(&configured(folder.path(), &model));
        let wanted = if pause_ms.is_none() { answers + 1 } else { answers };
        let point = format!("question {wanted}");
        until(&point, 60, || model.requests().len() >= wanted).await;
        tokio::time::sleep(Duration::from_millis(pause_ms.unwrap_or(0))).await;
        agent.kill();
        let store =
            connect_store(&settings(free_port(), folder.path()).store).await.expect("opens");
        let told = format!("killed after {answers} answers, {pause_ms:?} ms");
        if pause_ms.is_none() {
            let before = store.diagnosis(fault.event_id).await.expect("read");
            assert_eq!(before, None, "{told}: it waited");
        }
        let next = ModelStandIn::answering(scripted);
        let mut agent = start(&configured(folder.path(), &next));
        let diagnosis = judged(store.as_ref(), &fault).await;
        assert_eq!(diagnosis.reasoner, Reasoner::Llm, "{told}");
        let opinion = diagnosis.second_opinion.expect("an opinion");
        assert_eq!(opinion.stance, Some(OpinionStance::Agrees), "{told}: {opinion:?}");
        assert_eq!(opinion.tools.len(), 2, "{told}: each look-up once: {:?}", opinion.tools);
        // an answer that was not stored yet is asked for again, an older one never
        let again = next.requests().len();
        assert!(again <= 3 - answers + 1, "{told}: {again} questions");
        assert_eq!((model.violations(), next.violations()), (Vec::new(), Vec::new()), "{told}");
        let counts = store.opinion_counts().await.expect("counts");
        assert_eq!(counts, OpinionCounts { agrees: 1, ..OpinionCounts::default() }, "{told}");
        assert_eq!(alarms(store.as_ref()).await, 1, "{told}: told once");
        let left = store.unjudged(10).await.expect("read");
        assert!(left.is_empty(), "{told}: nothing is left behind");
        store.close().await;
        agent.kill();
    }
}
