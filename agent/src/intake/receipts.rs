//! Receipts: tell each gateway which events it may forget and which it must send again; published
//! retained after the commit.
//!
//! A gateway gets at most one receipt an interval, or one as soon as enough events have come. A receipt
//! needs no outbox: it is made of the store's state, so the next one tells all that a lost one told.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use pdm_service::clock::{Patience, SharedClock};
use pdm_shared::delivery::Receipt;
use pdm_shared::id::{GatewayKey, SiteId};
use pdm_shared::topic::{GatewayTopic, Prefix, Topic};
use pdm_store::GatewayStore;
use tokio::sync::{Notify, watch};
use tokio::time::{MissedTickBehavior, interval, timeout};
use tokio_util::sync::CancellationToken;

use super::log;
use crate::mqtt::publisher::{Message, Publisher};

/// How often old gaps are counted as lost. The time after which a gap is old is hours or days.
const GAP_CHECK: Duration = Duration::from_mins(1);
/// How long the broker may take to confirm one receipt; after that it stays owed.
const PUBLISH: Duration = Duration::from_secs(5);

/// The gateways that are owed a receipt, each with the number of events since its last one. The map
/// is bounded by the number of gateways.
#[derive(Debug, Default)]
pub(crate) struct Owed {
    gateways: Mutex<BTreeMap<GatewayKey, u64>>,
    many: Notify,
}

impl Owed {
    /// Adds events of a gateway; wakes the task when there are at least `many`.
    pub(super) fn add(&self, gateway: &GatewayKey, events: u64, many: u64) {
        let mut gateways = self.gateways.lock().unwrap_or_else(PoisonError::into_inner);
        let owed = gateways.entry(gateway.clone()).or_default();
        *owed += events;
        if *owed >= many {
            self.many.notify_one();
        }
    }

    fn take(&self) -> Vec<GatewayKey> {
        let mut gateways = self.gateways.lock().unwrap_or_else(PoisonError::into_inner);
        std::mem::take(&mut *gateways).into_keys().collect()
    }
}

/// Publishes receipts.
#[derive(Debug)]
pub(crate) struct Receipts {
    pub(crate) owed: Arc<Owed>,
    pub(crate) store: GatewayStore,
    pub(crate) clock: SharedClock,
    pub(crate) prefix: Prefix,
    pub(crate) publisher: Publisher,
    pub(crate) after: Duration,
    pub(crate) gap_lost_after: Duration,
    /// Tells the time only when the clock may be trusted with an age, which is not shortly after the start
    /// or after a jump: a clock that was set ahead must not count gaps as lost.
    pub(crate) patience: Patience,
}

impl Receipts {
    /// Publishes receipts until `stop`, then those that are still owed: the intake has ended by then, so
    /// the last receipt covers everything stored. `connected` changes at every connection; a broker
    /// that was restarted may have lost its retained messages, so every gateway is owed a receipt then.
    pub(crate) async fn run(self, mut connected: watch::Receiver<u64>, stop: CancellationToken) {
        let mut tick = interval(self.after.max(Duration::from_millis(10)));
        tick.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut gaps = interval(GAP_CHECK);
        let mut watching = true;
        while !stop.is_cancelled() {
            tokio::select! {
                () = stop.cancelled() => {}
                () = self.owed.many.notified() => self.publish().await,
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
    async fn publish(&self) {
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
