//! The rows of photos of work orders.

use pdm_shared::id::EventId;
use pdm_shared::time::Timestamp;
use pdm_web::plant::PhotoRow;
use uuid::Uuid;

use super::Database;
use crate::StoreError;
use crate::database::{Lock, Row};
use crate::encoding::{readable, time_of};

macro_rules! photos {
    ($($condition:literal)+) => {
        concat!(
            "SELECT photo_id, event_id, kind, bytes, by_whom, at_ms FROM work_photos",
            $($condition),+
        )
    };
}

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
#[derive(Debug, Clone)]
pub struct PhotoStore {
    pub(crate) database: Database,
}

impl PhotoStore {
    /// Notes a photo, unless that goes beyond the bounds.
    pub async fn note_photo(
        &self,
        photo: &PhotoRow,
        bounds: PhotoBounds,
    ) -> Result<PhotoNoted, StoreError> {
        let mut transaction = self.database.write().await?;
        let mut connection = transaction.connection();
        // two people at one order: the second one counts what the first one has added
        connection.lock(Lock::Photos, "photos").await?;
        let query = connection.query("SELECT count(*) FROM work_photos WHERE event_id = $1");
        let row = query.bind(photo.event_id.0).fetch_one().await?;
        if row.get::<i64>(0)? >= i64::from(bounds.of_order) {
            return Ok(PhotoNoted::OrderFull);
        }
        // PostgreSQL adds up to NUMERIC, which is no 64-bit number
        let query =
            connection.query("SELECT CAST(COALESCE(sum(bytes), 0) AS BIGINT) FROM work_photos");
        let taken: i64 = query.fetch_one().await?.get(0)?;
        if taken.unsigned_abs().saturating_add(photo.bytes) > bounds.bytes {
            return Ok(PhotoNoted::AllFull);
        }
        let by = connection.dialect().text(&photo.by).into_owned();
        connection
            .query(
                "INSERT INTO work_photos (photo_id, event_id, kind, bytes, by_whom, at_ms)
                 VALUES ($1, $2, $3, $4, $5, $6)",
            )
            .bind(photo.photo_id)
            .bind(photo.event_id.0)
            .bind(photo.kind.as_str())
            .bind(i64::try_from(photo.bytes).unwrap_or(i64::MAX))
            .bind(by)
            .bind(photo.at.unix_ms())
            .execute()
            .await?;
        transaction.commit().await?;
        Ok(PhotoNoted::Yes)
    }

    /// The photos of a judgement's work, oldest first.
    pub async fn photos_of(&self, event_id: EventId) -> Result<Vec<PhotoRow>, StoreError> {
        let mut reader = self.database.read().await?;
        let query = reader.query(photos!(" WHERE event_id = $1 ORDER BY at_ms, photo_id"));
        let rows = query.bind(event_id.0).fetch_all().await?;
        Ok(rows.iter().map(photo_of).filter_map(readable).collect())
    }

    /// A photo by its identity.
    pub async fn photo_by_id(&self, id: Uuid) -> Result<Option<PhotoRow>, StoreError> {
        let mut reader = self.database.read().await?;
        let query = reader.query(photos!(" WHERE photo_id = $1"));
        query.bind(id).fetch_optional().await?.map(|row| photo_of(&row)).transpose()
    }

    /// Forgets a photo; false if it is not known.
    pub async fn forget_photo(&self, id: Uuid) -> Result<bool, StoreError> {
        let mut transaction = self.database.write().await?;
        let gone = transaction
            .connection()
            .query("DELETE FROM work_photos WHERE photo_id = $1")
            .bind(id)
            .execute()
            .await?;
        transaction.commit().await?;
        Ok(gone > 0)
    }

    /// Forgets the photos older than a time whose judgement is no longer kept and whose work does
    /// not wait; tells how many.
    pub async fn forget_old_photos(&self, before: Timestamp) -> Result<u64, StoreError> {
        let mut transaction = self.database.write().await?;
        let gone = transaction
            .connection()
            .query(
                "DELETE FROM work_photos
                 WHERE at_ms < $1
                   AND NOT EXISTS (SELECT 1 FROM pdm_agent_memory
                                   WHERE pdm_agent_memory.event_id = work_photos.event_id)
                   AND NOT EXISTS (SELECT 1 FROM follow_ups
                                   WHERE follow_ups.event_id = work_photos.event_id
                                     AND follow_ups.state = 'open')",
            )
            .bind(before.unix_ms())
            .execute()
            .await?;
        transaction.commit().await?;
        Ok(gone)
    }
}

fn photo_of(row: &Row) -> Result<PhotoRow, StoreError> {
    let kind: String = row.get("kind")?;
    Ok(PhotoRow {
        photo_id: row.get("photo_id")?,
        event_id: EventId(row.get("event_id")?),
        kind: kind.parse().map_err(|reason| StoreError::Content { what: "a photo", reason })?,
        bytes: row.get::<i64>("bytes")?.unsigned_abs(),
        by: row.get("by_whom")?,
        at: time_of(row.get("at_ms")?)?,
    })
}
