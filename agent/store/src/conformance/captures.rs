//! Captured waveforms: bounded, oldest first, never those of an open alarm nor the newest
//! reference.

use pdm_shared::capture::{CaptureAnswer, CaptureDocument, CaptureReason, CaptureRefusal};
use pdm_shared::delivery::{GatewayStatus, Presence};
use pdm_shared::id::{BearingKey, EventId};
use pdm_web::plant::{CaptureDemandRow, CaptureFound, CaptureRow, DemandState};
use uuid::Uuid;

use super::removal::how;
use super::{at, event, judge_all, key, put};
use crate::{
    CaptureDemandNote, CaptureNote, CaptureRoom, History, Incoming, MQTT_LANE, PlantPart, Store,
};

fn capture(number: u128, key: BearingKey, reason: CaptureReason) -> CaptureNote {
    let text = include_str!("../../../../config/examples/capture.json");
    let mut document: CaptureDocument = serde_json::from_str(text).expect("a document");
    document.capture_id = EventId(Uuid::from_u128(number));
    document.started_at = at(number as f64);
    document.file.bytes = 1000;
    document.is_in_alarm = reason == CaptureReason::Alarm;
    document.triggers.truncate(1);
    document.triggers[0].reason = reason;
    let text = serde_json::to_string(&document).expect("json");
    let row = CaptureRow::new(key.clone(), at(number as f64), &document);
    CaptureNote { key, found: CaptureFound { row, document, text } }
}

fn other() -> BearingKey {
    BearingKey { bearing: "NDE".parse().expect("a name"), ..key() }
}

async fn ids(store: &Store, key: &BearingKey) -> Vec<u128> {
    let rows = store.captures().captures_of(key, at(1e9), 100).await.expect("read");
    rows.iter().map(|row| row.capture_id.as_u128()).collect()
}

/// Issue 39: a capture stands once, and is found by its identity and under its bearing, newest
/// first.
pub(super) async fn a_capture_stands_once(store: &Store) {
    for number in [1, 2] {
        let note = capture(number, key(), CaptureReason::Demand);
        assert!(store.captures().note_capture(&note).await.expect("noted"));
        assert!(!store.captures().note_capture(&note).await.expect("answered"), "once");
    }
    let far = capture(3, other(), CaptureReason::Demand);
    assert!(store.captures().note_capture(&far).await.expect("noted"));
    assert_eq!((ids(store, &key()).await, ids(store, &other()).await), (vec![2, 1], vec![3]));
    let before = store.captures().captures_of(&key(), at(2.0), 9).await.expect("read");
    assert_eq!(before.len(), 1, "the page before");
    let found =
        store.captures().capture_by_id(Uuid::from_u128(2)).await.expect("read").expect("there");
    assert_eq!(found.document, capture(2, key(), CaptureReason::Demand).found.document);
    assert!(store.captures().capture_by_id(Uuid::from_u128(9)).await.expect("read").is_none());
    assert_eq!(store.captures().captures_held().await.expect("counted"), (3, 3000));
}

/// Issue 39: the oldest captures make room; those of an open alarm and the newest reference never
/// do, and where nothing else is left the new one is refused and nothing is forgotten.
pub(super) async fn the_oldest_captures_make_room_and_those_of_open_alarms_stay(store: &Store) {
    put(store, &[event(1)]).await;
    judge_all(store).await;
    for (number, key, reason) in [
        (1, key(), CaptureReason::Alarm),
        (2, other(), CaptureReason::Alarm),
        (3, key(), CaptureReason::Reference),
        (4, key(), CaptureReason::Reference),
        (5, other(), CaptureReason::Demand),
    ] {
        let note = capture(number, key, reason);
        assert!(store.captures().note_capture(&note).await.expect("noted"));
    }
    let room = async |needed, most| {
        store.captures().make_capture_room(needed, most).await.expect("answered")
    };
    assert_eq!(room(1000, 6000).await, CaptureRoom::Made(Vec::new()), "there is room");
    let gone = |numbers: &[u128]| {
        CaptureRoom::Made(numbers.iter().map(|&number| Uuid::from_u128(number)).collect())
    };
    // 2 is of an alarm that does not stand: its bearing was never judged
    assert_eq!(room(1000, 5000).await, gone(&[2]));
    assert_eq!(room(2000, 4000).await, gone(&[3, 5]));
    assert_eq!((ids(store, &key()).await, ids(store, &other()).await), (vec![4, 1], vec![]));
    assert_eq!(room(2500, 4000).await, CaptureRoom::Short { kept_bytes: 2000 });
    assert_eq!(ids(store, &key()).await, [4, 1], "nothing was forgotten");
}

/// A bearing whose alarm stands does not keep all that came in it: the first and the newest of the
/// alarm's rise and the newest three of what it told later stay, and what anybody asked for in it
/// leaves.
pub(super) async fn an_open_alarm_keeps_its_rise_and_the_newest_few(store: &Store) {
    put(store, &[event(1)]).await;
    judge_all(store).await;
    let reasons = |number| match number {
        1 | 4 | 7 => CaptureReason::Alarm,
        2 | 5 => CaptureReason::Demand,
        3 | 6 => CaptureReason::NoName,
        _ => CaptureReason::Name,
    };
    for number in 1..=12 {
        let mut note = capture(number, key(), reasons(number));
        note.found.document.is_in_alarm = true;
        assert!(store.captures().note_capture(&note).await.expect("noted"));
    }
    let gone = [2, 3, 4, 5, 6, 8, 9].map(Uuid::from_u128).to_vec();
    let room = store.captures().make_capture_room(7000, 12_000).await.expect("answered");
    assert_eq!(room, CaptureRoom::Made(gone));
    assert_eq!(ids(store, &key()).await, [12, 11, 10, 7, 1]);
    let full = store.captures().make_capture_room(7001, 12_000).await.expect("answered");
    assert_eq!(full, CaptureRoom::Short { kept_bytes: 5000 });
}

/// A bearing that is renamed keeps its captures, and one belongs to the gateway of its first event.
pub(super) async fn captures_go_with_their_bearing(store: &Store) {
    assert_eq!(store.captures().capture_owner(&key()).await.expect("asked"), None);
    put(store, &[event(1)]).await;
    judge_all(store).await;
    assert_eq!(
        store.captures().capture_owner(&key()).await.expect("asked"),
        Some(event(1).gateway())
    );
    assert!(
        store
            .captures()
            .note_capture(&capture(1, key(), CaptureReason::Demand))
            .await
            .expect("noted")
    );
    let part = |key: &BearingKey| key.to_string().parse::<PlantPart>().expect("a part");
    store
        .removal()
        .rename(&part(&key()), &part(&other()), History::Moves, &how(false))
        .await
        .expect("renamed");
    assert_eq!((ids(store, &key()).await, ids(store, &other()).await), (vec![], vec![1]));
    let found =
        store.captures().capture_by_id(Uuid::from_u128(1)).await.expect("read").expect("there");
    assert_eq!(found.row.key, other());
}

/// R-UI-1: a demand stands once for its bearing and leaves once; the gateway's status answers it,
/// the capture ends it, and a bearing that is renamed keeps it.
pub(super) async fn a_demand_is_known_until_its_capture_is_here(store: &Store) {
    let demand = |number: u128, seconds: f64| {
        let id = Uuid::from_u128(number);
        CaptureDemandNote {
            row: CaptureDemandRow::new(id, key(), "kim".to_owned(), at(seconds)),
            topic: "pdm/v1/ulsan-1/P-101/DE/capture".to_owned(),
            payload: "{}".to_owned(),
        }
    };
    let ask = async |number, seconds| {
        let asked = store.captures().demand_capture(&demand(number, seconds), at(seconds)).await;
        let (row, is_new) = asked.expect("asked");
        (row.demand_id.as_u128(), row.state, is_new)
    };
    let state = async |key: &BearingKey, seconds| {
        let row = store.captures().capture_demand_of(key, at(seconds)).await.expect("read");
        row.map(|row| (row.demand_id.as_u128(), row.state))
    };
    assert_eq!(state(&key(), 0.0).await, None);
    assert_eq!(ask(1, 0.0).await, (1, DemandState::Waiting, true));
    assert_eq!(ask(2, 10.0).await, (1, DemandState::Waiting, false), "one waits already");
    let waiting = store.outbox().claim(MQTT_LANE, at(11.0), at(300.0), 9).await.expect("claimed");
    let topics: Vec<_> = waiting.iter().filter_map(|row| row.topic.clone()).collect();
    assert_eq!(topics, [demand(1, 0.0).topic], "one message");
    let answered = async |number: u128, refusal: Option<CaptureRefusal>| {
        let answer = CaptureAnswer { demand_id: Uuid::from_u128(number), at: at(12.0), refusal };
        let status = GatewayStatus {
            capture_answers: vec![answer],
            ..super::intake::status(Presence::Online, 0.0)
        };
        let batch = [Incoming::Status { site: key().site, status }];
        store.intake().store(&batch, at(13.0), "pdm/v1/dead-letter").await.expect("stored");
    };
    let refusal =
        CaptureRefusal { cause: "used".to_owned(), told: "used up".to_owned(), wait_s: Some(60) };
    answered(1, Some(refusal.clone())).await;
    answered(1, None).await;
    assert_eq!(state(&key(), 13.0).await, Some((1, DemandState::Refused)), "answered once");
    let row = store.captures().capture_demand_of(&key(), at(13.0)).await.expect("read");
    assert_eq!(row.expect("there").refusal, Some(refusal));
    assert_eq!(ask(3, 20.0).await, (3, DemandState::Waiting, true), "asked again");
    answered(3, None).await;
    assert_eq!(state(&key(), 21.0).await, Some((3, DemandState::Taken)));
    let mut note = capture(7, key(), CaptureReason::Demand);
    note.found.document.triggers[0].demand_id = Some(Uuid::from_u128(3));
    assert!(store.captures().note_capture(&note).await.expect("noted"));
    assert_eq!(state(&key(), 22.0).await, Some((3, DemandState::Arrived)));
    // a gateway of before repeats the time alone
    assert_eq!(ask(4, 30.0).await, (4, DemandState::Waiting, true));
    let mut note = capture(8, key(), CaptureReason::Demand);
    note.found.document.triggers[0].asked_at = Some(at(30.0));
    assert!(store.captures().note_capture(&note).await.expect("noted"));
    let row = store.captures().capture_demand_of(&key(), at(31.0)).await.expect("read");
    assert_eq!(row.expect("there").capture_id, Some(Uuid::from_u128(8)));
    rename_with_history(store).await;
    assert_eq!(state(&other(), 31.0).await, Some((4, DemandState::Arrived)));
}

async fn rename_with_history(store: &Store) {
    put(store, &[event(1)]).await;
    judge_all(store).await;
    let part = |key: &BearingKey| key.to_string().parse::<PlantPart>().expect("a part");
    let removal = store.removal();
    let renamed = removal.rename(&part(&key()), &part(&other()), History::Moves, &how(false)).await;
    renamed.expect("renamed");
}
