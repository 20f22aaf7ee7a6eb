//! The asset graph: what is stored is what was given, and queries answer as over a graph in memory.

use pdm_graph::assets::{AssetChange, Assets, EdgeName, NodeName, difference};
use pdm_graph::{Properties, Value};

use super::{at, event, judge_all, key, put};
use crate::{Store, StoreError};

fn plant() -> Assets {
    let mut assets = Assets::default();
    let mut node = |kind: &str, id: &str, name: &str| {
        let own = [("id", id), ("name", name)].map(|(key, value)| (key.into(), Value::from(value)));
        let known = NodeName::new(kind, id);
        assets.nodes.insert(known.clone(), Properties::from(own));
        known
    };
    let line = node("Line", "L1", "1 라인");
    let pump = node("Equipment", "P-101", "급수 펌프");
    let fan = node("Equipment", "F-7", "Exhaust fan");
    let seal = node("Part", "S-1", "기계 씰\u{0}");
    let tag = node("Tag", "pump", "pump");
    let mut edge = |kind: &str, from: &NodeName, to: &NodeName, quantity: i64| {
        let own = Properties::from([("quantity".into(), quantity.into())]);
        assets.edges.insert(EdgeName::new(kind, from.clone(), to.clone(), &own), own);
    };
    edge("HAS_PART", &line, &pump, 1);
    edge("HAS_PART", &line, &fan, 1);
    edge("HAS_PART", &pump, &seal, 2);
    edge("FED_BY", &pump, &fan, 1);
    edge("FED_BY", &pump, &pump, 1);
    edge("TAGGED", &pump, &tag, 1);
    assets
}

/// R-GRAPH-1
pub(super) async fn a_plant_is_stored_changed_and_read_back(store: &Store) {
    let change = difference(&Assets::default(), &plant());
    store.graph().change_assets(&mut |_| Some(change.clone())).await.expect("written");
    store
        .graph()
        .change_assets(&mut |_| Some(change.clone()))
        .await
        .expect("the same again changes nothing");
    let stored = store.graph().assets().await.expect("read");
    assert_eq!(stored.edges, plant().edges);
    assert_eq!(stored.nodes.len(), plant().nodes.len());

    let mut less = stored.clone();
    less.edges.retain(|name, _| &*name.kind != "TAGGED");
    less.nodes.remove(&NodeName::new("Tag", "pump"));
    let tags = store.graph().asset_tags().await.expect("read");
    assert_eq!(tags, [("pump".to_owned(), 1)]);
    store
        .graph()
        .change_assets(&mut |before| Some(difference(before, &less)))
        .await
        .expect("removed");
    assert_eq!(store.graph().assets().await.expect("read"), less);

    let mut found = Vec::new();
    for (kind, text) in
        [("Equipment", "펌프"), ("Equipment", "EXHAUST"), ("Equipment", "p-1"), ("Part", "펌프")]
    {
        let nodes = store.graph().search_assets(kind, text, 10).await.expect("read");
        found.push(nodes.iter().map(|node| node.properties["id"].to_json()).collect::<Vec<_>>());
    }
    assert_eq!(serde_json::json!(found).to_string(), r#"[["P-101"],["F-7"],["P-101"],[]]"#);

    // an end that does not exist: nothing of the change is stored
    let name = EdgeName::new(
        "FED_BY",
        NodeName::new("Equipment", "F-7"),
        NodeName::new("Equipment", "X"),
        &Properties::new(),
    );
    let fresh = (NodeName::new("Site", "S"), None, Properties::new());
    let wrong = AssetChange {
        nodes: vec![fresh],
        edges: vec![(name, None, Properties::new())],
        ..AssetChange::default()
    };
    let error =
        store.graph().change_assets(&mut |_| Some(wrong.clone())).await.expect_err("refused");
    assert!(matches!(error, StoreError::Content { .. }), "{error}");
    assert_eq!(store.graph().assets().await.expect("read"), less, "nothing half written");
}

/// R-GRAPH-1
pub(super) async fn the_days_of_a_bearing_are_read(store: &Store) {
    let mut later = event(3);
    later.measured_at = at(2.0 * 86_400.0);
    put(store, &[event(1), event(2), later.clone()]).await;
    judge_all(store).await;
    let day = |seconds: f64| at(seconds).unix_ms().div_euclid(86_400_000) * 86_400_000;
    let days = [day(0.0) - 86_400_000, day(0.0), day(86_400.0), day(2.0 * 86_400.0)];
    let found = store.graph().last_of_days(&key(), &days).await.expect("read");
    let told: Vec<_> =
        found.iter().map(|(day, count, event)| (*day, *count, event.event_id)).collect();
    assert_eq!(told, [(days[1], 2, event(2).event_id), (days[3], 1, later.event_id)]);
    assert!(
        found[0].2.spectra.is_none()
            || store.history().event(event(2).event_id).await.expect("read").is_some()
    );
    assert_eq!(store.graph().risk_at(&key(), at(-1.0).unix_ms()).await.expect("read"), None);
    assert!(store.graph().risk_at(&key(), at(1e7).unix_ms()).await.expect("read").is_some());
}
