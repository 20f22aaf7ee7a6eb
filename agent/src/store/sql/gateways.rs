//! Gateways: how far each sequence is stored, what is missing, whether the gateway is online.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use async_trait::async_trait;
use pdm_shared::delivery::{RECEIPT_SCHEMA, Receipt};
use pdm_shared::event::Event;
use pdm_shared::id::{GatewayId, SiteId};
use pdm_shared::time::Timestamp;

use super::SqlStore;
use crate::store::database::{Connection, Dialect, Row, Spelt};
use crate::store::encoding::{json_of, sequence_of, time_of, word_of};
use crate::store::sequence::{Gap, Sequence};
use crate::store::{GatewayState, GatewayStore, MAX_GAPS_IN_RECEIPT, StoreError, log};

/// Parameter: before. Locks the gateways of old gaps in the order of their names, because storing
/// events locks gateways before gaps and in this order: two transactions never wait for each other.
/// SQLite has one writer and nothing to lock.
static LOCK_GATEWAYS_WITH_OLD_GAPS: LazyLock<Spelt> = LazyLock::new(|| {
    Spelt::each(|dialect| match dialect {
        Dialect::Sqlite => "SELECT 1 WHERE $1 IS NULL".to_owned(),
        Dialect::Postgres => "SELECT gateway_id FROM gateways WHERE gateway_id IN (
                 SELECT gateway_id FROM sequence_gaps WHERE NOT lost AND noticed_at_ms < $1)
             ORDER BY gateway_id FOR UPDATE"
            .to_owned(),
    })
});

#[async_trait]
impl GatewayStore for SqlStore {
    async fn receipts(
        &self,
        gateways: &[GatewayId],
        now: Timestamp,
    ) -> Result<Vec<(SiteId, Receipt)>, StoreError> {
        // one snapshot: a receipt must not join a highest number with older gaps
        let mut transaction = self.reader().begin_snapshot().await?;
        let mut receipts = Vec::with_capacity(gateways.len());
        for gateway in gateways {
            receipts.extend(receipt(&mut transaction.connection(), gateway, now).await?);
        }
        Ok(receipts)
    }

    async fn lose_gaps(&self, before: Timestamp) -> Result<u64, StoreError> {
        let mut transaction = self.write().await?;
        let mut connection = transaction.connection();
        let before = before.unix_ms();
        connection.query(&LOCK_GATEWAYS_WITH_OLD_GAPS).bind(before).fetch_all().await?;
        let lost = connection
            .query(
                "UPDATE sequence_gaps SET lost = TRUE WHERE NOT lost AND noticed_at_ms < $1
                 RETURNING gateway_id, last_sequence - first_sequence + 1",
            )
            .bind(before)
            .fetch_all()
            .await?;
        let mut total = 0;
        for row in &lost {
            let (gateway, count): (&str, i64) = (row.get(0)?, row.get(1)?);
            connection
                .query("UPDATE gateways SET lost_events = lost_events + $1 WHERE gateway_id = $2")
                .bind(count)
                .bind(gateway)
                .execute()
                .await?;
            log::events_lost(gateway, count);
            total += count.unsigned_abs();
        }
        transaction.commit().await?;
        Ok(total)
    }

    async fn gateways(&self) -> Result<Vec<GatewayState>, StoreError> {
        let mut reader = self.read().await?;
        let query = reader.query(
            "SELECT site, gateway_id, last_event_at_ms, presence, presence_at_ms, lost_events
             FROM gateways ORDER BY gateway_id",
        );
        query.fetch_all().await?.iter().map(state_of).collect()
    }
}

fn state_of(row: &Row) -> Result<GatewayState, StoreError> {
    let presence = match (row.get::<Option<&str>>(3)?, row.get::<Option<i64>>(4)?) {
        (Some(word), Some(at)) => {
            Some((json_of("a presence", &format!("\"{word}\""))?, time_of(at)?))
        }
        _ => None,
    };
    Ok(GatewayState {
        site: word_of("a site", row.get(0)?)?,
        gateway: word_of("a gateway", row.get(1)?)?,
        last_event_at: row.get::<Option<i64>>(2)?.map(time_of).transpose()?,
        presence,
        lost_events: row.get::<i64>(5)?.unsigned_abs(),
    })
}

/// The receipt of one gateway; none if it has never sent an event or status.
async fn receipt(
    connection: &mut Connection<'_>,
    gateway: &GatewayId,
    now: Timestamp,
) -> Result<Option<(SiteId, Receipt)>, StoreError> {
    let query =
        connection.query("SELECT site, highest_sequence FROM gateways WHERE gateway_id = $1");
    let Some(row) = query.bind(gateway.as_str()).fetch_optional().await? else { return Ok(None) };
    let highest: i64 = row.get(1)?;
    let gaps = connection
        .query(
            "SELECT first_sequence, last_sequence FROM sequence_gaps
             WHERE gateway_id = $1 AND NOT lost ORDER BY first_sequence LIMIT $2",
        )
        .bind(gateway.as_str())
        .bind(MAX_GAPS_IN_RECEIPT)
        .fetch_all()
        .await?;
    let missing = gaps
        .iter()
        .map(|gap| Ok([gap.get::<i64>(0)?.unsigned_abs(), gap.get::<i64>(1)?.unsigned_abs()]));
    let missing = missing.collect::<Result<Vec<[u64; 2]>, StoreError>>()?;
    let stored_through = missing.first().map_or(highest.unsigned_abs(), |gap| gap[0] - 1);
    let receipt = Receipt {
        schema: RECEIPT_SCHEMA.to_owned(),
        gateway_id: gateway.clone(),
        stored_through,
        missing,
        at: now,
    };
    Ok(Some((word_of("a site", row.get(0)?)?, receipt)))
}

/// Locks the events' gateways in the order of their names, so that two writers never wait for each
/// other; tells the highest number of each.
pub(super) async fn lock(
    connection: &mut Connection<'_>,
    events: &[(&Event, &str)],
) -> Result<BTreeMap<GatewayId, i64>, StoreError> {
    let sites: BTreeMap<&GatewayId, &SiteId> =
        events.iter().map(|(event, _)| (&event.gateway_id, &event.site)).collect();
    let mut highest = BTreeMap::new();
    for (gateway, site) in sites {
        // the update, which changes nothing, locks a row that is there; no other transaction sees a
        // row that is new
        let row = connection
            .query(
                "INSERT INTO gateways (gateway_id, site) VALUES ($1, $2)
                 ON CONFLICT (gateway_id) DO UPDATE SET site = gateways.site
                 RETURNING highest_sequence",
            )
            .bind(gateway.as_str())
            .bind(site.as_str())
            .fetch_one()
            .await?;
        highest.insert(gateway.clone(), row.get(0)?);
    }
    Ok(highest)
}

/// Follows one gateway's sequence through its events in their order; each comes with whether it is new.
pub(super) async fn follow(
    connection: &mut Connection<'_>,
    gateway: &GatewayId,
    highest: i64,
    events: &[(&Event, bool)],
    now: Timestamp,
) -> Result<(), StoreError> {
    let numbers = events
        .iter()
        .map(|(event, is_new)| Ok((sequence_of(event.sequence)?, *is_new)))
        .collect::<Result<Vec<(i64, bool)>, StoreError>>()?;
    let (Some((least, _)), Some((most, _))) = (numbers.iter().min(), numbers.iter().max()) else {
        return Ok(());
    };
    let gaps = gaps_between(connection, gateway, *least, *most).await?;
    let mut sequence = Sequence::new(highest, gaps);
    let mut moved = false;
    for (number, is_new) in numbers {
        if !is_new {
            moved |= sequence.fill(number);
            continue;
        }
        moved = true;
        if !sequence.follow(number, now.unix_ms()) {
            log::sequence_restarted(gateway, number);
        }
    }
    if moved { write(connection, gateway, sequence, now).await } else { Ok(()) }
}

async fn gaps_between(
    connection: &mut Connection<'_>,
    gateway: &GatewayId,
    least: i64,
    most: i64,
) -> Result<Vec<Gap>, StoreError> {
    let rows = connection
        .query(
            "SELECT first_sequence, last_sequence, noticed_at_ms, lost FROM sequence_gaps
             WHERE gateway_id = $1 AND first_sequence <= $2 AND last_sequence >= $3",
        )
        .bind(gateway.as_str())
        .bind(most)
        .bind(least)
        .fetch_all()
        .await?;
    let gap = |row: &Row| {
        Ok(Gap {
            first: row.get(0)?,
            last: row.get(1)?,
            noticed_at_ms: row.get(2)?,
            lost: row.get(3)?,
        })
    };
    rows.iter().map(gap).collect()
}

/// Writes how far a sequence has come and how its gaps have changed.
async fn write(
    connection: &mut Connection<'_>,
    gateway: &GatewayId,
    sequence: Sequence,
    now: Timestamp,
) -> Result<(), StoreError> {
    let (highest, changes) = sequence.finish();
    let gateway = gateway.as_str();
    if changes.anew {
        let query = connection.query("DELETE FROM sequence_gaps WHERE gateway_id = $1");
        query.bind(gateway).execute().await?;
    }
    for first in changes.removed {
        let query = connection
            .query("DELETE FROM sequence_gaps WHERE gateway_id = $1 AND first_sequence = $2");
        query.bind(gateway).bind(first).execute().await?;
    }
    for gap in changes.added {
        let query = connection.query("INSERT INTO sequence_gaps VALUES ($1, $2, $3, $4, $5)");
        let query = query.bind(gateway).bind(gap.first).bind(gap.last);
        query.bind(gap.noticed_at_ms).bind(gap.lost).execute().await?;
    }
    connection
        .query(
            "UPDATE gateways SET highest_sequence = $2, last_event_at_ms = $3,
                                 lost_events = lost_events - $4
             WHERE gateway_id = $1",
        )
        .bind(gateway)
        .bind(highest)
        .bind(now.unix_ms())
        .bind(changes.found)
        .execute()
        .await?;
    Ok(())
}
