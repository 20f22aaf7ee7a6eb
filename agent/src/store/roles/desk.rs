//! The store's part for people at pages: episodes by their identity and in pages, remarks, work.

use async_trait::async_trait;
use pdm_shared::id::{BearingKey, EventId};
use pdm_shared::time::Timestamp;
use pdm_web::plant::{EpisodeFilter, Place, Remark, ReportRow, Withdrawn, WorkRow};
use uuid::Uuid;

use crate::store::{EpisodeRecord, StoreError};

/// What a person at a page works with; used by the HTTP server.
#[async_trait]
pub trait DeskStore: Send + Sync + std::fmt::Debug {
    /// The last `limit` episodes of a filter before a place, newest change first.
    async fn episode_page(
        &self,
        filter: EpisodeFilter,
        before: Option<Place>,
        limit: u32,
    ) -> Result<Vec<(BearingKey, EpisodeRecord)>, StoreError>;

    /// An episode.
    async fn episode_by_id(
        &self,
        id: Uuid,
    ) -> Result<Option<(BearingKey, EpisodeRecord)>, StoreError>;

    /// The last acknowledgements and remarks of a bearing's episode that opened at a time, oldest first: up
    /// to the opening of the next one, since people write of an episode after it has closed as well.
    async fn remarks(
        &self,
        key: &BearingKey,
        opened_at: Timestamp,
    ) -> Result<Vec<Remark>, StoreError>;

    /// Writes a remark on a bearing down; it acknowledges nothing.
    async fn remark(
        &self,
        key: &BearingKey,
        by: &str,
        note: &str,
        now: Timestamp,
    ) -> Result<(), StoreError>;

    /// The last `limit` actions before a place, newest first: those that wait, or all.
    async fn work_page(
        &self,
        is_open: bool,
        before: Option<Place>,
        limit: u32,
    ) -> Result<Vec<WorkRow>, StoreError>;

    /// The actions that the judgement of an event asks for.
    async fn work_of(&self, event_id: EventId) -> Result<Vec<WorkRow>, StoreError>;

    /// The actions of a bearing that wait, in their order.
    async fn open_work_of(&self, key: &BearingKey) -> Result<Vec<WorkRow>, StoreError>;

    /// A report of staff by its identity.
    async fn report_by_id(&self, id: Uuid) -> Result<Option<ReportRow>, StoreError>;

    /// The last `limit` reports of staff on a bearing, newest first.
    async fn reports_of(&self, key: &BearingKey, limit: u32) -> Result<Vec<ReportRow>, StoreError>;

    /// Takes a report of staff back, within [`pdm_web::plant::UNDO_S`] of it.
    async fn withdraw_report(
        &self,
        id: Uuid,
        by: &str,
        now: Timestamp,
    ) -> Result<Withdrawn, StoreError>;

    /// How many notifications of a bearing were written since a time.
    async fn told_since(&self, key: &BearingKey, since: Timestamp) -> Result<u64, StoreError>;
}
