//! Claims about a damaged or lost file: only unreadable rows are lost, the service continues, and
//! no number is given out twice.

use std::io::{Seek as _, SeekFrom, Write as _};
use std::path::Path;

use super::*;
use crate::spool::ledger::AHEAD;

fn overwrite(path: &Path, from: u64, bytes: u64) {
    let mut file = std::fs::OpenOptions::new().write(true).open(path).expect("opens");
    file.seek(SeekFrom::Start(from)).expect("seeks");
    file.write_all(&vec![0xA5; usize::try_from(bytes).expect("small")]).expect("writes");
}

async fn filled(folder: &Path, events: u64) -> std::path::PathBuf {
    let spool = open(settings(folder)).await;
    let mut batch = batch(events);
    batch.memory.insert("position".to_owned(), b"42".to_vec());
    spool.commit(&mut batch).await.expect("commits");
    spool.close().await;
    spool.path().to_owned()
}

fn set_aside(folder: &Path) -> usize {
    std::fs::read_dir(folder)
        .expect("folder")
        .filter_map(Result::ok)
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        // the two files that SQLite keeps beside the database may be missing
        .filter(|name| !name.ends_with("-wal") && !name.ends_with("-shm"))
        .filter(|name| name.contains("db.damaged-"))
        .count()
}

#[tokio::test]
async fn a_page_in_the_middle_costs_its_rows_and_no_others() {
    let folder = tempfile::tempdir().expect("folder");
    let path = filled(folder.path(), 200).await;
    let size = std::fs::metadata(&path).expect("exists").len();
    overwrite(&path, size / 2 / 4096 * 4096, 4096);

    let spool = open(settings(folder.path())).await;
    let left = sequences(&spool).await;
    assert!(left.len() >= 150, "only {} of 200 were saved", left.len());
    assert_eq!(set_aside(folder.path()), 1);
    assert_eq!(spool.commit(&mut batch(1)).await.expect("commits").first, 201);
    assert_eq!(spool.memory().await.expect("reads")["position"], b"42");
}

#[tokio::test]
async fn a_file_that_is_no_database_any_more_costs_at_most_the_reserve_of_numbers() {
    let folder = tempfile::tempdir().expect("folder");
    let path = filled(folder.path(), 50).await;
    let size = std::fs::metadata(&path).expect("exists").len();
    overwrite(&path, 0, size);
    let spool = open(settings(folder.path())).await;
    let first = spool.commit(&mut batch(1)).await.expect("commits").first;
    assert!((51..=51 + AHEAD).contains(&first), "{first}");
    assert_eq!(set_aside(folder.path()), 1);
}

#[tokio::test]
async fn a_deleted_file_does_not_give_numbers_twice() {
    let folder = tempfile::tempdir().expect("folder");
    let path = filled(folder.path(), 50).await;
    std::fs::remove_file(&path).expect("removes");
    let spool = open(settings(folder.path())).await;
    assert!(spool.commit(&mut batch(1)).await.expect("commits").first > 50);
}

#[tokio::test]
async fn damage_found_in_service_is_repaired_and_the_commit_goes_through() {
    let folder = tempfile::tempdir().expect("folder");
    drop(filled(folder.path(), 100).await);
    let spool = open(settings(folder.path())).await;
    let size = std::fs::metadata(spool.path()).expect("exists").len();
    overwrite(spool.path(), 4096, size - 4096);
    // a reader without a cached page of the file sees the damage
    let why = SpoolError::Damaged { path: spool.path().to_owned(), reason: "a test".to_owned() };
    spool.repair(&why).await.expect("repairs");
    assert!(spool.commit(&mut batch(1)).await.expect("commits").first > 100);
}

/// R-EDGE-12: a clean-up takes the file or its folder away while the gateway runs.
#[tokio::test]
async fn a_spool_that_was_removed_while_it_was_open_is_written_anew_and_nothing_is_lost() {
    for takes_the_folder in [false, true] {
        let folder = tempfile::tempdir().expect("folder");
        drop(filled(folder.path(), 100).await);
        let spool = open(settings(folder.path())).await;
        spool.has_a_name().expect("stands");
        if takes_the_folder {
            std::fs::remove_dir_all(folder.path()).expect("removes");
        } else {
            std::fs::remove_file(spool.path()).expect("removes");
        }
        let why = spool.has_a_name().expect_err("noticed");
        assert!(spool.repair(&why).await.expect("writes it anew"));
        assert!(!spool.repair(&why).await.expect("nothing to do"));
        spool.has_a_name().expect("stands again");
        let numbering = spool.numbering();
        assert_eq!(spool.commit(&mut batch(1)).await.expect("commits").first, 101);
        spool.close().await;

        let again = open(settings(folder.path())).await;
        assert_eq!(again.tally().await.expect("reads").waiting, 101, "{takes_the_folder}");
        assert_eq!(again.numbering(), numbering, "the count goes on");
    }
}

#[tokio::test]
async fn another_file_in_the_place_of_the_spool_is_noticed_and_stays() {
    let folder = tempfile::tempdir().expect("folder");
    drop(filled(folder.path(), 10).await);
    let spool = open(settings(folder.path())).await;
    assert!(!spool.is_replaced());
    let backup = folder.path().join("backup");
    std::fs::write(&backup, b"put back by hand").expect("writes");
    std::fs::rename(&backup, spool.path()).expect("replaces");
    assert!(spool.is_replaced());
    assert_eq!(spool.commit(&mut batch(1)).await.expect("commits").first, 11);
    assert_eq!(std::fs::read(spool.path()).expect("reads"), b"put back by hand");
}

#[tokio::test]
async fn a_row_whose_name_is_damaged_is_set_aside_and_holds_nothing_up() {
    let folder = tempfile::tempdir().expect("folder");
    let path = filled(folder.path(), 3).await;
    let file =
        sqlx::SqlitePool::connect(&format!("sqlite:{}", path.display())).await.expect("open");
    let damaged = "UPDATE event SET site = char(31, 30, 10) || site WHERE sequence = 2";
    sqlx::query(damaged).execute(&file).await.expect("writes");
    file.close().await;

    let spool = open(settings(folder.path())).await;
    assert_eq!(sequences(&spool).await, [1, 3]);
    let tally = spool.tally().await.expect("reads");
    assert_eq!((tally.waiting, tally.parked), (2, 1));
}
