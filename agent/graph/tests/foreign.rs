//! Queries and tables from outside are taken or refused, never a panic: the hostile files of the
//! fuzz targets `query` and `table`, and pieces of openCypher in any order.

use std::fs;
use std::path::Path;
use std::time::Duration;

use pdm_graph::files::table::FileTable;
use pdm_graph::{Limits, MemoryGraph, Properties, Query};
use proptest::prelude::*;

fn limits() -> Limits {
    let time = Duration::from_secs(1);
    Limits { rows: 50, working_rows: 2_000, time, depth: 6, bytes: 20_000_000 }
}

fn plant() -> MemoryGraph {
    let mut graph = MemoryGraph::default();
    let mut node = |label: &str, rpm: i64| {
        let properties = Properties::from([("rpm".into(), rpm.into())]);
        graph.add_node(vec![label.into()], properties)
    };
    let (pump, bearing) = (node("Equipment", 1480), node("Bearing", 0));
    graph.add_relationship(pump, "HAS_PART", bearing, Properties::new());
    graph
}

/// Reads the text as a query and runs it; a refusal is as good as an answer.
fn asked(text: &str) {
    let _ = Query::read_strict(text);
    let Ok(query) = Query::read(text) else { return };
    if let Ok(table) = query.run(&plant(), &Properties::new(), &limits()) {
        assert!(table.rows.len() <= limits().rows);
        let _ = table.to_json();
    }
}

fn files(of: &str) -> Vec<Vec<u8>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fuzz");
    ["seeds", "hostile"]
        .iter()
        .flat_map(|kind| fs::read_dir(folder.join(kind).join(of)).expect("a folder of seeds"))
        .map(|entry| fs::read(entry.expect("an entry").path()).expect("a seed"))
        .collect()
}

#[test]
fn hostile_queries_are_answered_or_refused() {
    let queries = files("query");
    assert!(queries.len() >= 10, "{} seeds", queries.len());
    for query in queries {
        asked(&String::from_utf8_lossy(&query));
    }
}

#[test]
fn hostile_tables_have_rows_or_problems_with_lines() {
    for bytes in files("table") {
        if let Err(problems) = FileTable::parse(Path::new("bearings.csv"), &bytes) {
            assert!(problems.iter().all(|one| one.line > 0), "{problems:?}");
        }
    }
}

proptest! {
    #[test]
    fn pieces_of_a_query_in_any_order_are_no_panic(
        pieces in prop::collection::vec(
            prop::sample::select(vec![
                "MATCH ", "OPTIONAL ", "(a)", "(b:Bearing)", "-[r:HAS_PART*1..3]->", "--", " WHERE \
                    ",
                "a.rpm", " = ", " IN ", "[1, 2]", "[x IN ", " | x]", " RETURN ", " WITH ", " AS b",
                "*",
                "count(", "collect(", ")", "{k: ", "}", "'", "range(1, 9)", " UNWIND ", " ORDER BY \
                    a",
                " LIMIT ", "-1", "9223372036854775808", "1e999", " / 0", " % 0", "CASE ", "WHEN ",
                "THEN ",
                "END ", "date('2026-02-30')", "duration('P1M')", "null", "$p", "\u{0}", "\u{202e}",
                "베어링",
            ]),
            0..24,
        ),
    ) {
        asked(&pieces.concat());
    }
}
