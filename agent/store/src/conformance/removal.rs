//! Taking out and renaming, refused events, shares of an hour.

use pdm_shared::delivery::{GatewayStatus, Presence};
use pdm_shared::event::Event;
use pdm_shared::id::GatewayKey;
use pdm_shared::topic::Prefix;
use pdm_web::accounts::AccountStore as _;
use uuid::Uuid;

use super::{at, event, judge_all, key, put};
use crate::{
    EpisodeRecord, History, Incoming, PlantPart, RefusalCause, Removal, RemovalWording, Store,
};

pub(super) fn how(is_dry: bool) -> Removal {
    Removal {
        prefix: Prefix::default(),
        who: "kim".to_owned(),
        by: "kim".to_owned(),
        via: "cli".to_owned(),
        peer: None,
        reason: "tag corrected".to_owned(),
        now: at(20_000.0),
        is_dry,
        wording: RemovalWording::default(),
    }
}

fn part(text: &str) -> PlantPart {
    text.parse().expect("a part")
}

/// A dry run says the same and changes nothing; the second time nothing is known.
pub(super) async fn what_is_gone_is_taken_out_whole(store: &Store) {
    put(store, &[event(1)]).await;
    judge_all(store).await;
    put(store, &[event(2)]).await;
    let machine = part("ulsan-1/P-101");
    let would = store.removal().take_out(&machine, &how(true)).await.expect("looked");
    assert_eq!(store.pages().fleet().await.expect("read").len(), 1, "a dry run");
    let done = store.removal().take_out(&machine, &how(false)).await.expect("taken out");
    assert_eq!(would, done);
    assert_eq!((done.bearings.clone(), done.episodes, done.waiting), (vec![key()], 1, 1));
    assert!(done.work > 0 && done.topics == 3, "{done:?}");
    assert_eq!(store.pages().fleet().await.expect("read").len(), 0);
    assert_eq!(store.judging().unjudged(9).await.expect("read").len(), 0);
    assert_eq!(store.gateways().bearing_owners().await.expect("read"), []);
    let record = store.episodes().episode(&key()).await.expect("read");
    assert!(record.is_some_and(|one| !one.is_open()));
    assert_eq!(store.removal().take_out(&machine, &how(false)).await.expect("looked").bearings, []);
    put(store, &[event(3)]).await;
    assert_eq!(
        store.judging().unjudged(9).await.expect("read").len(),
        1,
        "what still sends comes back"
    );
}

/// With its history a bearing goes on under the new name.
pub(super) async fn a_bearing_is_renamed_with_its_history(store: &Store) {
    put(store, &[event(1)]).await;
    judge_all(store).await;
    let (from, to) = (part("ulsan-1/P-101"), part("ulsan-1/P-201"));
    let out =
        store.removal().rename(&from, &to, History::Moves, &how(false)).await.expect("renamed");
    assert_eq!(out.bearings, [key()]);
    let fleet = store.pages().fleet().await.expect("read");
    let names: Vec<String> = fleet.iter().map(|row| row.key.to_string()).collect();
    assert_eq!(names, ["ulsan-1/P-201/DE"]);
    let new = fleet[0].key.clone();
    assert_eq!(store.pages().windows(&new, at(1e6), 9).await.expect("read").len(), 1);
    assert_eq!(
        store.episodes().episode(&new).await.expect("read"),
        None,
        "what stands is told anew"
    );
}

/// The history of two bearings is joined on request alone: it cannot be taken apart again.
pub(super) async fn a_name_that_is_known_is_joined_on_request_alone(store: &Store) {
    let other = Event { bearing_id: "NDE".parse().expect("name"), ..event(2) };
    put(store, &[event(1), other]).await;
    judge_all(store).await;
    let (from, to) = (part("ulsan-1/P-101/DE"), part("ulsan-1/P-101/NDE"));
    let out =
        store.removal().rename(&from, &to, History::Moves, &how(false)).await.expect("looked");
    assert_eq!(out.joined.len(), 1, "{out:?}");
    assert_eq!(store.pages().fleet().await.expect("read").len(), 2, "nothing was changed");
    assert_eq!(store.accounts().acts(None, 9).await.expect("read"), []);
    let out =
        store.removal().rename(&from, &to, History::Joins, &how(false)).await.expect("renamed");
    assert_eq!(out.bearings, [key()]);
    let fleet = store.pages().fleet().await.expect("read");
    assert_eq!(fleet.len(), 1);
    assert_eq!(store.pages().windows(&fleet[0].key, at(1e6), 9).await.expect("read").len(), 2);
    put(store, &[event(3)]).await;
    judge_all(store).await;
    let out =
        store.removal().rename(&from, &to, History::Stays, &how(false)).await.expect("renamed");
    assert_eq!((out.bearings.len(), out.joined.len()), (1, 0), "what stays joins nothing");
}

/// Whoever is second finds nothing, and one act is written down.
pub(super) async fn of_two_removals_at_once_one_finds_nothing(store: &Store) {
    put(store, &[event(1)]).await;
    judge_all(store).await;
    let (from, to) = (part("ulsan-1/P-101"), part("ulsan-1/P-201"));
    let how = how(false);
    let removal = store.removal();
    let (taken, renamed) = tokio::join!(
        removal.take_out(&from, &how),
        removal.rename(&from, &to, History::Moves, &how)
    );
    let found = [taken.expect("looked").is_something(), renamed.expect("looked").is_something()];
    assert_eq!(found.iter().filter(|found| **found).count(), 1, "{found:?}");
    assert_eq!(store.accounts().acts(None, 9).await.expect("read").len(), 1);
    let gateway = event(1).gateway();
    let (first, second) = tokio::join!(
        removal.forget_gateway(&gateway, &how),
        removal.forget_gateway(&gateway, &how)
    );
    let found = [first.expect("looked").is_something(), second.expect("looked").is_something()];
    assert_eq!(found.iter().filter(|found| **found).count(), 1, "{found:?}");
}

/// A release is written down, says which bearing it is, and changes nothing where it is dry.
pub(super) async fn a_release_is_written_down(store: &Store) {
    put(store, &[event(1)]).await;
    let gateway = event(1).gateway();
    let dry = store.removal().release_bearing_as(&key(), &how(true)).await.expect("looked");
    assert_eq!(dry.released, [key()]);
    assert_eq!(store.gateways().bearing_owners().await.expect("read").len(), 1, "a dry run");
    let out = store.removal().release_gateway_as(&gateway, &how(false)).await.expect("released");
    assert_eq!(out.gateways, [gateway]);
    assert_eq!(
        store.removal().release_bearing_as(&key(), &how(false)).await.expect("released"),
        dry
    );
    let again = store.removal().release_bearing_as(&key(), &how(false)).await.expect("looked");
    assert_eq!(again.released, []);
    let acts = store.accounts().acts(None, 9).await.expect("read");
    let actions: Vec<&str> = acts.iter().map(|act| act.action.as_str()).collect();
    assert_eq!(actions, ["release bearing", "release gateway"], "{acts:?}");
}

/// The bearings of a gateway go to the one that replaces it; what the broker keeps does not bring
/// it back.
pub(super) async fn a_gateway_is_replaced_and_taken_out(store: &Store) {
    let old = event(1).gateway();
    let new = GatewayKey::new(old.site.clone(), "gw-99".parse().expect("name"));
    put(store, &[event(1)]).await;
    let out = store.removal().replace_gateway(&old, &new, &how(false)).await.expect("replaced");
    assert_eq!(out.gateways, std::slice::from_ref(&old));
    assert_eq!(store.gateways().bearing_owners().await.expect("read"), [(key(), new.clone())]);
    let status = |status| Incoming::Status {
        site: old.site.clone(),
        status: GatewayStatus::bare(old.gateway.clone(), status, at(0.0)),
    };
    store.intake().store(&[status(Presence::Offline)], at(0.0), "dead").await.expect("stored");
    assert_eq!(
        store.gateways().gateways().await.expect("read").len(),
        0,
        "its last word is no return"
    );
    store.intake().store(&[status(Presence::Online)], at(0.0), "dead").await.expect("stored");
    assert_eq!(store.gateways().gateways().await.expect("read").len(), 1);
    let out = store.removal().forget_gateway(&new, &how(false)).await.expect("taken out");
    assert_eq!(out.gateways, [new]);
    assert_eq!(store.gateways().bearing_owners().await.expect("read"), []);
}

/// Refused events are kept by gateway, bearing and cause until staff has put it right.
pub(super) async fn refused_events_are_kept_until_they_are_over(store: &Store) {
    put(store, &[event(1)]).await;
    let stranger =
        |sequence| Event { gateway_id: "gw-02".parse().expect("name"), ..event(sequence) };
    put(store, &[stranger(2), stranger(3)]).await;
    put(store, &[stranger(4)]).await;
    let refused = store.gateways().refused().await.expect("read");
    assert_eq!((refused.len(), refused[0].count), (1, 3));
    assert_eq!((refused[0].cause, refused[0].bearing.clone()), (RefusalCause::Owner, key()));
    assert_eq!(refused[0].told_at, None);
    store.gateways().note_refusals_told(&refused, at(5.0)).await.expect("noted");
    assert_eq!(store.gateways().refused().await.expect("read")[0].told_at, Some(at(5.0)));
    store.gateways().forget_refused(&refused).await.expect("forgotten");
    assert_eq!(store.gateways().refused().await.expect("read"), []);
}

/// A suppressed episode is found whatever suppresses it; an hour's messages are counted by share.
pub(super) async fn suppressed_episodes_and_shares_are_found(store: &Store) {
    put(store, &[event(1)]).await;
    judge_all(store).await;
    assert_eq!(store.episodes().suppressed(Uuid::nil(), 9).await.expect("read").len(), 0);
    let record = store.episodes().episode(&key()).await.expect("read").expect("stands");
    let told = store.judging().told_lately(&key().site, at(0.0), 9).await.expect("read");
    assert!(told.iter().all(|one| one.gateway == Some(event(1).gateway_id)), "{told:?}");
    let EpisodeRecord { alarm, .. } = record;
    let id = alarm.expect("told").notification.notification_id;
    assert!(store.history().deliveries(id).await.expect("read").len() <= 3);
    assert_eq!(store.ceilings().gateway_of(&key()).await.expect("read"), Some(event(1).gateway()));
    assert_eq!(store.ceilings().gateway_count().await.expect("read"), 1);
    store.ceilings().note_message("webhook:ops", "ulsan-1/gw-01", at(0.0)).await.expect("noted");
    let shares = store.ceilings().shares_told("webhook:ops", at(0.0)).await.expect("read");
    assert_eq!(shares.get("ulsan-1/gw-01"), Some(&1));
    assert_eq!(store.ceilings().shares_told("webhook", at(0.0)).await.expect("read").len(), 0);
    assert_eq!(store.ceilings().told_in("webhook:ops", at(0.0)).await.expect("read").messages, 1);
}
