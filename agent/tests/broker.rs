//! The agent and its broker: replicas that share the events, mutual TLS with renewed certificates,
//! several addresses.

mod support;

use std::sync::Arc;
use std::time::Duration;

use pdm_agent::service::{Agent, Handle};
use pdm_agent::settings::{AgentSettings, BrokerAddress, TlsFiles};
use pdm_harness::{Authority, Mosquitto, Persistence, free_port};
use pdm_service::clock::SystemClock;

use support::{Client, event, healthy, settings, subscribed, until};

async fn start(settings: AgentSettings) -> Handle {
    Agent::start(settings, Arc::new(SystemClock)).await.expect("starts")
}

/// R-AGENT-1: two replicas behind one shared subscription; what one leaves when it ends is taken by
/// the other.
#[tokio::test(flavor = "multi_thread")]
async fn replicas_of_one_group_judge_every_event_once_between_them() {
    let name = "replicas_of_one_group_judge_every_event_once_between_them";
    let Some(broker) = Mosquitto::start(name, Persistence::Memory) else { return };
    let folders = [tempfile::tempdir().expect("folder"), tempfile::tempdir().expect("folder")];
    let mut agents = Vec::new();
    for (number, folder) in folders.iter().enumerate() {
        let mut settings = settings(broker.port(), folder.path());
        settings.broker.client_id = format!("replica-{number}");
        settings.broker.shared_group = Some("pdm".to_owned());
        agents.push(start(settings).await);
    }
    for agent in &agents {
        subscribed(agent).await;
    }
    let mut gateway = Client::connect(broker.port(), "gateway", &["pdm/v1/+/+/+/diagnosis"]).await;
    let events: Vec<_> = (1..=40).map(healthy).collect();
    gateway.send(&events).await;
    let judged = |agents: &[Handle]| -> Vec<u64> {
        agents.iter().map(|agent| agent.progress().borrow().judged).collect()
    };
    until("all to be judged", 20, || judged(&agents).iter().sum::<u64>() >= 40).await;
    let shares = judged(&agents);
    assert_eq!(shares.iter().sum::<u64>(), 40, "each once: {shares:?}");
    assert!(shares.iter().all(|share| *share > 0), "both take part: {shares:?}");
    until("the diagnoses", 20, || gateway.heard_on("/diagnosis").len() >= 40).await;
    let mut ids: Vec<String> = gateway
        .heard_on("/diagnosis")
        .iter()
        .filter_map(|text| {
            let diagnosis: serde_json::Value = serde_json::from_str(text).ok()?;
            diagnosis["event_id"].as_str().map(str::to_owned)
        })
        .collect();
    ids.sort();
    ids.dedup();
    assert_eq!(ids.len(), 40);
    for agent in agents {
        agent.stop().await.expect("stops");
    }
}

/// R-EDGE-10 on the agent's side: the certificate is renewed in place, the next connection uses it.
#[tokio::test(flavor = "multi_thread")]
async fn mutual_tls_connects_and_a_renewed_certificate_is_used_without_a_restart() {
    let name = "mutual_tls_connects_and_a_renewed_certificate_is_used_without_a_restart";
    let Some(authority) = Authority::found(name) else { return };
    authority.issue("broker");
    authority.issue("agent");
    let place = |file: &str| authority.path(file).display().to_string();
    let lines = format!(
        "allow_anonymous true\ncafile {}\ncertfile {}\nkeyfile {}\nrequire_certificate true\n",
        place("ca.pem"),
        place("broker.pem"),
        place("broker.key")
    );
    let Some(broker) = Mosquitto::start_with(name, Persistence::Memory, &lines) else { return };
    let folder = tempfile::tempdir().expect("folder");
    let mut settings = settings(broker.port(), folder.path());
    // the wrong authority first
    std::fs::copy(authority.path("other-ca.pem"), authority.path("used.pem")).expect("copied");
    settings.broker.tls = Some(TlsFiles {
        ca: authority.path("used.pem"),
        certificate: Some(authority.path("agent.pem")),
        key: Some(authority.path("agent.key")),
        crl: None,
    });
    let agent = start(settings).await;
    tokio::time::sleep(Duration::from_millis(600)).await;
    assert!(!agent.progress().borrow().subscribed, "an unknown authority is refused");
    std::fs::copy(authority.path("ca.pem"), authority.path("used.pem")).expect("copied");
    subscribed(&agent).await;
    agent.stop().await.expect("stops");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_broker_that_is_away_gives_way_to_the_next_address() {
    let name = "a_broker_that_is_away_gives_way_to_the_next_address";
    let Some(broker) = Mosquitto::start(name, Persistence::Memory) else { return };
    let folder = tempfile::tempdir().expect("folder");
    let mut settings = settings(broker.port(), folder.path());
    let away = BrokerAddress { host: "127.0.0.1".to_owned(), port: free_port() };
    settings.broker.addresses.insert(0, away);
    let agent = start(settings).await;
    let mut progress = subscribed(&agent).await;
    let mut gateway = Client::connect(broker.port(), "gateway", &["pdm/v1/+/+/+/diagnosis"]).await;
    gateway.send(&[event(1)]).await;
    progress.wait_for(|progress| progress.judged == 1).await.expect("judged");
    until("the publication", 20, || !gateway.heard_on("/diagnosis").is_empty()).await;
    agent.stop().await.expect("stops");
}
