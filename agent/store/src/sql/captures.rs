//! The rows of captured waveforms.

use pdm_shared::capture::{CaptureDocument, CaptureReason};
use pdm_shared::id::{BearingKey, GatewayKey};
use pdm_shared::time::Timestamp;
use pdm_web::plant::{CaptureFound, CaptureRow};
use uuid::Uuid;

use super::{Database, capture_demands, pins};
use crate::StoreError;
use crate::database::{Lock, Row};
use crate::encoding::{json_of, readable, time_of};

/// An alarm keeps the captures that came in from this time before its opening on, ms: a week.
/// Chosen: the gateway's anomaly may stand for days before the agent opens an episode for it.
const BEFORE_ALARM_MS: i64 = 7 * 86_400_000;

macro_rules! captures {
    ($($condition:literal)+) => {
        concat!(
            "SELECT site, equipment_id, bearing_id, received_at_ms, document FROM captures",
            $($condition),+
        )
    };
}

/// Parameter: [`BEFORE_ALARM_MS`]. What may leave, oldest first. Of an open alarm these stay: the
/// first and the newest capture of the reason alarm (of a bearing with two points one each), and
/// the newest three for a zone or a name; so one bearing, whose alarm stands for months, does not
/// fill the room of all. Rows of before have 1 for all that came in an alarm: without a row of 2
/// the first of them stays.
const LEAVING: &str = "SELECT capture_id, bytes FROM captures AS c
     WHERE NOT (c.of_alarm > 0 AND EXISTS (
               SELECT 1 FROM episodes AS e
               WHERE e.site = c.site AND e.equipment_id = c.equipment_id
                 AND e.bearing_id = c.bearing_id AND e.closed_at_ms IS NULL
                 AND c.received_at_ms >= e.opened_at_ms - $1
                 AND (NOT EXISTS (
                          SELECT 1 FROM captures AS n
                          WHERE n.site = c.site AND n.equipment_id = c.equipment_id
                            AND n.bearing_id = c.bearing_id AND n.of_alarm >= c.of_alarm
                            AND n.received_at_ms >= e.opened_at_ms - $1
                            AND (n.started_at_ms < c.started_at_ms OR n.of_alarm > c.of_alarm))
                   OR (c.of_alarm = 2 AND NOT EXISTS (
                          SELECT 1 FROM captures AS n
                          WHERE n.site = c.site AND n.equipment_id = c.equipment_id
                            AND n.bearing_id = c.bearing_id AND n.of_alarm = 2
                            AND n.started_at_ms > c.started_at_ms))
                   OR (c.of_alarm = 1 AND 3 > (
                          SELECT count(*) FROM captures AS n
                          WHERE n.site = c.site AND n.equipment_id = c.equipment_id
                            AND n.bearing_id = c.bearing_id AND n.of_alarm = 1
                            AND n.started_at_ms > c.started_at_ms)))))
       AND NOT (c.is_reference = 1 AND NOT EXISTS (
               SELECT 1 FROM captures AS n
               WHERE n.site = c.site AND n.equipment_id = c.equipment_id
                 AND n.bearing_id = c.bearing_id AND n.is_reference = 1
                 AND n.started_at_ms > c.started_at_ms))
     ORDER BY c.received_at_ms, c.capture_id";

/// PostgreSQL adds up to NUMERIC, which is no 64-bit number.
const HELD: &str = "SELECT count(*), CAST(COALESCE(sum(bytes), 0) AS BIGINT) FROM captures";

/// A capture that is whole, to be kept.
#[derive(Debug, Clone)]
pub struct CaptureNote {
    /// Its bearing.
    pub key: BearingKey,
    /// The content that was read from its document.
    pub found: CaptureFound,
}

/// Whether there is room for a capture.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CaptureRoom {
    /// There is, after these were forgotten, whose files have to be deleted.
    Made(Vec<Uuid>),
    /// There is none: the bytes that remain belong to open alarms and references.
    Short {
        /// Bytes that are kept.
        kept_bytes: u64,
    },
}

/// Notes captures, finds them, and forgets the oldest where there is no room.
#[derive(Debug, Clone)]
pub struct CaptureStore {
    pub(crate) database: Database,
}

impl CaptureStore {
    /// The gateway that a bearing belongs to by its first event.
    pub async fn capture_owner(&self, key: &BearingKey) -> Result<Option<GatewayKey>, StoreError> {
        let mut reader = self.database.read().await?;
        let query = reader
            .query("SELECT bearing, site, gateway_id FROM bearing_gateways WHERE bearing = $1");
        let row = query.bind(key.to_string()).fetch_optional().await?;
        Ok(row.map(|row| pins::owner_of(&row)).transpose()?.map(|(_, gateway)| gateway))
    }

    /// Forgets the oldest captures until `needed_bytes` more fit into `most_bytes`: never the first
    /// and the newest of an open alarm's rise, the newest three for its zone or name, and the
    /// newest reference of a bearing. Forgets no capture where that is not enough.
    pub async fn make_capture_room(
        &self,
        needed_bytes: u64,
        most_bytes: u64,
    ) -> Result<CaptureRoom, StoreError> {
        let mut transaction = self.database.write().await?;
        let mut connection = transaction.connection();
        // two uploads at once: the second one counts what the first one has left
        connection.lock(Lock::Captures, "captures").await?;
        let (_, held) = held_of(&connection.query(HELD).fetch_one().await?)?;
        let mut over = held.saturating_add(needed_bytes).saturating_sub(most_bytes);
        let mut leaving = Vec::new();
        if over > 0 {
            for row in connection.query(LEAVING).bind(BEFORE_ALARM_MS).fetch_all().await? {
                if over == 0 {
                    break;
                }
                over = over.saturating_sub(row.get::<i64>(1)?.unsigned_abs());
                leaving.push(row.get::<Uuid>(0)?);
            }
        }
        if over > 0 {
            return Ok(CaptureRoom::Short { kept_bytes: held });
        }
        for &id in &leaving {
            let query = connection.query("DELETE FROM captures WHERE capture_id = $1");
            query.bind(id).execute().await?;
        }
        transaction.commit().await?;
        Ok(CaptureRoom::Made(leaving))
    }

    /// Notes a capture; false if one of this identity is noted already.
    pub async fn note_capture(&self, note: &CaptureNote) -> Result<bool, StoreError> {
        let CaptureFound { row, document, text } = &note.found;
        let mut transaction = self.database.write().await?;
        let mut connection = transaction.connection();
        let text = connection.dialect().text(text).into_owned();
        let noted = connection
            .query(
                "INSERT INTO captures (capture_id, site, equipment_id, bearing_id, gateway_id, \
                 started_at_ms,
                                       received_at_ms, bytes, of_alarm, is_reference, document)
                 VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)
                 ON CONFLICT (capture_id) DO NOTHING",
            )
            .bind(row.capture_id)
            .bind_key(&note.key)
            .bind(document.gateway_id.as_str())
            .bind(document.started_at.unix_ms())
            .bind(row.received_at.unix_ms())
            .bind(i64::try_from(document.file.bytes).unwrap_or(i64::MAX))
            .bind(alarm_rank(document))
            .bind(i64::from(document.is_for(CaptureReason::Reference)))
            .bind(text)
            .execute()
            .await?;
        capture_demands::note_arrival(&mut connection, &note.key, document).await?;
        transaction.commit().await?;
        Ok(noted > 0)
    }

    /// The last `limit` captures of a bearing that began before `before`, newest first.
    pub async fn captures_of(
        &self,
        key: &BearingKey,
        before: Timestamp,
        limit: u32,
    ) -> Result<Vec<CaptureRow>, StoreError> {
        let mut reader = self.database.read().await?;
        let query = reader.query(captures!(
            " WHERE site = $1 AND equipment_id = $2 AND bearing_id = $3 AND started_at_ms < $4
              ORDER BY started_at_ms DESC, capture_id DESC LIMIT $5"
        ));
        let query = query.bind_key(key).bind(before.unix_ms()).bind(i64::from(limit));
        let rows = query.fetch_all().await?;
        Ok(rows.iter().map(found_of).filter_map(readable).map(|found| found.row).collect())
    }

    /// A capture by its identity.
    pub async fn capture_by_id(&self, id: Uuid) -> Result<Option<CaptureFound>, StoreError> {
        let mut reader = self.database.read().await?;
        let query = reader.query(captures!(" WHERE capture_id = $1"));
        query.bind(id).fetch_optional().await?.map(|row| found_of(&row)).transpose()
    }

    /// Captures and their bytes.
    pub async fn captures_held(&self) -> Result<(u64, u64), StoreError> {
        let mut reader = self.database.read().await?;
        held_of(&reader.query(HELD).fetch_one().await?)
    }
}

/// The value of `of_alarm`: 2 for the capture of an alarm's rise, 1 for what its alarm told later,
/// 0 for what is not for an alarm, such as a demand while one stands.
fn alarm_rank(document: &CaptureDocument) -> i64 {
    i64::from(document.is_for_alarm()) + i64::from(document.is_for(CaptureReason::Alarm))
}

/// Captures and their bytes.
fn held_of(row: &Row) -> Result<(u64, u64), StoreError> {
    Ok((row.get::<i64>(0)?.unsigned_abs(), row.get::<i64>(1)?.unsigned_abs()))
}

fn found_of(row: &Row) -> Result<CaptureFound, StoreError> {
    let text: String = row.get("document")?;
    let document: CaptureDocument = json_of("a capture", &text)?;
    // the columns, not the document: a bearing that was renamed keeps its captures
    let received_at = time_of(row.get("received_at_ms")?)?;
    Ok(CaptureFound { row: CaptureRow::new(row.key()?, received_at, &document), document, text })
}
