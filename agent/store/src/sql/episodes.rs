//! Episodes: those that stand, those that are due by time, and the notifications that tell of them.

use std::sync::LazyLock;

use pdm_routes::ToldLately;
use pdm_shared::id::{BearingKey, GatewayId, SiteId};
use pdm_shared::time::Timestamp;
use uuid::Uuid;

use super::{Database, bulk, messages};
use crate::database::{Connection, Dialect, Lock, Row, Spelt};
use crate::due::{DueAlarm, LONGEST_STEP_S};
use crate::encoding::{readable, time_of, to_json, word_of};
use crate::outbox::OutboxState;
use crate::{
    Announcement, EpisodeChange, EpisodeRecord, EpisodeVersion, MQTT_LANE, Outgoing, StoreError,
    log,
};

mod acts;
mod row;
mod write;

pub(super) use acts::{acknowledge, shelve};
use row::record_as_readable;
pub(super) use row::{AlarmColumns, columns, record_of};
pub(super) use write::{put, write};

/// Episodes that stand and that nobody has acknowledged, by a column with the time at which they
/// are due. Parameters: now, the latest time that a right clock writes, limit, the latest time at
/// which a right clock has told an alarm.
macro_rules! due {
    ($at_ms:literal) => {
        columns!(
            " WHERE " $at_ms " IS NOT NULL AND closed_at_ms IS NULL
                AND state = 'unacknowledged_active'
                AND (" $at_ms " <= $1 OR " $at_ms " > $2 OR since_ms > $4)
              ORDER BY " $at_ms " LIMIT $3"
        )
    };
}

/// Parameters: the first and last time of a message, the lane that leads to no person, limit, the
/// lanes that there are as a JSON list.
static WITHOUT_WAYS: LazyLock<Spelt> = LazyLock::new(|| {
    Spelt::each(|dialect| {
        let listed = match dialect {
            Dialect::Sqlite => "SELECT value FROM json_each($5)",
            Dialect::Postgres => "SELECT json_array_elements_text($5::json)",
        };
        let settled = [OutboxState::Delivered, OutboxState::GivenUp].map(OutboxState::as_str);
        format!(
            "{} WHERE closed_at_ms IS NULL AND state = 'unacknowledged_active'
                AND notification_id IN (
                    SELECT notification_id FROM notifications AS told
                    WHERE told.created_at_ms BETWEEN $1 AND $2)
                AND NOT EXISTS (SELECT 1 FROM outbox AS way
                                WHERE way.notification_id = episodes.notification_id
                                  AND way.lane <> $3
                                  AND (way.lane IN ({listed})
                                       OR way.state NOT IN ('{}', '{}')))
              ORDER BY changed_at_ms LIMIT $4",
            columns!(""),
            settled[0],
            settled[1]
        )
    })
});

/// Episodes; used by the watch over time, by pages and by the command line.
#[derive(Debug, Clone)]
pub struct EpisodeStore {
    pub(crate) database: Database,
}

impl EpisodeStore {
    /// Episodes that stand, that nobody has acknowledged and whose repetition is due, at most
    /// `limit`, where one is repeated every `every_s` seconds.
    pub async fn episodes_to_repeat(
        &self,
        now: Timestamp,
        every_s: f64,
        limit: u32,
    ) -> Result<Vec<(BearingKey, EpisodeRecord)>, StoreError> {
        self.due(due!("repeat_at_ms"), &DueAlarm::at(now, every_s), limit).await
    }

    /// Episodes that stand and that nobody has acknowledged whose next step of telling is due, at
    /// most `limit`.
    pub async fn episodes_to_tell(
        &self,
        now: Timestamp,
        limit: u32,
    ) -> Result<Vec<(BearingKey, EpisodeRecord)>, StoreError> {
        self.due(due!("telling_at_ms"), &DueAlarm::at(now, LONGEST_STEP_S), limit).await
    }

    /// Episodes that stand, that nobody has acknowledged and of whose last message, written between
    /// the two times of `written`, the outbox has no row on one of the `lanes` that there are, and
    /// none that waits, at most `limit`. Either it was written for none, or somebody has deleted
    /// them (a row that has left stays until the retention of what was told), or whoever heard of
    /// it has left the configuration.
    pub async fn episodes_without_ways(
        &self,
        written: (Timestamp, Timestamp),
        lanes: &[String],
        limit: u32,
    ) -> Result<Vec<(BearingKey, EpisodeRecord)>, StoreError> {
        let lanes = to_json("names of lanes", &lanes)?;
        let mut reader = self.database.read().await?;
        let (since, until) = written;
        let query = reader.query(&WITHOUT_WAYS).bind(since.unix_ms()).bind(until.unix_ms());
        let rows = query.bind(MQTT_LANE).bind(i64::from(limit)).bind(lanes).fetch_all().await?;
        Ok(rows.iter().map(keyed).filter_map(readable).collect())
    }

    /// Episodes that are told with another alarm of their cause, at most `limit` after the episode
    /// `after`, in the order of their identities.
    pub async fn told_beside(
        &self,
        after: Uuid,
        limit: u32,
    ) -> Result<Vec<(BearingKey, EpisodeRecord)>, StoreError> {
        let mut reader = self.database.read().await?;
        let query = reader.query(columns!(
            " WHERE beside IS NOT NULL AND closed_at_ms IS NULL AND episode_id > $1
              ORDER BY episode_id LIMIT $2"
        ));
        let rows = query.bind(after).bind(i64::from(limit)).fetch_all().await?;
        Ok(rows.iter().map(keyed).filter_map(readable).collect())
    }

    /// Open episodes under a suppression, and those of which one has withheld something, at most
    /// `limit` after the episode `after`, in the order of their identities.
    pub async fn suppressed(
        &self,
        after: Uuid,
        limit: u32,
    ) -> Result<Vec<(BearingKey, EpisodeRecord)>, StoreError> {
        let mut reader = self.database.read().await?;
        let query = reader.query(columns!(
            " WHERE closed_at_ms IS NULL AND episode_id > $1
                AND (state IN ('suppressed_by_design', 'shelved', 'out_of_service')
                     OR course LIKE '%\"withheld\":{%')
              ORDER BY episode_id LIMIT $2"
        ));
        let rows = query.bind(after).bind(i64::from(limit)).fetch_all().await?;
        Ok(rows.iter().map(keyed).filter_map(readable).collect())
    }

    /// Episodes whose suppression has ended by time, at most `limit`.
    pub async fn suppressions_over(
        &self,
        now: Timestamp,
        limit: u32,
    ) -> Result<Vec<(BearingKey, EpisodeRecord)>, StoreError> {
        let mut reader = self.database.read().await?;
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

    /// The last episode of a bearing or gateway: the open one, or the one that changed last.
    pub async fn episode(&self, key: &BearingKey) -> Result<Option<EpisodeRecord>, StoreError> {
        last_episode(&mut self.database.read().await?.connection(), key).await
    }

    /// The last `limit` episodes of a bearing, newest first.
    pub async fn episodes_of_bearing(
        &self,
        key: &BearingKey,
        limit: u32,
    ) -> Result<Vec<EpisodeRecord>, StoreError> {
        let mut reader = self.database.read().await?;
        let query = reader.query(columns!(
            " WHERE site = $1 AND equipment_id = $2 AND bearing_id = $3
              ORDER BY opened_at_ms DESC, episode_id DESC LIMIT $4"
        ));
        let rows = query.bind_key(key).bind(i64::from(limit)).fetch_all().await?;
        Ok(rows.iter().map(keyed).filter_map(readable).map(|(_, record)| record).collect())
    }

    /// The last `limit` episodes that changed before `before`, newest first: the open ones, or all.
    pub async fn episodes(
        &self,
        before: Timestamp,
        is_open: bool,
        limit: u32,
    ) -> Result<Vec<(BearingKey, EpisodeRecord)>, StoreError> {
        let mut reader = self.database.read().await?;
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

    /// Writes a notification that no event caused, unless the open episode has changed since it was
    /// read: `expected` is what it was then, or none. True if the notification was written.
    pub async fn announce(
        &self,
        key: &BearingKey,
        expected: Option<EpisodeVersion>,
        announcement: &Announcement,
    ) -> Result<bool, StoreError> {
        let mut transaction = self.database.write().await?;
        let mut connection = transaction.connection();
        let is_unchanged = is_unchanged(&mut connection, key, expected).await?;
        if is_unchanged {
            insert_announcement(&mut connection, key, announcement).await?;
            let at = announcement.notification.created_at;
            let rows: Vec<(&Outgoing, Timestamp)> =
                announcement.outgoing.iter().map(|row| (row, at)).collect();
            bulk::insert_outbox(&mut connection, &rows).await?;
        }
        transaction.commit().await?;
        Ok(is_unchanged)
    }

    /// Writes a change of an episode that staff is not told of, under the same condition.
    pub async fn change(
        &self,
        key: &BearingKey,
        expected: Option<EpisodeVersion>,
        change: &EpisodeChange,
    ) -> Result<bool, StoreError> {
        let mut transaction = self.database.write().await?;
        let mut connection = transaction.connection();
        let is_unchanged = is_unchanged(&mut connection, key, expected).await?;
        if is_unchanged {
            write(&mut connection, key, change).await?;
        }
        transaction.commit().await?;
        Ok(is_unchanged)
    }
}

impl EpisodeStore {
    /// Episodes that are due. One that cannot be read is due no more, because it would be for ever
    /// and keep its place before the others.
    async fn due(
        &self,
        statement: &'static str,
        due: &DueAlarm,
        limit: u32,
    ) -> Result<Vec<(BearingKey, EpisodeRecord)>, StoreError> {
        let mut reader = self.database.read().await?;
        let query = reader.query(statement).bind(due.now.unix_ms()).bind(due.latest.unix_ms());
        let query = query.bind(i64::from(limit)).bind(due.told.unix_ms());
        let rows = query.fetch_all().await?;
        drop(reader);
        let mut readable = Vec::with_capacity(rows.len());
        for row in &rows {
            match keyed(row) {
                Ok(one) => readable.push(one),
                Err(error) => {
                    log::alarm_not_repeated(&error);
                    let mut transaction = self.database.write().await?;
                    let mut connection = transaction.connection();
                    let query = connection.query(
                        "UPDATE episodes SET repeat_at_ms = NULL, telling_at_ms = NULL
                         WHERE episode_id = $1",
                    );
                    query.bind(row.get::<Uuid>("episode_id")?).execute().await?;
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

/// Alarms of a site that stand and were told at `since` or later.
pub(super) async fn told_lately(
    connection: &mut Connection<'_>,
    site: &SiteId,
    since: Timestamp,
    limit: u32,
) -> Result<Vec<ToldLately>, StoreError> {
    let rows = connection
        .query(
            "SELECT site, equipment_id, bearing_id, risk_level, since_ms,
                    (SELECT gateway_id FROM bearing_gateways AS owner
                     WHERE owner.bearing = episodes.site || '/' || episodes.equipment_id || '/' ||
                                           episodes.bearing_id) AS gateway_id
             FROM episodes
             WHERE site = $1 AND closed_at_ms IS NULL AND notification_id IS NOT NULL
               AND state IN ('unacknowledged_active', 'acknowledged_active') AND since_ms >= $2
             ORDER BY since_ms LIMIT $3",
        )
        .bind(site.as_str())
        .bind(since.unix_ms())
        .bind(i64::from(limit))
        .fetch_all()
        .await?;
    let of = |row: &Row| {
        Ok(ToldLately {
            key: row.key()?,
            level: word_of("a risk", row.get("risk_level")?)?,
            at: time_of(row.get("since_ms")?)?,
            gateway: row
                .get::<Option<&str>>("gateway_id")?
                .and_then(|name| GatewayId::new(name).ok()),
        })
    };
    Ok(rows.iter().map(of).filter_map(readable).collect())
}

/// Whether the open episode is still the one that a change was decided on. The lock holds up
/// another replica, which could otherwise decide on the same.
async fn is_unchanged(
    connection: &mut Connection<'_>,
    key: &BearingKey,
    expected: Option<EpisodeVersion>,
) -> Result<bool, StoreError> {
    connection.lock(Lock::Alarm, &key.to_string()).await?;
    let standing = last_episode(connection, key).await?.filter(EpisodeRecord::is_open);
    Ok(standing.map(|one| one.version()) == expected)
}

/// The last episode of a bearing: the open one, or the one that changed last.
pub(super) async fn last_episode(
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
    row.as_ref().map(|row| record_as_readable(key, row)).transpose()
}

/// Writes a notification and the episode after it. The caller writes the rows of the outbox.
pub(super) async fn insert_announcement(
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
