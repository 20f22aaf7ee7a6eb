//! Puts a bearing on a shelf for a person at a page, or takes it down, as the store does for a
//! message of the broker.

use pdm_shared::episode::{SHELVE_SCHEMA, Shelve, ShelveAction, Suppression};
use pdm_store::{EpisodeRecord, Incoming};
use pdm_web::plant::{PlantError, ShelfRequest, Shelved};

use super::plant::{StoredPlant, away};
use crate::intake::parse::episode_topic;

/// Shelves a bearing until a time, or ends its shelf.
pub(super) async fn shelve(
    plant: &StoredPlant,
    request: ShelfRequest,
) -> Result<Shelved, PlantError> {
    let ShelfRequest { key, until, by, reason } = request;
    let now = plant.clock.now();
    let shelve = Shelve {
        schema: SHELVE_SCHEMA.to_owned(),
        action: if until.is_some() { ShelveAction::Shelve } else { ShelveAction::End },
        until,
        by,
        reason,
        work_order: None,
        at: now,
    };
    if let Err(told) = shelve.check(now) {
        return Ok(Shelved::Refused(told));
    }
    let record = plant.store.episodes().episode(&key).await.map_err(away)?;
    let open = record.filter(EpisodeRecord::is_open);
    if until.is_none() && open.is_none_or(|one| one.episode.suppression == Suppression::None) {
        return Ok(Shelved::Refused("the bearing is not shelved".to_owned()));
    }
    let topic = episode_topic(&plant.prefix, &key);
    let batch = [Incoming::Shelve { key, shelve, topic }];
    let stored =
        plant.store.intake().store(&batch, now, &plant.dead_letters).await.map_err(away)?;
    if stored.refused > 0 {
        return Ok(Shelved::Refused("the bearing was never judged".to_owned()));
    }
    Ok(Shelved::Yes)
}
