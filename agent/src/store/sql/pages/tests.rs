//! How each database finds what pages list.

use super::*;
use crate::store::sql::tests::{plan, stores};

/// R-UI-1: a list of bearings reads no judgement and no event, whose rows lie scattered.
#[tokio::test]
async fn a_list_of_bearings_reads_bearings_and_open_episodes_alone_in_both_stores() {
    let name = "a_list_of_bearings_reads_bearings_and_open_episodes_alone_in_both_stores";
    let (_folder, _server, stores) = stores(name).await;
    for store in &stores {
        let plan = plan(store, FLEET, |query| query).await;
        assert!(!plan.contains("memory") && !plan.contains("events"), "{plan}");
        assert!(!plan.contains("SubPlan") && !plan.contains("CORRELATED"), "{plan}");
    }
}

/// R-UI-1: of the windows of a bearing, those that are asked for are found by bearing and time.
#[tokio::test]
async fn windows_are_found_by_bearing_and_time_in_both_stores() {
    let (_folder, _server, stores) =
        stores("windows_are_found_by_bearing_and_time_in_both_stores").await;
    for store in &stores {
        let plan = plan(store, crate::store::sql::windows::WINDOWS, |query| {
            let query = query.bind("s".to_owned()).bind("m".to_owned()).bind("b".to_owned());
            query.bind(0_i64).bind(9_i64)
        });
        let plan = plan.await;
        let found = if store.is_file() {
            "events_of_bearing (site=? AND equipment_id=? AND bearing_id=? AND measured_at_ms<?)"
        } else {
            "(bearing_id = 'b'::text) AND (measured_at_ms <= '0'::bigint)"
        };
        assert!(plan.contains(found), "{plan}");
        assert!(!plan.contains("Seq Scan") && !plan.contains("SCAN "), "{plan}");
    }
}
