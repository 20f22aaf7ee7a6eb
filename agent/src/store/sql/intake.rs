//! Storing a batch: events once each, sequences, presence, acknowledgements, refused messages.

use std::collections::BTreeMap;

use async_trait::async_trait;
use pdm_shared::delivery::{Acknowledgement, DeadLetter, GatewayStatus};
use pdm_shared::event::Event;
use pdm_shared::id::{BearingKey, EventId, GatewayId, SiteId};
use pdm_shared::time::Timestamp;

use super::{Database, SqlStore, bulk, gateways};
use crate::store::database::Connection;
use crate::store::encoding::{to_json, to_word};
use crate::store::{
    Incoming, IntakeStore, MAX_DEAD_LETTERS, MQTT_LANE, Outgoing, Payload, StoreError, Stored,
    fingerprint,
};

#[async_trait]
impl IntakeStore for SqlStore {
    async fn store(
        &self,
        batch: &[Incoming],
        now: Timestamp,
        dead_letter_topic: &str,
    ) -> Result<Stored, StoreError> {
        if let Database::Postgres(server) = &self.database {
            server.make_partitions(batch, now).await?;
        }
        let mut stored = Stored::default();
        let mut transaction = self.write().await?;
        let mut connection = transaction.connection();
        store_events(&mut connection, batch, now, &mut stored).await?;
        for incoming in batch {
            match incoming {
                Incoming::Event { .. } => {}
                Incoming::Status { site, status } => {
                    note_status(&mut connection, site, status, now).await?;
                }
                Incoming::Ack { key, ack } => acknowledge(&mut connection, key, ack, now).await?,
                Incoming::Refused(letter) => {
                    let is_new = refuse(&mut connection, letter, dead_letter_topic).await?;
                    stored.letters += u64::from(is_new);
                    stored.refused += 1;
                }
            }
        }
        transaction.commit().await?;
        Ok(stored)
    }
}

async fn store_events(
    connection: &mut Connection<'_>,
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

/// Writes whether a gateway is online. The time changes with the presence only, so it says since when.
async fn note_status(
    connection: &mut Connection<'_>,
    site: &SiteId,
    status: &GatewayStatus,
    now: Timestamp,
) -> Result<(), StoreError> {
    connection
        .query(
            "INSERT INTO gateways (gateway_id, site, presence, presence_at_ms)
             VALUES ($1, $2, $3, $4)
             ON CONFLICT (gateway_id) DO UPDATE
             SET presence_at_ms =
                     CASE WHEN gateways.presence IS NOT DISTINCT FROM excluded.presence
                     THEN gateways.presence_at_ms ELSE excluded.presence_at_ms END,
                 presence = excluded.presence",
        )
        .bind(status.gateway_id.as_str())
        .bind(site.as_str())
        .bind(to_word("a presence", &status.status)?)
        .bind(now.unix_ms())
        .execute()
        .await?;
    Ok(())
}

/// Writes an acknowledgement and applies it to the standing alarm: if it names the alarm's last
/// notification, an earlier one of the same level that was repeated since, or none.
async fn acknowledge(
    connection: &mut Connection<'_>,
    key: &BearingKey,
    ack: &Acknowledgement,
    now: Timestamp,
) -> Result<(), StoreError> {
    let dialect = connection.dialect();
    let by = dialect.text(&ack.by);
    connection
        .query(
            "INSERT INTO acknowledgements (site, equipment_id, bearing_id, notification_id,
                                           by_whom, at_ms, received_at_ms, note)
             VALUES ($1, $2, $3, $4, $5, $6, $7, $8)",
        )
        .bind_key(key)
        .bind(ack.notification_id)
        .bind(by.as_ref())
        .bind(ack.at.unix_ms())
        .bind(now.unix_ms())
        .bind(ack.note.as_deref().map(|note| dialect.text(note)))
        .execute()
        .await?;
    connection
        .query(
            "UPDATE alarms SET acknowledged_at_ms = $4, acknowledged_by = $5, repeat_at_ms = NULL
             WHERE site = $1 AND equipment_id = $2 AND bearing_id = $3
               AND acknowledged_at_ms IS NULL
               AND ($6 IS NULL OR notification_id = $6 OR EXISTS (
                    SELECT 1 FROM notifications told
                    WHERE told.notification_id = $6 AND told.site = $1 AND told.equipment_id = $2
                      AND told.bearing_id = $3 AND told.risk_level = alarms.risk_level))",
        )
        .bind_key(key)
        .bind(now.unix_ms())
        .bind(by.as_ref())
        .bind(ack.notification_id)
        .execute()
        .await?;
    Ok(())
}

/// Counts a refused message; true if it was not refused before. A new one leaves as a dead letter.
async fn refuse(
    connection: &mut Connection<'_>,
    letter: &DeadLetter,
    topic: &str,
) -> Result<bool, StoreError> {
    let kept = connection.query("SELECT count(*) FROM dead_letters").fetch_one().await?;
    let mut fingerprint = fingerprint::of_message(letter);
    if kept.get::<i64>(0)? >= MAX_DEAD_LETTERS && !is_known(connection, fingerprint).await? {
        fingerprint = fingerprint::of_reason(letter);
    }
    let dialect = connection.dialect();
    let counted = connection
        .query(
            "INSERT INTO dead_letters (fingerprint, topic, reason, payload_head, payload_bytes,
                                       first_at_ms, last_at_ms, count)
             VALUES ($1, $2, $3, $4, $5, $6, $6, 1)
             ON CONFLICT (fingerprint) DO UPDATE
             SET count = dead_letters.count + 1, last_at_ms = excluded.last_at_ms
             RETURNING count",
        )
        .bind(fingerprint)
        .bind(dialect.text(&letter.topic))
        .bind(dialect.text(&letter.reason))
        .bind(dialect.text(&letter.payload_head))
        .bind(i64::try_from(letter.payload_bytes).unwrap_or(i64::MAX))
        .bind(letter.received_at.unix_ms())
        .fetch_one()
        .await?;
    let is_new = counted.get::<i64>(0)? == 1;
    if is_new {
        let row = outgoing(letter, topic)?;
        bulk::insert_outbox(connection, &[(&row, letter.received_at)]).await?;
    }
    Ok(is_new)
}

/// The row of the outbox that publishes a refused message.
fn outgoing(letter: &DeadLetter, topic: &str) -> Result<Outgoing, StoreError> {
    Ok(Outgoing {
        key: EventId::at(letter.received_at.unix_ms()).0,
        lane: MQTT_LANE.to_owned(),
        topic: Some(topic.to_owned()),
        retain: false,
        notification_id: None,
        group: None,
        payload: Payload::Text(to_json("a dead letter", letter)?),
        due_at: letter.received_at,
    })
}

async fn is_known(connection: &mut Connection<'_>, fingerprint: i64) -> Result<bool, StoreError> {
    let query = connection.query("SELECT 1 FROM dead_letters WHERE fingerprint = $1");
    Ok(query.bind(fingerprint).fetch_optional().await?.is_some())
}
