//! Digests of events and judgements, on both stores.

use std::sync::Arc;

use pdm_expert::rules::Rules;
use pdm_graph::Properties;
use pdm_graph::assets::{EdgeName, NodeName, Origins, check};
use pdm_harness::Postgres;
use pdm_service::clock::{Clock as _, SystemClock};
use pdm_service::postgres::PostgresSettings;
use pdm_shared::event::Event;
use pdm_shared::id::{BearingKey, EventId};
use pdm_shared::topic::Prefix;
use pdm_store::{Incoming, Store};

use super::refresh;
use crate::judging::Judging;
use crate::settings::NotifySettings;
use crate::workflow::{Expert, Workflow};

fn event(sequence: u64) -> Event {
    let text = include_str!("../../../../config/examples/event.json");
    let mut event: Event = serde_json::from_str(text).expect("event");
    event.sequence = sequence;
    event.measured_at = event.measured_at.plus_seconds(sequence as f64 * 60.0);
    let id = 0x0193_6f3e_7c1a_7b52_9a6e_0000_0000_0000_u128 + u128::from(sequence);
    event.event_id = EventId(uuid::Uuid::from_u128(id));
    event
}

fn key() -> BearingKey {
    event(1).key()
}

/// Stores an event and judges it.
async fn judged(store: &Store, event: Event) {
    let payload = serde_json::to_string(&event).expect("json");
    let batch = [Incoming::Event { event: Box::new(event), payload, proven: false }];
    store.intake().store(&batch, SystemClock.now(), "dead").await.expect("stored");
    let clock = Arc::new(SystemClock);
    let workflow = Workflow::new(Expert::new(Rules::default()), clock.clone());
    let (notify, prefix) = (NotifySettings::default(), Prefix::default());
    let judging = Judging::new(store.judging(), clock, workflow, &notify, &prefix);
    assert_eq!(judging.pass().await.expect("judged"), 1);
}

/// R-GRAPH-1
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn digests_of_events_and_judgements_are_brought_on_both_stores() {
    let folder = tempfile::tempdir().expect("folder");
    let store = Store::open_sqlite(&folder.path().join("agent.db")).await.expect("opens");
    store.migrate().await.expect("migrated");
    Box::pin(events_and_judgements_are_brought_in_short(&store)).await;
    let test = "digests_of_events_and_judgements_are_brought_on_both_stores";
    if let Some(server) = Postgres::start(test) {
        let settings = PostgresSettings::at(server.url());
        let store = Store::open_postgres(&settings, "agent").await.expect("opens");
        store.migrate().await.expect("migrated");
        Box::pin(events_and_judgements_are_brought_in_short(&store)).await;
    }
}

/// Digests of events and judgements are added and renewed; a second run adds nothing.
async fn events_and_judgements_are_brought_in_short(store: &Store) {
    Box::pin(judged(store, event(1))).await;
    refresh(store).await.expect("refreshed");
    Box::pin(judged(store, event(2))).await;
    refresh(store).await.expect("refreshed");
    let again = refresh(store).await.expect("refreshed");
    assert!(again.is_empty(), "{again}");
    let assets = store.graph().assets().await.expect("read");
    let bearing = NodeName::new("Bearing", key().to_string());
    for (kind, relation, property) in
        [("Event", "OBSERVED_ON", "anomaly_detected"), ("Judgement", "ABOUT", "risk_level")]
    {
        let digest = NodeName::new(kind, key().to_string());
        let own = &assets.nodes[&digest];
        assert_eq!(own["event_id"], event(2).event_id.to_string().as_str().into(), "{kind}");
        assert!(own.contains_key(property), "{kind}: {own:?}");
        let edge = EdgeName::new(relation, digest, bearing.clone(), &Properties::new());
        assert!(assets.edges.contains_key(&edge), "{edge}");
    }
    assert!(check(&assets, &Origins::default()).is_empty());
}
