//! R-AGENT-5: a language model in the loop (`[judging] reasoner = "llm"`), in the running service
//! on both stores. The model is a stand-in that answers as scripted; every request is held to the
//! published form. Events that are stored before the start are judged, so no broker is needed.

mod support;

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use pdm_agent::service::{Agent, Handle, open_store};
use pdm_agent::settings::{AgentSettings, StorePlace};
use pdm_harness::{ModelReply, ModelStandIn, Postgres, free_port};
use pdm_reasoner::settings::{DialectChoice, ReasonerSettings};
use pdm_service::clock::{Clock as _, SystemClock};
use pdm_service::postgres::PostgresSettings;
use pdm_shared::delivery::{Notification, NotificationReason};
use pdm_shared::diagnosis::{Diagnosis, OpinionStance, Reasoner};
use pdm_shared::event::Event;
use pdm_shared::id::EventId;
use pdm_shared::risk::RiskLevel;
use pdm_shared::time::Timestamp;
use pdm_store::{Incoming, Store};
use serde_json::{Value, json};

use support::{event, healthy, settings};

/// A store on each database: a file, and a server where this machine has one.
fn places(test: &str, folder: &Path) -> Vec<(StorePlace, Option<Postgres>)> {
    let file = (StorePlace::Sqlite(folder.join("agent.db")), None);
    let server = Postgres::start(test).map(|server| {
        let settings = PostgresSettings::at(server.url());
        (StorePlace::Postgres(Box::new(settings)), Some(server))
    });
    std::iter::once(file).chain(server).collect()
}

fn with_model(place: &StorePlace, folder: &Path, model: &ModelStandIn) -> AgentSettings {
    let mut settings = settings(free_port(), folder);
    settings.store.place = place.clone();
    settings.judging.reasoner = Reasoner::Llm;
    // far more than any of these tests takes, so that no wait ends unless a test means it to
    settings.judging.wait_s = 600.0;
    // there is no broker: what is left for it waits in the outbox
    settings.shutdown_grace = Duration::from_secs(1);
    settings.reasoner = Some(ReasonerSettings {
        base_url: model.base_url(),
        model: "stand-in".to_owned(),
        dialect: DialectChoice::Native,
        ..ReasonerSettings::default()
    });
    settings
}

async fn start(settings: &AgentSettings) -> Handle {
    Agent::start(settings.clone(), Arc::new(SystemClock)).await.expect("starts")
}

fn conclusion(risk: &str) -> Value {
    let thought = |title: &str| {
        json!({
            "title": title, "evidence": ["frequency_domain.bpfo.snr_db"],
            "conclusion": { "ko": "외륜 결함선이 {frequency_domain.bpfo.snr_db} dB로 뚜렷하고 33시간 남음",
                            "en": "The outer race line is clear at {frequency_domain.bpfo.snr_db} \
                                dB and 33 h are left" },
        })
    };
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

/// The gate at which a stand-in waits before it answers.
#[derive(Default, Clone)]
struct Gate(Arc<AtomicBool>);

impl Gate {
    fn open(&self) {
        self.0.store(true, Ordering::SeqCst);
    }

    /// Returns a stand-in that answers `at_once` requests at once, and the others when the gate is
    /// open.
    fn model(&self, at_once: usize) -> ModelStandIn {
        let gate = self.clone();
        let mut answered = 0;
        ModelStandIn::answering(move |_| {
            while answered >= at_once && !gate.0.load(Ordering::SeqCst) {
                std::thread::sleep(Duration::from_millis(10));
            }
            answered += 1;
            concludes("Warning")
        })
    }
}

fn messages(request: &Value) -> usize {
    request["messages"].as_array().map_or(0, Vec::len)
}

fn searches(query: &str) -> ModelReply {
    ModelReply::Calls(vec![("search_equipment_manual".to_owned(), json!({ "query": query }))])
}

async fn put(store: &Store, events: &[Event]) {
    let incoming = |event: &Event| Incoming::Event {
        payload: serde_json::to_string(event).expect("json"),
        event: Box::new(event.clone()),
        proven: false,
    };
    let batch: Vec<Incoming> = events.iter().map(incoming).collect();
    store.intake().store(&batch, SystemClock.now(), "dead").await.expect("stored");
}

/// Returns the event as one of this bearing, `seconds_ago` seconds ago.
fn of(bearing: &str, event: Event, seconds_ago: f64) -> Event {
    let measured_at = SystemClock.now().plus_seconds(-seconds_ago);
    Event {
        bearing_id: bearing.parse().expect("a name"),
        event_id: EventId::at(measured_at.unix_ms()),
        measured_at,
        ..event
    }
}

/// Gives the event another remaining life.
fn remaining(event: &mut Event, hours: f64) {
    event.rul.hours = Some(hours);
    event.rul.ci_low_hours = Some(hours * 0.8);
    event.rul.ci_high_hours = Some(hours * 1.2);
}

/// Waits until the store holds what is asked for.
async fn read<T>(what: &str, mut look: impl AsyncFnMut() -> Option<T>) -> T {
    for _ in 0..6000 {
        if let Some(found) = look().await {
            return found;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    panic!("{what}: not within two minutes")
}

async fn judged(store: &Store, event: &Event) -> Diagnosis {
    read("a judgement", async || store.history().diagnosis(event.event_id).await.expect("read"))
        .await
}

/// The judgement once it has an opinion of this stance.
async fn heard(store: &Store, event: &Event, stance: OpinionStance) -> Diagnosis {
    let has = |diagnosis: &Diagnosis| {
        diagnosis.second_opinion.as_ref().is_some_and(|one| one.stance == Some(stance))
    };
    read("an opinion", async || {
        store.history().diagnosis(event.event_id).await.expect("read").filter(has)
    })
    .await
}

async fn alarms(store: &Store) -> Vec<Notification> {
    let end = Timestamp::parse("2100-01-01T00:00:00Z").expect("a time");
    let told = store.pages().notifications(None, end, 1000).await.expect("read");
    told.into_iter().filter(|one| one.reason == NotificationReason::Raised).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn the_verdict_is_part_of_the_judgement_and_the_rules_are_its_floor() {
    let name = "the_verdict_is_part_of_the_judgement_and_the_rules_are_its_floor";
    let folder = tempfile::tempdir().expect("folder");
    for (place, _server) in places(name, folder.path()) {
        for (bearing, risk, stance, told) in [
            ("A", "Warning", OpinionStance::Agrees, RiskLevel::Warning),
            ("R", "Critical", OpinionStance::Raises, RiskLevel::Critical),
            ("L", "Normal", OpinionStance::Lowers, RiskLevel::Warning),
        ] {
            let model = ModelStandIn::answering(move |request| {
                if messages(request) <= 2 { searches("외륜 결함") } else { concludes(risk) }
            });
            let settings = with_model(&place, folder.path(), &model);
            let store = open_store(&settings.store).await.expect("opens");
            let fault = of(bearing, event(1), 60.0);
            put(&store, std::slice::from_ref(&fault)).await;
            let agent = start(&settings).await;
            let diagnosis = judged(&store, &fault).await;
            assert_eq!(diagnosis.reasoner, Reasoner::Llm);
            assert_eq!(diagnosis.risk_level, told, "{risk}");
            let opinion = diagnosis.second_opinion.as_ref().expect("an opinion");
            assert_eq!((opinion.stance, opinion.tools.len()), (Some(stance), 1));
            assert_eq!(diagnosis.disagreement.is_some(), stance != OpinionStance::Agrees);
            for thought in &diagnosis.thoughts {
                let words = thought.model_words.as_ref().expect("words of the model");
                assert!(words.ko.contains("18.2 dB") && !words.ko.contains("33"), "{}", words.ko);
                assert!(
                    !thought.conclusion.ko.contains("뚜렷하고"),
                    "the expert's stands beside them"
                );
            }
            // the bearing stands there, and staff was told once, with the model's words
            let row = store.pages().standing(&fault.key()).await.expect("read").expect("stands");
            assert_eq!(row.risk_level, told);
            let all = alarms(&store).await;
            let own: Vec<_> = all.iter().filter(|one| one.bearing_id == fault.bearing_id).collect();
            assert_eq!((own.len(), own[0].risk_level), (1, told));
            assert!(own[0].body.ko.contains("언어 모델 stand-in: "), "{}", own[0].body.ko);
            assert_eq!(model.violations(), Vec::<String>::new());
            agent.stop().await.expect("stops");
            store.close().await;
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_invalid_answer_leaves_the_rules_judgement_with_the_reason() {
    let name = "an_invalid_answer_leaves_the_rules_judgement_with_the_reason";
    let folder = tempfile::tempdir().expect("folder");
    for (place, _server) in places(name, folder.path()) {
        let wrong = [
            ("words", ModelReply::Says("Everything is fine, Normal.".to_owned())),
            (
                "shape",
                ModelReply::Calls(vec![("conclude".to_owned(), json!({ "risk": "Normal" }))]),
            ),
            ("refused", ModelReply::Raw(401, Vec::new(), "{}".to_owned())),
        ];
        for (bearing, reply) in wrong {
            let model = ModelStandIn::scripted(vec![reply]);
            let settings = with_model(&place, folder.path(), &model);
            let store = open_store(&settings.store).await.expect("opens");
            let fault = of(bearing, event(1), 60.0);
            put(&store, std::slice::from_ref(&fault)).await;
            let agent = start(&settings).await;
            let diagnosis = judged(&store, &fault).await;
            assert_eq!(
                (diagnosis.reasoner, diagnosis.risk_level),
                (Reasoner::Expert, RiskLevel::Warning)
            );
            let opinion = diagnosis.second_opinion.expect("the failure");
            assert!(opinion.failure.is_some() && opinion.stance.is_none());
            let causes = &diagnosis.uncertainty.causes;
            let told = "언어 모델 없이 규칙만으로 판정함";
            assert!(causes.iter().any(|cause| cause.ko.contains(told)), "{causes:?}");
            let own = alarms(&store).await;
            let own = own.iter().filter(|one| one.bearing_id == fault.bearing_id);
            assert_eq!(own.count(), 1);
            assert!(model.requests().len() <= 3, "two repairs at most");
            agent.stop().await.expect("stops");
            store.close().await;
        }
    }
}

/// Staff sees on the first page that the model is not part of the judgements at the moment.
#[tokio::test(flavor = "multi_thread")]
async fn the_fleet_says_that_the_model_is_away() {
    let folder = tempfile::tempdir().expect("folder");
    let place = StorePlace::Sqlite(folder.path().join("agent.db"));
    let model = ModelStandIn::scripted(vec![ModelReply::Raw(401, Vec::new(), "{}".to_owned())]);
    let mut settings = with_model(&place, folder.path(), &model);
    settings.http.listen = Some(std::net::SocketAddr::from(([127, 0, 0, 1], 0)));
    let store = open_store(&settings.store).await.expect("opens");
    let fault = of("B", event(1), 60.0);
    let agent = start(&settings).await;
    let url = format!("http://{}/", agent.address().expect("it listens"));
    let page = async || reqwest::get(&url).await.expect("answers").text().await.expect("text");
    assert!(!page().await.contains("id=\"banner\""), "nothing is known to be wrong yet");
    put(&store, std::slice::from_ref(&fault)).await;
    judged(&store, &fault).await;
    let text = page().await;
    assert!(text.contains("id=\"banner\"") && text.contains("규칙만으로 판정하고"), "{text}");
    agent.stop().await.expect("stops");
    store.close().await;
}

/// The wait is short here, and what the model answers after it comes beside the judgement.
#[tokio::test(flavor = "multi_thread")]
async fn a_model_that_hangs_is_not_waited_for_and_a_late_answer_follows() {
    let name = "a_model_that_hangs_is_not_waited_for_and_a_late_answer_follows";
    let folder = tempfile::tempdir().expect("folder");
    for (place, _server) in places(name, folder.path()) {
        let gate = Gate::default();
        let model = gate.model(0);
        let mut settings = with_model(&place, folder.path(), &model);
        settings.judging.wait_s = 0.5;
        let store = open_store(&settings.store).await.expect("opens");
        let fault = of("H", event(1), 60.0);
        put(&store, std::slice::from_ref(&fault)).await;
        let agent = start(&settings).await;
        let diagnosis = judged(&store, &fault).await;
        assert_eq!(
            (diagnosis.reasoner, diagnosis.risk_level),
            (Reasoner::Expert, RiskLevel::Warning)
        );
        let failure = diagnosis.second_opinion.and_then(|one| one.failure).expect("why");
        assert!(failure.en.contains("while the judgement waited"), "{}", failure.en);
        assert_eq!(alarms(&store).await.len(), 1);
        gate.open();
        let after = heard(&store, &fault, OpinionStance::Agrees).await;
        assert_eq!((after.reasoner, after.risk_level), (Reasoner::Expert, RiskLevel::Warning));
        assert!(after.thoughts.iter().all(|thought| thought.model_words.is_some()));
        assert_eq!(alarms(&store).await.len(), 1, "nothing is told twice");
        agent.stop().await.expect("stops");
        store.close().await;
    }
}

/// A Critical by rules waits for nobody: it is stored and told while the model has not answered.
#[tokio::test(flavor = "multi_thread")]
async fn a_critical_is_told_at_once_and_the_words_follow() {
    let name = "a_critical_is_told_at_once_and_the_words_follow";
    let folder = tempfile::tempdir().expect("folder");
    for (place, _server) in places(name, folder.path()) {
        let gate = Gate::default();
        let model = gate.model(0);
        let mut settings = with_model(&place, folder.path(), &model);
        settings.rules.risk.critical_asset = true;
        let store = open_store(&settings.store).await.expect("opens");
        let fault = of("C", event(1), 60.0);
        put(&store, std::slice::from_ref(&fault)).await;
        let agent = start(&settings).await;
        let diagnosis = judged(&store, &fault).await;
        assert_eq!(
            (diagnosis.reasoner, diagnosis.risk_level),
            (Reasoner::Expert, RiskLevel::Critical)
        );
        assert_eq!(diagnosis.second_opinion, None, "nobody has answered yet");
        assert_eq!(alarms(&store).await.len(), 1);
        gate.open();
        let after = heard(&store, &fault, OpinionStance::Lowers).await;
        assert_eq!(after.risk_level, RiskLevel::Critical);
        assert!(after.disagreement.is_some());
        assert!(after.thoughts.iter().all(|thought| thought.model_words.is_some()));
        assert_eq!(alarms(&store).await.len(), 1);
        agent.stop().await.expect("stops");
        store.close().await;
    }
}

/// While one bearing waits for the model, every other is judged to its end; then its own events are
/// judged in their order.
#[tokio::test(flavor = "multi_thread")]
async fn a_bearing_that_waits_keeps_its_order_and_delays_no_other() {
    let name = "a_bearing_that_waits_keeps_its_order_and_delays_no_other";
    let folder = tempfile::tempdir().expect("folder");
    for (place, _server) in places(name, folder.path()) {
        let gate = Gate::default();
        let model = gate.model(0);
        let settings = with_model(&place, folder.path(), &model);
        let store = open_store(&settings.store).await.expect("opens");
        let mut waiting = Vec::new();
        let mut others = Vec::new();
        for number in 0..20_u64 {
            let ago = 4000.0 - number as f64 * 10.0;
            let own = if number % 3 == 0 { event(2 * number + 1) } else { healthy(2 * number + 1) };
            waiting.push(of("W", own, ago));
            others.push(of(&format!("N{}", number % 4), healthy(2 * number + 2), ago - 5.0));
        }
        let mixed: Vec<Event> =
            waiting.iter().zip(&others).flat_map(|(a, b)| [a.clone(), b.clone()]).collect();
        put(&store, &mixed).await;
        let agent = start(&settings).await;
        let last = others.last().expect("one");
        judged(&store, last).await;
        support::until("the model to be asked", 60, || !model.requests().is_empty()).await;
        for event in &others {
            assert!(store.history().diagnosis(event.event_id).await.expect("read").is_some());
        }
        for event in &waiting {
            assert_eq!(store.history().diagnosis(event.event_id).await.expect("read"), None);
        }
        gate.open();
        judged(&store, waiting.last().expect("one")).await;
        // a window that is judged after a younger one says so
        for event in &waiting {
            let causes = judged(&store, event).await.uncertainty.causes;
            assert!(!causes.iter().any(|cause| cause.en.contains("arrived late")), "{causes:?}");
        }
        let second = judged(&store, &waiting[1]).await;
        assert_eq!((second.memory.used, second.risk_level), (1, RiskLevel::Warning));
        agent.stop().await.expect("stops");
        store.close().await;
    }
}

/// Thirty bearings wait at once for a model that answers five of them: the others get the rules'
/// judgement when their wait is over, every alarm is told once, and what the model says later comes
/// beside.
#[tokio::test(flavor = "multi_thread")]
async fn many_bearings_that_wait_for_a_slow_model_are_all_judged_and_told_once() {
    let name = "many_bearings_that_wait_for_a_slow_model_are_all_judged_and_told_once";
    let folder = tempfile::tempdir().expect("folder");
    for (place, _server) in places(name, folder.path()) {
        let gate = Gate::default();
        let model = gate.model(5);
        let mut settings = with_model(&place, folder.path(), &model);
        settings.judging.wait_s = 8.0;
        // a request that the stand-in holds back is no failure of the model, however slow the
        // machine is
        if let Some(reasoner) = &mut settings.reasoner {
            (reasoner.timeout_s, reasoner.per_event.seconds) = (600.0, 600.0);
        }
        let store = open_store(&settings.store).await.expect("opens");
        let waiting: Vec<Event> = (0..30_u64)
            .map(|number| of(&format!("M{number}"), event(2 * number + 1), 60.0))
            .collect();
        let sound: Vec<Event> = (0..30_u64)
            .map(|number| of(&format!("S{number}"), healthy(2 * number + 2), 60.0))
            .collect();
        put(&store, &[waiting.as_slice(), &sound].concat()).await;
        let agent = start(&settings).await;
        for event in &sound {
            let diagnosis = judged(&store, event).await;
            assert_eq!(diagnosis.reasoner, Reasoner::Expert, "nothing of it is news");
        }
        let mut by_model = 0;
        for event in &waiting {
            let diagnosis = judged(&store, event).await;
            assert_eq!(diagnosis.risk_level, RiskLevel::Warning);
            by_model += usize::from(diagnosis.reasoner == Reasoner::Llm);
        }
        assert!((1..=5).contains(&by_model), "{by_model} by the model");
        let told = async || {
            let all = alarms(&store).await;
            let mut names: Vec<_> = all.iter().map(|one| one.bearing_id.clone()).collect();
            names.sort_unstable();
            names
        };
        let mut each_once: Vec<_> = waiting.iter().map(|event| event.bearing_id.clone()).collect();
        each_once.sort_unstable();
        assert_eq!(told().await, each_once);
        gate.open();
        for event in &waiting {
            heard(&store, event, OpinionStance::Agrees).await;
        }
        assert_eq!(told().await, each_once, "nothing is told twice");
        assert_eq!(model.violations(), Vec::<String>::new());
        agent.stop().await.expect("stops");
        store.close().await;
    }
}

/// The order of a bearing's events must not make a Critical wait behind a Warning that waits.
#[tokio::test(flavor = "multi_thread")]
async fn a_critical_behind_a_judgement_that_waits_ends_the_wait() {
    let name = "a_critical_behind_a_judgement_that_waits_ends_the_wait";
    let folder = tempfile::tempdir().expect("folder");
    for (place, _server) in places(name, folder.path()) {
        let model = ModelStandIn::scripted(vec![ModelReply::Hangs]);
        let settings = with_model(&place, folder.path(), &model);
        let store = open_store(&settings.store).await.expect("opens");
        let first = of("K", event(1), 90.0);
        put(&store, std::slice::from_ref(&first)).await;
        let agent = start(&settings).await;
        support::until("the model to be asked", 60, || !model.requests().is_empty()).await;
        let healthy_one = of("K", healthy(2), 60.0);
        put(&store, std::slice::from_ref(&healthy_one)).await;
        let mut last = of("K", event(3), 30.0);
        remaining(&mut last, 10.0);
        put(&store, std::slice::from_ref(&last)).await;
        let diagnosis = judged(&store, &last).await;
        assert_eq!(diagnosis.risk_level, RiskLevel::Critical);
        let before = judged(&store, &first).await;
        assert_eq!((before.reasoner, before.risk_level), (Reasoner::Expert, RiskLevel::Warning));
        assert!(judged(&store, &healthy_one).await.memory.used == 1);
        let risks: Vec<_> = alarms(&store).await.iter().map(|one| one.risk_level).collect();
        assert_eq!(risks, [RiskLevel::Critical, RiskLevel::Warning], "newest first");
        agent.stop().await.expect("stops");
        store.close().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn deep_research_is_enforced_on_acceleration() {
    let name = "deep_research_is_enforced_on_acceleration";
    let folder = tempfile::tempdir().expect("folder");
    for (place, _server) in places(name, folder.path()) {
        // a model that would rather conclude at once
        let model = ModelStandIn::answering(|request| match messages(request) {
            3..=4 => searches("외륜 결함"),
            6..=7 => searches("급속 열화 조건"),
            _ => concludes("Warning"),
        });
        let settings = with_model(&place, folder.path(), &model);
        let store = open_store(&settings.store).await.expect("opens");
        let mut fault = of("D", event(1), 60.0);
        fault.trend.acceleration_detected = true;
        // far beyond the lead time, so that the rules see a Warning: a Critical would not wait
        remaining(&mut fault, 3000.0);
        put(&store, std::slice::from_ref(&fault)).await;
        let agent = start(&settings).await;
        let diagnosis = judged(&store, &fault).await;
        assert_eq!((diagnosis.reasoner, diagnosis.risk_level), (Reasoner::Llm, RiskLevel::Warning));
        let opinion = diagnosis.second_opinion.expect("an opinion");
        assert_eq!(opinion.tools.len(), 2, "{:?}", opinion.tools);
        let sent_back = model.requests().iter().any(|request| {
            request["messages"].to_string().contains("at least 2 searches are needed")
        });
        assert!(sent_back, "the early conclusion was not taken");
        agent.stop().await.expect("stops");
        store.close().await;
    }
}

/// An agent that stops does not leave an alarm behind that nobody was told of.
#[tokio::test(flavor = "multi_thread")]
async fn a_stop_ends_the_wait_and_the_rules_judgement_is_stored_and_told() {
    let name = "a_stop_ends_the_wait_and_the_rules_judgement_is_stored_and_told";
    let folder = tempfile::tempdir().expect("folder");
    for (place, _server) in places(name, folder.path()) {
        let model = ModelStandIn::scripted(vec![ModelReply::Hangs]);
        let mut settings = with_model(&place, folder.path(), &model);
        settings.shutdown_grace = Duration::from_secs(10);
        let store = open_store(&settings.store).await.expect("opens");
        let fault = of("S", event(1), 60.0);
        put(&store, std::slice::from_ref(&fault)).await;
        let agent = start(&settings).await;
        support::until("the model to be asked", 60, || !model.requests().is_empty()).await;
        assert_eq!(store.history().diagnosis(fault.event_id).await.expect("read"), None);
        agent.stop().await.expect("stops");
        let diagnosis =
            store.history().diagnosis(fault.event_id).await.expect("read").expect("judged");
        assert_eq!(
            (diagnosis.reasoner, diagnosis.risk_level),
            (Reasoner::Expert, RiskLevel::Warning)
        );
        assert_eq!(alarms(&store).await.len(), 1);
        // the run goes on beside the judgement at the next start
        let next = ModelStandIn::scripted(vec![concludes("Warning")]);
        let agent = start(&with_model(&place, folder.path(), &next)).await;
        heard(&store, &fault, OpinionStance::Agrees).await;
        assert_eq!(alarms(&store).await.len(), 1);
        agent.stop().await.expect("stops");
        store.close().await;
    }
}
