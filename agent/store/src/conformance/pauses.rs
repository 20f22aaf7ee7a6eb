//! Tests when bearings were heard, and their pauses.

use pdm_shared::id::BearingKey;

use super::{at, event, judge_all, key, put};
use crate::{BearingPause, History, PlantPart, Store};

/// Issue 33: of two replicas that notice one pause it is kept once; the newest sixteen stay, and a
/// bearing that is taken out takes them with it.
pub(super) async fn a_bearings_pauses_are_kept_once_and_go_with_it(store: &Store) {
    let gateways = store.gateways();
    assert_eq!(gateways.heard_bearings().await.expect("read"), []);
    put(store, &[event(1)]).await;
    judge_all(store).await;
    let heard = gateways.heard_bearings().await.expect("read");
    let [one] = heard.as_slice() else { panic!("{heard:?}") };
    assert_eq!((&one.key, one.measured_at), (&key(), Some(event(1).measured_at)));
    assert_eq!(one.since, one.last_at, "heard for the first time");
    put(store, &[event(2)]).await;
    judge_all(store).await;
    let again = gateways.heard_bearings().await.expect("read");
    assert_eq!(again[0].since, one.since, "since the first one");
    let pause = |hour: u32| BearingPause {
        from: at(3600.0 * f64::from(hour)),
        to: at(3600.0 * f64::from(hour) + 1800.0),
        is_exceptional: hour.is_multiple_of(2),
    };
    for hour in 0..20 {
        gateways.note_pause(&key(), &pause(hour)).await.expect("kept");
        let seen_later = BearingPause { to: at(1e9), ..pause(hour) };
        gateways.note_pause(&key(), &seen_later).await.expect("kept before");
    }
    let kept = gateways.pauses_of(&key()).await.expect("read");
    assert_eq!(kept, (4..20).map(pause).collect::<Vec<_>>());
    let part = |text: &str| -> PlantPart { text.parse().expect("a part") };
    let (removal, how) = (store.removal(), super::removal::how(false));
    let (from, to) = (part("ulsan-1/P-101"), part("ulsan-1/P-201"));
    removal.rename(&from, &to, History::Moves, &how).await.expect("renamed");
    assert_eq!(gateways.pauses_of(&key()).await.expect("read"), []);
    let new = BearingKey { equipment: "P-201".parse().expect("a name"), ..key() };
    assert_eq!(gateways.pauses_of(&new).await.expect("read"), kept, "they are its history");
    removal.take_out(&to, &how).await.expect("taken out");
    assert_eq!(gateways.pauses_of(&new).await.expect("read"), []);
}
