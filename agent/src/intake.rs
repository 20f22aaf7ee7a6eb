//! Stores received messages: a bounded queue with a line for each sender, one transaction a batch,
//! acknowledgements after the commit, then receipts.
//!
//! Lines are served in turn, so a message of a gateway that has not been heard lately is in the
//! next batch whatever another one sends ([`crate::mqtt::queue`]).
//!
//! While the store is away nothing is acknowledged, so the broker keeps the messages; the receive
//! maximum bounds how many wait here. A message that is refused is stored as a dead letter and
//! acknowledged, so it cannot stop the flow.

use std::sync::Arc;
use std::time::Duration;

use pdm_expert::rules::Rules;
use pdm_service::clock::SharedClock;
use pdm_shared::event::Event;
use pdm_shared::id::GatewayKey;
use pdm_shared::time::Timestamp;
use pdm_shared::topic::{Prefix, Topic};
use pdm_store::{GatewayStore, Incoming, IntakeStore, IntakeTerms, StoreError, Stored};
use tokio::sync::Notify;
use tokio::time::Instant;

use crate::mqtt::PutOff;
use crate::mqtt::queue::Outlet;
use crate::mqtt::receiver::{BATCH_KIB, Delivery};
use crate::mqtt::sender::Sender;
use crate::notify::remarks::{Remark, Remarks};
use crate::progress::Reporter;
use crate::settings::{QuotaSettings, TopicProof};
use crate::vitals::Writer;

mod flood;
mod log;
pub(crate) mod parse;
mod quota;
pub(crate) mod receipts;
mod refusals;
mod troubles;

use flood::Flood;
use quota::Quotas;
use refusals::{RefusedAlarms, ToldRefusals};
use troubles::Troubles;

/// Pause before a batch is tried again: two attempts a second do not load a store that is away.
const RETRY: Duration = Duration::from_millis(500);

/// Stores what is received.
#[derive(Debug)]
pub(crate) struct Intake {
    pub(crate) store: IntakeStore,
    /// Which gateways have sent before.
    pub(crate) gateways: GatewayStore,
    pub(crate) clock: SharedClock,
    pub(crate) prefix: Prefix,
    pub(crate) batch: usize,
    pub(crate) reporter: Reporter,
    /// Notified after every commit with new events.
    pub(crate) stored: Arc<Notify>,
    /// The gateways that are owed a receipt.
    pub(crate) owed: Arc<receipts::OwedReceipts>,
    /// Events of one gateway after which its receipt is published without waiting for the interval.
    pub(crate) receipt_after_events: u64,
    /// The limits and owners against which events are checked.
    pub(crate) terms: IntakeTerms,
    /// Whether topics have to name their gateway.
    pub(crate) proof: TopicProof,
    pub(crate) quota: QuotaSettings,
    /// Remarks on gateways that staff should know.
    pub(crate) remarks: Remarks,
    /// The counts of messages that the receiver put off.
    pub(crate) put_off: PutOff,
    /// `[intake] ahead_s`.
    pub(crate) ahead_s: f64,
    /// The rules by which refused events are checked for alarms.
    pub(crate) rules: Rules,
}

impl Intake {
    /// Stores until the queue is closed and empty. The receiver closes the queue when the agent
    /// stops, so every message that was taken from the broker is stored and acknowledged.
    pub(crate) async fn run(self, queue: Outlet<Delivery>) {
        let mut quotas = Quotas::new(self.quota.clone(), Instant::now());
        let mut flood = Flood::new(Instant::now());
        let mut told = ToldRefusals::default();
        let mut alarms = RefusedAlarms::default();
        let mut troubles = Troubles::new(Instant::now());
        self.note_known(&queue).await;
        loop {
            let deliveries = queue.take(self.batch, BATCH_KIB).await;
            if deliveries.is_empty() {
                break;
            }
            let now = self.clock.now();
            let mut batch = Vec::with_capacity(deliveries.len());
            for delivery in &deliveries {
                let topic = delivery.topic();
                let came = parse::Came { topic: &topic, retained: delivery.is_retained() };
                let read = parse::parse(&self.prefix, self.proof, came, delivery.payload(), now);
                match fits(&mut quotas, delivery, &read) {
                    Fits::Kept => {
                        self.note_status(&mut troubles, delivery.sender(), &read);
                        batch.push(read);
                    }
                    Fits::Dropped => {}
                    Fits::PutOff => {
                        if let Some(gateway) = delivery.sender().gateway() {
                            self.owed.add(gateway, 0, u64::MAX);
                        }
                        queue.shut_out(delivery.sender(), quotas.until());
                    }
                }
            }
            self.reporter.flooded(queue.len() >= self.batch);
            for incoming in &batch {
                if let Incoming::Event { event, .. } = incoming {
                    self.note_clock(event, now);
                }
            }
            let stored = self.store_until_done(&batch).await;
            for delivery in deliveries {
                delivery.acknowledge();
            }
            self.report(&stored);
            queue.meets(stored.gateways.keys());
            self.report_flood(&mut flood);
            told.tell(&stored.refusals);
            told.tell_others(&batch);
            for (gateway, bearings) in
                alarms.note(&batch, &stored.refusals, &self.rules, (now, Instant::now()))
            {
                self.remarks.note(Remark::RefusedAlarms(gateway, bearings));
            }
        }
        self.reporter.flooded(false);
    }

    /// Takes from a status what is not stored. Of gateways without end that nobody knows only the
    /// troubles are logged, some of them.
    fn note_status(&self, troubles: &mut Troubles, sender: &Sender, read: &Incoming) {
        let Incoming::Status { site, status } = read else { return };
        let gateway = GatewayKey::new(site.clone(), status.gateway_id.clone());
        troubles.note(&gateway, status.trouble.as_deref(), Instant::now());
        if *sender != Sender::Strangers {
            self.remarks.status(site, status);
            self.reporter.measures(gateway, status);
        }
    }

    /// Tells the queue which gateways there are, so that one that floods has a share from its first
    /// message on. If the store does not answer, the queue learns them by their messages.
    async fn note_known(&self, queue: &Outlet<Delivery>) {
        match self.gateways.gateways().await {
            Ok(known) => {
                let known = known.into_iter().filter(|state| state.last_event_at.is_some());
                known.for_each(|state| queue.knows(state.gateway));
            }
            Err(error) => log::gateways_unknown(&error),
        }
        self.terms.owners.gateways().for_each(|gateway| queue.knows(gateway));
    }

    /// Says which gateway sends events ahead of the clock, or live ones far behind it: they are
    /// judged, and a count alone names nobody.
    fn note_clock(&self, event: &Event, now: Timestamp) {
        let by_s = event.measured_at.seconds_since(now);
        if by_s <= self.ahead_s {
            self.note_behind(event, -by_s);
            return;
        }
        let gateway = event.gateway();
        if self.reporter.lies_ahead(&gateway, by_s) {
            log::gateway_ahead(&gateway, by_s);
            self.remarks.note(Remark::Ahead(gateway.site, gateway.gateway, by_s));
        }
    }

    /// Notes a live event that lies behind the clock. Events that a spool delivered late are left
    /// out: their age says nothing about a clock.
    fn note_behind(&self, event: &Event, by_s: f64) {
        if event.replayed || event.delayed_s > 0.0 {
            return;
        }
        let gateway = event.gateway();
        if by_s <= self.ahead_s {
            self.reporter.keeps_time(&gateway);
        } else if self.reporter.lies_behind(&gateway, by_s) {
            log::gateway_behind(&gateway, by_s);
            self.remarks.note(Remark::Behind(gateway.site, gateway.gateway, by_s));
        }
    }

    /// Says what the receiver put off, and owes its gateways a receipt that asks for it.
    fn report_flood(&self, flood: &mut Flood) {
        let put_off = self.put_off.take();
        if put_off.is_empty() {
            return;
        }
        let now = Instant::now();
        self.reporter.update(|progress| progress.put_off_at = Some(now));
        for gateway in put_off.keys().filter_map(|sender| sender.gateway()) {
            self.owed.add(gateway, 0, u64::MAX);
        }
        for GatewayKey { site, gateway } in flood.note(&put_off, now) {
            self.remarks.note(Remark::Flood(site, gateway));
        }
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

    /// Stores the messages of a batch that the store refuses for its content one by one, so that
    /// only the message at fault is refused.
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
        log::strangers_not_kept(stored.strangers);
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

/// Whether a message is within its sender's quota.
enum Fits {
    Kept,
    /// An event above it: the gateway sends it again.
    PutOff,
    /// A refused message or a status above it: it is counted.
    Dropped,
}

fn fits(quotas: &mut Quotas, delivery: &Delivery, read: &Incoming) -> Fits {
    let (sender, bytes) = (delivery.sender(), delivery.payload().len());
    match read {
        Incoming::Event { .. } if quotas.admit(sender, bytes, Instant::now()) => Fits::Kept,
        Incoming::Event { .. } => Fits::PutOff,
        Incoming::Refused(_) if quotas.keeps_refusal(sender, bytes, Instant::now()) => Fits::Kept,
        Incoming::Status { .. } if quotas.keeps_status(sender, Instant::now()) => Fits::Kept,
        Incoming::Refused(_) | Incoming::Status { .. } => Fits::Dropped,
        Incoming::Ack { .. } | Incoming::Shelve { .. } | Incoming::FollowUp { .. } => Fits::Kept,
    }
}
