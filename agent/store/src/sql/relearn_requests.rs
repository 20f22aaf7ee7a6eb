//! Requests of people that gateways learn bearings anew: written with the row of the outbox by
//! which they leave, sent again while their gateway owes the answer, and answered by its status.

use std::collections::HashSet;

use pdm_shared::delivery::GatewayStatus;
use pdm_shared::id::{BearingKey, EventId, SiteId};
use pdm_shared::relearn::{
    RELEARN_LIFE_S, RELEARN_SCHEMA, RelearnAnswer, RelearnRefusal, RelearnRequest, RelearnStep,
};
use pdm_shared::time::Timestamp;
use pdm_shared::topic::{BearingTopic, Prefix, Topic};
use pdm_web::plant::RelearnRow;
use uuid::Uuid;

use super::{DeskStore, bulk};
use crate::database::{Connection, Lock, Row};
use crate::encoding::{json_of, readable, time_of, to_json};
use crate::{MQTT_LANE, Outgoing, Payload, StoreError};

impl DeskStore {
    /// Notes a request and lets it leave, unless an earlier one of its bearing still waits: the
    /// request that stands now, and whether it is this one.
    pub async fn request_relearning(
        &self,
        row: &RelearnRow,
        prefix: &Prefix,
        now: Timestamp,
    ) -> Result<(RelearnRow, bool), StoreError> {
        let mut transaction = self.database.write().await?;
        let mut connection = transaction.connection();
        // of two people at once, one asks
        connection.lock(Lock::Work, &row.key.to_string()).await?;
        let before = connection.query(NEWEST).bind_key(&row.key).fetch_optional().await?;
        if let Some(before) = before.map(|row| request_of(&row, now)).and_then(readable)
            && (before.holds_off() || before.request_id == row.request_id)
        {
            return Ok((before, false));
        }
        connection
            .query(
                "DELETE FROM relearn_requests
                 WHERE site = $1 AND equipment_id = $2 AND bearing_id = $3",
            )
            .bind_key(&row.key)
            .execute()
            .await?;
        let by = connection.dialect().text(&row.by).into_owned();
        connection
            .query(
                "INSERT INTO relearn_requests (request_id, site, equipment_id, bearing_id, by_name,
                 asked_at_ms, prefix)
                 VALUES ($1, $2, $3, $4, $5, $6, $7)",
            )
            .bind(row.request_id)
            .bind_key(&row.key)
            .bind(by)
            .bind(row.asked_at.unix_ms())
            .bind(prefix.as_str())
            .execute()
            .await?;
        send(&mut connection, row, prefix, now).await?;
        transaction.commit().await?;
        Ok((row.clone().at(None, now), true))
    }

    /// The newest request to learn a bearing anew.
    pub async fn relearning_of(
        &self,
        key: &BearingKey,
        now: Timestamp,
    ) -> Result<Option<RelearnRow>, StoreError> {
        let mut reader = self.database.read().await?;
        let row = reader.query(NEWEST).bind_key(key).fetch_optional().await?;
        row.map(|row| request_of(&row, now)).transpose()
    }
}

const NEWEST: &str =
    "SELECT site, equipment_id, bearing_id, request_id, by_name, asked_at_ms, step, \
            answered_at_ms, refusal
     FROM relearn_requests WHERE site = $1 AND equipment_id = $2 AND bearing_id = $3
     ORDER BY asked_at_ms DESC LIMIT 1";

/// Lets a request leave by the outbox.
async fn send(
    connection: &mut Connection<'_>,
    row: &RelearnRow,
    prefix: &Prefix,
    now: Timestamp,
) -> Result<(), StoreError> {
    let document = RelearnRequest {
        schema: RELEARN_SCHEMA.to_owned(),
        request_id: row.request_id,
        by: row.by.clone(),
        asked_at: row.asked_at,
    };
    let topic = Topic::Bearing { key: row.key.clone(), what: BearingTopic::Relearn };
    let outgoing = Outgoing {
        // each sending is a row of its own, also of one request
        key: EventId::at(now.unix_ms()).0,
        lane: MQTT_LANE.to_owned(),
        topic: Some(topic.under(prefix)),
        retain: false,
        notification_id: None,
        group: None,
        payload: Payload::Text(to_json("a request to learn anew", &document)?),
        due_at: now,
    };
    bulk::insert_outbox(connection, &[(&outgoing, now)]).await
}

/// Keeps what a gateway of a site answers, and sends the requests for its bearings again of which
/// its status says nothing: it never had them, or ended before they were on its disk. Of one that
/// is under way the gateway takes one, by its identity.
pub(super) async fn note_status(
    connection: &mut Connection<'_>,
    site: &SiteId,
    status: &GatewayStatus,
    now: Timestamp,
) -> Result<(), StoreError> {
    for answer in &status.relearn_answers {
        note_answer(connection, site, answer).await?;
    }
    let rows = connection
        .query(
            "SELECT site, equipment_id, bearing_id, request_id, by_name, asked_at_ms, step, \
                    answered_at_ms, refusal, prefix
             FROM relearn_requests
             WHERE site = $1 AND (step IS NULL OR step = 'taken') AND asked_at_ms >= $2",
        )
        .bind(site.as_str())
        .bind(now.plus_seconds(-RELEARN_LIFE_S).unix_ms())
        .fetch_all()
        .await?;
    if rows.is_empty() {
        return Ok(());
    }
    let measured: HashSet<&str> = status.bearings.iter().map(String::as_str).collect();
    for row in &rows {
        let Some(request) = readable(request_of(row, now)) else { continue };
        let prefix: String = row.get("prefix")?;
        let Ok(prefix) = Prefix::new(prefix) else { continue };
        let is_told = |answer: &RelearnAnswer| answer.request_id == request.request_id;
        if measured.contains(request.key.within_site().as_str())
            && !status.relearn_answers.iter().any(is_told)
        {
            send(connection, &request, &prefix, now).await?;
        }
    }
    Ok(())
}

/// Keeps an answer. One that is done or refused stays so.
async fn note_answer(
    connection: &mut Connection<'_>,
    site: &SiteId,
    answer: &RelearnAnswer,
) -> Result<(), StoreError> {
    let refusal = answer.refusal.as_ref().map(|refusal| to_json("a refusal", refusal));
    let refusal = refusal.transpose()?;
    let refusal = refusal.map(|text| connection.dialect().text(&text).into_owned());
    connection
        .query(
            "UPDATE relearn_requests SET step = $3, answered_at_ms = $4, refusal = $5
             WHERE request_id = $1 AND site = $2
               AND (step IS NULL OR (step = 'taken' AND $3 <> 'taken'))",
        )
        .bind(answer.request_id)
        .bind(site.as_str())
        .bind(word(answer.step))
        .bind(answer.at.unix_ms())
        .bind(refusal)
        .execute()
        .await?;
    Ok(())
}

const fn word(step: RelearnStep) -> &'static str {
    match step {
        RelearnStep::Taken => "taken",
        RelearnStep::Done => "done",
        RelearnStep::Refused => "refused",
    }
}

fn request_of(row: &Row, now: Timestamp) -> Result<RelearnRow, StoreError> {
    let id: Uuid = row.get("request_id")?;
    let step: Option<String> = row.get("step")?;
    let step = match step.as_deref() {
        None => None,
        Some("taken") => Some(RelearnStep::Taken),
        Some("done") => Some(RelearnStep::Done),
        Some(_refused) => Some(RelearnStep::Refused),
    };
    let refusal: Option<String> = row.get("refusal")?;
    let refusal = refusal.map(|text| json_of::<RelearnRefusal>("a refusal", &text)).transpose()?;
    let answered_at = row.get::<Option<i64>>("answered_at_ms")?.map(time_of).transpose()?;
    let asked_at = time_of(row.get("asked_at_ms")?)?;
    let new = RelearnRow::new(id, row.key()?, row.get("by_name")?, asked_at);
    Ok(RelearnRow { answered_at, refusal, ..new.at(step, now) })
}
