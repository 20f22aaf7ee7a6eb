//! The acts of staff on an episode: acknowledging and shelving.

use pdm_episode::Episode;
use pdm_shared::delivery::Acknowledgement;
use pdm_shared::episode::{Shelve, ShelveAction, Suppression};
use pdm_shared::id::{BearingKey, EventId};
use pdm_shared::time::Timestamp;
use uuid::Uuid;

use super::last_episode;
use super::write::{publish, put};
use crate::database::{Connection, Lock};
use crate::encoding::time_of;
use crate::{EpisodeRecord, ShelveOutcome, StoreError, log};

/// How far the clock of a person's device may be behind that of the agent, s. Chosen: devices with
/// time synchronisation differ by seconds.
const DEVICE_BEHIND_S: f64 = 60.0;

/// Writes an acknowledgement and applies it to the open episode: if it names the episode, or a
/// notification of its level, or neither and is not older than what was told. So one that was meant
/// for an episode of before silences no other.
pub(in crate::sql) async fn acknowledge(
    connection: &mut Connection<'_>,
    key: &BearingKey,
    ack: &Acknowledgement,
    topic: &str,
    now: Timestamp,
) -> Result<(), StoreError> {
    note(connection, key, ack, now).await?;
    connection.lock(Lock::Alarm, &key.to_string()).await?;
    let record = last_episode(connection, key).await?.filter(EpisodeRecord::is_open);
    let Some(record) = record else {
        log::acknowledged(key, false);
        return Ok(());
    };
    let is_seen = record.episode.acknowledgement.is_acknowledged();
    let step = if !is_seen && is_meant(connection, key, &record, ack).await? {
        record.episode.acknowledge(&ack.by, ack.via.as_deref(), now)
    } else {
        None
    };
    log::acknowledged(key, step.is_some());
    let Some(step) = step else { return Ok(()) };
    put(connection, key, &step.episode, record.alarm.as_ref(), record.beside.as_ref()).await?;
    publish(connection, key, &step.episode, topic).await
}

/// Keeps who acknowledged what, whether it applies or not.
async fn note(
    connection: &mut Connection<'_>,
    key: &BearingKey,
    ack: &Acknowledgement,
    now: Timestamp,
) -> Result<(), StoreError> {
    let dialect = connection.dialect();
    connection
        .query(
            "INSERT INTO acknowledgements (site, equipment_id, bearing_id, notification_id,
                                           by_whom, at_ms, received_at_ms, note)
             VALUES ($1, $2, $3, $4, $5, $6, $7, $8)",
        )
        .bind_key(key)
        .bind(ack.notification_id)
        .bind(dialect.text(&ack.by).into_owned())
        .bind(ack.at.unix_ms())
        .bind(now.unix_ms())
        .bind(ack.note.as_deref().map(|note| dialect.text(note).into_owned()))
        .execute()
        .await?;
    Ok(())
}

/// Whether an acknowledgement means this episode as it stands.
async fn is_meant(
    connection: &mut Connection<'_>,
    key: &BearingKey,
    record: &EpisodeRecord,
    ack: &Acknowledgement,
) -> Result<bool, StoreError> {
    let Some(alarm) = &record.alarm else { return Ok(false) };
    if ack.episode_id.is_some_and(|id| id != record.episode.id) {
        return Ok(false);
    }
    let since = since(connection, record.episode.id).await?;
    let Some(named) = ack.notification_id else {
        return Ok(ack.at.plus_seconds(DEVICE_BEHIND_S) >= since);
    };
    if named == alarm.notification.notification_id {
        return Ok(true);
    }
    let told = connection
        .query(
            "SELECT 1 FROM notifications
             WHERE notification_id = $4 AND site = $1 AND equipment_id = $2 AND bearing_id = $3
               AND risk_level = $5 AND created_at_ms >= $6",
        )
        .bind_key(key)
        .bind(named)
        .bind(alarm.risk.as_str())
        .bind(since.unix_ms())
        .fetch_optional()
        .await?;
    Ok(told.is_some())
}

/// Returns when staff was first told of the standing alarm.
async fn since(connection: &mut Connection<'_>, episode: Uuid) -> Result<Timestamp, StoreError> {
    let query = connection.query("SELECT since_ms FROM episodes WHERE episode_id = $1");
    time_of(query.bind(episode).fetch_one().await?.get(0)?)
}

/// Shelves a bearing, takes it out of service, or ends either. The end is that of a time: what rose
/// or resolved meanwhile is told by the watch over time.
pub(in crate::sql) async fn shelve(
    connection: &mut Connection<'_>,
    key: &BearingKey,
    shelve: &Shelve,
    topic: &str,
    now: Timestamp,
) -> Result<ShelveOutcome, StoreError> {
    connection.lock(Lock::Alarm, &key.to_string()).await?;
    let open = last_episode(connection, key).await?.filter(EpisodeRecord::is_open);
    if shelve.action == ShelveAction::End {
        return end(connection, key, open, topic, now).await;
    }
    if open.is_none() && !is_known(connection, key).await? {
        return Ok(ShelveOutcome::Unknown);
    }
    let alarm = open.as_ref().and_then(|one| one.alarm.clone());
    let episode = open
        .map_or_else(|| Episode::new(EventId::at(now.unix_ms()).0, now), |record| record.episode);
    let step = episode.suppress(shelve.suppression(), now);
    log::shelved(key, shelve);
    put(connection, key, &step.episode, alarm.as_ref(), None).await?;
    publish(connection, key, &step.episode, topic).await?;
    Ok(ShelveOutcome::Taken)
}

async fn end(
    connection: &mut Connection<'_>,
    key: &BearingKey,
    open: Option<EpisodeRecord>,
    topic: &str,
    now: Timestamp,
) -> Result<ShelveOutcome, StoreError> {
    let Some(EpisodeRecord { mut episode, alarm, .. }) = open else {
        return Ok(ShelveOutcome::Unknown);
    };
    match &mut episode.suppression {
        Suppression::Shelved { until, .. } | Suppression::OutOfService { until, .. } => {
            *until = now.min(*until);
        }
        Suppression::None | Suppression::ByDesign { .. } => return Ok(ShelveOutcome::Unknown),
    }
    (episode.sequence, episode.changed_at) = (episode.sequence + 1, now);
    put(connection, key, &episode, alarm.as_ref(), None).await?;
    publish(connection, key, &episode, topic).await?;
    Ok(ShelveOutcome::Taken)
}

/// Whether the bearing was ever judged.
async fn is_known(connection: &mut Connection<'_>, key: &BearingKey) -> Result<bool, StoreError> {
    let query = connection
        .query("SELECT 1 FROM bearings WHERE site = $1 AND equipment_id = $2 AND bearing_id = $3");
    Ok(query.bind_key(key).fetch_optional().await?.is_some())
}
