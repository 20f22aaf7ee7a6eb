//! Claims about the spool: numbers, states, receipts, caps, reopening, damage. R-EDGE-10.

use std::sync::Arc;
use std::time::Duration;

use pdm_shared::clock::{Clock, SystemClock, Timestamp};
use pdm_shared::delivery::{RECEIPT_SCHEMA, Receipt};
use pdm_shared::event::Event;
use pdm_shared::id::EventId;

use super::*;

mod damage;
mod formats;
mod model;

const EVERYTHING: Lane = Lane { first: 0, end: u64::MAX };

/// A clock that a test sets.
#[derive(Debug, Default)]
pub(super) struct TestClock(std::sync::atomic::AtomicI64);

impl TestClock {
    pub(super) fn set(&self, ms: i64) {
        self.0.store(ms, std::sync::atomic::Ordering::SeqCst);
    }
}

impl Clock for TestClock {
    fn now(&self) -> Timestamp {
        let ms = self.0.load(std::sync::atomic::Ordering::SeqCst);
        Timestamp::from_unix_ms(ms).expect("in range")
    }
}

pub(super) fn event(n: u64) -> Event {
    let text = include_str!("../../../config/examples/event.json");
    let mut event: Event = serde_json::from_str(text).expect("the example");
    event.event_id = EventId::at(1_700_000_000_000 + n.cast_signed());
    event
}

pub(super) fn batch(count: u64) -> Batch {
    Batch { events: (0..count).map(event).collect(), ..Batch::default() }
}

pub(super) fn settings(folder: &std::path::Path) -> SpoolSettings {
    SpoolSettings { path: folder.join("spool.db"), limits: Limits::default(), await_receipt: true }
}

pub(super) async fn open(settings: SpoolSettings) -> Spool {
    open_at(settings, Arc::new(SystemClock)).await
}

async fn open_at(settings: SpoolSettings, clock: SharedClock) -> Spool {
    Spool::open(settings, gateway(), clock).await.expect("opens")
}

pub(super) fn gateway() -> GatewayId {
    "gw-01".parse().expect("name")
}

pub(super) fn receipt(stored_through: u64, missing: &[[u64; 2]]) -> Receipt {
    Receipt {
        schema: RECEIPT_SCHEMA.to_owned(),
        gateway_id: gateway(),
        stored_through,
        missing: missing.to_vec(),
        at: Timestamp::from_unix_ms(0).expect("epoch"),
    }
}

pub(super) async fn sequences(spool: &Spool) -> Vec<u64> {
    let rows = spool.waiting(EVERYTHING, usize::MAX).await.expect("reads");
    rows.iter().map(|row| row.sequence).collect()
}

#[tokio::test]
async fn numbers_run_from_one_without_a_gap_also_over_a_reopening() {
    let folder = tempfile::tempdir().expect("folder");
    for round in 0..3 {
        let spool = open(settings(folder.path())).await;
        let done = spool.commit(&mut batch(5)).await.expect("commits");
        assert_eq!(done, Committed { first: round * 5 + 1, taken: 5, refused: 0 });
        spool.close().await;
    }
    let spool = open(settings(folder.path())).await;
    assert_eq!(sequences(&spool).await, (1..=15).collect::<Vec<_>>());
}

#[tokio::test]
async fn memory_and_events_are_committed_together() {
    let folder = tempfile::tempdir().expect("folder");
    let spool = open(settings(folder.path())).await;
    let mut first = batch(1);
    first.memory.insert("position".to_owned(), b"7".to_vec());
    spool.commit(&mut first).await.expect("commits");
    spool.close().await;
    drop(spool);
    let spool = open(settings(folder.path())).await;
    assert_eq!(spool.memory().await.expect("reads")["position"], b"7");
}

#[tokio::test]
async fn a_puback_makes_a_row_eligible_and_a_receipt_deletes_it() {
    let folder = tempfile::tempdir().expect("folder");
    let spool = open(settings(folder.path())).await;
    spool.commit(&mut batch(4)).await.expect("commits");
    spool.acknowledge(&[1, 2, 3]).await.expect("acknowledges");
    let tally = spool.tally().await.expect("reads");
    assert_eq!((tally.waiting, tally.acknowledged), (1, 3));

    let covered = spool.apply(&receipt(2, &[])).await.expect("applies");
    assert_eq!(covered.deleted, 2);
    let tally = spool.tally().await.expect("reads");
    assert_eq!((tally.waiting, tally.acknowledged, tally.stored_through), (1, 1, 2));
}

#[tokio::test]
async fn a_row_without_a_puback_stays_though_a_receipt_covers_it() {
    let folder = tempfile::tempdir().expect("folder");
    let spool = open(settings(folder.path())).await;
    spool.commit(&mut batch(2)).await.expect("commits");
    spool.apply(&receipt(2, &[])).await.expect("applies");
    assert_eq!(sequences(&spool).await, [1, 2]);
    spool.acknowledge(&[1, 2]).await.expect("acknowledges");
    let tally = spool.tally().await.expect("reads");
    assert_eq!((tally.waiting, tally.acknowledged), (0, 0), "covered already: deleted at PUBACK");
}

#[tokio::test]
async fn what_a_receipt_reports_missing_is_called_back() {
    let folder = tempfile::tempdir().expect("folder");
    let spool = open(settings(folder.path())).await;
    spool.commit(&mut batch(6)).await.expect("commits");
    spool.acknowledge(&[1, 2, 3, 4, 5, 6]).await.expect("acknowledges");
    let covered = spool.apply(&receipt(2, &[[4, 5], [9, u64::MAX]])).await.expect("applies");
    assert_eq!(
        covered,
        Covered { deleted: 2, called_back: 2, first_called_back: Some(4), gone: 0 }
    );
    assert_eq!(sequences(&spool).await, [4, 5]);
}

/// An agent whose store was put back to an earlier state asks for what an earlier receipt covered.
#[tokio::test]
async fn what_was_called_back_stays_after_its_puback_until_a_receipt_covers_it() {
    let folder = tempfile::tempdir().expect("folder");
    let spool = open(settings(folder.path())).await;
    spool.commit(&mut batch(4)).await.expect("commits");
    spool.acknowledge(&[1, 2]).await.expect("acknowledges");
    spool.apply(&receipt(4, &[])).await.expect("applies");
    assert_eq!(sequences(&spool).await, [3, 4], "no PUBACK yet");
    spool.apply(&receipt(2, &[[3, 4]])).await.expect("applies");
    spool.acknowledge(&[3, 4]).await.expect("acknowledges");

    // the broker forgets what it has acknowledged
    let covered = spool.apply(&receipt(3, &[[4, 4]])).await.expect("applies");
    assert_eq!((covered.deleted, covered.called_back, covered.gone), (1, 1, 0));
    assert_eq!(sequences(&spool).await, [4]);
}

#[tokio::test]
async fn a_receipt_of_another_gateway_changes_nothing() {
    let folder = tempfile::tempdir().expect("folder");
    let spool = open(settings(folder.path())).await;
    spool.commit(&mut batch(1)).await.expect("commits");
    spool.acknowledge(&[1]).await.expect("acknowledges");
    let foreign = Receipt { gateway_id: "gw-02".parse().expect("name"), ..receipt(1, &[]) };
    spool.apply(&foreign).await.expect("ignored");
    assert_eq!(spool.tally().await.expect("reads").acknowledged, 1);
}

#[tokio::test]
async fn a_receipt_ahead_of_the_spool_raises_the_numbers() {
    let folder = tempfile::tempdir().expect("folder");
    let spool = open(settings(folder.path())).await;
    spool.apply(&receipt(500, &[])).await.expect("applies");
    assert_eq!(spool.commit(&mut batch(1)).await.expect("commits").first, 501);
}

#[tokio::test]
async fn without_receipts_a_puback_deletes() {
    let folder = tempfile::tempdir().expect("folder");
    let spool = open(SpoolSettings { await_receipt: false, ..settings(folder.path()) }).await;
    spool.commit(&mut batch(2)).await.expect("commits");
    spool.acknowledge(&[1]).await.expect("acknowledges");
    let tally = spool.tally().await.expect("reads");
    assert_eq!((tally.waiting, tally.acknowledged), (1, 0));
}

async fn capped(folder: &std::path::Path, policy: Policy, events: u64) -> Spool {
    let one = serde_json::to_vec(&event(0)).expect("json").len() as u64 + 4;
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

/// R-EDGE-10: a gateway without a battery for its clock begins in 1970, each time it starts, and is set
/// right later; or somebody sets it wrong.
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

#[tokio::test]
async fn a_second_program_is_kept_out_and_told_why() {
    let folder = tempfile::tempdir().expect("folder");
    let _first = open(settings(folder.path())).await;
    let second = Spool::open(settings(folder.path()), gateway(), Arc::new(SystemClock)).await;
    let text = second.expect_err("locked").to_string();
    assert!(text.contains("is in use by another program"), "{text}");
}

#[tokio::test]
async fn a_spool_of_another_gateway_is_refused() {
    let folder = tempfile::tempdir().expect("folder");
    drop(open(settings(folder.path())).await);
    let other = "gw-02".parse().expect("name");
    let error = Spool::open(settings(folder.path()), other, Arc::new(SystemClock)).await;
    assert!(matches!(error, Err(SpoolError::Foreign { .. })));
}

#[tokio::test]
async fn a_commit_whose_outcome_was_not_learnt_is_not_done_twice() {
    let folder = tempfile::tempdir().expect("folder");
    let spool = open(settings(folder.path())).await;
    let mut same = batch(3);
    let once = spool.commit(&mut same).await.expect("commits");
    let twice = spool.commit(&mut same).await.expect("is found");
    assert_eq!(once, twice);
    assert_eq!(sequences(&spool).await, [1, 2, 3]);
}

#[tokio::test]
async fn a_late_payload_differs_from_the_committed_one_in_two_fields_only() {
    let folder = tempfile::tempdir().expect("folder");
    let clock = Arc::new(TestClock::default());
    let spool = open_at(settings(folder.path()), clock.clone()).await;
    spool.commit(&mut batch(1)).await.expect("commits");
    let row = spool.waiting(EVERYTHING, 1).await.expect("reads").remove(0);
    assert_eq!(row.clone().payload_at(10_000, 10.0), row.payload, "in time: byte-equal");
    let payload = row.clone().payload_at(12_500, 10.0);
    let mut late: Event = serde_json::from_slice(&payload).expect("event");
    assert!(late.replayed);
    assert!((late.delayed_s - 12.5).abs() < 1e-9);
    (late.replayed, late.delayed_s) = (false, 0.0);
    assert_eq!(serde_json::to_vec(&late).expect("json"), row.payload);
}

#[tokio::test]
async fn only_the_last_state_of_a_bearing_is_kept() {
    let folder = tempfile::tempdir().expect("folder");
    let spool = open(settings(folder.path())).await;
    spool.commit(&mut batch(3)).await.expect("commits");
    let states = spool.states_from(0).await.expect("reads");
    assert_eq!(states.iter().map(|state| state.sequence).collect::<Vec<_>>(), [3]);
    assert!(spool.states_from(4).await.expect("reads").is_empty());
}
