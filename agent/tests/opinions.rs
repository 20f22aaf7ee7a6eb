//! R-AGENT-5: a language model beside the expert, in the running service. The model is a stand-in
//! that answers as scripted; every request is held to the published form.

mod support;

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use pdm_agent::service::{Agent, Handle, connect_store};
use pdm_agent::settings::AgentSettings;
use pdm_harness::{ModelReply, ModelStandIn, Mosquitto, Persistence};
use pdm_reasoner::settings::{DialectChoice, ReasonerSettings};
use pdm_service::clock::SystemClock;
use pdm_shared::diagnosis::{OpinionStance, SecondOpinion};
use pdm_shared::event::Event;
use pdm_shared::risk::RiskLevel;
use pdm_store::{OpinionCounts, Store};
use serde_json::{Value, json};

use support::{Client, event, settings, subscribed};

fn with_model(port: u16, folder: &Path, model: &ModelStandIn) -> AgentSettings {
    let mut settings = settings(port, folder);
    settings.reasoner = Some(ReasonerSettings {
        base_url: model.base_url(),
        dialect: DialectChoice::Native,
        timeout_s: 60.0,
        ..ReasonerSettings::default()
    });
    settings
}

async fn start(settings: &AgentSettings) -> Handle {
    Agent::start(settings.clone(), Arc::new(SystemClock)).await.expect("starts")
}

fn conclusion(risk: &str) -> Value {
    let thought =
        |title: &str| json!({ "title": title, "evidence": ["frequency_domain.bpfo.snr_db"] });
    let titles = ["initial_screening", "pf_stage", "degradation", "rul", "overall_risk"];
    json!({
        "thoughts": titles.map(thought),
        "fault_type": "outer_race", "fault_stage": 2, "degradation_speed": "moderate",
        "rul_basis": "hours", "risk_level": risk, "uncertainty_level": "low",
        "reason": { "ko": "외륜 결함선이 {frequency_domain.bpfo.snr_db} dB로 뚜렷함",
                    "en": "The outer race line is clear at {frequency_domain.bpfo.snr_db} dB" },
        "recommendation": { "ko": "교체 계획 수립", "en": "Plan the replacement" },
    })
}

fn concludes(risk: &str) -> ModelReply {
    ModelReply::Calls(vec![("conclude".to_owned(), conclusion(risk))])
}

fn searches(query: &str) -> ModelReply {
    ModelReply::Calls(vec![("search_equipment_manual".to_owned(), json!({ "query": query }))])
}

/// A conversation of a search and a conclusion, whatever the model was asked before.
fn searching_then(risk: &'static str) -> impl FnMut(&Value) -> ModelReply + Send + 'static {
    move |request| {
        let messages = request["messages"].as_array().map_or(0, Vec::len);
        if messages <= 2 { searches("외륜 결함") } else { concludes(risk) }
    }
}

/// The opinion on an event, once it has ended.
async fn opinion_on(store: &Store, event: &Event) -> SecondOpinion {
    for _ in 0..3000 {
        let diagnosis = store.history().diagnosis(event.event_id).await.expect("read");
        if let Some(opinion) = diagnosis.and_then(|diagnosis| diagnosis.second_opinion) {
            return opinion;
        }
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    }
    panic!("no opinion in a minute")
}

#[tokio::test]
async fn an_opinion_agrees_raises_or_lowers_and_never_changes_what_the_rules_tell() {
    let name = "an_opinion_agrees_raises_or_lowers_and_never_changes_what_the_rules_tell";
    for (risk, stance) in [
        ("Warning", OpinionStance::Agrees),
        ("Critical", OpinionStance::Raises),
        ("Normal", OpinionStance::Lowers),
    ] {
        let Some(broker) = Mosquitto::start(name, Persistence::Memory) else { return };
        let folder = tempfile::tempdir().expect("folder");
        let model = ModelStandIn::answering(searching_then(risk));
        let settings = with_model(broker.port(), folder.path(), &model);
        let agent = start(&settings).await;
        let mut progress = subscribed(&agent).await;
        let mut client = Client::connect(broker.port(), "gw", &["pdm/v1/#"]).await;
        let fault = event(1);
        client.send(std::slice::from_ref(&fault)).await;
        progress.wait_for(|now| now.judged == 1).await.expect("judged");
        let store = connect_store(&settings.store).await.expect("opens");
        let opinion = opinion_on(&store, &fault).await;
        assert_eq!(opinion.stance, Some(stance), "{opinion:?}");
        let reason = opinion.reason.expect("a reason");
        assert!(reason.ko.contains("18.2 dB"), "the figure is the event's: {}", reason.ko);
        assert_eq!(opinion.tools.len(), 1);
        let diagnosis =
            store.history().diagnosis(fault.event_id).await.expect("read").expect("judged");
        assert_eq!(diagnosis.risk_level, RiskLevel::Warning, "the rules' risk stands");
        assert_eq!(diagnosis.disagreement.is_some(), stance != OpinionStance::Agrees);
        let episode = store.episodes().episode(&fault.key()).await.expect("read");
        let alarm = episode.and_then(|one| one.alarm).expect("an alarm");
        assert_eq!(alarm.risk, RiskLevel::Warning, "the alarm stands as the rules raised it");
        // staff hears of a higher risk, by a message of its own, and the topic gets the new
        // diagnosis
        support::until("the diagnosis with its opinion", 20, || {
            client.heard_on("/diagnosis").iter().any(|text| text.contains("second_opinion"))
        })
        .await;
        let told = client.heard_on("/notification");
        let raised = told.iter().filter(|text| text.contains("언어 모델")).count();
        assert_eq!(raised, usize::from(stance == OpinionStance::Raises), "{told:?}");
        let usage = store.opinions().model_usage(diagnosis.judged_at).await.expect("read");
        assert_eq!((usage.calls, usage.tokens()), (2, 240));
        assert_eq!(model.violations(), Vec::<String>::new());
        store.close().await;
        agent.stop().await.expect("stops");
    }
}

/// Whatever the model does, the expert judges and tells as without it, and the service stops.
#[tokio::test]
async fn a_model_that_hangs_delays_no_judgement_and_no_stop() {
    let name = "a_model_that_hangs_delays_no_judgement_and_no_stop";
    let Some(broker) = Mosquitto::start(name, Persistence::Memory) else { return };
    let folder = tempfile::tempdir().expect("folder");
    let model = ModelStandIn::scripted(vec![ModelReply::Hangs]);
    let mut settings = with_model(broker.port(), folder.path(), &model);
    if let Some(reasoner) = &mut settings.reasoner {
        reasoner.opinion.parallel = 50;
        reasoner.timeout_s = 3600.0;
        reasoner.per_event.seconds = 3600.0;
    }
    let agent = start(&settings).await;
    let mut progress = subscribed(&agent).await;
    let mut client = Client::connect(broker.port(), "gw", &[]).await;
    // fifty bearings whose model runs hang, then many more windows of all of them
    let bearing = |number: u64, sequence: u64| {
        let mut event = event(sequence);
        event.bearing_id = format!("B{number}").parse().expect("a name");
        event
    };
    let first: Vec<Event> = (1..=50).map(|number| bearing(number, number)).collect();
    client.send(&first).await;
    let asked = &model;
    support::until("all runs to hang", 60, || asked.requests().len() >= 50).await;
    let rest: Vec<Event> = (51..=1000).map(|number| bearing(number % 50 + 1, number)).collect();
    client.send(&rest).await;
    let judged = progress.wait_for(|now| now.judged == 1000);
    tokio::time::timeout(std::time::Duration::from_mins(2), judged)
        .await
        .expect("judged while the model hangs")
        .expect("the agent runs");
    let store = connect_store(&settings.store).await.expect("opens");
    let counts = store.opinions().opinion_counts().await.expect("counts");
    assert_eq!(counts.agrees + counts.raises + counts.lowers + counts.failed, 0, "{counts:?}");
    assert!(counts.waiting >= 50, "{counts:?}");
    store.close().await;
    agent.stop().await.expect("stops");
    assert_eq!(model.violations(), Vec::<String>::new());
}

/// R-AGENT-3: an agent that ends in the midst of an opinion goes on with it, wherever it was.
#[tokio::test]
async fn an_opinion_goes_on_after_the_agent_was_stopped_at_any_question() {
    let name = "an_opinion_goes_on_after_the_agent_was_stopped_at_any_question";
    for stopped_at in 1..=3 {
        let Some(broker) = Mosquitto::start(name, Persistence::Memory) else { return };
        let folder = tempfile::tempdir().expect("folder");
        let script = |request: &Value| {
            let messages = request["messages"].as_array().map_or(0, Vec::len);
            match messages {
                0..=2 => searches("외륜 결함"),
                3..=4 => searches("베어링 교체 절차"),
                _ => concludes("Warning"),
            }
        };
        let asked = Arc::new(AtomicUsize::new(0));
        let counting = Arc::clone(&asked);
        let model = ModelStandIn::answering(move |request| {
            if counting.fetch_add(1, Ordering::SeqCst) + 1 >= stopped_at {
                return ModelReply::Hangs;
            }
            script(request)
        });
        let settings = with_model(broker.port(), folder.path(), &model);
        let agent = start(&settings).await;
        subscribed(&agent).await;
        let mut client = Client::connect(broker.port(), "gw", &[]).await;
        let fault = event(1);
        client.send(std::slice::from_ref(&fault)).await;
        support::until("the question at which it is stopped", 30, || {
            asked.load(Ordering::SeqCst) >= stopped_at
        })
        .await;
        agent.stop().await.expect("stops");
        let next = ModelStandIn::answering(script);
        let settings = with_model(broker.port(), folder.path(), &next);
        let agent = start(&settings).await;
        let store = connect_store(&settings.store).await.expect("opens");
        let opinion = opinion_on(&store, &fault).await;
        assert_eq!(opinion.stance, Some(OpinionStance::Agrees));
        assert_eq!(opinion.tools.len(), 2, "each look-up once: {:?}", opinion.tools);
        let left = next.requests().len();
        assert_eq!(left, 4 - stopped_at, "the questions before are not asked again");
        assert_eq!((model.violations(), next.violations()), (Vec::new(), Vec::new()));
        let counts = store.opinions().opinion_counts().await.expect("counts");
        assert_eq!(counts, OpinionCounts { agrees: 1, ..OpinionCounts::default() });
        store.close().await;
        agent.stop().await.expect("stops");
    }
}
