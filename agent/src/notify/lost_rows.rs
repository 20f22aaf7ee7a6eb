//! Alarms whose message somebody has deleted from the outbox, by a clean-up or by restoring one
//! table, and alarms that only those have heard of who have left the configuration: they are told
//! again, because nobody who is there may have heard of them.

use std::time::Duration;

use pdm_shared::risk::RiskLevel;
use pdm_shared::time::Timestamp;
use pdm_store::StoreError;

use super::silence::{PAGE, Watchdog};
use super::{MQTT_LANE, log};

/// The time between two looks. Chosen: an alarm that nobody has heard of is told within half a
/// minute.
const EVERY: Duration = Duration::from_secs(15);
/// Messages of the last day are looked at: an alarm that stands longer is repeated by then.
const LOOKS_BACK: Duration = Duration::from_hours(24);
/// A message has its rows from the transaction on that writes it; this much is left for clocks that
/// differ.
const FRESH: Duration = Duration::from_secs(10);

impl Watchdog {
    /// Tells again the alarms that stand from Warning on, are not acknowledged and have no row on
    /// any way by which they would be told now.
    pub(super) async fn look_at_lost_rows(
        &self,
        looked_at: &mut Option<Timestamp>,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        let is_due =
            looked_at.is_none_or(|at| !(0.0..EVERY.as_secs_f64()).contains(&now.seconds_since(at)));
        if !is_due {
            return Ok(());
        }
        *looked_at = Some(now);
        let since = now.plus_seconds(-LOOKS_BACK.as_secs_f64());
        let until = now.plus_seconds(-FRESH.as_secs_f64());
        let episodes = self.store.episodes();
        let lanes = self.policy.every_lane();
        for (key, record) in episodes.episodes_without_ways((since, until), &lanes, PAGE).await? {
            let Some(alarm) = record.alarm.as_ref().filter(|one| one.risk >= RiskLevel::Warning)
            else {
                continue;
            };
            let announcement = self.policy.repeated(&key, &record, alarm, now);
            // a message that nobody was to hear has no rows either
            if announcement.outgoing.iter().all(|row| row.lane == MQTT_LANE) {
                continue;
            }
            log::rows_lost(&key, alarm.notification.notification_id);
            self.announce(&key, Some(record.version()), announcement).await?;
        }
        Ok(())
    }
}
