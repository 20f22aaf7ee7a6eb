//! Writing an episode: each axis by those who change it.
//!
//! Windows change the condition, staff the acknowledgement and the suppression, each in a
//! transaction of its own. So a change of one axis takes the others as they are stored, under the
//! lock of the bearing.

use pdm_episode::Episode;
use pdm_shared::episode::{AcknowledgementState, Suppression};
use pdm_shared::id::{BearingKey, EventId};
use pdm_shared::risk::RiskLevel;
use pdm_shared::time::Timestamp;

use super::last_episode;
use crate::database::{Connection, Lock};
use crate::encoding::to_json;
use crate::sql::bulk;
use crate::{
    Alarm, Beside, EpisodeChange, EpisodeRecord, MQTT_LANE, Outgoing, Payload, StoreError,
};

/// Writes a change of an episode, and the row that publishes it.
pub(in crate::sql) async fn write(
    connection: &mut Connection<'_>,
    key: &BearingKey,
    change: &EpisodeChange,
) -> Result<(), StoreError> {
    connection.lock(Lock::Alarm, &key.to_string()).await?;
    let stored = last_episode(connection, key).await?;
    let episode = merged(change, stored.as_ref());
    let stored_beside = stored.as_ref().and_then(|one| one.beside.clone());
    let beside = if change.suppresses { change.beside.clone() } else { stored_beside };
    let was_told = stored.filter(|one| one.episode.id == episode.id).and_then(|one| one.alarm);
    let alarm = match (&change.alarm, was_told) {
        (Some(alarm), _) => Some(alarm.as_ref().clone()),
        (None, was_told) => was_told,
    };
    put(connection, key, &episode, alarm.as_ref(), beside.as_ref()).await?;
    publish(connection, key, &episode, &change.topic).await
}

/// The episode after a change, with the axes that the change does not touch as they are stored.
fn merged(change: &EpisodeChange, stored: Option<&EpisodeRecord>) -> Episode {
    let mut episode = change.episode.clone();
    let Some(stored) = stored.map(|one| &one.episode) else { return episode };
    let is_same = stored.id == episode.id;
    if !is_same && stored.closed_at.is_some() {
        return episode;
    }
    if !is_same {
        // a shelf began an episode after the change was decided on: the bearing has one
        (episode.id, episode.opened_at) = (stored.id, stored.opened_at);
    }
    episode.sequence = stored.sequence + 1;
    if !change.resets_acknowledgement {
        episode.acknowledgement = stored.acknowledgement.clone();
    }
    // a rise that was decided on before a suppression began is told, and ends it
    let is_rise = change.alarm.is_some() && change.episode.course.told > stored.course.told;
    if !change.suppresses && !is_rise {
        episode.suppression = stored.suppression.clone();
    }
    if episode.is_done() {
        episode.closed_at = episode.closed_at.or(Some(episode.changed_at));
    }
    episode
}

/// Writes an episode as it is.
pub(in crate::sql) async fn put(
    connection: &mut Connection<'_>,
    key: &BearingKey,
    episode: &Episode,
    alarm: Option<&Alarm>,
    beside: Option<&Beside>,
) -> Result<(), StoreError> {
    let is_by_design = matches!(episode.suppression, Suppression::ByDesign { .. });
    let beside = beside.filter(|_| is_by_design);
    let dialect = connection.dialect();
    let acknowledgement = to_json("an acknowledgement", &episode.acknowledgement)?;
    let suppression = to_json("a suppression", &episode.suppression)?;
    let told = alarm.map(|alarm| to_json("a notification", &alarm.notification)).transpose()?;
    let is_seen = matches!(episode.acknowledgement, AcknowledgementState::Acknowledged { .. });
    let telling = alarm.and_then(|alarm| alarm.telling.as_ref());
    let telling_at = telling.and_then(|telling| telling.next).filter(|_| !is_seen);
    let telling = telling.map(|one| to_json("how far an alarm was told", one)).transpose()?;
    let repeat_at = alarm.and_then(|alarm| alarm.repeat_at).filter(|_| !is_seen);
    connection
        .query(UPSERT)
        .bind_key(key)
        .bind(episode.id)
        .bind(i64::try_from(episode.sequence).unwrap_or(i64::MAX))
        .bind(episode.opened_at.unix_ms())
        .bind(episode.changed_at.unix_ms())
        .bind(episode.closed_at.map(Timestamp::unix_ms))
        .bind(episode.transition.as_str())
        .bind(to_json("the course of an episode", &episode.course)?)
        .bind(dialect.text(&acknowledgement).into_owned())
        .bind(dialect.text(&suppression).into_owned())
        .bind(episode.state().as_str())
        .bind(episode.suppression.until().map(Timestamp::unix_ms))
        .bind(alarm.map(|alarm| alarm.notification.notification_id))
        .bind(alarm.map(|alarm| alarm.risk).map(RiskLevel::as_str))
        .bind(i64::from(alarm.map_or(0, |alarm| alarm.repeats)))
        .bind(repeat_at.map(Timestamp::unix_ms))
        .bind(told)
        .bind(alarm.map_or(0, |alarm| alarm.notification.created_at.unix_ms()))
        .bind(telling)
        .bind(telling_at.map(Timestamp::unix_ms))
        .bind(beside.map(|beside| beside.source.to_string()))
        .bind(beside.map(|beside| beside.level.as_str()))
        .execute()
        .await?;
    Ok(())
}

/// `since_ms` is when staff was told first of what stands, so a repetition does not move it; one
/// that a clock wrote that was ahead is put right with the alarm's.
const UPSERT: &str =
    "INSERT INTO episodes (site, equipment_id, bearing_id, episode_id, sequence, opened_at_ms,
                           changed_at_ms, closed_at_ms, transition, course, acknowledgement,
                           suppression, state, suppressed_until_ms, notification_id, risk_level,
                           repeats, repeat_at_ms, notification, since_ms, telling,
                           telling_at_ms, beside, beside_level)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, \
     $20,
             $21, $22, $23, $24)
     ON CONFLICT (episode_id) DO UPDATE
     SET sequence = excluded.sequence, changed_at_ms = excluded.changed_at_ms,
         closed_at_ms = excluded.closed_at_ms, transition = excluded.transition,
         course = excluded.course, acknowledgement = excluded.acknowledgement,
         suppression = excluded.suppression, state = excluded.state,
         suppressed_until_ms = excluded.suppressed_until_ms,
         since_ms = CASE WHEN (excluded.repeats = 0
                               AND episodes.notification_id IS DISTINCT FROM \
     excluded.notification_id)
                           OR (excluded.since_ms > 0 AND excluded.since_ms < episodes.since_ms)
                         THEN excluded.since_ms ELSE episodes.since_ms END,
         notification_id = excluded.notification_id, risk_level = excluded.risk_level,
         repeats = excluded.repeats, repeat_at_ms = excluded.repeat_at_ms,
         notification = excluded.notification, telling = excluded.telling,
         telling_at_ms = excluded.telling_at_ms, beside = excluded.beside,
         beside_level = excluded.beside_level";

/// Writes the row of the outbox that publishes an episode.
pub(super) async fn publish(
    connection: &mut Connection<'_>,
    key: &BearingKey,
    episode: &Episode,
    topic: &str,
) -> Result<(), StoreError> {
    let row = Outgoing {
        key: EventId::at(episode.changed_at.unix_ms()).0,
        lane: MQTT_LANE.to_owned(),
        topic: Some(topic.to_owned()),
        retain: true,
        notification_id: None,
        group: None,
        payload: Payload::Text(to_json("an episode", &episode.document(key))?),
        due_at: episode.changed_at,
    };
    bulk::insert_outbox(connection, &[(&row, episode.changed_at)]).await
}
