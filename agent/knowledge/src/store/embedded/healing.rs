//! A damaged file is set aside, and a new one takes over the rows that can still be read.
//!
//! The file holds what can be made again: the shipped documents and the judgements of the agent's
//! store are filled in anew by whoever opened it. Documents of a person's own are taken over where
//! their rows can be read, else they have to be ingested again; the damaged file is kept for that.
//!
//! Invariant: only damage sets a file aside. One that is locked, full, not allowed or of a newer
//! version is left where it is.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use pdm_service::clock::{Clock as _, SystemClock};
use sqlx::sqlite::{SqliteConnectOptions, SqliteConnection};
use sqlx::{ConnectOptions as _, Connection as _};

use super::EmbeddedStore;
use crate::store::StoreError;

/// A damaged file that was set aside.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SetAside {
    /// The file as it was named.
    pub path: PathBuf,
    /// Where it lies now.
    pub aside: PathBuf,
    /// Rows that could be read and were taken over.
    pub saved: u64,
    /// The message of SQLite, or the fault of the rows.
    pub reason: String,
}

/// A row: collection, id, document, embedder, content, dense vector, terms, weights.
type Kept = (String, String, String, String, String, Vec<u8>, Vec<u8>, Vec<u8>);

impl EmbeddedStore {
    /// Opens the file for vectors of `dimensions`. A damaged one is set aside and told.
    ///
    /// # Errors
    /// As [`EmbeddedStore::open`], if the file is not damaged or cannot be renamed.
    pub async fn open_healed(
        path: &Path,
        dimensions: usize,
    ) -> Result<(Self, Option<SetAside>), StoreError> {
        let reason = match Self::open_sound(path, dimensions).await {
            Ok(store) => return Ok((store, None)),
            Err(StoreError::Damaged { reason, .. }) => reason,
            Err(error) => return Err(error),
        };
        let aside = set_aside(path).map_err(|error| super::unavailable(path, &error))?;
        let store = Self::open(path, dimensions).await?;
        let saved = store.take_over(&aside).await;
        metrics::counter!("pdm_agent_files_set_aside_total", "file" => "knowledge").increment(1);
        tracing::error!(
            path = %path.display(), aside = %aside.display(), saved, reason,
            "the knowledge file is damaged: it was set aside and is filled again"
        );
        Ok((store, Some(SetAside { path: path.to_owned(), aside, saved, reason })))
    }

    /// Opens the file and has SQLite look through it: a search would meet a damaged page much
    /// later.
    async fn open_sound(path: &Path, dimensions: usize) -> Result<Self, StoreError> {
        let store = Self::open(path, dimensions).await?;
        let found = async {
            let mut connection = store.pool.acquire().await.map_err(|e| store.failed(e))?;
            let look = sqlx::query_scalar::<_, String>("pragma quick_check(1)");
            look.fetch_one(&mut *connection).await.map_err(|e| store.failed(e))
        };
        let reason = match found.await {
            Ok(found) if found == "ok" => return Ok(store),
            Ok(found) => found,
            Err(StoreError::Damaged { reason, .. }) => reason,
            Err(error) => return Err(error),
        };
        store.pool.close().await;
        Err(StoreError::Damaged { place: path.display().to_string(), reason })
    }

    /// Copies the rows that can be read out of a damaged file; tells how many.
    async fn take_over(&self, aside: &Path) -> u64 {
        let options = SqliteConnectOptions::new().filename(aside).read_only(true);
        let Ok(mut old) = options.connect().await else { return 0 };
        let mut saved = 0;
        for key in keys(&mut old).await {
            let row = sqlx::query_as::<_, Kept>(
                "select collection, id, document, embedder, content, dense, terms, weights \
                 from chunk where key = ?",
            );
            let Ok(Some(row)) = row.bind(key).fetch_optional(&mut old).await else { continue };
            if self.keep(row).await {
                saved += 1;
            }
        }
        // the result does not matter: the file is only read
        let _closed = old.close().await;
        // loads what was written past the store's own methods
        *self.version.lock().await = None;
        if let Err(error) = self.refresh().await {
            tracing::warn!(%error, "rows of the damaged knowledge file cannot be used");
        }
        saved
    }

    /// Writes a row, if it is whole.
    async fn keep(&self, row: Kept) -> bool {
        let (collection, id, document, embedder, content, dense, terms, weights) = row;
        let is_whole = self.chunk(&content).is_ok()
            && dense.len() == self.dimensions * 4
            && terms.len() == weights.len()
            && terms.len().is_multiple_of(4);
        if !is_whole {
            return false;
        }
        let written = sqlx::query(
            "insert or ignore into chunk (collection, id, document, embedder, content, dense, \
             terms, weights) values (?, ?, ?, ?, ?, ?, ?, ?)",
        );
        let written = written.bind(collection).bind(id).bind(document).bind(embedder);
        let written = written.bind(content).bind(dense).bind(terms).bind(weights);
        written.execute(&self.pool).await.is_ok()
    }
}

/// The keys between the first and the last, at most 200,000: a damaged page stops a walk through
/// the table, and the look-up of a key on another page succeeds.
async fn keys(old: &mut SqliteConnection) -> Vec<i64> {
    const MOST: i64 = 200_000;
    let bounds = "select min(key), max(key) from chunk";
    let bounds = sqlx::query_as::<_, (Option<i64>, Option<i64>)>(bounds).fetch_one(old).await;
    match bounds {
        Ok((Some(first), Some(last))) => (first..=last.min(first.saturating_add(MOST))).collect(),
        Ok(_) | Err(_) => Vec::new(),
    }
}

/// Renames the file and the two that SQLite keeps beside it.
fn set_aside(path: &Path) -> std::io::Result<PathBuf> {
    let stamp = SystemClock.now().date_time().format("%Y%m%dT%H%M%S%3fZ").to_string();
    let aside = beside(path, &format!(".damaged-{stamp}"));
    std::fs::rename(path, &aside)?;
    for suffix in ["-wal", "-shm"] {
        let from = beside(path, suffix);
        if from.exists() {
            std::fs::rename(from, beside(&aside, suffix))?;
        }
    }
    Ok(aside)
}

fn beside(path: &Path, suffix: &str) -> PathBuf {
    let mut name = OsString::from(path);
    name.push(suffix);
    name.into()
}

#[cfg(test)]
mod tests {
    use std::io::{Seek as _, SeekFrom, Write as _};

    use pdm_shared::text::Text;

    use super::*;
    use crate::about::{About, Collection, DocType, Keywords};
    use crate::chunk::Chunk;
    use crate::section::Section;
    use crate::store::{Filter, Point, VectorStore as _};
    use crate::words::Sparse;

    const AT: Collection = Collection::EquipmentManual;

    fn point(number: usize) -> Point {
        let name = format!("d{number}");
        let title = Text::new(name.as_str(), name.as_str());
        let about = About {
            collection: AT,
            doc_type: DocType::Report,
            title,
            keywords: Keywords::default(),
            asked: Vec::new(),
            equipment: None,
            bearing: None,
            fault_type: None,
            synthetic: false,
            sources: vec!["a test".to_owned()],
            origin: "test.md".to_owned(),
            hash: name.clone(),
            added: None,
        };
        let section = Section {
            number: "1".to_owned(),
            title: "t".to_owned(),
            body: "x".repeat(3000),
            english: String::new(),
        };
        Point {
            chunk: Chunk { id: name.clone(), document: name, about, sections: vec![section] },
            dense: vec![1.0, 0.0],
            sparse: Sparse { indices: vec![1], values: vec![1.0] },
            embedder: "test".to_owned(),
        }
    }

    async fn filled(path: &Path) {
        let store = EmbeddedStore::open(path, 2).await.expect("opens");
        let points: Vec<Point> = (0..40).map(point).collect();
        store.replace(AT, &[], points).await.expect("stored");
        sqlx::raw_sql("pragma wal_checkpoint(truncate)").execute(&store.pool).await.expect("moved");
        store.pool.close().await;
    }

    fn overwritten(path: &Path, from: u64, length: usize) {
        let mut file = std::fs::OpenOptions::new().write(true).open(path).expect("opens");
        file.seek(SeekFrom::Start(from)).expect("within");
        file.write_all(&vec![0; length]).expect("written");
    }

    /// A name and what it does to a file.
    type Damage = (&'static str, fn(&Path));

    /// Issue 33, point 8: header zeroed, cut in half, pages damaged, another file, empty file.
    #[tokio::test]
    async fn a_damaged_knowledge_file_is_set_aside_and_what_can_be_read_is_kept() {
        let folder = tempfile::tempdir().expect("folder");
        let damage: [Damage; 4] = [
            ("header", |path| overwritten(path, 0, 4096)),
            ("pages", |path| overwritten(path, 4096 * 8, 4096 * 3)),
            ("half", |path| {
                let file = std::fs::OpenOptions::new().write(true).open(path).expect("opens");
                let length = file.metadata().expect("there").len();
                file.set_len(length / 2).expect("cut");
            }),
            ("text", |path| std::fs::write(path, "no database".repeat(900)).expect("written")),
        ];
        for (name, damage) in damage {
            let path = folder.path().join(format!("{name}/knowledge.db"));
            filled(&path).await;
            damage(&path);
            let (store, told) = EmbeddedStore::open_healed(&path, 2).await.expect(name);
            let told = told.expect(name);
            assert!(told.aside.exists() && told.aside != path, "{name}: {told:?}");
            assert_eq!(store.count(AT).await.expect(name), told.saved, "{name}");
            if name == "pages" {
                assert!(told.saved >= 20, "{name}: {told:?}");
            }
            let list = store.list(AT, &Filter::default()).await.expect(name);
            assert_eq!(list.len() as u64, told.saved, "{name}");
            store.replace(AT, &[], vec![point(99)]).await.expect(name);
            store.pool.close().await;
            let (_sound, told) = EmbeddedStore::open_healed(&path, 2).await.expect(name);
            assert_eq!(told, None, "{name}: the new file is sound");
        }
    }

    #[tokio::test]
    async fn a_sound_file_and_one_of_a_newer_version_stay_where_they_are() {
        let folder = tempfile::tempdir().expect("folder");
        let path = folder.path().join("knowledge.db");
        filled(&path).await;
        let (store, told) = EmbeddedStore::open_healed(&path, 2).await.expect("sound");
        assert_eq!((told, store.count(AT).await.expect("read")), (None, 40));
        sqlx::raw_sql("pragma user_version = 99").execute(&store.pool).await.expect("written");
        store.pool.close().await;
        let error = EmbeddedStore::open_healed(&path, 2).await.expect_err("newer");
        assert!(error.to_string().contains("newer"), "{error}");
        assert!(path.exists());
    }
}
