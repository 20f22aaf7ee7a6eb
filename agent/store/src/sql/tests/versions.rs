//! Rows that another version wrote, or that are damaged: pages, API and judging answer on both
//! databases, and nothing that staff was told is forgotten.

use pdm_shared::risk::RiskLevel;
use pdm_web::plant::{PlantError, WindowRow};

use super::stores;
use crate::conformance::{at, event, judge_all, key, put};

use crate::{Store, StoreError};

async fn windows(store: &Store) -> Vec<WindowRow> {
    store.pages().windows(&key(), at(1e6), 9).await.expect("windows are listed")
}

/// R-UI-1: the figures of a window as an earlier version, a later one and a damaged file hold them.
#[tokio::test]
async fn windows_of_another_version_are_listed_with_what_is_known_of_them() {
    let name = "windows_of_another_version_are_listed_with_what_is_known_of_them";
    let (_folder, _server, stores) = stores(name).await;
    for store in &stores {
        put(store, &[event(1), event(2)]).await;
        judge_all(store).await;
        let told = windows(store).await;
        assert_eq!(told.len(), 2);
        let first = &told[0];
        let figures = [
            first.rms_g,
            first.velocity_rms_mm_s,
            first.kurtosis,
            first.envelope_rms_g,
            first.anomaly_score,
            first.baseline_level,
            first.baseline_limit,
            first.rul_hours,
            first.rul_low_hours,
            first.rul_high_hours,
        ];
        let figures = serde_json::to_string(&figures).expect("json");
        let feature = &first.feature;
        let earlier = format!("[true,true,\"{feature}\",{figures}]");
        let later = format!("[true,true,\"{feature}\",{},1.5]]", figures.trim_end_matches(']'));
        for shown in [&earlier, &later, &"damaged".to_owned(), &String::new()] {
            store.raw(&format!("UPDATE events SET shown = '{shown}'")).await;
            assert_eq!(windows(store).await, told, "{shown}");
        }
        let newer = format!(
            r#"{{"v":9,"running":true,"valid":true,"feature":"{feature}","kurtosis":4.5,"phase_deg":1}}"#
        );
        store.raw(&format!("UPDATE events SET shown = '{newer}'")).await;
        let listed = windows(store).await;
        assert_eq!((listed.len(), listed[0].kurtosis, listed[0].rms_g), (2, Some(4.5), None));
    }
}

/// R-AGENT-1: one row of an alarm or of a bearing's state does not stop the judging, and the
/// bearing stands as badly as before.
#[tokio::test]
async fn judging_goes_on_over_rows_that_cannot_be_read() {
    let (_folder, _server, stores) = stores("judging_goes_on_over_rows_that_cannot_be_read").await;
    for store in &stores {
        put(store, &[event(1)]).await;
        judge_all(store).await;
        let before = store.pages().standing(&key()).await.expect("read").expect("a bearing");
        assert!(before.alarm.is_some() && before.risk_level > RiskLevel::Normal);
        // a notification of a version that had no time yet
        store.raw("UPDATE episodes SET notification = '{\"reason\":\"raised\"}'").await;
        let fleet = store.pages().fleet().await.expect("listed");
        assert_eq!((fleet.len(), fleet[0].alarm.is_none()), (1, true));
        store.raw("UPDATE bearings SET state = '{\"points\":{\"-\":7}}', recent = '[7]'").await;
        put(store, &[event(2)]).await;
        judge_all(store).await;
        assert!(store.judging().unjudged(9).await.expect("read").is_empty(), "judged");
        let after = store.pages().standing(&key()).await.expect("read").expect("a bearing");
        assert_eq!((after.risk_level, after.fault_stage), (before.risk_level, before.fault_stage));
        let record = store.episodes().episode(&key()).await.expect("read").expect("an episode");
        let alarm = record.alarm.expect("staff is told again of what stands");
        assert_eq!(alarm.risk, before.risk_level);
    }
}

#[tokio::test]
async fn a_state_that_is_damaged_makes_no_alarm_fall() {
    let (_folder, _server, stores) = stores("a_state_that_is_damaged_makes_no_alarm_fall").await;
    for store in &stores {
        put(store, &[event(1)]).await;
        judge_all(store).await;
        let before = store.pages().standing(&key()).await.expect("read").expect("a bearing");
        for state in ["", "{", "{\"points\":{\"-\":{\"risk\":\"Purple\"}}}"] {
            store.raw(&format!("UPDATE bearings SET state = '{state}'")).await;
            let recalled =
                store.judging().recall(&key(), at(1e6)).await.expect("recalled").memory.state;
            assert_eq!(
                (recalled.risk(), recalled.stage()),
                (before.risk_level, before.fault_stage)
            );
            assert_eq!(recalled.fault(), before.fault_type);
        }
    }
}

/// An entry that cannot be read is no store that is away: trying again does not help.
#[tokio::test]
async fn a_judgement_that_cannot_be_read_is_told_as_that() {
    let (_folder, _server, stores) =
        stores("a_judgement_that_cannot_be_read_is_told_as_that").await;
    for store in &stores {
        put(store, &[event(1)]).await;
        judge_all(store).await;
        store.raw("UPDATE pdm_agent_memory SET diagnosis = '{}'").await;
        let error = store.history().diagnosis(event(1).event_id).await.expect_err("not readable");
        assert!(matches!(error, StoreError::Content { .. }), "{error}");
        assert!(matches!(PlantError::from(error), PlantError::Unreadable(_)));
        assert_eq!(windows(store).await.len(), 1, "the list does not read it");
    }
}
