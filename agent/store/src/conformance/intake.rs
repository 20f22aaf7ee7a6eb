//! The intake: events once each, sequences, refused messages, presence.

use std::collections::BTreeSet;

use pdm_shared::delivery::{DeadLetter, GatewayStatus, Presence};
use pdm_shared::event::{Change, ChangeKind, Event};
use pdm_shared::id::{BearingId, Epoch, EventId};

use super::{at, event, put};
use crate::{DEAD_LETTER_LANE, Incoming, IntakeTerms, OldGaps, RefusalCause, Store};

pub(super) async fn an_event_is_stored_once(store: &Store) {
    let events = [event(1), event(2), event(1)];
    let stored = put(store, &events).await;
    assert_eq!((stored.events, stored.duplicates), (2, 1));
    let stored = put(store, &events).await;
    assert_eq!((stored.events, stored.duplicates), (0, 3));
    let waiting = store.judging().unjudged(10).await.expect("read");
    let waiting: Vec<Event> = waiting.into_iter().map(|unjudged| unjudged.event).collect();
    assert_eq!(waiting, events[..2], "in the order of arrival, unchanged");
    assert_eq!(store.judging().unjudged(1).await.expect("read").len(), 1);
}

pub(super) async fn receipt(store: &Store) -> (u64, Vec<[u64; 2]>) {
    let receipts =
        store.gateways().receipts(&[event(1).gateway()], at(1.0)).await.expect("receipts");
    let (site, receipt) = receipts.into_iter().next().expect("one");
    assert_eq!(site, event(1).site);
    (receipt.stored_through, receipt.missing)
}

pub(super) async fn sequences_are_followed(store: &Store) {
    let none = store.gateways().receipts(&[event(1).gateway()], at(1.0)).await.expect("receipts");
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

/// An online status of the example's gateway.
async fn birth(store: &Store, epoch: Option<Epoch>, first: u64, last: u64) {
    born(store, epoch, (first, last), 0.0).await;
}

/// Puts the same status `s` seconds later; returns true if staff hears of a second gateway of this
/// name.
async fn born(store: &Store, epoch: Option<Epoch>, (first, last): (u64, u64), s: f64) -> bool {
    let status = GatewayStatus {
        epoch,
        first_sequence: Some(first),
        last_sequence: Some(last),
        bearings: vec![event(1).key().within_site()],
        ..status(Presence::Online, s)
    };
    let incoming = Incoming::Status { site: event(1).site, status };
    let stored = store.intake().store(&[incoming], at(s), "dead").await.expect("stored");
    !stored.twins.is_empty()
}

/// R-EDGE-10: two statuses with new epochs, which anybody may write at a broker without access
/// rules, ended a gateway's intake for good.
pub(super) async fn a_rival_count_is_kept_and_followed_when_the_known_one_is_silent(store: &Store) {
    let (own, one, two) = (Epoch::at(1), Epoch::at(2), Epoch::at(3));
    birth(store, Some(own), 1, 0).await;
    put(store, &(1..=3).map(|n| counted(n, own)).collect::<Vec<_>>()).await;
    for forged in [one, two] {
        assert!(born(store, Some(forged), (1, 0), 5.0).await, "told");
    }
    assert_eq!(receipt(store).await, (3, vec![]), "the receipt stays that of the known count");
    put(store, &[counted(4, own), counted(6, own)]).await;
    assert_eq!(receipt(store).await, (4, vec![[5, 5]]));
    // whose it is nobody can tell: it is judged, and moves nothing
    let stored = put(store, &[repeated(1, 1, Some(two))]).await;
    assert_eq!((stored.events, stored.refused), (1, 0));
    let stored = put(store, &[repeated(1, 2, Some(one))]).await;
    assert_eq!(stored.refusals[0].cause, RefusalCause::Epoch, "one rival is kept, the last");
    assert_eq!(receipt(store).await, (4, vec![[5, 5]]));
    // a spool that is new: its gateway says so again, and is followed
    assert!(!born(store, Some(two), (1, 1), 700.0).await);
    assert_eq!(receipt(store).await, (0, vec![]));
    put(store, &[repeated(1, 4, Some(two))]).await;
    assert_eq!(receipt(store).await, (1, vec![]));
    // staff decides at once
    let gateway = event(1).gateway();
    assert!(store.gateways().release_gateway(&gateway).await.expect("released"));
    assert!(!born(store, Some(own), (5, 6), 701.0).await, "the first after a release");
}

fn counted(sequence: u64, epoch: Epoch) -> Event {
    Event { epoch: Some(epoch), ..event(sequence) }
}

/// An event with a number that was used before, and an identity of its own.
fn repeated(sequence: u64, n: i64, epoch: Option<Epoch>) -> Event {
    let event_id = EventId::at(at(500.0).unix_ms() + n);
    Event { event_id, epoch, ..event(sequence) }
}

pub(super) async fn a_gateway_counts_anew_only_by_its_status(store: &Store) {
    let (before, after) = (Epoch::at(1), Epoch::at(2));
    birth(store, Some(before), 1, 0).await;
    put(store, &(1..=6).map(|n| counted(n, before)).collect::<Vec<_>>()).await;
    assert_eq!(receipt(store).await, (6, vec![]));
    // forged: no count, another count, and an earlier number of the true one
    for n in 1..=4 {
        put(store, &[repeated(1, n, None), repeated(1, 10 + n, Some(after))]).await;
    }
    let stored = put(store, &[repeated(2, 30, Some(before))]).await;
    assert_eq!((stored.events, stored.uncounted), (1, 1), "stored, and moves nothing");
    assert_eq!(receipt(store).await, (6, vec![]));
    born(store, Some(after), (1, 2), 700.0).await;
    assert_eq!(receipt(store).await, (0, vec![]), "the new count");
    let stored = put(store, &[repeated(900, 40, Some(before))]).await;
    assert_eq!(stored.events, 1, "what was on its way is kept");
    assert_eq!(receipt(store).await, (0, vec![]), "and not counted");
    put(store, &[repeated(1, 50, Some(after)), repeated(2, 51, Some(after))]).await;
    assert_eq!(receipt(store).await, (2, vec![]));
}

/// A gateway of an earlier version is updated: its spool gets a count, its numbers go on.
pub(super) async fn the_first_count_of_a_gateway_goes_on(store: &Store) {
    put(store, &[event(1), event(2), event(4)]).await;
    let epoch = Epoch::at(1);
    birth(store, Some(epoch), 1, 4).await;
    assert_eq!(receipt(store).await, (2, vec![[3, 3]]));
    // stored before under no count, and sent again: its number counts
    put(store, &[counted(3, epoch), counted(4, epoch), counted(5, epoch)]).await;
    assert_eq!(receipt(store).await, (5, vec![]));
}

/// A gateway was updated long before the agent: its events carry the count, its status is old.
pub(super) async fn a_count_that_events_have_brought_goes_on(store: &Store) {
    let epoch = Epoch::at(1);
    put(store, &[counted(7, epoch), counted(8, epoch)]).await;
    birth(store, Some(epoch), 1, 0).await;
    assert_eq!(receipt(store).await, (0, vec![[1, 6]]));
}

/// Issue 33, point 9: what the gateway no longer has is lost at once, the rest is still asked for.
pub(super) async fn what_a_gateway_has_no_more_is_lost_at_once(store: &Store) {
    put(store, &[event(1), event(2), event(9)]).await;
    assert_eq!(receipt(store).await, (2, vec![[3, 8]]));
    let say = async |gone: Vec<[u64; 2]>, epoch| {
        let status = GatewayStatus { gone, epoch, ..status(Presence::Online, 0.0) };
        let incoming = Incoming::Status { site: event(1).site, status };
        store.intake().store(&[incoming], at(0.0), "dead").await.expect("stored").lost
    };
    assert_eq!(say(vec![[4, 5], [8, 20]], None).await, 3);
    assert_eq!(receipt(store).await, (2, vec![[3, 3], [6, 7]]));
    assert_eq!(say(vec![[4, 5], [8, 20]], None).await, 0, "said again");
    let known = async || store.gateways().gateways().await.expect("read").remove(0);
    assert_eq!(known().await.lost_events, 3);
    put(store, &[event(4)]).await;
    let found = known().await;
    assert_eq!((found.lost_events, found.lost_told), (2, 0), "one was found");
    let name = event(1).gateway();
    assert!(store.gateways().note_lost_told(&name, 0, 2).await.expect("noted"));
    assert!(
        !store.gateways().note_lost_told(&name, 0, 2).await.expect("noted"),
        "another was faster"
    );
    assert_eq!(known().await.lost_told, 2);
}

/// Issue 33, points 2 and 6.
pub(super) async fn what_a_gateway_says_of_itself_is_kept(store: &Store) {
    let say = async |presence, trouble: Option<&str>, thrown_out, seconds: f64| {
        let trouble = trouble.map(str::to_owned);
        let status = GatewayStatus { trouble, thrown_out, ..status(presence, seconds) };
        let incoming = Incoming::Status { site: event(1).site, status };
        store.intake().store(&[incoming], at(seconds), "dead").await.expect("stored");
        let known = store.gateways().gateways().await.expect("read").remove(0);
        (known.trouble, known.twin_at)
    };
    let online = Presence::Online;
    assert_eq!(say(online, None, false, 1.0).await, (None, None));
    let full = Some(("disk full".to_owned(), at(2.0)));
    assert_eq!(say(online, Some("disk full"), false, 2.0).await, (full.clone(), None));
    assert_eq!(say(Presence::Offline, None, false, 3.0).await, (full, None), "a last will");
    let worse = Some(("worse".to_owned(), at(2.0)));
    assert_eq!(say(online, Some("worse"), true, 4.0).await, (worse, Some(at(4.0))));
    assert_eq!(say(online, None, false, 5.0).await, (None, Some(at(4.0))));
    let stored = put(store, &[event(1), repeated(1, 1, None)]).await;
    assert!(stored.twins.contains(&event(1).gateway()), "a number with two events");
}

pub(super) async fn two_sites_have_two_receipts_for_one_name(store: &Store) {
    let other = Event { site: "busan-1".parse().expect("name"), ..repeated(1, 1, None) };
    put(store, &[event(1), event(2), event(3), other.clone()]).await;
    assert_eq!(receipt(store).await, (3, vec![]));
    let receipts = store.gateways().receipts(&[other.gateway()], at(1.0)).await.expect("receipts");
    assert_eq!((receipts[0].0.as_str(), receipts[0].1.stored_through), ("busan-1", 1));
    let known = store.gateways().gateways().await.expect("gateways");
    let names: Vec<String> = known.iter().map(|state| state.gateway.to_string()).collect();
    assert_eq!(names, ["busan-1/gw-01", "ulsan-1/gw-01"]);
}

pub(super) async fn a_bearing_stays_with_its_gateway_until_it_is_released(store: &Store) {
    put(store, &[event(1)]).await;
    let stranger = Event { gateway_id: "gw-02".parse().expect("name"), ..repeated(1, 1, None) };
    for _ in 0..2 {
        let stored = put(store, std::slice::from_ref(&stranger)).await;
        assert_eq!((stored.events, stored.refused, stored.refusals.len()), (0, 1, 1));
        assert_eq!(stored.refusals[0].cause, RefusalCause::Owner);
    }
    assert_eq!(store.backlog().await.expect("counted").dead_letters, 1, "one letter, counted");
    assert_eq!(
        store.gateways().gateways().await.expect("gateways").len(),
        1,
        "the stranger is not known"
    );
    assert_eq!(receipt(store).await, (1, vec![]));
    let owners = store.gateways().bearing_owners().await.expect("read");
    assert_eq!(owners, [(event(1).key(), event(1).gateway())]);
    assert!(store.gateways().release_bearing(&event(1).key()).await.expect("released"));
    assert!(!store.gateways().release_bearing(&event(1).key()).await.expect("looked"), "only once");
    assert_eq!(put(store, &[stranger]).await.events, 1);
}

pub(super) async fn an_identity_that_another_event_has_is_refused_and_not_taken_as_a_repetition(
    store: &Store,
) {
    put(store, &[event(1)]).await;
    assert_eq!(put(store, &[event(1)]).await.duplicates, 1, "the same event again");
    // one identity for every window
    let again = Event { sequence: 2, measured_at: at(60.0), ..event(1) };
    assert_eq!(put(store, &[again]).await.refusals[0].cause, RefusalCause::EventId);
    assert_eq!(receipt(store).await, (1, vec![]));
}

/// R-EDGE-10: a gateway that had used an identity before made the store refuse another gateway's
/// Critical.
pub(super) async fn an_identity_that_another_gateway_has_used_refuses_nothing(store: &Store) {
    let hostile = |event: Event| Event {
        gateway_id: "gw-02".parse().expect("name"),
        equipment_id: "P-202".parse().expect("name"),
        ..event
    };
    put(store, &[hostile(event(1))]).await;
    let stored = put(store, &[event(1)]).await;
    assert_eq!((stored.events, stored.duplicates, stored.refused), (1, 0, 0));
    let again = put(store, &[event(1)]).await;
    assert_eq!((again.events, again.duplicates, again.refused), (0, 1, 0), "the same event again");
    assert_eq!(receipt(store).await, (1, vec![]));
    let waiting = store.judging().unjudged(10).await.expect("waiting");
    let ids: BTreeSet<EventId> = waiting.iter().map(|one| one.event.event_id).collect();
    assert_eq!((waiting.len(), ids.len()), (2, 2), "both are judged, each under its own identity");
    let own = waiting.iter().find(|one| one.event.key() == event(1).key()).expect("it waits");
    assert_eq!(own.event, Event { event_id: own.event.event_id, ..event(1) });
    // in one batch, the hostile one first
    let stored = put(store, &[hostile(event(2)), event(2)]).await;
    assert_eq!((stored.events, stored.refused), (2, 0));
    assert_eq!(receipt(store).await, (2, vec![]));
}

/// R-EDGE-10: a gateway told staff what another gateway's bearing did.
pub(super) async fn a_change_names_no_bearing_of_another_gateway(store: &Store) {
    put(store, &[event(1)]).await;
    let (own, free): (BearingId, BearingId) =
        ("NDE".parse().expect("name"), "NDE-2".parse().expect("name"));
    let change = Change {
        kind: ChangeKind::Operating,
        level_ratio: 3.0,
        bearings: vec![event(1).bearing_id, free.clone()],
        since: at(0.0),
    };
    let told = Event {
        gateway_id: "gw-02".parse().expect("name"),
        bearing_id: own,
        event_id: EventId::at(77_000),
        change: Some(change),
        ..event(1)
    };
    put(store, std::slice::from_ref(&told)).await;
    let waiting = store.judging().unjudged(10).await.expect("waiting");
    let of = waiting.iter().find(|one| one.event.key() == told.key()).expect("it waits");
    let named = of.event.change.as_ref().map(|change| change.bearings.clone());
    assert_eq!(named, Some(vec![free]), "the other gateway's bearing is left out");
}

/// Gateways without end that are known by a status alone leave room for those that send events.
pub(super) async fn so_many_gateways_are_known_by_a_status_alone(store: &Store) {
    let invented: Vec<Incoming> = (0..400)
        .map(|n| {
            let gateway_id = format!("g{n}").parse().expect("name");
            let status = GatewayStatus { gateway_id, ..status(Presence::Online, 0.0) };
            Incoming::Status { site: event(1).site, status }
        })
        .collect();
    let terms = IntakeTerms::default();
    let stored = store.intake().store_under(&terms, &invented, at(0.0), "letters").await;
    let kept = store.gateways().gateways().await.expect("gateways").len();
    assert_eq!((kept, stored.expect("stored").strangers), (256, 144));
    assert_eq!(put(store, &[event(1)]).await.events, 1);
    let known = store.gateways().gateways().await.expect("gateways");
    assert!(known.iter().any(|one| one.gateway == event(1).gateway()), "its event makes it known");
}

pub(super) async fn a_topic_that_named_a_gateway_demands_nothing_of_its_later_events(
    store: &Store,
) {
    let own = Some(Epoch::at(1_000));
    let of_its_count = |sequence: u64| Event { epoch: own, ..event(sequence) };
    let named = |event: Event| {
        let payload = serde_json::to_string(&event).expect("json");
        Incoming::Event { event: Box::new(event), payload, proven: true }
    };
    let born = GatewayStatus { epoch: own, ..status(Presence::Online, 0.0) };
    let born = Incoming::Status { site: event(1).site, status: born };
    let claim = Event { epoch: None, ..event(1) };
    let claim = Event { event_id: EventId::at(77), ..claim };
    store.intake().store(&[born, named(claim)], at(0.0), "dead").await.expect("stored");
    assert!(!store.gateways().gateways().await.expect("read")[0].proven, "a claim demands nothing");
    store.intake().store(&[named(of_its_count(1))], at(0.0), "dead").await.expect("stored");
    assert!(store.gateways().gateways().await.expect("read")[0].proven, "shown");
    // whoever has read the status could have sent the named one: the short topic stays open
    assert_eq!(put(store, &[of_its_count(2)]).await.events, 1);
    assert_eq!(receipt(store).await, (2, vec![]));
}

pub(super) async fn gaps_are_lost_in_the_end(store: &Store) {
    put(store, &[event(1), event(5)]).await;
    let old = async |s| store.gateways().old_gaps(at(s)).await.expect("looked");
    assert_eq!(old(0.0).await, [], "noticed just now");
    let gaps = OldGaps { gateway: event(1).gateway(), events: 3, since: at(0.0) };
    assert_eq!(old(1.0).await, [gaps]);
    assert_eq!(store.gateways().lose_gaps(at(-1.0)).await.expect("looked"), 0, "too early");
    assert_eq!(store.gateways().lose_gaps(at(1.0)).await.expect("looked"), 3);
    assert_eq!(old(1.0).await, [], "they are asked for no more");
    assert_eq!(receipt(store).await, (5, vec![]));
    put(store, &[event(3)]).await;
    assert_eq!(receipt(store).await, (5, vec![]), "a lost one that comes is no new count");
    let gateway = store.gateways().gateways().await.expect("gateways").remove(0);
    assert_eq!(gateway.lost_events, 2);
}

pub(super) async fn refused_messages_do_not_pile_up(store: &Store) {
    let letter = |payload: &str| {
        let reason = "not an event: x".to_owned();
        Incoming::Refused(DeadLetter::of("t", payload.as_bytes(), reason, at(0.0)).into())
    };
    let batch = [letter("a"), letter("a"), letter("b"), letter("a")];
    let stored = store.intake().store(&batch, at(0.0), "pdm/v1/dead-letter").await.expect("stored");
    assert_eq!((stored.refused, stored.letters), (4, 2));
    let rows = store.outbox().claim(DEAD_LETTER_LANE, at(1.0), at(2.0), 10).await.expect("claimed");
    assert_eq!(rows.len(), 2);
    assert_eq!(rows[0].topic.as_deref(), Some("pdm/v1/dead-letter"));
    assert_eq!(store.backlog().await.expect("counted").dead_letters, 2);
}

pub(super) fn status(presence: Presence, seconds: f64) -> GatewayStatus {
    GatewayStatus::bare(event(1).gateway_id, presence, at(seconds))
}

pub(super) async fn presence_is_noted(store: &Store) {
    let say = async |presence: Presence, seconds: f64| {
        let status = status(presence, seconds);
        let incoming = Incoming::Status { site: event(1).site, status };
        store.intake().store(&[incoming], at(seconds), "dead").await.expect("stored");
        store.gateways().gateways().await.expect("gateways").remove(0).presence
    };
    assert_eq!(say(Presence::Online, 1.0).await, Some((Presence::Online, at(1.0))));
    assert_eq!(say(Presence::Offline, 5.0).await, Some((Presence::Offline, at(5.0))));
    assert_eq!(say(Presence::Offline, 9.0).await, Some((Presence::Offline, at(5.0))), "since when");
}
