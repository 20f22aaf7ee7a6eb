//! The store's part for photos of work orders; the pictures themselves are files.

use async_trait::async_trait;
use pdm_shared::id::EventId;
use pdm_shared::time::Timestamp;
use pdm_web::plant::PhotoRow;
use uuid::Uuid;

use crate::store::StoreError;

/// Whether a photo was noted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PhotoNoted {
    /// It is noted.
    Yes,
    /// The work order has as many as it may have.
    OrderFull,
    /// All photos together take the room that they may take.
    AllFull,
}

/// How many photos a work order may have, and how many bytes all photos may take.
#[derive(Debug, Clone, Copy)]
pub struct PhotoBounds {
    /// Photos of one work order.
    pub of_order: u32,
    /// Bytes of all photos.
    pub bytes: u64,
}

/// Notes photos, finds them, and forgets those whose judgement is no longer kept.
#[async_trait]
pub trait PhotoStore: Send + Sync + std::fmt::Debug {
    /// Notes a photo, unless that goes beyond the bounds.
    async fn note_photo(
        &self,
        photo: &PhotoRow,
        bounds: PhotoBounds,
    ) -> Result<PhotoNoted, StoreError>;

    /// The photos of a judgement's work, oldest first.
    async fn photos_of(&self, event_id: EventId) -> Result<Vec<PhotoRow>, StoreError>;

    /// A photo by its identity.
    async fn photo_by_id(&self, id: Uuid) -> Result<Option<PhotoRow>, StoreError>;

    /// Forgets a photo; false if it is not known.
    async fn forget_photo(&self, id: Uuid) -> Result<bool, StoreError>;

    /// Forgets the photos older than a time whose judgement is no longer kept and whose work does not wait;
    /// tells how many.
    async fn forget_old_photos(&self, before: Timestamp) -> Result<u64, StoreError>;
}
