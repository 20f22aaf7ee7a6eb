//! Tests that the oracle reports each fault, and none in a good run.

use pdm_shared::delivery::Notification;
use pdm_shared::id::EventId;
use pdm_shared::risk::RiskLevel;
use pdm_shared::time::Timestamp;

use super::super::store::{Judged, MailDue, Stored};
use super::super::witness::Witnessed;
use super::*;

fn key(n: u128) -> uuid::Uuid {
    uuid::Uuid::from_u128(n)
}

fn id(n: i64) -> EventId {
    EventId(uuid::Uuid::from_u128(n.unsigned_abs().into()))
}

fn judged(n: i64, risk_level: RiskLevel) -> (String, Judged) {
    ("P/DE".to_owned(), Judged { event_id: id(n), risk_level })
}

fn notification(n: i64) -> Notification {
    serde_json::from_value(serde_json::json!({
        "schema": "pdm.notification/1", "notification_id": uuid::Uuid::from_u128(7),
        "event_id": id(n), "site": "s", "equipment_id": "P", "bearing_id": "DE",
        "risk_level": "Watch", "reason": "raised", "title": {"ko": "t", "en": "t"},
        "body": {"ko": "b", "en": "b"},
        "created_at": Timestamp::from_unix_ms(0).expect("epoch"),
    }))
    .expect("a notification")
}

/// A good run of three windows: the second raises the risk to Watch.
fn good() -> Evidence {
    let payload = |n: i64| format!("{{\"n\":{n},\"replayed\":false,\"delayed_s\":0.0,\"x\":1}}");
    let late = |n: i64| format!("{{\"n\":{n},\"replayed\":true,\"delayed_s\":7.25,\"x\":1}}");
    let mut kept = Kept::default();
    let mut seen = Seen::default();
    for n in 1..=3 {
        let event_id = id(n).0.as_bytes().to_vec();
        let digest = Digest::of(payload(n).as_bytes());
        seen.rows.insert((0, n), Witnessed { event_id: event_id.clone(), digest });
        kept.events.push(Stored {
            gateway: "gw".to_owned(),
            sequence: n,
            event_id,
            bearing: "P/DE".to_owned(),
            measured_at_ms: (n - 1) * 1000,
            digest: Digest::of(late(n).as_bytes()),
        });
        let risk = if n == 2 { RiskLevel::Watch } else { RiskLevel::Normal };
        kept.judgements.push(judged(n, risk));
    }
    kept.judgements[2].1.risk_level = RiskLevel::Watch;
    kept.notifications.push(notification(2));
    let body = serde_json::to_string(&kept.notifications[0]).expect("json");
    let posted = Posted { taken: [("k".to_owned(), body)].into(), ..Posted::default() };
    let mut heard = Heard::default();
    heard.note(&serde_json::to_vec(&kept.notifications[0]).expect("json"));
    kept.mails_due.push(MailDue { key: key(1), group: None });
    let windows = Windows {
        gateways: vec![("gw".to_owned(), vec!["P/DE".to_owned()])],
        snapshots: 3,
        started_at_ms: 0,
        period_ms: 1000,
    };
    Evidence {
        windows,
        seen,
        kept,
        posted,
        heard,
        mailed: Some(Mailed::of(&[format!("Message-ID: <{}@plant>\r\n\r\n", key(1))])),
        spooled: 0,
        kills: BTreeMap::new(),
        restarts: 0,
        gave_up: Vec::new(),
        mishaps: Vec::new(),
    }
}

/// The oracle's findings after `spoil` has changed the evidence.
fn found(spoil: impl FnOnce(&mut Evidence)) -> Vec<&'static str> {
    let mut evidence = good();
    spoil(&mut evidence);
    let verdict = judge(&evidence, Ok(()));
    let faults = verdict.faults();
    faults.iter().filter(|(_, found)| !found.is_empty()).map(|(name, _)| *name).collect()
}

#[test]
fn a_run_without_a_fault_is_well() {
    assert_eq!(found(|_| {}), Vec::<&str>::new());
}

#[test]
fn a_lost_event_is_missed_as_window_as_commit_and_as_number() {
    let lost = found(|evidence| drop(evidence.kept.events.remove(1)));
    assert_eq!(lost, ["lost", "gaps"]);
    let never_committed = found(|evidence| evidence.windows.snapshots = 4);
    assert_eq!(never_committed, ["lost"]);
}

#[test]
fn a_window_that_is_there_twice_is_noticed() {
    let twice = found(|evidence| {
        let mut again = evidence.kept.events[0].clone();
        again.event_id = id(99).0.as_bytes().to_vec();
        again.sequence = 4;
        evidence.kept.events.push(again);
        evidence.kept.judgements.push(judged(99, RiskLevel::Watch));
    });
    assert_eq!(twice, ["duplicated"]);
    let judged_twice = found(|evidence| {
        let again = evidence.kept.judgements[0].clone();
        evidence.kept.judgements.insert(0, again);
    });
    assert_eq!(judged_twice, ["duplicated"]);
}

#[test]
fn a_changed_byte_is_noticed_and_the_mark_of_lateness_is_none() {
    assert_ne!(Digest::of(b"{\"a\":1}"), Digest::of(b"{\"a\":2}"));
    let altered = found(|evidence| evidence.kept.events[0].digest = Digest::of(b"{}"));
    assert_eq!(altered, ["altered"]);
}

#[test]
fn a_change_of_risk_that_nobody_was_told_is_noticed() {
    let not_written = found(|evidence| evidence.kept.notifications.clear());
    assert_eq!(not_written, ["notifications lost", "notifications twice"]);
    let not_mailed = found(|evidence| evidence.mailed = Some(Mailed::default()));
    assert_eq!(not_mailed, ["notifications lost"]);
    let not_heard = found(|evidence| evidence.heard = Heard::default());
    assert_eq!(not_heard, ["notifications lost"]);
    let forgotten = found(|evidence| {
        evidence.heard = Heard::default();
        evidence.kills.insert("broker".to_owned(), 1);
    });
    assert_eq!(forgotten, Vec::<&str>::new(), "the broker had taken it and died");
    let not_received = found(|evidence| evidence.posted.taken.clear());
    assert_eq!(not_received, ["notifications lost"]);
    let cleared = found(|evidence| {
        evidence.kept.judgements[2].1.risk_level = RiskLevel::Normal;
    });
    assert_eq!(cleared, ["notifications lost"]);
}

#[test]
fn staff_that_is_told_twice_is_noticed() {
    let twice = found(|evidence| {
        let body = evidence.posted.taken["k"].clone();
        evidence.posted.taken.insert("other".to_owned(), body);
    });
    assert_eq!(twice, ["notifications twice"]);
    let reused = found(|evidence| evidence.posted.reused.push("k".to_owned()));
    assert_eq!(reused, ["notifications lost"]);
    let other_words = found(|evidence| {
        let mut other = evidence.kept.notifications[0].clone();
        other.bearing_id = "NDE".parse().expect("a name");
        evidence.heard.note(&serde_json::to_vec(&other).expect("json"));
    });
    assert_eq!(other_words, ["notifications twice"]);
    let mailed_apart = found(|evidence| {
        let due = &mut evidence.kept.mails_due;
        due[0].group = Some("g".to_owned());
        due.push(MailDue { key: key(2), group: Some("g".to_owned()) });
        let mails = [key(1), mail::together(&[key(1), key(2)])];
        let raw = mails.map(|key| format!("Message-ID: <{key}@plant>\n\n"));
        evidence.mailed = Some(Mailed::of(&raw));
    });
    assert_eq!(mailed_apart, ["notifications twice"]);
}
