//! When bearings were heard last, and their pauses: by these the watch tells a bearing whose
//! windows have stopped from one that is measured once a day.

use pdm_shared::id::BearingKey;
use pdm_shared::time::Timestamp;

use super::GatewayStore;
use crate::StoreError;
use crate::database::Row;
use crate::encoding::{readable, time_of};

/// Pauses that are kept of a bearing, the newest ones: two weeks of a bearing that is measured once
/// a day, a year and more of one that is measured once a month.
const KEPT: i64 = 16;

/// A bearing and when it was heard.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HeardBearing {
    /// The bearing.
    pub key: BearingKey,
    /// When its first window was judged.
    pub since: Timestamp,
    /// When its last window was judged.
    pub last_at: Timestamp,
    /// When its newest window was measured.
    pub measured_at: Option<Timestamp>,
}

/// A time in which nothing of a bearing came while its gateway went on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BearingPause {
    /// When the bearing was heard last, or could be heard again.
    pub from: Timestamp,
    /// When it was heard again.
    pub to: Timestamp,
    /// Whether it was longer than the bearing's past let expect.
    pub is_exceptional: bool,
}

impl BearingPause {
    /// Its length, s.
    pub fn seconds(&self) -> f64 {
        self.to.seconds_since(self.from)
    }
}

impl GatewayStore {
    /// Every bearing that was judged, with when it was heard.
    pub async fn heard_bearings(&self) -> Result<Vec<HeardBearing>, StoreError> {
        let mut reader = self.database.read().await?;
        let query = reader.query(
            "SELECT site, equipment_id, bearing_id, COALESCE(heard_since_ms, updated_at_ms),
                    updated_at_ms, last_measured_at_ms
             FROM bearings",
        );
        let rows = query.fetch_all().await?;
        Ok(rows.iter().map(heard_of).filter_map(readable).collect())
    }

    /// The pauses that are kept of a bearing, in the order in which they began.
    pub async fn pauses_of(&self, key: &BearingKey) -> Result<Vec<BearingPause>, StoreError> {
        let mut reader = self.database.read().await?;
        let query = reader.query(
            "SELECT from_ms, to_ms, is_exceptional FROM bearing_pauses
             WHERE site = $1 AND equipment_id = $2 AND bearing_id = $3 ORDER BY from_ms",
        );
        let rows = query.bind_key(key).fetch_all().await?;
        Ok(rows.iter().map(pause_of).filter_map(readable).collect())
    }

    /// Keeps a pause of a bearing, once, among its newest ones.
    pub async fn note_pause(
        &self,
        key: &BearingKey,
        pause: &BearingPause,
    ) -> Result<(), StoreError> {
        let mut transaction = self.database.write().await?;
        let mut connection = transaction.connection();
        // a replica has noticed the same one
        let query = connection.query(
            "INSERT INTO bearing_pauses (site, equipment_id, bearing_id, from_ms, to_ms,
                                         is_exceptional)
             VALUES ($1, $2, $3, $4, $5, $6)
             ON CONFLICT (site, equipment_id, bearing_id, from_ms) DO NOTHING",
        );
        let query = query.bind_key(key).bind(pause.from.unix_ms()).bind(pause.to.unix_ms());
        query.bind(pause.is_exceptional).execute().await?;
        let query = connection.query(
            "DELETE FROM bearing_pauses
             WHERE site = $1 AND equipment_id = $2 AND bearing_id = $3 AND from_ms <= (
                 SELECT from_ms FROM bearing_pauses
                 WHERE site = $1 AND equipment_id = $2 AND bearing_id = $3
                 ORDER BY from_ms DESC LIMIT 1 OFFSET $4)",
        );
        query.bind_key(key).bind(KEPT).execute().await?;
        transaction.commit().await
    }
}

fn heard_of(row: &Row) -> Result<HeardBearing, StoreError> {
    Ok(HeardBearing {
        key: row.key()?,
        since: time_of(row.get(3)?)?,
        last_at: time_of(row.get(4)?)?,
        measured_at: row.get::<Option<i64>>(5)?.map(time_of).transpose()?,
    })
}

fn pause_of(row: &Row) -> Result<BearingPause, StoreError> {
    Ok(BearingPause {
        from: time_of(row.get(0)?)?,
        to: time_of(row.get(1)?)?,
        is_exceptional: row.get(2)?,
    })
}
