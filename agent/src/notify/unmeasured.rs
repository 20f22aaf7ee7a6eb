//! Bearings that a gateway measured and that its configuration names no more: nothing of them
//! arrives, nothing is silent as a whole, and nobody would hear that they are not watched.
//!
//! A gateway's birth names what it measures. A bearing that belongs to the gateway and is not among
//! them is told under the machine `not-measured` with the gateway's name, and ends where it is
//! measured again, forgotten, or another gateway's.

use std::collections::BTreeSet;
use std::time::Duration;

use pdm_shared::id::{BearingKey, GatewayKey};
use pdm_shared::time::Timestamp;
use pdm_store::gateway_alarm::unmeasured_alarm;
use pdm_store::{EpisodeRecord, StoreError};
use tokio::time::Instant;

use super::silence::Watchdog;
use super::{log, wording};

/// How long a gateway has to name its bearings without one before staff is told. Chosen: whoever
/// edits the configuration and starts the gateway twice is through by then.
const LASTS: Duration = Duration::from_secs(10);
/// Bearings that health names.
const SHOWN: usize = 5;
/// How often the bearings are looked at: the look reads every bearing.
const EVERY: Duration = Duration::from_secs(10);

/// The result of the last look.
#[derive(Debug, Default)]
pub(super) struct Unmeasured {
    looked_at: Option<Instant>,
    said: Vec<String>,
}

impl Watchdog {
    /// Tells of bearings that their gateway no longer measures, looked at from time to time;
    /// returns the lines of health on them.
    pub(super) async fn look_at_unmeasured(
        &self,
        found: &mut Unmeasured,
        now: Timestamp,
    ) -> Result<Vec<String>, StoreError> {
        if found.looked_at.is_none_or(|at| at.elapsed() >= EVERY) {
            found.said = self.tell_all_unmeasured(now).await?;
            found.looked_at = Some(Instant::now());
        }
        Ok(found.said.clone())
    }

    async fn tell_all_unmeasured(&self, now: Timestamp) -> Result<Vec<String>, StoreError> {
        let births = self.reporter.measured();
        if births.is_empty() {
            return Ok(Vec::new());
        }
        let owners = self.bearing_owners().await?;
        let known = self.store.gateways().known_bearings().await?;
        let mut said = Vec::new();
        for (gateway, (measured, since)) in births {
            if since.elapsed() < LASTS {
                continue;
            }
            let is_missing = |key: &&BearingKey| {
                key.site == gateway.site
                    && !measured.contains(&key.within_site())
                    && self.owner_of(&owners, key).is_some_and(|owner| owner == gateway)
            };
            let missing: Vec<BearingKey> = known.iter().filter(is_missing).cloned().collect();
            if !missing.is_empty() {
                let names: Vec<String> =
                    missing.iter().take(SHOWN).map(BearingKey::to_string).collect();
                said.push(wording::unmeasured_line(&gateway, missing.len(), &names));
            }
            self.tell_unmeasured(&gateway, &missing, now).await?;
        }
        Ok(said)
    }

    async fn tell_unmeasured(
        &self,
        gateway: &GatewayKey,
        missing: &[BearingKey],
        now: Timestamp,
    ) -> Result<(), StoreError> {
        let Some(key) = unmeasured_alarm(gateway) else { return Ok(()) };
        let record = self.store.episodes().episode(&key).await?.filter(EpisodeRecord::is_open);
        let announcement = match &record {
            None if missing.is_empty() => return Ok(()),
            None => {
                let words = wording::unmeasured(&gateway.gateway, missing);
                self.policy.silent(&key, self.silence.risk, words, missing, now)
            }
            Some(record) if missing.is_empty() => {
                let words = wording::measured_again(&gateway.gateway);
                self.policy.heard(&key, record, words, &[], now)
            }
            Some(record) => {
                let told = record.alarm.as_ref().map(|alarm| &alarm.notification.related);
                let told: BTreeSet<&str> = told.into_iter().flatten().map(String::as_str).collect();
                if missing.iter().all(|one| told.contains(one.to_string().as_str())) {
                    return Ok(());
                }
                let words = wording::unmeasured(&gateway.gateway, missing);
                Some(self.policy.told_again(&key, record, words, missing, now))
            }
        };
        let Some(announcement) = announcement else { return Ok(()) };
        let version = record.as_ref().map(EpisodeRecord::version);
        if self.announce(&key, version, announcement).await? && !missing.is_empty() {
            log::bearings_unmeasured(gateway, missing.len());
        }
        Ok(())
    }
}
