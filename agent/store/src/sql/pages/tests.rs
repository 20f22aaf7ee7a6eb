//! Tests how each database finds the rows that pages list.

use super::*;
use crate::conformance::{at, event, judge_all, key, put};
use crate::database::Query;
use crate::sql::tests::{holds, plan, stores};
use crate::sql::windows::{LATE, VERDICTS, WINDOWS};

/// R-UI-1: a list of bearings reads no judgement, whose rows lie scattered, and of the events the
/// last of each bearing alone, by its identity.
#[tokio::test]
async fn a_list_of_bearings_reads_bearings_open_episodes_and_last_events_alone_in_both_stores() {
    let name =
        "a_list_of_bearings_reads_bearings_open_episodes_and_last_events_alone_in_both_stores";
    let (_folder, _server, stores) = stores(name).await;
    for store in &stores {
        let plan = plan(store, FLEET, |query| query).await;
        assert!(!plan.contains("memory") && !plan.contains("SCAN e"), "{plan}");
        let by_identity = "SEARCH e USING INDEX sqlite_autoindex_events_1 (event_id=?)";
        assert!(!store.is_file() || plan.contains(by_identity), "{plan}");
        // the sixth-last window of each bearing, for its beat, is read from the index alone
        let of_the_beat = if store.is_file() {
            "SEARCH n USING COVERING INDEX events_of_bearing"
        } else {
            "Index Only Scan"
        };
        assert!(plan.contains(of_the_beat), "{plan}");
        let subqueries = plan.matches("CORRELATED").count().max(plan.matches("SubPlan").count());
        assert!(subqueries <= 2, "one for each bearing and no other: {plan}");
    }
}

fn of_bearing(query: Query<'_>) -> Query<'_> {
    let query = query.bind("s".to_owned()).bind("m".to_owned()).bind("b".to_owned());
    query.bind(0_i64).bind(9_i64)
}

/// R-UI-1: of the windows of a bearing, those that are asked for are read from the indexes of
/// events and judgements alone.
#[tokio::test]
async fn windows_are_read_from_indexes_alone_in_both_stores() {
    let (_folder, _server, stores) =
        stores("windows_are_read_from_indexes_alone_in_both_stores").await;
    for store in &stores {
        let (windows, verdicts) = if store.is_file() {
            (
                "SEARCH events USING COVERING INDEX events_of_bearing (site=? AND equipment_id=? \
                 AND bearing_id=? AND measured_at_ms<?)",
                "USING COVERING INDEX memory_of_bearing (site=? AND equipment_id=? AND \
                 bearing_id=? AND measured_at_ms>? AND measured_at_ms<?)",
            )
        } else {
            ("Index Only Scan", "Index Only Scan using memory_of_bearing")
        };
        holds(&plan(store, WINDOWS, of_bearing).await, &[windows]);
        holds(&plan(store, VERDICTS, of_bearing).await, &[verdicts]);
        if store.is_file() {
            holds(&plan(store, LATE, of_bearing).await, &["memory_late"]);
        }
    }
}

/// A late window is no evidence of how the bearing stood at its time.
#[tokio::test]
async fn a_window_that_came_late_has_no_judgement_of_todays_bearing() {
    let (_folder, _server, stores) =
        stores("a_window_that_came_late_has_no_judgement_of_todays_bearing").await;
    for store in &stores {
        put(store, &[event(2)]).await;
        judge_all(store).await;
        put(store, &[event(1)]).await;
        judge_all(store).await;
        let windows = store.pages().windows(&key(), at(1e6), 9).await.expect("listed");
        let told: Vec<_> =
            windows.iter().map(|one| (one.event_id, one.risk_level.is_some())).collect();
        assert_eq!(told, [(event(1).event_id, false), (event(2).event_id, true)]);
        assert!(windows[0].rms_g.is_some(), "its figures are its own");
        let before = event(1).measured_at.unix_ms();
        assert_eq!(store.graph().risk_at(&key(), before).await.expect("read"), None);
    }
}
