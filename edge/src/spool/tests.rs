//! Claims about the spool. R-EDGE-10. Here: numbers, commits, whose file it is, what is sent.

use std::sync::Arc;

use pdm_service::clock::{Clock, SystemClock};
use pdm_shared::delivery::{RECEIPT_SCHEMA, Receipt};
use pdm_shared::event::Event;
use pdm_shared::id::EventId;
use pdm_shared::time::Timestamp;

use super::*;

mod caps;
mod damage;
mod formats;
mod model;
mod receipts;

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
        epoch: None,
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
