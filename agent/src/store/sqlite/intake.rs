//! Storing a batch: events once each, sequences, presence, acknowledgements, refused messages.

use pdm_shared::clock::Timestamp;
use pdm_shared::delivery::{Acknowledgement, DeadLetter, GatewayStatus};
use pdm_shared::event::Event;
use pdm_shared::id::{EventId, SiteId};
use sqlx::{Row, SqliteConnection, SqlitePool};

use super::{gateways, outbox, to_json, to_word};
use crate::progress::BearingKey;
use crate::store::{Incoming, MAX_DEAD_LETTERS, Outgoing, StoreError, Stored, fingerprint};

pub(super) async fn store(
    pool: &SqlitePool,
    batch: &[Incoming],
    now: Timestamp,
    dead_letter_topic: &str,
) -> Result<Stored, StoreError> {
    let mut stored = Stored::default();
    let mut transaction = pool.begin_with("BEGIN IMMEDIATE").await?;
    for incoming in batch {
        match incoming {
            Incoming::Event { event, payload } => {
                if insert_event(&mut transaction, event, payload, now).await? {
                    gateways::note_event(&mut transaction, event, now).await?;
                    stored.events += 1;
                } else {
                    stored.duplicates += 1;
                }
                *stored.gateways.entry(event.gateway_id.clone()).or_default() += 1;
            }
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

/// True if the event is new.
async fn insert_event(
    connection: &mut SqliteConnection,
    event: &Event,
    payload: &str,
    now: Timestamp,
) -> Result<bool, StoreError> {
    let sequence = i64::try_from(event.sequence)
        .map_err(|error| StoreError::Content { what: "a sequence", reason: error.to_string() })?;
    let done = sqlx::query(
        "INSERT INTO events (event_id, gateway_id, sequence, site, equipment_id, bearing_id,
                             measured_at_ms, received_at_ms, payload)
         VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (event_id) DO NOTHING",
    )
    .bind(event.event_id.0.as_bytes().as_slice())
    .bind(event.gateway_id.as_str())
    .bind(sequence)
    .bind(event.site.as_str())
    .bind(event.equipment_id.as_str())
    .bind(event.bearing_id.as_str())
    .bind(event.measured_at.unix_ms())
    .bind(now.unix_ms())
    .bind(payload)
    .execute(connection)
    .await?;
    Ok(done.rows_affected() == 1)
}

async fn note_status(
    connection: &mut SqliteConnection,
    site: &SiteId,
    status: &GatewayStatus,
    now: Timestamp,
) -> Result<(), StoreError> {
    sqlx::query(
        "INSERT INTO gateways (gateway_id, site, presence, presence_at_ms) VALUES (?, ?, ?, ?)
         ON CONFLICT (gateway_id) DO UPDATE
         SET presence_at_ms = CASE WHEN presence IS excluded.presence
                              THEN presence_at_ms ELSE excluded.presence_at_ms END,
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
    connection: &mut SqliteConnection,
    key: &BearingKey,
    ack: &Acknowledgement,
    now: Timestamp,
) -> Result<(), StoreError> {
    let id = ack.notification_id.map(|id| id.as_bytes().to_vec());
    sqlx::query(
        "INSERT INTO acknowledgements (site, equipment_id, bearing_id, notification_id, by_whom,
                                       at_ms, received_at_ms, note)
         VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
    )
    .bind(key.site.as_str())
    .bind(key.equipment.as_str())
    .bind(key.bearing.as_str())
    .bind(&id)
    .bind(&ack.by)
    .bind(ack.at.unix_ms())
    .bind(now.unix_ms())
    .bind(&ack.note)
    .execute(&mut *connection)
    .await?;
    // the standing alarm's own notification, or an earlier one of the same level that was repeated
    sqlx::query(
        "UPDATE alarms SET acknowledged_at_ms = ?1, acknowledged_by = ?2, repeat_at_ms = NULL
         WHERE site = ?3 AND equipment_id = ?4 AND bearing_id = ?5 AND acknowledged_at_ms IS NULL
           AND (?6 IS NULL OR notification_id = ?6 OR EXISTS (
                SELECT 1 FROM notifications told
                WHERE told.notification_id = ?6 AND told.site = ?3 AND told.equipment_id = ?4
                  AND told.bearing_id = ?5 AND told.risk_level = alarms.risk_level))",
    )
    .bind(now.unix_ms())
    .bind(&ack.by)
    .bind(key.site.as_str())
    .bind(key.equipment.as_str())
    .bind(key.bearing.as_str())
    .bind(&id)
    .execute(connection)
    .await?;
    Ok(())
}

/// True if the message was not refused before.
async fn refuse(
    connection: &mut SqliteConnection,
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
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?6, 1)
         ON CONFLICT (fingerprint) DO UPDATE
         SET count = count + 1, last_at_ms = excluded.last_at_ms
         RETURNING count",
    )
    .bind(fingerprint)
    .bind(&letter.topic)
    .bind(&letter.reason)
    .bind(&letter.payload_head)
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
            payload: to_json("a dead letter", letter)?,
            due_at: letter.received_at,
        };
        outbox::insert(connection, &row, letter.received_at).await?;
    }
    Ok(count == 1)
}

async fn is_known(connection: &mut SqliteConnection, fingerprint: i64) -> Result<bool, StoreError> {
    Ok(sqlx::query("SELECT 1 FROM dead_letters WHERE fingerprint = ?")
        .bind(fingerprint)
        .fetch_optional(connection)
        .await?
        .is_some())
}
