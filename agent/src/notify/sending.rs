//! One message of a lane: sent, and what follows from what its receiver says.
//!
//! What is refused is told elsewhere at once, and so is what fails for longer than [`ELSEWHERE_AFTER_S`]
//! ([`super::elsewhere`]). What is refused for good is given up, unless nobody else could be told: then it
//! is tried until the time of giving up, because a server that refuses everybody may be wrong.

use std::time::Duration;

use pdm_shared::delivery::Notification;
use pdm_store::{Claimed, SendOutcome};

use super::elsewhere::Reached;
use super::grouping::key_of;
use super::lanes::{Channel, LOOK, Lane, NOMINAL_PAUSES, PAUSES, SendError};
use super::log;

/// How long a message may fail before it is told elsewhere too, s. Chosen: mail servers that make
/// unknown senders wait take the second try after one to five minutes.
const ELSEWHERE_AFTER_S: f64 = 240.0;
/// The shortest pause after a refusal. Chosen: a receiver that is deployed anew is back within a minute.
const SLOW: Duration = Duration::from_secs(10);

/// How long a send goes on after a secret of its channel has changed. Chosen: above what a mail server or hook
/// that works needs to confirm what it has taken already, which would come twice if it were sent again, and
/// well below the minute within which an alarm has to be told.
const GRACE: Duration = Duration::from_secs(20);

/// Ends some time after a secret of the channel has changed: a server that does not answer the old one would
/// hold up the message for as long as it may take.
async fn renewed(channel: &dyn Channel, before: u64) {
    while channel.renewals() == before {
        tokio::time::sleep(LOOK).await;
    }
    tokio::time::sleep(GRACE).await;
}

impl Lane {
    /// Sends rows in one message; what became of them.
    pub(super) async fn send(
        &self,
        channel: &dyn Channel,
        rows: &[Claimed],
    ) -> Vec<(i64, SendOutcome)> {
        let mut notifications = Vec::with_capacity(rows.len());
        for row in rows {
            match serde_json::from_str::<Notification>(&row.payload) {
                Ok(notification) => notifications.push(notification),
                Err(error) => log::row_unreadable(channel.lane(), row.id, &error),
            }
        }
        let before = channel.renewals();
        let sent = tokio::select! {
            sent = channel.send(key_of(rows), &notifications) => Some(sent),
            () = renewed(channel, before) => None,
        };
        let at_once = |error: &str| SendOutcome::Retry {
            at: self.clock.now(),
            error: format!("a secret has changed while it was sent: {error}"),
        };
        let outcome = match sent {
            Some(Ok(())) => SendOutcome::Delivered,
            Some(Err(error)) if error.is_of_all() && channel.renewals() != before => {
                at_once(&error.to_string())
            }
            Some(Err(error)) => self.failed(channel.lane(), rows, &notifications, error).await,
            None => at_once("no answer to the one of before"),
        };
        if outcome.is_told() {
            self.elsewhere.delivered(&notifications);
        }
        rows.iter().map(|row| (row.id, outcome.clone())).collect()
    }

    async fn failed(
        &self,
        lane: &str,
        rows: &[Claimed],
        notifications: &[Notification],
        error: SendError,
    ) -> SendOutcome {
        let Some(first) = rows.first() else { return SendOutcome::Delivered };
        // counted by the pauses that were made, because the wall clock may have jumped
        let nominal_s = |failures| NOMINAL_PAUSES.after(failures).as_secs_f64();
        let tried_s: f64 = (0..first.attempts).map(nominal_s).sum();
        let may_try = tried_s < self.give_up_after.as_secs_f64();
        let reason = error.to_string();
        let (is_over, is_slow, goes_on) = match error {
            SendError::Partly(error) => {
                log::partly_refused(lane, &error, first.key);
                return SendOutcome::Partly { error };
            }
            SendError::Rest(error) if !may_try => {
                log::partly_refused(lane, &error, first.key);
                return SendOutcome::Partly { error };
            }
            SendError::Rest(_) => (false, false, false),
            SendError::Later(_) => (false, false, tried_s >= ELSEWHERE_AFTER_S || !may_try),
            SendError::Refused(_) => (false, true, true),
            SendError::Never(_) => (true, true, true),
        };
        let reached = if goes_on {
            self.reached_elsewhere(lane, &reason, notifications).await
        } else {
            Some(Reached::Somebody)
        };
        // nobody knows who was told: the row must not end
        let Some(reached) = reached else { return self.again(lane, first, reason, true) };
        if may_try && (!is_over || reached == Reached::Nobody) {
            return self.again(lane, first, reason, is_slow);
        }
        log::given_up(lane, &reason, first.key);
        SendOutcome::GivenUp { error: reason }
    }

    /// Tells elsewhere; none while the store does not say who can be told.
    async fn reached_elsewhere(
        &self,
        lane: &str,
        reason: &str,
        notifications: &[Notification],
    ) -> Option<Reached> {
        let mut reached = Reached::Somebody;
        for notification in notifications {
            match self.elsewhere.tell_further(lane, reason, notification).await {
                Ok(Reached::Somebody) => {}
                Ok(Reached::Nobody) => reached = Reached::Nobody,
                Err(error) => {
                    log::elsewhere_failed(lane, &error);
                    return None;
                }
            }
        }
        Some(reached)
    }

    fn again(&self, lane: &str, row: &Claimed, error: String, is_slow: bool) -> SendOutcome {
        let mut pause = PAUSES.after(row.attempts);
        if is_slow {
            pause = pause.max(SLOW);
        }
        let pause_s = pause.as_secs_f64();
        log::not_delivered(lane, &error, row.attempts + 1, pause_s);
        SendOutcome::Retry { at: self.clock.now().plus_seconds(pause_s), error }
    }
}
