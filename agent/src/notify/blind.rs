//! The watch over the store. While the store does not answer nothing is stored, judged or sent through
//! the outbox, so the agent sees nothing; staff is told so directly, without the store.
//!
//! The edges keep their events meanwhile, and after the end everything is judged and told once. What
//! was told directly has one identity for each outage; an agent that is started anew within an outage
//! tells it again.

use std::sync::Arc;
use std::time::Duration;

use futures_util::future::join_all;
use pdm_service::clock::SharedClock;
use pdm_shared::time::Timestamp;
use tokio::time::{Instant, timeout};
use tokio_util::sync::CancellationToken;

use super::lanes::{Channel, PAUSES, SendError};
use super::log;
use super::policy::Policy;
use crate::store::Store;

/// Between two questions to the store.
const LOOK: Duration = Duration::from_secs(1);
/// How long the store may take to answer the simplest question. Chosen: a store that is busy answers in
/// milliseconds.
const ANSWER: Duration = Duration::from_secs(2);
/// How long a channel may take for a message.
const SEND: Duration = Duration::from_secs(30);

/// Watches the store.
#[derive(Debug)]
pub(crate) struct StoreWatch {
    pub(crate) store: Arc<dyn Store>,
    pub(crate) clock: SharedClock,
    /// The channels that hear of it.
    pub(crate) channels: Vec<Arc<dyn Channel>>,
    /// How long the store may be away before staff is told.
    pub(crate) after: Duration,
}

/// A time in which the store does not answer.
struct Outage {
    began: Instant,
    began_at: Timestamp,
    /// What each channel has been told, and when it is tried again.
    told: Vec<Told>,
}

/// What a channel has been told of an outage.
#[derive(Clone, Copy)]
struct Told {
    is_done: bool,
    failures: u32,
    next: Instant,
}

impl StoreWatch {
    /// Watches until `stop`.
    pub(crate) async fn run(self, stop: CancellationToken) {
        let mut outage: Option<Outage> = None;
        while !stop.is_cancelled() {
            let asked = Instant::now();
            let is_there = matches!(timeout(ANSWER, self.store.ping()).await, Ok(Ok(())));
            if is_there {
                if let Some(outage) = outage.take() {
                    self.over(&outage).await;
                }
            } else {
                let outage = outage.get_or_insert_with(|| self.begun(asked));
                if outage.began.elapsed() >= self.after {
                    self.tell(outage).await;
                }
            }
            tokio::select! {
                () = tokio::time::sleep(LOOK) => {}
                () = stop.cancelled() => {}
            }
        }
    }

    /// An outage that began when the store was asked.
    fn begun(&self, began: Instant) -> Outage {
        log::store_away();
        let told = Told { is_done: false, failures: 0, next: began };
        Outage { began, began_at: self.clock.now(), told: vec![told; self.channels.len()] }
    }

    /// Tells every channel that has not been told, side by side: one that hangs too holds up no other
    /// for longer than [`SEND`].
    async fn tell(&self, outage: &mut Outage) {
        let Some(message) = Policy::store_away(outage.began_at, self.clock.now()) else {
            return;
        };
        let messages = std::slice::from_ref(&message);
        let sends = self.channels.iter().zip(&mut outage.told).map(|(channel, told)| async move {
            if told.is_done || told.next > Instant::now() {
                return;
            }
            match send(channel.as_ref(), messages).await {
                Ok(()) => told.is_done = true,
                Err(error) => {
                    let pause = PAUSES.after(told.failures);
                    told.failures += 1;
                    told.next = Instant::now() + pause;
                    log::not_delivered(channel.lane(), &error, told.failures, pause.as_secs_f64());
                }
            }
        });
        join_all(sends).await;
    }

    /// Tells those who were told that the store answers again; a channel that fails now is not tried
    /// again, because the outbox works.
    async fn over(&self, outage: &Outage) {
        log::store_back(outage.began.elapsed());
        let message = Policy::store_back(outage.began_at, self.clock.now());
        let Some(message) = message else { return };
        let messages = std::slice::from_ref(&message);
        let heard = self.channels.iter().zip(&outage.told).filter(|(_, told)| told.is_done);
        let id = message.notification_id;
        let sends = heard.map(|(channel, _)| async move {
            if let Err(error) = send(channel.as_ref(), messages).await {
                log::given_up(channel.lane(), &error, id);
            }
        });
        join_all(sends).await;
    }
}

async fn send(
    channel: &dyn Channel,
    messages: &[pdm_shared::delivery::Notification],
) -> Result<(), String> {
    let Some(first) = messages.first() else { return Ok(()) };
    match timeout(SEND, channel.send(first.notification_id, messages)).await {
        Ok(Ok(())) => Ok(()),
        Ok(Err(SendError::Later(error) | SendError::Never(error))) => Err(error),
        Err(_elapsed) => Err(format!("no answer within {} s", SEND.as_secs())),
    }
}
