//! A spool that an earlier version wrote.

use sqlx::migrate::Migrator;

use super::super::file;
use super::{gateway, open, sequences, settings};

/// Format 2: a trigger counted moved rows, and an index held the waiting ones.
#[tokio::test]
async fn a_spool_of_the_format_before_is_taken_over_with_all_it_holds() {
    let folder = tempfile::tempdir().expect("folder");
    let settings = settings(folder.path());
    let pool = file::pool(file::options(&settings.path).create_if_missing(true)).await;
    let pool = pool.expect("makes a file");
    let all = sqlx::migrate!("./migrations");
    let before = Migrator::with_migrations(all.iter().take(2).cloned().collect());
    before.run(&pool).await.expect("format 2");
    sqlx::query("INSERT INTO gateway (id, gateway_id, next_sequence) VALUES (1, ?, 4)")
        .bind(gateway().as_str())
        .execute(&pool)
        .await
        .expect("gateway");
    for sequence in 1..=3 {
        sqlx::query(
            "INSERT INTO event VALUES (?, zeroblob(16), 0, 'a', 'b', 'c', CAST('{}' AS BLOB))",
        )
        .bind(sequence)
        .execute(&pool)
        .await
        .expect("event");
    }
    sqlx::query("UPDATE delivery SET state = 1 WHERE sequence = 2")
        .execute(&pool)
        .await
        .expect("PUBACK");
    pool.close().await;

    let spool = open(settings).await;
    assert_eq!(sequences(&spool).await, [1, 3]);
    spool.acknowledge(&[1]).await.expect("acknowledges");
    let tally = spool.tally().await.expect("reads");
    assert_eq!((tally.waiting, tally.acknowledged, tally.bytes), (1, 2, 6));
}
