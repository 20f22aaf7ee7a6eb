//! Storing a batch: events once each, sequences, presence, acknowledgements, refused messages.

use std::collections::BTreeMap;

use dialect::{Connection, Pool};
use pdm_shared::delivery::{Acknowledgement, DeadLetter, GatewayStatus};
use pdm_shared::event::Event;
use pdm_shared::id::{BearingKey, EventId, GatewayId, SiteId};
use pdm_shared::time::Timestamp;
use sqlx::Row as _;

use super::super::{bulk, dialect};
use super::gateways;
use crate::store::encoding::{to_json, to_word};
use crate::store::{
    Incoming, MAX_DEAD_LETTERS, Outgoing, Payload, StoreError, Stored, fingerprint,
};

pub(super) async fn store(
    pool: &Pool,
    batch: &[Incoming],
    now: Timestamp,
    dead_letter_topic: &str,
) -> Result<Stored, StoreError> {
    let mut stored = Stored::default();
    let mut transaction = dialect::begin(pool).await?;
    store_events(&mut transaction, batch, now, &mut stored).await?;
    for incoming in batch {
        match incoming {
            Incoming::Event { .. } => {}
            Incoming::Status { site, status } => {
                note_status(&mut transaction, site, status, now).await?;
            }
            Incoming::Ack { key, ack } => acknowledge(&mut transaction, key, ack, now).await?,
            Incoming::Refused(letter) => {
                stored.letters +=
                    u64::from(refuse(&mut transaction, letter, dead_letter_topic).await?);
                stored.refused += 1;
            }
        }
    }
    transaction.commit().await?;
    Ok(stored)
}

async fn store_events(
    connection: &mut Connection,
    batch: &[Incoming],
    now: Timestamp,
    stored: &mut Stored,
) -> Result<(), StoreError> {
    let events: Vec<(&Event, &str)> = batch
        .iter()
        .filter_map(|incoming| match incoming {
            Incoming::Event { event, payload } => Some((event.as_ref(), payload.as_str())),
            Incoming::Status { .. } | Incoming::Ack { .. } | Incoming::Refused(_) => None,
        })
        .collect();
    if events.is_empty() {
        return Ok(());
    }
    let highest = gateways::lock(connection, &events).await?;
    let new = bulk::insert_events(connection, &events, now).await?;
    let mut by_gateway: BTreeMap<&GatewayId, Vec<(&Event, bool)>> = BTreeMap::new();
    for ((event, _), is_new) in events.iter().zip(new) {
        by_gateway.entry(&event.gateway_id).or_default().push((event, is_new));
        if is_new {
            stored.events += 1;
        } else {
            stored.duplicates += 1;
        }
        *stored.gateways.entry(event.gateway_id.clone()).or_default() += 1;
    }
    for (gateway, events) in by_gateway {
        let highest = highest.get(gateway).copied().unwrap_or(0);
        gateways::follow(connection, gateway, highest, &events, now).await?;
    }
    Ok(())
}

async fn note_status(
    connection: &mut Connection,
    site: &SiteId,
    status: &GatewayStatus,
    now: Timestamp,
) -> Result<(), StoreError> {
    sqlx::query(
        "INSERT INTO gateways (gateway_id, site, presence, presence_at_ms)
         VALUES ($1, $2, $3, $4)
         ON CONFLICT (gateway_id) DO UPDATE
         SET presence_at_ms = CASE WHEN gateways.presence IS NOT DISTINCT FROM excluded.presence
                              THEN gateways.presence_at_ms ELSE excluded.presence_at_ms END,
             presence = excluded.presence",
    )
    .bind(status.gateway_id.as_str())
    .bind(site.as_str())
    .bind(to_word("a presence", &status.status)?)
    .bind(now.unix_ms())
    .execute(connection)
    .await?;
    Ok(())
}

async fn acknowledge(
    connection: &mut Connection,
    key: &BearingKey,
    ack: &Acknowledgement,
    now: Timestamp,
) -> Result<(), StoreError> {
    let by = dialect::text(&ack.by);
    sqlx::query(
        "INSERT INTO acknowledgements (site, equipment_id, bearing_id, notification_id, by_whom,
                                       at_ms, received_at_ms, note)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8)",
    )
    .bind(key.site.as_str())
    .bind(key.equipment.as_str())
    .bind(key.bearing.as_str())
    .bind(ack.notification_id)
    .bind(by.as_ref())
    .bind(ack.at.unix_ms())
    .bind(now.unix_ms())
    .bind(ack.note.as_deref().map(dialect::text))
    .execute(&mut *connection)
    .await?;
    // the standing alarm's own notification, or an earlier one of the same level that was repeated
    sqlx::query(
        "UPDATE alarms SET acknowledged_at_ms = $1, acknowledged_by = $2, repeat_at_ms = NULL
         WHERE site = $3 AND equipment_id = $4 AND bearing_id = $5 AND acknowledged_at_ms IS NULL
           AND ($6 IS NULL OR notification_id = $6 OR EXISTS (
                SELECT 1 FROM notifications told
                WHERE told.notification_id = $6 AND told.site = $3 AND told.equipment_id = $4
                  AND told.bearing_id = $5 AND told.risk_level = alarms.risk_level))",
    )
    .bind(now.unix_ms())
    .bind(by.as_ref())
    .bind(key.site.as_str())
    .bind(key.equipment.as_str())
    .bind(key.bearing.as_str())
    .bind(ack.notification_id)
    .execute(connection)
    .await?;
    Ok(())
}

/// True if the message was not refused before.
async fn refuse(
    connection: &mut Connection,
    letter: &DeadLetter,
    topic: &str,
) -> Result<bool, StoreError> {
    let kept: i64 =
        sqlx::query("SELECT count(*) FROM dead_letters").fetch_one(&mut *connection).await?.get(0);
    let mut fingerprint = fingerprint::of_message(letter);
    if kept >= MAX_DEAD_LETTERS && !is_known(connection, fingerprint).await? {
        fingerprint = fingerprint::of_reason(letter);
    }
    let count: i64 = sqlx::query(
        "INSERT INTO dead_letters (fingerprint, topic, reason, payload_head, payload_bytes,
                                   first_at_ms, last_at_ms, count)
         VALUES ($1, $2, $3, $4, $5, $6, $6, 1)
         ON CONFLICT (fingerprint) DO UPDATE
         SET count = dead_letters.count + 1, last_at_ms = excluded.last_at_ms
         RETURNING count",
    )
    .bind(fingerprint)
    .bind(dialect::text(&letter.topic))
    .bind(dialect::text(&letter.reason))
    .bind(dialect::text(&letter.payload_head))
    .bind(i64::try_from(letter.payload_bytes).unwrap_or(i64::MAX))
    .bind(letter.received_at.unix_ms())
    .fetch_one(&mut *connection)
    .await?
    .get(0);
    if count == 1 {
        let row = Outgoing {
            key: EventId::at(letter.received_at.unix_ms()).0,
            lane: crate::notify::MQTT_LANE.to_owned(),
            topic: Some(topic.to_owned()),
            retain: false,
            notification_id: None,
            group: None,
            payload: Payload::Text(to_json("a dead letter", letter)?),
            due_at: letter.received_at,
        };
        bulk::insert_outbox(connection, &[(&row, letter.received_at)]).await?;
    }
    Ok(count == 1)
}

async fn is_known(connection: &mut Connection, fingerprint: i64) -> Result<bool, StoreError> {
    Ok(sqlx::query("SELECT 1 FROM dead_letters WHERE fingerprint = $1")
        .bind(fingerprint)
        .fetch_optional(connection)
        .await?
        .is_some())
}
