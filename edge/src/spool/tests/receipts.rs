//! Claims about the effect of PUBACKs and receipts on a row.

use super::*;

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

/// An agent whose store was restored from a backup asks for events that an earlier receipt covered.
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

    // the broker loses events that it has acknowledged
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
