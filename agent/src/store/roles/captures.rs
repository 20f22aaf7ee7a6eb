//! The store's part for captured waveforms; the samples themselves are files.

use async_trait::async_trait;
use pdm_shared::id::{BearingKey, GatewayKey};
use pdm_shared::time::Timestamp;
use pdm_web::plant::{CaptureFound, CaptureRow};
use uuid::Uuid;

use crate::store::StoreError;

/// A capture that is whole, to be kept.
#[derive(Debug, Clone)]
pub struct CaptureNote {
    /// Its bearing.
    pub key: BearingKey,
    /// What was read of its document.
    pub found: CaptureFound,
}

/// Whether there is room for a capture.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CaptureRoom {
    /// There is, after these were forgotten, whose files have to be deleted.
    Made(Vec<Uuid>),
    /// There is none: so many bytes are of open alarms and references.
    Short {
        /// Bytes that are kept.
        kept_bytes: u64,
    },
}

/// Notes captures, finds them, and forgets the oldest where there is no room.
#[async_trait]
pub trait CaptureStore: Send + Sync + std::fmt::Debug {
    /// The gateway that a bearing belongs to by its first event.
    async fn capture_owner(&self, key: &BearingKey) -> Result<Option<GatewayKey>, StoreError>;

    /// Forgets the oldest captures until `needed_bytes` more fit into `most_bytes`: never those of an open
    /// alarm, and never the newest reference of a bearing. Forgets none where that is not enough.
    async fn make_capture_room(
        &self,
        needed_bytes: u64,
        most_bytes: u64,
    ) -> Result<CaptureRoom, StoreError>;

    /// Notes a capture; false if one of this identity is noted already.
    async fn note_capture(&self, note: &CaptureNote) -> Result<bool, StoreError>;

    /// The last `limit` captures of a bearing that began before `before`, newest first.
    async fn captures_of(
        &self,
        key: &BearingKey,
        before: Timestamp,
        limit: u32,
    ) -> Result<Vec<CaptureRow>, StoreError>;

    /// A capture by its identity.
    async fn capture_by_id(&self, id: Uuid) -> Result<Option<CaptureFound>, StoreError>;

    /// Captures and their bytes.
    async fn captures_held(&self) -> Result<(u64, u64), StoreError>;
}
