//! Events whose identity a stored event has already.
//!
//! An identity is unique within its gateway. One that an event of another gateway has is no reason
//! to refuse: else whoever knows an identity beforehand could use it up. Such an event is stored
//! under an identity that follows from its gateway and its own one, so that it is recognised when
//! it comes again.

use pdm_shared::event::Event;
use pdm_shared::id::EventId;
use pdm_shared::time::Timestamp;
use sha2::{Digest as _, Sha256};
use uuid::Uuid;

use super::bulk;
use crate::database::Connection;
use crate::{Refusal, RefusalCause, StoreError};

/// The bytes of a UUIDv7 that are its time: a store keeps an event in the partition of it.
const TIME_BYTES: usize = 6;
/// Identities that are tried one after the other: whoever knew the identity may have taken those
/// that follow from it, too.
const TRIES: u8 = 3;

/// The event that has an identity.
struct Holder {
    is_same: bool,
    is_of_this_gateway: bool,
    told: String,
}

/// Whether an event whose identity is stored is new, under another identity then; its refusal where
/// another event of its own gateway has it.
pub(super) async fn of_known(
    connection: &mut Connection<'_>,
    (event, payload): (&Event, &str),
    now: Timestamp,
) -> Result<Result<bool, Box<Refusal>>, StoreError> {
    let mut holder = holder_of(connection, event, event.event_id).await?;
    for one in 0..TRIES {
        match &holder {
            None => return Ok(Ok(false)),
            Some(holder) if holder.is_same => return Ok(Ok(false)),
            Some(holder) if holder.is_of_this_gateway => break,
            Some(_) => {}
        }
        let event_id = another(event, one);
        let renamed = Event { event_id, ..event.clone() };
        let payload = with_identity(payload, event_id)?;
        if bulk::insert_events(connection, &[(&renamed, &payload)], now).await? == [true] {
            metrics::counter!("pdm_agent_identities_taken_total").increment(1);
            return Ok(Ok(true));
        }
        holder = holder_of(connection, event, event_id).await?;
    }
    let told = holder.map(|holder| holder.told).unwrap_or_default();
    Ok(Err(Box::new(Refusal {
        cause: RefusalCause::EventId,
        gateway: event.gateway(),
        bearing: event.key(),
        event_id: event.event_id,
        reason: format!(
            "event_id {} is taken by {told}, expected one of its own: is the gateway a copy of \
             another one?",
            event.event_id
        ),
    })))
}

async fn holder_of(
    connection: &mut Connection<'_>,
    event: &Event,
    event_id: EventId,
) -> Result<Option<Holder>, StoreError> {
    let row = connection
        .query(
            "SELECT site, gateway_id, equipment_id, bearing_id, sequence, measured_at_ms
             FROM events WHERE event_id = $1",
        )
        .bind(event_id.0)
        .fetch_optional()
        .await?;
    let Some(row) = row else { return Ok(None) };
    let (site, gateway): (String, String) = (row.get(0)?, row.get(1)?);
    let (equipment, bearing): (String, String) = (row.get(2)?, row.get(3)?);
    let (sequence, measured_at_ms): (i64, i64) = (row.get(4)?, row.get(5)?);
    let is_of_this_gateway = site == event.site.as_str() && gateway == event.gateway_id.as_str();
    let is_same = is_of_this_gateway
        && equipment == event.equipment_id.as_str()
        && bearing == event.bearing_id.as_str()
        && u64::try_from(sequence).is_ok_and(|sequence| sequence == event.sequence)
        && measured_at_ms == event.measured_at.unix_ms();
    let told = format!("event {sequence} of gateway {site}/{gateway} ({equipment}/{bearing})");
    Ok(Some(Holder { is_same, is_of_this_gateway, told }))
}

/// Another identity of the same time, the same one each time for the same event.
fn another(event: &Event, one: u8) -> EventId {
    let own = event.event_id.0.as_bytes();
    let epoch = event.epoch.map(|epoch| epoch.0.into_bytes()).unwrap_or_default();
    let mut hash = Sha256::new();
    for part in [event.gateway().to_string().as_bytes(), own, &epoch, &[one]] {
        hash.update((part.len() as u64).to_le_bytes());
        hash.update(part);
    }
    let hash = hash.finalize();
    let mut bytes = [0; 16];
    for (at, (byte, (own, drawn))) in bytes.iter_mut().zip(own.iter().zip(&hash[..])).enumerate() {
        *byte = if at < TIME_BYTES { *own } else { *drawn };
    }
    EventId(uuid::Builder::from_bytes(bytes).with_version(uuid::Version::SortRand).into_uuid())
}

/// The text of an event with another identity.
fn with_identity(payload: &str, event_id: EventId) -> Result<String, StoreError> {
    let content = |error: serde_json::Error| StoreError::Content {
        what: "an event",
        reason: error.to_string(),
    };
    let mut fields: serde_json::Map<String, serde_json::Value> =
        serde_json::from_str(payload).map_err(content)?;
    let id: Uuid = event_id.0;
    fields.insert("event_id".to_owned(), serde_json::Value::String(id.to_string()));
    serde_json::to_string(&fields).map_err(content)
}
