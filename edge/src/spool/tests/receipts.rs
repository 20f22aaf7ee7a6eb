//! Claims about the effect of PUBACKs and receipts on a row.

use pdm_shared::id::Epoch;

use super::*;

async fn applied(spool: &Spool, receipt: &Receipt) -> Covered {
    let outcome = spool.apply(receipt).await.expect("applies");
    let ReceiptOutcome::Applied(covered) = outcome else { panic!("not applied: {outcome:?}") };
    covered
}

/// Events that no batch before had.
fn more(count: u64) -> Batch {
    Batch { events: (1000..1000 + count).map(event).collect(), ..Batch::default() }
}

#[tokio::test]
async fn a_puback_makes_a_row_eligible_and_a_receipt_deletes_it() {
    let folder = tempfile::tempdir().expect("folder");
    let spool = open(settings(folder.path())).await;
    spool.commit(&mut batch(4)).await.expect("commits");
    spool.acknowledge(&[1, 2, 3]).await.expect("acknowledges");
    let tally = spool.tally().await.expect("reads");
    assert_eq!((tally.waiting, tally.acknowledged), (1, 3));

    let covered = applied(&spool, &receipt(2, &[])).await;
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
    let covered = applied(&spool, &receipt(2, &[[4, 5], [9, u64::MAX]])).await;
    assert_eq!(
        covered,
        Covered { deleted: 2, called_back: 2, first_called_back: Some(4), ..Covered::default() }
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
    let covered = applied(&spool, &receipt(3, &[[4, 4]])).await;
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
async fn a_receipt_above_the_last_number_changes_nothing() {
    let folder = tempfile::tempdir().expect("folder");
    let spool = open(settings(folder.path())).await;
    spool.commit(&mut batch(2)).await.expect("commits");
    spool.acknowledge(&[1, 2]).await.expect("acknowledges");
    for stored in [3, 500, i64::MAX as u64, u64::MAX] {
        let why = Implausible::AboveLast { stored, last: 2 };
        let outcome = spool.apply(&receipt(stored, &[])).await.expect("refuses");
        assert_eq!(outcome, ReceiptOutcome::Implausible(why));
    }
    let tally = spool.tally().await.expect("reads");
    assert_eq!((tally.acknowledged, tally.stored_through, tally.last_sequence), (2, 0, 2));
    assert_eq!(spool.commit(&mut more(1)).await.expect("commits").first, 3);
}

#[tokio::test]
async fn a_receipt_whose_gaps_overlap_changes_nothing() {
    let folder = tempfile::tempdir().expect("folder");
    let spool = open(settings(folder.path())).await;
    spool.commit(&mut batch(6)).await.expect("commits");
    for missing in [&[[2, 3]][..], &[[4, 5], [5, 6]], &[[6, 5]]] {
        let outcome = spool.apply(&receipt(2, missing)).await.expect("refuses");
        assert!(matches!(outcome, ReceiptOutcome::Implausible(Implausible::Gaps { .. })));
    }
}

#[tokio::test]
async fn a_receipt_that_falls_is_told_and_deletes_nothing() {
    let folder = tempfile::tempdir().expect("folder");
    let spool = open(settings(folder.path())).await;
    spool.commit(&mut batch(6)).await.expect("commits");
    spool.acknowledge(&[1, 2, 3, 4, 5, 6]).await.expect("acknowledges");
    applied(&spool, &receipt(3, &[])).await;
    let covered = applied(&spool, &receipt(0, &[])).await;
    assert_eq!((covered.fell_from, covered.deleted), (Some(3), 0));
    assert_eq!(spool.tally().await.expect("reads").acknowledged, 3);
}

/// The agent's receipt for a spool that was lost must not delete events of its successor.
#[tokio::test]
async fn a_receipt_of_another_count_changes_nothing() {
    let folder = tempfile::tempdir().expect("folder");
    let spool = open(settings(folder.path())).await;
    spool.commit(&mut batch(3)).await.expect("commits");
    spool.acknowledge(&[1, 2, 3]).await.expect("acknowledges");
    let other = Receipt { epoch: Some(Epoch::at(0)), ..receipt(2, &[]) };
    assert_eq!(spool.apply(&other).await.expect("ignores"), ReceiptOutcome::AnotherCount);
    let own = Receipt { epoch: Some(spool.numbering().epoch), ..receipt(2, &[]) };
    assert_eq!(applied(&spool, &own).await.deleted, 2);
}

/// An earlier version followed a forged receipt: the next number was 2^63 - 1, no commit succeeded,
/// and the file could not be opened any more.
#[tokio::test]
async fn a_spool_that_a_false_receipt_moved_goes_on_after_its_last_event() {
    let folder = tempfile::tempdir().expect("folder");
    let spool = open(settings(folder.path())).await;
    let before = spool.numbering();
    spool.commit(&mut batch(4)).await.expect("commits");
    spool.acknowledge(&[1, 2, 3, 4]).await.expect("acknowledges");
    applied(&spool, &receipt(1, &[])).await;
    spool.close().await;
    drop(spool);
    let path = settings(folder.path()).path;
    let pool = file::pool(file::options(&path)).await.expect("opens");
    sqlx::query("UPDATE gateway SET next_sequence = ?1, stored_through = ?1 - 1")
        .bind(i64::MAX)
        .execute(&pool)
        .await
        .expect("poisoned");
    pool.close().await;
    std::fs::write(file::beside(&path, "sequence"), format!("{}\n", u64::MAX - 7)).expect("ledger");

    let spool = open(settings(folder.path())).await;
    let tally = spool.tally().await.expect("reads");
    assert_eq!((tally.last_sequence, tally.stored_through, tally.acknowledged), (4, 0, 3));
    assert_ne!(spool.numbering(), before, "the numbers of the false count must not be confused");
    assert_eq!(spool.numbering().first, 2);
    assert_eq!(spool.commit(&mut more(2)).await.expect("commits").first, 5);
}

#[tokio::test]
async fn the_identity_of_the_count_stays_with_the_file() {
    let folder = tempfile::tempdir().expect("folder");
    let spool = open(settings(folder.path())).await;
    let before = spool.numbering();
    assert_eq!(before.first, 1);
    spool.commit(&mut batch(2)).await.expect("commits");
    spool.close().await;
    drop(spool);
    let spool = open(settings(folder.path())).await;
    assert_eq!(spool.numbering(), before);
    let row = spool.waiting(EVERYTHING, 1).await.expect("reads").remove(0);
    let other = Epoch::at(7);
    let unlabelled = row.payload.to_vec();
    let unlabelled = String::from_utf8(unlabelled).expect("JSON");
    let own = format!("\"epoch\":\"{}\",", before.epoch);
    assert!(unlabelled.contains(&own), "{unlabelled}");
    let unlabelled = unlabelled.replace(&own, "");
    for (payload, epoch) in [
        (row.payload.clone(), before.epoch),
        (row.payload.clone(), other),
        (unlabelled.into(), other),
    ] {
        let sent: Event = serde_json::from_slice(&labelled(payload, epoch)).expect("event");
        assert_eq!((sent.epoch, sent.sequence), (Some(epoch), 1));
    }
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
