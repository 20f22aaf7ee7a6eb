//! Digests of events and judgements, on both stores.

use pdm_graph::Properties;
use pdm_graph::assets::{EdgeName, NodeName, Origins, check};
use pdm_harness::Postgres;
use pdm_service::postgres::PostgresSettings;

use super::refresh;
use crate::store::conformance::{event, judge_all, key, put};
use crate::store::{LifecycleStore as _, SqlStore, Store};

/// R-GRAPH-1
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn digests_of_events_and_judgements_are_brought_on_both_stores() {
    let folder = tempfile::tempdir().expect("folder");
    let store = SqlStore::open_sqlite(&folder.path().join("agent.db")).await.expect("opens");
    store.migrate().await.expect("migrated");
    events_and_judgements_are_brought_in_short(&store).await;
    let test = "digests_of_events_and_judgements_are_brought_on_both_stores";
    if let Some(server) = Postgres::start(test) {
        let settings = PostgresSettings::at(server.url());
        let store = SqlStore::open_postgres(&settings, "agent").await.expect("opens");
        store.migrate().await.expect("migrated");
        events_and_judgements_are_brought_in_short(&store).await;
    }
}

/// What events and judgements said, in short; renewed, and nothing twice.
async fn events_and_judgements_are_brought_in_short(store: &dyn Store) {
    put(store, &[event(1)]).await;
    judge_all(store).await;
    refresh(store).await.expect("refreshed");
    put(store, &[event(2)]).await;
    judge_all(store).await;
    refresh(store).await.expect("refreshed");
    let again = refresh(store).await.expect("refreshed");
    assert!(again.is_empty(), "{again}");
    let assets = store.assets().await.expect("read");
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
