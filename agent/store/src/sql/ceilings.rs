//! The deliveries of each lane in an hour, and the rows above the ceiling, which leave together as
//! one summary.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use pdm_shared::id::{BearingKey, GatewayKey};
use pdm_shared::risk::RiskLevel;
use pdm_shared::time::Timestamp;
use uuid::Uuid;

use super::{Database, pins};
use crate::database::{Row, Session, Spelt};
use crate::encoding::{count_of, word_of};
use crate::outbox::OutboxState;
use crate::{HeldBack, StoreError, ToldInHour};

/// The separator of lane and share in the column `lane`; no name of a lane or gateway contains it.
const SHARE: &str = "\n";
/// Bearings that a summary names. Chosen: their names are a text that a short message carries and a
/// person reads.
const NAMED: usize = 20;
/// Rows of Criticals that are looked through for bearings; more are of the next summary.
const LOOKED_THROUGH: i64 = 2000;

/// Parameters: lane, hour, messages, summaries.
const NOTE: &str = "INSERT INTO told_hours (lane, hour_ms, messages, summaries)
     VALUES ($1, $2, $3, $4)
     ON CONFLICT (lane, hour_ms) DO UPDATE
     SET messages = told_hours.messages + excluded.messages,
         summaries = told_hours.summaries + excluded.summaries";

/// Parameters: lane, last row. The counts of what is held back, by level.
static BY_LEVEL: LazyLock<Spelt> = LazyLock::new(|| {
    let held = OutboxState::Held;
    Spelt::each(|_| {
        format!(
            "SELECT told.risk_level, count(*), max(row.id) FROM outbox AS row
             JOIN notifications AS told ON told.notification_id = row.notification_id
             WHERE row.lane = $1 AND row.state = '{held}' AND row.id <= $2
             GROUP BY told.risk_level"
        )
    })
});

/// Parameters: lane, level, limit. The held rows of a level, as they were written.
static ROWS_OF_LEVEL: LazyLock<Spelt> = LazyLock::new(|| {
    let held = OutboxState::Held;
    Spelt::each(|_| {
        format!(
            "SELECT told.site, told.equipment_id, told.bearing_id, row.id FROM outbox AS row
             JOIN notifications AS told ON told.notification_id = row.notification_id
             WHERE row.lane = $1 AND row.state = '{held}' AND told.risk_level = $2
             ORDER BY row.id LIMIT $3"
        )
    })
});

/// Parameters: lane, level, last row, limit.
static BEARINGS: LazyLock<Spelt> = LazyLock::new(|| {
    let held = OutboxState::Held;
    Spelt::each(|_| {
        format!(
            "SELECT DISTINCT told.site, told.equipment_id, told.bearing_id FROM outbox AS row
             JOIN notifications AS told ON told.notification_id = row.notification_id
             WHERE row.lane = $1 AND row.state = '{held}' AND told.risk_level = $2 AND row.id <= $3
             ORDER BY 1, 2, 3 LIMIT $4"
        )
    })
});

/// Parameters: lane, last row, now, state.
static SETTLE_HELD: LazyLock<Spelt> = LazyLock::new(|| {
    let held = OutboxState::Held;
    Spelt::each(|_| {
        format!(
            "UPDATE outbox SET state = $4, settled_at_ms = $3, last_error = 'told in a summary'
             WHERE lane = $1 AND state = '{held}' AND id <= $2 RETURNING notification_id"
        )
    })
});

/// The counts of what is held back of a lane up to a row, the worst level first.
async fn levels_through(
    reader: &mut Session,
    lane: &str,
    through: i64,
) -> Result<HeldBack, StoreError> {
    let rows = reader.query(&BY_LEVEL).bind(lane).bind(through).fetch_all().await?;
    let mut held = HeldBack::default();
    for row in &rows {
        held.levels.push((
            word_of::<RiskLevel>("a risk", row.get(0)?)?,
            row.get::<i64>(1)?.unsigned_abs(),
        ));
        held.through = held.through.max(row.get(2)?);
    }
    held.levels.sort_by_key(|(level, _)| std::cmp::Reverse(*level));
    Ok(held)
}

/// Returns the bearings that a summary names of these rows, and the last row that it covers where
/// there are more.
fn named_through(rows: &[Row]) -> Result<(Vec<BearingKey>, Option<i64>), StoreError> {
    let mut named: Vec<BearingKey> = Vec::new();
    for row in rows {
        let (key, id) = (row.shown_key()?, row.get::<i64>(3)?);
        if named.contains(&key) {
            continue;
        }
        if named.len() == NAMED {
            return Ok((named, Some(id - 1)));
        }
        named.push(key);
    }
    let is_all = rows.len() < LOOKED_THROUGH as usize;
    let last = rows.last().filter(|_| !is_all).map(|row| row.get::<i64>(3)).transpose()?;
    Ok((named, last))
}

/// Reads and writes the deliveries of each lane in an hour, and the rows above its ceiling; used by
/// the lanes of the outbox.
#[derive(Debug, Clone)]
pub struct CeilingStore {
    pub(crate) database: Database,
}

impl CeilingStore {
    /// Returns the counts of a lane's deliveries in the hour that begins at `hour`.
    pub async fn told_in(&self, lane: &str, hour: Timestamp) -> Result<ToldInHour, StoreError> {
        let mut reader = self.database.read().await?;
        let query = reader
            .query("SELECT messages, summaries FROM told_hours WHERE lane = $1 AND hour_ms = $2");
        let row = query.bind(lane).bind(hour.unix_ms()).fetch_optional().await?;
        let Some(row) = row else { return Ok(ToldInHour::default()) };
        Ok(ToldInHour { messages: count_of(row.get(0)?), summaries: count_of(row.get(1)?) })
    }

    /// Returns the messages that a lane has delivered in the hour that begins at `hour`, by share.
    pub async fn shares_told(
        &self,
        lane: &str,
        hour: Timestamp,
    ) -> Result<BTreeMap<String, u32>, StoreError> {
        let mut reader = self.database.read().await?;
        let query = reader.query("SELECT lane, messages FROM told_hours WHERE hour_ms = $1");
        let rows = query.bind(hour.unix_ms()).fetch_all().await?;
        let mut shares = BTreeMap::new();
        for row in &rows {
            let Some((whose, share)) = row.get::<&str>(0)?.split_once(SHARE) else { continue };
            if whose == lane {
                shares.insert(share.to_owned(), count_of(row.get(1)?));
            }
        }
        Ok(shares)
    }

    /// Counts a message of this hour, of this share.
    pub async fn note_message(
        &self,
        lane: &str,
        share: &str,
        hour: Timestamp,
    ) -> Result<(), StoreError> {
        let mut transaction = self.database.write().await?;
        let mut connection = transaction.connection();
        for name in [lane.to_owned(), format!("{lane}{SHARE}{share}")] {
            let query = connection.query(NOTE).bind(name).bind(hour.unix_ms());
            query.bind(1_i64).bind(0_i64).execute().await?;
        }
        transaction.commit().await
    }

    /// The gateway that a bearing belongs to by its first event.
    pub async fn gateway_of(&self, key: &BearingKey) -> Result<Option<GatewayKey>, StoreError> {
        let mut reader = self.database.read().await?;
        let bearings = BTreeSet::from([key.clone()]);
        let owners = pins::owners(&mut reader.connection(), &bearings).await?;
        Ok(owners.get(key).cloned())
    }

    /// Returns how many gateways are known.
    pub async fn gateway_count(&self) -> Result<u32, StoreError> {
        let mut reader = self.database.read().await?;
        let row = reader.query("SELECT count(*) FROM gateways").fetch_one().await?;
        Ok(count_of(row.get(0)?))
    }

    /// The rows of a lane that are held back, up to the one behind which a summary would have more
    /// Criticals than it can name: a Critical that is settled has been named.
    pub async fn held_back(&self, lane: &str) -> Result<HeldBack, StoreError> {
        let mut reader = self.database.read().await?;
        let mut held = levels_through(&mut reader, lane, i64::MAX).await?;
        let Some((worst, _)) = held.levels.first().copied() else { return Ok(held) };
        if worst == RiskLevel::Critical {
            let query = reader.query(&ROWS_OF_LEVEL).bind(lane).bind(worst.as_str());
            let rows = query.bind(LOOKED_THROUGH).fetch_all().await?;
            let (named, last) = named_through(&rows)?;
            let criticals = |held: &HeldBack| held.levels.first().map_or(0, |(_, count)| *count);
            if let Some(last) = last {
                let all = criticals(&held);
                held = levels_through(&mut reader, lane, last).await?;
                held.criticals_behind = all.saturating_sub(criticals(&held));
            }
            held.worst = named;
            return Ok(held);
        }
        let query = reader.query(&BEARINGS).bind(lane).bind(worst.as_str()).bind(held.through);
        let rows = query.bind(i64::try_from(NAMED).unwrap_or(i64::MAX)).fetch_all().await?;
        held.worst = rows.iter().map(Row::shown_key).collect::<Result<_, _>>()?;
        Ok(held)
    }

    /// Settles the rows up to `through` as delivered, and counts the hour's summary. Returns the
    /// notifications of these rows.
    pub async fn settle_held(
        &self,
        lane: &str,
        through: i64,
        hour: Timestamp,
        now: Timestamp,
    ) -> Result<Vec<Uuid>, StoreError> {
        let mut transaction = self.database.write().await?;
        let mut connection = transaction.connection();
        let query = connection.query(&SETTLE_HELD).bind(lane).bind(through).bind(now.unix_ms());
        let settled = query.bind(OutboxState::Delivered.as_str()).fetch_all().await?;
        let told = settled.iter().map(|row| row.get::<Option<Uuid>>(0));
        let told: Vec<Option<Uuid>> = told.collect::<Result<_, _>>()?;
        connection
            .query(NOTE)
            .bind(lane)
            .bind(hour.unix_ms())
            .bind(0_i64)
            .bind(1_i64)
            .execute()
            .await?;
        transaction.commit().await?;
        Ok(told.into_iter().flatten().collect())
    }
}
