//! Takes an acknowledgement back: the alarm stands as if nobody had acknowledged it, and is told
//! on.

use pdm_shared::episode::AcknowledgementState;
use pdm_shared::id::BearingKey;
use pdm_store::EpisodeChange;
use pdm_web::plant::{PlantError, UNDO_S, Withdrawn};
use uuid::Uuid;

use super::plant::{StoredPlant, away};
use crate::intake::parse::episode_topic;

/// Takes the acknowledgement of an episode back that is not older than [`UNDO_S`]. The route goes
/// on at its next step; repetitions begin anew.
pub(super) async fn take_back(
    plant: &StoredPlant,
    key: &BearingKey,
    id: Uuid,
) -> Result<Withdrawn, PlantError> {
    let episodes = plant.store.episodes();
    // the watch may change the episode between reading and writing
    for _ in 0..3 {
        let record = episodes.episode(key).await.map_err(away)?;
        let open = record.filter(|one| one.is_open() && one.episode.id == id);
        let Some(record) = open else { return Ok(Withdrawn::Unknown) };
        let now = plant.clock.now();
        let AcknowledgementState::Acknowledged { at, .. } = &record.episode.acknowledgement else {
            return Ok(Withdrawn::Unknown);
        };
        if now.seconds_since(*at) > UNDO_S {
            return Ok(Withdrawn::Late(key.clone()));
        }
        let Some(step) = record.episode.unacknowledge(now) else {
            return Ok(Withdrawn::Unknown);
        };
        // the repetitions had ended with the acknowledgement
        let alarm = record.alarm.clone().map(|mut alarm| {
            let repeats = plant.repeats.filter(|(from, _)| alarm.risk >= *from);
            alarm.repeat_at = repeats.map(|(_, hours)| now.plus_seconds(3600.0 * hours));
            Box::new(alarm)
        });
        let change = EpisodeChange {
            episode: step.episode,
            resets_acknowledgement: true,
            suppresses: false,
            beside: None,
            alarm,
            topic: episode_topic(&plant.prefix, key),
        };
        if episodes.change(key, Some(record.version()), &change).await.map_err(away)? {
            tracing::info!(bearing = %key, "an acknowledgement was taken back");
            return Ok(Withdrawn::Yes(key.clone()));
        }
    }
    Err(PlantError::Unavailable("the alarm changes all the time".to_owned()))
}
