//! Tests how much of the store a flood may take, and which rows leave before it.

use pdm_shared::delivery::DeadLetter;
use pdm_shared::event::Event;
use pdm_shared::id::{EventId, GatewayKey};

use super::{at, event, incoming, judge_all, judge_some, key, put};
use crate::{DEAD_LETTER_LANE, Incoming, MQTT_LANE, Room, RoomStage, SendOutcome, Store};

/// A healthy event of another bearing, whose identity lies behind that of [`event`].
pub(super) fn healthy(number: u64) -> Event {
    let text = include_str!("../../../../config/examples/event-healthy.json");
    let mut healthy: Event = serde_json::from_str(text).expect("the contract's example");
    let like = event(number);
    healthy.site = like.site;
    healthy.gateway_id = "gw-66".parse().expect("name");
    healthy.equipment_id = like.equipment_id;
    healthy.bearing_id = "X".parse().expect("name");
    healthy.sequence = number;
    healthy.measured_at = at(number as f64);
    healthy.event_id = EventId(uuid::Uuid::from_u128(like.event_id.0.as_u128() + (1 << 40)));
    healthy
}

/// An event that carries a spectrum.
fn with_spectra(number: u64) -> Event {
    let spectrum = serde_json::json!({"df_hz": 1.0, "unit": "g", "amplitude": [0.1, 0.2]});
    let spectra = serde_json::json!({"envelope": spectrum, "acceleration": spectrum});
    let spectra = serde_json::from_value(spectra).expect("spectra");
    Event { spectra: Some(spectra), ..event(number) }
}

async fn settle_all(store: &Store) {
    loop {
        let rows = store
            .outbox()
            .claim(MQTT_LANE, at(20_000.0), at(20_100.0), 200)
            .await
            .expect("claimed");
        if rows.is_empty() {
            return;
        }
        let left: Vec<_> = rows.iter().map(|row| (row.id, SendOutcome::Delivered)).collect();
        store.outbox().settle(&left, at(20_000.0)).await.expect("settled");
    }
}

pub(super) async fn room_is_made_of_what_is_least_missed(store: &Store) {
    put(store, &[with_spectra(1), with_spectra(2)]).await;
    let normal: Vec<Event> = (1..=5).map(healthy).collect();
    put(store, &normal).await;
    judge_all(store).await;
    put(store, &[with_spectra(3)]).await;
    let there = async |event: &Event| store.history().event(event.event_id).await.expect("read");
    assert!(there(&event(1)).await.expect("kept").spectra.is_some(), "stored with spectra");
    let (flood, honest) = (healthy(1).gateway(), event(1).gateway());
    let make = async |stage, gateway: &GatewayKey, after, limit| {
        store.retention().make_room(stage, gateway, after, limit).await.expect("made")
    };
    let made = make(RoomStage::NormalWindows, &flood, None, 9).await;
    assert_eq!(made.windows, 0, "their judgements have not left yet");
    settle_all(store).await;

    assert_eq!(make(RoomStage::Spectra, &flood, None, 99).await.windows, 0, "none of this gateway");
    let first = make(RoomStage::Spectra, &honest, None, 1).await;
    assert_eq!((first.windows, first.through), (1, Some(event(1).event_id)));
    assert!(there(&event(1)).await.expect("kept").spectra.is_none());
    let rest = make(RoomStage::Spectra, &honest, first.through, 99).await;
    assert!(rest.windows >= 1, "{rest:?}");
    assert!(there(&event(2)).await.expect("kept").spectra.is_none());
    assert!(there(&event(3)).await.expect("kept").spectra.is_some(), "not judged yet");
    let none = make(RoomStage::Spectra, &honest, rest.through, 99).await;
    assert_eq!(none.looked_at, 0);

    let made = make(RoomStage::NormalWindows, &flood, None, 3).await;
    assert_eq!(made.windows, 3, "a bounded amount");
    assert!(there(&healthy(1)).await.is_none(), "the oldest");
    let made = make(RoomStage::NormalWindows, &flood, None, 99).await;
    assert_eq!(made.windows, 1, "the last window of a bearing stays");
    assert!(there(&healthy(5)).await.is_some());
    assert!(there(&event(1)).await.is_some(), "no normal window");
    assert!(store.episodes().episode(&key()).await.expect("read").expect("stands").is_open());
    assert_eq!(store.backlog().await.expect("counted").unjudged, 1);
}

/// R-AGENT-1: a gateway that filled the store took another's windows from 60 to 1 within a minute.
pub(super) async fn a_gateway_that_fills_the_store_deletes_its_own_history_alone(store: &Store) {
    let honest: Vec<Event> = (1..=60)
        .map(|number| Event {
            gateway_id: "gw-03".parse().expect("name"),
            bearing_id: "Y".parse().expect("name"),
            event_id: EventId(uuid::Uuid::from_u128(
                event(number).event_id.0.as_u128() + (1 << 41),
            )),
            ..healthy(number)
        })
        .collect();
    put(store, &honest).await;
    put(store, &[event(1), event(2)]).await;
    judge_some(store, 100).await;
    settle_all(store).await;
    // a server counts its rows at a vacuum at the latest
    store.retention().reuse_room().await.expect("counted");
    let ceiling = store.retention().size().await.expect("size").used_bytes + (2 << 20);
    let mut room = Room::default();
    let mut number = 0;
    for _ in 0..8 {
        let flood: Vec<Event> = (number + 1..=number + 100).map(healthy).collect();
        number += 100;
        put(store, &flood).await;
        judge_some(store, 200).await;
        settle_all(store).await;
        store.retention().reuse_room().await.expect("counted");
        room.make(&store.retention(), ceiling).await.expect("made");
    }
    let parts = store.retention().parts().await.expect("counted");
    let windows = |gateway: &str| {
        let of = parts.iter().find(|part| part.gateway.gateway.as_str() == gateway);
        of.map_or(0, |part| part.windows)
    };
    assert_eq!((windows("gw-03"), windows("gw-01")), (60, 2), "{parts:?}");
    assert!(windows("gw-66") < number, "room was made: {parts:?}");
    let stands = store.episodes().episode(&key()).await.expect("read").expect("stands");
    assert!(stands.is_open() && stands.alarm.is_some(), "the alarm stays");
}

/// Slack above the ceiling: what one look deletes at once, and what comes between two looks; here a
/// batch.
const SLACK: u64 = 4 << 20;

pub(super) async fn a_flood_does_not_grow_beyond_the_ceiling_and_open_alarms_stay(store: &Store) {
    put(store, &[event(1), event(2)]).await;
    judge_all(store).await;
    let ceiling = store.retention().size().await.expect("size").used_bytes + (3 << 20);
    let mut room = Room::default();
    let (mut largest, mut number) = (0, 0);
    for _ in 0..12 {
        let batch: Vec<Event> = (number + 1..=number + 100).map(healthy).collect();
        number += 100;
        put(store, &batch).await;
        judge_some(store, 200).await;
        settle_all(store).await;
        room.make(&store.retention(), ceiling).await.expect("made");
        largest = largest.max(store.retention().size().await.expect("size").held_bytes);
    }
    let size = store.retention().size().await.expect("size");
    assert!(size.used_bytes <= ceiling, "{size:?}, ceiling {ceiling}");
    assert!(largest <= ceiling + SLACK, "{largest}, ceiling {ceiling}");
    let stands = store.episodes().episode(&key()).await.expect("read").expect("stands");
    assert!(stands.is_open() && stands.alarm.is_some(), "the alarm stays");
    let last = store.history().event(healthy(number).event_id).await.expect("read");
    assert!(last.is_some(), "the newest window stays");
}

/// A gateway's backlog delays itself.
pub(super) async fn gateways_are_judged_in_turn(store: &Store) {
    let flood: Vec<Event> = (1..=40).map(healthy).collect();
    put(store, &flood).await;
    put(store, &[event(1), event(2)]).await;
    let waiting = store.judging().unjudged(6).await.expect("read");
    let of = |gateway: &str| {
        let is_of = |one: &&crate::Unjudged| one.event.gateway_id.as_str() == gateway;
        let its = waiting.iter().filter(is_of).map(|one| one.event.sequence);
        its.collect::<Vec<u64>>()
    };
    assert_eq!(of("gw-01"), [1, 2], "behind forty others, and in the next batch");
    assert_eq!(of("gw-66"), [1, 2, 3, 4], "who has more gets the rest, in its order");
    assert_eq!(store.judging().unjudged(99).await.expect("read").len(), 42);
}

/// Messages to staff leave before the judgements that were written before them.
pub(super) async fn notifications_are_claimed_before_publications(store: &Store) {
    let flood: Vec<Event> = (1..=20).map(healthy).collect();
    put(store, &flood).await;
    judge_all(store).await;
    put(store, &[event(1)]).await;
    judge_all(store).await;
    let rows =
        store.outbox().claim(MQTT_LANE, at(20_000.0), at(20_100.0), 3).await.expect("claimed");
    assert_eq!(rows.len(), 3);
    let told = rows.iter().filter(|row| !row.retain).count();
    assert_eq!(told, 1, "the notification is among the first: {rows:?}");
}

pub(super) async fn no_more_than_so_many_refused_messages_wait_to_be_published(store: &Store) {
    let letter = |number: u32| {
        let payload = format!("{number}");
        Incoming::Refused(DeadLetter::of("t", payload.as_bytes(), "r".to_owned(), at(0.0)).into())
    };
    let letters: Vec<Incoming> = (0..1010).map(letter).collect();
    let stored = store.intake().store(&letters, at(0.0), "dead").await.expect("stored");
    assert_eq!((stored.refused, stored.letters), (1010, 1000));
    assert_eq!(store.backlog().await.expect("counted").dead_letters, 1010, "all are kept");
    let rows = store.outbox().claim(DEAD_LETTER_LANE, at(1.0), at(2.0), 10).await.expect("claimed");
    assert_eq!(rows.len(), 10);
    assert_eq!(
        store.outbox().claim(MQTT_LANE, at(1.0), at(2.0), 10).await.expect("claimed").len(),
        0
    );
    let more = store.intake().store(&[incoming(&event(1))], at(0.0), "dead").await.expect("stored");
    assert_eq!(more.events, 1);
}
