//! Reads for a person at a page: episodes by their identity and in pages, remarks, and the work
//! that waits.

use std::collections::HashSet;

use pdm_shared::id::{BearingKey, EventId};
use pdm_shared::text::Text;
use pdm_shared::time::Timestamp;
use pdm_web::plant::{EpisodeFilter, ListPlace, Remark, RepairRow, ReportRow, Withdrawn, WorkRow};
use uuid::Uuid;

use super::episodes::{columns, record_of};
use super::follow_ups::{found_of, state_of};
use super::{Database, work_reports};
use crate::database::Row;
use crate::encoding::{count_of, readable, time_of};
use crate::{EpisodeRecord, StoreError};

/// Most remarks that a page shows.
const REMARKS: i64 = 200;

/// Actions; the first three columns name the bearing.
macro_rules! work {
    ($($condition:literal)+) => {
        concat!(
            "SELECT site, equipment_id, bearing_id, event_id, number, asked_at_ms, action_ko,
                    action_en, due_at_ms, work_order, state, by_whom, at_ms, note, repaired,
                    verdict, element, cause
             FROM follow_ups",
            $($condition),+
        )
    };
}

/// A page of actions after a place. Parameters: asked at, event, number, limit.
macro_rules! work_page {
    ($filter:literal) => {
        work!(
            " WHERE " $filter "(asked_at_ms < $1 OR (asked_at_ms = $1
                  AND (event_id < $2 OR (event_id = $2 AND number > $3))))
              ORDER BY asked_at_ms DESC, event_id DESC, number LIMIT $4"
        )
    };
}

/// A page of episodes after a place. Parameters: changed at, episode, limit.
macro_rules! page {
    ($filter:literal) => {
        columns!(
            " WHERE " $filter "(changed_at_ms < $1 OR (changed_at_ms = $1 AND episode_id < $2))
              ORDER BY changed_at_ms DESC, episode_id DESC LIMIT $3"
        )
    };
}

/// Reads the episodes, remarks and work for a person at a page; used by the HTTP server.
#[derive(Debug, Clone)]
pub struct DeskStore {
    pub(crate) database: Database,
}

impl DeskStore {
    /// The last `limit` episodes of a filter before a place, newest change first.
    pub async fn episode_page(
        &self,
        filter: EpisodeFilter,
        before: Option<ListPlace>,
        limit: u32,
    ) -> Result<Vec<(BearingKey, EpisodeRecord)>, StoreError> {
        let mut reader = self.database.read().await?;
        let query = match filter {
            EpisodeFilter::Open => reader.query(page!("closed_at_ms IS NULL AND ")),
            EpisodeFilter::Closed => reader.query(page!("closed_at_ms IS NOT NULL AND ")),
            EpisodeFilter::Shelved => {
                reader.query(page!("suppressed_until_ms IS NOT NULL AND closed_at_ms IS NULL AND "))
            }
            EpisodeFilter::All => reader.query(page!("")),
        };
        let ListPlace { at_ms, id, .. } = before.unwrap_or(NEWEST);
        let rows = query.bind(at_ms).bind(id).bind(i64::from(limit)).fetch_all().await?;
        let of = |row: &Row| Ok((row.key()?, record_of(row)?));
        Ok(rows.iter().map(of).filter_map(readable).collect())
    }

    /// An episode.
    pub async fn episode_by_id(
        &self,
        id: Uuid,
    ) -> Result<Option<(BearingKey, EpisodeRecord)>, StoreError> {
        let mut reader = self.database.read().await?;
        let query = reader.query(columns!(" WHERE episode_id = $1"));
        let row = query.bind(id).fetch_optional().await?;
        row.map(|row| Ok((row.key()?, record_of(&row)?))).transpose()
    }

    /// The last acknowledgements and remarks of a bearing's episode that opened at a time, oldest
    /// first: up to the opening of the next one, since people write of an episode after it has
    /// closed as well.
    pub async fn remarks(
        &self,
        key: &BearingKey,
        opened_at: Timestamp,
    ) -> Result<Vec<Remark>, StoreError> {
        let mut reader = self.database.read().await?;
        let query = reader.query(
            "SELECT by_whom, at_ms, note, notification_id
             FROM acknowledgements
             WHERE site = $1 AND equipment_id = $2 AND bearing_id = $3 AND received_at_ms >= $4
               AND NOT EXISTS (SELECT 1 FROM episodes
                               WHERE site = $1 AND equipment_id = $2 AND bearing_id = $3
                                 AND opened_at_ms > $4
                                 AND opened_at_ms <= acknowledgements.received_at_ms)
             ORDER BY id DESC LIMIT $5",
        );
        let query = query.bind_key(key).bind(opened_at.unix_ms()).bind(REMARKS);
        let rows = query.fetch_all().await?;
        let mut remarks: Vec<Remark> = rows.iter().map(remark_of).filter_map(readable).collect();
        remarks.reverse();
        Ok(remarks)
    }

    /// The last `limit` acknowledgements and notes of a bearing, newest first.
    pub async fn remarks_of(
        &self,
        key: &BearingKey,
        limit: u32,
    ) -> Result<Vec<Remark>, StoreError> {
        let mut reader = self.database.read().await?;
        let query = reader.query(
            "SELECT by_whom, at_ms, note, notification_id
             FROM acknowledgements
             WHERE site = $1 AND equipment_id = $2 AND bearing_id = $3
             ORDER BY at_ms DESC, id DESC LIMIT $4",
        );
        let rows = query.bind_key(key).bind(i64::from(limit)).fetch_all().await?;
        Ok(rows.iter().map(remark_of).filter_map(readable).collect())
    }

    /// Writes a remark on a bearing down; it acknowledges nothing.
    pub async fn remark(
        &self,
        key: &BearingKey,
        by: &str,
        note: &str,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        self.note(key, by, note, now, now).await
    }

    /// Writes a note on a bearing down, of something that was done at a time.
    pub async fn note(
        &self,
        key: &BearingKey,
        by: &str,
        note: &str,
        at: Timestamp,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        let mut transaction = self.database.write().await?;
        let mut connection = transaction.connection();
        let dialect = connection.dialect();
        let query = connection.query(
            "INSERT INTO acknowledgements (site, equipment_id, bearing_id, notification_id,
                                           by_whom, at_ms, received_at_ms, note)
             VALUES ($1, $2, $3, NULL, $4, $5, $6, $7)",
        );
        let query = query.bind_key(key).bind(dialect.text(by).into_owned());
        let query = query.bind(at.unix_ms()).bind(now.unix_ms());
        query.bind(dialect.text(note).into_owned()).execute().await?;
        transaction.commit().await
    }

    /// The last `limit` actions before a place, newest first: those that wait, or all.
    pub async fn work_page(
        &self,
        is_open: bool,
        before: Option<ListPlace>,
        limit: u32,
    ) -> Result<Vec<WorkRow>, StoreError> {
        let mut reader = self.database.read().await?;
        let query = if is_open {
            reader.query(work_page!("state = 'open' AND "))
        } else {
            reader.query(work_page!(""))
        };
        let ListPlace { at_ms, id, number } = before.unwrap_or(NEWEST);
        let query = query.bind(at_ms).bind(id).bind(i64::from(number));
        let rows = query.bind(i64::from(limit)).fetch_all().await?;
        Ok(rows.iter().map(work_of).filter_map(readable).collect())
    }

    /// The actions that the judgement of an event asks for.
    pub async fn work_of(&self, event_id: EventId) -> Result<Vec<WorkRow>, StoreError> {
        let mut reader = self.database.read().await?;
        let query = reader.query(work!(" WHERE event_id = $1 ORDER BY number"));
        let rows = query.bind(event_id.0).fetch_all().await?;
        Ok(rows.iter().map(work_of).filter_map(readable).collect())
    }

    /// The actions of a bearing that wait, in their order.
    pub async fn open_work_of(&self, key: &BearingKey) -> Result<Vec<WorkRow>, StoreError> {
        let mut reader = self.database.read().await?;
        let query = reader.query(work!(
            " WHERE site = $1 AND equipment_id = $2 AND bearing_id = $3 AND state = 'open'
              ORDER BY asked_at_ms, event_id, number"
        ));
        let rows = query.bind_key(key).fetch_all().await?;
        Ok(rows.iter().map(work_of).filter_map(readable).collect())
    }

    /// A report of staff by its identity.
    pub async fn report_by_id(&self, id: Uuid) -> Result<Option<ReportRow>, StoreError> {
        work_reports::by_id(&mut self.database.read().await?.connection(), id).await
    }

    /// The last `limit` reports of staff on a bearing, newest first.
    pub async fn reports_of(
        &self,
        key: &BearingKey,
        limit: u32,
    ) -> Result<Vec<ReportRow>, StoreError> {
        work_reports::of_bearing(&mut self.database.read().await?.connection(), key, limit).await
    }

    /// The last standing report of a repair of each bearing whose episode stood before it and still
    /// stands, newest first: a repair ends the episode once the baseline is learnt anew.
    pub async fn repairs_to_learn(&self) -> Result<Vec<RepairRow>, StoreError> {
        let mut reader = self.database.read().await?;
        let query = reader.query(
            "SELECT r.site, r.equipment_id, r.bearing_id, r.by_whom, r.at_ms
             FROM work_reports r
             JOIN episodes e ON e.site = r.site AND e.equipment_id = r.equipment_id
                            AND e.bearing_id = r.bearing_id AND e.closed_at_ms IS NULL
             WHERE r.repaired = 1 AND r.withdrawn_at_ms IS NULL AND r.at_ms > e.opened_at_ms
             ORDER BY r.at_ms DESC",
        );
        let rows = query.fetch_all().await?;
        let of = |row: &Row| {
            let (by, at) = (row.get("by_whom")?, time_of(row.get("at_ms")?)?);
            Ok(RepairRow { key: row.key()?, by, at })
        };
        let mut seen = HashSet::new();
        let repairs = rows.iter().map(of).filter_map(readable);
        Ok(repairs.filter(|row: &RepairRow| seen.insert(row.key.clone())).collect())
    }

    /// Takes a report of staff back, within [`pdm_web::plant::UNDO_S`] of it.
    pub async fn withdraw_report(
        &self,
        id: Uuid,
        by: &str,
        now: Timestamp,
    ) -> Result<Withdrawn, StoreError> {
        let mut transaction = self.database.write().await?;
        let withdrawn = work_reports::withdraw(&mut transaction.connection(), id, by, now).await?;
        transaction.commit().await?;
        Ok(withdrawn)
    }

    /// Returns how many notifications of a bearing were written since a time.
    pub async fn told_since(&self, key: &BearingKey, since: Timestamp) -> Result<u64, StoreError> {
        let mut reader = self.database.read().await?;
        let query = reader.query(
            "SELECT count(*) FROM notifications
             WHERE site = $1 AND equipment_id = $2 AND bearing_id = $3 AND created_at_ms >= $4",
        );
        let row = query.bind_key(key).bind(since.unix_ms()).fetch_one().await?;
        Ok(row.get::<i64>(0)?.unsigned_abs())
    }
}

fn remark_of(row: &Row) -> Result<Remark, StoreError> {
    let at = time_of(row.get(1)?)?;
    let acknowledges = row.get::<Option<Uuid>>(3)?.is_some();
    Ok(Remark { by: row.get(0)?, at, note: row.get(2)?, acknowledges })
}

/// Before this place stands every row.
const NEWEST: ListPlace = ListPlace { at_ms: i64::MAX, id: Uuid::max(), number: 0 };

fn work_of(row: &Row) -> Result<WorkRow, StoreError> {
    let time = |column: &str| row.get::<Option<i64>>(column)?.map(time_of).transpose();
    let asked_at = time_of(row.get("asked_at_ms")?)?;
    Ok(WorkRow {
        event_id: EventId(row.get("event_id")?),
        number: count_of(row.get("number")?),
        key: row.key()?,
        action: Text::new(row.get::<String>("action_ko")?, row.get::<String>("action_en")?),
        asked_at,
        // earlier versions carried on a time that was over when the work was asked for anew
        due_at: time("due_at_ms")?.map(|due| due.max(asked_at)),
        work_order: row.get("work_order")?,
        state: state_of(row)?,
        by: row.get("by_whom")?,
        at: time("at_ms")?,
        note: row.get("note")?,
        repaired: row.get::<i64>("repaired")? != 0,
        found: found_of(row)?,
    })
}
