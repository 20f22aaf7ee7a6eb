//! Episodes: what stands, what is due by time, and the notifications that tell of it.

use async_trait::async_trait;
use pdm_shared::id::BearingKey;
use pdm_shared::time::Timestamp;

use super::{SqlStore, bulk, messages};
use crate::store::database::{Connection, Lock, Row};
use crate::store::due::DueAlarm;
use crate::store::encoding::readable;
use crate::store::{
    Announcement, EpisodeChange, EpisodeRecord, EpisodeStore, EpisodeVersion, Outgoing, StoreError,
    log,
};

mod acts;
mod row;
mod write;

pub(super) use acts::{acknowledge, shelve};
pub(super) use row::{AlarmColumns, columns, record_of};
pub(super) use write::write;

#[async_trait]
impl EpisodeStore for SqlStore {
    async fn episodes_to_repeat(
        &self,
        now: Timestamp,
        every_s: f64,
        limit: u32,
    ) -> Result<Vec<(BearingKey, EpisodeRecord)>, StoreError> {
        let due = DueAlarm::at(now, every_s);
        let mut reader = self.read().await?;
        let rows = reader
            .query(columns!(
                " WHERE repeat_at_ms IS NOT NULL AND closed_at_ms IS NULL
                    AND state = 'unacknowledged_active'
                    AND (repeat_at_ms <= $1 OR repeat_at_ms > $2)
                  ORDER BY repeat_at_ms LIMIT $3"
            ))
            .bind(due.now.unix_ms())
            .bind(due.latest.unix_ms())
            .bind(i64::from(limit))
            .fetch_all()
            .await?;
        drop(reader);
        self.readable_or_repeated_no_more(&rows).await
    }

    async fn suppressions_over(
        &self,
        now: Timestamp,
        limit: u32,
    ) -> Result<Vec<(BearingKey, EpisodeRecord)>, StoreError> {
        let mut reader = self.read().await?;
        let rows = reader
            .query(columns!(
                " WHERE suppressed_until_ms <= $1 AND closed_at_ms IS NULL
                  ORDER BY suppressed_until_ms LIMIT $2"
            ))
            .bind(now.unix_ms())
            .bind(i64::from(limit))
            .fetch_all()
            .await?;
        Ok(rows.iter().map(keyed).filter_map(readable).collect())
    }

    async fn episode(&self, key: &BearingKey) -> Result<Option<EpisodeRecord>, StoreError> {
        read(&mut self.read().await?.connection(), key).await
    }

    async fn episodes(
        &self,
        before: Timestamp,
        is_open: bool,
        limit: u32,
    ) -> Result<Vec<(BearingKey, EpisodeRecord)>, StoreError> {
        let mut reader = self.read().await?;
        let query = if is_open {
            reader.query(columns!(
                " WHERE closed_at_ms IS NULL AND changed_at_ms < $1
                  ORDER BY changed_at_ms DESC LIMIT $2"
            ))
        } else {
            reader.query(columns!(" WHERE changed_at_ms < $1 ORDER BY changed_at_ms DESC LIMIT $2"))
        };
        let rows = query.bind(before.unix_ms()).bind(i64::from(limit)).fetch_all().await?;
        Ok(rows.iter().map(keyed).filter_map(readable).collect())
    }

    async fn announce(
        &self,
        key: &BearingKey,
        expected: Option<EpisodeVersion>,
        announcement: &Announcement,
    ) -> Result<bool, StoreError> {
        let mut transaction = self.write().await?;
        let mut connection = transaction.connection();
        let is_unchanged = is_unchanged(&mut connection, key, expected).await?;
        if is_unchanged {
            tell(&mut connection, key, announcement).await?;
            let at = announcement.notification.created_at;
            let rows: Vec<(&Outgoing, Timestamp)> =
                announcement.outgoing.iter().map(|row| (row, at)).collect();
            bulk::insert_outbox(&mut connection, &rows).await?;
        }
        transaction.commit().await?;
        Ok(is_unchanged)
    }

    async fn change(
        &self,
        key: &BearingKey,
        expected: Option<EpisodeVersion>,
        change: &EpisodeChange,
    ) -> Result<bool, StoreError> {
        let mut transaction = self.write().await?;
        let mut connection = transaction.connection();
        let is_unchanged = is_unchanged(&mut connection, key, expected).await?;
        if is_unchanged {
            write(&mut connection, key, change).await?;
        }
        transaction.commit().await?;
        Ok(is_unchanged)
    }
}

impl SqlStore {
    /// Ends the repetitions of episodes that cannot be read, because they would be due for ever and keep
    /// their place before the others.
    async fn readable_or_repeated_no_more(
        &self,
        rows: &[Row],
    ) -> Result<Vec<(BearingKey, EpisodeRecord)>, StoreError> {
        let mut readable = Vec::with_capacity(rows.len());
        for row in rows {
            match keyed(row) {
                Ok(one) => readable.push(one),
                Err(error) => {
                    log::alarm_not_repeated(&error);
                    let mut transaction = self.write().await?;
                    let mut connection = transaction.connection();
                    let query = connection
                        .query("UPDATE episodes SET repeat_at_ms = NULL WHERE episode_id = $1");
                    query.bind(row.get::<uuid::Uuid>("episode_id")?).execute().await?;
                    transaction.commit().await?;
                }
            }
        }
        Ok(readable)
    }
}

fn keyed(row: &Row) -> Result<(BearingKey, EpisodeRecord), StoreError> {
    Ok((row.key()?, record_of(row)?))
}

/// Whether the open episode is still the one that a change was decided on. The lock holds up another
/// replica, which could otherwise decide on the same.
async fn is_unchanged(
    connection: &mut Connection<'_>,
    key: &BearingKey,
    expected: Option<EpisodeVersion>,
) -> Result<bool, StoreError> {
    connection.lock(Lock::Alarm, &key.to_string()).await?;
    let standing = read(connection, key).await?.filter(EpisodeRecord::is_open);
    Ok(standing.map(|one| one.version()) == expected)
}

/// The last episode of a bearing: the open one, or the one that changed last.
pub(super) async fn read(
    connection: &mut Connection<'_>,
    key: &BearingKey,
) -> Result<Option<EpisodeRecord>, StoreError> {
    let row = connection
        .query(columns!(
            " WHERE site = $1 AND equipment_id = $2 AND bearing_id = $3
              ORDER BY CASE WHEN closed_at_ms IS NULL THEN 0 ELSE 1 END, changed_at_ms DESC,
                       opened_at_ms DESC LIMIT 1"
        ))
        .bind_key(key)
        .fetch_optional()
        .await?;
    row.as_ref().map(record_of).transpose()
}

/// Writes a notification and the episode after it. The caller writes the rows of the outbox.
pub(super) async fn tell(
    connection: &mut Connection<'_>,
    key: &BearingKey,
    announcement: &Announcement,
) -> Result<(), StoreError> {
    messages::insert(connection, &announcement.notification).await?;
    match &announcement.episode {
        Some(change) => write(connection, key, change).await,
        None => Ok(()),
    }
}
