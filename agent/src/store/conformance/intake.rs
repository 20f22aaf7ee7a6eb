//! The intake: events once each, sequences, refused messages, presence.

use pdm_shared::delivery::{DeadLetter, GatewayStatus, Presence, STATUS_SCHEMA};
use pdm_shared::event::Event;
use pdm_shared::id::EventId;

use super::{at, event, put};
use crate::store::{Incoming, MQTT_LANE, Store};

pub(super) async fn an_event_is_stored_once(store: &dyn Store) {
    let events = [event(1), event(2), event(1)];
    let stored = put(store, &events).await;
    assert_eq!((stored.events, stored.duplicates), (2, 1));
    let stored = put(store, &events).await;
    assert_eq!((stored.events, stored.duplicates), (0, 3));
    let waiting = store.unjudged(10).await.expect("read");
    let waiting: Vec<Event> = waiting.into_iter().map(|unjudged| unjudged.event).collect();
    assert_eq!(waiting, events[..2], "in the order of arrival, unchanged");
    assert_eq!(store.unjudged(1).await.expect("read").len(), 1);
}

pub(super) async fn receipt(store: &dyn Store) -> (u64, Vec<[u64; 2]>) {
    let receipts = store.receipts(&[event(1).gateway_id], at(1.0)).await.expect("receipts");
    let (site, receipt) = receipts.into_iter().next().expect("one");
    assert_eq!(site, event(1).site);
    (receipt.stored_through, receipt.missing)
}

pub(super) async fn sequences_are_followed(store: &dyn Store) {
    let none = store.receipts(&[event(1).gateway_id], at(1.0)).await.expect("receipts");
    assert_eq!(none, []);
    put(store, &[event(3)]).await;
    assert_eq!(receipt(store).await, (0, vec![[1, 2]]));
    put(store, &[event(1), event(2)]).await;
    assert_eq!(receipt(store).await, (3, vec![]));
    put(store, &[event(10), event(6)]).await;
    assert_eq!(receipt(store).await, (3, vec![[4, 5], [7, 9]]));
    put(store, &[event(8), event(4), event(5)]).await;
    assert_eq!(receipt(store).await, (6, vec![[7, 7], [9, 9]]));
    put(store, &[event(9), event(7), event(7)]).await;
    assert_eq!(receipt(store).await, (10, vec![]));
}

pub(super) async fn a_gateway_may_count_anew(store: &dyn Store) {
    put(store, &[event(1), event(2), event(3)]).await;
    let mut again = event(1);
    again.event_id = EventId::at(at(500.0).unix_ms());
    put(store, &[again]).await;
    assert_eq!(receipt(store).await, (1, vec![]), "nothing of the new count is promised");
}

pub(super) async fn gaps_are_lost_in_the_end(store: &dyn Store) {
    put(store, &[event(1), event(5)]).await;
    assert_eq!(store.lose_gaps(at(-1.0)).await.expect("looked"), 0, "too early");
    assert_eq!(store.lose_gaps(at(1.0)).await.expect("looked"), 3);
    assert_eq!(receipt(store).await, (5, vec![]));
    put(store, &[event(3)]).await;
    assert_eq!(receipt(store).await, (5, vec![]), "a lost one that comes is no new count");
    let gateway = store.gateways().await.expect("gateways").remove(0);
    assert_eq!(gateway.lost_events, 2);
}

pub(super) async fn refused_messages_do_not_pile_up(store: &dyn Store) {
    let letter = |payload: &str| {
        Incoming::Refused(DeadLetter::of(
            "t",
            payload.as_bytes(),
            "not an event: x".to_owned(),
            at(0.0),
        ))
    };
    let batch = [letter("a"), letter("a"), letter("b"), letter("a")];
    let stored = store.store(&batch, at(0.0), "pdm/v1/dead-letter").await.expect("stored");
    assert_eq!((stored.refused, stored.letters), (4, 2));
    let rows = store.claim(MQTT_LANE, at(1.0), at(2.0), 10).await.expect("claimed");
    assert_eq!(rows.len(), 2);
    assert_eq!(rows[0].topic.as_deref(), Some("pdm/v1/dead-letter"));
    assert_eq!(store.backlog().await.expect("counted").dead_letters, 2);
}

pub(super) async fn presence_is_noted(store: &dyn Store) {
    let say = async |presence: Presence, seconds: f64| {
        let status = GatewayStatus {
            schema: STATUS_SCHEMA.to_owned(),
            gateway_id: event(1).gateway_id,
            status: presence,
            at: at(seconds),
            version: None,
            bearings: Vec::new(),
            last_sequence: None,
            spooled: None,
            dropped: None,
        };
        let incoming = Incoming::Status { site: event(1).site, status };
        store.store(&[incoming], at(seconds), "dead").await.expect("stored");
        store.gateways().await.expect("gateways").remove(0).presence
    };
    assert_eq!(say(Presence::Online, 1.0).await, Some((Presence::Online, at(1.0))));
    assert_eq!(say(Presence::Offline, 5.0).await, Some((Presence::Offline, at(5.0))));
    assert_eq!(say(Presence::Offline, 9.0).await, Some((Presence::Offline, at(5.0))), "since when");
}
