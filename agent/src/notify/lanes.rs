//! The lanes of the outbox: each claims its rows in their order, sends them, and stores their
//! outcomes.
//!
//! A lane that is slow or down does not hold up another. Pauses between tries double, with jitter.
//! A notification that cannot be delivered is given up after a configured time: it stays in the
//! outbox, is counted and logged (`sending`). A publication is given up only if it is larger than
//! the broker takes; otherwise never, because the broker that it waits for is the same one that
//! brings events: without it nothing new has to leave.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use pdm_service::backoff::{Jitter, Pauses};
use pdm_service::clock::SharedClock;
use pdm_shared::delivery::Notification;
use pdm_shared::time::Timestamp;
use pdm_store::due::LONGEST_RETRY_S;
use pdm_store::{Claimed, OutboxStore, SendOutcome, StoreError, VECTORS_LANE};
use pdm_web::plant::DEMAND_LIFE_S;
use tokio::sync::{Notify, oneshot};
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use super::ceiling::Ceiling;
use super::elsewhere::Elsewhere;
use super::portion::Portion;
use super::{DEAD_LETTER_LANE, MQTT_LANE, log};
use crate::mqtt::publisher::{Confirmed, Message, PublishError, Publisher};
use crate::progress::Reporter;
use crate::vitals::Teller;

mod probe;
mod turns;

/// Most rows claimed at once: as many as the publisher takes before it waits for PUBACKs.
pub(super) const CLAIM: u32 = 256;
/// How long a claim holds, s: longer than the longest send, which is a batch of publications that
/// waits [`CONFIRM`] for its PUBACKs.
const CLAIM_S: f64 = 300.0;
/// Rows of a claim from which on notifications go first: half of the first claim.
const MANY: usize = 16;
/// Refused messages that are claimed at once, and the pause after them: 320 a second at most.
const LETTERS: u32 = 32;
const LETTERS_PAUSE: Duration = Duration::from_millis(100);
/// The longest time between two looks at the outbox, for rows whose time has come.
pub(super) const LOOK: Duration = Duration::from_secs(1);
/// First and longest pause after a failure.
pub(super) const NOMINAL_PAUSES: Pauses =
    Pauses::new(Duration::from_secs(2), Duration::from_mins(10));
/// Each pause is up to this share longer or shorter, so that rows that failed together are not all
/// tried at the same time again.
const JITTER: f64 = 0.2;
/// The pauses after a failure.
pub(super) const PAUSES: Pauses = NOMINAL_PAUSES.with_jitter(Jitter::Around(JITTER));
const _: () = assert!(PAUSES.longest.as_secs() as f64 * (1.0 + JITTER) <= LONGEST_RETRY_S);
/// How long a batch of publications may wait for its PUBACKs.
pub(super) const CONFIRM: Duration = Duration::from_mins(1);

/// A notification was not delivered.
#[derive(Debug, thiserror::Error)]
pub(crate) enum SendError {
    /// Trying again can help.
    #[error("{0}")]
    Later(String),
    /// The receiver asks to wait this long before anything is sent to it again.
    #[error("{0}")]
    After(String, Duration),
    /// The receiver does not let us in, or is not there: people may repair that, so it is tried
    /// again slowly, and the alarm is told elsewhere at once.
    #[error("{0}")]
    Refused(String),
    /// Trying again cannot help: the receiver refuses the content or the address. The alarm is told
    /// elsewhere at once.
    #[error("{0}")]
    Never(String),
    /// Some recipients of the channel have it; the others are tried again.
    #[error("{0}")]
    Rest(String),
    /// Some recipients of the channel have it; the others refuse it for good.
    #[error("{0}")]
    Partly(String),
}

impl SendError {
    /// Returns how long the receiver asks to wait.
    pub(super) const fn asked(&self) -> Option<Duration> {
        match self {
            Self::After(_, wait) => Some(*wait),
            Self::Later(_)
            | Self::Refused(_)
            | Self::Never(_)
            | Self::Rest(_)
            | Self::Partly(_) => None,
        }
    }

    /// Whether no recipient has it.
    pub(super) const fn is_of_all(&self) -> bool {
        match self {
            Self::Later(_) | Self::After(..) | Self::Refused(_) | Self::Never(_) => true,
            Self::Rest(_) | Self::Partly(_) => false,
        }
    }
}

/// A way to deliver notifications to people.
#[async_trait]
pub(crate) trait Channel: Send + Sync + std::fmt::Debug {
    /// The channel's lane in the outbox.
    fn lane(&self) -> &str;

    /// Most rows that are claimed at once.
    fn most(&self) -> u32 {
        CLAIM
    }

    /// Returns how often secrets of the channel have changed.
    fn renewals(&self) -> u64 {
        0
    }

    /// Sends a message of trial; what its receiver says.
    async fn try_out(&self, key: Uuid, trial: &Notification) -> Result<String, SendError> {
        self.send(key, std::slice::from_ref(trial)).await.map(|()| "taken".to_owned())
    }

    /// Sends notifications together; `key` is the same on every try.
    async fn send(&self, key: Uuid, notifications: &[Notification]) -> Result<(), SendError>;
}

/// A lane, whatever its channel.
#[derive(Debug, Clone)]
pub(crate) struct Lane {
    pub(crate) store: OutboxStore,
    pub(crate) clock: SharedClock,
    pub(crate) reporter: Reporter,
    /// Notified when there may be something to send.
    pub(crate) written: Arc<Notify>,
    pub(crate) give_up_after: Duration,
    /// Tells elsewhere what a channel does not take.
    pub(crate) elsewhere: Arc<Elsewhere>,
    /// Send the rows that are due, then end.
    pub(crate) stop: CancellationToken,
}

impl Lane {
    /// Runs the lane of publications to the broker, with at most as many notifications an hour as
    /// the ceiling says.
    pub(crate) async fn run_mqtt(self, publisher: Publisher, ceiling: Arc<Ceiling>) {
        let mut portion = Portion::of(CLAIM);
        while let Some(rows) = self.next(MQTT_LANE, &mut portion, &|| false).await {
            let now = self.clock.now();
            let rows = urgent_first(rows);
            let (rows, held) = under_ceiling(rows, &ceiling, now).await;
            let mut told = Vec::new();
            for row in rows.iter().filter(|row| is_notification(row)) {
                told.push((row.id, ceiling.share_of(std::slice::from_ref(row)).await));
            }
            let published = self.publish(&publisher, &rows).await;
            self.tell_of_publications(&rows, &published).await;
            let mut outcomes = outcomes(published);
            for (id, share) in &told {
                if outcomes.contains(&(*id, SendOutcome::Delivered)) {
                    ceiling.delivered(share, now).await;
                }
            }
            outcomes.extend(held);
            self.settle(MQTT_LANE, &outcomes).await;
        }
    }

    /// Runs the lane of refused messages: few at a time, so that what staff waits for has the
    /// connection.
    pub(crate) async fn run_dead_letters(self, publisher: Publisher) {
        let mut portion = Portion::of(LETTERS);
        while let Some(rows) = self.next(DEAD_LETTER_LANE, &mut portion, &|| false).await {
            let outcomes = outcomes(self.publish(&publisher, &rows).await);
            self.settle(DEAD_LETTER_LANE, &outcomes).await;
            tokio::select! {
                () = tokio::time::sleep(LETTERS_PAUSE) => {}
                () = self.stop.cancelled() => {}
            }
        }
    }

    /// Runs the lane of a channel, at most as many messages an hour as the ceiling says.
    pub(crate) async fn run(self, channel: Arc<dyn Channel>, ceiling: Arc<Ceiling>) {
        let mut portion = Portion::of(channel.most());
        let seen = AtomicU64::new(channel.renewals());
        let is_renewed = || {
            let now = channel.renewals();
            seen.swap(now, Ordering::Relaxed) != now
        };
        let mut asked = None;
        let mut probed = None;
        while let Some(rows) =
            self.next_or_probe(channel.lane(), &mut portion, &is_renewed, &mut probed).await
        {
            self.serve(channel.as_ref(), &ceiling, rows, (&mut asked, &mut probed)).await;
        }
    }

    /// The next rows; `None` when the lane is stopped and no due row is left. Rows that wait for a
    /// later time stay in the outbox for the next start; where `is_renewed` says that a secret has
    /// changed, what failed with the one of before is tried at once.
    pub(super) async fn next(
        &self,
        lane: &str,
        portion: &mut Portion,
        is_renewed: &(dyn Fn() -> bool + Sync),
    ) -> Option<Vec<Claimed>> {
        // after a failed claim the database may have committed it although the answer was lost;
        // this lane holds no other claim at this point, so all of its claims can be freed
        let mut may_hold = false;
        let mut is_owed_a_try = false;
        loop {
            let now = self.clock.now();
            is_owed_a_try |= is_renewed();
            if is_owed_a_try && self.store.try_at_once(lane, now).await.is_ok() {
                is_owed_a_try = false;
            }
            if may_hold && self.store.let_go(lane).await.is_ok() {
                may_hold = false;
            }
            match self.store.claim(lane, now, now.plus_seconds(CLAIM_S), portion.rows()).await {
                Ok(rows) if !rows.is_empty() => {
                    self.store_served(lane);
                    portion.took(rows.len(), rows.iter().map(|row| row.payload.len()).sum());
                    return Some(rows);
                }
                Ok(_) if self.stop.is_cancelled() => return None,
                Ok(_) => self.store_served(lane),
                Err(error) => {
                    log::claim_failed(lane, &error);
                    self.store_refused(lane, &error);
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

    fn store_refused(&self, lane: &str, error: &StoreError) {
        // what is remembered for searches and refused messages tell nobody
        if ![VECTORS_LANE, DEAD_LETTER_LANE].contains(&lane) {
            self.reporter.vitals().teller_failed(Teller::Lane(lane.to_owned()), error);
        }
    }

    fn store_served(&self, lane: &str) {
        self.reporter.vitals().teller_worked(&Teller::Lane(lane.to_owned()));
    }

    /// Publishes rows: all are queued first, then their PUBACKs are awaited, so that a batch takes
    /// one round trip.
    async fn publish(&self, publisher: &Publisher, rows: &[Claimed]) -> Vec<Published> {
        let mut waiting = Vec::with_capacity(rows.len());
        let deadline = tokio::time::Instant::now() + CONFIRM;
        for row in rows {
            let message = Message {
                topic: row.topic.clone().unwrap_or_default(),
                payload: row.payload.clone().into_bytes(),
                retain: row.retain,
                expires_s: left_s(row, self.clock.now()),
            };
            let queued = tokio::time::timeout_at(deadline, publisher.queue(message)).await;
            waiting.push(queued.ok());
        }
        let mut outcomes = Vec::with_capacity(rows.len());
        for (row, confirmed) in rows.iter().zip(waiting) {
            let confirmed = confirmation(confirmed, deadline).await;
            let is_refused = matches!(confirmed, Err(Unconfirmed::Refused(_)));
            let outcome = match confirmed {
                Ok(Confirmed::NoSubscriber) => self.unheard(row).await,
                Ok(Confirmed::Taken) => SendOutcome::Delivered,
                // this row alone is given up: it would be refused again, and the rows behind it
                // wait
                Err(Unconfirmed::Never(error)) => {
                    log::given_up(MQTT_LANE, &error, row.key);
                    SendOutcome::GivenUp { error }
                }
                // every row waits for the same broker: the shortest pause for all keeps their order
                Err(Unconfirmed::Later(error) | Unconfirmed::Refused(error)) => {
                    log::count_failure(MQTT_LANE);
                    SendOutcome::Retry {
                        at: self.clock.now().plus_seconds(NOMINAL_PAUSES.shortest.as_secs_f64()),
                        error,
                    }
                }
            };
            outcomes.push(Published { id: row.id, outcome, is_refused });
        }
        outcomes
    }

    /// Stores the outcomes of rows, trying until the store takes them or the lane is stopped. A row
    /// whose outcome is not stored is sent again when its claim ends: twice, but not never.
    pub(super) async fn settle(&self, lane: &str, outcomes: &[(i64, SendOutcome)]) {
        while let Err(error) = self.store.settle(outcomes, self.clock.now()).await {
            log::settle_failed(&error);
            self.store_refused(lane, &error);
            if self.stop.is_cancelled() {
                return;
            }
            tokio::select! {
                () = tokio::time::sleep(LOOK) => {}
                () = self.stop.cancelled() => {}
            }
        }
        self.store_served(lane);
        let delivered = outcomes.iter().filter(|(_, outcome)| outcome.is_told()).count() as u64;
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

/// Moves the rows that tell staff something to the front, if so many rows wait that the others
/// would delay them. Otherwise a judgement and its episode are published before the notification
/// that speaks of them.
fn urgent_first(rows: Vec<Claimed>) -> Vec<Claimed> {
    if rows.len() < MANY {
        return rows;
    }
    let (urgent, rest): (Vec<Claimed>, Vec<Claimed>) = rows.into_iter().partition(is_notification);
    urgent.into_iter().chain(rest).collect()
}

/// The rows that may be published, and the notifications that are held back.
async fn under_ceiling(
    rows: Vec<Claimed>,
    ceiling: &Ceiling,
    now: Timestamp,
) -> (Vec<Claimed>, Vec<(i64, SendOutcome)>) {
    if !rows.iter().any(is_notification) {
        return (rows, Vec::new());
    }
    let mut room = ceiling.room(now).await;
    let (mut sent, mut held) = (Vec::with_capacity(rows.len()), Vec::new());
    for row in rows {
        let fits = !is_notification(&row)
            || room.admits(&ceiling.share_of(std::slice::from_ref(&row)).await);
        if fits { sent.push(row) } else { held.push(row) }
    }
    if !held.is_empty() {
        ceiling.hold(held.len(), now);
    }
    (sent, held.iter().map(|row| (row.id, SendOutcome::Held)).collect())
}

/// The outcome of a publication.
#[derive(Debug)]
pub(super) struct Published {
    id: i64,
    pub(super) outcome: SendOutcome,
    /// The broker answered that it does not take it.
    pub(super) is_refused: bool,
}

fn outcomes(published: Vec<Published>) -> Vec<(i64, SendOutcome)> {
    published.into_iter().map(|one| (one.id, one.outcome)).collect()
}

/// Whether a row of the broker's lane tells staff something. Topics are made by [`super::policy`].
pub(super) fn is_notification(row: &Claimed) -> bool {
    row.topic.as_deref().is_some_and(|topic| topic.ends_with("/notification"))
}

/// Returns how long a publication has a meaning, s; `None` where it always has one. A demand for a
/// waveform that has waited too long here, for a broker that was away, is kept for another second
/// for a gateway that is connected.
fn left_s(row: &Claimed, now: Timestamp) -> Option<u32> {
    let is_demand = row.topic.as_deref().is_some_and(|topic| topic.ends_with("/capture"));
    let left = DEMAND_LIFE_S - now.seconds_since(row.created_at).max(0.0);
    is_demand.then_some(left.max(1.0) as u32)
}

/// Why a publication has no PUBACK.
#[derive(Debug)]
pub(super) enum Unconfirmed {
    Later(String),
    /// The broker's rules do not allow it: people may repair that.
    Refused(String),
    Never(String),
}

/// Waits for the PUBACK of a message; one that was not queued in time has none.
pub(super) async fn confirmation(
    queued: Option<oneshot::Receiver<Result<Confirmed, PublishError>>>,
    deadline: tokio::time::Instant,
) -> Result<Confirmed, Unconfirmed> {
    let later = |why: &str| Err(Unconfirmed::Later(why.to_owned()));
    let Some(confirmed) = queued else { return later("no connection to the broker") };
    match tokio::time::timeout_at(deadline, confirmed).await {
        Ok(Ok(Ok(confirmed))) => Ok(confirmed),
        Ok(Ok(Err(error @ PublishError::TooLarge { .. }))) => {
            Err(Unconfirmed::Never(error.to_string()))
        }
        Ok(Ok(Err(error @ PublishError::Refused(_)))) => {
            Err(Unconfirmed::Refused(error.to_string()))
        }
        Ok(Ok(Err(error @ PublishError::Disconnected))) => {
            Err(Unconfirmed::Later(error.to_string()))
        }
        Ok(Err(_dropped)) => later("the connection to the broker was lost"),
        Err(_elapsed) => later("not confirmed by the broker in time"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn notifications_go_first_where_much_waits() {
        let row = |id: i64, what: &str| Claimed {
            id,
            key: Uuid::nil(),
            topic: Some(format!("pdm/v1/s/e/b/{what}")),
            retain: false,
            group: None,
            payload: String::new(),
            attempts: 0,
            created_at: Timestamp::from_unix_ms(0).expect("epoch"),
        };
        let ids = |rows: Vec<Claimed>| -> Vec<i64> { rows.iter().map(|row| row.id).collect() };
        let few = vec![row(1, "diagnosis"), row(2, "notification")];
        assert_eq!(ids(urgent_first(few)), [1, 2]);
        let mut many: Vec<Claimed> = (1..20).map(|id| row(id, "diagnosis")).collect();
        many.push(row(20, "notification"));
        assert_eq!(ids(urgent_first(many))[..2], [20, 1]);
    }

    /// R-AGENT-7: a gateway that is back after an hour is not asked for the waveform of an hour
    /// ago.
    #[test]
    fn a_demand_for_a_waveform_ends_and_a_judgement_does_not() {
        let now = Timestamp::from_unix_ms(3_600_000).expect("in range");
        let row = |what: &str, age_s: f64| Claimed {
            id: 1,
            key: Uuid::nil(),
            topic: Some(format!("pdm/v1/s/e/b/{what}")),
            retain: false,
            group: None,
            payload: String::new(),
            attempts: 0,
            created_at: now.plus_seconds(-age_s),
        };
        assert_eq!(left_s(&row("capture", 0.0), now), Some(600));
        assert_eq!(left_s(&row("capture", 590.0), now), Some(10));
        assert_eq!(left_s(&row("capture", 3000.0), now), Some(1));
        assert_eq!(left_s(&row("diagnosis", 3000.0), now), None);
    }

    #[test]
    fn pauses_double_up_to_ten_minutes() {
        let pause_s = |failures| PAUSES.after(failures).as_secs_f64();
        assert!((1.6..=2.4).contains(&pause_s(0)));
        assert!((6.4..=9.6).contains(&pause_s(2)));
        assert!((480.0..=720.0).contains(&pause_s(30)));
    }
}
