//! The watch over the agent's own sight. While the store cannot be used, or events wait for
//! judgements that do not come, the agent sees nothing; staff is told so directly, without the
//! store.
//!
//! The fault stands in [`Vitals`]; this task only reports it, once it has lasted. The edges keep
//! their events meanwhile, and after the end everything is judged and told once. A direct message
//! has one identity for each outage; an agent that is restarted within an outage sends it again.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::join_all;
use pdm_service::clock::SharedClock;
use tokio::time::{Instant, timeout};
use tokio_util::sync::CancellationToken;

use super::lanes::{Channel, PAUSES, SendError};
use super::log;
use super::policy::Policy;
use crate::vitals::{Ailment, Vitals};

/// The time between two looks at what is due.
const LOOK: Duration = Duration::from_secs(1);
/// How long a channel may take for a message.
const SEND: Duration = Duration::from_secs(30);
/// How long the channels may take at the agent's end. Chosen: a third of the shortest usual time
/// between SIGTERM and SIGKILL, 10 s with Docker.
const LAST_SEND: Duration = Duration::from_secs(3);

/// Tells staff that the agent is blind, and that it sees again.
#[derive(Debug)]
pub(crate) struct OutageWatch {
    pub(crate) vitals: Vitals,
    pub(crate) clock: SharedClock,
    /// The channels that hear of it.
    pub(crate) channels: Vec<Arc<dyn Channel>>,
    /// How long it may last before staff is told.
    pub(crate) after: Duration,
}

/// A time in which the agent is blind, and what each lane has been told of it.
#[derive(Debug)]
pub(crate) struct Outage {
    ailment: Ailment,
    lanes: BTreeMap<String, LaneTold>,
}

/// The state of telling one lane of an outage.
#[derive(Debug, Clone, Copy)]
struct LaneTold {
    is_done: bool,
    failures: u32,
    next: Instant,
}

impl OutageWatch {
    /// Watches until `stop`; goes on with an outage that an earlier watch has told of, and returns
    /// the one that stands at the end.
    pub(crate) async fn run(
        &self,
        mut outage: Option<Outage>,
        stop: CancellationToken,
    ) -> Option<Outage> {
        let mut changes = self.vitals.subscribe();
        while !stop.is_cancelled() {
            let ailment = changes.borrow_and_update().clone();
            match ailment {
                Some(ailment) => {
                    let outage = outage.get_or_insert_with(|| Outage::begun(&ailment));
                    outage.ailment = ailment;
                    if outage.ailment.since.elapsed() >= self.after {
                        self.tell(outage).await;
                    }
                }
                None => {
                    if let Some(outage) = outage.take() {
                        self.over(&outage).await;
                    }
                }
            }
            tokio::select! {
                _changed = changes.changed() => {}
                () = tokio::time::sleep(LOOK) => {}
                () = stop.cancelled() => {}
            }
        }
        outage
    }

    /// Tells of an outage at the agent's end, if it has lasted for half of the configured time:
    /// whoever stops a blind agent, as a probe of its health does, would else keep staff from
    /// hearing why.
    pub(crate) async fn tell_at_the_end(&self, outage: Option<Outage>) {
        let Some(mut outage) = outage else { return };
        if outage.ailment.since.elapsed() >= self.after / 2 {
            // a channel that hangs must not hold up the end
            let _late = timeout(LAST_SEND, self.tell(&mut outage)).await;
        }
    }

    /// Tells every channel that has not been told, side by side: one that hangs too holds up no
    /// other for longer than [`SEND`].
    async fn tell(&self, outage: &mut Outage) {
        let Ailment { since_at, blindness, .. } = &outage.ailment;
        let Some(message) = Policy::blind(*since_at, self.clock.now(), blindness) else { return };
        let messages = std::slice::from_ref(&message);
        let due = |channel: &Arc<dyn Channel>| {
            let told = outage.lanes.get(channel.lane());
            told.is_none_or(|told| !told.is_done && told.next <= Instant::now())
        };
        let sends = self.channels.iter().filter(|channel| due(channel)).map(|channel| async move {
            (channel.lane().to_owned(), send(channel.as_ref(), messages).await)
        });
        for (lane, sent) in join_all(sends).await {
            let first = LaneTold { is_done: false, failures: 0, next: Instant::now() };
            let told = outage.lanes.entry(lane).or_insert(first);
            match sent {
                Ok(()) => told.is_done = true,
                Err((lane, error)) => {
                    let pause = PAUSES.after(told.failures);
                    told.failures += 1;
                    told.next = Instant::now() + pause;
                    log::not_delivered(&lane, &error, told.failures, pause.as_secs_f64());
                }
            }
        }
    }

    /// Tells those who were told that the agent sees again; a channel that fails now is not tried
    /// again, because the outbox works.
    async fn over(&self, outage: &Outage) {
        let Ailment { since_at, blindness, .. } = &outage.ailment;
        let message = Policy::sighted(*since_at, self.clock.now(), blindness);
        let Some(message) = message else { return };
        let messages = std::slice::from_ref(&message);
        let was_told = |channel: &&Arc<dyn Channel>| {
            outage.lanes.get(channel.lane()).is_some_and(|told| told.is_done)
        };
        let id = message.notification_id;
        let sends = self.channels.iter().filter(was_told).map(|channel| async move {
            if let Err((lane, error)) = send(channel.as_ref(), messages).await {
                log::given_up(&lane, &error, id);
            }
        });
        join_all(sends).await;
    }
}

impl Outage {
    fn begun(ailment: &Ailment) -> Self {
        Self { ailment: ailment.clone(), lanes: BTreeMap::new() }
    }
}

/// Sends past the outbox; an error comes with its lane.
async fn send(
    channel: &dyn Channel,
    messages: &[pdm_shared::delivery::Notification],
) -> Result<(), (String, String)> {
    let Some(first) = messages.first() else { return Ok(()) };
    let failed = |error| Err((channel.lane().to_owned(), error));
    match timeout(SEND, channel.send(first.notification_id, messages)).await {
        // also where some of its recipients have it
        Ok(Ok(()) | Err(SendError::Partly(_) | SendError::Rest(_))) => Ok(()),
        Ok(Err(error)) => failed(error.to_string()),
        Err(_elapsed) => failed(format!("no answer within {} s", SEND.as_secs())),
    }
}
