//! A capture comes in: its document first, then its file in parts, each where the one before ended.
//!
//! ```text
//! document ─► whose, which bearing, how large, room ─► part … part ─► hash, head ─► file ─► row
//!                └────────────┴──────────┴───────────────┴──────────────┴──► refused: cause, log, metric
//! ```
//! Invariants: a capture stands once, with the hash that its gateway named; a gateway sends
//! captures of its own bearings alone, by the same owners as its events; a program that ends at any
//! point goes on where it was.

use std::collections::HashSet;
use std::io::{self, SeekFrom};
use std::sync::{LazyLock, Mutex, PoisonError};

use axum::body::Body;
use futures_util::StreamExt as _;
use pdm_shared::capture::{CaptureDocument, CaptureUpload, MAX_DOCUMENT_BYTES};
use pdm_shared::id::GatewayKey;
use pdm_waveform::{WavError, wav_head};
use pdm_web::plant::{CaptureFound, CaptureRow};
use tokio::io::{AsyncSeekExt as _, AsyncWriteExt as _};
use uuid::Uuid;

use super::folder::{self, UploadFiles};
use super::{Captures, log};
use pdm_store::{CaptureNote, CaptureRoom, StoreError};

/// Why a document or a part is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RefusalCause {
    /// The document or the file cannot be what it says.
    Unfit,
    /// The file has another hash.
    Hash,
    /// The bearing is not the gateway's.
    Owner,
    /// Another capture has the identity.
    Identity,
    /// The file is larger than one may be.
    Large,
    /// The room is taken by what is kept, or the disk is full.
    Room,
    /// The part does not begin where the last one ended.
    Place,
    /// Another request brings the same capture at this moment.
    Busy,
    /// No document was sent.
    Unknown,
    /// The store or the disk fails.
    Unavailable,
}

impl RefusalCause {
    /// The cause as a word, for metrics and the gateway.
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::Unfit => "unfit",
            Self::Hash => "hash",
            Self::Owner => "owner",
            Self::Identity => "identity",
            Self::Large => "large",
            Self::Room => "room",
            Self::Place => "place",
            Self::Busy => "busy",
            Self::Unknown => "unknown",
            Self::Unavailable => "unavailable",
        }
    }
}

/// A document or part that is refused.
#[derive(Debug, Clone)]
pub(crate) struct Refusal {
    pub(crate) cause: RefusalCause,
    /// The text for the gateway's log and the agent's.
    pub(crate) told: String,
    /// The parts that have arrived, where they tell the gateway how to go on.
    pub(crate) state: Option<CaptureUpload>,
}

impl Refusal {
    fn new(cause: RefusalCause, told: impl Into<String>) -> Self {
        Self { cause, told: told.into(), state: None }
    }
}

impl From<StoreError> for Refusal {
    fn from(error: StoreError) -> Self {
        tracing::warn!(%error, "a waveform was not stored");
        Self::new(RefusalCause::Unavailable, "the store does not answer at the moment")
    }
}

impl From<WavError> for Refusal {
    fn from(error: WavError) -> Self {
        Self::new(RefusalCause::Unfit, error.to_string())
    }
}

impl From<io::Error> for Refusal {
    fn from(error: io::Error) -> Self {
        let is_full =
            matches!(error.kind(), io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded);
        let cause = if is_full { RefusalCause::Room } else { RefusalCause::Unavailable };
        tracing::warn!(%error, "a waveform was not written");
        Self::new(cause, format!("the disk of the captures: {error}"))
    }
}

/// The bytes of a part: from, to (inclusive), of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct PartRange {
    pub(crate) first: u64,
    pub(crate) last: u64,
    pub(crate) total: u64,
}

/// The captures that a request works on at this moment.
static BUSY: LazyLock<Mutex<HashSet<Uuid>>> = LazyLock::new(Mutex::default);

/// The place of a request among [`BUSY`].
struct Turn(Uuid);

impl Turn {
    fn take(id: Uuid) -> Result<Self, Refusal> {
        let is_free = BUSY.lock().unwrap_or_else(PoisonError::into_inner).insert(id);
        let told = "another request brings this capture at the moment";
        if is_free { Ok(Self(id)) } else { Err(Refusal::new(RefusalCause::Busy, told)) }
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        BUSY.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.0);
    }
}

impl Captures {
    /// Takes the document of a capture that `gateway` begins to send or goes on with; tells what
    /// has come of it.
    pub(crate) async fn begin(
        &self,
        gateway: &GatewayKey,
        id: Uuid,
        text: &[u8],
    ) -> Result<CaptureUpload, Refusal> {
        let begun = self.begun(gateway, id, text).await;
        begun.inspect_err(|refusal| log::refused(gateway, id, refusal))
    }

    /// Takes the part `range` of a capture whose document was taken.
    pub(crate) async fn append(
        &self,
        gateway: &GatewayKey,
        id: Uuid,
        range: PartRange,
        body: Body,
    ) -> Result<CaptureUpload, Refusal> {
        let appended = self.appended(gateway, id, range, body).await;
        appended.inspect_err(|refusal| log::refused(gateway, id, refusal))
    }

    async fn begun(
        &self,
        gateway: &GatewayKey,
        id: Uuid,
        text: &[u8],
    ) -> Result<CaptureUpload, Refusal> {
        let document = read(text)?;
        if document.capture_id.0 != id {
            let told = format!("the document is of capture {}", document.capture_id);
            return Err(Refusal::new(RefusalCause::Unfit, told));
        }
        self.check_owner(gateway, &document).await?;
        let bytes = document.file.bytes;
        let most = self.settings.most_file_bytes();
        if bytes > most {
            let told =
                format!("the file has {bytes} bytes, allowed are {most} (captures.max_file_mb)");
            return Err(Refusal::new(RefusalCause::Large, told));
        }
        let _turn = Turn::take(id)?;
        if let Some(known) = self.known(gateway, &document).await? {
            return Ok(known);
        }
        let files = self.incoming.of_gateway(gateway, id);
        self.make_room(&files, bytes).await?;
        let (begun, text, whole) = (files.clone(), text.to_owned(), self.place(id));
        let have = blocking(move || {
            begun.begin(&text)?;
            begun.have(&whole)
        });
        let have = have.await?;
        if have >= bytes {
            return self.finish(gateway, &files, &document).await;
        }
        Ok(CaptureUpload { have, bytes, complete: false })
    }

    async fn appended(
        &self,
        gateway: &GatewayKey,
        id: Uuid,
        range: PartRange,
        body: Body,
    ) -> Result<CaptureUpload, Refusal> {
        let _turn = Turn::take(id)?;
        let files = self.incoming.of_gateway(gateway, id);
        let (begun, whole) = (files.clone(), self.place(id));
        let found = blocking(move || {
            let document = begun.read_document()?;
            Ok((document, begun.have(&whole)?))
        });
        let (Some(text), have) = found.await? else {
            let told = "no document of this capture was sent: it comes first";
            return Err(Refusal::new(RefusalCause::Unknown, told));
        };
        let document = read(&text)?;
        let bytes = document.file.bytes;
        if range.total != bytes || range.last >= bytes || range.first > range.last {
            let told = format!(
                "the part is {}-{}/{}, the file has {bytes} bytes",
                range.first, range.last, range.total
            );
            return Err(Refusal::new(RefusalCause::Unfit, told));
        }
        if range.first != have {
            let told = format!("the part begins at {}, {have} bytes have come", range.first);
            let state = Some(CaptureUpload { have, bytes, complete: false });
            return Err(Refusal { state, ..Refusal::new(RefusalCause::Place, told) });
        }
        let have = take_part(&files, range, body).await?;
        log::taken(have - range.first);
        if have >= bytes {
            return self.finish(gateway, &files, &document).await;
        }
        Ok(CaptureUpload { have, bytes, complete: false })
    }

    /// A gateway speaks for itself, and of its own bearings: those that the configuration names for
    /// it, else those of its first events.
    async fn check_owner(
        &self,
        gateway: &GatewayKey,
        document: &CaptureDocument,
    ) -> Result<(), Refusal> {
        let named = GatewayKey::new(document.site.clone(), document.gateway_id.clone());
        if named != *gateway {
            let told = format!("the document names gateway {named}, the token is of {gateway}");
            return Err(Refusal::new(RefusalCause::Owner, told));
        }
        let key = document.key();
        let owner = match self.owners.of(&key) {
            Some(owner) => Some(owner),
            None => self.store.captures().capture_owner(&key).await?,
        };
        match owner {
            Some(owner) if owner == *gateway => Ok(()),
            Some(_) => {
                let told = format!("bearing {key} belongs to another gateway");
                Err(Refusal::new(RefusalCause::Owner, told))
            }
            None => {
                let told = format!("no event of bearing {key} has come yet");
                Err(Refusal::new(RefusalCause::Owner, told))
            }
        }
    }

    /// The state of a capture that is kept already.
    async fn known(
        &self,
        gateway: &GatewayKey,
        document: &CaptureDocument,
    ) -> Result<Option<CaptureUpload>, Refusal> {
        let Some(found) = self.store.captures().capture_by_id(document.capture_id.0).await? else {
            return Ok(None);
        };
        let before = &found.document;
        let is_same = before.gateway_id == gateway.gateway
            && before.site == gateway.site
            && before.file.sha256 == document.file.sha256;
        if !is_same {
            let told = "another capture has this identity";
            return Err(Refusal::new(RefusalCause::Identity, told));
        }
        let bytes = document.file.bytes;
        Ok(Some(CaptureUpload { have: bytes, bytes, complete: true }))
    }

    async fn make_room(&self, files: &UploadFiles, bytes: u64) -> Result<(), Refusal> {
        let (incoming, of_this) = (self.incoming.clone(), files.clone());
        let promised = blocking(move || Ok(incoming.promised_bytes(&of_this))).await?;
        let most = self.settings.most_bytes();
        let needed = bytes.saturating_add(promised);
        match self.store.captures().make_capture_room(needed, most).await? {
            CaptureRoom::Made(gone) => {
                for &id in &gone {
                    folder::delete(&self.place(id)).await;
                }
                log::removed(&gone);
                Ok(())
            }
            CaptureRoom::Short { kept_bytes } => {
                let told = format!(
                    "no room for {bytes} bytes: {kept_bytes} of {most} (captures.max_mb) are held, \
                     those of open alarms and references stay"
                );
                Err(Refusal::new(RefusalCause::Room, told))
            }
        }
    }

    /// Holds a file that has come whole against its document, gives it its name and notes it.
    async fn finish(
        &self,
        gateway: &GatewayKey,
        files: &UploadFiles,
        document: &CaptureDocument,
    ) -> Result<CaptureUpload, Refusal> {
        // the bearing may have got another gateway since the document came
        self.check_owner(gateway, document).await?;
        let part = files.part.clone();
        let (hash, head) = blocking(move || folder::hash_and_head(&part)).await?;
        let bytes = document.file.bytes;
        let checked = if hash == document.file.sha256.to_ascii_lowercase() {
            wav_head(&head).and_then(|head| head.fits(document, bytes)).map_err(Refusal::from)
        } else {
            let told =
                format!("the file has the hash {hash}, its document {}", document.file.sha256);
            Err(Refusal::new(RefusalCause::Hash, told))
        };
        let (done, whole) = (files.clone(), self.place(document.capture_id.0));
        if let Err(refusal) = checked {
            blocking(move || {
                done.forget();
                Ok(())
            })
            .await?;
            return Err(refusal);
        }
        blocking(move || done.finish(&whole)).await?;
        let text = blocking({
            let files = files.clone();
            move || files.read_document()
        });
        let text = String::from_utf8_lossy(&text.await?.unwrap_or_default()).into_owned();
        let key = document.key();
        let row = CaptureRow::new(key.clone(), self.clock.now(), document);
        let found = CaptureFound { row, document: document.clone(), text };
        self.store.captures().note_capture(&CaptureNote { key, found }).await?;
        let done = files.clone();
        blocking(move || {
            done.forget();
            Ok(())
        })
        .await?;
        log::capture_kept(document);
        if let Ok((count, held)) = self.store.captures().captures_held().await {
            log::captures_held(count, held);
        }
        Ok(CaptureUpload { have: bytes, bytes, complete: true })
    }
}

fn read(text: &[u8]) -> Result<CaptureDocument, Refusal> {
    if text.len() > MAX_DOCUMENT_BYTES {
        let told = format!("the document has more than {MAX_DOCUMENT_BYTES} bytes");
        return Err(Refusal::new(RefusalCause::Large, told));
    }
    let unfit = |told: String| Refusal::new(RefusalCause::Unfit, format!("the document: {told}"));
    let document: CaptureDocument =
        serde_json::from_slice(text).map_err(|error| unfit(error.to_string()))?;
    document.checked_of_others().map_err(|error| unfit(error.to_string()))
}

/// Writes a part as it comes; tells how much has come of the file. What came before the line broke
/// stays.
async fn take_part(files: &UploadFiles, range: PartRange, body: Body) -> Result<u64, Refusal> {
    let part = files.part.clone();
    blocking(move || pdm_service::files::make_private(&part)).await?;
    let mut file = tokio::fs::OpenOptions::new().write(true).open(&files.part).await?;
    file.seek(SeekFrom::Start(range.first)).await?;
    let mut at = range.first;
    let mut stream = body.into_data_stream();
    while let Some(piece) = stream.next().await {
        let told = "the line broke within the part";
        let Ok(piece) = piece else {
            file.flush().await?;
            return Err(Refusal::new(RefusalCause::Unavailable, told));
        };
        let room = usize::try_from(range.last + 1 - at).unwrap_or(usize::MAX);
        if piece.len() > room {
            let told = "the part is longer than its range";
            return Err(Refusal::new(RefusalCause::Unfit, told));
        }
        file.write_all(&piece).await?;
        at += piece.len() as u64;
    }
    file.flush().await?;
    file.sync_data().await?;
    Ok(at)
}

/// Works on files off the async threads.
async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> io::Result<T> + Send + 'static,
) -> Result<T, Refusal> {
    let done = tokio::task::spawn_blocking(work).await.map_err(io::Error::other);
    Ok(done.and_then(|done| done)?)
}
