//! The incoming side of a connection: PUBACKs of the broker and receipts of the agent.

use std::time::Duration;

use pdm_shared::bounds::{MAX_LINE, MAX_WORD, in_one_line};
use pdm_shared::capture::{CAPTURE_DEMAND_SCHEMA, CaptureDemand};
use pdm_shared::delivery::{MAX_GONE, Receipt};
use pdm_shared::topic::{BearingTopic, Topic};
use tokio::time::Instant;

use super::super::Publisher;
use super::super::answers::{refusal, refusal_of};
use super::super::lanes::Lanes;
use super::super::link::{Down, Happening};
use super::super::log;
use super::{Publication, Session, Subscription};
use crate::capture::AskedBy;
use crate::progress::ReceiptTrouble;
use crate::settings::Protocol;
use crate::spool::{ReceiptOutcome, SpoolError};

/// Wait after the broker declined a publication. The wait doubles with each further one up to 5
/// minutes: a broker declines for a full quota or a missing right, which take a person minutes.
const DECLINED_WAIT: Duration = Duration::from_secs(1);
const DECLINED_LONGEST: Duration = Duration::from_mins(5);

impl Session<'_> {
    /// Handles one event of the connection; returns the reason if the connection ended.
    pub(super) async fn take(
        &mut self,
        happening: Happening,
        lanes: &mut Lanes,
        now: Instant,
    ) -> Result<Option<Down>, SpoolError> {
        match happening {
            Happening::Sent(id) => self.in_flight.sent(id),
            Happening::Held(id) => self.in_flight.held(id),
            Happening::Taken(id) => self.taken(id, now),
            Happening::Declined(id, reason) => self.declined(id, &reason, lanes),
            Happening::Subscribed(outcome) => self.subscribed(outcome),
            Happening::Message { topic, payload, is_retained } => {
                if self.is_demand(&topic, &payload, is_retained)
                    || self.is_relearning(&topic, &payload, is_retained)
                {
                    return Ok(None);
                }
                self.receipt(&topic, &payload, lanes).await?;
            }
            Happening::Up { .. } => {}
            Happening::Down(down) => return Ok(Some(down)),
        }
        Ok(None)
    }

    fn taken(&mut self, packet_id: u16, now: Instant) {
        self.answered_at = now;
        self.declined = 0;
        let item = self.in_flight.answered(packet_id);
        if let Some(item) = &item {
            self.publisher.limit().took(item.size().0);
        }
        if let Some(Publication::State { .. }) = item {
            self.publisher.state_answered(true);
        }
        if let Some(Publication::Event { sequence, .. }) = item {
            self.refused_since = None;
            self.taken.push(sequence);
            self.taken_since.get_or_insert(now);
        }
    }

    /// The broker declined one publication. All sending pauses, and the event is sent again. A
    /// state that is declined holds nothing up: the next one says more.
    fn declined(&mut self, packet_id: u16, reason: &str, lanes: &mut Lanes) {
        self.answered_at = Instant::now();
        let item = self.in_flight.answered(packet_id);
        if let Some(Publication::State { .. }) = item {
            self.publisher.state_answered(false);
            return;
        }
        let wait = DECLINED_WAIT.saturating_mul(1 << self.declined.min(16)).min(DECLINED_LONGEST);
        if self.pause_until.is_none() {
            log::publication_declined(reason, wait);
            self.declined += 1;
            self.pause_until = Some(Instant::now() + wait);
        }
        if let Some(Publication::Event { sequence, .. }) = item {
            self.refused_since.get_or_insert_with(Instant::now);
            self.busy.remove(&sequence);
            lanes.call_back(sequence);
        }
    }

    /// The broker answers subscriptions in their order.
    fn subscribed(&mut self, outcome: Result<(), String>) {
        let Some(subscription) = self.owed_answers.pop_front() else { return };
        if subscription == Subscription::Relearning {
            self.publisher.relearning_answered(true);
        }
        let Err(reason) = outcome else { return };
        match subscription {
            Subscription::Receipts => log::receipts_not_subscribed(&reason),
            Subscription::Relearning => log::relearning_not_subscribed(&reason),
            Subscription::Captures => log::demands_not_subscribed(&reason),
        }
    }

    /// Takes a demand for a capture; returns false if the topic is not that of a demand. Demands
    /// for bearings of other gateways of the site come too, and are theirs.
    fn is_demand(&self, topic: &str, payload: &[u8], is_retained: bool) -> bool {
        let Publisher { settings, capturing, clock, answers, .. } = self.publisher;
        let Some(Topic::Bearing { key, what: BearingTopic::Capture }) =
            Topic::parse(&settings.prefix, topic)
        else {
            return false;
        };
        let Some(capturing) = capturing else { return true };
        let bearing = key.within_site();
        if !capturing.has(&bearing) {
            return true;
        }
        let demand = match serde_json::from_slice::<CaptureDemand>(payload) {
            Ok(demand) if demand.schema == CAPTURE_DEMAND_SCHEMA => demand,
            Ok(demand) => {
                let schema = in_one_line(&demand.schema, MAX_WORD);
                log::demand_refused(&bearing, &format!("schema {schema:?}"));
                return true;
            }
            Err(error) => {
                log::demand_refused(&bearing, &error.to_string());
                return true;
            }
        };
        let CaptureDemand { asked_at, demand_id, .. } = demand;
        // it would come again at every connection
        if is_retained {
            let told = "retained: publish it without the retain flag";
            log::demand_refused(&bearing, told);
            if let Some(id) = demand_id.filter(|&id| !answers.has(id)) {
                answers.note(id, clock.now(), Some(refusal("retained", told, None)));
            }
            return true;
        }
        // the broker delivers a message twice where an acknowledgement was lost
        if demand_id.is_some_and(|id| answers.has(id)) {
            return true;
        }
        let by = in_one_line(&demand.by, MAX_LINE).into_owned();
        let (asked, answers, clock) = (bearing.clone(), answers.clone(), clock.clone());
        // counted when the captures answer: the connection does not wait for a file that is being
        // written
        capturing.demand(&bearing, AskedBy { asked_at, demand_id }, move |demanded| {
            match demanded.refusal(&asked) {
                None => log::demanded(&asked, &by, asked_at),
                Some(refusal) => log::demand_refused(&asked, &refusal),
            }
            if let Some(id) = demand_id {
                answers.note(id, clock.now(), refusal_of(&demanded, &asked));
            }
        });
        true
    }

    async fn receipt(
        &mut self,
        topic: &str,
        payload: &[u8],
        lanes: &mut Lanes,
    ) -> Result<(), SpoolError> {
        let receipt: Receipt = match serde_json::from_slice(payload) {
            Ok(receipt) => receipt,
            Err(error) => {
                log::receipt_not_understood(topic, &error);
                return Ok(());
            }
        };
        // PUBACKs are written first, because a receipt deletes acknowledged rows only
        self.write_taken().await?;
        let last = self.publisher.spool.watch().borrow().last_sequence;
        let receipt = self.asked.filter(&receipt, last, Instant::now());
        let stored = receipt.stored_through;
        match self.publisher.spool.apply(&receipt).await {
            Ok(ReceiptOutcome::Applied(covered)) => {
                if covered.deleted > 0 {
                    self.covered_at = Instant::now();
                }
                self.note_gone(&receipt, covered.gone).await?;
                self.lost_often(&receipt);
                if let Some(first) = covered.first_called_back {
                    lanes.call_back(first);
                }
                let trouble = match (covered.fell_from, self.trouble()) {
                    (Some(from), _) => Some(ReceiptTrouble::Fell { from, to: stored }),
                    // what the agent had before is not covered again yet
                    (None, fell @ Some(ReceiptTrouble::Fell { from, .. })) if stored < from => fell,
                    (None, _) => None,
                };
                self.note_trouble(trouble);
                self.publisher
                    .progress
                    .send_modify(|progress| progress.received += covered.deleted);
                Ok(())
            }
            Ok(ReceiptOutcome::AnotherCount) => {
                self.is_not_followed = true;
                Ok(())
            }
            Ok(ReceiptOutcome::Foreign) => Ok(()),
            Ok(ReceiptOutcome::Implausible(why)) => {
                self.note_trouble(Some(ReceiptTrouble::Implausible(why)));
                Ok(())
            }
            Err(error) => self.recover(error).await,
        }
    }

    /// Keeps which numbers the agent asks for in vain, so that the status tells it: it need not
    /// wait for them.
    async fn note_gone(&mut self, receipt: &Receipt, gone: u64) -> Result<(), SpoolError> {
        self.gone.retain(|&[_, to]| to > receipt.stored_through);
        if gone == 0 {
            return Ok(());
        }
        for range in self.publisher.spool.gone(receipt).await? {
            if self.gone.len() < MAX_GONE && !self.gone.contains(&range) {
                self.gone.push(range);
            }
        }
        self.gone.sort_unstable();
        Ok(())
    }

    /// Notes what the agent asks for again: a broker of MQTT 3.1.1 acknowledges what it drops. One
    /// of MQTT 5 refuses it with a reason, and an agent that asks again has put the event off or
    /// lost it.
    fn lost_often(&self, receipt: &Receipt) {
        if self.publisher.settings.broker.protocol != Protocol::V311 {
            return;
        }
        let mut limit = self.publisher.limit();
        limit.stored(receipt.stored_through);
        let is_gone =
            |number: &u64| self.gone.iter().any(|&[first, to]| (first..=to).contains(number));
        let asked = receipt.missing.iter().flat_map(|&[first, last]| first..=last);
        // what the spool no longer has was not lost on its way
        let asked = asked.filter(|number| !is_gone(number));
        let given_up = limit.asked_again(asked);
        if given_up > 0 {
            log::asked_for_often(given_up);
        }
    }

    fn trouble(&self) -> Option<ReceiptTrouble> {
        self.publisher.progress.borrow().receipt_trouble
    }

    /// Keeps what is wrong with the receipts for the health, and logs it once until it changes.
    fn note_trouble(&self, trouble: Option<ReceiptTrouble>) {
        if trouble == self.trouble() {
            return;
        }
        let was_implausible = matches!(self.trouble(), Some(ReceiptTrouble::Implausible(_)));
        if let Some(ReceiptTrouble::Implausible(why)) = &trouble
            && !was_implausible
        {
            log::receipt_not_believed(why);
        }
        self.publisher.progress.send_modify(|progress| progress.receipt_trouble = trouble);
    }
}
