//! A new file out of a damaged one: every row that can still be read is copied, table by table.
//!
//! The damaged file is not changed but renamed at the end, so that a failure half way leaves
//! everything where it was. A table with row numbers is read in ranges, which are halved around
//! what cannot be read; one without is read from both ends.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use pdm_shared::time::Timestamp;

use super::Sqlite;
use crate::StoreError;
use copying::Copy;

mod copying;

/// The outcome of recovering a damaged file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Recovery {
    /// Where the damaged file lies now.
    pub aside: PathBuf,
    /// Each table that had rows or damage, with what was copied.
    pub tables: Vec<RecoveredTable>,
}

/// The counts of the rows copied from a table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecoveredTable {
    /// Name.
    pub name: String,
    /// Rows copied.
    pub rows: u64,
    /// Row numbers, or ends of a table without them, that could not be read.
    pub unreadable: u64,
}

impl Recovery {
    /// Rows copied in all.
    pub fn rows(&self) -> u64 {
        self.tables.iter().map(|table| table.rows).sum()
    }
}

/// Copies what can be read of the file at `path` into a new one and puts it in its place. Without
/// `even_empty` a file of which nothing can be read is left where it is.
///
/// # Errors
/// [`StoreError`] if no new file can be made, or nothing could be read.
pub async fn recover(
    path: &Path,
    even_empty: bool,
    now: Timestamp,
) -> Result<Recovery, StoreError> {
    let failed = |error: std::io::Error| super::cannot_open(path, error.into());
    std::fs::metadata(path).map_err(failed)?;
    let fresh = beside(path, ".recovering");
    remove(&fresh).map_err(failed)?;
    let new = Sqlite::open(&fresh).await?;
    new.migrate().await?;
    let copied = copied(&new, path).await;
    new.close().await;
    let tables = match copied {
        Ok(tables) => tables,
        Err(error) if even_empty => {
            tracing::warn!(%error, "nothing of the damaged store can be read");
            Vec::new()
        }
        Err(error) => {
            remove(&fresh).map_err(failed)?;
            return Err(error.into());
        }
    };
    let stamp = now.date_time().format("%Y%m%dT%H%M%S%3fZ").to_string();
    let aside = beside(path, &format!(".damaged-{stamp}"));
    for suffix in ["", "-wal", "-shm"] {
        let from = beside(path, suffix);
        if from.exists() {
            std::fs::rename(from, beside(&aside, suffix)).map_err(failed)?;
        }
    }
    std::fs::rename(&fresh, path).map_err(failed)?;
    Ok(Recovery { aside, tables })
}

async fn copied(new: &Sqlite, damaged: &Path) -> Result<Vec<RecoveredTable>, sqlx::Error> {
    let mut connection = new.writer().acquire().await?;
    sqlx::raw_sql("PRAGMA foreign_keys = OFF").execute(&mut *connection).await?;
    sqlx::query("ATTACH ? AS damaged")
        .bind(damaged.display().to_string())
        .execute(&mut *connection)
        .await?;
    let names: Vec<(String, bool)> = sqlx::query_as(
        "SELECT name, wr FROM pragma_table_list
         WHERE schema = 'main' AND type = 'table' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'
           AND name <> '_sqlx_migrations' ORDER BY name",
    )
    .fetch_all(&mut *connection)
    .await?;
    let mut tables = Vec::new();
    for (name, without_numbers) in names {
        let columns: Vec<String> = sqlx::query_scalar(
            "SELECT new.name FROM pragma_table_info(?1, 'main') AS new
             JOIN pragma_table_info(?1, 'damaged') AS old ON old.name = new.name",
        )
        .bind(&name)
        .fetch_all(&mut *connection)
        .await?;
        if columns.is_empty() {
            continue;
        }
        let mut copy = Copy::new(&mut connection, name, columns);
        if without_numbers {
            copy.both_ends().await?;
        } else {
            copy.by_numbers().await;
        }
        let Copy { name, rows, unreadable, .. } = copy;
        if rows + unreadable > 0 {
            tables.push(RecoveredTable { name, rows, unreadable });
        }
    }
    // what points at a row that is gone cannot be used
    let orphans = "DELETE FROM graph_edges WHERE from_node NOT IN (SELECT id FROM graph_nodes)
                   OR to_node NOT IN (SELECT id FROM graph_nodes)";
    sqlx::raw_sql(orphans).execute(&mut *connection).await?;
    sqlx::raw_sql("DETACH damaged").execute(&mut *connection).await?;
    Ok(tables)
}

fn remove(path: &Path) -> std::io::Result<()> {
    for suffix in ["", "-wal", "-shm"] {
        match std::fs::remove_file(beside(path, suffix)) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(error),
            Ok(()) | Err(_) => {}
        }
    }
    Ok(())
}

fn beside(path: &Path, suffix: &str) -> PathBuf {
    let mut name = OsString::from(path);
    name.push(suffix);
    name.into()
}

#[cfg(test)]
mod tests {
    use std::io::{Seek as _, SeekFrom, Write as _};

    use pdm_shared::delivery::DeadLetter;

    use super::*;
    use crate::{Incoming, Store};

    fn now() -> Timestamp {
        Timestamp::from_unix_ms(1_000_000).expect("in range")
    }

    async fn filled(path: &Path) {
        let store = Store::open_sqlite(path).await.expect("opens");
        store.migrate().await.expect("migrated");
        for batch in 0..20 {
            let letters: Vec<Incoming> = (0..50)
                .map(|number| {
                    let text = format!("{batch} {number} {}", "x".repeat(900));
                    let letter = DeadLetter::of("t", text.as_bytes(), "r".to_owned(), now());
                    Incoming::Refused(letter.into())
                })
                .collect();
            store.intake().store(&letters, now(), "dead").await.expect("stored");
        }
        store.close().await;
    }

    /// Issue 33, point 8: a damaged page costs its rows and no others.
    #[tokio::test]
    async fn what_can_be_read_of_a_damaged_store_is_in_the_new_one() {
        let folder = tempfile::tempdir().expect("folder");
        let path = folder.path().join("agent.db");
        filled(&path).await;
        let before = std::fs::read(&path).expect("there");
        let pages: Vec<&[u8]> = before.chunks(4096).collect();
        assert!(pages.len() > 200, "{}", pages.len());
        // a leaf with letters, as SQLite's format marks it: an inner page of a table costs all
        // below it
        let leaf = |from: usize| {
            let is_of_letters = |page: &&[u8]| page.windows(40).any(|part| part == [b'x'; 40]);
            let found =
                (from..pages.len()).find(|at| pages[*at][0] == 0x0d && is_of_letters(&pages[*at]));
            found.expect("letters behind that place")
        };
        let half = pages.len() / 2;
        let mut file = std::fs::OpenOptions::new().write(true).open(&path).expect("opens");
        for page in [leaf(half), leaf(half + 40), leaf(half + 60)] {
            file.seek(SeekFrom::Start(page as u64 * 4096)).expect("within");
            file.write_all(&[0; 4096]).expect("written");
        }
        drop(file);
        let recovery = recover(&path, false, now()).await.expect("recovered");
        assert!(recovery.aside.exists() && path.exists());
        let store = Store::open_sqlite(&path).await.expect("opens");
        store.migrate().await.expect("up to date");
        assert_eq!(store.damage().await.expect("sound"), Vec::<String>::new());
        let letters = store.backlog().await.expect("read").dead_letters;
        assert!((900..=1000).contains(&letters), "{letters}: {recovery:?}");
        // a letter stands in two tables: 1,000 rows each, of which three pages hold a few
        let rows = recovery.rows();
        assert!((1900..2000).contains(&rows), "{rows}: {recovery:?}");
        store.beat(now()).await.expect("takes rows");
    }

    #[tokio::test]
    async fn a_file_of_which_nothing_can_be_read_stays_unless_an_empty_store_is_wanted() {
        let folder = tempfile::tempdir().expect("folder");
        let path = folder.path().join("agent.db");
        std::fs::write(&path, "no database".repeat(900)).expect("written");
        recover(&path, false, now()).await.expect_err("nothing to read");
        assert!(std::fs::read_to_string(&path).is_ok_and(|text| text.starts_with("no database")));
        let recovery = recover(&path, true, now()).await.expect("an empty one");
        assert_eq!(recovery.rows(), 0);
        let store = Store::open_sqlite(&path).await.expect("opens");
        assert_eq!(store.backlog().await.expect("read").dead_letters, 0);
    }
}
