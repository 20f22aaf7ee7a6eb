//! Stores received messages: a bounded queue, one transaction a batch, acknowledgements in the order of
//! arrival after the commit, then receipts.
//!
//! While the store is away nothing is acknowledged, so the broker keeps the messages; the receive
//! maximum bounds how many wait here. A message that is refused is stored as a dead letter and
//! acknowledged, so it cannot stop the flow.

use std::sync::Arc;
use std::time::Duration;

use pdm_service::clock::SharedClock;
use pdm_shared::id::GatewayKey;
use pdm_shared::topic::{Prefix, Topic};
use tokio::sync::{Notify, mpsc};
use tokio::time::Instant;

use crate::mqtt::receiver::Delivery;
use crate::notify::remarks::{Remark, Remarks};
use crate::progress::Reporter;
use crate::settings::{QuotaSettings, TopicProof};
use crate::store::{Incoming, IntakeStore, IntakeTerms, StoreError, Stored};
use crate::vitals::Writer;

mod log;
pub(crate) mod parse;
mod quota;
pub(crate) mod receipts;
mod refusals;

use quota::Quotas;
use refusals::Told;

/// Pause before a batch is tried again: two attempts a second do not load a store that is away.
const RETRY: Duration = Duration::from_millis(500);

/// Stores what is received.
#[derive(Debug)]
pub(crate) struct Intake {
    pub(crate) store: Arc<dyn IntakeStore>,
    pub(crate) clock: SharedClock,
    pub(crate) prefix: Prefix,
    pub(crate) batch: usize,
    pub(crate) reporter: Reporter,
    /// Rung after every commit with new events.
    pub(crate) stored: Arc<Notify>,
    /// The gateways that are owed a receipt.
    pub(crate) owed: Arc<receipts::Owed>,
    /// Events of one gateway after which its receipt is published without waiting for the interval.
    pub(crate) receipt_after_events: u64,
    /// What events are held to.
    pub(crate) terms: IntakeTerms,
    /// Whether topics have to name their gateway.
    pub(crate) proof: TopicProof,
    pub(crate) quota: QuotaSettings,
    /// What gateways say of themselves that staff should know.
    pub(crate) remarks: Remarks,
}

impl Intake {
    /// Stores until the queue is closed and empty. The receiver closes the queue when the agent stops, so
    /// every message that was taken from the broker is stored and acknowledged.
    pub(crate) async fn run(self, mut queue: mpsc::Receiver<Delivery>) {
        let mut deliveries = Vec::with_capacity(self.batch);
        let mut quotas = Quotas::new(self.quota.clone(), Instant::now());
        let mut told = Told::default();
        while queue.recv_many(&mut deliveries, self.batch).await > 0 {
            let now = self.clock.now();
            let batch: Vec<Incoming> = deliveries
                .iter()
                .map(|delivery| {
                    let topic = delivery.topic();
                    let came = parse::Came { topic: &topic, retained: delivery.is_retained() };
                    parse::parse(&self.prefix, self.proof, came, delivery.payload(), now)
                })
                .filter(|incoming| fits(&mut quotas, incoming))
                .collect();
            self.reporter.flooded(queue.len() >= self.batch);
            for incoming in &batch {
                if let Incoming::Status { site, status } = incoming {
                    self.remarks.status(site, status);
                }
            }
            let stored = self.store_until_done(&batch).await;
            for delivery in deliveries.drain(..) {
                delivery.acknowledge();
            }
            self.report(&stored);
            told.tell(&stored.refusals);
        }
        self.reporter.flooded(false);
    }

    /// Tries until the batch is stored; its messages stay unacknowledged meanwhile.
    async fn store_until_done(&self, batch: &[Incoming]) -> Stored {
        let topic = Topic::DeadLetter.under(&self.prefix);
        loop {
            self.reporter.vitals().stores();
            match self.store.store_under(&self.terms, batch, self.clock.now(), &topic).await {
                Ok(stored) => {
                    self.reporter.vitals().worked(Writer::Intake);
                    return stored;
                }
                Err(StoreError::Content { what, reason }) => {
                    self.reporter.vitals().worked(Writer::Intake);
                    return self.store_one_by_one(batch, &topic, what, &reason).await;
                }
                Err(error) => self.wait_for_store(&error).await,
            }
        }
    }

    /// Stores the messages of a batch that the store refuses for its content one by one, so that only the
    /// message at fault is refused.
    async fn store_one_by_one(
        &self,
        batch: &[Incoming],
        topic: &str,
        what: &'static str,
        reason: &str,
    ) -> Stored {
        log::batch_refused(what, reason, batch.len());
        let mut all = Stored::default();
        for message in batch {
            let mut message = std::borrow::Cow::Borrowed(message);
            loop {
                let one = std::slice::from_ref(message.as_ref());
                let now = self.clock.now();
                match self.store.store_under(&self.terms, one, now, topic).await {
                    Ok(stored) => {
                        self.reporter.vitals().worked(Writer::Intake);
                        all.add(stored);
                        break;
                    }
                    Err(StoreError::Content { what, reason }) => {
                        let Some(refused) =
                            parse::refused(&message, what, &reason, self.clock.now())
                        else {
                            log::message_dropped(what, &reason);
                            break;
                        };
                        message = std::borrow::Cow::Owned(refused);
                    }
                    Err(error) => self.wait_for_store(&error).await,
                }
            }
        }
        all
    }

    /// Logs a failure of the store and pauses.
    async fn wait_for_store(&self, error: &StoreError) {
        log::store_failed(error);
        self.reporter.vitals().failed(Writer::Intake, error);
        tokio::time::sleep(RETRY).await;
    }

    /// Counts what was stored, wakes the judging and owes receipts.
    fn report(&self, stored: &Stored) {
        log::stored(stored);
        if stored.lost > 0 {
            log::events_lost(stored.lost);
        }
        for gateway in &stored.twins {
            let GatewayKey { site, gateway } = gateway.clone();
            self.remarks.note(Remark::GatewayThrownOut(site, gateway));
        }
        self.reporter.update(|progress| {
            progress.stored += stored.events;
            progress.duplicates += stored.duplicates;
            progress.dead_letters += stored.refused;
            progress.unjudged += stored.events;
            progress.unsent += stored.letters;
        });
        if stored.events > 0 || stored.refused > 0 {
            self.stored.notify_one();
        }
        for (gateway, count) in &stored.gateways {
            self.owed.add(gateway, *count, self.receipt_after_events);
        }
    }
}

/// False if a message is an event above its gateway's quota.
fn fits(quotas: &mut Quotas, incoming: &Incoming) -> bool {
    match incoming {
        Incoming::Event { event, payload, proven } => {
            quotas.admit(event, payload.len(), *proven, Instant::now())
        }
        Incoming::Status { .. }
        | Incoming::Ack { .. }
        | Incoming::Shelve { .. }
        | Incoming::FollowUp { .. }
        | Incoming::Refused(_) => true,
    }
}

impl Stored {
    fn add(&mut self, other: Self) {
        self.events += other.events;
        self.duplicates += other.duplicates;
        self.refused += other.refused;
        self.letters += other.letters;
        self.refusals.extend(other.refusals);
        self.uncounted += other.uncounted;
        self.twins.extend(other.twins);
        self.lost += other.lost;
        for (gateway, count) in other.gateways {
            *self.gateways.entry(gateway).or_default() += count;
        }
    }
}
