//! Times of the ten tools over a large plant, on demand (`tests/run plant`), and its short form.

use super::*;

/// Machines of the large plant, with three bearings each: 100,000 nodes and a million
/// relationships.
const LARGE: usize = 12_000;

/// A plant of so many machines, with parts, documents and staff in proportion.
#[expect(clippy::too_many_lines, reason = "a table of what the plant holds")]
fn plant_of(machines_in_all: usize) -> Assets {
    let mut assets = Assets::default();
    let node = |assets: &mut Assets, kind: &str, id: String, more: &[(&str, Value)]| {
        let name = NodeName::new(kind, id.as_str());
        let mut own = Properties::from([
            ("id".into(), id.as_str().into()),
            ("name".into(), format!("{kind} {id}").as_str().into()),
        ]);
        own.extend(more.iter().map(|(key, value)| (Arc::from(*key), value.clone())));
        assets.nodes.insert(name.clone(), own);
        name
    };
    let edge = |assets: &mut Assets, kind: &str, from: &NodeName, to: &NodeName| {
        let own = Properties::new();
        assets.edges.insert(EdgeName::new(kind, from.clone(), to.clone(), &own), own);
    };
    let a = &mut assets;
    node(a, "Site", "s1".to_owned(), &[]);
    let lines: Vec<_> = (0..200).map(|i| node(a, "Line", format!("L{i}"), &[])).collect();
    let tags: Vec<_> = (0..100).map(|i| node(a, "Tag", format!("tag-{i}"), &[])).collect();
    let parts: Vec<_> =
        (0..machines_in_all * 35 / 12).map(|i| node(a, "Part", format!("S-{i}"), &[])).collect();
    let documents: Vec<_> =
        (0..machines_in_all * 4 / 3).map(|i| node(a, "Document", format!("D-{i}"), &[])).collect();
    let staff: Vec<_> = (0..machines_in_all * 7 / 120)
        .map(|i| node(a, "Technician", format!("T-{i}"), &[]))
        .collect();
    let (mut machines, mut bearings) = (Vec::new(), Vec::new());
    for i in 0..machines_in_all {
        let load = ["light", "medium", "heavy"][i % 3];
        machines.push(node(
            a,
            "Equipment",
            format!("P-{i}"),
            &[
                ("site", "s1".into()),
                ("load", load.into()),
                ("speed_rpm", Value::Float(600.0 + (i % 3_000) as f64)),
            ],
        ));
        for seat in ["DE", "NDE", "AX"] {
            let model = format!("62{:02}", i % 20);
            bearings.push(node(
                a,
                "Bearing",
                format!("s1/P-{i}/{seat}"),
                &[("model", model.as_str().into())],
            ));
        }
    }
    for (i, machine) in machines.iter().enumerate() {
        edge(a, "HAS_PART", &lines[i % lines.len()], machine);
        edge(a, "FED_BY", machine, &machines[(i * 7 + 1) % machines.len()]);
        for k in 0..2 {
            edge(a, "TAGGED", machine, &tags[(i * 3 + k * 41) % tags.len()]);
        }
        for k in 0..20 {
            edge(a, "HAS_PART", machine, &parts[(i * 31 + k * 977) % parts.len()]);
        }
        for k in 0..12 {
            edge(a, "DOCUMENTED_IN", machine, &documents[(i * 17 + k * 499) % documents.len()]);
        }
        for k in 0..2 {
            edge(a, "MAINTAINED_BY", machine, &staff[(i * 5 + k * 131) % staff.len()]);
        }
    }
    for (i, bearing) in bearings.iter().enumerate() {
        edge(a, "INSTALLED_IN", bearing, &machines[i / 3]);
        for k in 1..=6 {
            edge(a, "SAME_MODEL", bearing, &bearings[(i + k * 60) % bearings.len()]);
        }
        for k in 0..6 {
            edge(a, "HAS_PART", bearing, &parts[(i * 13 + k * 631) % parts.len()]);
        }
        for k in 0..4 {
            edge(a, "DOCUMENTED_IN", bearing, &documents[(i * 19 + k * 211) % documents.len()]);
        }
    }
    assets
}

/// The ten tools, each with the arguments of its nth call.
fn calls(n: usize, machines: usize) -> Vec<(&'static str, Json)> {
    let id = format!("P-{}", (n * 397) % machines);
    let other = format!("P-{}", (n * 911 + 1) % machines);
    let two = format!("{id},{other}");
    let bearing = format!("s1/{id}/DE");
    let cypher = format!(
        "MATCH (e:Equipment {{id: \
         '{id}'}})<-[:INSTALLED_IN]-(b)-[:SAME_MODEL]-(c)-[:INSTALLED_IN]->(f:Equipment)
         WITH f, count(*) AS shared RETURN {{id: f.id, shared: shared}} ORDER BY f.id LIMIT 20"
    );
    vec![
        ("search_equipment", json!({ "query": id })),
        ("search_part", json!({ "query": format!("S-{}", n * 331) })),
        ("list_tags", json!({})),
        ("get_equipment_info", json!({ "equipment_id": id })),
        ("find_similar_equipment", json!({ "equipment_id": id })),
        ("get_equipment_changes", json!({ "equipment_id": id, "period": "1m" })),
        ("get_equipment_trend", json!({ "equipment_id": id })),
        ("get_bearing_trend", json!({ "bearing_id": bearing })),
        ("compare_equipment", json!({ "equipment_ids": two })),
        ("graph_query", json!({ "cypher": cypher })),
    ]
}

/// A window a day of a month, of one bearing of each machine that is asked about.
async fn put_windows(store: &Store, size: Size) {
    let mut sequence = 0;
    for n in 0..size.calls {
        let mut windows = Vec::new();
        for machine in [(n * 397) % size.machines, (n * 911 + 1) % size.machines] {
            for day in 0..31 {
                sequence += 1;
                let mut event = window(sequence, f64::from(day), 2.0);
                event.site = "s1".parse().expect("site");
                event.equipment_id = format!("P-{machine}").parse().expect("machine");
                windows.push(event);
            }
        }
        put(store, windows).await;
    }
}

/// How much is measured.
#[derive(Clone, Copy)]
struct Size {
    machines: usize,
    /// Calls of each tool.
    calls: usize,
}

/// Times of every tool, ms at the 95th percentile.
async fn measured(store: Store, what: &str, size: Size) -> f64 {
    let plant = plant_of(size.machines);
    println!("{what}: {} nodes, {} relationships", plant.nodes.len(), plant.edges.len());
    let begun = Instant::now();
    store
        .graph()
        .change_assets(&mut |before| Some(difference(before, &plant)))
        .await
        .expect("written");
    println!("{what}: written in {:.1} s", begun.elapsed().as_secs_f64());
    put_windows(&store, size).await;
    let tools = runtime(&store);
    let mut worst: f64 = 0.0;
    let count = calls(0, size.machines).len();
    for tool in 0..count {
        let (mut times, mut name) = (Vec::new(), "");
        for n in 0..size.calls {
            let (tool, arguments) = calls(n, size.machines).swap_remove(tool);
            let begun = Instant::now();
            called(&tools, tool, arguments).await.expect(tool);
            times.push(begun.elapsed().as_secs_f64() * 1e3);
            name = tool;
        }
        times.sort_by(f64::total_cmp);
        let (median, p95) = (times[times.len() / 2], times[times.len() * 95 / 100]);
        println!("{what}: {name:24} median {median:6.1} ms, p95 {p95:6.1} ms");
        worst = worst.max(p95);
    }
    worst
}

/// R-GRAPH-1: the aim is a 95th percentile of at most 50 ms at 100,000 nodes and a million
/// relationships on both stores. `tests/run plant` prints it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "writes a million rows into each store, some minutes"]
async fn the_tools_answer_over_a_large_plant() {
    let size = Size { machines: LARGE, calls: 60 };
    let worst = measured_in_both("the_tools_answer_over_a_large_plant", size).await;
    println!("worst 95th percentile: {worst:.1} ms (aim: 50 ms)");
}

/// The measured run itself is too long for every day: here each of its calls is made twice, so that
/// a tool that answers otherwise does not stop it unseen.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_calls_that_the_plant_run_measures_are_answered() {
    let size = Size { machines: 120, calls: 2 };
    measured_in_both("the_calls_that_the_plant_run_measures_are_answered", size).await;
}

async fn measured_in_both(test: &str, size: Size) -> f64 {
    let folder = tempfile::tempdir().expect("folder");
    let mut worst = measured(sqlite(folder.path()).await, "SQLite", size).await;
    if let Some(server) = Postgres::start(test) {
        let settings = PostgresSettings::at(server.url());
        let store = Store::open_postgres(&settings, "agent").await.expect("opens");
        store.migrate().await.expect("migrated");
        worst = worst.max(measured(store, "PostgreSQL", size).await);
    }
    assert!(worst.is_finite());
    worst
}
