//! Any text as a query over the asset graph, run over a small one: rows or a reason, never a panic,
//! and never longer than its limits.
#![no_main]

use std::sync::LazyLock;
use std::time::Duration;

use libfuzzer_sys::fuzz_target;
use pdm_graph::{Limits, MemoryGraph, Properties, Query};

fuzz_target!(|text: &str| {
    let _ = Query::read_strict(text);
    let Ok(query) = Query::read(text) else { return };
    let limits = Limits {
        rows: 50,
        working_rows: 2_000,
        time: Duration::from_secs(1),
        depth: 6,
        bytes: 20_000_000,
    };
    if let Ok(table) = query.run(&*PLANT, &Properties::new(), &limits) {
        assert!(table.rows.len() <= limits.rows);
        let _ = table.to_json();
    }
});

/// Two pumps in a line, each with a bearing; the second is fed by the first.
static PLANT: LazyLock<MemoryGraph> = LazyLock::new(|| {
    let mut graph = MemoryGraph::default();
    let mut node = |label: &str, name: &str| {
        let properties = Properties::from([
            ("name".into(), name.into()),
            ("rpm".into(), 1480_i64.into()),
            ("risk".into(), 0.4.into()),
        ]);
        graph.add_node(vec![label.into()], properties)
    };
    let line = node("Line", "L1");
    let pumps = [node("Equipment", "P-101"), node("Equipment", "P-102")];
    let bearings = [node("Bearing", "DE"), node("Bearing", "NDE")];
    for (pump, bearing) in pumps.iter().zip(bearings) {
        graph.add_relationship(line, "HAS_PART", *pump, Properties::new());
        graph.add_relationship(*pump, "HAS_PART", bearing, Properties::new());
    }
    graph.add_relationship(pumps[1], "FED_BY", pumps[0], Properties::new());
    graph
});
