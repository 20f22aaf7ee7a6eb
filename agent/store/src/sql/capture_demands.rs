//! Demands of people for waveforms: written with the row of the outbox by which they leave,
//! answered by the status of a gateway, and ended by their capture.

use pdm_shared::capture::{
    CaptureAnswer, CaptureDocument, CaptureReason, CaptureRefusal, CaptureTrigger,
};
use pdm_shared::id::{BearingKey, SiteId};
use pdm_shared::time::Timestamp;
use pdm_web::plant::CaptureDemandRow;
use uuid::Uuid;

use super::{CaptureStore, bulk};
use crate::database::{Connection, Lock, Row};
use crate::encoding::{json_of, readable, time_of, to_json};
use crate::{MQTT_LANE, Outgoing, Payload, StoreError};

/// A demand that is to be sent: what is shown of it, and its message.
#[derive(Debug, Clone)]
pub struct CaptureDemandNote {
    /// The demand.
    pub row: CaptureDemandRow,
    /// Its topic.
    pub topic: String,
    /// Its document, JSON.
    pub payload: String,
}

impl CaptureStore {
    /// Notes a demand and lets it leave, unless an earlier one of its bearing still waits: the
    /// demand that stands now, and whether it is this one.
    pub async fn demand_capture(
        &self,
        note: &CaptureDemandNote,
        now: Timestamp,
    ) -> Result<(CaptureDemandRow, bool), StoreError> {
        let CaptureDemandNote { row, topic, payload } = note;
        let mut transaction = self.database.write().await?;
        let mut connection = transaction.connection();
        // of two people at once, one asks
        connection.lock(Lock::Captures, &row.key.to_string()).await?;
        if let Some(before) = newest_of(&mut connection, &row.key, now).await?
            && before.holds_off(now)
        {
            return Ok((before, false));
        }
        connection
            .query(
                "DELETE FROM capture_demands
                 WHERE site = $1 AND equipment_id = $2 AND bearing_id = $3",
            )
            .bind_key(&row.key)
            .execute()
            .await?;
        let by = connection.dialect().text(&row.by).into_owned();
        connection
            .query(
                "INSERT INTO capture_demands (demand_id, site, equipment_id, bearing_id, by_name, \
                 asked_at_ms)
                 VALUES ($1, $2, $3, $4, $5, $6)",
            )
            .bind(row.demand_id)
            .bind_key(&row.key)
            .bind(by)
            .bind(row.asked_at.unix_ms())
            .execute()
            .await?;
        let outgoing = Outgoing {
            key: row.demand_id,
            lane: MQTT_LANE.to_owned(),
            topic: Some(topic.clone()),
            retain: false,
            notification_id: None,
            group: None,
            payload: Payload::Text(payload.clone()),
            due_at: now,
        };
        bulk::insert_outbox(&mut connection, &[(&outgoing, now)]).await?;
        transaction.commit().await?;
        Ok((row.clone().at(now), true))
    }

    /// The newest demand for the waveform of a bearing.
    pub async fn capture_demand_of(
        &self,
        key: &BearingKey,
        now: Timestamp,
    ) -> Result<Option<CaptureDemandRow>, StoreError> {
        let mut reader = self.database.read().await?;
        let query = reader.query(NEWEST).bind_key(key);
        let row = query.fetch_optional().await?.map(|row| demand_of(&row)).transpose()?;
        Ok(row.map(|row| row.at(now)))
    }
}

const NEWEST: &str =
    "SELECT site, equipment_id, bearing_id, demand_id, by_name, asked_at_ms, answered_at_ms,
            refusal, capture_id
     FROM capture_demands WHERE site = $1 AND equipment_id = $2 AND bearing_id = $3
     ORDER BY asked_at_ms DESC LIMIT 1";

async fn newest_of(
    connection: &mut Connection<'_>,
    key: &BearingKey,
    now: Timestamp,
) -> Result<Option<CaptureDemandRow>, StoreError> {
    let row = connection.query(NEWEST).bind_key(key).fetch_optional().await?;
    Ok(row.map(|row| demand_of(&row)).and_then(readable).map(|row| row.at(now)))
}

/// Keeps what the gateways of a site answer, each demand once.
pub(super) async fn note_answers(
    connection: &mut Connection<'_>,
    site: &SiteId,
    answers: &[CaptureAnswer],
) -> Result<(), StoreError> {
    for answer in answers {
        let refusal = answer.refusal.as_ref().map(|refusal| to_json("a refusal", refusal));
        let refusal = refusal.transpose()?;
        let refusal = refusal.map(|text| connection.dialect().text(&text).into_owned());
        connection
            .query(
                "UPDATE capture_demands SET answered_at_ms = $3, refusal = $4
                 WHERE demand_id = $1 AND site = $2 AND answered_at_ms IS NULL",
            )
            .bind(answer.demand_id)
            .bind(site.as_str())
            .bind(answer.at.unix_ms())
            .bind(refusal)
            .execute()
            .await?;
    }
    Ok(())
}

/// Ends the demands that a capture shows: by their identity; by their time where the gateway's
/// program is older and repeats that alone.
pub(super) async fn note_arrival(
    connection: &mut Connection<'_>,
    key: &BearingKey,
    document: &CaptureDocument,
) -> Result<(), StoreError> {
    let is_demand = |trigger: &&CaptureTrigger| trigger.reason == CaptureReason::Demand;
    for trigger in document.triggers.iter().filter(is_demand) {
        connection
            .query(
                "UPDATE capture_demands SET capture_id = $4
                 WHERE site = $1 AND equipment_id = $2 AND bearing_id = $3 AND capture_id IS NULL
                   AND (demand_id = $5 OR asked_at_ms = $6)",
            )
            .bind_key(key)
            .bind(document.capture_id.0)
            .bind(trigger.demand_id.unwrap_or(Uuid::nil()))
            .bind(trigger.asked_at.map_or(-1, Timestamp::unix_ms))
            .execute()
            .await?;
    }
    Ok(())
}

fn demand_of(row: &Row) -> Result<CaptureDemandRow, StoreError> {
    let refusal: Option<String> = row.get("refusal")?;
    let refusal = refusal.map(|text| json_of::<CaptureRefusal>("a refusal", &text)).transpose()?;
    let answered_at = row.get::<Option<i64>>("answered_at_ms")?.map(time_of).transpose()?;
    let asked_at = time_of(row.get("asked_at_ms")?)?;
    let new =
        CaptureDemandRow::new(row.get("demand_id")?, row.key()?, row.get("by_name")?, asked_at);
    Ok(CaptureDemandRow { answered_at, refusal, capture_id: row.get("capture_id")?, ..new })
}
