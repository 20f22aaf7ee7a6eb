//! Gateways: how far each one's sequence is stored, what is missing, whether it is there.

use std::collections::BTreeMap;

use dialect::{Connection, Pool};
use pdm_shared::delivery::{RECEIPT_SCHEMA, Receipt};
use pdm_shared::event::Event;
use pdm_shared::id::{GatewayId, SiteId};
use pdm_shared::time::Timestamp;
use sqlx::Row as _;

use super::super::dialect;
use crate::store::encoding::{json_of, sequence_of, time_of, word_of};
use crate::store::sequence::{Gap, Sequence};
use crate::store::{GatewayState, MAX_GAPS_IN_RECEIPT, StoreError};

/// Locks the events' gateways in the order of their names, so that two writers never wait for each
/// other; tells each one's highest number.
pub(super) async fn lock(
    connection: &mut Connection,
    events: &[(&Event, &str)],
) -> Result<BTreeMap<GatewayId, i64>, StoreError> {
    let sites: BTreeMap<&GatewayId, &SiteId> =
        events.iter().map(|(event, _)| (&event.gateway_id, &event.site)).collect();
    let mut highest = BTreeMap::new();
    for (gateway, site) in sites {
        // an update locks the row, a new row is this transaction's own
        let row = sqlx::query(
            "INSERT INTO gateways (gateway_id, site) VALUES ($1, $2)
             ON CONFLICT (gateway_id) DO UPDATE SET site = gateways.site
             RETURNING highest_sequence",
        )
        .bind(gateway.as_str())
        .bind(site.as_str())
        .fetch_one(&mut *connection)
        .await?;
        highest.insert(gateway.clone(), row.get(0));
    }
    Ok(highest)
}

/// Follows one gateway's sequence through its events in their order; of each is said whether it is new.
pub(super) async fn follow(
    connection: &mut Connection,
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
            tracing::warn!(%gateway, number, "the gateway counts anew, following it");
        }
    }
    if moved { write(connection, gateway, sequence, now).await } else { Ok(()) }
}

async fn gaps_between(
    connection: &mut Connection,
    gateway: &GatewayId,
    least: i64,
    most: i64,
) -> Result<Vec<Gap>, StoreError> {
    let rows = sqlx::query(
        "SELECT first_sequence, last_sequence, noticed_at_ms, lost FROM sequence_gaps
         WHERE gateway_id = $1 AND first_sequence <= $2 AND last_sequence >= $3",
    )
    .bind(gateway.as_str())
    .bind(most)
    .bind(least)
    .fetch_all(connection)
    .await?;
    let gap = |row: &dialect::Row| Gap {
        first: row.get(0),
        last: row.get(1),
        noticed_at_ms: row.get(2),
        lost: row.get(3),
    };
    Ok(rows.iter().map(gap).collect())
}

async fn write(
    connection: &mut Connection,
    gateway: &GatewayId,
    sequence: Sequence,
    now: Timestamp,
) -> Result<(), StoreError> {
    let (highest, changes) = sequence.finish();
    if changes.anew {
        sqlx::query("DELETE FROM sequence_gaps WHERE gateway_id = $1")
            .bind(gateway.as_str())
            .execute(&mut *connection)
            .await?;
    }
    for first in changes.removed {
        sqlx::query("DELETE FROM sequence_gaps WHERE gateway_id = $1 AND first_sequence = $2")
            .bind(gateway.as_str())
            .bind(first)
            .execute(&mut *connection)
            .await?;
    }
    for gap in changes.added {
        sqlx::query("INSERT INTO sequence_gaps VALUES ($1, $2, $3, $4, $5)")
            .bind(gateway.as_str())
            .bind(gap.first)
            .bind(gap.last)
            .bind(gap.noticed_at_ms)
            .bind(gap.lost)
            .execute(&mut *connection)
            .await?;
    }
    sqlx::query(
        "UPDATE gateways SET highest_sequence = $2, last_event_at_ms = $3,
                             lost_events = lost_events - $4
         WHERE gateway_id = $1",
    )
    .bind(gateway.as_str())
    .bind(highest)
    .bind(now.unix_ms())
    .bind(changes.found)
    .execute(connection)
    .await?;
    Ok(())
}

pub(super) async fn receipts(
    pool: &Pool,
    gateways: &[GatewayId],
    now: Timestamp,
) -> Result<Vec<(SiteId, Receipt)>, StoreError> {
    // one snapshot: a receipt must not join a highest number with older gaps
    let mut transaction = dialect::begin_snapshot(pool).await?;
    let mut receipts = Vec::with_capacity(gateways.len());
    for gateway in gateways {
        let row = sqlx::query("SELECT site, highest_sequence FROM gateways WHERE gateway_id = $1")
            .bind(gateway.as_str())
            .fetch_optional(&mut *transaction)
            .await?;
        let Some(row) = row else { continue };
        let highest: i64 = row.get(1);
        let gaps = sqlx::query(
            "SELECT first_sequence, last_sequence FROM sequence_gaps
             WHERE gateway_id = $1 AND NOT lost ORDER BY first_sequence LIMIT $2",
        )
        .bind(gateway.as_str())
        .bind(MAX_GAPS_IN_RECEIPT)
        .fetch_all(&mut *transaction)
        .await?;
        let missing: Vec<[u64; 2]> = gaps
            .iter()
            .map(|gap| [gap.get::<i64, _>(0).unsigned_abs(), gap.get::<i64, _>(1).unsigned_abs()])
            .collect();
        let stored_through = missing.first().map_or(highest.unsigned_abs(), |gap| gap[0] - 1);
        receipts.push((
            word_of("a site", row.get(0))?,
            Receipt {
                schema: RECEIPT_SCHEMA.to_owned(),
                gateway_id: gateway.clone(),
                stored_through,
                missing,
                at: now,
            },
        ));
    }
    transaction.rollback().await?;
    Ok(receipts)
}

pub(super) async fn lose_gaps(pool: &Pool, before: Timestamp) -> Result<u64, StoreError> {
    let mut transaction = dialect::begin(pool).await?;
    // gateways first, as whoever stores events locks them first
    sqlx::query(dialect::LOCK_GATEWAYS_WITH_OLD_GAPS)
        .bind(before.unix_ms())
        .fetch_all(&mut *transaction)
        .await?;
    let lost = sqlx::query(
        "UPDATE sequence_gaps SET lost = TRUE WHERE NOT lost AND noticed_at_ms < $1
         RETURNING gateway_id, last_sequence - first_sequence + 1",
    )
    .bind(before.unix_ms())
    .fetch_all(&mut *transaction)
    .await?;
    let mut total = 0;
    for row in &lost {
        let (gateway, count): (&str, i64) = (row.get(0), row.get(1));
        tracing::warn!(gateway, count, "events were asked for and never came: counted as lost");
        sqlx::query("UPDATE gateways SET lost_events = lost_events + $1 WHERE gateway_id = $2")
            .bind(count)
            .bind(gateway)
            .execute(&mut *transaction)
            .await?;
        total += count.unsigned_abs();
    }
    transaction.commit().await?;
    Ok(total)
}

pub(super) async fn list(pool: &Pool) -> Result<Vec<GatewayState>, StoreError> {
    let rows = sqlx::query(
        "SELECT site, gateway_id, last_event_at_ms, presence, presence_at_ms, lost_events
         FROM gateways ORDER BY gateway_id",
    )
    .fetch_all(pool)
    .await?;
    rows.iter()
        .map(|row| {
            let presence = match (row.get::<Option<&str>, _>(3), row.get::<Option<i64>, _>(4)) {
                (Some(word), Some(at)) => {
                    Some((json_of("a presence", &format!("\"{word}\""))?, time_of(at)?))
                }
                _ => None,
            };
            Ok(GatewayState {
                site: word_of("a site", row.get(0))?,
                gateway: word_of("a gateway", row.get(1))?,
                last_event_at: row.get::<Option<i64>, _>(2).map(time_of).transpose()?,
                presence,
                lost_events: row.get::<i64, _>(5).unsigned_abs(),
            })
        })
        .collect()
}
