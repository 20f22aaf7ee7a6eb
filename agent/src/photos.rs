//! The files of photos of work orders: beside the documents, named by the photo's identity, whole
//! or not there.
//!
//! The file is written before the row that makes it one of the plant, and deleted after it: what a
//! crash in between leaves is a file that no row names, and [`Photos::sweep`] deletes it.

use std::path::{Path, PathBuf};
use std::time::Duration;

use pdm_service::clock::SharedClock;
use pdm_shared::id::EventId;
use pdm_store::{PhotoBounds, PhotoNoted, Store};
use pdm_web::plant::{PhotoFile, PhotoKept, PhotoKind, PhotoRow, PlantError};
use uuid::Uuid;

/// Photos of one order, and bytes of all: 4 GiB are a thousand photos of the largest size that is
/// usual.
const BOUNDS: PhotoBounds = PhotoBounds { of_order: 12, bytes: 4 * 1024 * 1024 * 1024 };
/// The time for which a photo stays whatever became of its judgement, s: a day.
const AT_LEAST_S: f64 = 86_400.0;
/// The age from which a file without a row is the remains of a crash.
const REMAINS_AFTER: Duration = Duration::from_hours(1);

/// The photos of a plant.
#[derive(Debug, Clone)]
pub(crate) struct Photos {
    store: Store,
    clock: SharedClock,
    folder: PathBuf,
}

impl Photos {
    /// Photos beside documents that are written to `documents`.
    pub(crate) fn beside(store: Store, clock: SharedClock, documents: &Path) -> Self {
        Self { store, clock, folder: documents.join("photos") }
    }

    fn place(&self, id: Uuid, kind: PhotoKind) -> PathBuf {
        self.folder.join(format!("{id}.{}", kind.as_str()))
    }

    /// Keeps a photo of a judgement's work.
    pub(crate) async fn keep(
        &self,
        event_id: EventId,
        by: &str,
        kind: PhotoKind,
        content: Vec<u8>,
    ) -> Result<PhotoKept, PlantError> {
        let at = self.clock.now();
        let id = EventId::at(at.unix_ms()).0;
        let bytes = content.len() as u64;
        let row = PhotoRow { photo_id: id, event_id, kind, bytes, by: by.to_owned(), at };
        let place = self.place(id, kind);
        let folder = self.folder.clone();
        let to = place.clone();
        let written = tokio::task::spawn_blocking(move || write(&folder, &to, &content)).await;
        let written = written.map_err(std::io::Error::other).and_then(|written| written);
        if let Err(error) = written {
            tracing::warn!(%error, "a photo cannot be written");
            return Err(PlantError::Unavailable(format!("a photo cannot be written: {error}")));
        }
        let noted = self.store.photos().note_photo(&row, BOUNDS).await;
        if !matches!(noted, Ok(PhotoNoted::Yes)) {
            delete(&place).await;
        }
        Ok(match noted? {
            PhotoNoted::Yes => PhotoKept::Yes(id),
            PhotoNoted::OrderFull => PhotoKept::OrderFull,
            PhotoNoted::AllFull => PhotoKept::AllFull,
        })
    }

    /// Returns a photo with its content; `None` if its row or its file is gone.
    pub(crate) async fn read(&self, id: Uuid) -> Result<Option<PhotoFile>, PlantError> {
        let Some(row) = self.store.photos().photo_by_id(id).await? else { return Ok(None) };
        match tokio::fs::read(self.place(id, row.kind)).await {
            Ok(content) => Ok(Some(PhotoFile { row, content })),
            Err(error) => {
                tracing::warn!(%error, photo = %id, "a photo cannot be read");
                Ok(None)
            }
        }
    }

    /// Deletes a photo; the row that it had.
    pub(crate) async fn remove(&self, id: Uuid) -> Result<Option<PhotoRow>, PlantError> {
        let Some(row) = self.store.photos().photo_by_id(id).await? else { return Ok(None) };
        if !self.store.photos().forget_photo(id).await? {
            return Ok(None);
        }
        delete(&self.place(id, row.kind)).await;
        Ok(Some(row))
    }

    /// Forgets the photos of judgements that are no longer kept, and deletes files that no row
    /// names.
    pub(crate) async fn sweep(&self) {
        let before = self.clock.now().plus_seconds(-AT_LEAST_S);
        match self.store.photos().forget_old_photos(before).await {
            Ok(gone) => {
                metrics::counter!("pdm_agent_forgotten_total", "what" => "photos").increment(gone);
            }
            Err(error) => {
                tracing::warn!(%error, "old photos cannot be forgotten, trying again in an hour");
                return;
            }
        }
        let Ok(mut entries) = tokio::fs::read_dir(&self.folder).await else { return };
        while let Ok(Some(entry)) = entries.next_entry().await {
            let path = entry.path();
            let id = path.file_stem().and_then(|stem| Uuid::parse_str(stem.to_str()?).ok());
            let age = entry.metadata().await.ok().and_then(|found| found.modified().ok());
            let is_old =
                age.and_then(|at| at.elapsed().ok()).is_some_and(|age| age > REMAINS_AFTER);
            let Some(id) = id.filter(|_| is_old) else { continue };
            if let Ok(None) = self.store.photos().photo_by_id(id).await {
                delete(&path).await;
            }
        }
    }
}

/// Writes a file that was not there, whole before it has its name.
fn write(folder: &Path, place: &Path, content: &[u8]) -> std::io::Result<()> {
    use std::io::Write as _;
    std::fs::create_dir_all(folder)?;
    let part = place.with_extension("part");
    let written = std::fs::File::create_new(&part)
        .and_then(|mut file| file.write_all(content).and_then(|()| file.sync_all()))
        .and_then(|()| std::fs::rename(&part, place));
    if written.is_err() {
        // the first error is the one to report
        let _gone = std::fs::remove_file(&part);
    }
    written
}

async fn delete(place: &Path) {
    if let Err(error) = tokio::fs::remove_file(place).await {
        // the sweep tries again
        tracing::warn!(%error, "the file of a photo cannot be deleted");
    }
}
