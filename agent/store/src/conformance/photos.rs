//! Photos of work orders: bounded, and gone with their judgement.

use pdm_shared::id::EventId;
use pdm_web::plant::{PhotoKind, PhotoRow};
use uuid::Uuid;

use super::{at, event, judge_all, put};
use crate::{PhotoBounds, PhotoNoted, Store};

fn photo(number: u128, event_id: EventId, seconds: f64) -> PhotoRow {
    PhotoRow {
        photo_id: Uuid::from_u128(number),
        event_id,
        kind: PhotoKind::Webp,
        bytes: 1000,
        by: "김\u{0}".to_owned(),
        at: at(seconds),
    }
}

/// A work order takes a bounded number of photos, and all photos together a bounded number of
/// bytes; nothing beyond is noted.
pub(super) async fn photos_are_bounded_by_order_and_in_all(store: &Store) {
    let (first, second) = (event(1).event_id, event(2).event_id);
    let bounds = PhotoBounds { of_order: 2, bytes: 3000 };
    let note = async |number: u128, event_id: EventId| {
        let noted = store.photos().note_photo(&photo(number, event_id, 0.0), bounds).await;
        noted.expect("answered")
    };
    assert_eq!((note(1, first).await, note(2, first).await), (PhotoNoted::Yes, PhotoNoted::Yes));
    assert_eq!(note(3, first).await, PhotoNoted::OrderFull);
    assert_eq!(
        (note(3, second).await, note(4, second).await),
        (PhotoNoted::Yes, PhotoNoted::AllFull)
    );
    let listed = store.photos().photos_of(first).await.expect("read");
    let ids: Vec<Uuid> = listed.iter().map(|row| row.photo_id).collect();
    assert_eq!(ids, [Uuid::from_u128(1), Uuid::from_u128(2)]);
    assert_eq!((listed[0].kind, listed[0].bytes), (PhotoKind::Webp, 1000));
    assert!(store.photos().forget_photo(Uuid::from_u128(1)).await.expect("gone"));
    assert!(!store.photos().forget_photo(Uuid::from_u128(1)).await.expect("once"));
    assert!(store.photos().photo_by_id(Uuid::from_u128(1)).await.expect("read").is_none());
    assert_eq!(note(4, second).await, PhotoNoted::Yes, "there is room again");
}

/// A photo stays while its judgement is kept or its work waits, and while it is young.
pub(super) async fn photos_go_with_their_judgement(store: &Store) {
    put(store, &[event(1)]).await;
    judge_all(store).await;
    let bounds = PhotoBounds { of_order: 9, bytes: 1_000_000 };
    let (kept, unknown) = (event(1).event_id, event(9).event_id);
    for (number, event_id, seconds) in [(1, kept, 0.0), (2, unknown, 0.0), (3, unknown, 500.0)] {
        let photo = photo(number, event_id, seconds);
        assert_eq!(
            store.photos().note_photo(&photo, bounds).await.expect("noted"),
            PhotoNoted::Yes
        );
    }
    assert_eq!(store.photos().forget_old_photos(at(100.0)).await.expect("forgotten"), 1);
    let there = async |number: u128| {
        store.photos().photo_by_id(Uuid::from_u128(number)).await.expect("read").is_some()
    };
    assert!(there(1).await && !there(2).await && there(3).await);
    assert_eq!(store.photos().forget_old_photos(at(1e6)).await.expect("forgotten"), 1);
    assert!(there(1).await && !there(3).await, "its judgement is kept");
}
