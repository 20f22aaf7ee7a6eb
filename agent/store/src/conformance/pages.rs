//! Tests the reads of the pages: the fleet, one bearing, its last spectra, the messages to staff.

use pdm_shared::event::{Spectra, SpectrumLines};
use pdm_shared::id::BearingKey;
use pdm_shared::risk::RiskLevel;
use pdm_web::plant::{BearingRow, Blind};

use super::{at, event, judge_all, key, put};
use crate::Store;

/// R-UI-1
pub(super) async fn the_fleet_is_listed_worst_first_with_its_alarms(store: &Store) {
    let mut healthy: pdm_shared::event::Event =
        serde_json::from_str(include_str!("../../../../config/examples/event-healthy.json"))
            .expect("event");
    healthy.sequence = 3;
    healthy.measured_at = at(180.0);
    healthy.site = key().site;
    healthy.equipment_id = key().equipment;
    healthy.bearing_id = "NDE".parse().expect("name");
    put(store, &[event(1), event(2), healthy]).await;
    judge_all(store).await;
    let fleet = store.pages().fleet().await.expect("read");
    assert_eq!(fleet.len(), 2);
    assert!(fleet[0].risk_level > fleet[1].risk_level, "{fleet:?}");
    assert_eq!(fleet[0].key, key());
    assert_eq!(fleet[0].event_id, Some(event(2).event_id), "the last judgement stands");
    let alarm = fleet[0].alarm.as_ref().expect("an alarm stands");
    assert_eq!((alarm.since, alarm.acknowledged_at), (at(10_000.0), None));
    assert_eq!(fleet[1].risk_level, RiskLevel::Normal);
    assert!(fleet[1].alarm.is_none());
    assert_eq!(store.pages().standing(&key()).await.expect("read").as_ref(), Some(&fleet[0]));
    let machine = store.pages().machine(key().equipment.as_str()).await.expect("read");
    assert_eq!(machine, fleet, "all of them are of one machine");
    assert_eq!(store.pages().machine("X-9").await.expect("read"), []);
    put(store, &[event(5)]).await;
    judge_all(store).await;
    let (newest, mut late) = (store.pages().standing(&key()).await.expect("read"), event(6));
    late.measured_at = event(2).measured_at;
    put(store, &[late]).await;
    judge_all(store).await;
    let stands = |of: Option<BearingRow>| of.map(|one| (one.event_id, one.measured_at));
    let after = stands(store.pages().standing(&key()).await.expect("read"));
    assert_eq!(after, stands(newest), "a window that comes late is not the newest");
    assert_eq!(after, Some((Some(event(5).event_id), Some(event(5).measured_at))));
    for (sequence, running, valid, blind) in [
        (7, true, false, Some(Blind::Sensor)),
        (8, false, true, Some(Blind::Standing)),
        (9, true, true, None),
    ] {
        let mut window = event(sequence);
        window.operating.running = running;
        window.signal_quality.valid = valid;
        put(store, &[window]).await;
        judge_all(store).await;
        let row = store.pages().standing(&key()).await.expect("read").expect("known");
        assert_eq!((row.event_id, row.blind), (Some(event(sequence).event_id), blind));
    }
    let stranger = BearingKey { bearing: "DE-2".parse().expect("name"), ..key() };
    assert_eq!(store.pages().standing(&stranger).await.expect("read"), None);
}

/// R-UI-1: a window is told as the whole event and its judgement tell it, with spectra or without.
pub(super) async fn windows_are_told_as_their_events_and_judgements(store: &Store) {
    put(store, &[event(1), event(2)]).await;
    judge_all(store).await;
    put(store, &[event(3)]).await;
    let past = store.history().history(&key(), at(1e6), 2).await.expect("read");
    let windows = store.pages().windows(&key(), at(1e6), 2).await.expect("read");
    assert_eq!((windows.len(), past.len()), (2, 2), "the last two");
    assert!(windows[0].risk_level.is_some() && windows[1].risk_level.is_none(), "{windows:?}");
    for (window, past) in windows.iter().zip(&past) {
        let (event, judged) = (&past.event, past.judged.as_ref());
        let told = (window.event_id, window.measured_at, window.running, window.valid);
        let (running, valid) = (event.operating.running, event.signal_quality.valid);
        assert_eq!(told, (event.event_id, event.measured_at, running, valid));
        let figures = [
            (window.rms_g, event.time_domain.rms_g),
            (window.velocity_rms_mm_s, event.time_domain.velocity_rms_mm_s),
            (window.kurtosis, event.time_domain.kurtosis),
            (window.envelope_rms_g, event.time_domain.envelope_rms_g),
            (window.anomaly_score, event.anomaly.score),
            (window.baseline_level, event.trend.baseline_level),
            (window.baseline_limit, event.trend.baseline_limit),
            (window.rul_hours, event.rul.hours),
            (window.rul_low_hours, event.rul.ci_low_hours),
            (window.rul_high_hours, event.rul.ci_high_hours),
        ];
        assert!(figures.iter().all(|(told, of_event)| told == of_event), "{figures:?}");
        assert_eq!(window.feature, event.trend.feature);
        assert_eq!(window.risk_level, judged.map(|judged| judged.risk));
        assert_eq!(window.fault_stage, judged.map(|judged| judged.stage));
        assert_eq!(window.fault_type, judged.and_then(|judged| judged.fault));
    }
    assert_eq!(store.pages().windows(&key(), at(-1e6), 2).await.expect("read"), []);
}

/// R-UI-1
pub(super) async fn the_last_spectra_are_found(store: &Store) {
    let lines =
        |unit: &str| SpectrumLines { df_hz: 1.0, unit: unit.to_owned(), amplitude: vec![0.1, 0.2] };
    let mut with = event(1);
    with.spectra = Some(Spectra { envelope: lines("g²"), acceleration: lines("g") });
    let mut without = event(2);
    without.spectra = None;
    put(store, &[with.clone(), without]).await;
    let mut later = event(3);
    later.spectra.clone_from(&with.spectra);
    put(store, std::slice::from_ref(&later)).await;
    let found = store.pages().last_spectra(&key(), at(1e6), 60).await.expect("read");
    let found: Vec<_> = found.iter().map(|event| event.event_id).collect();
    assert_eq!(found, [later.event_id, with.event_id], "newest first, none without spectra");
    assert_eq!(store.pages().last_spectra(&key(), at(1e6), 1).await.expect("read").len(), 1);
    assert!(store.pages().last_spectra(&key(), at(0.0), 60).await.expect("read").is_empty());
    let first = store.pages().first_spectra(&key(), 60).await.expect("read");
    let first: Vec<_> = first.iter().map(|event| event.event_id).collect();
    assert_eq!(first, [with.event_id, later.event_id], "oldest first");
}

/// R-UI-1
pub(super) async fn what_staff_was_told_is_listed_newest_first(store: &Store) {
    put(store, &[event(1)]).await;
    judge_all(store).await;
    let all = store.pages().notifications(None, at(1e9), 10).await.expect("read");
    assert_eq!(all.len(), 1);
    assert_eq!(store.pages().notifications(Some(&key()), at(1e9), 10).await.expect("read"), all);
    assert!(
        store.pages().notifications(None, all[0].created_at, 10).await.expect("read").is_empty()
    );
    let stranger = BearingKey { bearing: "NDE".parse().expect("name"), ..key() };
    assert!(
        store.pages().notifications(Some(&stranger), at(1e9), 10).await.expect("read").is_empty()
    );
}
