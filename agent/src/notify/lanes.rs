//! The outbox's lanes: each takes its rows in their order, sends them, and notes what became of them.
//!
//! A lane that is slow or down does not hold up another. Pauses between tries double, with jitter; a
//! notification that cannot be delivered is given up after a configured time, kept, counted and
//! logged; a publication is never given up, as the broker it waits for is the one that brings events.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use pdm_service::backoff::{Jitter, Pauses};
use pdm_service::clock::SharedClock;
use pdm_shared::delivery::Notification;
use pdm_shared::time::Timestamp;
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use super::MQTT_LANE;
use crate::mqtt::publisher::{Message, Publisher};
use crate::progress::Reporter;
use crate::store::due::LONGEST_RETRY_S;
use crate::store::{Claimed, OutboxStore, SendOutcome};

/// Rows claimed at once.
const CLAIM: u32 = 256;
/// How long a claim holds; longer than any send takes.
const CLAIM_S: f64 = 300.0;
/// A lane looks at least this often.
const LOOK: Duration = Duration::from_secs(1);
/// First and longest pause after a failure.
const NOMINAL_PAUSES: Pauses = Pauses::new(Duration::from_secs(2), Duration::from_mins(10));
/// How much longer or shorter than its nominal length a pause is, so that rows that failed together
/// are not sent together again.
const JITTER: f64 = 0.2;
/// The pauses after a failure.
pub(super) const PAUSES: Pauses = NOMINAL_PAUSES.with_jitter(Jitter::Around(JITTER));
const _: () = assert!(PAUSES.longest.as_secs() as f64 * (1.0 + JITTER) <= LONGEST_RETRY_S);
/// How long a batch of publications may wait for its PUBACKs.
const CONFIRM: Duration = Duration::from_mins(1);

/// A notification did not get through.
#[derive(Debug, thiserror::Error)]
pub(crate) enum SendError {
    /// It may later.
    #[error("{0}")]
    Later(String),
    /// It never will: refused for what it is or where it goes.
    #[error("{0}")]
    Never(String),
}

/// A way to people.
#[async_trait]
pub(crate) trait Channel: Send + Sync + std::fmt::Debug {
    /// Its lane in the outbox.
    fn lane(&self) -> &str;

    /// Sends notifications together; `key` is the same on every try.
    async fn send(&self, key: Uuid, notifications: &[Notification]) -> Result<(), SendError>;
}

/// What every lane needs.
#[derive(Debug, Clone)]
pub(crate) struct Lane {
    pub(crate) store: Arc<dyn OutboxStore>,
    pub(crate) clock: SharedClock,
    pub(crate) reporter: Reporter,
    /// Rung when there may be something to send.
    pub(crate) written: Arc<Notify>,
    pub(crate) give_up_after: Duration,
    /// Stop taking rows.
    pub(crate) stop: CancellationToken,
}

impl Lane {
    /// Runs the lane of MQTT.
    pub(crate) async fn run_mqtt(self, publisher: Publisher) {
        while let Some(rows) = self.next(MQTT_LANE).await {
            let outcomes = self.publish(&publisher, rows).await;
            self.settle(&outcomes).await;
        }
    }

    /// Runs the lane of a channel.
    pub(crate) async fn run(self, channel: Arc<dyn Channel>) {
        while let Some(rows) = self.next(channel.lane()).await {
            for group in groups(rows) {
                let outcomes = self.send(channel.as_ref(), &group).await;
                self.settle(&outcomes).await;
            }
        }
    }

    /// The next rows; `None` when stopped and nothing that is due is left.
    pub(super) async fn next(&self, lane: &str) -> Option<Vec<Claimed>> {
        // a claim that failed may have been committed all the same, and nothing else is claimed here
        // while the next rows are asked for
        let mut may_hold = false;
        loop {
            let now = self.clock.now();
            if may_hold && self.store.let_go(lane).await.is_ok() {
                may_hold = false;
            }
            match self.store.claim(lane, now, now.plus_seconds(CLAIM_S), CLAIM).await {
                Ok(rows) if !rows.is_empty() => return Some(rows),
                Ok(_) if self.stop.is_cancelled() => return None,
                Ok(_) => {}
                Err(error) => {
                    tracing::warn!(lane, %error, "cannot read the outbox");
                    may_hold = true;
                    if self.stop.is_cancelled() {
                        return None;
                    }
                }
            }
            tokio::select! {
                () = self.written.notified() => {}
                () = tokio::time::sleep(LOOK) => {}
                () = self.stop.cancelled() => {}
            }
        }
    }

    async fn publish(&self, publisher: &Publisher, rows: Vec<Claimed>) -> Vec<(i64, SendOutcome)> {
        let mut waiting = Vec::with_capacity(rows.len());
        let deadline = tokio::time::Instant::now() + CONFIRM;
        for row in &rows {
            let message = Message {
                topic: row.topic.clone().unwrap_or_default(),
                payload: row.payload.clone().into_bytes(),
                retain: row.retain,
            };
            let queued = tokio::time::timeout_at(deadline, publisher.queue(message)).await;
            waiting.push(queued.ok());
        }
        let mut outcomes = Vec::with_capacity(rows.len());
        for (row, confirmed) in rows.iter().zip(waiting) {
            let result = match confirmed {
                Some(confirmed) => match tokio::time::timeout_at(deadline, confirmed).await {
                    Ok(Ok(result)) => result.map_err(|error| error.to_string()),
                    Ok(Err(_dropped)) => Err("the connection to the broker was lost".to_owned()),
                    Err(_elapsed) => Err("not confirmed by the broker in time".to_owned()),
                },
                None => Err("no connection to the broker".to_owned()),
            };
            let outcome = match result {
                Ok(()) => SendOutcome::Delivered,
                // the whole lane waits for the same broker: a short pause keeps the order
                Err(error) => SendOutcome::Retry {
                    at: self.clock.now().plus_seconds(NOMINAL_PAUSES.shortest.as_secs_f64()),
                    error,
                },
            };
            outcomes.push((row.id, outcome));
        }
        outcomes
    }

    async fn send(&self, channel: &dyn Channel, rows: &[Claimed]) -> Vec<(i64, SendOutcome)> {
        let Some(first) = rows.first() else { return Vec::new() };
        let mut notifications = Vec::with_capacity(rows.len());
        for row in rows {
            match serde_json::from_str::<Notification>(&row.payload) {
                Ok(notification) => notifications.push(notification),
                Err(error) => tracing::error!(%error, id = row.id, "a row that is no notification"),
            }
        }
        let outcome = match channel.send(key_of(rows), &notifications).await {
            Ok(()) => SendOutcome::Delivered,
            Err(error) => self.failed(channel.lane(), first, error),
        };
        rows.iter().map(|row| (row.id, outcome.clone())).collect()
    }

    fn failed(&self, lane: &str, row: &Claimed, error: SendError) -> SendOutcome {
        let now = self.clock.now();
        // by the pauses that were made and not by the wall clock: it may have jumped
        let nominal_s = |failures| NOMINAL_PAUSES.after(failures).as_secs_f64();
        let tried_s: f64 = (0..row.attempts).map(nominal_s).sum();
        metrics::counter!("pdm_agent_notify_failures_total", "lane" => lane.to_owned())
            .increment(1);
        match error {
            SendError::Later(error) if tried_s < self.give_up_after.as_secs_f64() => {
                let pause_s = PAUSES.after(row.attempts).as_secs_f64();
                tracing::warn!(lane, %error, attempts = row.attempts + 1, pause_s, "not delivered, trying on");
                SendOutcome::Retry { at: now.plus_seconds(pause_s), error }
            }
            SendError::Later(error) | SendError::Never(error) => {
                tracing::error!(lane, %error, key = %row.key, "notification given up; it stays in the outbox");
                metrics::counter!("pdm_agent_notify_given_up_total", "lane" => lane.to_owned())
                    .increment(1);
                SendOutcome::GivenUp { error }
            }
        }
    }

    /// Notes what became of rows, as long as it takes: what is not noted is sent again when its
    /// claim ends, rather twice than never.
    pub(super) async fn settle(&self, outcomes: &[(i64, SendOutcome)]) {
        while let Err(error) = self.store.settle(outcomes, self.clock.now()).await {
            tracing::error!(%error, "cannot note what was sent");
            if self.stop.is_cancelled() {
                return;
            }
            tokio::select! {
                () = tokio::time::sleep(LOOK) => {}
                () = self.stop.cancelled() => {}
            }
        }
        let delivered =
            outcomes.iter().filter(|(_, outcome)| *outcome == SendOutcome::Delivered).count()
                as u64;
        let done = outcomes
            .iter()
            .filter(|(_, outcome)| !matches!(outcome, SendOutcome::Retry { .. }))
            .count() as u64;
        self.reporter.update(|progress| {
            progress.delivered += delivered;
            progress.unsent = progress.unsent.saturating_sub(done);
        });
    }
}

/// The idempotency key of what leaves together: that of a single row, else one made of all of them.
/// So one key never stands for two different contents, of which a receiver would drop the second.
fn key_of(rows: &[Claimed]) -> Uuid {
    match rows {
        [one] => one.key,
        many => {
            let mixed = many.iter().fold(0, |mixed, row| mixed ^ row.key.as_u128());
            uuid::Builder::from_custom_bytes(mixed.to_be_bytes()).into_uuid()
        }
    }
}

/// Rows of one group and with the same number of tries leave together. A group's name holds the
/// instant at which it leaves ([`super::policy`]), so a retry carries what the first try carried,
/// also after a crash in between.
fn groups(rows: Vec<Claimed>) -> Vec<Vec<Claimed>> {
    let mut groups: Vec<Vec<Claimed>> = Vec::new();
    for row in rows {
        let same = |group: &&mut Vec<Claimed>| {
            group.first().is_some_and(|first| {
                first.group.is_some() && first.group == row.group && first.attempts == row.attempts
            })
        };
        match groups.iter_mut().find(same) {
            Some(group) => group.push(row),
            None => groups.push(vec![row]),
        }
    }
    groups
}

/// The worst level first, then the oldest.
pub(super) fn by_urgency(notifications: &[Notification]) -> Vec<&Notification> {
    let mut sorted: Vec<&Notification> = notifications.iter().collect();
    let at = |notification: &Notification| -> Timestamp { notification.created_at };
    sorted.sort_by(|a, b| b.risk_level.cmp(&a.risk_level).then(at(a).cmp(&at(b))));
    sorted
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(id: i64, group: &str, attempts: u32) -> Claimed {
        Claimed {
            id,
            key: Uuid::nil(),
            topic: None,
            retain: false,
            group: Some(group.to_owned()),
            payload: String::new(),
            attempts,
            created_at: Timestamp::from_unix_ms(0).expect("epoch"),
        }
    }

    #[test]
    fn a_retry_is_not_joined_by_newer_rows() {
        let rows = vec![row(1, "a", 1), row(2, "a", 1), row(3, "a", 0), row(4, "b", 0)];
        let ids: Vec<Vec<i64>> =
            groups(rows).iter().map(|group| group.iter().map(|row| row.id).collect()).collect();
        assert_eq!(ids, [vec![1, 2], vec![3], vec![4]]);
    }

    /// R-AGENT-10: a receiver that knows the key would drop what it does not know yet.
    #[test]
    fn a_key_stands_for_one_content_only() {
        let row = |n: u128| Claimed { key: Uuid::from_u128(n), ..row(1, "a", 0) };
        let (one, two, three) = (row(0x1111), row(0x2222), row(0x4444));
        assert_eq!(key_of(std::slice::from_ref(&one)), one.key);
        let pair = key_of(&[one.clone(), two.clone()]);
        assert_eq!(pair, key_of(&[two.clone(), one.clone()]), "the same again in another order");
        for other in [key_of(&[one.clone(), two.clone(), three]), one.key, two.key] {
            assert_ne!(pair, other);
        }
    }

    #[test]
    fn pauses_double_up_to_ten_minutes() {
        let pause_s = |failures| PAUSES.after(failures).as_secs_f64();
        assert!((1.6..=2.4).contains(&pause_s(0)));
        assert!((6.4..=9.6).contains(&pause_s(2)));
        assert!((480.0..=720.0).contains(&pause_s(30)));
    }
}
