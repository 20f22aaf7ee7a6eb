//! The ten tools over a small plant through the tool runtime, which checks every answer against its
//! schema.

use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use pdm_graph::assets::{Assets, EdgeName, NodeName, check, difference, read_assets};
use pdm_graph::{Limits, MemoryGraph, NamedGraphs, Properties, Query, Value};
use pdm_harness::Postgres;
use pdm_service::clock::SystemClock;
use pdm_service::postgres::PostgresSettings;
use pdm_shared::event::Event;
use pdm_shared::time::Timestamp;
use pdm_store::{Incoming, Store};
use pdm_tools::exec::builtin::Builtins;
use pdm_tools::{Call, Catalogue, ExecutorResources, Runtime};
use serde_json::{Value as Json, json};

use super::{AssetTools, StoredGraph, digests};

mod large_plant;

const PLANT: &str = "\
nodes:
  - { type: Site, id: ulsan-1, name: 울산 1공장 }
  - { type: Line, id: L1, name: 1 라인 }
  - { type: Equipment, id: P-101, name: 급수 펌프 1, model: KSB-40, load: medium, speed_rpm: 1770, \
    tags: [pump, water] }
  - { type: Equipment, id: P-102, name: 급수 펌프 2, model: KSB-40, load: medium, speed_rpm: 1770, \
    tags: [pump] }
  - { type: Equipment, id: F-7, name: 배기 팬, load: light, speed_rpm: 900, tags: [fan] }
  - { type: Bearing, id: ulsan-1/P-101/DE, name: DE, model: '6205' }
  - { type: Bearing, id: ulsan-1/P-101/OLD, name: OLD, model: '6205' }
  - { type: Bearing, id: ulsan-1/P-102/DE, name: DE, model: '6205' }
  - { type: Part, id: S-1, name: 기계 씰, part_no: '00451', stock: 3 }
  - { type: Technician, id: kim, name: 김정비 }
  - { type: Document, id: EM-06, title: 교체 절차 }
relationships:
  - { type: HAS_PART, from: Site/ulsan-1, to: Line/L1 }
  - { type: HAS_PART, from: Line/L1, to: Equipment/P-101 }
  - { type: HAS_PART, from: Line/L1, to: Equipment/P-102 }
  - { type: HAS_PART, from: Equipment/P-101, to: Part/S-1, quantity: 2 }
  - { type: INSTALLED_IN, from: Bearing/ulsan-1/P-101/OLD, to: Equipment/P-101, position: DE, \
    since: '2020-01-01', until: '2020-06-01' }
  - { type: INSTALLED_IN, from: Bearing/ulsan-1/P-101/DE, to: Equipment/P-101, position: DE, \
    since: '2020-06-01' }
  - { type: INSTALLED_IN, from: Bearing/ulsan-1/P-102/DE, to: Equipment/P-102, position: DE, \
    since: '2020-01-01' }
  - { type: SAME_MODEL, from: Bearing/ulsan-1/P-101/DE, to: Bearing/ulsan-1/P-102/DE }
  - { type: MAINTAINED_BY, from: Equipment/P-101, to: Technician/kim }
  - { type: DOCUMENTED_IN, from: Equipment/P-101, to: Document/EM-06 }
";

async fn sqlite(folder: &Path) -> Store {
    let store = Store::open_sqlite(&folder.join("agent.db")).await.expect("opens");
    store.migrate().await.expect("migrated");
    store
}

fn runtime(store: &Store) -> Runtime {
    runtime_in(store, pdm_routes::Zone::default())
}

fn runtime_in(store: &Store, zone: pdm_routes::Zone) -> Runtime {
    let assets = AssetTools::new(store.clone(), Arc::new(SystemClock)).in_zone(zone);
    let graphs = NamedGraphs::default().with("assets", Arc::new(assets.graph().clone()));
    let builtins = assets.add_to(Builtins::default());
    let (catalogue, problems) = Catalogue::shipped();
    assert!(problems.is_empty(), "{problems:?}");
    Runtime::new(
        catalogue,
        ExecutorResources {
            builtins,
            graphs: Some(Arc::new(graphs)),
            ..ExecutorResources::default()
        },
    )
}

async fn called(runtime: &Runtime, tool: &str, arguments: Json) -> Result<Json, String> {
    let call = Call { id: "1".into(), tool: tool.into(), arguments };
    runtime.call(&call).await.map(|answer| answer.value).map_err(|error| error.to_string())
}

async fn planted() -> (tempfile::TempDir, Store) {
    let folder = tempfile::tempdir().expect("folder");
    let file = folder.path().join("plant.yaml");
    std::fs::write(&file, PLANT).expect("file");
    let (assets, origins) = read_assets(&[file]).expect("a plant");
    assert!(check(&assets, &origins).is_empty());
    let store = sqlite(folder.path()).await;
    store
        .graph()
        .change_assets(&mut |before| Some(difference(before, &assets)))
        .await
        .expect("written");
    (folder, store)
}

/// A window of the bearing, measured `days_ago` days ago.
fn window(sequence: u64, days_ago: f64, velocity_rms_mm_s: f64) -> Event {
    let text = include_str!("../../../config/examples/event.json");
    let mut event: Event = serde_json::from_str(text).expect("event");
    event.site = "ulsan-1".parse().expect("site");
    event.equipment_id = "P-101".parse().expect("machine");
    event.bearing_id = "DE".parse().expect("bearing");
    event.sequence = sequence;
    event.spectra = None;
    event.event_id = pdm_shared::id::EventId(uuid::Uuid::now_v7());
    let now: Timestamp = pdm_service::clock::Clock::now(&SystemClock);
    event.measured_at = now.plus_seconds(-days_ago * 86_400.0);
    event.time_domain.velocity_rms_mm_s = Some(velocity_rms_mm_s);
    event
}

async fn put(store: &Store, events: Vec<Event>) {
    let now = pdm_service::clock::Clock::now(&SystemClock);
    let incoming = events.into_iter().map(|event| {
        let payload = serde_json::to_string(&event).expect("json");
        Incoming::Event { event: Box::new(event), payload, proven: false }
    });
    store.intake().store(&incoming.collect::<Vec<_>>(), now, "dead").await.expect("stored");
}

/// Two windows of one UTC day that are of two days of the plant, whose clock is 14 hours ahead.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn days_of_a_trend_are_those_of_the_plants_clock() {
    const DAY_S: f64 = 86_400.0;
    let (_folder, store) = planted().await;
    let now_s = pdm_service::clock::Clock::now(&SystemClock).unix_ms() as f64 / 1000.0;
    let ago_days =
        |hour: f64| (now_s - ((now_s / DAY_S).floor() - 2.0) * DAY_S) / DAY_S - hour / 24.0;
    put(&store, vec![window(1, ago_days(9.0), 2.0), window(2, ago_days(11.0), 3.0)]).await;
    let of = async |zone: &str| {
        let zone = serde_json::from_value(json!(zone)).expect("a zone");
        let tools = runtime_in(&store, zone);
        let asked = json!({ "bearing_id": "ulsan-1/P-101/DE", "period": "1w" });
        called(&tools, "get_bearing_trend", asked).await.expect("a trend")
    };
    let (utc, ahead) = (of("UTC").await, of("Pacific/Kiritimati").await);
    assert_eq!(
        (&utc["summary"]["data_count"], &ahead["summary"]["data_count"]),
        (&json!(1), &json!(2))
    );
    assert_eq!(ahead["daily"][1]["date"], utc["daily"][0]["date"]);
    assert_eq!(ahead["daily"][1]["velocity_rms_mm_s"], 2.0);
}

/// R-GRAPH-1: each of the ten tools answers in its shape.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_ten_tools_answer_over_a_plant() {
    let (_folder, store) = planted().await;
    put(&store, vec![window(1, 3.0, 2.0), window(2, 2.0, 3.0), window(3, 1.0, 2.5)]).await;
    let tools = runtime(&store);
    let ask = async |tool, arguments| called(&tools, tool, arguments).await.expect(tool);

    let found = ask("search_equipment", json!({ "query": "펌프" })).await;
    assert_eq!(
        found[0],
        json!({ "equipment_id": "P-101", "name": "급수 펌프 1", "model": "KSB-40" })
    );
    assert_eq!(found.as_array().map(Vec::len), Some(2));
    let found = ask("search_part", json!({ "query": "0045" })).await;
    assert_eq!(
        found,
        json!([{ "part_id": "S-1", "name": "기계 씰", "part_no": "00451", "stock": 3 }])
    );
    let tags = ask("list_tags", json!({})).await;
    assert_eq!(tags[0], json!({ "name": "pump", "count": 2 }));

    let about = ask("get_equipment_info", json!({ "equipment_id": "P-101" })).await;
    assert_eq!(about["part_of"], json!([{ "type": "Line", "id": "L1", "name": "1 라인" }]));
    assert_eq!(about["parts"][0]["quantity"], 2);
    assert_eq!(about["maintained_by"], json!(["김정비"]));
    assert_eq!(about["bearings"].as_array().map(Vec::len), Some(1), "the old bearing is out");
    assert_eq!(about["changes"]["1w"], 25.0, "2.0 to 2.5 mm/s");

    let alike = ask("find_similar_equipment", json!({ "equipment_id": "P-101" })).await;
    assert_eq!(alike[0]["equipment_id"], "P-102");
    assert_eq!(alike[0]["overlap"], 4, "{alike}");
    assert_eq!(alike[0]["similarity"], 80.0, "four of five features: water is on one alone");
    assert_eq!(alike.as_array().map(Vec::len), Some(1), "the fan has nothing in common");

    let trend = ask("get_bearing_trend", json!({ "bearing_id": "ulsan-1/P-101/DE" })).await;
    let summary = &trend["summary"];
    assert_eq!((&summary["period"], &summary["data_count"]), (&json!("1m"), &json!(3)));
    assert_eq!((&summary["high"], &summary["low"]), (&json!(3.0), &json!(2.0)));
    assert_eq!(trend["daily"][0]["velocity_rms_mm_s"], 2.5, "newest first");
    let trend =
        ask("get_equipment_trend", json!({ "equipment_id": "P-101", "period": "1y" })).await;
    assert_eq!(trend["summary"]["change_rate"], 25.0);
    assert_eq!(trend["daily"][0]["worst_bearing_id"], "ulsan-1/P-101/DE");

    let compared = ask("compare_equipment", json!({ "equipment_ids": "P-101, P-102" })).await;
    assert_eq!(compared[1]["equipment_id"], "P-102");
    let rows = ask(
        "graph_query",
        json!({ "cypher":
        "MATCH (e:Equipment)-[:TAGGED]->(t:Tag {id: 'pump'}) RETURN {id: e.id} ORDER BY e.id" }),
    )
    .await;
    assert_eq!(
        rows,
        json!({ "rows": [{ "id": "P-101" }, { "id": "P-102" }], "row_count": 2,
            "truncated": false })
    );
}

/// R-GRAPH-1: additions, removals and risks; what is unchanged is left out.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn changes_tell_what_came_and_went() {
    let (_folder, store) = planted().await;
    let before = store.graph().assets().await.expect("read");
    let day = |ago: f64| {
        let now = pdm_service::clock::Clock::now(&SystemClock);
        now.plus_seconds(-ago * 86_400.0).to_string()[..10].to_owned()
    };
    let mut after = before.clone();
    let machine = NodeName::new("Equipment", "P-101");
    let old = NodeName::new("Bearing", "ulsan-1/P-101/DE");
    let new = NodeName::new("Bearing", "ulsan-1/P-101/NEW");
    after.nodes.insert(new.clone(), Properties::from([("id".into(), "ulsan-1/P-101/NEW".into())]));
    for (name, own) in &mut after.edges {
        if name.from == old && &*name.kind == "INSTALLED_IN" {
            own.insert("until".into(), Value::from(day(3.0).as_str()));
        }
    }
    let since = Properties::from([
        ("since".into(), Value::from(day(3.0).as_str())),
        ("position".into(), "DE".into()),
    ]);
    after.edges.insert(EdgeName::new("INSTALLED_IN", new, machine, &since), since);
    store
        .graph()
        .change_assets(&mut |before| Some(difference(before, &after)))
        .await
        .expect("written");
    let tools = runtime(&store);
    let ask = async |arguments| {
        called(&tools, "get_equipment_changes", arguments).await.expect("changes")
    };
    let week = ask(json!({ "equipment_id": "P-101", "period": "1w" })).await;
    let told: Vec<_> = week
        .as_array()
        .expect("rows")
        .iter()
        .map(|row| (row["bearing_id"].as_str(), row["change_type"].as_str()))
        .collect();
    assert_eq!(
        told,
        [(Some("ulsan-1/P-101/DE"), Some("removed")), (Some("ulsan-1/P-101/NEW"), Some("added"))]
    );
    assert_eq!(
        ask(json!({ "equipment_id": "P-101" })).await,
        json!([]),
        "nothing in a day, the default"
    );
}

/// R-GRAPH-1, bad input.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn wrong_arguments_are_told_which() {
    let (_folder, store) = planted().await;
    let tools = runtime(&store);
    let refused = async |tool, arguments| called(&tools, tool, arguments).await.expect_err(tool);
    let told =
        refused("get_bearing_trend", json!({ "bearing_id": "ulsan-1/P-101/DE", "period": "2w" }))
            .await;
    assert!(told.contains("period") && told.contains("1w"), "{told}");
    let told =
        refused("get_equipment_changes", json!({ "equipment_id": "P-101", "period": "1y" })).await;
    assert!(told.contains("period"), "{told}");
    let told = refused("get_equipment_info", json!({ "equipment_id": "X" })).await;
    assert!(told.contains("X is no machine of the asset graph"), "{told}");
    let told = refused("compare_equipment", json!({ "equipment_ids": "P-101" })).await;
    assert!(told.contains("has 1 ids, expected 2 or 3"), "{told}");
    let told = refused("get_bearing_trend", json!({ "bearing_id": "P-101" })).await;
    assert!(told.contains("site/equipment/bearing"), "{told}");
    let told = refused("graph_query", json!({ "cypher": "MATCH (n) DETACH DELETE n" })).await;
    assert!(told.contains("DELETE is not allowed"), "{told}");
    let told = refused("search_equipment", json!({})).await;
    assert!(told.contains("query"), "{told}");
}

/// Events and judgements add a bearing that no file names; a second run adds nothing.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_events_bring_is_added_once() {
    let (_folder, store) = planted().await;
    let mut stranger = window(1, 0.1, 1.0);
    stranger.equipment_id = "X-9".parse().expect("machine");
    put(&store, vec![window(2, 0.1, 1.0), stranger]).await;
    let first = digests::refresh(&store).await.expect("refreshed");
    let again = digests::refresh(&store).await.expect("refreshed");
    assert!(again.is_empty(), "{again}");
    // bearings are listed once they were judged; nothing was judged here
    assert!(first.nodes.iter().all(|(name, ..)| &*name.kind != "Judgement"), "{first}");
}

/// R-GRAPH-1: both stores are sources of queries.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn queries_answer_over_the_stores_as_in_memory() {
    let (_folder, store) = planted().await;
    let plant = store.graph().assets().await.expect("read");
    answer_as_in_memory(store).await;
    if let Some(server) = Postgres::start("queries_answer_over_the_stores_as_in_memory") {
        let settings = PostgresSettings::at(server.url());
        let store = Store::open_postgres(&settings, "agent").await.expect("opens");
        store.migrate().await.expect("migrated");
        store
            .graph()
            .change_assets(&mut |before| Some(difference(before, &plant)))
            .await
            .expect("written");
        answer_as_in_memory(store).await;
    }
}

/// Asserts that a query answers the same over the store and over a graph in memory.
async fn answer_as_in_memory(store: Store) {
    let mut memory = MemoryGraph::default();
    let mut ids = std::collections::BTreeMap::new();
    let plant = store.graph().assets().await.expect("read");
    for (name, own) in &plant.nodes {
        ids.insert(name.clone(), memory.add_node(vec![Arc::clone(&name.kind)], own.clone()));
    }
    for (name, own) in &plant.edges {
        memory.add_relationship(
            ids[&name.from],
            Arc::clone(&name.kind),
            ids[&name.to],
            own.clone(),
        );
    }
    let stored = StoredGraph::new(store.clone());
    let checked = tokio::task::spawn_blocking(move || {
        for text in [
            "MATCH (n) RETURN count(n) AS n",
            "MATCH (n:Equipment {id: 'P-101'}) RETURN n.name AS name",
            "MATCH (n:Equipment {name: '배기 팬'}) RETURN n.id AS id",
            "MATCH (a)-[r]->(b) RETURN a.id AS a, type(r) AS r, r.quantity AS q, b.id AS b ORDER \
             BY a, r, b",
            "MATCH (a {id: 'P-101'})-[r]-(b) RETURN type(r) AS r, b.id AS b ORDER BY r, b",
            "MATCH (a)<-[:FED_BY|HAS_PART]-(b) RETURN a.id AS a, b.id AS b ORDER BY a, b",
            "MATCH (l:Line)-[:HAS_PART*1..3]->(x) RETURN x.id AS x ORDER BY x",
            "MATCH (n:Nothing) RETURN n",
            "MATCH (n:Equipment) WHERE NOT (n)-[:TAGGED]->() RETURN n.id AS n",
        ] {
            let query = Query::read(text).expect("a query");
            let run = |graph| {
                query.run(graph, &Properties::new(), &Limits::default()).expect("rows").to_json()
            };
            assert_eq!(run(&stored), run(&memory), "{text}");
        }
    });
    checked.await.expect("no panic");
}
