//! A capture as a NumPy file: the samples of the WAV file, bit by bit, and a document of its own
//! name and hash.

use pdm_waveform::{npy_of, samples_of};
use pdm_web::plant::{CaptureNpy, PlantError};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use uuid::Uuid;

use super::{Captures, folder};

impl Captures {
    /// Returns the capture as a NumPy file with its document; `None` if it is gone.
    pub(crate) async fn npy(&self, id: Uuid) -> Result<Option<CaptureNpy>, PlantError> {
        let Some(found) = self.store.captures().capture_by_id(id).await? else { return Ok(None) };
        let Some(content) = self.wav(id).await? else { return Ok(None) };
        let unreadable = |error: String| PlantError::Unreadable(error);
        let made = tokio::task::spawn_blocking(move || {
            let samples = samples_of(&content, &found.document);
            let content = npy_of(&samples.map_err(|error| error.to_string())?);
            let stem = found.document.file.name.trim_end_matches(".wav");
            let name = format!("{stem}.npy");
            // the document as it was sent, with fields that this program does not know
            let mut document: Value =
                serde_json::from_str(&found.text).map_err(|error| error.to_string())?;
            document["file"] = json!({
                "name": name,
                "bytes": content.len(),
                "sha256": folder::hex(&Sha256::digest(&content)),
            });
            let text = serde_json::to_string_pretty(&document);
            let text = text.map_err(|error| error.to_string())?;
            Ok(CaptureNpy { content, name, text })
        });
        let made = made.await.map_err(|error| unreadable(error.to_string()))?;
        made.map(Some).map_err(unreadable)
    }
}
