//! Sends one message of a lane, and decides by its receiver's answer what follows.
//!
//! A refused message is told elsewhere at once, and so is one that fails for longer than
//! [`ELSEWHERE_AFTER_S`] ([`super::elsewhere`]). A message that is refused for good is given up,
//! unless nobody else could be told: then it is tried until the time of giving up, because a server
//! that refuses everybody may be wrong.

use std::time::Duration;

use pdm_shared::delivery::Notification;
use pdm_store::{Claimed, SendOutcome};
use tokio::time::Instant;

use super::elsewhere::Reached;
use super::grouping::key_of;
use super::lanes::{
    Channel, LOOK, Lane, NOMINAL_PAUSES, PAUSES, Published, SendError, is_notification,
};
use super::sited::sited;
use super::{MQTT_LANE, log};

/// How long a message may fail before it is told elsewhere too, s. Chosen: mail servers that make
/// unknown senders wait take the second try after one to five minutes.
pub(super) const ELSEWHERE_AFTER_S: f64 = 240.0;
/// The shortest pause after a refusal. Chosen: a receiver that is deployed anew is back within a
/// minute.
const SLOW: Duration = Duration::from_secs(10);

/// How long a send goes on after a secret of its channel has changed. Chosen: above what a mail
/// server or hook that works needs to confirm what it has taken already, which would come twice if
/// it were sent again, and well below the minute within which an alarm has to be told.
const GRACE: Duration = Duration::from_secs(20);

/// The time between two publications of an alarm that nobody subscribes to, s. Chosen: a receiver
/// that is restarted is back within it, and a publication costs nobody's sleep.
const UNHEARD_S: f64 = 30.0;

/// The shortest time that a receiver has for an answer before the alarm is told elsewhere, s.
/// Chosen: mail servers greet after up to 10 s.
pub(super) const LEAST_PATIENCE_S: f64 = 20.0;

/// Returns how long a message has waited after `failures` failures and this last try, s: the sum of
/// the pauses that were made and of the time that the tries took, because the wall clock may have
/// jumped.
fn waited_s(failures: u32, took_s: f64) -> f64 {
    let nominal_s = |failures| NOMINAL_PAUSES.after(failures).as_secs_f64();
    (0..failures).map(nominal_s).sum::<f64>() + f64::from(failures + 1) * took_s
}

/// The longest wait that a receiver is granted (`Retry-After`), s: as long as the longest pause by
/// the agent's own rule. Chosen: an alarm must not wait for a day because a receiver says so.
const LONGEST_ASKED_S: f64 = NOMINAL_PAUSES.longest.as_secs() as f64;

/// A receiver that asks to wait: until when nothing is sent to it, and what it said.
#[derive(Debug)]
pub(super) struct WaitAsked {
    until: Instant,
    said: String,
    /// How often the secrets of the channel had changed: another address or key is not asked to
    /// wait.
    renewals: u64,
}

impl WaitAsked {
    /// The wait that is left, as the failure of what is not sent meanwhile.
    fn holds(&self, renewals: u64) -> Option<SendError> {
        let left = self.until.checked_duration_since(Instant::now())?;
        let is_held = renewals == self.renewals && left >= Duration::from_millis(500);
        is_held.then(|| SendError::After(self.said.clone(), left))
    }
}

/// Ends some time after a secret of the channel has changed: a server that does not answer the old
/// one would hold up the message for as long as it may take.
async fn renewed(channel: &dyn Channel, before: u64) {
    while channel.renewals() == before {
        tokio::time::sleep(LOOK).await;
    }
    tokio::time::sleep(GRACE).await;
}

/// The failure with the wait that is granted, and in words what the receiver asks for.
pub(super) fn granted(error: SendError) -> SendError {
    let SendError::After(said, wait) = error else { return error };
    let asked_s = wait.as_secs();
    let granted = wait.min(Duration::from_secs_f64(LONGEST_ASKED_S));
    let granted_s = granted.as_secs();
    let words = if granted < wait {
        format!(
            "{said}; it asks to wait {asked_s} s, tried again after {granted_s} s, the longest \
             wait granted"
        )
    } else {
        format!("{said}; it asks to wait {asked_s} s, tried again after that")
    };
    SendError::After(words, granted)
}

/// Returns the time until which nothing is sent to the receiver, by its last answer.
fn asked_by(sent: &Result<(), SendError>, renewals: u64) -> Option<WaitAsked> {
    let Err(SendError::After(said, wait)) = sent else { return None };
    Some(WaitAsked { until: Instant::now() + *wait, said: said.clone(), renewals })
}

impl Lane {
    /// Sends rows in one message; returns their outcomes. While the receiver asks to wait nothing
    /// is sent.
    pub(super) async fn send(
        &self,
        channel: &dyn Channel,
        rows: &[Claimed],
        asked: &mut Option<WaitAsked>,
    ) -> Vec<(i64, SendOutcome)> {
        let mut notifications = Vec::with_capacity(rows.len());
        for row in rows {
            match serde_json::from_str::<Notification>(&row.payload) {
                Ok(notification) => notifications.push(notification),
                Err(error) => log::row_unreadable(channel.lane(), row.id, &error),
            }
        }
        let before = channel.renewals();
        let held = asked.as_ref().and_then(|asked| asked.holds(before));
        let begun = Instant::now();
        let sent = if let Some(held) = held {
            Some(Err(held))
        } else {
            tokio::select! {
                sent = self.sent_in_time(channel, rows, &notifications) =>
                    Some(sent.map_err(granted)),
                () = renewed(channel, before) => None,
            }
        };
        let took_s = begun.elapsed().as_secs_f64();
        *asked = sent.as_ref().and_then(|sent| asked_by(sent, before));
        let at_once = |error: &str| SendOutcome::Retry {
            at: self.clock.now(),
            error: format!("a secret has changed while it was sent: {error}"),
        };
        let outcome = match sent {
            Some(Ok(())) => SendOutcome::Delivered,
            Some(Err(error)) if error.is_of_all() && channel.renewals() != before => {
                at_once(&error.to_string())
            }
            Some(Err(error)) => {
                self.failed((channel.lane(), took_s), rows, &notifications, error).await
            }
            None => at_once("no answer to the one of before"),
        };
        if outcome.is_told() {
            self.elsewhere.delivered(&notifications);
        }
        rows.iter().map(|row| (row.id, outcome.clone())).collect()
    }

    /// Sends a message. A receiver that does not answer is no failure yet: a message that it has
    /// not answered for as long as an alarm may wait is told elsewhere meanwhile.
    async fn sent_in_time(
        &self,
        channel: &dyn Channel,
        rows: &[Claimed],
        notifications: &[Notification],
    ) -> Result<(), SendError> {
        let sites = self.reporter.progress().borrow().sites;
        let told = sited(notifications, sites);
        let sending = channel.send(key_of(rows), &told);
        tokio::pin!(sending);
        // the clock counts the tries of before, too; one that was set back counts nothing
        let by_clock_s = |row: &Claimed| self.clock.now().seconds_since(row.created_at);
        let waited_s =
            rows.first().map_or(0.0, |first| waited_s(first.attempts, 0.0).max(by_clock_s(first)));
        let left_s = (ELSEWHERE_AFTER_S - waited_s).max(LEAST_PATIENCE_S);
        tokio::select! {
            sent = &mut sending => return sent,
            () = tokio::time::sleep(Duration::from_secs_f64(left_s)) => {}
        }
        let reason = format!("the receiver has said nothing for {left_s:.0} s");
        let _reached = self.reached_elsewhere(channel.lane(), &reason, notifications).await;
        sending.await
    }

    async fn failed(
        &self,
        (lane, took_s): (&str, f64),
        rows: &[Claimed],
        notifications: &[Notification],
        error: SendError,
    ) -> SendOutcome {
        let Some(first) = rows.first() else { return SendOutcome::Delivered };
        let tried_s = waited_s(first.attempts, took_s);
        let may_try = tried_s < self.give_up_after.as_secs_f64();
        let reason = error.to_string();
        let asked_s = error.asked().map(|wait| wait.as_secs_f64());
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
            SendError::After(_, wait) => {
                let waits_s = tried_s + wait.as_secs_f64();
                (false, false, waits_s >= ELSEWHERE_AFTER_S || !may_try)
            }
            SendError::Refused(_) => (false, true, true),
            SendError::Never(_) => (true, true, true),
        };
        let reached = if goes_on {
            self.reached_elsewhere(lane, &reason, notifications).await
        } else {
            Some(Reached::Somebody)
        };
        // nobody knows who was told: the row must not end
        let slow = || if is_slow { Some(SLOW.as_secs_f64()) } else { None };
        let Some(reached) = reached else {
            return self.again(lane, first, reason, asked_s.or(Some(SLOW.as_secs_f64())));
        };
        if may_try && (!is_over || reached == Reached::Nobody) {
            return self.again(lane, first, reason, asked_s.or_else(slow));
        }
        log::given_up(lane, &reason, first.key);
        SendOutcome::GivenUp { error: reason }
    }

    /// Tells elsewhere what the broker's topic does not take, at once what the broker refuses, so
    /// that an alarm that the topic alone was to carry is counted as told to nobody. Its rows stay
    /// and are tried again.
    pub(super) async fn tell_of_publications(&self, rows: &[Claimed], published: &[Published]) {
        for (row, published) in rows.iter().zip(published).filter(|(row, _)| is_notification(row)) {
            let why = match &published.outcome {
                SendOutcome::Delivered | SendOutcome::Partly { .. } => None,
                SendOutcome::Held => continue,
                SendOutcome::GivenUp { error } => Some(error),
                SendOutcome::Retry { error, .. } => {
                    let waits_s = self.clock.now().seconds_since(row.created_at);
                    if !published.is_refused && waits_s < ELSEWHERE_AFTER_S {
                        continue;
                    }
                    Some(error)
                }
            };
            let notification = match serde_json::from_str::<Notification>(&row.payload) {
                Ok(notification) => notification,
                Err(error) => {
                    log::row_unreadable(MQTT_LANE, row.id, &error);
                    continue;
                }
            };
            match why {
                None => self.elsewhere.published(&notification),
                Some(why) => {
                    let alone = std::slice::from_ref(&notification);
                    let _reached = self.reached_elsewhere(MQTT_LANE, why, alone).await;
                }
            }
        }
    }

    /// Returns the outcome of a row that the broker has taken and that nobody subscribes to. Where
    /// the topic is the only way to staff, an alarm has reached nobody: it is published again until
    /// somebody subscribes, the alarm is over or acknowledged, or the time of giving up has come.
    pub(super) async fn unheard(&self, row: &Claimed) -> SendOutcome {
        if !is_notification(row) || self.elsewhere.has_ways() {
            return SendOutcome::Delivered;
        }
        let Ok(notification) = serde_json::from_str::<Notification>(&row.payload) else {
            // `tell_of_publications` says that it cannot be read
            return SendOutcome::Delivered;
        };
        let error = "nobody subscribes to it at the broker".to_owned();
        match self.elsewhere.unheard(&error, &notification).await {
            Ok(Reached::Somebody) => SendOutcome::Delivered,
            Ok(Reached::Nobody) | Err(_) => {
                let waits_s = self.clock.now().seconds_since(row.created_at);
                if waits_s >= self.give_up_after.as_secs_f64() {
                    log::given_up(MQTT_LANE, &error, row.key);
                    return SendOutcome::GivenUp { error };
                }
                log::count_failure(MQTT_LANE);
                let at = self.clock.now().plus_seconds(UNHEARD_S);
                SendOutcome::Retry { at, error }
            }
        }
    }

    /// Tells the notifications elsewhere; `None` while the store does not say who can be told.
    pub(super) async fn reached_elsewhere(
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

    /// The next try of a row, not before `least_s`. What a receiver asks for is kept to the second:
    /// the lane sends nothing to it before.
    fn again(&self, lane: &str, row: &Claimed, error: String, least_s: Option<f64>) -> SendOutcome {
        let pause_s = PAUSES.after(row.attempts).as_secs_f64().max(least_s.unwrap_or_default());
        // a try falls on the time at which the alarm is told elsewhere
        let left_s = ELSEWHERE_AFTER_S - waited_s(row.attempts, 0.0);
        let pause_s = if left_s > 0.0 && least_s.is_none() {
            pause_s.min(left_s.max(LEAST_PATIENCE_S))
        } else {
            pause_s
        };
        log::not_delivered(lane, &error, row.attempts + 1, pause_s);
        SendOutcome::Retry { at: self.clock.now().plus_seconds(pause_s), error }
    }
}
