//! Captured waveforms of gateways: files in one folder, named by the capture's identity, whole or
//! not there.
//!
//! `upload` takes them in parts, `drawn` makes pictures and sound of them for people, `npy` another
//! form of them, `shown` what documents show. A file without a row is what a crash left, and
//! [`Captures::sweep`] deletes it. A row without a file stays: its folder may be away for a while.

mod drawn;
mod folder;
mod log;
mod npy;
mod shown;
mod upload;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use pdm_service::clock::SharedClock;
use pdm_web::plant::PlantError;
use tokio::sync::Semaphore;
use uuid::Uuid;

use crate::settings::{AgentSettings, CapturesSettings};
use folder::Incoming;
use pdm_store::{BearingOwners, Store};
pub(crate) use upload::{PartRange, Refusal, RefusalCause};

/// The age from which a file without a row is the remains of a crash.
const REMAINS_AFTER: Duration = Duration::from_hours(1);
/// The age from which an upload that does not go on is given up: a gateway that is back later
/// begins anew.
const GIVEN_UP_AFTER: Duration = Duration::from_hours(7 * 24);

/// The captures of a plant.
#[derive(Debug, Clone)]
pub(crate) struct Captures {
    store: Store,
    clock: SharedClock,
    owners: BearingOwners,
    folder: PathBuf,
    incoming: Incoming,
    settings: CapturesSettings,
    /// Pictures are computed one after the other: each takes some 100 MB.
    drawing: Arc<Semaphore>,
}

impl Captures {
    /// Captures in the folder of the settings.
    pub(crate) fn new(
        store: Store,
        clock: SharedClock,
        owners: BearingOwners,
        settings: CapturesSettings,
    ) -> Self {
        let folder = settings.dir.clone().unwrap_or_default();
        let incoming = Incoming::beside(&folder);
        let drawing = Arc::new(Semaphore::new(1));
        Self { store, clock, owners, folder, incoming, settings, drawing }
    }

    /// Returns the captures of the settings; `None` if captures are not kept.
    pub(crate) fn of_settings(
        settings: &AgentSettings,
        store: &Store,
        clock: &SharedClock,
    ) -> Option<Self> {
        let kept = settings.captures.clone()?;
        Some(Self::new(store.clone(), Arc::clone(clock), settings.gateways.clone(), kept))
    }

    fn place(&self, id: Uuid) -> PathBuf {
        self.folder.join(format!("{id}.wav"))
    }

    /// Returns the WAV file of a capture; `None` if its row or its file is gone.
    pub(crate) async fn wav(&self, id: Uuid) -> Result<Option<Vec<u8>>, PlantError> {
        if self.store.captures().capture_by_id(id).await?.is_none() {
            return Ok(None);
        }
        match tokio::fs::read(self.place(id)).await {
            Ok(content) => Ok(Some(content)),
            Err(error) => {
                log::not_read(id, &error);
                Ok(None)
            }
        }
    }

    /// Deletes files that no row names, and uploads that were given up.
    pub(crate) async fn sweep(&self) {
        let folder = self.folder.clone();
        let listed = tokio::task::spawn_blocking(move || folder::captures_in(&folder)).await;
        for (id, age) in listed.unwrap_or_default() {
            let is_old = age.is_some_and(|age| age > REMAINS_AFTER);
            if is_old && matches!(self.store.captures().capture_by_id(id).await, Ok(None)) {
                folder::delete(&self.place(id)).await;
            }
        }
        let incoming = self.incoming.clone();
        let given_up = tokio::task::spawn_blocking(move || incoming.give_up(GIVEN_UP_AFTER)).await;
        log::given_up(given_up.unwrap_or_default());
        if let Ok((count, bytes)) = self.store.captures().captures_held().await {
            log::captures_held(count, bytes);
        }
    }
}
