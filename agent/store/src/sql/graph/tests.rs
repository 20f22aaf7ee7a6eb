//! Tests that each database looks the graph up by an index, in both stores. A look that reads a
//! whole table answers a test as fast as one that does not; `tests/run plant` would show the
//! difference at a million relationships, and these claims show it without any.

use super::*;
use crate::sql::tests::{holds, plan, stores};

/// R-GRAPH-1: relationships of one type by node and type at once, their other ends by identity.
#[tokio::test]
async fn relationships_of_a_node_are_found_by_node_and_type_in_both_stores() {
    let name = "relationships_of_a_node_are_found_by_node_and_type_in_both_stores";
    let (_folder, _server, stores) = stores(name).await;
    for store in &stores {
        for (number, end, index) in [
            (1, "from_node", "graph_edges_out"),
            (3, "to_node", "graph_edges_in"),
            (5, "from_node", "graph_edges_out"),
            (7, "to_node", "graph_edges_in"),
        ] {
            let plan = plan(store, &EDGES[number], |query| {
                let nodes = query.bind([1, 2].into_iter().collect::<Numbers>());
                nodes.bind("TAGGED".to_owned()).bind(String::new()).bind(9_i64)
            });
            let plan = plan.await;
            if store.is_file() {
                holds(&plan, &[&format!("{index} ({end}=? AND kind=?)")]);
            } else {
                holds(&plan, &[index, &format!("(({end} = ANY "), "AND (kind = "]);
            }
            let far =
                if store.is_file() { "n USING INTEGER PRIMARY KEY" } else { "graph_nodes_pkey" };
            assert_eq!(plan.contains(far), number > 4, "{plan}");
        }
    }
}

/// R-GRAPH-1: nodes by identity, and the days of a bearing by bearing and time.
#[tokio::test]
async fn nodes_and_days_are_found_by_an_index_in_both_stores() {
    let (_folder, _server, stores) =
        stores("nodes_and_days_are_found_by_an_index_in_both_stores").await;
    for store in &stores {
        let by_ids =
            plan(store, &BY_IDS, |query| query.bind([1, 2].into_iter().collect::<Numbers>()));
        let key = if store.is_file() { "INTEGER PRIMARY KEY" } else { "graph_nodes_pkey" };
        holds(&by_ids.await, &[key]);
        let days = plan(store, &DAYS, |query| {
            let query = query.bind("s".to_owned()).bind("m".to_owned()).bind("b".to_owned());
            query.bind([0, 86_400_000].into_iter().collect::<Numbers>())
        });
        let bounds = if store.is_file() {
            "bearing_id=? AND measured_at_ms>? AND measured_at_ms<?"
        } else {
            "AND (measured_at_ms >= d.begin) AND (measured_at_ms < (d.begin + 86400000))"
        };
        let days = days.await;
        assert!(days.contains(bounds), "{days}");
        assert!(!days.contains("Seq Scan on events") && !days.contains("SCAN e\n"), "{days}");
    }
}
