//! Gateways: how far each sequence is stored, what is missing, whether the gateway is online.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use pdm_shared::delivery::{GatewayStatus, Presence, RECEIPT_SCHEMA, Receipt};
use pdm_shared::event::HIGHEST_SEQUENCE;
use pdm_shared::id::{BearingKey, Epoch, GatewayId, GatewayKey, SiteId};
use pdm_shared::time::Timestamp;
use uuid::Uuid;

use super::{Database, pins, refusals};
use crate::admission::GatewayRecord;
use crate::database::{Connection, Dialect, Row, Spelt};
use crate::encoding::{json_of, readable, sequence_of, time_of};
use crate::{GatewayState, MAX_GAPS_IN_RECEIPT, OldGaps, RefusedEvents, StoreError, log};

mod numbers;

pub(super) use numbers::follow;

/// Parameter: before. Locks the gateways of old gaps in the order of their names, because storing
/// events locks gateways before gaps and in this order: two transactions never wait for each other.
/// SQLite has one writer and nothing to lock.
static LOCK_GATEWAYS_WITH_OLD_GAPS: LazyLock<Spelt> = LazyLock::new(|| {
    Spelt::each(|dialect| match dialect {
        Dialect::Sqlite => "SELECT 1 WHERE $1 IS NULL".to_owned(),
        Dialect::Postgres => "SELECT gateway_id FROM gateways WHERE (site, gateway_id) IN (
                 SELECT site, gateway_id FROM sequence_gaps
                 WHERE NOT lost AND noticed_at_ms < $1)
             ORDER BY site, gateway_id FOR UPDATE"
            .to_owned(),
    })
});

/// Gateways and their sequences; used by the receipts and by the watch for silent gateways.
#[derive(Debug, Clone)]
pub struct GatewayStore {
    pub(crate) database: Database,
}

impl GatewayStore {
    /// Returns, for each gateway, which events it may forget and which it must send again.
    pub async fn receipts(
        &self,
        gateways: &[GatewayKey],
        now: Timestamp,
    ) -> Result<Vec<(SiteId, Receipt)>, StoreError> {
        // one snapshot: a receipt must not join a highest number with older gaps
        let mut transaction = self.database.reader().begin_snapshot().await?;
        let mut receipts = Vec::with_capacity(gateways.len());
        for gateway in gateways {
            receipts.extend(receipt(&mut transaction.connection(), gateway, now).await?);
        }
        Ok(receipts)
    }

    /// Counts gaps noticed before `before` as lost; tells how many events that are.
    pub async fn lose_gaps(&self, before: Timestamp) -> Result<u64, StoreError> {
        let mut transaction = self.database.write().await?;
        let mut connection = transaction.connection();
        let before = before.unix_ms();
        connection.query(&LOCK_GATEWAYS_WITH_OLD_GAPS).bind(before).fetch_all().await?;
        let lost = connection
            .query(
                "UPDATE sequence_gaps SET lost = TRUE WHERE NOT lost AND noticed_at_ms < $1
                 RETURNING site, gateway_id, last_sequence - first_sequence + 1",
            )
            .bind(before)
            .fetch_all()
            .await?;
        let mut total = 0;
        for row in &lost {
            let gateway = key_of(row)?;
            let count: i64 = row.get(2)?;
            connection
                .query(
                    "UPDATE gateways SET lost_events = lost_events + $1
                     WHERE site = $2 AND gateway_id = $3",
                )
                .bind(count)
                .bind_gateway(&gateway)
                .execute()
                .await?;
            log::events_lost(&gateway, count);
            total += count.unsigned_abs();
        }
        transaction.commit().await?;
        Ok(total)
    }

    /// Numbers that are asked for and were noticed to be missing before `before`, by gateway.
    pub async fn old_gaps(&self, before: Timestamp) -> Result<Vec<OldGaps>, StoreError> {
        let mut reader = self.database.read().await?;
        let query = reader.query(
            "SELECT site, gateway_id, CAST(sum(last_sequence - first_sequence + 1) AS BIGINT),
                    min(noticed_at_ms)
             FROM sequence_gaps WHERE NOT lost AND noticed_at_ms < $1
             GROUP BY site, gateway_id ORDER BY site, gateway_id",
        );
        let rows = query.bind(before.unix_ms()).fetch_all().await?;
        let gaps = |row: &Row| {
            Ok(OldGaps {
                gateway: key_of(row)?,
                events: row.get::<i64>(2)?.unsigned_abs(),
                since: time_of(row.get(3)?)?,
            })
        };
        Ok(rows.iter().map(gaps).filter_map(readable).collect())
    }

    /// Every gateway that has ever sent something, in the order of their names.
    pub async fn gateways(&self) -> Result<Vec<GatewayState>, StoreError> {
        let mut reader = self.database.read().await?;
        let query = reader.query(
            "SELECT site, gateway_id, last_event_at_ms, presence, presence_at_ms, lost_events,
                    highest_sequence, proven, lost_told, trouble, trouble_at_ms, twin_at_ms
             FROM gateways ORDER BY site, gateway_id",
        );
        let rows = query.fetch_all().await?;
        Ok(rows.iter().map(state_of).filter_map(readable).collect())
    }

    /// Every bearing that belongs to the gateway of its first event, in the order of their names.
    pub async fn bearing_owners(&self) -> Result<Vec<(BearingKey, GatewayKey)>, StoreError> {
        let mut reader = self.database.read().await?;
        let query =
            reader.query("SELECT bearing, site, gateway_id FROM bearing_gateways ORDER BY bearing");
        Ok(query.fetch_all().await?.iter().map(pins::owner_of).filter_map(readable).collect())
    }

    /// Every bearing that was judged, or that a gateway has claimed by its events.
    pub async fn known_bearings(&self) -> Result<Vec<BearingKey>, StoreError> {
        let mut reader = self.database.read().await?;
        let query = reader.query("SELECT site, equipment_id, bearing_id FROM bearings");
        let judged = query.fetch_all().await?;
        let judged = judged.iter().map(crate::database::Row::key).filter_map(readable);
        let claimed = self.bearing_owners().await?.into_iter().map(|(key, _)| key);
        let all: BTreeSet<BearingKey> = judged.chain(claimed).collect();
        Ok(all.into_iter().collect())
    }

    /// Lets the next event decide which gateway a bearing belongs to. False if it belongs to none.
    pub async fn release_bearing(&self, bearing: &BearingKey) -> Result<bool, StoreError> {
        let mut transaction = self.database.write().await?;
        let is_released = pins::release_bearing(&mut transaction.connection(), bearing).await?;
        transaction.commit().await?;
        Ok(is_released)
    }

    /// Forgets how a gateway has proven itself: the topic and the count of sequence numbers of its
    /// next events and status are taken as they are. False if the gateway is not known.
    pub async fn release_gateway(&self, gateway: &GatewayKey) -> Result<bool, StoreError> {
        let mut transaction = self.database.write().await?;
        let is_released = pins::release_gateway(&mut transaction.connection(), gateway).await?;
        transaction.commit().await?;
        Ok(is_released)
    }

    /// Events that are refused, by gateway, bearing and cause, in this order.
    pub async fn refused(&self) -> Result<Vec<RefusedEvents>, StoreError> {
        refusals::all(&mut self.database.read().await?.connection()).await
    }

    /// Notes that staff was told of these refused events at `now`.
    pub async fn note_refusals_told(
        &self,
        told: &[RefusedEvents],
        now: Timestamp,
    ) -> Result<(), StoreError> {
        let mut transaction = self.database.write().await?;
        refusals::note_told(&mut transaction.connection(), told, now).await?;
        transaction.commit().await
    }

    /// Notes that staff was told of `now` lost events of a gateway; returns true if it had been
    /// told of `before`.
    pub async fn note_lost_told(
        &self,
        gateway: &GatewayKey,
        before: u64,
        now: u64,
    ) -> Result<bool, StoreError> {
        let mut transaction = self.database.write().await?;
        let changed = transaction
            .connection()
            .query(
                "UPDATE gateways SET lost_told = $3
                 WHERE site = $1 AND gateway_id = $2 AND lost_told = $4",
            )
            .bind_gateway(gateway)
            .bind(sequence_of(now)?)
            .bind(sequence_of(before)?)
            .execute()
            .await?;
        transaction.commit().await?;
        Ok(changed > 0)
    }

    /// Forgets refused events: they are taken now, or came no more for long.
    pub async fn forget_refused(&self, over: &[RefusedEvents]) -> Result<(), StoreError> {
        let mut transaction = self.database.write().await?;
        refusals::forget(&mut transaction.connection(), over).await?;
        transaction.commit().await
    }
}

/// The gateway that the first two columns name. A name that an earlier version took and this one
/// refuses is shown in the nearest form that it takes.
fn key_of(row: &Row) -> Result<GatewayKey, StoreError> {
    Ok(GatewayKey::new(SiteId::from_any(row.get(0)?), GatewayId::from_any(row.get(1)?)))
}

fn state_of(row: &Row) -> Result<GatewayState, StoreError> {
    let presence = match (row.get::<Option<&str>>(3)?, row.get::<Option<i64>>(4)?) {
        (Some(word), Some(at)) => {
            Some((json_of("a presence", &format!("\"{word}\""))?, time_of(at)?))
        }
        _ => None,
    };
    Ok(GatewayState {
        gateway: key_of(row)?,
        highest_sequence: row.get::<i64>(6)?.unsigned_abs(),
        proven: row.get(7)?,
        last_event_at: row.get::<Option<i64>>(2)?.map(time_of).transpose()?,
        presence,
        lost_events: row.get::<i64>(5)?.unsigned_abs(),
        lost_told: row.get::<i64>(8)?.unsigned_abs(),
        trouble: match (row.get::<Option<String>>(9)?, row.get::<Option<i64>>(10)?) {
            (Some(trouble), Some(at)) => Some((trouble, time_of(at)?)),
            _ => None,
        },
        twin_at: row.get::<Option<i64>>(11)?.map(time_of).transpose()?,
    })
}

/// Returns the receipt of one gateway; `None` if it has never sent an event or status.
async fn receipt(
    connection: &mut Connection<'_>,
    gateway: &GatewayKey,
    now: Timestamp,
) -> Result<Option<(SiteId, Receipt)>, StoreError> {
    let Some(record) = record(connection, gateway).await? else { return Ok(None) };
    let gaps = connection
        .query(
            "SELECT first_sequence, last_sequence FROM sequence_gaps
             WHERE site = $1 AND gateway_id = $2 AND NOT lost ORDER BY first_sequence LIMIT $3",
        )
        .bind_gateway(gateway)
        .bind(MAX_GAPS_IN_RECEIPT)
        .fetch_all()
        .await?;
    let missing = gaps
        .iter()
        .map(|gap| Ok([gap.get::<i64>(0)?.unsigned_abs(), gap.get::<i64>(1)?.unsigned_abs()]));
    let missing = missing.collect::<Result<Vec<[u64; 2]>, StoreError>>()?;
    let stored_through = missing.first().map_or(record.highest, |gap| gap[0].saturating_sub(1));
    let receipt = Receipt {
        schema: RECEIPT_SCHEMA.to_owned(),
        gateway_id: gateway.gateway.clone(),
        epoch: record.epoch,
        stored_through,
        missing,
        at: now,
    };
    Ok(Some((gateway.site.clone(), receipt)))
}

const BOOKS: &str =
    "SELECT highest_sequence, epoch, epoch_before, told_through, proven, rival_epoch,
            last_event_at_ms
     FROM gateways WHERE site = $1 AND gateway_id = $2";

/// Selects the same as [`BOOKS`], and locks the row until the transaction ends. SQLite has one
/// writer.
static LOCKED_BOOKS: LazyLock<Spelt> = LazyLock::new(|| {
    Spelt::each(|dialect| match dialect {
        Dialect::Sqlite => BOOKS.to_owned(),
        Dialect::Postgres => format!("{BOOKS} FOR UPDATE"),
    })
});

async fn record(
    connection: &mut Connection<'_>,
    gateway: &GatewayKey,
) -> Result<Option<GatewayRecord>, StoreError> {
    let row = connection.query(BOOKS).bind_gateway(gateway).fetch_optional().await?;
    row.as_ref().map(record_of).transpose()
}

fn record_of(row: &Row) -> Result<GatewayRecord, StoreError> {
    Ok(GatewayRecord {
        highest: row.get::<i64>(0)?.unsigned_abs(),
        epoch: row.get::<Option<Uuid>>(1)?.map(Epoch),
        epoch_before: row.get::<Option<Uuid>>(2)?.map(Epoch),
        told_through: row.get::<i64>(3)?.unsigned_abs(),
        proven: row.get(4)?,
        rival: row.get::<Option<Uuid>>(5)?.map(Epoch),
        heard_at_ms: row.get(6)?,
    })
}

/// Locks those of these gateways that are known, in the order of their names, so that two writers
/// never wait for each other; tells what is known of each.
pub(super) async fn lock(
    connection: &mut Connection<'_>,
    gateways: &BTreeSet<GatewayKey>,
) -> Result<BTreeMap<GatewayKey, GatewayRecord>, StoreError> {
    let mut known = BTreeMap::new();
    for gateway in gateways {
        let query = connection.query(&LOCKED_BOOKS).bind_gateway(gateway);
        if let Some(row) = query.fetch_optional().await? {
            known.insert(gateway.clone(), record_of(&row)?);
        }
    }
    Ok(known)
}

/// Makes the row of a gateway whose first event was admitted, and locks it; tells its highest
/// number.
pub(super) async fn begin(
    connection: &mut Connection<'_>,
    gateway: &GatewayKey,
) -> Result<u64, StoreError> {
    // the update, which changes nothing, locks a row that another writer has just made
    let row = connection
        .query(
            "INSERT INTO gateways (site, gateway_id) VALUES ($1, $2)
             ON CONFLICT (site, gateway_id) DO UPDATE SET site = gateways.site
             RETURNING highest_sequence",
        )
        .bind_gateway(gateway)
        .fetch_one()
        .await?;
    Ok(row.get::<i64>(0)?.unsigned_abs())
}

/// Whether a status is the last word of a gateway that was taken out: the broker may keep it for
/// ever. One that is online is there again.
pub(super) async fn is_forgotten(
    connection: &mut Connection<'_>,
    gateway: &GatewayKey,
    presence: Presence,
) -> Result<bool, StoreError> {
    let statement = match presence {
        Presence::Offline => "SELECT 1 FROM forgotten_gateways WHERE site = $1 AND gateway_id = $2",
        Presence::Online => "DELETE FROM forgotten_gateways WHERE site = $1 AND gateway_id = $2",
    };
    let query = connection.query(statement).bind_gateway(gateway);
    match presence {
        Presence::Offline => Ok(query.fetch_optional().await?.is_some()),
        Presence::Online => query.execute().await.map(|_| false),
    }
}

/// Gateways of which no event is stored that are kept. Chosen: those of the largest plant of the
/// benchmarks, which all say that they are there before their first events.
pub(super) const STRANGERS: i64 = 256;

/// Whether a status may make a gateway known: one that is there already, or one of so many that
/// have sent no event.
pub(super) async fn has_room(
    connection: &mut Connection<'_>,
    gateway: &GatewayKey,
) -> Result<bool, StoreError> {
    let query = connection.query("SELECT 1 FROM gateways WHERE site = $1 AND gateway_id = $2");
    if query.bind_gateway(gateway).fetch_optional().await?.is_some() {
        return Ok(true);
    }
    let query = connection.query("SELECT count(*) FROM gateways WHERE last_event_at_ms IS NULL");
    Ok(query.fetch_one().await?.get::<i64>(0)? < STRANGERS)
}

/// Notes that a gateway's events come under a topic that names it; nothing is demanded by that.
pub(super) async fn note_proof(
    connection: &mut Connection<'_>,
    gateway: &GatewayKey,
) -> Result<(), StoreError> {
    let query =
        connection.query("UPDATE gateways SET proven = TRUE WHERE site = $1 AND gateway_id = $2");
    query.bind_gateway(gateway).execute().await?;
    log::gateway_proven(gateway);
    Ok(())
}

/// Takes over what a gateway's birth document says of its count of sequence numbers.
///
/// The first count that a gateway names goes on from what is stored of it, if that can be; another
/// one is followed from its first number, and the events of the count before are kept when they
/// still come. While they come, within `silent_s` of `now`, the other one is a rival: whoever can
/// write the status may have named it, so it is kept beside the first. True if it is one.
pub(super) async fn note_count(
    connection: &mut Connection<'_>,
    gateway: &GatewayKey,
    status: &GatewayStatus,
    (now, silent_s): (Timestamp, f64),
) -> Result<bool, StoreError> {
    let Some(before) = lock(connection, &BTreeSet::from([gateway.clone()])).await?.remove(gateway)
    else {
        return Ok(false);
    };
    let told = status.last_sequence.unwrap_or(0).min(HIGHEST_SEQUENCE);
    let first = status.first_sequence.unwrap_or(1).clamp(1, told.saturating_add(1));
    let Some(epoch) = status.epoch.filter(|epoch| before.epoch != Some(*epoch)) else {
        // of a version without counts, or the same count again
        let query = connection
            .query("UPDATE gateways SET told_through = $3 WHERE site = $1 AND gateway_id = $2");
        query.bind_gateway(gateway).bind(sequence_of(told)?).execute().await?;
        return Ok(false);
    };
    if before.epoch.is_some() && before.is_heard(now.unix_ms(), silent_s) {
        let query = connection
            .query("UPDATE gateways SET rival_epoch = $3 WHERE site = $1 AND gateway_id = $2");
        query.bind_gateway(gateway).bind(epoch.0).execute().await?;
        log::rival_count(gateway, silent_s);
        return Ok(true);
    }
    let goes_on = before.epoch.is_none()
        && (before.highest <= told || has_brought(connection, gateway, status, epoch).await?);
    let highest = if goes_on { before.highest } else { first.saturating_sub(1) };
    if !goes_on {
        let query =
            connection.query("DELETE FROM sequence_gaps WHERE site = $1 AND gateway_id = $2");
        query.bind_gateway(gateway).execute().await?;
        log::count_restarted(gateway, first);
    }
    connection
        .query(
            "UPDATE gateways SET epoch_before = epoch, epoch = $3, told_through = $4,
                                 highest_sequence = $5, rival_epoch = NULL
             WHERE site = $1 AND gateway_id = $2",
        )
        .bind_gateway(gateway)
        .bind(epoch.0)
        .bind(sequence_of(told)?)
        .bind(sequence_of(highest)?)
        .execute()
        .await?;
    Ok(false)
}

/// Bearings that are looked at for a gateway's count. All of them carry the same one.
const BEARINGS_LOOKED_AT: usize = 16;

/// Whether events of this count are stored: the last event of one of the gateway's bearings carries
/// it. That is the case after an update of the gateway before that of the agent, and where events
/// came before the status.
async fn has_brought(
    connection: &mut Connection<'_>,
    gateway: &GatewayKey,
    status: &GatewayStatus,
    epoch: Epoch,
) -> Result<bool, StoreError> {
    let epoch = epoch.to_string();
    for bearing in status.bearings.iter().take(BEARINGS_LOOKED_AT) {
        let Some((equipment, bearing)) = bearing.split_once('/') else { continue };
        let query = connection.query(
            "SELECT payload FROM events
             WHERE site = $1 AND gateway_id = $2 AND equipment_id = $3 AND bearing_id = $4
             ORDER BY measured_at_ms DESC LIMIT 1",
        );
        let last =
            query.bind_gateway(gateway).bind(equipment).bind(bearing).fetch_optional().await?;
        if let Some(row) = last
            && row.get::<&str>(0)?.contains(&epoch)
        {
            return Ok(true);
        }
    }
    Ok(false)
}
