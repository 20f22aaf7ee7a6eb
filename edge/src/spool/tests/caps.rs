//! Claims about the caps in bytes and age: which rows are deleted and which stay.

use std::time::Duration;

use super::*;

async fn capped(folder: &std::path::Path, policy: Policy, events: u64) -> Spool {
    // the spool writes its epoch into every event
    let epoch = Some(pdm_shared::id::Epoch(uuid::Uuid::nil()));
    let written = Event { epoch, ..event(0) };
    let one = serde_json::to_vec(&written).expect("json").len() as u64 + 4;
    let limits = Limits { max_bytes: one * events, policy, ..Limits::default() };
    open(SpoolSettings { limits, ..settings(folder) }).await
}

#[tokio::test]
async fn at_the_cap_acknowledged_rows_go_first_and_are_not_called_lost() {
    let folder = tempfile::tempdir().expect("folder");
    let spool = capped(folder.path(), Policy::Oldest, 10).await;
    spool.commit(&mut batch(10)).await.expect("commits");
    spool.acknowledge(&[4, 5]).await.expect("acknowledges");
    spool.commit(&mut batch(1)).await.expect("commits");
    assert_eq!(sequences(&spool).await, [1, 2, 3, 6, 7, 8, 9, 10, 11]);
    let tally = spool.tally().await.expect("reads");
    assert_eq!((tally.unconfirmed, tally.acknowledged, tally.dropped), (1, 1, 0));
}

#[tokio::test]
async fn at_the_cap_the_oldest_go_and_are_counted() {
    let folder = tempfile::tempdir().expect("folder");
    let spool = capped(folder.path(), Policy::Oldest, 300).await;
    for _ in 0..3 {
        spool.commit(&mut batch(150)).await.expect("commits");
    }
    let tally = spool.tally().await.expect("reads");
    assert_eq!(tally.waiting + tally.dropped, 450);
    assert!(tally.waiting >= 298, "more was let go than had to be: {} left of 300", tally.waiting);
    assert_eq!(*sequences(&spool).await.last().expect("some"), 450);
}

#[tokio::test]
async fn with_policy_newest_new_events_are_refused_without_a_number() {
    let folder = tempfile::tempdir().expect("folder");
    let spool = capped(folder.path(), Policy::Newest, 3).await;
    spool.commit(&mut batch(3)).await.expect("commits");
    let mut late = batch(2);
    late.memory.insert("position".to_owned(), b"5".to_vec());
    let done = spool.commit(&mut late).await.expect("commits");
    assert_eq!((done.taken, done.refused), (0, 2));
    assert_eq!(spool.tally().await.expect("reads").dropped, 2);
    assert_eq!(spool.memory().await.expect("reads")["position"], b"5", "state goes on");
    spool.acknowledge(&[1, 2]).await.expect("acknowledges");
    assert_eq!(spool.commit(&mut batch(1)).await.expect("commits").first, 4, "no gap");
}

const HOUR_MS: i64 = 3_600_000;

#[tokio::test]
async fn rows_past_their_age_go_and_are_counted() {
    let folder = tempfile::tempdir().expect("folder");
    let clock = Arc::new(TestClock::default());
    let limits = Limits { max_age: Duration::from_mins(119), ..Limits::default() };
    let spool = open_at(SpoolSettings { limits, ..settings(folder.path()) }, clock.clone()).await;
    spool.commit(&mut batch(3)).await.expect("commits");
    spool.acknowledge(&[2]).await.expect("acknowledges");
    for hour in 1..=2 {
        clock.set(hour * HOUR_MS);
        spool.commit(&mut batch(1)).await.expect("commits");
        spool.commit(&mut batch(1)).await.expect("commits");
        let tally = spool.tally().await.expect("reads");
        assert_eq!((tally.dropped, tally.unconfirmed), (0, 0), "{hour}");
    }
    clock.set(3 * HOUR_MS);
    spool.commit(&mut batch(1)).await.expect("commits");
    assert_eq!(sequences(&spool).await, [4, 5, 6, 7, 8], "what came two full hours ago stays");
    let tally = spool.tally().await.expect("reads");
    assert_eq!((tally.dropped, tally.unconfirmed), (2, 1));
}

/// R-EDGE-10: the clock of a gateway without a battery starts in 1970 at each start and is set
/// later, or a person sets a wrong time.
#[tokio::test]
async fn a_clock_that_jumps_makes_no_event_too_old() {
    const NOW_MS: i64 = 1_795_000_000_000;
    let folder = tempfile::tempdir().expect("folder");
    let clock = Arc::new(TestClock::default());
    let limits = Limits { max_age: Duration::from_hours(9), ..Limits::default() };
    let settings = SpoolSettings { limits, ..settings(folder.path()) };
    let mut last = 0;
    for start in [0, NOW_MS, 0, NOW_MS + HOUR_MS, 10 * NOW_MS, NOW_MS + 2 * HOUR_MS] {
        let spool = open_at(settings.clone(), clock.clone()).await;
        clock.set(start);
        last = spool.commit(&mut batch(3)).await.expect("commits").first + 2;
        clock.set(start + HOUR_MS);
        last = spool.commit(&mut batch(1)).await.expect("commits").first.max(last);
        spool.close().await;
    }
    let spool = open_at(settings, clock).await;
    assert_eq!(spool.tally().await.expect("reads").dropped, 0);
    assert_eq!(sequences(&spool).await, (1..=last).collect::<Vec<_>>());
}
