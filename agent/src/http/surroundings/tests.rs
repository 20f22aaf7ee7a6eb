//! Machines of two sites that have one id: what each of them gets, before and after a refresh.

use std::sync::Arc;

use pdm_expert::rules::Rules;
use pdm_graph::assets::{Assets, EdgeName, NodeName, difference, read_assets};
use pdm_graph::{Properties, Value};
use pdm_service::clock::{Clock as _, SystemClock};
use pdm_shared::event::Event;
use pdm_shared::id::EventId;
use pdm_shared::topic::Prefix;
use pdm_store::{Incoming, Store};
use pdm_web::plant::{MachineAround, Surroundings};

use super::{places, sites_of_id, surroundings_of};
use crate::assets::digests::refresh;
use crate::judging::Judging;
use crate::settings::NotifySettings;
use crate::workflow::{Expert, Workflow};

/// The plant of `ulsan-1`; whose machines these are its bearings say.
const ULSAN: &str = "\
nodes:
  - { type: Site, id: ulsan-1 }
  - { type: Line, id: L1, name: 급수 라인 }
  - { type: Equipment, id: P-101, name: 급수펌프 1호 }
  - { type: Bearing, id: ulsan-1/P-101/DE, model: '6205' }
  - { type: Part, id: S-1, name: 기계 씰, stock: 3 }
relationships:
  - { type: HAS_PART, from: Line/L1, to: Equipment/P-101 }
  - { type: HAS_PART, from: Equipment/P-101, to: Part/S-1 }
  - { type: INSTALLED_IN, from: Bearing/ulsan-1/P-101/DE, to: Equipment/P-101, position: DE }
";

/// The machine of `yeosu-2` with the same id.
const YEOSU: &str = "\
nodes:
  - { type: Equipment, id: yeosu-2/P-101, name: 냉각수펌프 1호 }
  - { type: Bearing, id: yeosu-2/P-101/DE, model: '6309' }
relationships:
  - { type: INSTALLED_IN, from: Bearing/yeosu-2/P-101/DE, to: Equipment/yeosu-2/P-101, position: \
    DE }
";

async fn two_plants() -> (tempfile::TempDir, Store) {
    let folder = tempfile::tempdir().expect("folder");
    let store = Store::open_sqlite(&folder.path().join("agent.db")).await.expect("opens");
    store.migrate().await.expect("migrated");
    let clock = Arc::new(SystemClock);
    for (number, site) in [(1_i64, "ulsan-1"), (2, "yeosu-2")] {
        let text = include_str!("../../../../config/examples/event.json");
        let mut event: Event = serde_json::from_str(text).expect("event");
        event.site = site.parse().expect("a site");
        event.gateway_id = format!("gw-{number}").parse().expect("a gateway");
        event.event_id = EventId::at(event.measured_at.unix_ms() + 1000 * number);
        let payload = serde_json::to_string(&event).expect("json");
        let batch = [Incoming::Event { event: Box::new(event), payload, proven: false }];
        store.intake().store(&batch, SystemClock.now(), "dead").await.expect("stored");
    }
    let workflow = Workflow::new(Expert::new(Rules::default()), clock.clone());
    let (notify, prefix) = (NotifySettings::default(), Prefix::default());
    let judging = Judging::new(store.judging(), clock, workflow, &notify, &prefix);
    while judging.pass().await.expect("judged") > 0 {}
    (folder, store)
}

async fn import(store: &Store, folder: &tempfile::TempDir, text: &str) {
    let file = folder.path().join("plant.yaml");
    std::fs::write(&file, text).expect("file");
    let (new, _) = read_assets(&[file]).expect("a plant");
    put(store, &new).await;
}

async fn put(store: &Store, new: &Assets) {
    let change = &mut |before: &Assets| Some(difference(before, &before.clone().with(new)));
    store.graph().change_assets(change).await.expect("written");
}

async fn around(store: &Store, site: &str) -> MachineAround {
    surroundings_of(store, site, "P-101").await.expect("read")
}

fn ids(around: &Surroundings, kind: &str) -> Vec<String> {
    let of_kind = around.neighbours.iter().filter(|one| one.kind == kind);
    of_kind.map(|one| one.id.clone()).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_machine_of_another_site_gets_neither_name_nor_line_nor_parts() {
    let (folder, store) = two_plants().await;
    import(&store, &folder, ULSAN).await;
    for turn in ["before a refresh", "after it"] {
        let MachineAround::Known(own) = around(&store, "ulsan-1").await else { panic!("{turn}") };
        assert_eq!((own.name.as_str(), own.site.as_str()), ("급수펌프 1호", "ulsan-1"), "{turn}");
        assert_eq!(ids(&own, "Part"), ["S-1"], "{turn}");
        assert_eq!(ids(&own, "Bearing"), ["ulsan-1/P-101/DE"], "{turn}");
        if let MachineAround::Known(other) = around(&store, "yeosu-2").await {
            assert_eq!(other.name, "P-101", "{turn}");
            assert!(ids(&other, "Part").is_empty(), "{turn}: {other:?}");
            assert_eq!(ids(&other, "Bearing"), ["yeosu-2/P-101/DE"], "{turn}");
        }
        let listed = places(&store).await.expect("read");
        assert_eq!(listed.machines["ulsan-1/P-101"].line.as_deref(), Some("급수 라인"), "{turn}");
        assert!(!listed.machines.contains_key("yeosu-2/P-101"), "{turn}: {listed:?}");
        assert_eq!(listed.designations["ulsan-1/P-101/DE"], "6205", "{turn}");
        refresh(&store).await.expect("refreshed");
    }
    assert_eq!(sites_of_id(&store, "P-101").await.expect("read"), ["ulsan-1", "yeosu-2"]);
    assert!(refresh(&store).await.expect("refreshed").is_empty(), "nothing twice");

    import(&store, &folder, YEOSU).await;
    let MachineAround::Known(other) = around(&store, "yeosu-2").await else { panic!("known") };
    assert_eq!(other.name, "냉각수펌프 1호");
    let listed = places(&store).await.expect("read");
    assert_eq!(listed.machines["yeosu-2/P-101"].name.as_deref(), Some("냉각수펌프 1호"));
    assert_eq!(listed.machines["ulsan-1/P-101"].name.as_deref(), Some("급수펌프 1호"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_machine_whose_site_is_not_clear_gives_nobody_its_name() {
    let (folder, store) = two_plants().await;
    import(&store, &folder, "nodes:\n  - { type: Equipment, id: P-101, name: 급수펌프 1호 }\n")
        .await;
    for site in ["ulsan-1", "yeosu-2"] {
        let around = around(&store, site).await;
        assert_eq!(around, MachineAround::Unclear(vec!["ulsan-1".into(), "yeosu-2".into()]));
    }
    assert!(places(&store).await.expect("read").machines.is_empty());
}

/// Versions without sites put the bearings of both plants into one machine.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_graph_of_an_older_version_is_put_right_by_a_refresh() {
    let (_folder, store) = two_plants().await;
    let brought = |id: &str| {
        let pairs =
            [("id", Value::from(id)), ("name", Value::from(id)), ("from_events", true.into())];
        pairs.into_iter().map(|(key, value)| (Arc::from(key), value)).collect::<Properties>()
    };
    let machine = NodeName::new("Equipment", "P-101");
    let mut old = Assets::default();
    old.nodes.insert(machine.clone(), brought("P-101"));
    for site in ["ulsan-1", "yeosu-2"] {
        let bearing = NodeName::new("Bearing", format!("{site}/P-101/DE"));
        old.nodes.insert(bearing.clone(), brought(&bearing.id));
        let at = Properties::from([(Arc::from("position"), Value::from("DE"))]);
        let edge = EdgeName::new("INSTALLED_IN", bearing, machine.clone(), &at);
        old.edges.insert(edge, at);
    }
    put(&store, &old).await;
    refresh(&store).await.expect("refreshed");
    let after = store.graph().assets().await.expect("read");
    assert!(!after.nodes.contains_key(&machine), "{:?}", after.nodes.keys());
    for site in ["ulsan-1", "yeosu-2"] {
        let MachineAround::Known(own) = around(&store, site).await else { panic!("{site}") };
        assert_eq!(ids(&own, "Bearing"), [format!("{site}/P-101/DE")]);
    }
    assert!(refresh(&store).await.expect("refreshed").is_empty(), "nothing twice");
}
