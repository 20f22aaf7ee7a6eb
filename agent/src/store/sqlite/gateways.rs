//! Sequences of gateways: the highest number seen, and what is missing below it.
//!
//! A number below the highest that is no gap, with a new event id, means that the gateway began to
//! count anew (its spool was lost or replaced): the sequence is then followed from there.

use pdm_shared::clock::Timestamp;
use pdm_shared::delivery::{RECEIPT_SCHEMA, Receipt};
use pdm_shared::event::Event;
use pdm_shared::id::{GatewayId, SiteId};
use sqlx::{Row, SqliteConnection, SqlitePool};

use super::{json_of, time_of, word_of};
use crate::store::{GatewayState, MAX_GAPS_IN_RECEIPT, StoreError};

/// Follows the sequence of a new event's gateway.
pub(super) async fn note_event(
    connection: &mut SqliteConnection,
    event: &Event,
    now: Timestamp,
) -> Result<(), StoreError> {
    let gateway = event.gateway_id.as_str();
    let sequence = event.sequence.cast_signed();
    let highest: i64 = sqlx::query("SELECT highest_sequence FROM gateways WHERE gateway_id = ?")
        .bind(gateway)
        .fetch_optional(&mut *connection)
        .await?
        .map_or(0, |row| row.get(0));
    let mut next = highest.max(sequence);
    if sequence > highest {
        add_gap(connection, gateway, highest + 1, sequence - 1, now).await?;
    } else if !close_gap(connection, gateway, sequence).await? {
        tracing::warn!(gateway, sequence, highest, "the gateway counts anew, following it");
        sqlx::query("DELETE FROM sequence_gaps WHERE gateway_id = ?")
            .bind(gateway)
            .execute(&mut *connection)
            .await?;
        add_gap(connection, gateway, 1, sequence - 1, now).await?;
        next = sequence;
    }
    sqlx::query(
        "INSERT INTO gateways (gateway_id, site, highest_sequence, last_event_at_ms)
         VALUES (?1, ?2, ?3, ?4)
         ON CONFLICT (gateway_id) DO UPDATE SET highest_sequence = ?3, last_event_at_ms = ?4",
    )
    .bind(gateway)
    .bind(event.site.as_str())
    .bind(next)
    .bind(now.unix_ms())
    .execute(connection)
    .await?;
    Ok(())
}

async fn add_gap(
    connection: &mut SqliteConnection,
    gateway: &str,
    first: i64,
    last: i64,
    now: Timestamp,
) -> Result<(), StoreError> {
    if first > last {
        return Ok(());
    }
    sqlx::query(
        "INSERT INTO sequence_gaps (gateway_id, first_sequence, last_sequence, noticed_at_ms)
         VALUES (?, ?, ?, ?)",
    )
    .bind(gateway)
    .bind(first)
    .bind(last)
    .bind(now.unix_ms())
    .execute(connection)
    .await?;
    Ok(())
}

/// Takes `sequence` out of the gap it lies in; false if it lies in none.
async fn close_gap(
    connection: &mut SqliteConnection,
    gateway: &str,
    sequence: i64,
) -> Result<bool, StoreError> {
    let Some(row) = sqlx::query(
        "DELETE FROM sequence_gaps
         WHERE gateway_id = ?1 AND first_sequence <= ?2 AND last_sequence >= ?2
         RETURNING first_sequence, last_sequence, noticed_at_ms, lost",
    )
    .bind(gateway)
    .bind(sequence)
    .fetch_optional(&mut *connection)
    .await?
    else {
        return Ok(false);
    };
    let (first, last): (i64, i64) = (row.get(0), row.get(1));
    let (noticed, lost): (i64, i64) = (row.get(2), row.get(3));
    for (first, last) in [(first, sequence - 1), (sequence + 1, last)] {
        if first <= last {
            sqlx::query("INSERT INTO sequence_gaps VALUES (?, ?, ?, ?, ?)")
                .bind(gateway)
                .bind(first)
                .bind(last)
                .bind(noticed)
                .bind(lost)
                .execute(&mut *connection)
                .await?;
        }
    }
    if lost != 0 {
        sqlx::query("UPDATE gateways SET lost_events = lost_events - 1 WHERE gateway_id = ?")
            .bind(gateway)
            .execute(connection)
            .await?;
    }
    Ok(true)
}

pub(super) async fn receipts(
    pool: &SqlitePool,
    gateways: &[GatewayId],
    now: Timestamp,
) -> Result<Vec<(SiteId, Receipt)>, StoreError> {
    // one snapshot: a receipt must not join a highest number with older gaps
    let mut transaction = pool.begin().await?;
    let mut receipts = Vec::with_capacity(gateways.len());
    for gateway in gateways {
        let row = sqlx::query("SELECT site, highest_sequence FROM gateways WHERE gateway_id = ?")
            .bind(gateway.as_str())
            .fetch_optional(&mut *transaction)
            .await?;
        let Some(row) = row else { continue };
        let highest: i64 = row.get(1);
        let gaps = sqlx::query(
            "SELECT first_sequence, last_sequence FROM sequence_gaps
             WHERE gateway_id = ? AND lost = 0 ORDER BY first_sequence LIMIT ?",
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

pub(super) async fn lose_gaps(pool: &SqlitePool, before: Timestamp) -> Result<u64, StoreError> {
    let mut transaction = pool.begin_with("BEGIN IMMEDIATE").await?;
    let lost = sqlx::query(
        "UPDATE sequence_gaps SET lost = 1 WHERE lost = 0 AND noticed_at_ms < ?
         RETURNING gateway_id, last_sequence - first_sequence + 1",
    )
    .bind(before.unix_ms())
    .fetch_all(&mut *transaction)
    .await?;
    let mut total = 0;
    for row in &lost {
        let (gateway, count): (&str, i64) = (row.get(0), row.get(1));
        tracing::warn!(gateway, count, "events were asked for and never came: counted as lost");
        sqlx::query("UPDATE gateways SET lost_events = lost_events + ? WHERE gateway_id = ?")
            .bind(count)
            .bind(gateway)
            .execute(&mut *transaction)
            .await?;
        total += count.unsigned_abs();
    }
    transaction.commit().await?;
    Ok(total)
}

pub(super) async fn list(pool: &SqlitePool) -> Result<Vec<GatewayState>, StoreError> {
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
