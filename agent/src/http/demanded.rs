//! What people ask of gateways: waveforms, on the topic that staff has at the broker too, and to
//! learn a bearing anew, which the agent alone may ask. Both leave by the outbox.

use pdm_shared::capture::{CAPTURE_DEMAND_SCHEMA, CaptureDemand};
use pdm_shared::id::{BearingKey, EventId};
use pdm_shared::topic::{BearingTopic, Topic, is_gateway_level};
use pdm_store::CaptureDemandNote;
use pdm_web::plant::{CaptureDemandRow, CaptureDemanded, PlantError, RelearnAsked, RelearnRow};
use uuid::Uuid;

use super::plant::StoredPlant;

/// Asks the gateway of a bearing for a capture.
pub(super) async fn demand(
    plant: &StoredPlant,
    key: &BearingKey,
    by: &str,
) -> Result<CaptureDemanded, PlantError> {
    if plant.captures.is_none() {
        return Ok(CaptureDemanded::NoPlace);
    }
    let is_bearing = !is_gateway_level(key.equipment.as_str());
    if !is_bearing || plant.store.pages().standing(key).await?.is_none() {
        return Ok(CaptureDemanded::Unknown);
    }
    let now = plant.clock.now();
    let demand_id = EventId::at(now.unix_ms()).0;
    let document = CaptureDemand {
        schema: CAPTURE_DEMAND_SCHEMA.to_owned(),
        by: by.to_owned(),
        asked_at: Some(now),
        demand_id: Some(demand_id),
    };
    let payload = serde_json::to_string(&document);
    let payload = payload.map_err(|error| PlantError::Unreadable(error.to_string()))?;
    let topic = Topic::Bearing { key: key.clone(), what: BearingTopic::Capture };
    let note = CaptureDemandNote {
        row: CaptureDemandRow::new(demand_id, key.clone(), by.to_owned(), now),
        topic: topic.under(&plant.prefix),
        payload,
    };
    let (row, is_new) = plant.store.captures().demand_capture(&note, now).await?;
    if !is_new {
        return Ok(CaptureDemanded::Waits(row));
    }
    tracing::info!(bearing = %key, by, %demand_id, "a gateway is asked for a waveform");
    Ok(CaptureDemanded::Asked(row))
}

/// Asks the gateway of a bearing to learn it anew.
pub(super) async fn relearning(
    plant: &StoredPlant,
    key: &BearingKey,
    by: &str,
    id: Uuid,
) -> Result<RelearnAsked, PlantError> {
    let is_bearing = !is_gateway_level(key.equipment.as_str());
    if !is_bearing || plant.store.pages().standing(key).await?.is_none() {
        return Ok(RelearnAsked::Unknown);
    }
    let now = plant.clock.now();
    let row = RelearnRow::new(id, key.clone(), by.to_owned(), now);
    let (row, is_new) = plant.store.desk().request_relearning(&row, &plant.prefix, now).await?;
    if !is_new {
        return Ok(RelearnAsked::Waits(row));
    }
    tracing::info!(bearing = %key, by, request = %id, "a gateway is asked to learn a bearing anew");
    Ok(RelearnAsked::Sent(row))
}
