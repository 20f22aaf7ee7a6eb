//! Alarms that are told with another's of their machine: that one names them within half a minute,
//! and they are told by themselves when it is over or after a shift.

use std::collections::BTreeMap;

use pdm_shared::id::BearingKey;
use pdm_shared::risk::RiskLevel;
use pdm_shared::time::Timestamp;
use pdm_store::{EpisodeRecord, StoreError};

use super::policy::{NAMED_AFTER_S, ended_beside};
use super::silence::Watchdog;

/// Episodes that are told with one alarm and that it does not name yet.
type Unnamed = Vec<(BearingKey, EpisodeRecord)>;

impl Watchdog {
    /// Names the episodes that are told with others, and frees those whose time is over.
    pub(super) async fn look_at_beside(
        &self,
        beside: Vec<(BearingKey, EpisodeRecord)>,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        let mut unnamed: BTreeMap<BearingKey, Unnamed> = BTreeMap::new();
        for (key, record) in beside {
            let Some(source) = record.beside.as_ref().map(|one| one.source.clone()) else {
                continue;
            };
            let told = self.store.episodes().episode(&source).await?;
            let Some(ended) = ended_beside(&record, told.as_ref(), now) else {
                if record.episode.course.told_with.is_some_and(|one| !one.is_named) {
                    unnamed.entry(source).or_default().push((key, record));
                }
                continue;
            };
            let followed = self.policy.freed(&key, &record, ended, now);
            self.follow(&key, Some(record.version()), followed).await?;
        }
        for (source, others) in unnamed {
            self.name(&source, &others, now).await?;
        }
        Ok(())
    }

    /// Tells an alarm once more with the bearings that rose beside it, when they have had time to
    /// gather.
    async fn name(
        &self,
        source: &BearingKey,
        others: &Unnamed,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        let since = others.iter().filter_map(|(_, record)| record.episode.course.told_with);
        let Some(first) = since.map(|one| one.since).min() else { return Ok(()) };
        if (0.0..NAMED_AFTER_S).contains(&now.seconds_since(first)) {
            return Ok(());
        }
        let Some(record) = self.store.episodes().episode(source).await? else { return Ok(()) };
        let Some(alarm) = &record.alarm else { return Ok(()) };
        let named: Vec<(BearingKey, RiskLevel)> = others
            .iter()
            .filter_map(|(key, record)| Some((key.clone(), record.episode.course.told_with?.level)))
            .collect();
        let announcement = self.policy.naming(source, &record, alarm, &named, now);
        if !self.announce(source, Some(record.version()), announcement).await? {
            // it has changed meanwhile, and the next look decides anew
            return Ok(());
        }
        for (key, record) in others {
            if let Some(change) = self.policy.named(key, record, now) {
                self.store.episodes().change(key, Some(record.version()), &change).await?;
            }
        }
        Ok(())
    }
}
