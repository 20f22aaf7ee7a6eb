//! Receipts: tell each gateway which events it may forget and which it must send again; published
//! retained after the commit.
//!
//! A gateway gets at most one receipt an interval, or one as soon as enough events have come. A
//! receipt needs no outbox: it is made of the store's state, so the next one tells all that a lost
//! one told.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use pdm_service::clock::{Patience, SharedClock};
use pdm_shared::delivery::Receipt;
use pdm_shared::id::{Epoch, GatewayKey, SiteId};
use pdm_shared::topic::{GatewayTopic, Prefix, Topic};
use pdm_store::GatewayStore;
use tokio::sync::{Notify, watch};
use tokio::time::{MissedTickBehavior, interval, timeout};
use tokio_util::sync::CancellationToken;

use super::log;
use crate::mqtt::publisher::{Message, Publisher};
use crate::notify::remarks::{Remark, Remarks};

/// How often old gaps are counted as lost. The time after which a gap is old is hours or days.
const GAP_CHECK: Duration = Duration::from_mins(1);
/// How long the broker may take to confirm one receipt; after that it stays owed.
const PUBLISH: Duration = Duration::from_secs(5);

/// The gateways that are owed a receipt, each with the number of events since its last one. The map
/// is bounded by the number of gateways.
#[derive(Debug, Default)]
pub(crate) struct OwedReceipts {
    gateways: Mutex<BTreeMap<GatewayKey, u64>>,
    many: Notify,
    all: Notify,
}

impl OwedReceipts {
    /// Adds events of a gateway; wakes the task when there are at least `many`.
    pub(super) fn add(&self, gateway: &GatewayKey, events: u64, many: u64) {
        let mut gateways = self.gateways.lock().unwrap_or_else(PoisonError::into_inner);
        let owed = gateways.entry(gateway.clone()).or_default();
        *owed += events;
        if *owed >= many {
            self.many.notify_one();
        }
    }

    /// Owes every gateway a receipt now: the store may have fewer events than the last ones said.
    pub(crate) fn ask_all(&self) {
        self.all.notify_one();
    }

    fn take(&self) -> Vec<GatewayKey> {
        let mut gateways = self.gateways.lock().unwrap_or_else(PoisonError::into_inner);
        std::mem::take(&mut *gateways).into_keys().collect()
    }
}

/// Publishes receipts.
#[derive(Debug)]
pub(crate) struct Receipts {
    pub(crate) owed: Arc<OwedReceipts>,
    pub(crate) store: GatewayStore,
    pub(crate) clock: SharedClock,
    pub(crate) prefix: Prefix,
    pub(crate) publisher: Publisher,
    pub(crate) after: Duration,
    pub(crate) gap_lost_after: Duration,
    /// Tells the time only when the clock may be trusted with an age, which is not shortly after
    /// the start or after a jump: a clock that was set ahead must not count gaps as lost.
    pub(crate) patience: Patience,
    pub(crate) remarks: Remarks,
    /// The count of each gateway and the highest number of it that this run has confirmed.
    pub(crate) confirmed: Confirmed,
}

/// What gateways were told to be stored.
#[derive(Debug, Default)]
pub(crate) struct Confirmed(BTreeMap<GatewayKey, (Option<Epoch>, u64)>);

impl Confirmed {
    /// Notes a receipt; the numbers that were confirmed before and are not there any more.
    fn note(&mut self, site: &SiteId, receipt: &Receipt) -> Option<[u64; 2]> {
        let gateway = GatewayKey::new(site.clone(), receipt.gateway_id.clone());
        let last = receipt.missing.last().map_or(0, |gap| gap[1]);
        let now = (receipt.epoch, receipt.stored_through.max(last));
        let (epoch, before) = self.0.insert(gateway, now).unwrap_or(now);
        // with gaps, more may be stored behind the last one
        let is_fallen = epoch == receipt.epoch && receipt.missing.is_empty() && now.1 < before;
        is_fallen.then(|| [now.1 + 1, before])
    }
}

impl Receipts {
    /// Publishes receipts until `stop`, then those that are still owed: the intake has ended by
    /// then, so the last receipt covers everything stored. `connected` changes at every connection;
    /// a broker that was restarted may have lost its retained messages, so every gateway is owed a
    /// receipt then.
    pub(crate) async fn run(
        mut self,
        mut connected: watch::Receiver<u64>,
        stop: CancellationToken,
    ) {
        let mut tick = interval(self.after.max(Duration::from_millis(10)));
        tick.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut gaps = interval(GAP_CHECK);
        let mut watching = true;
        while !stop.is_cancelled() {
            tokio::select! {
                () = stop.cancelled() => {}
                () = self.owed.many.notified() => self.publish().await,
                () = self.owed.all.notified() => {
                    self.owe_all().await;
                    self.publish().await;
                }
                _ = tick.tick() => self.publish().await,
                changed = connected.changed(), if watching => {
                    watching = changed.is_ok();
                    self.owe_all().await;
                }
                _ = gaps.tick() => self.lose_gaps().await,
            }
        }
        self.publish().await;
    }

    async fn owe_all(&self) {
        match self.store.gateways().await {
            Ok(gateways) => {
                for state in gateways {
                    self.owed.add(&state.gateway, 0, u64::MAX);
                }
            }
            Err(error) => log::receipts_failed("the gateways", &error),
        }
    }

    async fn lose_gaps(&self) {
        let Some(now) = self.patience.now() else { return };
        let before = now.plus_seconds(-self.gap_lost_after.as_secs_f64());
        match self.store.lose_gaps(before).await {
            Ok(0) => {}
            Ok(lost) => {
                log::events_lost(lost);
                self.owe_all().await;
            }
            Err(error) => log::receipts_failed("lost gaps", &error),
        }
    }

    /// Publishes the receipts that are owed; those that do not get through stay owed.
    async fn publish(&mut self) {
        let gateways = self.owed.take();
        if gateways.is_empty() {
            return;
        }
        let receipts = match self.store.receipts(&gateways, self.clock.now()).await {
            Ok(receipts) => receipts,
            Err(error) => {
                log::receipts_failed("their content", &error);
                return self.owe(&gateways);
            }
        };
        for (done, (site, receipt)) in receipts.into_iter().enumerate() {
            if let Some(gone) = self.confirmed.note(&site, &receipt) {
                let gateway = GatewayKey::new(site.clone(), receipt.gateway_id.clone());
                log::confirmed_events_gone(&gateway, gone);
                self.remarks.note(Remark::ConfirmedGone(gateway, gone));
            }
            if !self.publish_one(site, &receipt).await {
                // the broker is away, so the other receipts would fail too
                return self.owe(&gateways[done.min(gateways.len())..]);
            }
        }
    }

    fn owe(&self, gateways: &[GatewayKey]) {
        for gateway in gateways {
            self.owed.add(gateway, 0, u64::MAX);
        }
    }

    async fn publish_one(&self, site: SiteId, receipt: &Receipt) -> bool {
        let Ok(payload) = serde_json::to_vec(receipt) else { return true };
        let what = GatewayTopic::Receipt;
        let topic = Topic::Gateway { site, gateway: receipt.gateway_id.clone(), what };
        let message =
            Message { topic: topic.under(&self.prefix), payload, retain: true, expires_s: None };
        match timeout(PUBLISH, self.publisher.publish(message)).await {
            Ok(Ok(_confirmed)) => true,
            Ok(Err(error)) => {
                log::receipt_not_published(&error);
                false
            }
            Err(_elapsed) => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use pdm_shared::delivery::RECEIPT_SCHEMA;
    use pdm_shared::time::Timestamp;

    use super::*;

    fn receipt(epoch: u128, stored_through: u64, missing: &[[u64; 2]]) -> Receipt {
        Receipt {
            schema: RECEIPT_SCHEMA.to_owned(),
            gateway_id: "gw-01".parse().expect("name"),
            epoch: Some(Epoch(uuid::Uuid::from_u128(epoch))),
            stored_through,
            missing: missing.to_vec(),
            at: Timestamp::EPOCH,
        }
    }

    /// R-AGENT-10: a standby that was seconds behind took over; what had been confirmed was gone,
    /// with a Critical in it.
    #[test]
    fn a_count_below_what_was_confirmed_names_the_events_that_are_gone() {
        let (mut confirmed, site) = (Confirmed::default(), "ulsan-1".parse().expect("name"));
        assert_eq!(confirmed.note(&site, &receipt(1, 5, &[[6, 8]])), None);
        assert_eq!(confirmed.note(&site, &receipt(1, 9, &[])), None);
        assert_eq!(confirmed.note(&site, &receipt(1, 5, &[])), Some([6, 9]));
        assert_eq!(confirmed.note(&site, &receipt(1, 5, &[])), None, "told once");
        assert_eq!(confirmed.note(&site, &receipt(1, 12, &[])), None);
        assert_eq!(confirmed.note(&site, &receipt(2, 3, &[])), None, "another count");
    }
}
