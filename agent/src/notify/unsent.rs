//! Alarms that a lane does not even try: each waits behind messages that their receiver does not
//! answer, or is held back for a summary that its receiver does not take. They are told elsewhere
//! once they have waited as long as an alarm may, since no try of their own says so.

use std::collections::BTreeSet;
use std::time::Duration;

use pdm_shared::delivery::Notification;
use pdm_store::{HeldBack, StoreError, UnsentAlarm};
use tokio::time::Instant;
use uuid::Uuid;

use super::ceiling::Ceiling;
use super::elsewhere::Reached;
use super::lanes::{Lane, PAUSES, SendError};
use super::sending::{ELSEWHERE_AFTER_S, LEAST_PATIENCE_S, granted};
use super::{MQTT_LANE, log};

/// The time between two looks at what waits on a lane. An alarm that is late at two of them is told
/// elsewhere: at one alone the lane may be about to try it, as after an outage of the store.
const EVERY: Duration = Duration::from_secs(15);

/// The looks at what waits on a lane.
#[derive(Debug)]
pub(super) struct LateLooks {
    /// A lane that has just begun has tried nothing yet.
    begun: Instant,
    looked: Instant,
    /// What was late at the last look.
    late: BTreeSet<Uuid>,
}

impl LateLooks {
    pub(super) fn new() -> Self {
        let now = Instant::now();
        Self { begun: now, looked: now, late: BTreeSet::new() }
    }
}

/// A summary that its receiver does not take.
#[derive(Debug, Default)]
pub(super) struct FailingSummary {
    /// When the first try of it began that failed.
    since: Option<Instant>,
    failures: u32,
}

/// Why a summary did not leave, and the pause to the next try.
#[derive(Debug)]
pub(super) struct NotSummed {
    pub(super) reason: String,
    pub(super) pause: Duration,
}

impl FailingSummary {
    /// Notes another failure of a try that began at `begun`.
    pub(super) fn failed(&mut self, begun: Instant) {
        self.since.get_or_insert(begun);
        self.failures += 1;
    }

    /// Returns how often it has failed.
    pub(super) const fn failures(&self) -> u32 {
        self.failures
    }

    fn for_s(&self) -> f64 {
        self.since.map_or(0.0, |since| since.elapsed().as_secs_f64())
    }
}

impl Lane {
    /// Tells elsewhere what has waited on a lane for as long as an alarm may without being tried.
    pub(super) async fn look_at_late(&self, lane: &str, looks: &mut LateLooks) {
        let is_due = looks.looked.elapsed() >= EVERY;
        let has_tried = looks.begun.elapsed().as_secs_f64() >= ELSEWHERE_AFTER_S;
        // the topic's publications have no queue of their own behind one that hangs
        if lane == MQTT_LANE || !is_due || !has_tried {
            return;
        }
        looks.looked = Instant::now();
        let now = self.clock.now();
        let before = (now.plus_seconds(-ELSEWHERE_AFTER_S), now.plus_seconds(-LEAST_PATIENCE_S));
        let late = match self.store.late_alarms(lane, before).await {
            Ok(late) => late,
            Err(error) => {
                log::elsewhere_failed(lane, &error);
                return;
            }
        };
        let earlier = std::mem::take(&mut looks.late);
        let reason = format!("it waits behind others, and was not tried for {ELSEWHERE_AFTER_S} s");
        for alarm in &late {
            if earlier.contains(&alarm.notification_id)
                && let Some(told) = notification_of(lane, alarm)
            {
                let _reached = self.reached_elsewhere(lane, &reason, &[told]).await;
            }
        }
        looks.late = late.into_iter().map(|alarm| alarm.notification_id).collect();
    }

    /// Handles a summary that its receiver does not take: the lane is one that fails, and what no
    /// other way carries is told elsewhere, at once where the receiver refuses. Nothing is left
    /// where it refuses for good and somebody else was told.
    pub(super) async fn not_summed(
        &self,
        (lane, ceiling): (&str, &Ceiling),
        held: &HeldBack,
        error: SendError,
        failing: &FailingSummary,
    ) -> Result<(), NotSummed> {
        let error = granted(error);
        let asked = error.asked();
        let pause = PAUSES.after(failing.failures().saturating_sub(1));
        let pause = pause.max(asked.unwrap_or_default());
        let waits_s = failing.for_s() + asked.map_or(0.0, |wait| wait.as_secs_f64());
        let (is_over, goes_on) = match error {
            SendError::Never(_) => (true, true),
            SendError::Refused(_) => (false, true),
            SendError::Later(_) | SendError::After(..) => (false, waits_s >= ELSEWHERE_AFTER_S),
            // some of the lane's recipients have it
            SendError::Partly(_) | SendError::Rest(_) => return Ok(()),
        };
        let reason = format!("the summary of what was held back is not taken: {error}");
        let of_store =
            |error: StoreError| NotSummed { reason: format!("{reason}; {error}"), pause };
        let next = self.clock.now().plus_seconds(pause.as_secs_f64());
        let noted = ceiling.store().note_not_summed(lane, held.through, next, &reason).await;
        noted.map_err(of_store)?;
        let mut reached = Reached::Somebody;
        if goes_on {
            let late = self.clock.now().plus_seconds(-ELSEWHERE_AFTER_S);
            let alarms = ceiling.store().held_alarms(lane, held.through, late).await;
            for alarm in &alarms.map_err(of_store)? {
                let Some(told) = notification_of(lane, alarm) else { continue };
                if self.reached_elsewhere(lane, &reason, &[told]).await != Some(Reached::Somebody) {
                    reached = Reached::Nobody;
                }
            }
        }
        if is_over && reached == Reached::Somebody {
            let now = self.clock.now();
            let given_up = ceiling.store().give_up_held(lane, held.through, now, &reason).await;
            return given_up.map_err(of_store);
        }
        Err(NotSummed { reason, pause })
    }
}

/// The notification of an alarm that waits; one that cannot be read is logged.
fn notification_of(lane: &str, alarm: &UnsentAlarm) -> Option<Notification> {
    match serde_json::from_str(&alarm.payload) {
        Ok(told) => Some(told),
        Err(error) => {
            log::unsent_unreadable(lane, alarm.notification_id, &error);
            None
        }
    }
}

#[cfg(test)]
mod tests;
